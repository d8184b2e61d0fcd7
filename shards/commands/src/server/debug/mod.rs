//! DEBUG: what test suites and the curious need. Its parts are declared as subcommands, so that those
//! about a key run where the key is; COMMAND does not list them, as Redis does not.

mod data;
mod digest;
mod object;
mod populate;
mod protocol;
mod small;
mod table;

use crate::command::{Command, Run};
use crate::context::Args;
use crate::help;
use crate::home::{After, Home};
use resp::Reply;
use spec::{Flags, Group};

/// All parts are an operator's, and need `enable-debug-command`.
const FLAGS: Flags =
    Flags::ADMIN.with(Flags::NOSCRIPT).with(Flags::LOADING).with(Flags::STALE).with(Flags::PROTECTED);

pub(super) static DEBUG: Command = Command::new("DEBUG", Group::Server, Run::Container)
    .arity(-2)
    .flags(FLAGS)
    .summary("1.0.0", "A container for debugging commands.")
    .complexity("Depends on subcommand.")
    .hide_subcommands()
    .subcommands(&[
        &small::AOF_FLUSH_SLEEP,
        &small::ASSERT,
        &small::CHANGE_REPL_ID,
        &small::DICT_RESIZING,
        &digest::DIGEST,
        &digest::DIGEST_VALUE,
        &small::ERROR,
        &HELP,
        &table::HTSTATS,
        &table::HTSTATS_KEY,
        &data::LOADAOF,
        &small::LOG,
        &object::OBJECT,
        &small::PANIC,
        &small::PAUSE_CRON,
        &populate::POPULATE,
        &protocol::PROTOCOL,
        &small::QUICKLIST_PACKED_THRESHOLD,
        &data::RELOAD,
        &small::REPLYBUFFER,
        &small::SEGFAULT,
        &small::SET_ACTIVE_EXPIRE,
        &small::SET_DISABLE_DENY_SCRIPTS,
        &small::SET_SKIP_CHECKSUM_VALIDATION,
        &small::SLEEP,
        &small::STRINGMATCH_TEST,
        &small::STRUCTSIZE,
    ]);

/// A part of DEBUG.
const fn part(name: &'static str, run: Run) -> Command {
    Command::new(name, Group::Server, run).flags(FLAGS)
}

static HELP: Command = part("HELP", Run::Home(help)).arity(2);

fn help(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    help::write("DEBUG", LINES, reply)
}

const LINES: &[&str] = &[
    "ASSERT",
    "    Crash by assertion failed.",
    "CHANGE-REPL-ID",
    "    Accepted, without effect.",
    "DICT-RESIZING <0|1>",
    "    Accepted, without effect.",
    "DIGEST",
    "    Output a hex signature representing the current DB content.",
    "DIGEST-VALUE <key> [<key> ...]",
    "    Output a hex signature of the values of all the specified keys.",
    "ERROR <string>",
    "    Return a Redis protocol error with <string> as message. Useful for clients",
    "    unit tests to simulate Redis errors.",
    "HTSTATS <dbid> [full]",
    "    Return hash table statistics of the specified database, shard by shard.",
    "HTSTATS-KEY <key>",
    "    Like HTSTATS but for the hash table stored at <key>'s value.",
    "LOADAOF",
    "    Take all keys out and put them back in. There is no journal yet.",
    "LOG <message>",
    "    Write <message> to the server log.",
    "OBJECT <key>",
    "    Show low level info about `key` and associated value.",
    "PANIC",
    "    Crash the server simulating a panic.",
    "PAUSE-CRON <0|1>",
    "    Stop periodic work: active expiry, looking for idle clients.",
    "POPULATE <count> [<prefix>] [<size>]",
    "    Create <count> string keys named key:<num>. If <prefix> is specified then",
    "    it is used instead of the 'key' prefix.",
    "PROTOCOL <type>",
    "    Reply with a test value of the specified type. <type> can be: string,",
    "    integer, double, bignum, null, array, set, map, attrib, push, verbatim,",
    "    true, false.",
    "QUICKLIST-PACKED-THRESHOLD <size>",
    "    Accepted, without effect.",
    "RELOAD [option ...]",
    "    Take all keys out and put them back in. There is no snapshot yet.",
    "REPLYBUFFER <PEAK-RESET-TIME|RESIZING> <value>",
    "    Accepted, without effect.",
    "SEGFAULT",
    "    Crash the server.",
    "SET-ACTIVE-EXPIRE <0|1>",
    "    Setting it to 0 disables expiring keys in background when they are not",
    "    accessed. Setting it to 1 reenables back the default.",
    "SET-DISABLE-DENY-SCRIPTS <0|1>",
    "    Accepted, without effect.",
    "SET-SKIP-CHECKSUM-VALIDATION <0|1>",
    "    Accepted, without effect.",
    "SLEEP <seconds>",
    "    Hold this client for <seconds>. Decimals allowed. Others go on.",
    "STRINGMATCH-TEST",
    "    Run a fuzz tester against the glob matcher.",
    "STRUCTSIZE",
    "    Return the size of different core structures.",
];
