//! Where an element is counted: MurmurHash64A (Austin Appleby, 2008) of its bytes, split into a register's
//! index and a run of zeros.

/// Bits of the hash that choose the register.
pub(super) const INDEX_BITS: u32 = 14;
/// The other bits, in which zeros are counted.
pub(super) const ZERO_BITS: u32 = 64 - INDEX_BITS;

const SEED: u64 = 0xadc8_3b19;
const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
const SHIFT: u32 = 47;

/// An element's register, and what that must hold at least: 1 to 51.
pub(super) fn place(element: &[u8]) -> (usize, u8) {
    let hash = murmur(element);
    let index = hash & ((1 << INDEX_BITS) - 1);
    // A bit behind the last ends the run.
    let zeros = (hash >> INDEX_BITS | 1 << ZERO_BITS).trailing_zeros();
    (index as usize, zeros as u8 + 1)
}

fn murmur(bytes: &[u8]) -> u64 {
    let mut hash = SEED ^ (bytes.len() as u64).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let mut word = u64::from_le_bytes(*word).wrapping_mul(FACTOR);
        word ^= word >> SHIFT;
        hash = (hash ^ word.wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    }
    if !rest.is_empty() {
        hash = (hash ^ crate::context::first_word(rest)).wrapping_mul(FACTOR);
    }
    hash = (hash ^ hash >> SHIFT).wrapping_mul(FACTOR);
    hash ^ hash >> SHIFT
}
