//! BZPOPMIN, BZPOPMAX and BZMPOP: what ZPOPMIN and ZMPOP do, by clients that wait where there is nothing.
//! Where that is, nothing is said.

use super::pop::{End, pop};
use super::pop_many::{Pops, answer_with, copy_of_end, pop_into};
use crate::blocking::{
    KEYS_AND_TIMEOUT, KEYS_BEFORE_TIMEOUT, TIMEOUT, WAITS, first_found, is_spoken_for, orders, until,
    until_last,
};
use crate::command::{ActFn, Block, Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup;
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{Detached, Item, WrongKind};

const fn pop_one(name: &'static str, plan: &'static Plan) -> Command {
    Command::new(name, Group::SortedSet, Run::Plan(plan))
        .arity(-3)
        .flags(WAITS.with(Flags::FAST))
        .keys(KEYS_BEFORE_TIMEOUT)
        .blocks(&Block { until: until_last, moves: false })
        .check(|facts, args, reply| until_last(facts.now, args, reply).is_some())
        .complexity("O(log(N)) with N being the number of elements in the sorted set.")
        .arguments(KEYS_AND_TIMEOUT)
}

pub(super) static BZPOPMIN: Command =
    pop_one("BZPOPMIN", &Plan { together: bzpopmin, gather: gather_min, decide: decide_min }).summary(
        "5.0.0",
        "Removes and returns the member with the lowest score from one or more sorted sets. Blocks until a \
         member is available otherwise. Deletes the sorted set if the last element was popped.",
    );

pub(super) static BZPOPMAX: Command =
    pop_one("BZPOPMAX", &Plan { together: bzpopmax, gather: gather_max, decide: decide_max }).summary(
        "5.0.0",
        "Removes and returns the member with the highest score from one or more sorted sets. Blocks until a \
         member available otherwise.  Deletes the sorted set if the last element was popped.",
    );

pub(super) static BZMPOP: Command = Command::new(
    "BZMPOP",
    Group::SortedSet,
    Run::Plan(&Plan { together: bzmpop, gather: gather_bzmpop, decide: decide_bzmpop }),
)
.arity(-5)
.flags(WAITS.with(Flags::MOVABLEKEYS))
.keys(&[Keys::counted(2, Access::RW.with(Access::ACCESS).with(Access::DELETE))])
.blocks(&Block { until: until_bzmpop, moves: false })
.check(|facts, args, reply| until_bzmpop(facts.now, args, reply).is_some())
.summary(
    "7.0.0",
    "Removes and returns a member by score from one or more sorted sets. Blocks until a member is available \
     otherwise. Deletes the sorted set if the last element was popped.",
)
.complexity(
    "O(K) + O(M*log(N)) where K is the number of provided keys, N being the number of elements in the \
     sorted set, and M being the number of elements popped.",
)
.arguments(&[
    TIMEOUT,
    Argument::new("numkeys", ArgumentKind::Integer),
    Argument::key().multiple(),
    Argument::one_of("where", &[Argument::word("min", "MIN"), Argument::word("max", "MAX")]),
    Argument::new("count", ArgumentKind::Integer).token("COUNT").optional(),
]);

fn bzpopmin(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    pop_first(ctx, args, End::Min, reply);
}

fn bzpopmax(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    pop_first(ctx, args, End::Max, reply);
}

fn pop_first(ctx: &mut Ctx<'_>, args: Args<'_>, end: End, reply: &mut Reply<'_>) {
    if until_last(ctx.now, args, reply).is_none() {
        return;
    }
    for name in args.from(1).take(args.len() - 2) {
        let key = ctx.key(name);
        if is_spoken_for(ctx, key) {
            continue;
        }
        let popped = pop(ctx, key, end, 1, &mut |_| (), &mut |member, score| {
            reply.array(3);
            reply.bulk(name);
            lookup::bulk(member, reply);
            reply.double(score);
        });
        match popped {
            Ok(0) => {}
            Ok(_) => return,
            Err(WrongKind) => return reply.error(lookup::WRONG_KIND),
        }
    }
}

fn gather_min(ctx: &mut Ctx<'_>, _: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    gather_end(ctx, key, Pops { keys: 1, end: End::Min, count: 1 })
}

fn gather_max(ctx: &mut Ctx<'_>, _: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    gather_end(ctx, key, Pops { keys: 1, end: End::Max, count: 1 })
}

/// A copy of what would be popped from a key, unless it is spoken for.
fn gather_end(ctx: &mut Ctx<'_>, key: Key<'_>, pops: Pops) -> Piece {
    if is_spoken_for(ctx, key) {
        return Piece::Value(None);
    }
    let (hits, misses) = (ctx.effects.hits, ctx.effects.misses);
    let piece = copy_of_end(ctx, key, pops);
    // A pop is no read.
    (ctx.effects.hits, ctx.effects.misses) = (hits, misses);
    piece
}

fn decide_min(_: &Check, args: Args<'_>, pieces: &mut [Piece], reply: &mut Reply<'_>) -> Option<Vec<Order>> {
    decide_one(args, pieces, act_min, reply)
}

fn decide_max(_: &Check, args: Args<'_>, pieces: &mut [Piece], reply: &mut Reply<'_>) -> Option<Vec<Order>> {
    decide_one(args, pieces, act_max, reply)
}

fn decide_one(args: Args<'_>, pieces: &mut [Piece], act: ActFn, reply: &mut Reply<'_>) -> Option<Vec<Order>> {
    let (at, entries) = found(pieces, reply)?;
    entries.each_item(&mut |item| {
        if let Item::Scored(member, score) = item {
            reply.array(3);
            reply.bulk(args.get(1 + at));
            lookup::bulk(member, reply);
            reply.double(score);
        }
    });
    Some(orders(pieces, at, act))
}

/// The first key that has anything, with that; `None` where there is none, or once it is refused.
fn found<'a>(pieces: &'a [Piece], reply: &mut Reply<'_>) -> Option<(usize, &'a Detached)> {
    let at = first_found(pieces)?;
    match &pieces[at] {
        Piece::Value(Some(entries)) => Some((at, entries)),
        _ => {
            reply.error(lookup::WRONG_KIND);
            None
        }
    }
}

fn act_min(ctx: &mut Ctx<'_>, _: Args<'_>, key: Key<'_>, _: Option<Detached>) {
    act(ctx, key, Pops { keys: 1, end: End::Min, count: 1 });
}

fn act_max(ctx: &mut Ctx<'_>, _: Args<'_>, key: Key<'_>, _: Option<Detached>) {
    act(ctx, key, Pops { keys: 1, end: End::Max, count: 1 });
}

fn act_bzmpop(ctx: &mut Ctx<'_>, args: Args<'_>, key: Key<'_>, _: Option<Detached>) {
    act(ctx, key, Pops::again(args, 2));
}

/// Pops what was replied: the key is locked since it was looked at.
fn act(ctx: &mut Ctx<'_>, key: Key<'_>, pops: Pops) {
    let popped = pop(ctx, key, pops.end, pops.count, &mut |_| (), &mut |_, _| ());
    debug_assert!(popped.is_ok_and(|popped| popped > 0), "it was there when it was looked at");
}

fn until_bzmpop(now: i64, args: Args<'_>, reply: &mut Reply<'_>) -> Option<i64> {
    Pops::read(args, 2, reply)?;
    until(now, args.get(1), reply)
}

fn bzmpop(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if until_bzmpop(ctx.now, args, reply).is_none() {
        return;
    }
    let pops = Pops::again(args, 2);
    for name in args.from(3).take(pops.keys) {
        let key = ctx.key(name);
        if is_spoken_for(ctx, key) {
            continue;
        }
        match pop_into(ctx, key, pops, reply) {
            Err(WrongKind) => return reply.error(lookup::WRONG_KIND),
            Ok(true) => return,
            Ok(false) => {}
        }
    }
}

fn gather_bzmpop(ctx: &mut Ctx<'_>, args: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    gather_end(ctx, key, Pops::again(args, 2))
}

fn decide_bzmpop(
    _: &Check,
    args: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let (at, entries) = found(pieces, reply)?;
    answer_with(args.get(3 + at), entries, reply);
    Some(orders(pieces, at, act_bzmpop))
}
