//! Parts of DEBUG in a few lines each, and those that are accepted because suites call them.

use super::part;
use crate::command::{Command, Everywhere, Lock, Run};
use crate::context::{Args, Caller};
use crate::home::{After, Call, Home, House, Job, SessionState};
use resp::{Reply, Span};
use spec::glob::glob_match;
use spec::setting::{Kind, Value};

/// Accepted without effect: what they steer in Redis is not there, or needs no steering.
const fn accepted(name: &'static str) -> Command {
    part(name, Run::Home(ok)).arity(3)
}

pub(super) static AOF_FLUSH_SLEEP: Command = accepted("AOF-FLUSH-SLEEP");
pub(super) static CHANGE_REPL_ID: Command = accepted("CHANGE-REPL-ID").arity(2);
pub(super) static DICT_RESIZING: Command = accepted("DICT-RESIZING");
pub(super) static SET_DISABLE_DENY_SCRIPTS: Command = accepted("SET-DISABLE-DENY-SCRIPTS");
pub(super) static SET_SKIP_CHECKSUM_VALIDATION: Command = accepted("SET-SKIP-CHECKSUM-VALIDATION");
pub(super) static QUICKLIST_PACKED_THRESHOLD: Command =
    part("QUICKLIST-PACKED-THRESHOLD", Run::Home(packed_threshold)).arity(3);
pub(super) static REPLYBUFFER: Command = part("REPLYBUFFER", Run::Home(reply_buffer)).arity(4);

pub(super) static ASSERT: Command = part("ASSERT", Run::Home(crash)).arity(2);
pub(super) static PANIC: Command = part("PANIC", Run::Home(crash)).arity(2);
pub(super) static SEGFAULT: Command = part("SEGFAULT", Run::Home(crash)).arity(2);

pub(super) static ERROR: Command = part("ERROR", Run::Home(error)).arity(3);
pub(super) static LOG: Command = part("LOG", Run::Home(log)).arity(3);
pub(super) static SLEEP: Command = part("SLEEP", Run::Home(sleep)).arity(3);
pub(super) static STRINGMATCH_TEST: Command = part("STRINGMATCH-TEST", Run::Home(match_test)).arity(2);
pub(super) static STRUCTSIZE: Command = part("STRUCTSIZE", Run::Home(struct_sizes)).arity(2);

pub(super) static SET_ACTIVE_EXPIRE: Command =
    part("SET-ACTIVE-EXPIRE", Run::Everywhere(&SETTING_EXPIRY)).arity(3);
pub(super) static PAUSE_CRON: Command = part("PAUSE-CRON", Run::Everywhere(&PAUSING_CRON)).arity(3);

static SETTING_EXPIRY: Everywhere =
    Everywhere { lock: Lock::Nothing, prepare: None, part: set_expiry, fold: all_ok };
static PAUSING_CRON: Everywhere =
    Everywhere { lock: Lock::Nothing, prepare: None, part: pause_cron, fold: all_ok };

fn ok(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    reply.ok();
    After::Done
}

pub(super) fn all_ok(_: &mut Home<'_>, _: Args<'_>, _: &[&[u8]], reply: &mut Reply<'_>) -> After {
    reply.ok();
    After::Done
}

fn packed_threshold(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    const BYTES: Kind = Kind::Memory { min: 0, max: (4 << 30) - 1 };
    match BYTES.parse(&[&args.text(2)], &Value::Number(0)) {
        Ok(_) => reply.ok(),
        Err(_) => reply.error("ERR argument must be a memory value bigger than 1 and smaller than 4gb"),
    }
    After::Done
}

fn reply_buffer(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    if args.is(2, "PEAK-RESET-TIME") || args.is(2, "RESIZING") {
        reply.ok();
    } else {
        crate::help::refuse("DEBUG", args, reply);
    }
    After::Done
}

fn crash(_: &mut Home<'_>, _: Args<'_>, _: &mut Reply<'_>) -> After {
    After::Work(Job::Crash)
}

fn error(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    reply.error_bytes(args.get(2));
    After::Done
}

fn log(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    home.house.order(Job::Log(args.text(2).into_owned()));
    reply.ok();
    After::Done
}

/// Redis stops for everybody; here the asking client alone waits, and the others' commands go on.
fn sleep(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    // What is no number is no time, as for strtod.
    let seconds: f64 = args.text(2).trim().parse().unwrap_or(0.0);
    let milliseconds = (seconds * 1000.0).clamp(0.0, i64::from(i32::MAX) as f64) as i64;
    reply.ok();
    After::HoldUntil(home.house.now_ms() + milliseconds)
}

/// 0 and what is no number turn it off.
fn flag(args: Args<'_>) -> bool {
    resp::parse_i64(args.get(2)).unwrap_or(0) != 0
}

fn set_expiry(house: &mut dyn House, _: &Call, args: Args<'_>, _: &mut Vec<u8>) {
    house.active_expiry(flag(args));
}

fn pause_cron(house: &mut dyn House, _: &Call, args: Args<'_>, _: &mut Vec<u8>) {
    house.pause_cron(flag(args));
}

/// Random patterns over few letters, so that stars, classes and escapes meet often.
fn match_test(home: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    const ROUNDS: usize = 10_000;
    const LETTERS: &[u8] = b"ab*?[]^-\\";
    let random = home.house.random();
    let mut word = |length_max: u64| -> Vec<u8> {
        let length = random.below(length_max);
        (0..length).map(|_| LETTERS[random.below(LETTERS.len() as u64) as usize]).collect()
    };
    for _ in 0..ROUNDS {
        let (pattern, text) = (word(16), word(16));
        let _ = glob_match(&pattern, &text, false);
    }
    reply.simple("Apparently Redis did not crash: test passed");
    After::Done
}

fn struct_sizes(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    reply.simple(&format!(
        "bits:{} session:{} caller:{} span:{} detached:{}",
        usize::BITS,
        size_of::<SessionState>(),
        size_of::<Caller>(),
        size_of::<Span>(),
        size_of::<store::Detached>(),
    ));
    After::Done
}
