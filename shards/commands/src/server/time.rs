//! TIME.

use crate::command::{Command, Run};
use crate::context::Args;
use crate::home::{After, Home};
use resp::Reply;
use spec::{Flags, Group};

pub(super) static TIME: Command = Command::new("TIME", Group::Server, Run::Home(time))
    .arity(1)
    .flags(Flags::LOADING.with(Flags::STALE).with(Flags::FAST))
    .tips(&["nondeterministic_output"])
    .summary("2.6.0", "Returns the server time.");

const MICROSECONDS: i64 = 1_000_000;

fn time(home: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    let now_us = home.house.now_us();
    reply.array(2);
    reply.bulk_integer(now_us / MICROSECONDS);
    reply.bulk_integer(now_us % MICROSECONDS);
    After::Done
}
