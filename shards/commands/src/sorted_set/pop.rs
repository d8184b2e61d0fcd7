//! ZPOPMIN and ZPOPMAX, and the popping itself, for whoever pops.

use super::tell_removed;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup;
use resp::{Reply, Version};
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{Text, WrongKind};

pub(super) static ZPOPMIN: Command = Command::new("ZPOPMIN", Group::SortedSet, Run::Local(zpopmin))
    .arity(-2)
    .flags(Flags::WRITE.with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::DELETE))])
    .summary(
        "5.0.0",
        "Returns the lowest-scoring members from a sorted set after removing them. Deletes the \
         sorted set if the last member was popped.",
    )
    .complexity(
        "O(log(N)*M) with N being the number of elements in the sorted set, and M being the \
         number of elements popped.",
    )
    .arguments(&[Argument::key(), Argument::new("count", ArgumentKind::Integer).optional()]);

pub(super) static ZPOPMAX: Command = Command::new("ZPOPMAX", Group::SortedSet, Run::Local(zpopmax))
    .arity(-2)
    .flags(Flags::WRITE.with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::DELETE))])
    .summary(
        "5.0.0",
        "Returns the highest-scoring members from a sorted set after removing them. Deletes the \
         sorted set if the last member was popped.",
    )
    .complexity(
        "O(log(N)*M) with N being the number of elements in the sorted set, and M being the \
         number of elements popped.",
    )
    .arguments(&[Argument::key(), Argument::new("count", ArgumentKind::Integer).optional()]);

/// Which end is popped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The lowest scores.
    Min,
    /// The highest.
    Max,
}

impl End {
    fn event(self) -> &'static str {
        match self {
            End::Min => "zpopmin",
            End::Max => "zpopmax",
        }
    }
}

/// Pops up to `count` entries: `begin` is told how many come, then `visit` gets each. Answers how many;
/// 0 where there is no key. What happened is counted and told.
pub(crate) fn pop(
    ctx: &mut Ctx<'_>,
    key: Key<'_>,
    end: End,
    count: u64,
    begin: &mut dyn FnMut(u64),
    visit: &mut dyn FnMut(Text<'_>, f64),
) -> Result<u64, WrongKind> {
    let db = ctx.db();
    let Some(mut set) = ctx.store.sorted_set_mut(db, key, ctx.now)? else { return Ok(0) };
    let len = set.view().len();
    let count = count.min(len);
    if count == 0 {
        return Ok(0);
    }
    begin(count);
    let first = if end == End::Min { 0 } else { len - 1 };
    set.view()
        .walk(first, end == End::Min)
        .take(count as usize)
        .for_each(|(member, score)| visit(member, score));
    let from = if end == End::Min { 0 } else { len - count };
    set.remove_ranks(from, from + count);
    drop(set);
    tell_removed(ctx, key, end.event(), count == len);
    ctx.changed(count);
    Ok(count)
}

fn zpopmin(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    pop_one_key(ctx, args, reply, End::Min);
}

fn zpopmax(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    pop_one_key(ctx, args, reply, End::Max);
}

fn pop_one_key(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>, end: End) {
    if args.len() > 3 {
        return reply.error(crate::number::SYNTAX);
    }
    let counted = args.len() == 3;
    let count = match counted {
        false => 1,
        true => match resp::parse_i64(args.get(2)).and_then(|count| u64::try_from(count).ok()) {
            Some(count) => count,
            None => return reply.error("ERR value is out of range, must be positive"),
        },
    };
    // In RESP3 a count makes pairs of what comes.
    let pairs = counted && reply.version() == Version::Resp3;
    let key = ctx.key(args.get(1));
    let mut body = resp::Output::default();
    let mut entries = Reply::new(&mut body, reply.version());
    let popped = pop(ctx, key, end, count, &mut |_| (), &mut |member, score| {
        if pairs {
            entries.array(2);
        }
        lookup::bulk(member, &mut entries);
        entries.double(score);
    });
    match popped {
        Err(WrongKind) => reply.error(lookup::WRONG_KIND),
        Ok(popped) => {
            reply.array(popped as usize * if pairs { 1 } else { 2 });
            reply.raw(&body);
        }
    }
}
