//! ZRANDMEMBER: members drawn at random.

use super::{entries_header, entry, read_or_refuse};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use std::collections::BTreeSet;

pub(super) static ZRANDMEMBER: Command =
    Command::new("ZRANDMEMBER", Group::SortedSet, Run::Local(zrandmember))
        .arity(-2)
        .flags(Flags::READONLY)
        .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
        .summary("6.2.0", "Returns one or more random members from a sorted set.")
        .complexity("O(N) where N is the number of elements returned")
        .tips(&["nondeterministic_output"])
        .arguments(&[
            Argument::key(),
            Argument::block(
                "options",
                &[
                    Argument::new("count", ArgumentKind::Integer),
                    Argument::word("withscores", "WITHSCORES").optional(),
                ],
            )
            .optional(),
        ]);

/// Repeats asked for at most: a reply has its bounds.
const REPEATS_MAX: u64 = 1 << 24;

/// From this part of all members on, they are walked and not drawn one by one.
const WALKED_PART: u64 = 3;

fn zrandmember(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let scores = args.len() == 4 && args.is(3, "WITHSCORES");
    if args.len() == 2 {
        return one(ctx, args, reply);
    }
    let Some(count) = number::integer(args.get(2), reply) else { return };
    if count == i64::MIN {
        let (min, max) = (-i64::MAX, i64::MAX);
        return reply
            .error_fmt(format_args!("ERR value is out of range, value must between {min} and {max}"));
    }
    if args.len() > 4 || args.len() == 4 && !scores {
        return reply.error(number::SYNTAX);
    }
    if scores && count.unsigned_abs() > i64::MAX as u64 / 2 {
        return reply.error("ERR value is out of range");
    }
    if count < 0 && count.unsigned_abs() > REPEATS_MAX {
        return reply.error("ERR value is out of range");
    }
    if count < 0 {
        with_repeats(ctx, args, count.unsigned_abs(), scores, reply);
    } else {
        without_repeats(ctx, args, count as u64, scores, reply);
    }
}

fn one(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (key, draw) = (ctx.key(args.get(1)), ctx.random.draw());
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    let Some(set) = set else { return reply.null() };
    let rank = scaled(draw, set.len());
    let (member, _) = set.walk(rank, true).next().expect("the rank is below their number");
    lookup::bulk(member, reply);
}

/// A number below `bound` made of random bits.
fn scaled(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

fn with_repeats(ctx: &mut Ctx<'_>, args: Args<'_>, count: u64, scores: bool, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let mut random = *ctx.random;
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    let Some(set) = set else { return reply.array(0) };
    let len = set.len();
    entries_header(reply, count as usize, scores);
    for _ in 0..count {
        let rank = random.below(len);
        let (member, score) = set.walk(rank, true).next().expect("the rank is below their number");
        entry(reply, member, score, scores);
    }
    *ctx.random = random;
}

fn without_repeats(ctx: &mut Ctx<'_>, args: Args<'_>, count: u64, scores: bool, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let mut random = *ctx.random;
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    let Some(set) = set else { return reply.array(0) };
    let len = set.len();
    let count = count.min(len);
    entries_header(reply, count as usize, scores);
    if count.saturating_mul(WALKED_PART) > len {
        // Each is taken with the chance that as many as are still wanted are among those still to come.
        let (mut wanted, mut left) = (count, len);
        for (member, score) in set.walk(0, true) {
            if wanted > 0 && random.below(left) < wanted {
                entry(reply, member, score, scores);
                wanted -= 1;
            }
            left -= 1;
        }
    } else {
        let mut drawn = BTreeSet::new();
        while (drawn.len() as u64) < count {
            let rank = random.below(len);
            if drawn.insert(rank) {
                let (member, score) = set.walk(rank, true).next().expect("the rank is below their number");
                entry(reply, member, score, scores);
            }
        }
    }
    *ctx.random = random;
}
