//! MEMORY: what a key costs.

use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::help;
use crate::home::{After, Home};
use crate::number::{self, SYNTAX};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static MEMORY: Command = Command::new("MEMORY", Group::Server, Run::Container)
    .arity(-2)
    .summary("4.0.0", "A container for memory diagnostics commands.")
    .complexity("Depends on subcommand.")
    .subcommands(&[&HELP, &USAGE]);

static HELP: Command = Command::new("HELP", Group::Server, Run::Home(help))
    .arity(2)
    .flags(Flags::LOADING.with(Flags::STALE))
    .summary("4.0.0", "Returns helpful text about the different subcommands.");

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

fn help(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    help::write(
        "MEMORY",
        &[
            "USAGE <key> [SAMPLES <count>]",
            "    Return memory in bytes used by <key> and its value. Nested values are",
            "    sampled up to <count> times (default: 5, 0 means sample all).",
        ],
        reply,
    )
}
