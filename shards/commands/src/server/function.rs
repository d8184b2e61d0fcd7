//! FUNCTION: what can be said truthfully of an empty set of libraries.

use crate::command::{Command, Run};
use crate::context::Args;
use crate::help;
use crate::home::{After, Home};
use resp::Reply;
use spec::{Argument, ArgumentKind, Flags, Group};

pub(super) static FUNCTION: Command = Command::new("FUNCTION", Group::Scripting, Run::Container)
    .arity(-2)
    .summary("7.0.0", "A container for function commands.")
    .complexity("Depends on subcommand.")
    .subcommands(&[&FLUSH, &HELP, &LIST, &STATS]);

static FLUSH: Command = Command::new("FLUSH", Group::Scripting, Run::Home(flush))
    .arity(-2)
    .flags(Flags::WRITE.with(Flags::NOSCRIPT))
    .tips(&["request_policy:all_shards", "response_policy:all_succeeded"])
    .summary("7.0.0", "Deletes all libraries and functions.")
    .complexity("O(N) where N is the number of functions deleted")
    .arguments(&[super::script::HOW]);

static HELP: Command = Command::new("HELP", Group::Scripting, Run::Home(help))
    .arity(2)
    .flags(Flags::LOADING.with(Flags::STALE))
    .summary("7.0.0", "Returns helpful text about the different subcommands.");

static LIST: Command = Command::new("LIST", Group::Scripting, Run::Home(list))
    .arity(-2)
    .flags(Flags::NOSCRIPT)
    .tips(&["nondeterministic_output_order"])
    .summary("7.0.0", "Returns information about all libraries.")
    .complexity("O(N) where N is the number of functions")
    .arguments(&[
        Argument::new("library-name-pattern", ArgumentKind::String).token("LIBRARYNAME").optional(),
        Argument::word("withcode", "WITHCODE").optional(),
    ]);

static STATS: Command = Command::new("STATS", Group::Scripting, Run::Home(stats))
    .arity(2)
    .flags(Flags::NOSCRIPT.with(Flags::ALLOW_BUSY))
    .tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"])
    .summary("7.0.0", "Returns information about a function during execution.");

fn flush(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    if args.len() > 3 {
        help::refuse("FUNCTION", args, reply);
    } else if args.len() == 3 && !args.is(2, "SYNC") && !args.is(2, "ASYNC") {
        reply.error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
    } else {
        reply.ok();
    }
    After::Done
}

fn list(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let (mut with_code, mut with_name) = (false, false);
    let mut at = 2;
    while at < args.len() {
        if !with_code && args.is(at, "WITHCODE") {
            with_code = true;
        } else if !with_name && args.is(at, "LIBRARYNAME") {
            at += 1;
            if at == args.len() {
                reply.error("ERR library name argument was not given");
                return After::Done;
            }
            with_name = true;
        } else {
            reply.error_fmt(format_args!("ERR Unknown argument {}", args.text(at)));
            return After::Done;
        }
        at += 1;
    }
    reply.array(0);
    After::Done
}

/// No function runs, and none is there.
fn stats(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    reply.map(2);
    reply.bulk_text("running_script");
    reply.null();
    reply.bulk_text("engines");
    reply.map(1);
    reply.bulk_text("LUA");
    reply.map(2);
    for count in ["libraries_count", "functions_count"] {
        reply.bulk_text(count);
        reply.integer(0);
    }
    After::Done
}

fn help(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    help::write(
        "FUNCTION",
        &[
            "LIST [LIBRARYNAME PATTERN] [WITHCODE]",
            "    Return general information on all the libraries:",
            "    * Library name",
            "    * The engine used to run the Library",
            "    * Library description",
            "    * Functions list",
            "    * Library code (if WITHCODE is given)",
            "    It also possible to get only function that matches a pattern using LIBRARYNAME argument.",
            "STATS",
            "    Return information about the current function running:",
            "    * Function name",
            "    * Command used to run the function",
            "    * Duration in MS that the function is running",
            "    If no function is running, return nil",
            "    In addition, returns a list of available engines.",
            "FLUSH [ASYNC|SYNC]",
            "    Delete all the libraries.",
            "    When called without the optional mode argument, the behavior is determined by the",
            "    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
            "    * ASYNC: Asynchronously flush the libraries.",
            "    * SYNC: Synchronously flush the libraries.",
        ],
        reply,
    )
}
