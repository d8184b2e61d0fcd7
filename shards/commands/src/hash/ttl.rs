//! Times at which fields expire, read and taken away.

use super::fields::{self, Clock, NOT_POSITIVE};
use super::{FIELD, Outcome, READS, UPDATES};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::{Argument, ArgumentKind, Flags, Group};

const READ: Flags = Flags::READONLY.with(Flags::FAST);
const EACH: &str = "O(N) where N is the number of specified fields";
const CHANGING: &[&str] = &["nondeterministic_output"];

const ARGUMENTS: &[Argument] = &[
    Argument::key(),
    Argument::block("fields", &[Argument::new("numfields", ArgumentKind::Integer), FIELD.multiple()])
        .token("FIELDS"),
];

pub(super) static HTTL: Command = Command::new("HTTL", Group::Hash, Run::Local(httl))
    .arity(-5)
    .flags(READ)
    .keys(READS)
    .summary("7.4.0", "Returns the TTL in seconds of a hash field.")
    .complexity(EACH)
    .tips(CHANGING)
    .arguments(ARGUMENTS);

pub(super) static HPTTL: Command = Command::new("HPTTL", Group::Hash, Run::Local(hpttl))
    .arity(-5)
    .flags(READ)
    .keys(READS)
    .summary("7.4.0", "Returns the TTL in milliseconds of a hash field.")
    .complexity(EACH)
    .tips(CHANGING)
    .arguments(ARGUMENTS);

pub(super) static HEXPIRETIME: Command = Command::new("HEXPIRETIME", Group::Hash, Run::Local(hexpiretime))
    .arity(-5)
    .flags(READ)
    .keys(READS)
    .summary("7.4.0", "Returns the expiration time of a hash field as a Unix timestamp, in seconds.")
    .complexity(EACH)
    .arguments(ARGUMENTS);

pub(super) static HPEXPIRETIME: Command = Command::new("HPEXPIRETIME", Group::Hash, Run::Local(hpexpiretime))
    .arity(-5)
    .flags(READ)
    .keys(READS)
    .summary("7.4.0", "Returns the expiration time of a hash field as a Unix timestamp, in msec.")
    .complexity(EACH)
    .arguments(ARGUMENTS);

pub(super) static HPERSIST: Command = Command::new("HPERSIST", Group::Hash, Run::Local(hpersist))
    .arity(-5)
    .flags(Flags::WRITE.with(Flags::FAST))
    .keys(UPDATES)
    .summary("7.4.0", "Removes the expiration time for each specified field")
    .complexity(EACH)
    .arguments(ARGUMENTS);

const NO_FIELD: i64 = -2;
const NO_TIME: i64 = -1;
const DONE: i64 = 1;

fn httl(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    tell(ctx, args, Clock::Seconds, reply);
}

fn hpttl(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    tell(ctx, args, Clock::Milliseconds, reply);
}

fn hexpiretime(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    tell(ctx, args, Clock::UnixSeconds, reply);
}

fn hpexpiretime(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    tell(ctx, args, Clock::UnixMilliseconds, reply);
}

fn tell(ctx: &mut Ctx<'_>, args: Args<'_>, clock: Clock, reply: &mut Reply<'_>) {
    let (key, now) = (ctx.key(args.get(1)), ctx.now);
    let Ok(hash) = lookup::hash(ctx, key) else { return reply.error(lookup::WRONG_KIND) };
    let Some(first) = fields::read(args, 2, NOT_POSITIVE, reply) else { return };
    reply.array(args.len() - first);
    for field in args.from(first) {
        reply.integer(match hash.and_then(|hash| hash.expiry(field)) {
            None => NO_FIELD,
            Some(None) => NO_TIME,
            Some(Some(time)) => clock.tell(time, now),
        });
    }
}

fn hpersist(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key) = (ctx.db(), ctx.key(args.get(1)));
    let mut changed = 0;
    let outcome = {
        let Ok(hash) = ctx.store.hash_mut(db, key, ctx.now) else { return reply.error(lookup::WRONG_KIND) };
        let Some(first) = fields::read(args, 2, NOT_POSITIVE, reply) else { return };
        reply.array(args.len() - first);
        let Some(mut hash) = hash else {
            return args.from(first).for_each(|_| reply.integer(NO_FIELD));
        };
        for field in args.from(first) {
            reply.integer(match hash.as_ref().expiry(field) {
                None => NO_FIELD,
                Some(None) => NO_TIME,
                Some(Some(_)) => {
                    hash.set_expiry(field, None);
                    changed += 1;
                    DONE
                }
            });
        }
        Outcome::of(&hash)
    };
    ctx.changed(changed);
    outcome.tell(ctx, (changed > 0).then_some("hpersist"), key);
}
