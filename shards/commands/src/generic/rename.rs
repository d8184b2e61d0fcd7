//! RENAME and RENAMENX, also when the two keys live on different shards.

use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup;
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Categories, Flags, Group, Keys};

pub(super) static RENAME: Command = Command::new(
    "RENAME",
    Group::Generic,
    Run::Plan(&Plan { together: rename, gather, decide: decide_rename }),
)
.arity(3)
.flags(Flags::WRITE)
.categories(Categories::KEYSPACE)
.keys(&[
    Keys::at(1, Access::RW.with(Access::ACCESS).with(Access::DELETE)),
    Keys::at(2, Access::OW.with(Access::UPDATE)),
])
.summary("1.0.0", "Renames a key and overwrites the destination.")
.arguments(&[Argument::key(), Argument::new("newkey", ArgumentKind::Key)]);

pub(super) static RENAMENX: Command = Command::new(
    "RENAMENX",
    Group::Generic,
    Run::Plan(&Plan { together: renamenx, gather, decide: decide_renamenx }),
)
.arity(3)
.flags(Flags::WRITE.with(Flags::FAST))
.categories(Categories::KEYSPACE)
.keys(&[
    Keys::at(1, Access::RW.with(Access::ACCESS).with(Access::DELETE)),
    Keys::at(2, Access::OW.with(Access::INSERT)),
])
.summary("1.0.0", "Renames a key only when the target key name doesn't exist.")
.arguments(&[Argument::key(), Argument::new("newkey", ArgumentKind::Key)]);

const NO_SUCH_KEY: &str = "ERR no such key";

fn rename(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (from, to) = (ctx.key(args.get(1)), ctx.key(args.get(2)));
    if lookup::write(ctx, from).is_none() {
        return reply.error(NO_SUCH_KEY);
    }
    if from.bytes != to.bytes {
        move_here(ctx, from, to);
    }
    reply.ok();
}

/// Gives the value of a key that is there to another one.
fn move_here(ctx: &mut Ctx<'_>, from: Key<'_>, to: Key<'_>) {
    ctx.replaces(ctx.caller.db, to);
    ctx.store.rename(ctx.db(), from, to, ctx.now);
    ctx.notify(Events::GENERIC, "rename_from", from.bytes);
    ctx.notify(Events::GENERIC, "rename_to", to.bytes);
    ctx.changed(1);
}

fn renamenx(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (from, to) = (ctx.key(args.get(1)), ctx.key(args.get(2)));
    if lookup::write(ctx, from).is_none() {
        return reply.error(NO_SUCH_KEY);
    }
    // A key that gets its own name is in its own way.
    let free = lookup::write(ctx, to).is_none();
    if free {
        move_here(ctx, from, to);
    }
    reply.integer(i64::from(free));
}

/// The value under the old name, and whether there is one under the new.
fn gather(ctx: &mut Ctx<'_>, _: Args<'_>, ordinal: usize, key: Key<'_>) -> Piece {
    let (db, now) = (ctx.db(), ctx.now);
    match ordinal {
        0 => Piece::Value(ctx.store.copy_out(db, key, now)),
        _ => Piece::Exists(lookup::write(ctx, key).is_some()),
    }
}

/// The orders that move the value of the first key to the second.
fn moving(check: &Check, pieces: &mut [Piece]) -> Option<Vec<Order>> {
    let Some(Piece::Value(value)) = pieces.first_mut() else { return None };
    let event = (Events::GENERIC, "rename_to");
    Some(vec![Order::Remove("rename_from"), Order::Put { db: check.db, value: value.take()?, event }])
}

fn decide_rename(
    check: &Check,
    _: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let orders = moving(check, pieces);
    match orders {
        Some(_) => reply.ok(),
        None => reply.error(NO_SUCH_KEY),
    }
    orders
}

fn decide_renamenx(
    check: &Check,
    _: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let taken = matches!(pieces.get(1), Some(Piece::Exists(true)));
    let Some(orders) = moving(check, pieces) else {
        reply.error(NO_SUCH_KEY);
        return None;
    };
    reply.integer(i64::from(!taken));
    (!taken).then_some(orders)
}
