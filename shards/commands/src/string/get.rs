//! GET, and GET together with a deletion or another value.

use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::Expiry;

pub(super) static GET: Command = Command::new("GET", Group::String, Run::Local(get))
    .arity(2)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("1.0.0", "Returns the string value of a key.")
    .arguments(&[Argument::key()]);

pub(super) static GETDEL: Command = Command::new("GETDEL", Group::String, Run::Local(getdel))
    .arity(2)
    .flags(Flags::WRITE.with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::DELETE))])
    .summary("6.2.0", "Returns the string value of a key after deleting the key.")
    .arguments(&[Argument::key()]);

pub(super) static GETSET: Command = Command::new("GETSET", Group::String, Run::Local(getset))
    .arity(3)
    .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::UPDATE))])
    .summary("1.0.0", "Returns the previous string value of a key after setting it to a new value.")
    .deprecated("6.2.0", "`SET` with the `!GET` argument")
    .arguments(&[Argument::key(), Argument::new("value", ArgumentKind::String)]);

/// What was found under a key that is to be answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answered {
    /// A value.
    Value,
    /// No value.
    Nothing,
    /// An error: it holds another kind.
    Refused,
}

/// Answers the value of a key as GET does. Always inlined: GET is the hottest command of all.
#[inline(always)]
pub(super) fn answer(ctx: &mut Ctx<'_>, name: &[u8], reply: &mut Reply<'_>) -> Answered {
    let key = ctx.key(name);
    match lookup::content(lookup::read(ctx, key)) {
        Ok(Some(content)) => {
            lookup::bulk_content(content, reply);
            Answered::Value
        }
        Ok(None) => {
            reply.null();
            Answered::Nothing
        }
        Err(lookup::WrongKind) => {
            reply.error(lookup::WRONG_KIND);
            Answered::Refused
        }
    }
}

fn get(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    answer(ctx, args.get(1), reply);
}

fn getdel(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if answer(ctx, args.get(1), reply) == Answered::Value {
        let (db, key) = (ctx.db(), ctx.key(args.get(1)));
        ctx.store.remove(db, key, ctx.now);
        ctx.notify(Events::GENERIC, "del", key.bytes);
        ctx.changed(1);
    }
}

fn getset(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if answer(ctx, args.get(1), reply) != Answered::Refused {
        let (db, key) = (ctx.db(), ctx.key(args.get(1)));
        ctx.store.set_text(db, key, args.get(2), Expiry::None);
        ctx.notify(Events::STRING, "set", key.bytes);
        ctx.changed(1);
    }
}
