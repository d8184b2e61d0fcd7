//! Registers as runs of equal ones, behind the header of a sketch.
//!
//! ```text
//! 00llllll            1 to 64 registers that are 0
//! 01llllll llllllll   1 to 16384 registers that are 0
//! 1vvvvvll            1 to 4 registers that are 1 to 32
//! ```
//! The runs are edited as Redis edits them, so that after the same elements the bytes are the same.

use super::layout::HEADER_BYTES;
use super::{Fault, REGISTERS};

/// What a register can hold at most.
pub(super) const VALUE_MAX: u8 = 32;

const SHORT_ZEROS_MAX: usize = 64;
const VALUES_MAX: usize = 4;
const LONG_ZEROS: u8 = 0x40;
const VALUES: u8 = 0x80;

/// Runs that are looked at after a change, to merge equal ones.
const MERGED_MAX: usize = 5;
/// Bytes that may come in place of one run: long zeros, a value, long zeros.
const PIECE_BYTES_MAX: usize = 5;

/// Equal registers side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) value: u8,
    pub(super) registers: usize,
    /// That it takes.
    pub(super) bytes: usize,
}

/// What came of raising a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Raised {
    /// It was high enough.
    No,
    /// It was not, and is now.
    Yes,
    /// It was not, and is not: there is no room for it in this form.
    NoRoom,
}

/// Where a run is, and which the one before it is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    at: usize,
    first: usize,
    before: Option<(usize, usize)>,
}

impl Place {
    /// The first run.
    pub(super) const START: Place = Place { at: HEADER_BYTES, first: 0, before: None };
}

/// Adds the run of all registers, which are 0.
pub(super) fn write_empty(bytes: &mut Vec<u8>) {
    let mut piece = Piece::default();
    piece.add(0, REGISTERS);
    bytes.extend_from_slice(piece.bytes());
}

/// All runs in order, each with its first register.
pub(super) fn each_run(bytes: &[u8], mut visit: impl FnMut(usize, Run)) -> Result<(), Fault> {
    let (mut at, mut first) = (HEADER_BYTES, 0);
    while at < bytes.len() {
        let run = run(bytes, at)?;
        // Registers that there are not are none of ours to visit.
        if first + run.registers > REGISTERS {
            return Err(Fault::Corrupt);
        }
        visit(first, run);
        (at, first) = (at + run.bytes, first + run.registers);
    }
    if first == REGISTERS { Ok(()) } else { Err(Fault::Corrupt) }
}

/// The register at `index`.
pub(super) fn get(bytes: &[u8], index: usize) -> Result<u8, Fault> {
    find(bytes, Place::START, index).map(|(_, run)| run.value)
}

/// Raises the register at `index`, if it is below `value`, as long as the sketch has no more than
/// `bytes_max` bytes then. Searches from `from`, at or before the register, and leaves there a place for
/// the search for a later one.
pub(super) fn raise(
    bytes: &mut Vec<u8>,
    from: &mut Place,
    index: usize,
    value: u8,
    bytes_max: usize,
) -> Result<Raised, Fault> {
    let (mut place, mut old) = find(bytes, *from, index)?;
    if place.before.is_none() && place.at > HEADER_BYTES {
        // What lies before it has to be known.
        (place, old) = find(bytes, Place::START, index)?;
    }
    let (before_at, before_first) = place.before.unwrap_or((place.at, place.first));
    *from = Place { at: before_at, first: before_first, before: None };
    if old.value >= value {
        return Ok(Raised::No);
    }
    if value > VALUE_MAX {
        return Ok(Raised::NoRoom);
    }
    let mut piece = Piece::default();
    piece.add(old.value, index - place.first);
    piece.add(value, 1);
    piece.add(old.value, place.first + old.registers - 1 - index);
    let piece = piece.bytes();
    if piece.len() > old.bytes && bytes.len() - old.bytes + piece.len() > bytes_max {
        return Ok(Raised::NoRoom);
    }
    bytes.splice(place.at..place.at + old.bytes, piece.iter().copied());
    merge(bytes, before_at);
    Ok(Raised::Yes)
}

/// Merges equal values side by side in the runs from `at` on.
fn merge(bytes: &mut Vec<u8>, mut at: usize) {
    for _ in 0..MERGED_MAX {
        let Ok(left) = run(bytes, at) else { return };
        match run(bytes, at + left.bytes) {
            Ok(right)
                if left.value > 0
                    && left.value == right.value
                    && left.registers + right.registers <= VALUES_MAX =>
            {
                bytes[at + 1] = values(left.value, left.registers + right.registers);
                bytes.remove(at);
            }
            _ => at += left.bytes,
        }
    }
}

/// The run that the register at `index` is in.
fn find(bytes: &[u8], from: Place, index: usize) -> Result<(Place, Run), Fault> {
    let mut place = from;
    loop {
        let run = run(bytes, place.at)?;
        if index < place.first + run.registers {
            return Ok((place, run));
        }
        place = Place {
            at: place.at + run.bytes,
            first: place.first + run.registers,
            before: Some((place.at, place.first)),
        };
    }
}

/// The run at a place.
fn run(bytes: &[u8], at: usize) -> Result<Run, Fault> {
    let byte = *bytes.get(at).ok_or(Fault::Corrupt)?;
    let six = usize::from(byte & 0x3f);
    Ok(if byte & VALUES != 0 {
        Run { value: (byte >> 2 & 0x1f) + 1, registers: usize::from(byte & 3) + 1, bytes: 1 }
    } else if byte & LONG_ZEROS != 0 {
        let low = usize::from(*bytes.get(at + 1).ok_or(Fault::Corrupt)?);
        Run { value: 0, registers: (six << 8 | low) + 1, bytes: 2 }
    } else {
        Run { value: 0, registers: six + 1, bytes: 1 }
    })
}

fn values(value: u8, registers: usize) -> u8 {
    VALUES | (value - 1) << 2 | (registers - 1) as u8
}

/// A few runs on their way into a sketch.
#[derive(Default)]
struct Piece {
    bytes: [u8; PIECE_BYTES_MAX],
    length: usize,
}

impl Piece {
    /// Adds a run, of no registers too.
    fn add(&mut self, value: u8, registers: usize) {
        if registers == 0 {
            return;
        }
        let mut push = |byte: u8| {
            self.bytes[self.length] = byte;
            self.length += 1;
        };
        if value > 0 {
            push(values(value, registers));
        } else if registers > SHORT_ZEROS_MAX {
            push(LONG_ZEROS | ((registers - 1) >> 8) as u8);
            push((registers - 1) as u8);
        } else {
            push((registers - 1) as u8);
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}
