//! ZRANGE and its older relatives: entries in order.

use super::interval::{Form, Interval};
use super::span::By;
use super::{entries_header, entry, read_or_refuse};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static ZRANGE: Command = Command::new("ZRANGE", Group::SortedSet, Run::Local(zrange))
    .arity(-4)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("1.2.0", "Returns members in a sorted set within a range of indexes.")
    .complexity(
        "O(log(N)+M) with N being the number of elements in the sorted set and M the number of \
         elements returned.",
    )
    .arguments(&[
        Argument::key(),
        Argument::new("start", ArgumentKind::String),
        Argument::new("stop", ArgumentKind::String),
        Argument::one_of("sortby", &[Argument::word("byscore", "BYSCORE"), Argument::word("bylex", "BYLEX")])
            .since("6.2.0")
            .optional(),
        Argument::word("rev", "REV").since("6.2.0").optional(),
        Argument::block(
            "limit",
            &[Argument::new("offset", ArgumentKind::Integer), Argument::new("count", ArgumentKind::Integer)],
        )
        .token("LIMIT")
        .since("6.2.0")
        .optional(),
        Argument::word("withscores", "WITHSCORES").optional(),
    ]);

pub(super) static ZREVRANGE: Command = Command::new("ZREVRANGE", Group::SortedSet, Run::Local(zrevrange))
    .arity(-4)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("1.2.0", "Returns members in a sorted set within a range of indexes in reverse order.")
    .deprecated("6.2.0", "`ZRANGE` with the `REV` argument")
    .complexity(
        "O(log(N)+M) with N being the number of elements in the sorted set and M the number of \
         elements returned.",
    )
    .arguments(&[
        Argument::key(),
        Argument::new("start", ArgumentKind::Integer),
        Argument::new("stop", ArgumentKind::Integer),
        Argument::word("withscores", "WITHSCORES").optional(),
    ]);

pub(super) static ZRANGEBYSCORE: Command =
    Command::new("ZRANGEBYSCORE", Group::SortedSet, Run::Local(zrangebyscore))
        .arity(-4)
        .flags(Flags::READONLY)
        .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
        .summary("1.0.5", "Returns members in a sorted set within a range of scores.")
        .deprecated("6.2.0", "`ZRANGE` with the `BYSCORE` argument")
        .complexity(
            "O(log(N)+M) with N being the number of elements in the sorted set and M the number of \
         elements being returned. If M is constant (e.g. always asking for the first 10 elements \
         with LIMIT), you can consider it O(log(N)).",
        )
        .arguments(&[
            Argument::key(),
            Argument::new("min", ArgumentKind::Double),
            Argument::new("max", ArgumentKind::Double),
            Argument::word("withscores", "WITHSCORES").since("2.0.0").optional(),
            Argument::block(
                "limit",
                &[
                    Argument::new("offset", ArgumentKind::Integer),
                    Argument::new("count", ArgumentKind::Integer),
                ],
            )
            .token("LIMIT")
            .optional(),
        ]);

pub(super) static ZREVRANGEBYSCORE: Command =
    Command::new("ZREVRANGEBYSCORE", Group::SortedSet, Run::Local(zrevrangebyscore))
        .arity(-4)
        .flags(Flags::READONLY)
        .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
        .summary("2.2.0", "Returns members in a sorted set within a range of scores in reverse order.")
        .deprecated("6.2.0", "`ZRANGE` with the `REV` and `BYSCORE` arguments")
        .complexity(
            "O(log(N)+M) with N being the number of elements in the sorted set and M the number of \
         elements being returned. If M is constant (e.g. always asking for the first 10 elements \
         with LIMIT), you can consider it O(log(N)).",
        )
        .arguments(&[
            Argument::key(),
            Argument::new("max", ArgumentKind::Double),
            Argument::new("min", ArgumentKind::Double),
            Argument::word("withscores", "WITHSCORES").optional(),
            Argument::block(
                "limit",
                &[
                    Argument::new("offset", ArgumentKind::Integer),
                    Argument::new("count", ArgumentKind::Integer),
                ],
            )
            .token("LIMIT")
            .optional(),
        ]);

pub(super) static ZRANGEBYLEX: Command =
    Command::new("ZRANGEBYLEX", Group::SortedSet, Run::Local(zrangebylex))
        .arity(-4)
        .flags(Flags::READONLY)
        .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
        .summary("2.8.9", "Returns members in a sorted set within a lexicographical range.")
        .deprecated("6.2.0", "`ZRANGE` with the `BYLEX` argument")
        .complexity(
            "O(log(N)+M) with N being the number of elements in the sorted set and M the number of \
         elements being returned. If M is constant (e.g. always asking for the first 10 elements \
         with LIMIT), you can consider it O(log(N)).",
        )
        .arguments(&[
            Argument::key(),
            Argument::new("min", ArgumentKind::String),
            Argument::new("max", ArgumentKind::String),
            Argument::block(
                "limit",
                &[
                    Argument::new("offset", ArgumentKind::Integer),
                    Argument::new("count", ArgumentKind::Integer),
                ],
            )
            .token("LIMIT")
            .optional(),
        ]);

pub(super) static ZREVRANGEBYLEX: Command =
    Command::new("ZREVRANGEBYLEX", Group::SortedSet, Run::Local(zrevrangebylex))
        .arity(-4)
        .flags(Flags::READONLY)
        .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
        .summary("2.8.9", "Returns members in a sorted set within a lexicographical range in reverse order.")
        .deprecated("6.2.0", "`ZRANGE` with the `REV` and `BYLEX` arguments")
        .complexity(
            "O(log(N)+M) with N being the number of elements in the sorted set and M the number of \
         elements being returned. If M is constant (e.g. always asking for the first 10 elements \
         with LIMIT), you can consider it O(log(N)).",
        )
        .arguments(&[
            Argument::key(),
            Argument::new("max", ArgumentKind::String),
            Argument::new("min", ArgumentKind::String),
            Argument::block(
                "limit",
                &[
                    Argument::new("offset", ArgumentKind::Integer),
                    Argument::new("count", ArgumentKind::Integer),
                ],
            )
            .token("LIMIT")
            .optional(),
        ]);

const ANY: Form = Form { first: 2, by: None, reverse: None, shows_scores: true };

const fn form(by: By, reverse: bool) -> Form {
    Form { by: Some(by), reverse: Some(reverse), ..ANY }
}

fn zrange(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    range(ctx, args, reply, ANY);
}

fn zrevrange(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    range(ctx, args, reply, form(By::Rank, true));
}

fn zrangebyscore(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    range(ctx, args, reply, form(By::Score, false));
}

fn zrevrangebyscore(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    range(ctx, args, reply, form(By::Score, true));
}

fn zrangebylex(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    range(ctx, args, reply, form(By::Member, false));
}

fn zrevrangebylex(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    range(ctx, args, reply, form(By::Member, true));
}

fn range(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>, form: Form) {
    let Some(interval) = Interval::read(args, form, reply) else { return };
    let key = ctx.key(args.get(1));
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    let Some(set) = set else { return reply.array(0) };
    let (count, entries) = interval.walk(set);
    entries_header(reply, count, interval.scores);
    for (member, score) in entries {
        entry(reply, member, score, interval.scores);
    }
}
