//! COPY and MOVE: a value under another key or in another database.

use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::{lookup, number};
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Categories, Flags, Group, Keys};

pub(super) static COPY: Command =
    Command::new("COPY", Group::Generic, Run::Plan(&Plan { together: copy, gather, decide }))
        .arity(-3)
        .flags(Flags::WRITE.with(Flags::DENYOOM))
        .categories(Categories::KEYSPACE)
        .keys(&[Keys::at(1, Access::RO.with(Access::ACCESS)), Keys::at(2, Access::OW.with(Access::UPDATE))])
        .check(check)
        .summary("6.2.0", "Copies the value of a key to a new key.")
        .complexity(
            "O(N) worst case for collections, where N is the number of nested items. O(1) for string values.",
        )
        .arguments(&[
            Argument::new("source", ArgumentKind::Key),
            Argument::new("destination", ArgumentKind::Key),
            Argument::new("destination-db", ArgumentKind::Integer).token("DB").optional(),
            Argument::word("replace", "REPLACE").optional(),
        ]);

pub(super) static MOVE: Command = Command::new("MOVE", Group::Generic, Run::Local(move_key))
    .arity(3)
    .flags(Flags::WRITE.with(Flags::FAST))
    .categories(Categories::KEYSPACE)
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::UPDATE))])
    .summary("1.0.0", "Moves a key to another database.")
    .arguments(&[Argument::key(), Argument::new("db", ArgumentKind::Integer)]);

/// Where COPY copies to.
#[derive(Clone, Copy)]
struct Target {
    db: u16,
    replace: bool,
}

impl Target {
    /// `None` once the options are refused.
    fn read(args: Args<'_>, own: u16, databases: usize, reply: &mut Reply<'_>) -> Option<Target> {
        let mut target = Target { db: own, replace: false };
        let mut index = 3;
        while index < args.len() {
            if args.is(index, "REPLACE") {
                target.replace = true;
            } else if args.is(index, "DB") && index + 1 < args.len() {
                index += 1;
                target.db = number::database(args.get(index), databases, reply)?;
            } else {
                reply.error(number::SYNTAX);
                return None;
            }
            index += 1;
        }
        if target.db == own && args.get(1) == args.get(2) {
            reply.error(number::SAME_OBJECT);
            return None;
        }
        Some(target)
    }

    /// The same of options that were checked before the command was planned.
    fn again(args: Args<'_>, own: u16) -> Target {
        let mut unread = resp::Output::default();
        let mut reply = Reply::new(&mut unread, resp::Version::Resp2);
        let any = usize::from(u16::MAX);
        Target::read(args, own, any, &mut reply).expect("the options were checked")
    }
}

fn check(check: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    Target::read(args, check.db, usize::from(check.databases), reply).is_some()
}

fn copy(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let databases = ctx.store.databases();
    let Some(target) = Target::read(args, ctx.caller.db, databases, reply) else { return };
    let (db, now) = (ctx.db(), ctx.now);
    let (from, to) = (ctx.key(args.get(1)), ctx.key(args.get(2)));
    if lookup::read(ctx, from).is_none() {
        return reply.integer(0);
    }
    let to_db = usize::from(target.db);
    if !target.replace && ctx.store.find(to_db, to, now).is_some() {
        return reply.integer(0);
    }
    let value = ctx.store.copy_out(db, from, now).expect("it was there just now");
    ctx.replaces(target.db, to);
    ctx.store.attach(to_db, to, value);
    ctx.notify_in(target.db, Events::GENERIC, "copy_to", to.bytes);
    ctx.watched.touch(target.db, to);
    ctx.changed(1);
    reply.integer(1);
}

/// The value of the source, and whether the destination is taken.
fn gather(ctx: &mut Ctx<'_>, args: Args<'_>, ordinal: usize, key: Key<'_>) -> Piece {
    let now = ctx.now;
    if ordinal == 0 {
        lookup::read(ctx, key);
        let db = ctx.db();
        return Piece::Value(ctx.store.copy_out(db, key, now));
    }
    let target = Target::again(args, ctx.caller.db);
    Piece::Exists(ctx.store.find(usize::from(target.db), key, now).is_some())
}

fn decide(check: &Check, args: Args<'_>, pieces: &mut [Piece], reply: &mut Reply<'_>) -> Option<Vec<Order>> {
    let target = Target::again(args, check.db);
    let taken = matches!(pieces.get(1), Some(Piece::Exists(true))) && !target.replace;
    let value = match pieces.first_mut() {
        Some(Piece::Value(value)) if !taken => value.take(),
        _ => None,
    };
    reply.integer(i64::from(value.is_some()));
    value.map(|value| {
        vec![Order::Nothing, Order::Put { db: target.db, value, event: (Events::GENERIC, "copy_to") }]
    })
}

/// A key lives on the same shard in every database.
fn move_key(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(to) = number::database(args.get(2), ctx.store.databases(), reply) else { return };
    if to == ctx.caller.db {
        return reply.error(number::SAME_OBJECT);
    }
    let (db, key) = (ctx.db(), ctx.key(args.get(1)));
    let moved = ctx.store.move_between(db, usize::from(to), key, ctx.now);
    ctx.changed(u64::from(moved));
    if moved {
        ctx.notify(Events::GENERIC, "move_from", key.bytes);
        ctx.notify_in(to, Events::GENERIC, "move_to", key.bytes);
        ctx.watched.touch(to, key);
    }
    reply.integer(i64::from(moved));
}
