//! BLPOP, BRPOP, BLMPOP, BLMOVE and BRPOPLPUSH: what LPOP, LMPOP and LMOVE do, by clients that wait where
//! there is nothing. Where that is, nothing is said.

use super::SIDES;
use super::moving::{self, Ends, move_element};
use super::pop::{Wanted, copy_of_end, elements, take};
use crate::blocking::{
    KEYS_AND_TIMEOUT, KEYS_BEFORE_TIMEOUT, TIMEOUT, WAITS, first_found, is_spoken_for, orders, until,
    until_last,
};
use crate::command::{Block, Check, Command, DecideFn, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup::{WRONG_KIND, WrongKind};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{Detached, Side};

const fn pop(name: &'static str, plan: &'static Plan) -> Command {
    Command::new(name, Group::List, Run::Plan(plan))
        .arity(-3)
        .flags(WAITS)
        .keys(KEYS_BEFORE_TIMEOUT)
        .blocks(&Block { until: until_last, moves: false })
        .check(|facts, args, reply| until_last(facts.now, args, reply).is_some())
        .complexity("O(N) where N is the number of provided keys.")
        .arguments(KEYS_AND_TIMEOUT)
}

pub(super) static BLPOP: Command =
    pop("BLPOP", &Plan { together: blpop, gather: gather_first, decide: decide_pop(Side::Left) }).summary(
        "2.0.0",
        "Removes and returns the first element in a list. Blocks until an element is available otherwise. \
         Deletes the list if the last element was popped.",
    );

pub(super) static BRPOP: Command =
    pop("BRPOP", &Plan { together: brpop, gather: gather_last, decide: decide_pop(Side::Right) }).summary(
        "2.0.0",
        "Removes and returns the last element in a list. Blocks until an element is available otherwise. \
         Deletes the list if the last element was popped.",
    );

pub(super) static BLMPOP: Command = Command::new(
    "BLMPOP",
    Group::List,
    Run::Plan(&Plan { together: blmpop, gather: gather_blmpop, decide: decide_blmpop }),
)
.arity(-5)
.flags(WAITS.with(Flags::MOVABLEKEYS))
.keys(&[Keys::counted(2, Access::RW.with(Access::ACCESS).with(Access::DELETE))])
.blocks(&Block { until: until_blmpop, moves: false })
.check(|facts, args, reply| until_blmpop(facts.now, args, reply).is_some())
.summary(
    "7.0.0",
    "Pops the first element from one of multiple lists. Blocks until an element is available otherwise. \
     Deletes the list if the last element was popped.",
)
.complexity("O(N+M) where N is the number of provided keys and M is the number of elements returned.")
.arguments(&[
    TIMEOUT,
    Argument::new("numkeys", ArgumentKind::Integer),
    Argument::key().multiple(),
    Argument::one_of("where", SIDES),
    Argument::new("count", ArgumentKind::Integer).token("COUNT").optional(),
]);

const fn moves(name: &'static str) -> Command {
    Command::new(
        name,
        Group::List,
        Run::Plan(&Plan { together: blmove, gather: gather_move, decide: decide_move }),
    )
    .flags(WAITS.with(Flags::DENYOOM))
    .keys(moving::KEYS)
    .blocks(&Block { until: until_move, moves: true })
    .check(|facts, args, reply| until_move(facts.now, args, reply).is_some())
}

pub(super) static BLMOVE: Command = moves("BLMOVE")
    .arity(6)
    .summary(
        "6.2.0",
        "Pops an element from a list, pushes it to another list and returns it. Blocks until an element is \
         available otherwise. Deletes the list if the last element was moved.",
    )
    .arguments(&[
        Argument::new("source", ArgumentKind::Key),
        Argument::new("destination", ArgumentKind::Key),
        Argument::one_of("wherefrom", SIDES),
        Argument::one_of("whereto", SIDES),
        TIMEOUT,
    ]);

pub(super) static BRPOPLPUSH: Command = moves("BRPOPLPUSH")
    .arity(4)
    .summary(
        "2.2.0",
        "Pops an element from a list, pushes it to another list and returns it. Block until an element is \
         available otherwise. Deletes the list if the last element was popped.",
    )
    .deprecated("6.2.0", "`BLMOVE` with the `RIGHT` and `LEFT` arguments")
    .arguments(&[
        Argument::new("source", ArgumentKind::Key),
        Argument::new("destination", ArgumentKind::Key),
        TIMEOUT,
    ]);

fn blpop(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    pop_first(ctx, args, Side::Left, reply);
}

fn brpop(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    pop_first(ctx, args, Side::Right, reply);
}

fn pop_first(ctx: &mut Ctx<'_>, args: Args<'_>, side: Side, reply: &mut Reply<'_>) {
    if until_last(ctx.now, args, reply).is_none() {
        return;
    }
    for name in args.from(1).take(args.len() - 2) {
        let key = ctx.key(name);
        if is_spoken_for(ctx, key) {
            continue;
        }
        let taken = take(ctx, key, side, 1, |list, _| {
            reply.array(2);
            reply.bulk(name);
            list.from_side(side).take(1).for_each(|text| crate::lookup::bulk(text, reply));
        });
        match taken {
            Ok(None) => {}
            Ok(Some(_)) => return,
            Err(WrongKind) => return reply.error(WRONG_KIND),
        }
    }
}

fn gather_first(ctx: &mut Ctx<'_>, _: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    gather_end(ctx, key, Side::Left, 1)
}

fn gather_last(ctx: &mut Ctx<'_>, _: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    gather_end(ctx, key, Side::Right, 1)
}

/// A copy of what would be taken from a key, unless it is spoken for.
fn gather_end(ctx: &mut Ctx<'_>, key: Key<'_>, side: Side, count: usize) -> Piece {
    if is_spoken_for(ctx, key) {
        return Piece::Value(None);
    }
    copy_of_end(ctx, key, side, count)
}

const fn decide_pop(side: Side) -> DecideFn {
    match side {
        Side::Left => |_, args, pieces, reply| {
            answer_first(args, 1, pieces, false, reply).map(|at| orders(pieces, at, act_first))
        },
        Side::Right => |_, args, pieces, reply| {
            answer_first(args, 1, pieces, false, reply).map(|at| orders(pieces, at, act_last))
        },
    }
}

/// Answers with what the first key has that has anything: its name, and the element or an array of them.
/// Which that is; `None` where nothing is to be taken.
fn answer_first(
    args: Args<'_>,
    keys_at: usize,
    pieces: &[Piece],
    several: bool,
    reply: &mut Reply<'_>,
) -> Option<usize> {
    let ordinal = first_found(pieces)?;
    let Piece::Value(Some(value)) = &pieces[ordinal] else {
        reply.error(WRONG_KIND);
        return None;
    };
    let list = value.list().expect("it was made as one");
    reply.array(2);
    reply.bulk(args.get(keys_at + ordinal));
    if several {
        elements(list, Side::Left, list.len(), reply);
    } else {
        list.from_side(Side::Left).take(1).for_each(|text| crate::lookup::bulk(text, reply));
    }
    Some(ordinal)
}

fn act_first(ctx: &mut Ctx<'_>, _: Args<'_>, key: Key<'_>, _: Option<Detached>) {
    take(ctx, key, Side::Left, 1, |_, _| {}).expect("it was a list when it was looked at");
}

fn act_last(ctx: &mut Ctx<'_>, _: Args<'_>, key: Key<'_>, _: Option<Detached>) {
    take(ctx, key, Side::Right, 1, |_, _| {}).expect("it was a list when it was looked at");
}

fn until_blmpop(now: i64, args: Args<'_>, reply: &mut Reply<'_>) -> Option<i64> {
    Wanted::read(args, 2, reply)?;
    until(now, args.get(1), reply)
}

fn blmpop(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if until_blmpop(ctx.now, args, reply).is_none() {
        return;
    }
    let wanted = Wanted::again(args, 2);
    for name in args.from(3).take(wanted.keys) {
        let key = ctx.key(name);
        if is_spoken_for(ctx, key) {
            continue;
        }
        let taken = take(ctx, key, wanted.side, wanted.count, |list, taken| {
            reply.array(2);
            reply.bulk(name);
            elements(list, wanted.side, taken, reply);
        });
        match taken {
            Ok(None) => {}
            Ok(Some(_)) => return,
            Err(WrongKind) => return reply.error(WRONG_KIND),
        }
    }
}

fn gather_blmpop(ctx: &mut Ctx<'_>, args: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    let wanted = Wanted::again(args, 2);
    gather_end(ctx, key, wanted.side, wanted.count)
}

fn decide_blmpop(
    _: &Check,
    args: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    answer_first(args, 3, pieces, true, reply).map(|at| orders(pieces, at, act_blmpop))
}

fn act_blmpop(ctx: &mut Ctx<'_>, args: Args<'_>, key: Key<'_>, _: Option<Detached>) {
    let wanted = Wanted::again(args, 2);
    take(ctx, key, wanted.side, wanted.count, |_, _| {}).expect("it was a list when it was looked at");
}

fn until_move(now: i64, args: Args<'_>, reply: &mut Reply<'_>) -> Option<i64> {
    Ends::read(args, reply)?;
    until_last(now, args, reply)
}

fn blmove(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if until_move(ctx.now, args, reply).is_none() {
        return;
    }
    let (source, destination) = (ctx.key(args.get(1)), ctx.key(args.get(2)));
    if is_spoken_for(ctx, source) {
        return;
    }
    match move_element(ctx, source, destination, Ends::again(args)) {
        Ok(Some(element)) => reply.bulk(&element),
        Ok(None) => {}
        Err(WrongKind) => reply.error(WRONG_KIND),
    }
}

fn gather_move(ctx: &mut Ctx<'_>, args: Args<'_>, ordinal: usize, key: Key<'_>) -> Piece {
    if ordinal == 0 && is_spoken_for(ctx, key) {
        return Piece::Value(None);
    }
    moving::gather(ctx, args, ordinal, key)
}

fn decide_move(
    facts: &Check,
    args: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    match pieces.first() {
        Some(Piece::Value(None)) | None => None,
        _ => moving::decide(facts, args, pieces, reply),
    }
}
