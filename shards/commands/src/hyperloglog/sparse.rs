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
    /// The same of the run before; its own, where that is not known.
    before_at: usize,
    before_first: usize,
}

impl Place {
    /// The first run.
    pub(super) const START: Place =
        Place { at: HEADER_BYTES, first: 0, before_at: HEADER_BYTES, before_first: 0 };
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
    if place.before_at == place.at && place.at > HEADER_BYTES {
        // What lies before it has to be known.
        (place, old) = find(bytes, Place::START, index)?;
    }
    let Place { before_at, before_first, .. } = place;
    *from = Place { at: before_at, first: before_first, before_at, before_first };
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
    let Place { mut at, mut first, mut before_at, mut before_first } = from;
    loop {
        while let Some((registers, last)) = bytes.get(at..).and_then(<[u8]>::first_chunk).and_then(eight_runs)
            && first + registers <= index
        {
            (before_at, before_first) = (at + 7, first + registers - last);
            at += 8;
            first += registers;
        }
        let run = run(bytes, at)?;
        if index < first + run.registers {
            return Ok((Place { at, first, before_at, before_first }, run));
        }
        (before_at, before_first) = (at, first);
        at += run.bytes;
        first += run.registers;
    }
}

/// How many registers are in eight runs of a byte each, and how many in the last of them; `None` where there
/// are long zeros among them.
#[inline(always)]
fn eight_runs(bytes: &[u8; 8]) -> Option<(usize, usize)> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_le_bytes(*bytes);
    if word & !(word >> 1) & (u64::from(LONG_ZEROS) * EACH) != 0 {
        return None;
    }
    // Six bits of zeros, or two of values; one register less than there are.
    let values = word >> 7 & EACH;
    let registers = word & ((0x3f * EACH) ^ (values * 0x3c));
    // Added up in lanes of two bytes: the sum has more than one.
    let lanes = (registers & 0x00ff_00ff_00ff_00ff) + (registers >> 8 & 0x00ff_00ff_00ff_00ff);
    let sum = lanes.wrapping_mul(0x0001_0001_0001_0001) >> 48;
    Some((sum as usize + 8, (registers >> 56) as usize + 1))
}

/// The run at a place.
#[inline(always)]
fn run(bytes: &[u8], at: usize) -> Result<Run, Fault> {
    let byte = *bytes.get(at).ok_or(Fault::Corrupt)?;
    if byte & (VALUES | LONG_ZEROS) == LONG_ZEROS {
        let low = *bytes.get(at + 1).ok_or(Fault::Corrupt)?;
        let registers = (usize::from(byte & 0x3f) << 8 | usize::from(low)) + 1;
        return Ok(Run { value: 0, registers, bytes: 2 });
    }
    Ok(match byte & VALUES {
        0 => Run { value: 0, registers: usize::from(byte & 0x3f) + 1, bytes: 1 },
        _ => Run { value: (byte >> 2 & 0x1f) + 1, registers: usize::from(byte & 3) + 1, bytes: 1 },
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
