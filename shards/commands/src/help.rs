//! The replies to HELP, and the error of a subcommand that was given too much.

use crate::context::Args;
use crate::home::After;
use resp::Reply;

/// Lines of help on a container's subcommands, between the first and the last that all have.
pub(crate) fn write(name: &str, lines: &[&str], reply: &mut Reply<'_>) -> After {
    reply.array(lines.len() + 3);
    reply.simple(&format!("{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    lines.iter().for_each(|line| reply.simple(line));
    reply.simple("HELP");
    reply.simple("    Prints this help.");
    After::Done
}

/// A subcommand's own refusal of the number of its arguments.
pub(crate) fn refuse(name: &str, args: Args<'_>, reply: &mut Reply<'_>) {
    let sub = args.text(1);
    reply.error_fmt(format_args!(
        "ERR unknown subcommand or wrong number of arguments for '{sub}'. Try {name} HELP."
    ));
}
