//! The bytes of a sketch: 16 of a header, as Redis writes them, and behind them the registers, dense or
//! sparse.
//!
//! ```text
//! "HYLL" | encoding | 3 unused | the count last worked out, 8 bytes, lowest first
//! ```
//! The highest bit of the count says that registers have changed since.

use super::{Fault, dense, sparse};

pub(super) const HEADER_BYTES: usize = 16;

const MAGIC: &[u8; 4] = b"HYLL";
const ENCODING_AT: usize = 4;
const COUNT_AT: usize = 8;
const STALE: u64 = 1 << 63;

/// How registers are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Encoding {
    /// Six bits each.
    Dense,
    /// Runs of equal ones.
    Sparse,
}

/// The encoding of a sketch, if it is one by its first bytes and length.
pub(super) fn encoding(bytes: &[u8]) -> Result<Encoding, Fault> {
    if bytes.len() < HEADER_BYTES || !bytes.starts_with(MAGIC) {
        return Err(Fault::NotASketch);
    }
    match bytes[ENCODING_AT] {
        0 if bytes.len() == HEADER_BYTES + dense::BYTES => Ok(Encoding::Dense),
        1 => Ok(Encoding::Sparse),
        _ => Err(Fault::NotASketch),
    }
}

/// A sketch that has seen nothing.
pub(super) fn fresh() -> Vec<u8> {
    let mut bytes = vec![0; HEADER_BYTES];
    bytes[..MAGIC.len()].copy_from_slice(MAGIC);
    bytes[ENCODING_AT] = 1;
    sparse::write_empty(&mut bytes);
    bytes
}

/// The same sketch, sparse, as a dense one.
pub(super) fn densified(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut dense = vec![0; HEADER_BYTES + dense::BYTES];
    dense[..HEADER_BYTES].copy_from_slice(&bytes[..HEADER_BYTES]);
    dense[ENCODING_AT] = 0;
    let registers = &mut dense[HEADER_BYTES..];
    sparse::each_run(bytes, |first, run| {
        if run.value > 0 {
            (first..first + run.registers).for_each(|index| dense::set(registers, index, run.value));
        }
    })?;
    Ok(dense)
}

/// The count as it was last worked out, if that holds.
pub(super) fn count(bytes: &[u8]) -> Option<u64> {
    let count = bytes[COUNT_AT..].first_chunk().map(|count| u64::from_le_bytes(*count));
    count.filter(|count| count & STALE == 0)
}

/// Notes the count.
pub(super) fn note_count(bytes: &mut [u8], count: u64) {
    bytes[COUNT_AT..HEADER_BYTES].copy_from_slice(&count.to_le_bytes());
}

/// Says that the count does not hold any more.
pub(super) fn forget_count(bytes: &mut [u8]) {
    bytes[HEADER_BYTES - 1] |= (STALE >> 56) as u8;
}
