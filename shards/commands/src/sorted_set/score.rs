//! What is known of a sorted set without its members: ZCARD, ZCOUNT, ZLEXCOUNT, ZSCORE, ZMSCORE, ZRANK and
//! ZREVRANK.

use super::read_or_refuse;
use super::span::{By, Span};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::number;
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static ZCARD: Command = Command::new("ZCARD", Group::SortedSet, Run::Local(zcard))
    .arity(2)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO)])
    .summary("1.2.0", "Returns the number of members in a sorted set.")
    .complexity("O(1)")
    .arguments(&[Argument::key()]);

pub(super) static ZCOUNT: Command = Command::new("ZCOUNT", Group::SortedSet, Run::Local(zcount))
    .arity(4)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("2.0.0", "Returns the count of members in a sorted set that have scores within a range.")
    .complexity("O(log(N)) with N being the number of elements in the sorted set.")
    .arguments(&[
        Argument::key(),
        Argument::new("min", ArgumentKind::Double),
        Argument::new("max", ArgumentKind::Double),
    ]);

pub(super) static ZLEXCOUNT: Command = Command::new("ZLEXCOUNT", Group::SortedSet, Run::Local(zlexcount))
    .arity(4)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("2.8.9", "Returns the number of members in a sorted set within a lexicographical range.")
    .complexity("O(log(N)) with N being the number of elements in the sorted set.")
    .arguments(&[
        Argument::key(),
        Argument::new("min", ArgumentKind::String),
        Argument::new("max", ArgumentKind::String),
    ]);

pub(super) static ZSCORE: Command = Command::new("ZSCORE", Group::SortedSet, Run::Local(zscore))
    .arity(3)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("1.2.0", "Returns the score of a member in a sorted set.")
    .complexity("O(1)")
    .arguments(&[Argument::key(), Argument::new("member", ArgumentKind::String)]);

pub(super) static ZMSCORE: Command = Command::new("ZMSCORE", Group::SortedSet, Run::Local(zmscore))
    .arity(-3)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("6.2.0", "Returns the score of one or more members in a sorted set.")
    .complexity("O(N) where N is the number of members being requested.")
    .arguments(&[Argument::key(), Argument::new("member", ArgumentKind::String).multiple()]);

pub(super) static ZRANK: Command = Command::new("ZRANK", Group::SortedSet, Run::Local(zrank))
    .arity(-3)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("2.0.0", "Returns the index of a member in a sorted set ordered by ascending scores.")
    .complexity("O(log(N))")
    .arguments(&[
        Argument::key(),
        Argument::new("member", ArgumentKind::String),
        Argument::word("withscore", "WITHSCORE").since("7.2.0").optional(),
    ]);

pub(super) static ZREVRANK: Command = Command::new("ZREVRANK", Group::SortedSet, Run::Local(zrevrank))
    .arity(-3)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("2.0.0", "Returns the index of a member in a sorted set ordered by descending scores.")
    .complexity("O(log(N))")
    .arguments(&[
        Argument::key(),
        Argument::new("member", ArgumentKind::String),
        Argument::word("withscore", "WITHSCORE").since("7.2.0").optional(),
    ]);

fn zcard(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    reply.integer(set.map_or(0, |set| set.len()) as i64);
}

fn zcount(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    count(ctx, args, reply, By::Score);
}

fn zlexcount(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    count(ctx, args, reply, By::Member);
}

fn count(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>, by: By) {
    let Some(span) = Span::read(by, args.get(2), args.get(3), reply) else { return };
    let key = ctx.key(args.get(1));
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    let ranks = set.map_or(0..0, |set| span.ranks(set, false));
    reply.integer((ranks.end - ranks.start) as i64);
}

fn zscore(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    match set.and_then(|set| set.score(args.get(2))) {
        Some(score) => reply.double(score),
        None => reply.null(),
    }
}

fn zmscore(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    reply.array(args.len() - 2);
    for member in args.from(2) {
        match set.and_then(|set| set.score(member)) {
            Some(score) => reply.double(score),
            None => reply.null(),
        }
    }
}

fn zrank(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    rank(ctx, args, reply, false);
}

fn zrevrank(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    rank(ctx, args, reply, true);
}

fn rank(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>, reverse: bool) {
    if args.len() > 4 {
        let name = if reverse { "zrevrank" } else { "zrank" };
        return number::wrong_arity(name, reply);
    }
    let with_score = args.len() == 4;
    if with_score && !args.is(3, "WITHSCORE") {
        return reply.error(number::SYNTAX);
    }
    let key = ctx.key(args.get(1));
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    let found = set.and_then(|set| {
        let (rank, score) = set.rank(args.get(2))?;
        Some((if reverse { set.len() - 1 - rank } else { rank }, score))
    });
    match found {
        Some((rank, score)) if with_score => {
            reply.array(2);
            reply.integer(rank as i64);
            reply.double(score);
        }
        Some((rank, _)) => reply.integer(rank as i64),
        None if with_score => reply.null_array(),
        None => reply.null(),
    }
}
