//! OBJECT: what is known of a value besides itself.

use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::setting::MemoryPolicy;
use spec::{Access, Argument, Categories, Flags, Group, Keys, Live};
use store::{Entry, Text, UseNote};

pub(super) static OBJECT: Command = Command::new("OBJECT", Group::Generic, Run::Container)
    .arity(-2)
    .summary("2.2.3", "A container for object introspection commands.")
    .complexity("Depends on subcommand.")
    .subcommands(&[&ENCODING, &FREQ, &HELP, &IDLETIME, &REFCOUNT]);

const ASKED: &[Keys] = &[Keys::at(2, Access::RO)];
const CHANGES: &[&str] = &["nondeterministic_output"];

static ENCODING: Command = Command::new("ENCODING", Group::Generic, Run::Local(encoding))
    .arity(3)
    .flags(Flags::READONLY)
    .categories(Categories::KEYSPACE)
    .keys(ASKED)
    .summary("2.2.3", "Returns the internal encoding of a Redis object.")
    .tips(CHANGES)
    .arguments(&[Argument::key()]);

static FREQ: Command = Command::new("FREQ", Group::Generic, Run::Local(freq))
    .arity(3)
    .flags(Flags::READONLY)
    .categories(Categories::KEYSPACE)
    .keys(ASKED)
    .summary("4.0.0", "Returns the logarithmic access frequency counter of a Redis object.")
    .tips(CHANGES)
    .arguments(&[Argument::key()]);

static HELP: Command = Command::new("HELP", Group::Generic, Run::Local(help))
    .arity(2)
    .flags(Flags::LOADING.with(Flags::STALE))
    .categories(Categories::KEYSPACE)
    .summary("6.2.0", "Returns helpful text about the different subcommands.");

static IDLETIME: Command = Command::new("IDLETIME", Group::Generic, Run::Local(idletime))
    .arity(3)
    .flags(Flags::READONLY)
    .categories(Categories::KEYSPACE)
    .keys(ASKED)
    .summary("2.2.3", "Returns the time since the last access to a Redis object.")
    .tips(CHANGES)
    .arguments(&[Argument::key()]);

static REFCOUNT: Command = Command::new("REFCOUNT", Group::Generic, Run::Local(refcount))
    .arity(3)
    .flags(Flags::READONLY)
    .categories(Categories::KEYSPACE)
    .keys(ASKED)
    .summary("2.2.3", "Returns the reference count of a value of a key.")
    .tips(CHANGES)
    .arguments(&[Argument::key()]);

const NOT_LFU: &str = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please \
                       note that when switching between policies at runtime LRU and LFU data will take some \
                       time to adjust.";
const IS_LFU: &str = "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when \
                      switching between policies at runtime LRU and LFU data will take some time to adjust.";

/// Integers below this are shared objects in Redis, which then answers this count for them.
const SHARED_INTEGERS: i64 = 10_000;
const SHARED_REFERENCES: i64 = i32::MAX as i64;

const HELP_LINES: &[&str] = &[
    "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "ENCODING <key>",
    "    Return the kind of internal representation used in order to store the value",
    "    associated with a <key>.",
    "FREQ <key>",
    "    Return the access frequency index of the <key>. The returned integer is",
    "    proportional to the logarithm of the recent access frequency of the key.",
    "IDLETIME <key>",
    "    Return the idle time of the <key>, that is the approximated number of",
    "    seconds elapsed since the last access to the key.",
    "REFCOUNT <key>",
    "    Return the number of references of the value associated with the specified",
    "    <key>.",
    "HELP",
    "    Prints this help.",
];

/// The entry that is asked about; replies where there is none.
fn asked<'s>(ctx: &'s mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Option<Entry<'s>> {
    let key = ctx.key(args.get(2));
    let found = lookup::peek(ctx, key);
    if found.is_none() {
        reply.null();
    }
    found
}

fn is_lfu(live: &Live) -> bool {
    matches!(live.maxmemory_policy, MemoryPolicy::AllkeysLfu | MemoryPolicy::VolatileLfu)
}

/// What a store is to note of the uses of its entries by these settings.
pub(crate) fn use_note(live: &Live) -> UseNote {
    match is_lfu(live) {
        true => UseNote::Frequency { log_factor: live.lfu_log_factor, decay_minutes: live.lfu_decay_minutes },
        false => UseNote::Time,
    }
}

fn encoding(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if let Some(entry) = asked(ctx, args, reply) {
        reply.bulk_text(entry.encoding());
    }
}

fn freq(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (live, now) = (ctx.live, ctx.now);
    match asked(ctx, args, reply) {
        Some(_) if !is_lfu(live) => reply.error(NOT_LFU),
        Some(entry) => reply.integer(i64::from(entry.frequency(now, live.lfu_decay_minutes))),
        None => {}
    }
}

fn idletime(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (live, now) = (ctx.live, ctx.now);
    match asked(ctx, args, reply) {
        Some(_) if is_lfu(live) => reply.error(IS_LFU),
        Some(entry) => reply.integer(i64::from(entry.idle_s(now))),
        None => {}
    }
}

fn refcount(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let live = ctx.live;
    if let Some(entry) = asked(ctx, args, reply) {
        reply.integer(references(&entry, live));
    }
}

/// How many references Redis would count to a value.
pub(crate) fn references(entry: &Entry<'_>, live: &Live) -> i64 {
    let small = matches!(entry.text(), Some(Text::Int(number)) if (0..SHARED_INTEGERS).contains(&number));
    if small && shares_integers(live) { SHARED_REFERENCES } else { 1 }
}

/// Redis shares small integers unless a policy needs to know when each was used.
fn shares_integers(live: &Live) -> bool {
    let by_use = matches!(live.maxmemory_policy, MemoryPolicy::AllkeysLru | MemoryPolicy::VolatileLru);
    live.maxmemory == 0 || !(by_use || is_lfu(live))
}

fn help(_: &mut Ctx<'_>, _: Args<'_>, reply: &mut Reply<'_>) {
    reply.array(HELP_LINES.len());
    HELP_LINES.iter().for_each(|line| reply.simple(line));
}
