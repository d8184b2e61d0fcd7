//! Times at which fields expire, set: HEXPIRE in its four shapes.

use super::fields::{self, Clock};
use super::{FIELD, Outcome, UPDATES};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::setting::Events;
use spec::{Argument, ArgumentKind, Flags, Group};

const WRITES: Flags = Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST);
const EACH: &str = "O(N) where N is the number of specified fields";

const CONDITION: Argument = Argument::one_of(
    "condition",
    &[
        Argument::word("nx", "NX"),
        Argument::word("xx", "XX"),
        Argument::word("gt", "GT"),
        Argument::word("lt", "LT"),
    ],
)
.optional();

const FIELDS: Argument =
    Argument::block("fields", &[Argument::new("numfields", ArgumentKind::Integer), FIELD.multiple()])
        .token("FIELDS");

pub(super) static HEXPIRE: Command = Command::new("HEXPIRE", Group::Hash, Run::Local(hexpire))
    .arity(-6)
    .flags(WRITES)
    .keys(UPDATES)
    .summary("7.4.0", "Set expiry for hash field using relative time to expire (seconds)")
    .complexity(EACH)
    .arguments(&[Argument::key(), Argument::new("seconds", ArgumentKind::Integer), CONDITION, FIELDS]);

pub(super) static HPEXPIRE: Command = Command::new("HPEXPIRE", Group::Hash, Run::Local(hpexpire))
    .arity(-6)
    .flags(WRITES)
    .keys(UPDATES)
    .summary("7.4.0", "Set expiry for hash field using relative time to expire (milliseconds)")
    .complexity(EACH)
    .arguments(&[Argument::key(), Argument::new("milliseconds", ArgumentKind::Integer), CONDITION, FIELDS]);

pub(super) static HEXPIREAT: Command = Command::new("HEXPIREAT", Group::Hash, Run::Local(hexpireat))
    .arity(-6)
    .flags(WRITES)
    .keys(UPDATES)
    .summary("7.4.0", "Set expiry for hash field using an absolute Unix timestamp (seconds)")
    .complexity(EACH)
    .arguments(&[
        Argument::key(),
        Argument::new("unix-time-seconds", ArgumentKind::UnixTime),
        CONDITION,
        FIELDS,
    ]);

pub(super) static HPEXPIREAT: Command = Command::new("HPEXPIREAT", Group::Hash, Run::Local(hpexpireat))
    .arity(-6)
    .flags(WRITES)
    .keys(UPDATES)
    .summary("7.4.0", "Set expiry for hash field using an absolute Unix timestamp (milliseconds)")
    .complexity(EACH)
    .arguments(&[
        Argument::key(),
        Argument::new("unix-time-milliseconds", ArgumentKind::UnixTime),
        CONDITION,
        FIELDS,
    ]);

/// What has to hold of the time that a field has.
#[derive(Clone, Copy)]
enum Condition {
    None,
    /// NX: it has none.
    Unset,
    /// XX: it has one.
    Set,
    /// GT: it has an earlier one; none is later than all.
    Later,
    /// LT: it has a later one, or none.
    Earlier,
}

impl Condition {
    fn read(args: Args<'_>, index: usize) -> Condition {
        const WORDS: [(&str, Condition); 4] = [
            ("NX", Condition::Unset),
            ("XX", Condition::Set),
            ("GT", Condition::Later),
            ("LT", Condition::Earlier),
        ];
        let word = WORDS.iter().find(|(name, _)| args.is(index, name));
        word.map_or(Condition::None, |(_, condition)| *condition)
    }

    fn holds(self, before: Option<i64>, time: i64) -> bool {
        match self {
            Condition::None => true,
            Condition::Unset => before.is_none(),
            Condition::Set => before.is_some(),
            Condition::Later => before.is_some_and(|before| time > before),
            Condition::Earlier => before.is_none_or(|before| time < before),
        }
    }
}

const NO_FIELD: i64 = -2;
const NOT_MET: i64 = 0;
const SET: i64 = 1;
const DELETED: i64 = 2;

fn hexpire(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    expire(ctx, args, Clock::Seconds, "hexpire", reply);
}

fn hpexpire(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    expire(ctx, args, Clock::Milliseconds, "hpexpire", reply);
}

fn hexpireat(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    expire(ctx, args, Clock::UnixSeconds, "hexpireat", reply);
}

fn hpexpireat(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    expire(ctx, args, Clock::UnixMilliseconds, "hpexpireat", reply);
}

fn expire(ctx: &mut Ctx<'_>, args: Args<'_>, clock: Clock, command: &str, reply: &mut Reply<'_>) {
    let (db, key, now) = (ctx.db(), ctx.key(args.get(1)), ctx.now);
    let (mut set, mut deleted) = (0, 0);
    let outcome = {
        let Ok(hash) = ctx.store.hash_mut(db, key, now) else { return reply.error(lookup::WRONG_KIND) };
        let Some(time) = clock.time(args.get(2), now, command, reply) else { return };
        let condition = Condition::read(args, 3);
        let at = if matches!(condition, Condition::None) { 3 } else { 4 };
        const NO_NUMBER: &str = "ERR Parameter `numFields` should be greater than 0";
        let Some(first) = fields::read(args, at, NO_NUMBER, reply) else { return };
        reply.array(args.len() - first);
        let Some(mut hash) = hash else {
            return args.from(first).for_each(|_| reply.integer(NO_FIELD));
        };
        for field in args.from(first) {
            let answer = match hash.as_ref().expiry(field) {
                None => NO_FIELD,
                Some(before) if !condition.holds(before, time) => NOT_MET,
                Some(_) if time <= now => {
                    hash.remove(field);
                    deleted += 1;
                    DELETED
                }
                Some(_) => {
                    hash.set_expiry(field, Some(time));
                    set += 1;
                    SET
                }
            };
            reply.integer(answer);
        }
        Outcome::of(&hash)
    };
    ctx.changed(set + deleted);
    if set > 0 {
        ctx.notify(Events::HASH, "hexpire", key.bytes);
    }
    outcome.tell(ctx, (deleted > 0).then_some("hdel"), key);
}
