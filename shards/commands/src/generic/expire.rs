//! Times to live, set and taken away: EXPIRE in its four shapes, PERSIST.

use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Categories, Flags, Group, Keys};

const CONDITION: Argument = Argument::one_of(
    "condition",
    &[
        Argument::word("nx", "NX"),
        Argument::word("xx", "XX"),
        Argument::word("gt", "GT"),
        Argument::word("lt", "LT"),
    ],
)
.since("7.0.0")
.optional();

const UPDATED: &[Keys] = &[Keys::one(Access::RW.with(Access::UPDATE))];

pub(super) static EXPIRE: Command = Command::new("EXPIRE", Group::Generic, Run::Local(expire))
    .arity(-3)
    .flags(Flags::WRITE.with(Flags::FAST))
    .categories(Categories::KEYSPACE)
    .keys(UPDATED)
    .summary("1.0.0", "Sets the expiration time of a key in seconds.")
    .arguments(&[Argument::key(), Argument::new("seconds", ArgumentKind::Integer), CONDITION]);

pub(super) static PEXPIRE: Command = Command::new("PEXPIRE", Group::Generic, Run::Local(pexpire))
    .arity(-3)
    .flags(Flags::WRITE.with(Flags::FAST))
    .categories(Categories::KEYSPACE)
    .keys(UPDATED)
    .summary("2.6.0", "Sets the expiration time of a key in milliseconds.")
    .arguments(&[Argument::key(), Argument::new("milliseconds", ArgumentKind::Integer), CONDITION]);

pub(super) static EXPIREAT: Command = Command::new("EXPIREAT", Group::Generic, Run::Local(expireat))
    .arity(-3)
    .flags(Flags::WRITE.with(Flags::FAST))
    .categories(Categories::KEYSPACE)
    .keys(UPDATED)
    .summary("1.2.0", "Sets the expiration time of a key to a Unix timestamp.")
    .arguments(&[Argument::key(), Argument::new("unix-time-seconds", ArgumentKind::UnixTime), CONDITION]);

pub(super) static PEXPIREAT: Command = Command::new("PEXPIREAT", Group::Generic, Run::Local(pexpireat))
    .arity(-3)
    .flags(Flags::WRITE.with(Flags::FAST))
    .categories(Categories::KEYSPACE)
    .keys(UPDATED)
    .summary("2.6.0", "Sets the expiration time of a key to a Unix milliseconds timestamp.")
    .arguments(&[
        Argument::key(),
        Argument::new("unix-time-milliseconds", ArgumentKind::UnixTime),
        CONDITION,
    ]);

pub(super) static PERSIST: Command = Command::new("PERSIST", Group::Generic, Run::Local(persist))
    .arity(2)
    .flags(Flags::WRITE.with(Flags::FAST))
    .categories(Categories::KEYSPACE)
    .keys(UPDATED)
    .summary("2.2.0", "Removes the expiration time of a key.")
    .arguments(&[Argument::key()]);

fn expire(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    expire_at(ctx, args, 1000, ctx.now, "expire", reply);
}

fn pexpire(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    expire_at(ctx, args, 1, ctx.now, "pexpire", reply);
}

fn expireat(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    expire_at(ctx, args, 1000, 0, "expireat", reply);
}

fn pexpireat(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    expire_at(ctx, args, 1, 0, "pexpireat", reply);
}

/// When a time to live may be replaced.
#[derive(Clone, Copy, Default)]
struct Condition {
    missing: bool,
    present: bool,
    greater: bool,
    less: bool,
}

impl Condition {
    /// `None` once the options are refused.
    fn read(args: Args<'_>, reply: &mut Reply<'_>) -> Option<Condition> {
        let mut condition = Condition::default();
        for index in 3..args.len() {
            if args.is(index, "NX") {
                condition.missing = true;
            } else if args.is(index, "XX") {
                condition.present = true;
            } else if args.is(index, "GT") {
                condition.greater = true;
            } else if args.is(index, "LT") {
                condition.less = true;
            } else {
                reply.error_bytes(&[b"ERR Unsupported option ", args.get(index)].concat());
                return None;
            }
        }
        let Condition { missing, present, greater, less } = condition;
        if missing && (present || greater || less) {
            reply.error("ERR NX and XX, GT or LT options at the same time are not compatible");
            return None;
        }
        if greater && less {
            reply.error("ERR GT and LT options at the same time are not compatible");
            return None;
        }
        Some(condition)
    }

    /// Whether `time` may take the place of `before`; no time is later than any.
    fn allows(self, before: Option<i64>, time: i64) -> bool {
        match before {
            None => !self.present && !self.greater,
            Some(before) => {
                !self.missing && (!self.greater || time > before) && (!self.less || time < before)
            }
        }
    }
}

/// Sets the time to live to the number in argument 2, in units of `factor` milliseconds from `origin`.
fn expire_at(
    ctx: &mut Ctx<'_>,
    args: Args<'_>,
    factor: i64,
    origin: i64,
    command: &str,
    reply: &mut Reply<'_>,
) {
    let Some(condition) = Condition::read(args, reply) else { return };
    let Some(count) = number::integer(args.get(2), reply) else { return };
    let Some(time) = count.checked_mul(factor).and_then(|time| time.checked_add(origin)) else {
        return reply.error_fmt(format_args!("ERR invalid expire time in '{command}' command"));
    };
    let (db, now, key) = (ctx.db(), ctx.now, ctx.key(args.get(1)));
    let allowed = lookup::write(ctx, key).is_some_and(|entry| condition.allows(entry.expiry(), time));
    if allowed {
        if time <= now {
            ctx.store.remove(db, key, now);
            ctx.notify(Events::GENERIC, "del", key.bytes);
        } else {
            ctx.store.set_expiry(db, key, Some(time));
            ctx.notify(Events::GENERIC, "expire", key.bytes);
        }
        ctx.changed(1);
    }
    reply.integer(i64::from(allowed));
}

fn persist(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key) = (ctx.db(), ctx.key(args.get(1)));
    let volatile = lookup::write(ctx, key).is_some_and(|entry| entry.expiry().is_some());
    if volatile {
        ctx.store.set_expiry(db, key, None);
        ctx.notify(Events::GENERIC, "persist", key.bytes);
        ctx.changed(1);
    }
    reply.integer(i64::from(volatile));
}
