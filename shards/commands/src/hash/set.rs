//! Fields written and removed.

use super::{FIELD, Outcome, UPDATES, VALUE, limits};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::Reply;
use spec::{Access, Argument, Flags, Group, Keys};

const WRITES: Flags = Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST);

pub(super) static HSET: Command = Command::new("HSET", Group::Hash, Run::Local(hset))
    .arity(-4)
    .flags(WRITES)
    .keys(UPDATES)
    .summary("2.0.0", "Creates or modifies the value of a field in a hash.")
    .complexity(
        "O(1) for each field/value pair added, so O(N) to add N field/value pairs when the command is called \
         with multiple field/value pairs.",
    )
    .arguments(&[Argument::key(), Argument::block("data", &[FIELD, VALUE]).multiple()]);

pub(super) static HMSET: Command = Command::new("HMSET", Group::Hash, Run::Local(hmset))
    .arity(-4)
    .flags(WRITES)
    .keys(UPDATES)
    .summary("2.0.0", "Sets the values of multiple fields.")
    .deprecated("4.0.0", "`HSET` with multiple field-value pairs")
    .complexity("O(N) where N is the number of fields being set.")
    .arguments(&[Argument::key(), Argument::block("data", &[FIELD, VALUE]).multiple()]);

pub(super) static HSETNX: Command = Command::new("HSETNX", Group::Hash, Run::Local(hsetnx))
    .arity(4)
    .flags(WRITES)
    .keys(&[Keys::one(Access::RW.with(Access::INSERT))])
    .summary("2.0.0", "Sets the value of a field in a hash only when the field doesn't exist.")
    .arguments(&[Argument::key(), FIELD, VALUE]);

pub(super) static HDEL: Command = Command::new("HDEL", Group::Hash, Run::Local(hdel))
    .arity(-3)
    .flags(Flags::WRITE.with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::DELETE))])
    .summary(
        "2.0.0",
        "Deletes one or more fields and their values from a hash. Deletes the hash if no fields remain.",
    )
    .complexity("O(N) where N is the number of fields to be removed.")
    .arguments(&[Argument::key(), FIELD.multiple()]);

fn hset(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if let Some(new) = set_all(ctx, args, "hset", reply) {
        reply.integer(new);
    }
}

fn hmset(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if set_all(ctx, args, "hmset", reply).is_some() {
        reply.ok();
    }
}

/// Sets all fields of the arguments; how many are new, or `None` once it is refused.
#[inline]
fn set_all(ctx: &mut Ctx<'_>, args: Args<'_>, command: &str, reply: &mut Reply<'_>) -> Option<i64> {
    if args.len() % 2 == 1 {
        number::wrong_arity(command, reply);
        return None;
    }
    let (db, key, limits) = (ctx.db(), ctx.key(args.get(1)), limits(ctx));
    let Ok(mut hash) = ctx.store.hash_or_new(db, key, ctx.now) else {
        reply.error(lookup::WRONG_KIND);
        return None;
    };
    let mut new = 0;
    for index in (2..args.len()).step_by(2) {
        new += i64::from(hash.set(args.get(index), args.get(index + 1), limits));
    }
    let outcome = Outcome::of(&hash);
    drop(hash);
    ctx.changed(args.len() as u64 / 2 - 1);
    outcome.tell(ctx, Some("hset"), key);
    Some(new)
}

fn hsetnx(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key, limits) = (ctx.db(), ctx.key(args.get(1)), limits(ctx));
    let Ok(mut hash) = ctx.store.hash_or_new(db, key, ctx.now) else {
        return reply.error(lookup::WRONG_KIND);
    };
    let missing = hash.get(args.get(2)).is_none();
    if missing {
        hash.set(args.get(2), args.get(3), limits);
    }
    let outcome = Outcome::of(&hash);
    drop(hash);
    ctx.changed(u64::from(missing));
    outcome.tell(ctx, missing.then_some("hset"), key);
    reply.integer(i64::from(missing));
}

fn hdel(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key) = (ctx.db(), ctx.key(args.get(1)));
    let (removed, outcome) = {
        let Ok(hash) = ctx.store.hash_mut(db, key, ctx.now) else {
            return reply.error(lookup::WRONG_KIND);
        };
        let Some(mut hash) = hash else { return reply.integer(0) };
        (args.from(2).filter(|field| hash.remove(field)).count(), Outcome::of(&hash))
    };
    ctx.changed(removed as u64);
    outcome.tell(ctx, (removed > 0).then_some("hdel"), key);
    reply.integer(removed as i64);
}
