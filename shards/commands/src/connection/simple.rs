//! PING, ECHO, SELECT, QUIT, RESET.

use crate::command::{Command, Run};
use crate::context::Args;
use crate::home::{After, Home, ReplyMode};
use crate::number;
use resp::{Reply, Version};
use spec::{Argument, ArgumentKind, Flags, Group};

const MESSAGE: Argument = Argument::new("message", ArgumentKind::String);

pub(super) static PING: Command = Command::new("PING", Group::Connection, Run::Home(ping))
    .arity(-1)
    .flags(Flags::FAST)
    .tips(&["request_policy:all_shards", "response_policy:all_succeeded"])
    .summary("1.0.0", "Returns the server's liveliness response.")
    .arguments(&[MESSAGE.optional()]);

pub(super) static ECHO: Command = Command::new("ECHO", Group::Connection, Run::Home(echo))
    .arity(2)
    .flags(Flags::LOADING.with(Flags::STALE).with(Flags::FAST))
    .summary("1.0.0", "Returns the given string.")
    .arguments(&[MESSAGE]);

pub(super) static SELECT: Command = Command::new("SELECT", Group::Connection, Run::Home(select))
    .arity(2)
    .flags(Flags::LOADING.with(Flags::STALE).with(Flags::FAST))
    .summary("1.0.0", "Changes the selected database.")
    .arguments(&[Argument::new("index", ArgumentKind::Integer)]);

pub(super) static QUIT: Command = Command::new("QUIT", Group::Connection, Run::Home(quit))
    .arity(-1)
    .flags(
        Flags::NOSCRIPT
            .with(Flags::LOADING)
            .with(Flags::STALE)
            .with(Flags::FAST)
            .with(Flags::NO_AUTH)
            .with(Flags::ALLOW_BUSY),
    )
    .summary("1.0.0", "Closes the connection.")
    .deprecated("7.2.0", "just closing the connection");

pub(super) static RESET: Command = Command::new("RESET", Group::Connection, Run::Home(reset))
    .arity(1)
    .flags(
        Flags::NOSCRIPT
            .with(Flags::LOADING)
            .with(Flags::STALE)
            .with(Flags::FAST)
            .with(Flags::NO_AUTH)
            .with(Flags::ALLOW_BUSY),
    )
    .summary("6.2.0", "Resets the connection.");

fn ping(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    match args.len() {
        // Where replies come among messages, this one looks like a message.
        1 | 2 if home.session.only_listens() => {
            reply.array(2);
            reply.bulk_text("pong");
            reply.bulk(args.get(1));
        }
        1 => reply.simple("PONG"),
        2 => reply.bulk(args.get(1)),
        _ => reply.error("ERR wrong number of arguments for 'ping' command"),
    }
    After::Done
}

fn echo(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    reply.bulk(args.get(1));
    After::Done
}

fn select(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let databases = home.house.settings().live.databases as usize;
    if let Some(db) = number::database(args.get(1), databases, reply) {
        home.session.db = db;
        reply.ok();
    }
    After::Done
}

fn quit(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    reply.ok();
    After::Close
}

fn reset(home: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    let session = &mut *home.session;
    session.db = 0;
    session.name.clear();
    session.no_evict = false;
    session.no_touch = false;
    session.reply_mode = ReplyMode::On;
    (session.subscribed, session.listens) = ([0; 3], false);
    home.house.topics().leave(session.place);
    session.version = Version::Resp2;
    session.authenticated = home.house.settings().live.requirepass.is_empty();
    reply.speak(Version::Resp2);
    reply.simple("RESET");
    After::Done
}
