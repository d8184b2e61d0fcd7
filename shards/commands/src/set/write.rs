//! Members added, removed, and moved from set to set, which may live on two shards.

use super::{MEMBER, limits};
use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup;
use ::store::Detached;
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static SADD: Command = Command::new("SADD", Group::Set, Run::Local(sadd))
    .arity(-3)
    .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::INSERT))])
    .summary("1.0.0", "Adds one or more members to a set. Creates the key if it doesn't exist.")
    .complexity(
        "O(1) for each element added, so O(N) to add N elements when the command is called with multiple \
         arguments.",
    )
    .arguments(&[Argument::key(), MEMBER.multiple()]);

pub(super) static SREM: Command = Command::new("SREM", Group::Set, Run::Local(srem))
    .arity(-3)
    .flags(Flags::WRITE.with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::DELETE))])
    .summary(
        "1.0.0",
        "Removes one or more members from a set. Deletes the set if the last member was removed.",
    )
    .complexity("O(N) where N is the number of members to be removed.")
    .arguments(&[Argument::key(), MEMBER.multiple()]);

pub(super) static SMOVE: Command =
    Command::new("SMOVE", Group::Set, Run::Plan(&Plan { together: smove, gather, decide }))
        .arity(4)
        .flags(Flags::WRITE.with(Flags::FAST))
        .keys(&[
            Keys::at(1, Access::RW.with(Access::ACCESS).with(Access::DELETE)),
            Keys::at(2, Access::RW.with(Access::INSERT)),
        ])
        .summary("1.0.0", "Moves a member from one set to another.")
        .arguments(&[
            Argument::new("source", ArgumentKind::Key),
            Argument::new("destination", ArgumentKind::Key),
            MEMBER,
        ]);

fn sadd(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key, limits) = (ctx.db(), ctx.key(args.get(1)), limits(ctx));
    let added = match ctx.store.set_or_new(db, key, ctx.now) {
        Ok(mut set) => args.from(2).filter(|member| set.insert(member, limits)).count(),
        Err(lookup::WrongKind) => return reply.error(lookup::WRONG_KIND),
    };
    ctx.changed(added as u64);
    if added > 0 {
        ctx.notify(Events::SET, "sadd", key.bytes);
    }
    reply.integer(added as i64);
}

fn srem(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    match remove(ctx, key, args.from(2)) {
        Ok(removed) => reply.integer(removed as i64),
        Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
    }
}

/// Removes members; says how many were there.
fn remove<'m>(
    ctx: &mut Ctx<'_>,
    key: Key<'_>,
    members: impl Iterator<Item = &'m [u8]>,
) -> Result<usize, lookup::WrongKind> {
    let db = ctx.db();
    let (removed, gone) = {
        let Some(mut set) = ctx.store.set_mut(db, key, ctx.now)? else { return Ok(0) };
        (members.filter(|member| set.remove(member)).count(), set.is_empty())
    };
    ctx.changed(removed as u64);
    if removed > 0 {
        ctx.notify(Events::SET, "srem", key.bytes);
    }
    if gone {
        ctx.notify(Events::GENERIC, "del", key.bytes);
    }
    Ok(removed)
}

fn smove(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (source, target, member) = (ctx.key(args.get(1)), ctx.key(args.get(2)), args.get(3));
    let (from, to) = (look(ctx, source, member), look(ctx, target, member));
    let moves = match verdict(&from, &to) {
        Ok(moves) => moves,
        Err(lookup::WrongKind) => return reply.error(lookup::WRONG_KIND),
    };
    if moves && source.bytes != target.bytes {
        leave(ctx, args, source, None);
        arrive(ctx, args, target, None);
    }
    reply.integer(i64::from(moves));
}

/// What is under a key, and whether the member is in it; nothing where nothing is.
fn look(ctx: &mut Ctx<'_>, key: Key<'_>, member: &[u8]) -> Piece {
    let (db, touch) = (ctx.db(), !ctx.caller.no_touch);
    match ctx.store.read_set(db, key, ctx.now, touch) {
        Ok(None) => Piece::Nothing,
        Ok(Some(set)) => Piece::Exists(set.contains(member)),
        Err(lookup::WrongKind) => Piece::WrongKind,
    }
}

/// Whether the member moves.
fn verdict(from: &Piece, to: &Piece) -> Result<bool, lookup::WrongKind> {
    match (from, to) {
        (Piece::Nothing, _) => Ok(false),
        (Piece::WrongKind, _) | (_, Piece::WrongKind) => Err(lookup::WrongKind),
        (from, _) => Ok(matches!(from, Piece::Exists(true))),
    }
}

fn gather(ctx: &mut Ctx<'_>, args: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    look(ctx, key, args.get(3))
}

fn decide(_: &Check, _: Args<'_>, pieces: &mut [Piece], reply: &mut Reply<'_>) -> Option<Vec<Order>> {
    let [from, to] = pieces else { unreachable!("it has two keys") };
    match verdict(from, to) {
        Ok(moves) => {
            reply.integer(i64::from(moves));
            moves.then(|| vec![Order::Act(leave, None), Order::Act(arrive, None)])
        }
        Err(lookup::WrongKind) => {
            reply.error(lookup::WRONG_KIND);
            None
        }
    }
}

/// The member leaves a set.
fn leave(ctx: &mut Ctx<'_>, args: Args<'_>, key: Key<'_>, _: Option<Detached>) {
    let removed = remove(ctx, key, std::iter::once(args.get(3)));
    debug_assert!(removed == Ok(1), "it was there, and the key is locked");
}

/// The member comes to a set.
fn arrive(ctx: &mut Ctx<'_>, args: Args<'_>, key: Key<'_>, _: Option<Detached>) {
    let (db, limits) = (ctx.db(), limits(ctx));
    let set = ctx.store.set_or_new(db, key, ctx.now);
    let added = set.is_ok_and(|mut set| set.insert(args.get(3), limits));
    if added {
        ctx.changed(1);
        ctx.notify(Events::SET, "sadd", key.bytes);
    }
}
