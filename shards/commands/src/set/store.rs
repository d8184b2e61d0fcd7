//! SINTERSTORE, SUNIONSTORE and SDIFFSTORE: several sets combined, and kept under a key.

use super::combine::{self, Combination};
use super::limits;
use crate::command::{Check, Command, DecideFn, LocalFn, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup;
use ::store::{Detached, SetDraft, SetLimits};
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Extent, Flags, Group, Keys, Start};

const SOURCES: Keys = Keys::new(
    Start::Index(2),
    Extent::Range { last: -1, step: 1, limit: 0 },
    Access::RO.with(Access::ACCESS),
);

const OVERWRITTEN: &[Keys] = &[Keys::at(1, Access::OW.with(Access::UPDATE)), SOURCES];
const ARGUMENTS: &[Argument] = &[Argument::new("destination", ArgumentKind::Key), Argument::key().multiple()];

const fn storing(name: &'static str, plan: &'static Plan, summary: &'static str) -> Command {
    Command::new(name, Group::Set, Run::Plan(plan))
        .arity(-3)
        .flags(Flags::WRITE.with(Flags::DENYOOM))
        .keys(OVERWRITTEN)
        .summary("1.0.0", summary)
        .complexity("O(N) where N is the total number of elements in all given sets.")
        .arguments(ARGUMENTS)
}

const fn plan(together: LocalFn, decide: DecideFn) -> Plan {
    Plan { together, gather, decide }
}

pub(super) static SINTERSTORE: Command = storing(
    "SINTERSTORE",
    &plan(sinterstore, decide_sinterstore),
    "Stores the intersect of multiple sets in a key.",
)
.keys(&[Keys::at(1, Access::RW.with(Access::UPDATE)), SOURCES])
.complexity("O(N*M) worst case where N is the cardinality of the smallest set and M is the number of sets.");

pub(super) static SUNIONSTORE: Command = storing(
    "SUNIONSTORE",
    &plan(sunionstore, decide_sunionstore),
    "Stores the union of multiple sets in a key.",
);

pub(super) static SDIFFSTORE: Command = storing(
    "SDIFFSTORE",
    &plan(sdiffstore, decide_sdiffstore),
    "Stores the difference of multiple sets in a key.",
);

fn sinterstore(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    store(ctx, args, Combination::Intersection, reply);
}

fn sunionstore(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    store(ctx, args, Combination::Union, reply);
}

fn sdiffstore(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    store(ctx, args, Combination::Difference, reply);
}

fn event(how: Combination) -> &'static str {
    match how {
        Combination::Intersection => "sinterstore",
        Combination::Union => "sunionstore",
        Combination::Difference => "sdiffstore",
    }
}

fn store(ctx: &mut Ctx<'_>, args: Args<'_>, how: Combination, reply: &mut Reply<'_>) {
    let (mut draft, target) = (SetDraft::new(limits(ctx), ctx.store.hasher()), ctx.key(args.get(1)));
    match combine::here(ctx, args.from(2)) {
        Ok(sets) => how.visit(&sets, &mut |member| {
            draft.insert(member);
            true
        }),
        Err(lookup::WrongKind) => return reply.error(lookup::WRONG_KIND),
    }
    reply.integer(draft.len() as i64);
    put(ctx, target, draft.detach(), how);
}

/// Puts the outcome in place of whatever is under the key.
fn put(ctx: &mut Ctx<'_>, key: Key<'_>, value: Option<Detached>, how: Combination) {
    let db = ctx.db();
    match value {
        Some(value) => {
            ctx.store.attach(db, key, value);
            ctx.changed(1);
            ctx.notify(Events::SET, event(how), key.bytes);
        }
        None => {
            if ctx.store.remove(db, key, ctx.now) {
                ctx.changed(1);
                ctx.notify(Events::GENERIC, "del", key.bytes);
            }
        }
    }
}

fn gather(ctx: &mut Ctx<'_>, _: Args<'_>, ordinal: usize, key: Key<'_>) -> Piece {
    if ordinal == 0 { Piece::Nothing } else { combine::copy(ctx, key) }
}

fn decide_sinterstore(
    check: &Check,
    _: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let put: crate::ActFn = |ctx, _, key, value| put_fitted(ctx, key, value, Combination::Intersection);
    decide(check, pieces, Combination::Intersection, put, reply)
}

fn decide_sunionstore(
    check: &Check,
    _: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let put: crate::ActFn = |ctx, _, key, value| put_fitted(ctx, key, value, Combination::Union);
    decide(check, pieces, Combination::Union, put, reply)
}

fn decide_sdiffstore(
    check: &Check,
    _: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let put: crate::ActFn = |ctx, _, key, value| put_fitted(ctx, key, value, Combination::Difference);
    decide(check, pieces, Combination::Difference, put, reply)
}

fn decide(
    check: &Check,
    pieces: &[Piece],
    how: Combination,
    put: crate::ActFn,
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let Ok(sets) = combine::gathered(&pieces[1..], &check.hasher) else {
        reply.error(lookup::WRONG_KIND);
        return None;
    };
    // The shard that keeps it knows how small sets are kept.
    let unlimited = SetLimits { integers: 0, members: 0, bytes: 0 };
    let mut draft = SetDraft::new(unlimited, &check.hasher);
    how.visit(&sets, &mut |member| {
        draft.insert(member);
        true
    });
    reply.integer(draft.len() as i64);
    let mut orders = vec![Order::Act(put, draft.detach())];
    orders.resize_with(pieces.len(), || Order::Nothing);
    Some(orders)
}

/// Puts the outcome of a plan under the key, in a small form where it fits one.
fn put_fitted(ctx: &mut Ctx<'_>, key: Key<'_>, value: Option<Detached>, how: Combination) {
    let limits = limits(ctx);
    let fitted = value.map(|value| {
        let hasher = ctx.store.hasher();
        let small = value.set(hasher).ok().filter(|set| set.len() <= limits.integers.max(limits.members));
        let small = small.and_then(|set| {
            let mut draft = SetDraft::new(limits, hasher);
            set.each(&mut |member| {
                draft.insert(member);
            });
            draft.detach()
        });
        small.unwrap_or(value)
    });
    put(ctx, key, fitted, how);
}
