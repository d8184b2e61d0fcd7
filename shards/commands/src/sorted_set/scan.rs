//! ZSCAN: a sorted set in steps, in no order.

use super::read_or_refuse;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::{IntegerText, Reply, format_double};
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys, glob};
use store::Text;

pub(super) static ZSCAN: Command = Command::new("ZSCAN", Group::SortedSet, Run::Local(zscan))
    .arity(-3)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("2.8.0", "Iterates over members and scores of a sorted set.")
    .complexity(
        "O(1) for every call. O(N) for a complete iteration, including enough command calls for \
         the cursor to return back to 0. N is the number of elements inside the collection..",
    )
    .tips(&["nondeterministic_output"])
    .arguments(&[
        Argument::key(),
        Argument::new("cursor", ArgumentKind::Integer),
        Argument::new("pattern", ArgumentKind::Pattern).token("MATCH").optional(),
        Argument::new("count", ArgumentKind::Integer).token("COUNT").optional(),
    ]);

/// Members asked for where COUNT is not said.
const COUNT_DEFAULT: usize = 10;

fn zscan(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(cursor) = number::cursor(args.get(2)) else {
        return reply.error("ERR invalid cursor");
    };
    let key = ctx.key(args.get(1));
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    let Some(set) = set else {
        reply.array(2);
        reply.bulk(b"0");
        return reply.array(0);
    };
    let Some((count, pattern)) = options(args, reply) else { return };
    let (mut body, mut found) = (resp::Output::default(), 0);
    let mut list = Reply::new(&mut body, reply.version());
    let next = set.scan(cursor, count, &mut |member, score| {
        if pattern.is_none_or(|pattern| matches(pattern, member)) {
            lookup::bulk(member, &mut list);
            // A string in RESP3 too.
            list.bulk(format_double(score).as_bytes());
            found += 2;
        }
    });
    reply.array(2);
    reply.bulk_integer(next as i64);
    reply.array(found);
    reply.raw(&body);
}

fn matches(pattern: &[u8], member: Text<'_>) -> bool {
    match member {
        Text::Bytes(bytes) => glob::glob_match(pattern, bytes, false),
        Text::Int(value) => glob::glob_match(pattern, IntegerText::new(value).as_bytes(), false),
    }
}

/// COUNT and MATCH; `None` once they are refused.
fn options<'a>(args: Args<'a>, reply: &mut Reply<'_>) -> Option<(usize, Option<&'a [u8]>)> {
    let (mut count, mut pattern) = (COUNT_DEFAULT, None);
    for index in (3..args.len()).step_by(2) {
        let value = args.get(index + 1);
        if index + 1 < args.len() && args.is(index, "COUNT") {
            let said = number::integer(value, reply)?;
            if said < 1 {
                reply.error(number::SYNTAX);
                return None;
            }
            count = usize::try_from(said).unwrap_or(usize::MAX);
        } else if index + 1 < args.len() && args.is(index, "MATCH") {
            pattern = (!glob::matches_all(value)).then_some(value);
        } else {
            reply.error(number::SYNTAX);
            return None;
        }
    }
    Some((count, pattern))
}
