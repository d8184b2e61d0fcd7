//! Fields read or written together with the time at which they expire: HGETEX, HSETEX; and HGETDEL.

use super::fields::{self, Clock, NOT_POSITIVE};
use super::{FIELD, Outcome, UPDATES, VALUE, limits};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::HashMut;

const EACH: &str = "O(N) where N is the number of specified fields";
const NUMFIELDS: Argument = Argument::new("numfields", ArgumentKind::Integer);

const SECONDS: Argument = Argument::new("seconds", ArgumentKind::Integer).token("EX");
const MILLISECONDS: Argument = Argument::new("milliseconds", ArgumentKind::Integer).token("PX");
const UNIX_SECONDS: Argument = Argument::new("unix-time-seconds", ArgumentKind::UnixTime).token("EXAT");
const UNIX_MILLISECONDS: Argument =
    Argument::new("unix-time-milliseconds", ArgumentKind::UnixTime).token("PXAT");

pub(super) static HGETDEL: Command = Command::new("HGETDEL", Group::Hash, Run::Local(hgetdel))
    .arity(-5)
    .flags(Flags::WRITE.with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::DELETE))])
    .summary("8.0.0", "Returns the value of a field and deletes it from the hash.")
    .complexity(EACH)
    .arguments(&[Argument::key(), Argument::block("fields", &[NUMFIELDS, FIELD.multiple()]).token("FIELDS")]);

pub(super) static HGETEX: Command = Command::new("HGETEX", Group::Hash, Run::Local(hgetex))
    .arity(-5)
    .flags(Flags::WRITE.with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::UPDATE))
        .notes("RW and UPDATE because it changes the TTL")])
    .summary(
        "8.0.0",
        "Get the value of one or more fields of a given hash key, and optionally set their expiration.",
    )
    .complexity(EACH)
    .arguments(&[
        Argument::key(),
        Argument::one_of(
            "expiration",
            &[SECONDS, MILLISECONDS, UNIX_SECONDS, UNIX_MILLISECONDS, Argument::word("persist", "PERSIST")],
        )
        .optional(),
        Argument::block("fields", &[NUMFIELDS, FIELD.multiple()]).token("FIELDS"),
    ]);

pub(super) static HSETEX: Command = Command::new("HSETEX", Group::Hash, Run::Local(hsetex))
    .arity(-6)
    .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST))
    .keys(UPDATES)
    .summary(
        "8.0.0",
        "Set the value of one or more fields of a given hash key, and optionally set their expiration.",
    )
    .complexity("O(N) where N is the number of fields being set.")
    .arguments(&[
        Argument::key(),
        Argument::one_of("condition", &[Argument::word("fnx", "FNX"), Argument::word("fxx", "FXX")])
            .optional(),
        Argument::one_of(
            "expiration",
            &[SECONDS, MILLISECONDS, UNIX_SECONDS, UNIX_MILLISECONDS, Argument::word("keepttl", "KEEPTTL")],
        )
        .optional(),
        Argument::block("fields", &[NUMFIELDS, Argument::block("data", &[FIELD, VALUE]).multiple()])
            .token("FIELDS"),
    ]);

fn hgetdel(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key) = (ctx.db(), ctx.key(args.get(1)));
    let Some(first) = fields::read(args, 2, NOT_POSITIVE, reply) else { return };
    let mut removed = 0;
    let outcome = {
        let Ok(hash) = ctx.store.hash_mut(db, key, ctx.now) else { return reply.error(lookup::WRONG_KIND) };
        reply.array(args.len() - first);
        let Some(mut hash) = hash else { return args.from(first).for_each(|_| reply.null()) };
        for field in args.from(first) {
            match hash.get(field) {
                Some(value) => lookup::bulk(value, reply),
                None => reply.null(),
            }
            removed += u64::from(hash.remove(field));
        }
        Outcome::of(&hash)
    };
    ctx.changed(removed);
    outcome.tell(ctx, (removed > 0).then_some("hdel"), key);
}

/// What is said about the time at which fields expire.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lifetime {
    Unsaid,
    /// KEEPTTL, or PERSIST: the word that the command knows.
    Word,
    At(i64),
}

/// What has to hold of the fields.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    None,
    /// FNX: none is there.
    Missing,
    /// FXX: all are there.
    Present,
}

struct Options {
    lifetime: Lifetime,
    condition: Condition,
    /// The first field.
    first: usize,
}

/// How a command's options are read.
struct Grammar {
    command: &'static str,
    /// The option about the time that stands alone.
    word: &'static str,
    conditions: bool,
    /// Arguments of each field.
    step: usize,
}

const GETEX: Grammar = Grammar { command: "hgetex", word: "PERSIST", conditions: false, step: 1 };
const SETEX: Grammar = Grammar { command: "hsetex", word: "KEEPTTL", conditions: true, step: 2 };

impl Grammar {
    /// `None` once they are refused.
    fn read(&self, args: Args<'_>, now: i64, reply: &mut Reply<'_>) -> Option<Options> {
        let mut options = Options { lifetime: Lifetime::Unsaid, condition: Condition::None, first: 0 };
        let mut index = 2;
        while !args.is(index, "FIELDS") {
            if index >= args.len() {
                reply.error(number::SYNTAX);
                return None;
            }
            let clock = Clock::of(args, index);
            if clock.is_some() || args.is(index, self.word) {
                if options.lifetime != Lifetime::Unsaid {
                    let word = self.word;
                    let text = "ERR Only one of EX, PX, EXAT, PXAT or";
                    reply.error_fmt(format_args!("{text} {word} arguments can be specified"));
                    return None;
                }
                options.lifetime = Lifetime::Word;
                if let Some(clock) = clock {
                    index += 1;
                    if index >= args.len() {
                        reply.error("ERR missing expire time");
                        return None;
                    }
                    options.lifetime = Lifetime::At(clock.time(args.get(index), now, self.command, reply)?);
                }
            } else if self.conditions && (args.is(index, "FNX") || args.is(index, "FXX")) {
                if options.condition != Condition::None {
                    reply.error("ERR Only one of FXX or FNX arguments can be specified");
                    return None;
                }
                let missing = args.is(index, "FNX");
                options.condition = if missing { Condition::Missing } else { Condition::Present };
            } else {
                reply.error_fmt(format_args!("ERR unknown argument: {}", args.text(index)));
                return None;
            }
            index += 1;
        }
        let count =
            resp::parse_i64(args.get(index + 1)).filter(|count| (1..=i64::from(i32::MAX)).contains(count));
        let Some(count) = count else {
            reply.error("ERR invalid number of fields");
            return None;
        };
        options.first = index + 2;
        if count as usize * self.step != args.len().saturating_sub(options.first) {
            reply.error("ERR wrong number of arguments");
            return None;
        }
        Some(options)
    }
}

fn hgetex(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key, now) = (ctx.db(), ctx.key(args.get(1)), ctx.now);
    let Some(options) = GETEX.read(args, now, reply) else { return };
    let (mut changed, mut event) = (0, None);
    let outcome = {
        let Ok(hash) = ctx.store.hash_mut(db, key, now) else { return reply.error(lookup::WRONG_KIND) };
        reply.array(args.len() - options.first);
        let Some(mut hash) = hash else { return args.from(options.first).for_each(|_| reply.null()) };
        for field in args.from(options.first) {
            let Some(value) = hash.get(field) else {
                reply.null();
                continue;
            };
            lookup::bulk(value, reply);
            let done = match options.lifetime {
                Lifetime::Unsaid => None,
                Lifetime::Word => {
                    let had = hash.as_ref().expiry(field).flatten().is_some();
                    hash.set_expiry(field, None);
                    had.then_some("hpersist")
                }
                Lifetime::At(time) => Some(set_time(&mut hash, field, time, now)),
            };
            changed += u64::from(done.is_some());
            event = event.or(done);
        }
        Outcome::of(&hash)
    };
    ctx.changed(changed);
    outcome.tell(ctx, event, key);
}

/// Lets a field expire at a time, which may be past; the name of what happened.
fn set_time(hash: &mut HashMut<'_>, field: &[u8], time: i64, now: i64) -> &'static str {
    if time <= now {
        hash.remove(field);
        return "hdel";
    }
    hash.set_expiry(field, Some(time));
    "hexpire"
}

fn hsetex(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key, now, limits) = (ctx.db(), ctx.key(args.get(1)), ctx.now, limits(ctx));
    let Some(options) = SETEX.read(args, now, reply) else { return };
    let Ok(mut hash) = ctx.store.hash_or_new(db, key, now) else {
        return reply.error(lookup::WRONG_KIND);
    };
    let fields = || (options.first..args.len()).step_by(2);
    let goes = match options.condition {
        Condition::None => true,
        Condition::Missing => fields().all(|index| hash.get(args.get(index)).is_none()),
        Condition::Present => fields().all(|index| hash.get(args.get(index)).is_some()),
    };
    let mut timed = None;
    if goes {
        for index in fields() {
            let (field, value) = (args.get(index), args.get(index + 1));
            if options.lifetime == Lifetime::Word {
                hash.set_keeping_time(field, value, limits);
            } else {
                hash.set(field, value, limits);
            }
            if let Lifetime::At(time) = options.lifetime {
                timed = Some(set_time(&mut hash, field, time, now));
            }
        }
    }
    let outcome = Outcome::of(&hash);
    drop(hash);
    ctx.changed(if goes { fields().len() as u64 } else { 0 });
    if goes {
        ctx.notify(Events::HASH, "hset", key.bytes);
    }
    outcome.tell(ctx, timed, key);
    reply.integer(i64::from(goes));
}
