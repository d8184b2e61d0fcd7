//! The small form of a sorted set: packed items, a score and a member in turn, in order. A score is an item
//! of eight bytes. It knows bytes alone, not where they lie.

use super::edge::Edge;
use crate::text::Text;
use crate::types::packed;

/// Bytes of a score's item: head, double, length.
const SCORE_ITEM: usize = 10;

/// The shortest decimal form of an integer on the stack, or other bytes as they are.
pub(super) fn bytes_of<'b>(text: Text<'b>, digits: &'b mut [u8; 20]) -> &'b [u8] {
    let value = match text {
        Text::Bytes(bytes) => return bytes,
        Text::Int(value) => value,
    };
    let (mut rest, mut at) = (value.unsigned_abs(), digits.len());
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    &digits[at..]
}

/// The bytes of a score. As in Redis, a small set keeps -0 as the integer 0.
pub(super) fn score_bytes(score: f64) -> [u8; 8] {
    (score + 0.0).to_le_bytes()
}

/// Appends an entry.
pub(super) fn append(out: &mut Vec<u8>, score: f64, member: Text<'_>) {
    packed::append(out, Text::Bytes(&score_bytes(score)));
    packed::append(out, member);
}

/// The score of the entry that begins at `at`.
#[inline]
pub(super) fn score_at(bytes: &[u8], at: usize) -> f64 {
    f64::from_le_bytes(*bytes[at + 1..].first_chunk().expect("a score has eight bytes"))
}

/// The member of the entry that begins at `at`.
#[inline]
pub(super) fn member_at(bytes: &[u8], at: usize) -> Text<'_> {
    packed::text_at(bytes, at + SCORE_ITEM)
}

/// Where the entry ends that begins at `at`.
#[inline]
pub(super) fn end_of(bytes: &[u8], at: usize) -> usize {
    packed::end_of(bytes, at + SCORE_ITEM)
}

/// Where the entry begins that ends at `end`.
#[inline]
pub(super) fn start_of(bytes: &[u8], end: usize) -> usize {
    packed::start_of(bytes, end) - SCORE_ITEM
}

/// Bytes before the score itself in its item: for writing another one over it.
pub(super) const SCORE_HEAD: usize = 1;

/// Where the entry of a member begins, and how many come before it.
pub(super) fn find(bytes: &[u8], member: Text<'_>) -> Option<(usize, u64)> {
    let (mut at, mut rank) = (0, 0);
    while at < bytes.len() {
        if member_at(bytes, at) == member {
            return Some((at, rank));
        }
        at = end_of(bytes, at);
        rank += 1;
    }
    None
}

/// Where the first entry begins that an edge is not behind, and how many come before it.
pub(super) fn search(bytes: &[u8], edge: Edge<'_>) -> (usize, u64) {
    let (mut at, mut rank, mut digits) = (0, 0, [0; 20]);
    while at < bytes.len() {
        let member = member_at(bytes, at);
        if !edge.is_behind(score_at(bytes, at), || bytes_of(member, &mut digits)) {
            break;
        }
        at = end_of(bytes, at);
        rank += 1;
    }
    (at, rank)
}

/// How many entries there are.
pub(super) fn count(bytes: &[u8]) -> u64 {
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        at = end_of(bytes, at);
        count += 1;
    }
    count
}

/// Where the entry of a rank begins; the end, if there are not so many.
pub(super) fn seek(bytes: &[u8], rank: u64) -> usize {
    let mut at = 0;
    for _ in 0..rank {
        if at >= bytes.len() {
            break;
        }
        at = end_of(bytes, at);
    }
    at
}
