//! SCRIPT: what can be said truthfully of an empty cache of scripts.

use crate::command::{Command, Run};
use crate::context::Args;
use crate::help;
use crate::home::{After, Home};
use resp::Reply;
use spec::{Argument, ArgumentKind, Flags, Group};

/// How to flush, of scripts and of functions.
pub(super) const HOW: Argument =
    Argument::one_of("flush-type", &[Argument::word("async", "ASYNC"), Argument::word("sync", "SYNC")])
        .optional();

pub(super) static SCRIPT: Command = Command::new("SCRIPT", Group::Scripting, Run::Container)
    .arity(-2)
    .summary("2.6.0", "A container for Lua scripts management commands.")
    .complexity("Depends on subcommand.")
    .subcommands(&[&EXISTS, &FLUSH, &HELP]);

static EXISTS: Command = Command::new("EXISTS", Group::Scripting, Run::Home(exists))
    .arity(-3)
    .flags(Flags::NOSCRIPT)
    .tips(&["request_policy:all_shards", "response_policy:agg_logical_and"])
    .summary("2.6.0", "Determines whether server-side Lua scripts exist in the script cache.")
    .complexity("O(N) with N being the number of scripts to check (so checking a single script is an O(1) operation).")
    .arguments(&[Argument::new("sha1", ArgumentKind::String).multiple()]);

static FLUSH: Command = Command::new("FLUSH", Group::Scripting, Run::Home(flush))
    .arity(-2)
    .flags(Flags::NOSCRIPT)
    .tips(&["request_policy:all_nodes", "response_policy:all_succeeded"])
    .summary("2.6.0", "Removes all server-side Lua scripts from the script cache.")
    .complexity("O(N) with N being the number of scripts in cache")
    .arguments(&[HOW.since("6.2.0")]);

static HELP: Command = Command::new("HELP", Group::Scripting, Run::Home(help))
    .arity(2)
    .flags(Flags::LOADING.with(Flags::STALE))
    .summary("5.0.0", "Returns helpful text about the different subcommands.");

fn exists(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    reply.array(args.len() - 2);
    args.from(2).for_each(|_| reply.integer(0));
    After::Done
}

fn flush(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    match args.len() {
        2 => reply.ok(),
        3 if args.is(2, "SYNC") || args.is(2, "ASYNC") => reply.ok(),
        _ => reply.error("ERR SCRIPT FLUSH only support SYNC|ASYNC option"),
    }
    After::Done
}

fn help(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    help::write(
        "SCRIPT",
        &[
            "EXISTS <sha1> [<sha1> ...]",
            "    Return information about the existence of the scripts in the script cache.",
            "FLUSH [ASYNC|SYNC]",
            "    Flush the Lua scripts cache. Very dangerous on replicas.",
            "    When called without the optional mode argument, the behavior is determined by the",
            "    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
            "    * ASYNC: Asynchronously flush the scripts cache.",
            "    * SYNC: Synchronously flush the scripts cache.",
        ],
        reply,
    )
}
