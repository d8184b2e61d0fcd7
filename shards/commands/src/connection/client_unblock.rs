//! CLIENT UNBLOCK: another client's wait in a blocking command ends, whichever shard it is on.

use super::client::OPERATOR;
use crate::command::{Command, Everywhere, Go, Lock, Run};
use crate::context::Args;
use crate::home::{After, Call, Home, House};
use resp::{Reply, parse_i64};
use spec::{Argument, ArgumentKind, Categories, Group};

pub(super) static UNBLOCK: Command = Command::new("UNBLOCK", Group::Connection, Run::Everywhere(&UNBLOCKING))
    .arity(-3)
    .flags(OPERATOR)
    .categories(Categories::DANGEROUS)
    .summary("5.0.0", "Unblocks a client blocked by a blocking command from a different connection.")
    .complexity("O(log N) where N is the number of client connections")
    .arguments(&[
        Argument::new("client-id", ArgumentKind::Integer),
        Argument::one_of(
            "unblock-type",
            &[Argument::word("timeout", "TIMEOUT"), Argument::word("error", "ERROR")],
        )
        .optional(),
    ]);

static UNBLOCKING: Everywhere = Everywhere { lock: Lock::Nothing, prepare: Some(check), part, fold };

/// Whose wait ends, and whether with an error.
fn read(args: Args<'_>) -> Result<(i64, bool), &'static str> {
    let error = match args.len() {
        3 => false,
        4 if args.is(3, "TIMEOUT") => false,
        4 if args.is(3, "ERROR") => true,
        4 => return Err("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"),
        _ => {
            return Err(
                "ERR unknown subcommand or wrong number of arguments for 'UNBLOCK'. Try CLIENT HELP.",
            );
        }
    };
    let id = parse_i64(args.get(2)).ok_or("ERR value is not an integer or out of range")?;
    Ok((id, error))
}

fn check(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Go {
    match read(args) {
        Ok(_) => Go::On,
        Err(text) => {
            reply.error(text);
            Go::Answered
        }
    }
}

fn part(house: &mut dyn House, _: &Call, args: Args<'_>, out: &mut Vec<u8>) {
    let Ok((id, error)) = read(args) else { return };
    out.push(u8::from(u64::try_from(id).is_ok_and(|id| house.unblock(id, error))));
}

fn fold(_: &mut Home<'_>, _: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    reply.integer(i64::from(parts.iter().any(|part| part.contains(&1))));
    After::Done
}
