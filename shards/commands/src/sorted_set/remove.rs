//! ZREM and ZREMRANGEBYRANK, -BYSCORE, -BYLEX: members are taken out.

use super::span::{By, Span};
use super::tell_removed;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static ZREM: Command = Command::new("ZREM", Group::SortedSet, Run::Local(zrem))
    .arity(-3)
    .flags(Flags::WRITE.with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::DELETE))])
    .summary(
        "1.2.0",
        "Removes one or more members from a sorted set. Deletes the sorted set if all members \
         were removed.",
    )
    .complexity(
        "O(M*log(N)) with N being the number of elements in the sorted set and M the number of \
         elements to be removed.",
    )
    .arguments(&[Argument::key(), Argument::new("member", ArgumentKind::String).multiple()]);

pub(super) static ZREMRANGEBYRANK: Command =
    Command::new("ZREMRANGEBYRANK", Group::SortedSet, Run::Local(zremrangebyrank))
        .arity(4)
        .flags(Flags::WRITE)
        .keys(&[Keys::one(Access::RW.with(Access::DELETE))])
        .summary(
            "2.0.0",
            "Removes members in a sorted set within a range of indexes. Deletes the sorted set if all \
         members were removed.",
        )
        .complexity(
            "O(log(N)+M) with N being the number of elements in the sorted set and M the number of \
         elements removed by the operation.",
        )
        .arguments(&[
            Argument::key(),
            Argument::new("start", ArgumentKind::Integer),
            Argument::new("stop", ArgumentKind::Integer),
        ]);

pub(super) static ZREMRANGEBYSCORE: Command =
    Command::new("ZREMRANGEBYSCORE", Group::SortedSet, Run::Local(zremrangebyscore))
        .arity(4)
        .flags(Flags::WRITE)
        .keys(&[Keys::one(Access::RW.with(Access::DELETE))])
        .summary(
            "1.2.0",
            "Removes members in a sorted set within a range of scores. Deletes the sorted set if all \
         members were removed.",
        )
        .complexity(
            "O(log(N)+M) with N being the number of elements in the sorted set and M the number of \
         elements removed by the operation.",
        )
        .arguments(&[
            Argument::key(),
            Argument::new("min", ArgumentKind::Double),
            Argument::new("max", ArgumentKind::Double),
        ]);

pub(super) static ZREMRANGEBYLEX: Command =
    Command::new("ZREMRANGEBYLEX", Group::SortedSet, Run::Local(zremrangebylex))
        .arity(4)
        .flags(Flags::WRITE)
        .keys(&[Keys::one(Access::RW.with(Access::DELETE))])
        .summary(
            "2.8.9",
            "Removes members in a sorted set within a lexicographical range. Deletes the sorted set \
         if all members were removed.",
        )
        .complexity(
            "O(log(N)+M) with N being the number of elements in the sorted set and M the number of \
         elements removed by the operation.",
        )
        .arguments(&[
            Argument::key(),
            Argument::new("min", ArgumentKind::String),
            Argument::new("max", ArgumentKind::String),
        ]);

fn zrem(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key) = (ctx.db(), ctx.key(args.get(1)));
    let (removed, gone) = match ctx.store.sorted_set_mut(db, key, ctx.now) {
        Err(_) => return reply.error(lookup::WRONG_KIND),
        Ok(None) => (0, false),
        Ok(Some(mut set)) => {
            let mut removed = 0u64;
            for member in args.from(2) {
                removed += u64::from(set.remove(member).is_some());
                if set.view().is_empty() {
                    break;
                }
            }
            (removed, set.view().is_empty())
        }
    };
    if removed > 0 {
        tell_removed(ctx, key, "zrem", gone);
        ctx.changed(removed);
    }
    reply.integer(removed as i64);
}

fn zremrangebyrank(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    remove_span(ctx, args, reply, By::Rank, "zremrangebyrank");
}

fn zremrangebyscore(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    remove_span(ctx, args, reply, By::Score, "zremrangebyscore");
}

fn zremrangebylex(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    remove_span(ctx, args, reply, By::Member, "zremrangebylex");
}

fn remove_span(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>, by: By, event: &'static str) {
    let Some(span) = Span::read(by, args.get(2), args.get(3), reply) else { return };
    let (db, key) = (ctx.db(), ctx.key(args.get(1)));
    let (removed, gone) = match ctx.store.sorted_set_mut(db, key, ctx.now) {
        Err(_) => return reply.error(lookup::WRONG_KIND),
        Ok(None) => (0, false),
        Ok(Some(mut set)) => {
            let ranks = span.ranks(set.view(), false);
            set.remove_ranks(ranks.start, ranks.end);
            (ranks.end - ranks.start, set.view().is_empty())
        }
    };
    if removed > 0 {
        tell_removed(ctx, key, event, gone);
        ctx.changed(removed);
    }
    reply.integer(removed as i64);
}
