//! Times to live, asked for.

use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::{Access, Argument, Categories, Flags, Group, Keys};

const READ: Flags = Flags::READONLY.with(Flags::FAST);
const READ_KEY: &[Keys] = &[Keys::one(Access::RO.with(Access::ACCESS))];
const CHANGES: &[&str] = &["nondeterministic_output"];

pub(super) static TTL: Command = Command::new("TTL", Group::Generic, Run::Local(ttl))
    .arity(2)
    .flags(READ)
    .categories(Categories::KEYSPACE)
    .keys(READ_KEY)
    .summary("1.0.0", "Returns the expiration time in seconds of a key.")
    .tips(CHANGES)
    .arguments(&[Argument::key()]);

pub(super) static PTTL: Command = Command::new("PTTL", Group::Generic, Run::Local(pttl))
    .arity(2)
    .flags(READ)
    .categories(Categories::KEYSPACE)
    .keys(READ_KEY)
    .summary("2.6.0", "Returns the expiration time in milliseconds of a key.")
    .tips(CHANGES)
    .arguments(&[Argument::key()]);

pub(super) static EXPIRETIME: Command = Command::new("EXPIRETIME", Group::Generic, Run::Local(expiretime))
    .arity(2)
    .flags(READ)
    .categories(Categories::KEYSPACE)
    .keys(READ_KEY)
    .summary("7.0.0", "Returns the expiration time of a key as a Unix timestamp.")
    .arguments(&[Argument::key()]);

pub(super) static PEXPIRETIME: Command = Command::new("PEXPIRETIME", Group::Generic, Run::Local(pexpiretime))
    .arity(2)
    .flags(READ)
    .categories(Categories::KEYSPACE)
    .keys(READ_KEY)
    .summary("7.0.0", "Returns the expiration time of a key as a Unix milliseconds timestamp.")
    .arguments(&[Argument::key()]);

fn ttl(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    answer(ctx, args, ctx.now, seconds, reply);
}

fn pttl(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    answer(ctx, args, ctx.now, |milliseconds| milliseconds, reply);
}

fn expiretime(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    answer(ctx, args, 0, seconds, reply);
}

fn pexpiretime(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    answer(ctx, args, 0, |milliseconds| milliseconds, reply);
}

/// Milliseconds to the nearest second, as Redis rounds them.
fn seconds(milliseconds: i64) -> i64 {
    milliseconds.saturating_add(500) / 1000
}

/// Replies the expiry counted from `origin`, -1 where there is none, -2 where there is no key.
fn answer(ctx: &mut Ctx<'_>, args: Args<'_>, origin: i64, shown: fn(i64) -> i64, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    reply.integer(match lookup::peek(ctx, key).map(|entry| entry.expiry()) {
        None => -2,
        Some(None) => -1,
        Some(Some(time)) => shown(time - origin),
    });
}
