//! Eight bytes looked at together, in one word: which are equal to one, and how many bytes their codes
//! stand for. It does not know what the bytes are for, but for the meaning of codes.

use super::part::SPECIAL;

/// How many.
pub(super) const LANES: usize = 8;

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = LOW << 7;
/// So many words cannot overflow the sixteen bits in which their sizes are added.
const WORDS_MAX: usize = 128;
const PAIRS: u64 = 0x00ff_00ff_00ff_00ff;
const _: () = assert!(SPECIAL == 0xf0, "`sizes` finds it by four bits");

/// The eight bytes at `at`, of which the first `count` matter; the others are zero.
#[inline]
fn load(bytes: &[u8], at: usize, count: usize) -> u64 {
    let word = match bytes.get(at..at + LANES) {
        Some(whole) => u64::from_le_bytes(whole.try_into().expect("sliced to this length")),
        None => load_end(bytes, at),
    };
    if count < LANES { word & ((1 << (8 * count)) - 1) } else { word }
}

#[cold]
fn load_end(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The same byte eight times, to be looked for.
#[derive(Clone, Copy)]
pub(super) struct Lanes(u64);

impl Lanes {
    #[inline]
    pub(super) fn all(byte: u8) -> Lanes {
        Lanes(LOW * u64::from(byte))
    }

    /// Which of the eight bytes at `at` are equal to it; of fewer, zeros may be taken for more.
    #[inline]
    pub(super) fn matches(self, bytes: &[u8], at: usize) -> Matches {
        // Zero where equal. Adding 0x7f to the low seven bits sets the high one unless they are zero.
        let other = load(bytes, at, LANES) ^ self.0;
        Matches(!(((other & !HIGH) + !HIGH) | other | !HIGH))
    }
}

/// The lanes that were equal, first to last.
pub(super) struct Matches(u64);

impl Iterator for Matches {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lane = self.0.trailing_zeros() as usize / 8;
        self.0 &= self.0 - 1;
        Some(lane)
    }
}

/// How many bytes the `count` codes at `at` stand for.
#[inline]
pub(super) fn sum(bytes: &[u8], mut at: usize, mut count: usize) -> usize {
    let mut total = 0;
    while count > 0 {
        let mut sums = 0;
        for _ in 0..count.div_ceil(LANES).min(WORDS_MAX) {
            let sizes = sizes(load(bytes, at, count));
            sums += (sizes & PAIRS) + (sizes >> 8 & PAIRS);
            at += LANES;
            count = count.saturating_sub(LANES);
        }
        let fours = [sums, sums >> 16, sums >> 32, sums >> 48].map(|four| four as usize & 0xffff);
        total += fours.iter().sum::<usize>();
    }
    total
}

/// What eight codes stand for: themselves, or the low half where all bits of the high half are set.
#[inline]
fn sizes(codes: u64) -> u64 {
    let special = codes & codes << 1 & codes << 2 & codes << 3 & HIGH;
    // One bit in each of those bytes, multiplied to their upper four.
    codes & !((special >> 3) * 0xf)
}

#[cfg(test)]
mod tests {
    use super::super::part::bytes_of;
    use super::*;

    #[test]
    fn they_see_what_a_look_at_each_sees() {
        let mut state = 1u64;
        for length in 0..1500 {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 56) as u8 | (state >> 40) as u8 & 0xf0
                })
                .collect();
            let (at, count) = (length / 5, length - length / 3 - length / 5);
            let plain: usize = bytes[at..at + count].iter().map(|code| bytes_of(*code)).sum();
            assert_eq!(sum(&bytes, at, count), plain);
            let byte = bytes.get(at + count / 2).copied().unwrap_or(0);
            let matches: Vec<usize> = (0..count)
                .step_by(LANES)
                .flat_map(|first| Lanes::all(byte).matches(&bytes, at + first).map(move |lane| first + lane))
                .filter(|index| *index < count)
                .collect();
            let plain: Vec<usize> = (0..count).filter(|index| bytes[at + index] == byte).collect();
            assert_eq!(matches, plain);
        }
    }
}
