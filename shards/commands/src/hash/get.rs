//! Single fields read, and what can be said of a hash without reading it.

use super::{FIELD, LOOKS, READS};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::{Argument, Flags, Group};

const READ: Flags = Flags::READONLY.with(Flags::FAST);

pub(super) static HGET: Command = Command::new("HGET", Group::Hash, Run::Local(hget))
    .arity(3)
    .flags(READ)
    .keys(READS)
    .summary("2.0.0", "Returns the value of a field in a hash.")
    .arguments(&[Argument::key(), FIELD]);

pub(super) static HMGET: Command = Command::new("HMGET", Group::Hash, Run::Local(hmget))
    .arity(-3)
    .flags(READ)
    .keys(READS)
    .summary("2.0.0", "Returns the values of all fields in a hash.")
    .complexity("O(N) where N is the number of fields being requested.")
    .arguments(&[Argument::key(), FIELD.multiple()]);

pub(super) static HEXISTS: Command = Command::new("HEXISTS", Group::Hash, Run::Local(hexists))
    .arity(3)
    .flags(READ)
    .keys(LOOKS)
    .summary("2.0.0", "Determines whether a field exists in a hash.")
    .arguments(&[Argument::key(), FIELD]);

pub(super) static HLEN: Command = Command::new("HLEN", Group::Hash, Run::Local(hlen))
    .arity(2)
    .flags(READ)
    .keys(LOOKS)
    .summary("2.0.0", "Returns the number of fields in a hash.")
    .arguments(&[Argument::key()]);

pub(super) static HSTRLEN: Command = Command::new("HSTRLEN", Group::Hash, Run::Local(hstrlen))
    .arity(3)
    .flags(READ)
    .keys(LOOKS)
    .summary("3.2.0", "Returns the length of the value of a field.")
    .arguments(&[Argument::key(), FIELD]);

fn hget(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    match lookup::hash(ctx, key) {
        Ok(hash) => match hash.and_then(|hash| hash.get(args.get(2))) {
            Some(value) => lookup::bulk(value, reply),
            None => reply.null(),
        },
        Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
    }
}

fn hmget(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let Ok(hash) = lookup::hash(ctx, key) else { return reply.error(lookup::WRONG_KIND) };
    reply.array(args.len() - 2);
    for field in args.from(2) {
        match hash.and_then(|hash| hash.get(field)) {
            Some(value) => lookup::bulk(value, reply),
            None => reply.null(),
        }
    }
}

fn hexists(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    match lookup::hash(ctx, key) {
        Ok(hash) => {
            let found = hash.is_some_and(|hash| hash.get(args.get(2)).is_some());
            reply.integer(i64::from(found));
        }
        Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
    }
}

fn hlen(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    match lookup::hash(ctx, key) {
        Ok(hash) => reply.integer(hash.map_or(0, |hash| hash.len()) as i64),
        Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
    }
}

fn hstrlen(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    match lookup::hash(ctx, key) {
        Ok(hash) => {
            let value = hash.and_then(|hash| hash.get(args.get(2)));
            reply.integer(value.map_or(0, |value| value.len()) as i64);
        }
        Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
    }
}
