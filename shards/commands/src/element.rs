//! What commands on the elements of one collection share: the arguments of scans and of random draws.
//! It does not know collections.

use crate::context::{Args, Random};
use crate::number;
use resp::Reply;
use spec::glob;
use store::Text;

/// Elements asked for where COUNT is not said.
const COUNT_DEFAULT: usize = 10;
/// Elements that a draw with repetition may ask for: its reply has no other bound.
const REPEATED_MAX: u64 = 1 << 24;

/// What a scan of elements is asked for, from argument 2 on.
pub(crate) struct Scan<'a> {
    /// Where it goes on.
    pub(crate) cursor: u64,
    /// About how many elements.
    pub(crate) count: usize,
    pattern: Option<&'a [u8]>,
}

impl<'a> Scan<'a> {
    /// `None` once it is refused.
    pub(crate) fn read(args: Args<'a>, reply: &mut Reply<'_>) -> Option<Scan<'a>> {
        let Some(cursor) = number::cursor(args.get(2)) else {
            reply.error("ERR invalid cursor");
            return None;
        };
        let mut scan = Scan { cursor, count: COUNT_DEFAULT, pattern: None };
        for index in (3..args.len()).step_by(2) {
            let value = args.get(index + 1);
            if index + 1 < args.len() && args.is(index, "COUNT") {
                let count = number::integer(value, reply)?;
                if count >= 1 {
                    scan.count = usize::try_from(count).unwrap_or(usize::MAX);
                    continue;
                }
            } else if index + 1 < args.len() && args.is(index, "MATCH") {
                scan.pattern = (!glob::matches_all(value)).then_some(value);
                continue;
            }
            reply.error(number::SYNTAX);
            return None;
        }
        Some(scan)
    }

    /// Whether MATCH lets an element through.
    pub(crate) fn lets_through(&self, element: Text<'_>) -> bool {
        self.pattern.is_none_or(|pattern| match element {
            Text::Bytes(bytes) => glob::glob_match(pattern, bytes, false),
            Text::Int(value) => glob::glob_match(pattern, resp::IntegerText::new(value).as_bytes(), false),
        })
    }
}

/// Replies to a scan: the next cursor, and the `found` elements that were written apart, since the cursor
/// is known last and comes first.
pub(crate) fn scanned(next: u64, found: usize, elements: &[u8], reply: &mut Reply<'_>) {
    reply.array(2);
    match i64::try_from(next) {
        Ok(next) => reply.bulk_integer(next),
        Err(_) => reply.bulk_text(&next.to_string()),
    }
    reply.array(found);
    reply.raw(elements);
}

/// How many random elements are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Draw {
    /// So many, each once, or all if there are not as many.
    Distinct(u64),
    /// So many, each drawn from all.
    Repeated(u64),
}

impl Draw {
    /// Reads a count; `None` once it is refused. `pairs`: each element comes with its value.
    pub(crate) fn read(argument: &[u8], pairs: bool, reply: &mut Reply<'_>) -> Option<Draw> {
        let count = number::integer(argument, reply)?;
        if count == i64::MIN {
            let (min, max) = (-i64::MAX, i64::MAX);
            reply.error_fmt(format_args!("ERR value is out of range, value must between {min} and {max}"));
            return None;
        }
        let draw =
            if count < 0 { Draw::Repeated(count.unsigned_abs()) } else { Draw::Distinct(count as u64) };
        let too_many = pairs && count.unsigned_abs() > i64::MAX as u64 / 2;
        if too_many || matches!(draw, Draw::Repeated(count) if count > REPEATED_MAX) {
            reply.error("ERR value is out of range");
            return None;
        }
        Some(draw)
    }
}

/// Draws `count` of `total` things in order, each set of so many as likely as any other (Knuth's
/// algorithm S): for each in turn, whether it is drawn.
pub(crate) struct Sampler {
    wanted: u64,
    left: u64,
}

impl Sampler {
    pub(crate) fn new(count: u64, total: u64) -> Sampler {
        Sampler { wanted: count.min(total), left: total }
    }

    pub(crate) fn draws(&mut self, random: &mut Random) -> bool {
        let drawn = random.below(self.left.max(1)) < self.wanted;
        self.wanted -= u64::from(drawn);
        self.left = self.left.saturating_sub(1);
        drawn
    }
}
