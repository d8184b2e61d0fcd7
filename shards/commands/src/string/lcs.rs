//! LCS: the longest common subsequence of two strings, by the usual table of subproblems. The table is
//! bounded as Redis bounds it, though here a cell takes one bit.

use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::{lookup, number};
use resp::{IntegerText, Reply};
use spec::{Access, Argument, ArgumentKind, Extent, Flags, Group, Keys, Start};
use std::borrow::Cow;
use store::Text;

pub(super) static LCS: Command = Command::new(
    "LCS",
    Group::String,
    Run::Plan(&Plan { together: lcs, gather: gather_lcs, decide: decide_lcs }),
)
.arity(-3)
.flags(Flags::READONLY)
.keys(&[Keys::new(
    Start::Index(1),
    Extent::Range { last: 1, step: 1, limit: 0 },
    Access::RO.with(Access::ACCESS),
)])
.summary("7.0.0", "Finds the longest common substring.")
.complexity("O(N*M) where N and M are the lengths of s1 and s2, respectively")
.arguments(&[
    Argument::new("key1", ArgumentKind::Key),
    Argument::new("key2", ArgumentKind::Key),
    Argument::word("len", "LEN").optional(),
    Argument::word("idx", "IDX").optional(),
    Argument::new("min-match-len", ArgumentKind::Integer).token("MINMATCHLEN").optional(),
    Argument::word("withmatchlen", "WITHMATCHLEN").optional(),
]);

const NOT_STRINGS: &str = "ERR The specified keys must contain string values";
const BOTH_MODES: &str = "ERR If you want both the length and indexes, please just use IDX.";
const TOO_LONG: &str = "ERR String too long for LCS";
const TOO_MUCH: &str = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";

/// Bytes of a cell in Redis's table, of which the limit is counted.
const CELL_BYTES: u64 = 4;

#[derive(Clone, Copy, Default)]
struct Options {
    length: bool,
    ranges: bool,
    match_lengths: bool,
    match_min: u64,
}

impl Options {
    /// `None` once they are refused.
    fn read(args: Args<'_>, reply: &mut Reply<'_>) -> Option<Options> {
        let mut options = Options::default();
        let mut index = 3;
        while index < args.len() {
            if args.is(index, "IDX") {
                options.ranges = true;
            } else if args.is(index, "LEN") {
                options.length = true;
            } else if args.is(index, "WITHMATCHLEN") {
                options.match_lengths = true;
            } else if args.is(index, "MINMATCHLEN") && index + 1 < args.len() {
                index += 1;
                options.match_min = number::integer(args.get(index), reply)?.max(0).unsigned_abs();
            } else {
                reply.error(number::SYNTAX);
                return None;
            }
            index += 1;
        }
        if options.length && options.ranges {
            reply.error(BOTH_MODES);
            return None;
        }
        Some(options)
    }
}

fn lcs(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    // Both are needed at once, and a look-up borrows the store: the first is copied. The table costs
    // far more.
    let key = ctx.key(args.get(1));
    let Ok(first) = lookup::text(lookup::read(ctx, key)).map(|text| text.map(owned)) else {
        let key = ctx.key(args.get(2));
        lookup::read(ctx, key);
        return reply.error(NOT_STRINGS);
    };
    let key = ctx.key(args.get(2));
    let limit = ctx.live.proto_max_bulk_len;
    let Ok(second) = lookup::text(lookup::read(ctx, key)) else {
        return reply.error(NOT_STRINGS);
    };
    let second = second.map_or(Cow::Borrowed(&[][..]), bytes_of);
    answer(args, &first.unwrap_or_default(), &second, limit, reply);
}

fn gather_lcs(ctx: &mut Ctx<'_>, _: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    lookup::read(ctx, key);
    let db = ctx.db();
    Piece::Value(ctx.store.copy_out(db, key, ctx.now))
}

fn decide_lcs(
    check: &Check,
    args: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let mut strings = pieces.iter().map(|piece| match piece {
        Piece::Value(Some(value)) => value.text().map(bytes_of),
        _ => Some(Cow::Borrowed(&[][..])),
    });
    match (strings.next().flatten(), strings.next().flatten()) {
        (Some(first), Some(second)) => answer(args, &first, &second, check.string_bytes_max as u64, reply),
        _ => reply.error(NOT_STRINGS),
    }
    None
}

fn bytes_of(text: Text<'_>) -> Cow<'_, [u8]> {
    match text {
        Text::Bytes(bytes) => Cow::Borrowed(bytes),
        Text::Int(number) => Cow::Owned(IntegerText::new(number).as_bytes().to_vec()),
    }
}

fn owned(text: Text<'_>) -> Vec<u8> {
    bytes_of(text).into_owned()
}

/// Replies to LCS of two strings; `limit` bounds the table in bytes.
fn answer(args: Args<'_>, a: &[u8], b: &[u8], limit: u64, reply: &mut Reply<'_>) {
    let Some(options) = Options::read(args, reply) else { return };
    if a.len().max(b.len()) as u64 >= u64::from(u32::MAX) - 1 {
        return reply.error(TOO_LONG);
    }
    let cells = (a.len() as u64 + 1) * (b.len() as u64 + 1);
    if cells.saturating_mul(CELL_BYTES) > limit {
        return reply.error(TOO_MUCH);
    }
    if options.length {
        return reply.integer(i64::from(length(a, b)));
    }
    let (ways, length) = Ways::of(a, b);
    let matches = ways.matches(a, b);
    if options.ranges {
        return write_ranges(&matches, length, options, reply);
    }
    let mut common = Vec::with_capacity(length as usize);
    for found in matches.iter().rev() {
        common.extend_from_slice(&a[found.a..found.a + found.length]);
    }
    reply.bulk(&common);
}

fn write_ranges(matches: &[Match], length: u32, options: Options, reply: &mut Reply<'_>) {
    let long_enough = |found: &&Match| found.length as u64 >= options.match_min;
    let range = |start: usize, length: usize, reply: &mut Reply<'_>| {
        reply.array(2);
        reply.integer(start as i64);
        reply.integer((start + length - 1) as i64);
    };
    reply.map(2);
    reply.bulk(b"matches");
    reply.array(matches.iter().filter(long_enough).count());
    for found in matches.iter().filter(long_enough) {
        reply.array(2 + usize::from(options.match_lengths));
        range(found.a, found.length, reply);
        range(found.b, found.length, reply);
        if options.match_lengths {
            reply.integer(found.length as i64);
        }
    }
    reply.bulk(b"len");
    reply.integer(i64::from(length));
}

/// A run of equal bytes in both strings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Match {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) length: usize,
}

/// The next row of the table from the one before: `row[j]` is the length for `j` bytes of `b`.
/// `step` hears of every column whether leaving out the byte of `a` is better than that of `b`.
#[inline]
fn next_row(byte: u8, b: &[u8], row: &mut [u32], mut step: impl FnMut(usize, bool)) {
    // The cell above to the left, and the one to the left.
    let (mut diagonal, mut left) = (0, 0);
    for (column, other) in b.iter().enumerate() {
        let above = row[column + 1];
        step(column, above > left);
        left = if byte == *other { diagonal + 1 } else { above.max(left) };
        row[column + 1] = left;
        diagonal = above;
    }
}

/// The length of the longest common subsequence.
pub(super) fn length(a: &[u8], b: &[u8]) -> u32 {
    let mut row = vec![0; b.len() + 1];
    a.iter().for_each(|byte| next_row(*byte, b, &mut row, |_, _| {}));
    row[b.len()]
}

/// For each pair of prefixes, which byte to leave out where the last two differ.
pub(super) struct Ways {
    /// A bit a cell: leave out the byte of `a`.
    bits: Vec<u64>,
    words_per_row: usize,
}

impl Ways {
    pub(super) fn of(a: &[u8], b: &[u8]) -> (Ways, u32) {
        let words_per_row = b.len().div_ceil(64);
        let mut bits = vec![0u64; words_per_row * a.len()];
        let mut row = vec![0; b.len() + 1];
        if !b.is_empty() {
            for (byte, words) in a.iter().zip(bits.chunks_exact_mut(words_per_row)) {
                next_row(*byte, b, &mut row, |column, up| {
                    words[column / 64] |= u64::from(up) << (column % 64)
                });
            }
        }
        (Ways { bits, words_per_row }, row[b.len()])
    }

    fn leaves_a(&self, i: usize, j: usize) -> bool {
        self.bits[i * self.words_per_row + j / 64] >> (j % 64) & 1 == 1
    }

    /// The matches on the way back from the ends of both strings, the last first.
    pub(super) fn matches(&self, a: &[u8], b: &[u8]) -> Vec<Match> {
        let (mut i, mut j) = (a.len(), b.len());
        let mut matches = Vec::new();
        while i > 0 && j > 0 {
            let (a_end, b_end) = (i, j);
            while i > 0 && j > 0 && a[i - 1] == b[j - 1] {
                (i, j) = (i - 1, j - 1);
            }
            if i < a_end {
                matches.push(Match { a: i, b: j, length: a_end - i });
                debug_assert_eq!(a_end - i, b_end - j);
            } else if self.leaves_a(i - 1, j - 1) {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        matches
    }
}
