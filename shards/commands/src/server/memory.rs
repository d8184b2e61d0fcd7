//! MEMORY: what a key costs, and what is asked of the allocator. What the shards use is told beside it.

use super::memory_report;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::help;
use crate::home::{After, Home, Job};
use crate::number::{self, SYNTAX};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static MEMORY: Command = Command::new("MEMORY", Group::Server, Run::Container)
    .arity(-2)
    .summary("4.0.0", "A container for memory diagnostics commands.")
    .complexity("Depends on subcommand.")
    .subcommands(&[&memory_report::DOCTOR, &HELP, &MALLOC_STATS, &PURGE, &memory_report::STATS, &USAGE]);

static HELP: Command = Command::new("HELP", Group::Server, Run::Home(help))
    .arity(2)
    .flags(Flags::LOADING.with(Flags::STALE))
    .summary("4.0.0", "Returns helpful text about the different subcommands.");

const SLOW: &str = "Depends on how much memory is allocated, could be slow";

static MALLOC_STATS: Command = Command::new("MALLOC-STATS", Group::Server, Run::Home(malloc_stats))
    .arity(2)
    .summary("4.0.0", "Returns the allocator statistics.")
    .complexity(SLOW)
    .tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"]);

static PURGE: Command = Command::new("PURGE", Group::Server, Run::Home(purge))
    .arity(2)
    .summary("4.0.0", "Asks the allocator to release memory.")
    .complexity(SLOW)
    .tips(&["request_policy:all_shards", "response_policy:all_succeeded"]);

static USAGE: Command = Command::new("USAGE", Group::Server, Run::Local(usage))
    .arity(-3)
    .flags(Flags::READONLY)
    .keys(&[Keys::at(2, Access::RO)])
    .summary("4.0.0", "Estimates the memory usage of a key.")
    .complexity("O(N) where N is the number of samples.")
    .arguments(&[Argument::key(), Argument::new("count", ArgumentKind::Integer).token("SAMPLES").optional()]);

/// Whether the options are in order; replies where not. Every value there is yet is measured whole, so
/// the number of samples changes nothing.
fn options(args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    let mut at = 3;
    while at < args.len() {
        if !args.is(at, "SAMPLES") || at + 1 == args.len() {
            reply.error(SYNTAX);
            return false;
        }
        match number::integer(args.get(at + 1), reply) {
            None => return false,
            Some(samples) if samples < 0 => {
                reply.error(SYNTAX);
                return false;
            }
            Some(_) => at += 2,
        }
    }
    true
}

fn usage(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if !options(args, reply) {
        return;
    }
    let (key, db, now) = (ctx.key(args.get(2)), ctx.db(), ctx.now);
    match ctx.store.find_untouched(db, key, now) {
        Some(entry) => reply.integer(entry.memory_bytes() as i64),
        None => reply.null(),
    }
}

fn malloc_stats(home: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    let tools = home.house.facts().allocator_tools;
    let report =
        tools.map_or_else(|| "Stats not supported for the current allocator".into(), |t| (t.report)());
    reply.verbatim("txt", report.as_bytes());
    After::Done
}

/// Pages are given back by a thread of the house: that may take long.
fn purge(_: &mut Home<'_>, _: Args<'_>, _: &mut Reply<'_>) -> After {
    After::Work(Job::PurgeMemory)
}

fn help(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    help::write(
        "MEMORY",
        &[
            "DOCTOR",
            "    Return memory problems reports.",
            "MALLOC-STATS",
            "    Return internal statistics report from the memory allocator.",
            "PURGE",
            "    Attempt to purge dirty pages for reclamation by the allocator.",
            "STATS",
            "    Return information about the memory usage of the server.",
            "USAGE <key> [SAMPLES <count>]",
            "    Return memory in bytes used by <key> and its value. Nested values are",
            "    sampled up to <count> times (default: 5, 0 means sample all).",
        ],
        reply,
    )
}
