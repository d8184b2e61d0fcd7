//! Which entries a command means: by rank, by score or by member, as its arguments say it.

use crate::number;
use resp::Reply;
use std::ops::Range;
use store::{Edge, SortedSetRef};

/// What the two bounds of a span are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    /// Ranks; negative ones count from the end.
    Rank,
    /// Scores.
    Score,
    /// Members, all scores being the same.
    Member,
}

/// A span of entries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Span<'a> {
    Ranks(i64, i64),
    Edges(Bound<'a>, Bound<'a>),
}

/// Where a span begins or ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound<'a> {
    Lowest,
    Highest,
    At(Edge<'a>),
}

impl<'a> Span<'a> {
    /// Reads the two bounds; `None` once they are refused.
    pub(crate) fn read(by: By, low: &'a [u8], high: &'a [u8], reply: &mut Reply<'_>) -> Option<Span<'a>> {
        match by {
            By::Rank => Some(Span::Ranks(number::integer(low, reply)?, number::integer(high, reply)?)),
            By::Score => {
                let span = score_bound(low, false).zip(score_bound(high, true));
                if span.is_none() {
                    reply.error("ERR min or max is not a float");
                }
                span.map(|(low, high)| Span::Edges(low, high))
            }
            By::Member => {
                let span = member_bound(low, false).zip(member_bound(high, true));
                if span.is_none() {
                    reply.error("ERR min or max not valid string range item");
                }
                span.map(|(low, high)| Span::Edges(low, high))
            }
        }
    }

    /// The ranks it means in a set, counted from the end for ranks in `reverse`.
    pub(crate) fn ranks(self, set: SortedSetRef<'_>, reverse: bool) -> Range<u64> {
        match self {
            Span::Edges(low, high) => {
                let place = |bound| match bound {
                    Bound::Lowest => 0,
                    Bound::Highest => set.len(),
                    Bound::At(edge) => set.count_before(edge),
                };
                let (low, high) = (place(low), place(high));
                low..high.max(low)
            }
            Span::Ranks(start, stop) => {
                let len = set.len();
                let from_end = |rank: i64| if rank < 0 { rank.saturating_add_unsigned(len) } else { rank };
                let (start, stop) = (from_end(start).max(0) as u64, from_end(stop));
                let stop = if stop < 0 { 0 } else { (stop as u64).saturating_add(1).min(len) };
                if start >= stop {
                    return 0..0;
                }
                if reverse { len - stop..len - start } else { start..stop }
            }
        }
    }
}

fn score_bound(text: &[u8], high: bool) -> Option<Bound<'static>> {
    let (open, digits) = match text {
        [b'(', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    Some(Bound::At(Edge::Score { score: float(digits)?, behind: open != high }))
}

/// A number as C's strtod reads one: nothing at all is zero, what is too large is infinite.
fn float(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii_start();
    if text.is_empty() {
        return Some(0.0);
    }
    if let Some(value) = resp::parse_f64(text) {
        return Some(value);
    }
    let digits = match text {
        [b'+' | b'-', rest @ ..] => rest,
        rest => rest,
    };
    if !digits.first()?.is_ascii_digit() && digits[0] != b'.' {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn member_bound(text: &[u8], high: bool) -> Option<Bound<'_>> {
    match text {
        b"-" => Some(Bound::Lowest),
        b"+" => Some(Bound::Highest),
        [b'[', member @ ..] => Some(Bound::At(Edge::Member { member, behind: high })),
        [b'(', member @ ..] => Some(Bound::At(Edge::Member { member, behind: !high })),
        _ => None,
    }
}
