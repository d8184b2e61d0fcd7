//! AUTH and HELLO: who the client is, and which protocol it speaks.

use super::client::good_name;
use crate::command::{Command, Run};
use crate::context::Args;
use crate::home::{After, Home};
use resp::{Reply, Version, parse_i64};
use spec::{Argument, ArgumentKind, Flags, Group};

const USERNAME: Argument = Argument::new("username", ArgumentKind::String);
const PASSWORD: Argument = Argument::new("password", ArgumentKind::String);

const GREETING: Flags = Flags::NOSCRIPT
    .with(Flags::LOADING)
    .with(Flags::STALE)
    .with(Flags::FAST)
    .with(Flags::NO_AUTH)
    .with(Flags::ALLOW_BUSY);

pub(super) static AUTH: Command = Command::new("AUTH", Group::Connection, Run::Home(auth))
    .arity(-2)
    .flags(GREETING)
    .summary("1.0.0", "Authenticates the connection.")
    .complexity("O(N) where N is the number of passwords defined for the user")
    .arguments(&[USERNAME.optional().since("6.0.0"), PASSWORD]);

pub(super) static HELLO: Command = Command::new("HELLO", Group::Connection, Run::Home(hello))
    .arity(-1)
    .flags(GREETING)
    .summary("6.0.0", "Handshakes with the Redis server.")
    .arguments(&[Argument::block(
        "arguments",
        &[
            Argument::new("protover", ArgumentKind::Integer),
            Argument::block("auth", &[USERNAME, PASSWORD]).token("AUTH").optional(),
            Argument::new("clientname", ArgumentKind::String).token("SETNAME").optional(),
        ],
    )
    .optional()]);

const WRONG: &str = "WRONGPASS invalid username-password pair or user is disabled.";

fn auth(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let (user, password) = match args.len() {
        2 => (None, args.get(1)),
        3 => (Some(args.get(1)), args.get(2)),
        _ => {
            reply.error("ERR syntax error");
            return After::Done;
        }
    };
    if user.is_none() && home.house.settings().live.requirepass.is_empty() {
        reply.error("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?");
        return After::Done;
    }
    if admits(home, user, password) {
        home.session.authenticated = true;
        reply.ok();
    } else {
        refuse(home);
        reply.error(WRONG);
    }
    After::Done
}

/// Whether the default user (the only one) goes by this password. Takes the same time wherever the
/// first difference is.
fn admits(home: &Home<'_>, user: Option<&[u8]>, password: &[u8]) -> bool {
    let wanted = home.house.settings().live.requirepass.as_bytes();
    if user.is_some_and(|user| user != b"default") {
        return false;
    }
    if wanted.is_empty() {
        return true;
    }
    let difference = wanted.iter().zip(password).fold(0, |sum, (a, b)| sum | (a ^ b));
    difference == 0 && wanted.len() == password.len()
}

fn refuse(home: &Home<'_>) {
    home.house.blocks()[home.house.shard() as usize].auth_failures.add(1);
}

fn hello(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let mut version = home.session.version;
    if args.len() > 1 {
        version = match parse_i64(args.get(1)) {
            Some(2) => Version::Resp2,
            Some(3) => Version::Resp3,
            Some(_) => {
                reply.error("NOPROTO unsupported protocol version");
                return After::Done;
            }
            None => {
                reply.error("ERR Protocol version is not an integer or out of range");
                return After::Done;
            }
        };
    }
    let mut credentials = None;
    let mut name = None;
    let mut at = 2;
    while at < args.len() {
        let left = args.len() - at - 1;
        if args.is(at, "AUTH") && left >= 2 {
            credentials = Some((args.get(at + 1), args.get(at + 2)));
            at += 3;
        } else if args.is(at, "SETNAME") && left >= 1 {
            name = Some(args.get(at + 1));
            if !good_name(args.get(at + 1)) {
                reply.error("ERR Client names cannot contain spaces, newlines or special characters.");
                return After::Done;
            }
            at += 2;
        } else {
            reply.error_fmt(format_args!("ERR Syntax error in HELLO option '{}'", args.text(at)));
            return After::Done;
        }
    }
    if let Some((user, password)) = credentials {
        if !admits(home, Some(user), password) {
            refuse(home);
            reply.error(WRONG);
            return After::Done;
        }
        home.session.authenticated = true;
    }
    if !home.session.authenticated {
        reply.error("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time");
        return After::Done;
    }
    if let Some(name) = name {
        home.session.name = name.to_vec();
    }
    home.session.version = version;
    reply.speak(version);
    greet(home, version, reply);
    After::Done
}

fn greet(home: &Home<'_>, version: Version, reply: &mut Reply<'_>) {
    reply.map(7);
    reply.bulk_text("server");
    reply.bulk_text("redis");
    reply.bulk_text("version");
    reply.bulk_text(&home.house.settings().live.redis_version);
    reply.bulk_text("proto");
    reply.integer(if version == Version::Resp3 { 3 } else { 2 });
    reply.bulk_text("id");
    reply.integer(home.session.id as i64);
    reply.bulk_text("mode");
    reply.bulk_text("standalone");
    reply.bulk_text("role");
    reply.bulk_text("master");
    reply.bulk_text("modules");
    reply.array(0);
}
