//! CLIENT and the subcommands that concern this client alone, or all for a while.

use super::{client_kill, client_list, client_unblock};
use crate::command::{Command, Everywhere, Go, Lock, Run};
use crate::context::Args;
use crate::help;
use crate::home::{After, Call, Home, House, PauseMode, ReplyMode};
use resp::{Reply, parse_i64};
use spec::{Argument, ArgumentKind, Categories, Flags, Group};

/// What nearly every subcommand is.
pub(super) const PLAIN: Flags = Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE);
/// The same for operators.
pub(super) const OPERATOR: Flags = PLAIN.with(Flags::ADMIN);

pub(super) static CLIENT: Command = Command::new("CLIENT", Group::Connection, Run::Container)
    .arity(-2)
    .summary("2.4.0", "A container for client connection commands.")
    .complexity("Depends on subcommand.")
    .subcommands(&[
        &GETNAME,
        &GETREDIR,
        &HELP,
        &ID,
        &INFO,
        &client_kill::KILL,
        &client_list::LIST,
        &NO_EVICT,
        &NO_TOUCH,
        &PAUSE,
        &REPLY,
        &SETINFO,
        &SETNAME,
        &client_unblock::UNBLOCK,
        &UNPAUSE,
    ]);

const fn sub(name: &'static str, run: Run) -> Command {
    Command::new(name, Group::Connection, run).flags(PLAIN)
}

static ID: Command =
    sub("ID", Run::Home(id)).arity(2).summary("5.0.0", "Returns the unique client ID of the connection.");
static GETNAME: Command =
    sub("GETNAME", Run::Home(getname)).arity(2).summary("2.6.9", "Returns the name of the connection.");
static GETREDIR: Command = sub("GETREDIR", Run::Home(getredir)).arity(2).summary(
    "6.0.0",
    "Returns the client ID to which the connection's tracking notifications are redirected.",
);
static SETNAME: Command = sub("SETNAME", Run::Home(setname))
    .arity(3)
    .summary("2.6.9", "Sets the connection name.")
    .arguments(&[Argument::new("connection-name", ArgumentKind::String)]);
static SETINFO: Command = sub("SETINFO", Run::Home(setinfo))
    .arity(4)
    .tips(&["request_policy:all_nodes", "response_policy:all_succeeded"])
    .summary("7.2.0", "Sets information specific to the client or connection.")
    .arguments(&[Argument::one_of(
        "attr",
        &[
            Argument::new("libname", ArgumentKind::String).token("LIB-NAME"),
            Argument::new("libver", ArgumentKind::String).token("LIB-VER"),
        ],
    )]);
static INFO: Command = sub("INFO", Run::Home(info))
    .arity(2)
    .tips(&["nondeterministic_output"])
    .summary("6.2.0", "Returns information about the connection.");
static NO_EVICT: Command = sub("NO-EVICT", Run::Home(no_evict))
    .arity(3)
    .flags(OPERATOR)
    .summary("7.0.0", "Sets the client eviction mode of the connection.")
    .arguments(&[ON_OFF]);
static NO_TOUCH: Command = sub("NO-TOUCH", Run::Home(no_touch))
    .arity(3)
    .summary("7.2.0", "Controls whether commands sent by the client affect the LRU/LFU of accessed keys.")
    .arguments(&[ON_OFF]);
static REPLY: Command = sub("REPLY", Run::Home(reply_mode))
    .arity(3)
    .summary("3.2.0", "Instructs the server whether to reply to commands.")
    .arguments(&[Argument::one_of(
        "action",
        &[Argument::word("on", "ON"), Argument::word("off", "OFF"), Argument::word("skip", "SKIP")],
    )]);
static PAUSE: Command = sub("PAUSE", Run::Everywhere(&PAUSING))
    .arity(-3)
    .flags(OPERATOR)
    .categories(Categories::DANGEROUS)
    .summary("3.0.0", "Suspends commands processing.")
    .arguments(&[
        Argument::new("timeout", ArgumentKind::Integer),
        Argument::one_of("mode", &[Argument::word("write", "WRITE"), Argument::word("all", "ALL")])
            .optional()
            .since("6.2.0"),
    ]);
static UNPAUSE: Command = sub("UNPAUSE", Run::Everywhere(&UNPAUSING))
    .arity(2)
    .flags(OPERATOR)
    .categories(Categories::DANGEROUS)
    .complexity("O(N) Where N is the number of paused clients")
    .summary("6.2.0", "Resumes processing commands from paused clients.");
static HELP: Command = sub("HELP", Run::Home(help))
    .arity(2)
    .flags(Flags::LOADING.with(Flags::STALE))
    .summary("5.0.0", "Returns helpful text about the different subcommands.");

const ON_OFF: Argument =
    Argument::one_of("enabled", &[Argument::word("on", "ON"), Argument::word("off", "OFF")]);

/// Names of clients are shown in lists: no spaces, nothing that does not print.
pub(super) fn good_name(name: &[u8]) -> bool {
    name.iter().all(|byte| (b'!'..=b'~').contains(byte))
}

fn id(home: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    reply.integer(home.session.id as i64);
    After::Done
}

fn getname(home: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    if home.session.name.is_empty() {
        reply.null();
    } else {
        reply.bulk(&home.session.name);
    }
    After::Done
}

/// No client has tracking on, so none is redirected: -1 is Redis's answer to that.
fn getredir(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    reply.integer(-1);
    After::Done
}

fn setname(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    if good_name(args.get(2)) {
        home.session.name = args.get(2).to_vec();
        reply.ok();
    } else {
        reply.error("ERR Client names cannot contain spaces, newlines or special characters.");
    }
    After::Done
}

fn setinfo(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let value = args.get(3);
    let (place, name) = if args.is(2, "LIB-NAME") {
        (&mut home.session.library, "lib-name")
    } else if args.is(2, "LIB-VER") {
        (&mut home.session.library_version, "lib-ver")
    } else {
        reply.error_fmt(format_args!("ERR Unrecognized option '{}'", args.text(2)));
        return After::Done;
    };
    if good_name(value) {
        *place = value.to_vec();
        reply.ok();
    } else {
        reply.error_fmt(format_args!("ERR {name} cannot contain spaces, newlines or special characters."));
    }
    After::Done
}

fn info(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let mut line = Vec::new();
    let now = home.house.now_ms();
    client_list::describe(home.session, home.house.catalog(), now, Some(args), &mut line);
    reply.verbatim("txt", &line);
    After::Done
}

fn on_or_off(args: Args<'_>, reply: &mut Reply<'_>) -> Option<bool> {
    let answer = if args.is(2, "ON") {
        Some(true)
    } else if args.is(2, "OFF") {
        Some(false)
    } else {
        None
    };
    match answer {
        Some(_) => reply.ok(),
        None => reply.error("ERR syntax error"),
    }
    answer
}

fn no_evict(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    if let Some(on) = on_or_off(args, reply) {
        home.session.no_evict = on;
    }
    After::Done
}

fn no_touch(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    if let Some(on) = on_or_off(args, reply) {
        home.session.no_touch = on;
    }
    After::Done
}

fn reply_mode(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let session = &mut *home.session;
    if args.is(2, "ON") {
        session.reply_mode = ReplyMode::On;
        reply.ok();
    } else if args.is(2, "OFF") {
        session.reply_mode = ReplyMode::Off;
    } else if args.is(2, "SKIP") {
        if session.reply_mode != ReplyMode::Off {
            session.reply_mode = ReplyMode::SkipNext;
        }
    } else {
        reply.error("ERR syntax error");
    }
    After::Done
}

static PAUSING: Everywhere =
    Everywhere { lock: Lock::Nothing, prepare: Some(check_pause), part: pause_part, fold: all_ok };
static UNPAUSING: Everywhere =
    Everywhere { lock: Lock::Nothing, prepare: None, part: unpause_part, fold: all_ok };

fn pause_mode(args: Args<'_>) -> Option<PauseMode> {
    match args.len() {
        3 => Some(PauseMode::All),
        4 if args.is(3, "ALL") => Some(PauseMode::All),
        4 if args.is(3, "WRITE") => Some(PauseMode::Write),
        _ => None,
    }
}

fn check_pause(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Go {
    let in_bounds = |ms: i64| ms >= 0 && home.house.now_ms().checked_add(ms).is_some();
    if args.len() > 4 {
        help::refuse("CLIENT", args, reply);
    } else if pause_mode(args).is_none() {
        reply.error("ERR CLIENT PAUSE mode must be WRITE or ALL");
    } else {
        match parse_i64(args.get(2)) {
            Some(ms) if in_bounds(ms) => return Go::On,
            Some(ms) if ms < 0 => reply.error("ERR timeout is negative"),
            Some(_) => reply.error("ERR timeout is out of range"),
            None => reply.error("ERR timeout is not an integer or out of range"),
        }
    }
    Go::Answered
}

fn pause_part(house: &mut dyn House, call: &Call, args: Args<'_>, _: &mut Vec<u8>) {
    let mode = pause_mode(args).unwrap_or(PauseMode::All);
    let until = call.now.saturating_add(parse_i64(args.get(2)).unwrap_or(0));
    house.pause(Some((until, mode)));
}

fn unpause_part(house: &mut dyn House, _: &Call, _: Args<'_>, _: &mut Vec<u8>) {
    house.pause(None);
}

fn all_ok(_: &mut Home<'_>, _: Args<'_>, _: &[&[u8]], reply: &mut Reply<'_>) -> After {
    reply.ok();
    After::Done
}

fn help(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    help::write("CLIENT", LINES, reply)
}

const LINES: &[&str] = &[
    "GETNAME",
    "    Return the name of the current connection.",
    "GETREDIR",
    "    Return the client ID we are redirecting to when tracking is enabled.",
    "ID",
    "    Return the ID of the current connection.",
    "INFO",
    "    Return information about the current client connection.",
    "KILL <ip:port>",
    "    Kill connection made from <ip:port>.",
    "KILL <option> <value> [<option> <value> [...]]",
    "    Kill connections. Options are:",
    "    * ADDR (<ip:port>|<unixsocket>:0)",
    "      Kill connections made from the specified address",
    "    * LADDR (<ip:port>|<unixsocket>:0)",
    "      Kill connections made to specified local address",
    "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
    "      Kill connections by type.",
    "    * USER <username>",
    "      Kill connections authenticated by <username>.",
    "    * SKIPME (YES|NO)",
    "      Skip killing current connection (default: yes).",
    "    * ID <client-id>",
    "      Kill connections by client id.",
    "LIST [options ...]",
    "    Return information about client connections. Options are: TYPE, ID.",
    "NO-EVICT (ON|OFF)",
    "    Protect current client connection from eviction.",
    "NO-TOUCH (ON|OFF)",
    "    Will not touch LRU/LFU stats when this mode is on.",
    "PAUSE <timeout> [WRITE|ALL]",
    "    Suspend all, or just write, clients for <timeout> milliseconds.",
    "REPLY (ON|OFF|SKIP)",
    "    Control the replies sent to the current connection.",
    "SETINFO <option> <value>",
    "    Set client meta attr. Options are: LIB-NAME, LIB-VER.",
    "SETNAME <name>",
    "    Assign the name <name> to the current connection.",
    "UNBLOCK <clientid> [TIMEOUT|ERROR]",
    "    Unblock the specified blocked client.",
    "UNPAUSE",
    "    Stop the current client pause, resuming traffic.",
];
