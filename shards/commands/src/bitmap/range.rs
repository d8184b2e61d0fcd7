//! A range of bits as the arguments of BITCOUNT and BITPOS give it, and its bits counted or searched. It
//! does not know keys.

use crate::context::Args;
use crate::number;
use resp::Reply;

/// What indexes count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Byte,
    Bit,
}

impl Unit {
    /// The unit that argument `at` names, bytes where there is none; `None` once it is refused.
    pub(super) fn read(args: Args<'_>, at: usize, reply: &mut Reply<'_>) -> Option<Unit> {
        if at >= args.len() || args.is(at, "BYTE") {
            return Some(Unit::Byte);
        }
        if args.is(at, "BIT") {
            return Some(Unit::Bit);
        }
        reply.error(number::SYNTAX);
        None
    }

    fn bits(self) -> i64 {
        match self {
            Unit::Byte => 8,
            Unit::Bit => 1,
        }
    }
}

/// Some bits of a string: from the first to the one behind the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    start: usize,
    end: usize,
}

impl Range {
    /// The units from `start` to `end` (or all from there on), both included, of a string of `bytes` bytes;
    /// negative ones count from the end. `None`: it has none of them.
    pub(super) fn of(start: i64, end: Option<i64>, unit: Unit, bytes: usize) -> Option<Range> {
        let total = (bytes as i64) * 8 / unit.bits();
        let from_front = |index: i64| if index < 0 { (index + total).max(0) } else { index };
        let (start, end) = (from_front(start), end.map_or(total - 1, from_front).min(total - 1));
        (start <= end)
            .then(|| Range { start: (start * unit.bits()) as usize, end: ((end + 1) * unit.bits()) as usize })
    }

    /// How many bits of the range are set.
    pub(super) fn count(self, bytes: &[u8]) -> u64 {
        let (first, last) = (self.start / 8, (self.end - 1) / 8);
        let outside = u64::from((bytes[first] & !from(self.start)).count_ones())
            + u64::from((bytes[last] & !until(self.end)).count_ones());
        count(&bytes[first..=last]) - outside
    }

    /// The first bit of the range that is as `on` says.
    pub(super) fn find(self, bytes: &[u8], on: bool) -> Option<usize> {
        let (first, last) = (self.start / 8, (self.end - 1) / 8);
        // Seen so that what is searched for is a bit that is set.
        let seen = |at: usize| if on { bytes[at] } else { !bytes[at] };
        let in_byte = |at: usize, byte: u8| (byte != 0).then(|| at * 8 + byte.leading_zeros() as usize);
        let head = seen(first) & from(self.start) & if first == last { until(self.end) } else { 0xff };
        if first == last || head != 0 {
            return in_byte(first, head);
        }
        let others = if on { 0x00 } else { 0xff };
        match first_other(&bytes[first + 1..last], others) {
            Some(found) => in_byte(first + 1 + found, seen(first + 1 + found)),
            None => in_byte(last, seen(last) & until(self.end)),
        }
    }

    /// The bit behind the range.
    pub(super) fn end(self) -> usize {
        self.end
    }
}

/// Of a byte, the bits from bit `start` of the string on.
fn from(start: usize) -> u8 {
    0xff >> (start % 8)
}

/// Of a byte, the bits before bit `end` of the string, which is in this byte or the next one's first.
fn until(end: usize) -> u8 {
    !(0x7f >> ((end - 1) % 8))
}

/// Words that are counted together.
const BLOCK: usize = 8;

/// How many bits are set. Whole blocks go through adders that carry, bit by bit side by side, so that one
/// word in eight is counted (Harley and Seal's method, as in Warren's "Hacker's Delight").
fn count(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<{ 8 * BLOCK }>();
    let (mut ones, mut twos, mut fours, mut eights) = (0u64, 0u64, 0u64, 0u64);
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        let word = |at: usize| u64::from_le_bytes(words[at]);
        let (sum, two_a) = add(ones, word(0), word(1));
        let (sum, two_b) = add(sum, word(2), word(3));
        let (sum, two_c) = add(sum, word(4), word(5));
        let (sum, two_d) = add(sum, word(6), word(7));
        let (pairs, four_a) = add(twos, two_a, two_b);
        let (pairs, four_b) = add(pairs, two_c, two_d);
        let (quads, eight) = add(fours, four_a, four_b);
        (ones, twos, fours) = (sum, pairs, quads);
        eights += u64::from(eight.count_ones());
    }
    let carried = u64::from(ones.count_ones() + 2 * twos.count_ones() + 4 * fours.count_ones());
    8 * eights + carried + rest.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
}

/// Sums of three bits at each place, and their carries.
fn add(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    (half ^ c, a & b | half & c)
}

/// The first byte that is not `usual`.
fn first_other(bytes: &[u8], usual: u8) -> Option<usize> {
    let (blocks, _) = bytes.as_chunks::<64>();
    let skipped = 64 * blocks.iter().take_while(|block| block.iter().all(|byte| *byte == usual)).count();
    let found = bytes[skipped..].iter().position(|byte| *byte != usual)?;
    Some(skipped + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit(bytes: &[u8], at: usize) -> bool {
        bytes[at / 8] & (0x80 >> (at % 8)) != 0
    }

    #[test]
    fn every_range_is_counted_and_searched_as_bit_by_bit() {
        let mut random = crate::Random::new(5);
        for round in 0..400 {
            let length = random.below(200) as usize + 1;
            let mut bytes: Vec<u8> = (0..length).map(|_| random.draw() as u8).collect();
            if round % 2 == 0 {
                let usual = if round % 4 == 0 { 0 } else { 0xff };
                bytes.fill(usual);
                bytes[random.below(length as u64) as usize] = random.draw() as u8;
            }
            for _ in 0..30 {
                let start = random.below(length as u64 * 8) as i64;
                let end = start + random.below(length as u64 * 8 - start as u64) as i64;
                let range = Range::of(start, Some(end), Unit::Bit, length).unwrap();
                let places = || start as usize..=end as usize;
                let count = places().filter(|at| bit(&bytes, *at)).count();
                assert_eq!(range.count(&bytes), count as u64);
                for on in [true, false] {
                    assert_eq!(range.find(&bytes, on), places().find(|at| bit(&bytes, *at) == on));
                }
            }
        }
    }

    #[test]
    fn indexes_count_from_either_end_and_are_cut_to_what_there_is() {
        let of = |start, end, unit| Range::of(start, end, unit, 3).map(|range| (range.start, range.end));
        assert_eq!(of(0, None, Unit::Byte), Some((0, 24)));
        assert_eq!(of(-2, Some(-1), Unit::Byte), Some((8, 24)));
        assert_eq!(of(1, Some(1), Unit::Byte), Some((8, 16)));
        assert_eq!(of(-100, Some(100), Unit::Bit), Some((0, 24)));
        assert_eq!(of(5, Some(-20), Unit::Bit), None);
        assert_eq!(of(3, None, Unit::Byte), None);
        assert_eq!(of(i64::MIN, Some(i64::MAX), Unit::Bit), Some((0, 24)));
        assert_eq!(Range::of(0, None, Unit::Byte, 0), None);
    }
}
