//! Numbers counted up and down in place.

use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::{LongDouble, Reply};
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{Expiry, IncrementFault, Text};

const COUNTS: Flags = Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST);
const COUNTED: &[Keys] = &[Keys::one(Access::RW.with(Access::ACCESS).with(Access::UPDATE))];

pub(super) static INCR: Command = Command::new("INCR", Group::String, Run::Local(incr))
    .arity(2)
    .flags(COUNTS)
    .keys(COUNTED)
    .summary(
        "1.0.0",
        "Increments the integer value of a key by one. Uses 0 as initial value if the key doesn't exist.",
    )
    .arguments(&[Argument::key()]);

pub(super) static DECR: Command = Command::new("DECR", Group::String, Run::Local(decr))
    .arity(2)
    .flags(COUNTS)
    .keys(COUNTED)
    .summary(
        "1.0.0",
        "Decrements the integer value of a key by one. Uses 0 as initial value if the key doesn't exist.",
    )
    .arguments(&[Argument::key()]);

pub(super) static INCRBY: Command = Command::new("INCRBY", Group::String, Run::Local(incrby))
    .arity(3)
    .flags(COUNTS)
    .keys(COUNTED)
    .summary(
        "1.0.0",
        "Increments the integer value of a key by a number. Uses 0 as initial value if the key doesn't exist.",
    )
    .arguments(&[Argument::key(), Argument::new("increment", ArgumentKind::Integer)]);

pub(super) static DECRBY: Command = Command::new("DECRBY", Group::String, Run::Local(decrby))
    .arity(3)
    .flags(COUNTS)
    .keys(COUNTED)
    .summary(
        "1.0.0",
        "Decrements a number from the integer value of a key. Uses 0 as initial value if the key doesn't exist.",
    )
    .arguments(&[Argument::key(), Argument::new("decrement", ArgumentKind::Integer)]);

pub(super) static INCRBYFLOAT: Command = Command::new("INCRBYFLOAT", Group::String, Run::Local(incrbyfloat))
    .arity(3)
    .flags(COUNTS)
    .keys(COUNTED)
    .summary(
        "2.6.0",
        "Increment the floating point value of a key by a number. Uses 0 as initial value if the key doesn't exist.",
    )
    .arguments(&[Argument::key(), Argument::new("increment", ArgumentKind::Double)]);

fn incr(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    count(ctx, args.get(1), 1, reply);
}

fn decr(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    count(ctx, args.get(1), -1, reply);
}

fn incrby(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if let Some(delta) = number::integer(args.get(2), reply) {
        count(ctx, args.get(1), delta, reply);
    }
}

fn decrby(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(delta) = number::integer(args.get(2), reply) else { return };
    match delta.checked_neg() {
        Some(delta) => count(ctx, args.get(1), delta, reply),
        None => reply.error("ERR decrement would overflow"),
    }
}

#[inline]
fn count(ctx: &mut Ctx<'_>, name: &[u8], delta: i64, reply: &mut Reply<'_>) {
    let (db, key) = (ctx.db(), ctx.key(name));
    match ctx.store.increment(db, key, delta, ctx.now) {
        Ok(sum) => {
            ctx.changed(1);
            ctx.notify(Events::STRING, "incrby", name);
            reply.integer(sum);
        }
        Err(IncrementFault::WrongKind) => reply.error(lookup::WRONG_KIND),
        Err(IncrementFault::NotAnInteger) => reply.error(number::NOT_AN_INTEGER),
        Err(IncrementFault::Overflow) => reply.error("ERR increment or decrement would overflow"),
    }
}

const NOT_A_FLOAT: &str = "ERR value is not a valid float";

fn incrbyfloat(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key) = (ctx.db(), ctx.key(args.get(1)));
    let old = match lookup::text(lookup::write(ctx, key)) {
        Ok(None) => Some(LongDouble::from(0)),
        Ok(Some(Text::Int(value))) => Some(LongDouble::from(value)),
        Ok(Some(Text::Bytes(bytes))) => LongDouble::parse(bytes),
        Err(lookup::WrongKind) => return reply.error(lookup::WRONG_KIND),
    };
    let (Some(old), Some(delta)) = (old, LongDouble::parse(args.get(2))) else {
        return reply.error(NOT_A_FLOAT);
    };
    let Some(sum) = old.plus(delta).filter(|sum| sum.is_finite()) else {
        return reply.error("ERR increment would produce NaN or Infinity");
    };
    // Up to 4,933 digits, usually few: not worth a buffer of the shard's.
    let mut digits = Vec::new();
    sum.write(&mut digits);
    ctx.store.set_bytes(db, key, &digits, Expiry::Keep);
    ctx.notify(Events::STRING, "incrbyfloat", key.bytes);
    ctx.changed(1);
    reply.bulk(&digits);
}
