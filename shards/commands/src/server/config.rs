//! CONFIG: settings read, changed and written back, and statistics begun anew. Knows no setting by name
//! but those that the house has to carry out.

use crate::command::{Command, Everywhere, Go, Lock, Run};
use crate::context::Args;
use crate::generic::use_note;
use crate::help;
use crate::home::{After, Call, Home, House, Job, SessionState};
use crate::number::SYNTAX;
use resp::Reply;
use spec::setting::{Permit, Refusal};
use spec::{Argument, ArgumentKind, Flags, Group, Settings};

/// What nearly every subcommand is.
const OPERATOR: Flags = Flags::ADMIN.with(Flags::NOSCRIPT).with(Flags::LOADING).with(Flags::STALE);
const ALL_NODES: &[&str] = &["request_policy:all_nodes", "response_policy:all_succeeded"];

/// Settings that can fail outside the shards: the house carries a change out before any shard learns of it.
const HOUSE_FIRST: &[&str] = &["port", "bind", "dir", "maxclients"];
/// Settings that the house obeys too, once they are changed.
const HOUSE_AFTER: &[&str] = &["loglevel", "shutdown-timeout"];

const fn part(name: &'static str, run: Run) -> Command {
    Command::new(name, Group::Server, run).flags(OPERATOR)
}

pub(super) static CONFIG: Command = Command::new("CONFIG", Group::Server, Run::Container)
    .arity(-2)
    .summary("2.0.0", "A container for server configuration commands.")
    .complexity("Depends on subcommand.")
    .subcommands(&[&GET, &HELP, &RESETSTAT, &REWRITE, &SET]);

static GET: Command = part("GET", Run::Home(get))
    .arity(-3)
    .summary("2.0.0", "Returns the effective values of configuration parameters.")
    .complexity("O(N) when N is the number of configuration parameters provided")
    .arguments(&[Argument::new("parameter", ArgumentKind::String).multiple()]);
static HELP: Command = part("HELP", Run::Home(help))
    .arity(2)
    .flags(Flags::LOADING.with(Flags::STALE))
    .summary("5.0.0", "Returns helpful text about the different subcommands.");
static RESETSTAT: Command = part("RESETSTAT", Run::Everywhere(&RESETTING))
    .arity(2)
    .tips(ALL_NODES)
    .summary("2.0.0", "Resets the server's statistics.");
static REWRITE: Command = part("REWRITE", Run::Home(rewrite))
    .arity(2)
    .tips(ALL_NODES)
    .summary("2.8.0", "Persists the effective configuration to file.");
static SET: Command = part("SET", Run::Everywhere(&SETTING))
    .arity(-4)
    .tips(ALL_NODES)
    .summary("2.0.0", "Sets configuration parameters in-flight.")
    .complexity("O(N) when N is the number of configuration parameters provided")
    .arguments(&[Argument::block(
        "data",
        &[Argument::new("parameter", ArgumentKind::String), Argument::new("value", ArgumentKind::String)],
    )
    .multiple()]);

static RESETTING: Everywhere =
    Everywhere { lock: Lock::Nothing, prepare: None, part: reset_part, fold: all_ok };

/// Under the lock of the whole keyspace, so that two clients who set one setting on different shards are
/// put in one order everywhere.
static SETTING: Everywhere =
    Everywhere { lock: Lock::Keyspace, prepare: Some(prepare), part: set_part, fold: fold_set };

fn get(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let patterns: Vec<&[u8]> = args.from(2).collect();
    let found = home.house.settings().get(&patterns);
    reply.map(found.len());
    for (name, value) in found {
        reply.bulk_text(&name);
        reply.bulk_text(&value);
    }
    After::Done
}

fn pairs<'a>(args: Args<'a>) -> Vec<(&'a [u8], &'a [u8])> {
    (2..args.len()).step_by(2).map(|at| (args.get(at), args.get(at + 1))).collect()
}

/// Whether this client may change settings that a stranger could do harm with.
fn may_change_protected(session: &SessionState, settings: &Settings) -> bool {
    match settings.live.enable_protected_configs {
        Permit::Yes => true,
        Permit::Local => session.is_local(),
        Permit::No => false,
    }
}

/// Tries the pairs on a copy. What the house has to carry out first is handed to it, where it changes.
fn prepare(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Go {
    if !args.len().is_multiple_of(2) {
        reply.error(SYNTAX);
        return Go::Answered;
    }
    let before = home.house.settings();
    let mut after = before.clone();
    let changed = match after.set(&pairs(args), may_change_protected(home.session, before)) {
        Ok(changed) => changed,
        Err(refusal) => {
            refuse(&refusal, reply);
            return Go::Answered;
        }
    };
    let moved = |name: &&'static str| HOUSE_FIRST.contains(name) && before.value(name) != after.value(name);
    let names: Vec<&'static str> = changed.iter().map(|setting| setting.name).filter(moved).collect();
    if names.is_empty() {
        return Go::On;
    }
    Go::After(Job::ApplySettings { names, settings: Box::new(after) })
}

fn refuse(refusal: &Refusal, reply: &mut Reply<'_>) {
    reply.error_fmt(format_args!("ERR {refusal}"));
}

/// A shard writes the error where it refuses: another client was faster. All shards do so alike.
fn set_part(house: &mut dyn House, _: &Call, args: Args<'_>, out: &mut Vec<u8>) {
    let changed = match house.settings_mut().set(&pairs(args), true) {
        Ok(changed) => changed,
        Err(refusal) => {
            out.extend_from_slice(refusal.to_string().as_bytes());
            return;
        }
    };
    let note = use_note(&house.settings().live);
    house.store().note_uses(note);
    if house.shard() != 0 {
        return;
    }
    for setting in changed.iter().filter(|setting| HOUSE_AFTER.contains(&setting.name)) {
        let value = setting.kind.print(house.settings().value(setting.name));
        house.order(Job::SettingChanged(setting.name, value));
    }
}

fn fold_set(_: &mut Home<'_>, _: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    match parts.first() {
        Some(refusal) if !refusal.is_empty() => {
            reply.error_bytes(&[b"ERR ".as_slice(), refusal].concat());
        }
        _ => reply.ok(),
    }
    After::Done
}

fn reset_part(house: &mut dyn House, _: &Call, _: Args<'_>, _: &mut Vec<u8>) {
    house.reset_totals();
}

fn all_ok(_: &mut Home<'_>, _: Args<'_>, _: &[&[u8]], reply: &mut Reply<'_>) -> After {
    reply.ok();
    After::Done
}

fn rewrite(home: &mut Home<'_>, _: Args<'_>, _: &mut Reply<'_>) -> After {
    After::Work(Job::RewriteConfig(Box::new(home.house.settings().clone())))
}

fn help(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    help::write(
        "CONFIG",
        &[
            "GET <pattern>",
            "    Return parameters matching the glob-like <pattern> and their values.",
            "SET <directive> <value>",
            "    Set the configuration <directive> to <value>.",
            "RESETSTAT",
            "    Reset statistics reported by the INFO command.",
            "REWRITE",
            "    Rewrite the configuration file.",
        ],
        reply,
    )
}
