//! SET with all its options, and its older shapes.

use super::expiry::{Clock, Lifetime};
use super::get::{Answered, answer};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::Expiry;

pub(super) static SET: Command = Command::new("SET", Group::String, Run::Local(set))
    .arity(-3)
    .flags(Flags::WRITE.with(Flags::DENYOOM))
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::UPDATE).with(Access::VARIABLE))
        .notes("RW and ACCESS due to the optional `GET` argument")])
    .summary(
        "1.0.0",
        "Sets the string value of a key, ignoring its type. The key is created if it doesn't exist.",
    )
    .arguments(&[
        Argument::key(),
        Argument::new("value", ArgumentKind::String),
        Argument::one_of("condition", &[Argument::word("nx", "NX"), Argument::word("xx", "XX")])
            .since("2.6.12")
            .optional(),
        Argument::word("get", "GET").since("6.2.0").optional(),
        Argument::one_of(
            "expiration",
            &[
                Argument::new("seconds", ArgumentKind::Integer).token("EX").since("2.6.12"),
                Argument::new("milliseconds", ArgumentKind::Integer).token("PX").since("2.6.12"),
                Argument::new("unix-time-seconds", ArgumentKind::UnixTime).token("EXAT").since("6.2.0"),
                Argument::new("unix-time-milliseconds", ArgumentKind::UnixTime).token("PXAT").since("6.2.0"),
                Argument::word("keepttl", "KEEPTTL").since("6.0.0"),
            ],
        )
        .optional(),
    ]);

pub(super) static SETNX: Command = Command::new("SETNX", Group::String, Run::Local(setnx))
    .arity(3)
    .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST))
    .keys(&[Keys::one(Access::OW.with(Access::INSERT))])
    .summary("1.0.0", "Set the string value of a key only when the key doesn't exist.")
    .deprecated("2.6.12", "`SET` with the `NX` argument")
    .arguments(&[Argument::key(), Argument::new("value", ArgumentKind::String)]);

pub(super) static SETEX: Command = Command::new("SETEX", Group::String, Run::Local(setex))
    .arity(4)
    .flags(Flags::WRITE.with(Flags::DENYOOM))
    .keys(&[Keys::one(Access::OW.with(Access::UPDATE))])
    .summary(
        "2.0.0",
        "Sets the string value and expiration time of a key. Creates the key if it doesn't exist.",
    )
    .deprecated("2.6.12", "`SET` with the `EX` argument")
    .arguments(&[
        Argument::key(),
        Argument::new("seconds", ArgumentKind::Integer),
        Argument::new("value", ArgumentKind::String),
    ]);

pub(super) static PSETEX: Command = Command::new("PSETEX", Group::String, Run::Local(psetex))
    .arity(4)
    .flags(Flags::WRITE.with(Flags::DENYOOM))
    .keys(&[Keys::one(Access::OW.with(Access::UPDATE))])
    .summary(
        "2.6.0",
        "Sets both string value and expiration time in milliseconds of a key. The key is created if it doesn't exist.",
    )
    .deprecated("2.6.12", "`SET` with the `PX` argument")
    .arguments(&[
        Argument::key(),
        Argument::new("milliseconds", ArgumentKind::Integer),
        Argument::new("value", ArgumentKind::String),
    ]);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    Always,
    /// NX.
    Missing,
    /// XX.
    Present,
}

struct Options {
    condition: Condition,
    get: bool,
    lifetime: Lifetime,
}

impl Options {
    fn read(args: Args<'_>) -> Option<Options> {
        let mut options = Options { condition: Condition::Always, get: false, lifetime: Lifetime::Unsaid };
        let mut index = 3;
        while index < args.len() {
            if args.is(index, "NX") && options.condition != Condition::Present {
                options.condition = Condition::Missing;
            } else if args.is(index, "XX") && options.condition != Condition::Missing {
                options.condition = Condition::Present;
            } else if args.is(index, "GET") {
                options.get = true;
            } else if args.is(index, "KEEPTTL") {
                options.lifetime = options.lifetime.alone(Lifetime::Keep)?;
            } else {
                options.lifetime = options.lifetime.timed(args, index)?;
                index += 1;
            }
            index += 1;
        }
        Some(options)
    }
}

fn set(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if args.len() > 3 {
        return set_with_options(ctx, args, reply);
    }
    put(ctx, args.get(1), args.get(2), Expiry::None);
    reply.ok();
}

fn set_with_options(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(options) = Options::read(args) else {
        return reply.error(number::SYNTAX);
    };
    let expiry = match options.lifetime {
        Lifetime::Given { clock, index } => match clock.deadline(args.get(index), ctx.now, "set", reply) {
            Some(time) => Expiry::At(time),
            None => return,
        },
        Lifetime::Keep => Expiry::Keep,
        Lifetime::Unsaid | Lifetime::Persist => Expiry::None,
    };
    if options.get && answer(ctx, args.get(1), reply) == Answered::Refused {
        return;
    }
    // Also for KEEPTTL: an expired key goes here, and its time with it.
    let key = ctx.key(args.get(1));
    let found = lookup::write(ctx, key).is_some();
    let goes = match options.condition {
        Condition::Always => true,
        Condition::Missing => !found,
        Condition::Present => found,
    };
    if goes {
        put(ctx, args.get(1), args.get(2), expiry);
    }
    match (options.get, goes) {
        (true, _) => {}
        (false, true) => reply.ok(),
        (false, false) => reply.null(),
    }
}

fn setnx(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let missing = lookup::write(ctx, key).is_none();
    if missing {
        put(ctx, args.get(1), args.get(2), Expiry::None);
    }
    reply.integer(i64::from(missing));
}

fn setex(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    set_until(ctx, args, Clock::Seconds, "setex", reply);
}

fn psetex(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    set_until(ctx, args, Clock::Milliseconds, "psetex", reply);
}

fn set_until(ctx: &mut Ctx<'_>, args: Args<'_>, clock: Clock, command: &str, reply: &mut Reply<'_>) {
    if let Some(time) = clock.deadline(args.get(2), ctx.now, command, reply) {
        put(ctx, args.get(1), args.get(3), Expiry::At(time));
        reply.ok();
    }
}

/// Always inlined: SET is nearly as hot as GET.
#[inline(always)]
fn put(ctx: &mut Ctx<'_>, name: &[u8], value: &[u8], expiry: Expiry) {
    // Nobody listens, as a rule.
    if !ctx.live.notify_events.is_empty() {
        return put_and_tell(ctx, name, value, expiry);
    }
    let (db, key) = (ctx.db(), ctx.key(name));
    ctx.store.set_text(db, key, value, expiry);
    ctx.changed(1);
    if matches!(expiry, Expiry::At(time) if time <= ctx.now) {
        // Expired at once: a transaction that runs behind at an earlier time may not meet it alive.
        ctx.store.find_untouched(db, key, ctx.now);
    }
}

#[cold]
fn put_and_tell(ctx: &mut Ctx<'_>, name: &[u8], value: &[u8], expiry: Expiry) {
    let (db, key) = (ctx.db(), ctx.key(name));
    ctx.overwrites(key);
    ctx.store.set_text(db, key, value, expiry);
    ctx.changed(1);
    ctx.notify(Events::STRING, "set", key.bytes);
    if matches!(expiry, Expiry::At(_)) {
        ctx.notify(Events::GENERIC, "expire", key.bytes);
    }
    // As above.
    if matches!(expiry, Expiry::At(time) if time <= ctx.now) {
        ctx.store.find_untouched(db, key, ctx.now);
    }
}
