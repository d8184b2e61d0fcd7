//! SCAN: all keys of a database in steps, shard by shard. A cursor tells the shard and the place in it,
//! so that nothing is remembered between two calls. A page that is not full where a shard ends goes on on the next.

use crate::command::{Command, Finds, Journey, Run};
use crate::context::{Args, Ctx};
use crate::number;
use resp::Reply;
use spec::{Argument, ArgumentKind, Categories, Flags, Group, glob};

pub(super) static SCAN: Command = Command::new("SCAN", Group::Generic, Run::Journey(&JOURNEY))
    .arity(-2)
    .flags(Flags::READONLY)
    .categories(Categories::KEYSPACE)
    .summary("2.8.0", "Iterates over the key names in the database.")
    .complexity(
        "O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to \
         return back to 0. N is the number of elements inside the collection.",
    )
    .tips(&["nondeterministic_output", "request_policy:special"])
    .arguments(&[
        Argument::new("cursor", ArgumentKind::Integer),
        Argument::new("pattern", ArgumentKind::Pattern).token("MATCH").optional(),
        Argument::new("count", ArgumentKind::Integer).token("COUNT").optional(),
        Argument::new("type", ArgumentKind::String).token("TYPE").since("6.0.0").optional(),
    ]);

static JOURNEY: Journey = Journey { begin, visit, alone };

/// Keys asked for where COUNT is not said.
const COUNT_DEFAULT: usize = 10;

/// Bits of a cursor that name the shard; the place in it stands above them.
const SHARD_BITS: u32 = 10;
/// Places are below this, so that cursors are below 2^58 and fit any client's integer.
const PLACE_BOUND: u64 = 1 << 48;

/// Where a scan goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cursor {
    place: u64,
    shard: u16,
}

impl Cursor {
    fn read(text: &[u8]) -> Option<Cursor> {
        let number = number::cursor(text)?;
        let shard = (number & ((1 << SHARD_BITS) - 1)) as u16;
        Some(Cursor { place: number >> SHARD_BITS, shard })
    }

    /// Nobody was ever given it: there is nothing behind it.
    fn is_foreign(self, shards: u16) -> bool {
        self.shard >= shards || self.place >= PLACE_BOUND
    }

    /// As a number; 0 where all is done.
    fn number(self, shards: u16) -> i64 {
        if self.shard >= shards { 0 } else { (self.place << SHARD_BITS | u64::from(self.shard)) as i64 }
    }
}

/// The shard that a cursor names; any, where it is no cursor.
fn begin(args: Args<'_>, _: u16) -> u16 {
    Cursor::read(args.get(1)).map_or(0, |cursor| cursor.shard)
}

struct Options<'a> {
    count: usize,
    pattern: Option<&'a [u8]>,
    kind: Option<&'a [u8]>,
}

impl<'a> Options<'a> {
    /// `None` once they are refused.
    fn read(args: Args<'a>, reply: &mut Reply<'_>) -> Option<Options<'a>> {
        let mut options = Options { count: COUNT_DEFAULT, pattern: None, kind: None };
        for index in (2..args.len()).step_by(2) {
            let value = args.get(index + 1);
            let lacks_value = index + 1 >= args.len();
            if lacks_value {
                reply.error(number::SYNTAX);
                return None;
            }
            if args.is(index, "COUNT") {
                let count = number::integer(value, reply)?;
                if count < 1 {
                    reply.error(number::SYNTAX);
                    return None;
                }
                options.count = usize::try_from(count).unwrap_or(usize::MAX);
            } else if args.is(index, "MATCH") {
                options.pattern = (!glob::matches_all(value)).then_some(value);
            } else if args.is(index, "TYPE") {
                options.kind = Some(value);
            } else {
                reply.error(number::SYNTAX);
                return None;
            }
        }
        Some(options)
    }

    fn lets_through(&self, key: &[u8], kind: store::Kind) -> bool {
        self.kind.is_none_or(|name| name.eq_ignore_ascii_case(kind.name().as_bytes()))
            && self.pattern.is_none_or(|pattern| glob::glob_match(pattern, key, false))
    }
}

fn visit(ctx: &mut Ctx<'_>, args: Args<'_>, page: &mut Finds, reply: &mut Reply<'_>) -> Option<u16> {
    let (next, has_room) = fill(ctx, args, page, reply)?;
    if has_room && next.place == 0 && next.shard < ctx.seat.shards {
        return Some(next.shard);
    }
    finish(next, ctx.seat.shards, page, reply);
    None
}

fn alone(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let mut page = Finds::default();
    if let Some((next, _)) = fill(ctx, args, &mut page, reply) {
        finish(next, ctx.seat.shards, &page, reply);
    }
}

/// Adds this shard's keys to a page. Says where the next begins, and whether fewer than COUNT were looked at;
/// `None` once the arguments are refused.
fn fill(
    ctx: &mut Ctx<'_>,
    args: Args<'_>,
    page: &mut Finds,
    reply: &mut Reply<'_>,
) -> Option<(Cursor, bool)> {
    let Some(asked) = Cursor::read(args.get(1)) else {
        reply.error("ERR invalid cursor");
        return None;
    };
    let options = Options::read(args, reply)?;
    if asked.is_foreign(ctx.seat.shards) {
        return Some((Cursor { place: 0, shard: ctx.seat.shards }, false));
    }
    // A shard that is not the one asked for begins where it begins.
    let shard = ctx.seat.shard;
    let place = if shard == asked.shard { asked.place } else { 0 };
    let mut list = Reply::new(&mut page.encoded, reply.version());
    let (db, wanted) = (ctx.db(), options.count.saturating_sub(page.seen));
    let place = ctx.store.scan(db, place, wanted, ctx.now, &mut |key, entry| {
        page.seen += 1;
        if options.lets_through(key, entry.kind()) {
            list.bulk(key);
            page.found += 1;
        }
    });
    let shard = if place == 0 { shard + 1 } else { shard };
    Some((Cursor { place, shard }, page.seen < options.count))
}

/// The cursor comes first in the reply and is known last.
fn finish(next: Cursor, shards: u16, page: &Finds, reply: &mut Reply<'_>) {
    reply.array(2);
    reply.bulk_integer(next.number(shards));
    reply.array(page.found);
    reply.raw(&page.encoded);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(text: &str) -> Option<(u64, u16)> {
        Cursor::read(text.as_bytes()).map(|cursor| (cursor.place, cursor.shard))
    }

    #[test]
    fn a_cursor_is_read_as_c_reads_one() {
        assert_eq!(cursor("0"), Some((0, 0)));
        assert_eq!(cursor("1025"), Some((1, 1)));
        assert_eq!(cursor(""), Some((0, 0)));
        assert_eq!(cursor("+7"), Some((0, 7)));
        assert_eq!(cursor("-1"), Some((u64::MAX >> 10, 1023)));
        assert_eq!(cursor("18446744073709551615"), Some((u64::MAX >> 10, 1023)));
        for refused in ["x", "-", "+", " 1", "1 ", "1x", "18446744073709551616", "--1"] {
            assert_eq!(cursor(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn cursors_lead_through_all_shards_and_back_to_zero() {
        let here = Cursor { place: 9, shard: 1 };
        assert_eq!(here.number(3), 9 << 10 | 1);
        assert_eq!(Cursor { place: 0, shard: 2 }.number(3), 2);
        assert_eq!(Cursor { place: 0, shard: 2 }.number(2), 0);
        assert!(Cursor { place: PLACE_BOUND - 1, shard: 1 }.number(3) < 1 << 58);
        assert!(here.is_foreign(1) && !here.is_foreign(2));
        assert!(Cursor { place: PLACE_BOUND, shard: 0 }.is_foreign(1));
    }
}
