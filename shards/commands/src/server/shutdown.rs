//! SHUTDOWN.

use crate::command::{Command, Run};
use crate::context::Args;
use crate::home::{After, Home, Job};
use crate::number::SYNTAX;
use resp::Reply;
use spec::{Argument, Flags, Group};

pub(super) static SHUTDOWN: Command = Command::new("SHUTDOWN", Group::Server, Run::Home(shutdown))
    .arity(-1)
    .flags(
        Flags::ADMIN
            .with(Flags::NOSCRIPT)
            .with(Flags::LOADING)
            .with(Flags::STALE)
            .with(Flags::NO_MULTI)
            .with(Flags::ALLOW_BUSY),
    )
    .summary("1.0.0", "Synchronously saves the database(s) to disk and shuts down the Redis server.")
    .complexity("O(N) when saving, where N is the total number of keys in all databases when saving data, otherwise O(1)")
    .arguments(&[
        Argument::one_of(
            "save-selector",
            &[Argument::word("nosave", "NOSAVE"), Argument::word("save", "SAVE")],
        )
        .optional(),
        Argument::word("now", "NOW").optional().since("7.0.0"),
        Argument::word("force", "FORCE").optional().since("7.0.0"),
        Argument::word("abort", "ABORT").optional().since("7.0.0"),
    ]);

/// What was asked for.
#[derive(Default)]
struct Manner {
    save: bool,
    nosave: bool,
    now: bool,
    force: bool,
    abort: bool,
}

fn manner(args: Args<'_>) -> Option<Manner> {
    let mut manner = Manner::default();
    for index in 1..args.len() {
        let word = match () {
            () if args.is(index, "SAVE") => &mut manner.save,
            () if args.is(index, "NOSAVE") => &mut manner.nosave,
            () if args.is(index, "NOW") => &mut manner.now,
            () if args.is(index, "FORCE") => &mut manner.force,
            () if args.is(index, "ABORT") => &mut manner.abort,
            () => return None,
        };
        *word = true;
    }
    let Manner { save, nosave, now, force, abort } = manner;
    let contradicts = save && nosave || abort && (save || nosave || now || force);
    (!contradicts).then_some(manner)
}

/// There is nothing yet to save to: who insists on it is refused, as Redis does when saving fails.
fn shutdown(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let Some(manner) = manner(args) else {
        reply.error(SYNTAX);
        return After::Done;
    };
    if manner.abort {
        // Once begun, a shutdown takes no more commands.
        reply.error("ERR No shutdown in progress.");
        return After::Done;
    }
    if manner.save && !manner.force {
        reply.error("ERR Errors trying to SHUTDOWN. Check logs.");
        return After::Done;
    }
    After::Work(Job::Shutdown { now: manner.now })
}
