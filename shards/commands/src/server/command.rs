//! COMMAND: what commands there are. All answers come from the declarations. Its INFO, DOCS and GETKEYS
//! are in files of their own.

use super::{command_docs, command_info, command_keys};
use crate::catalog::Entry;
use crate::command::{Command, Run};
use crate::context::Args;
use crate::help;
use crate::home::{After, Home};
use crate::number::SYNTAX;
use resp::Reply;
use spec::glob::glob_match;
use spec::{Argument, ArgumentKind, Categories, Flags, Group};

/// Every part of COMMAND may be asked at any time, and is filed under connections.
const ASKED: Flags = Flags::LOADING.with(Flags::STALE);
const UNORDERED: &[&str] = &["nondeterministic_output_order"];
const COST: &str = "O(N) where N is the total number of Redis commands";
const COST_OF_NAMES: &str = "O(N) where N is the number of commands to look up";
const COST_OF_WORDS: &str = "O(N) where N is the number of arguments to the command";
const NAMES: &[Argument] = &[Argument::new("command-name", ArgumentKind::String).optional().multiple()];
const WORDS: &[Argument] = &[
    Argument::new("command", ArgumentKind::String),
    Argument::new("arg", ArgumentKind::String).optional().multiple(),
];

const fn part(name: &'static str, run: Run) -> Command {
    Command::new(name, Group::Server, run).flags(ASKED).categories(Categories::CONNECTION)
}

pub(super) static COMMAND: Command = part("COMMAND", Run::Home(command_info::all))
    .arity(-1)
    .tips(UNORDERED)
    .summary("2.8.13", "Returns detailed information about all commands.")
    .complexity(COST)
    .subcommands(&[&COUNT, &DOCS, &GETKEYS, &GETKEYSANDFLAGS, &HELP, &INFO, &LIST]);

static COUNT: Command =
    part("COUNT", Run::Home(count)).arity(2).summary("2.8.13", "Returns a count of commands.");
static DOCS: Command = part("DOCS", Run::Home(command_docs::docs))
    .arity(-2)
    .tips(UNORDERED)
    .summary("7.0.0", "Returns documentary information about one, multiple or all commands.")
    .complexity(COST_OF_NAMES)
    .arguments(NAMES);
static GETKEYS: Command = part("GETKEYS", Run::Home(command_keys::keys))
    .arity(-3)
    .summary("2.8.13", "Extracts the key names from an arbitrary command.")
    .complexity(COST_OF_WORDS)
    .arguments(WORDS);
static GETKEYSANDFLAGS: Command = part("GETKEYSANDFLAGS", Run::Home(command_keys::keys_and_flags))
    .arity(-3)
    .summary("7.0.0", "Extracts the key names and access flags for an arbitrary command.")
    .complexity(COST_OF_WORDS)
    .arguments(WORDS);
static HELP: Command = part("HELP", Run::Home(help))
    .arity(2)
    .summary("5.0.0", "Returns helpful text about the different subcommands.");
static INFO: Command = part("INFO", Run::Home(command_info::some))
    .arity(-2)
    .tips(UNORDERED)
    .summary("2.8.13", "Returns information about one, multiple or all commands.")
    .complexity(COST_OF_NAMES)
    .arguments(NAMES);
static LIST: Command = part("LIST", Run::Home(list))
    .arity(-2)
    .tips(UNORDERED)
    .summary("7.0.0", "Returns a list of command names.")
    .complexity(COST)
    .arguments(&[Argument::one_of(
        "filterby",
        &[
            Argument::new("module-name", ArgumentKind::String).token("MODULE"),
            Argument::new("category", ArgumentKind::String).token("ACLCAT"),
            Argument::new("pattern", ArgumentKind::Pattern).token("PATTERN"),
        ],
    )
    .token("FILTERBY")
    .optional()]);

fn help(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    help::write(
        "COMMAND",
        &[
            "(no subcommand)",
            "    Return details about all Redis commands.",
            "COUNT",
            "    Return the total number of commands in this Redis server.",
            "LIST",
            "    Return a list of all commands in this Redis server.",
            "INFO [<command-name> ...]",
            "    Return details about multiple Redis commands.",
            "    If no command names are given, documentation details for all",
            "    commands are returned.",
            "DOCS [<command-name> ...]",
            "    Return documentation details about multiple Redis commands.",
            "    If no command names are given, documentation details for all",
            "    commands are returned.",
            "GETKEYS <full-command>",
            "    Return the keys from a full Redis command.",
            "GETKEYSANDFLAGS <full-command>",
            "    Return the keys and the access flags from a full Redis command.",
        ],
        reply,
    )
}

fn count(home: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    reply.integer(home.house.catalog().commands().len() as i64);
    After::Done
}

/// What COMMAND LIST is narrowed to.
enum Filter<'a> {
    /// Commands of a module: there are none.
    Module,
    Category(&'a [u8]),
    Pattern(&'a [u8]),
}

impl Filter<'_> {
    fn takes(&self, entry: &Entry) -> bool {
        match self {
            Filter::Module => false,
            Filter::Category(wanted) => entry
                .command
                .all_categories()
                .names()
                .any(|category| category.as_bytes().eq_ignore_ascii_case(wanted)),
            Filter::Pattern(pattern) => glob_match(pattern, entry.full_name.as_bytes(), true),
        }
    }
}

/// Without a filter the commands alone; with one, subcommands too.
fn list(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let catalog = home.house.catalog();
    let filter = match args.len() {
        2 => None,
        5 if args.is(2, "FILTERBY") && args.is(3, "MODULE") => Some(Filter::Module),
        5 if args.is(2, "FILTERBY") && args.is(3, "ACLCAT") => Some(Filter::Category(args.get(4))),
        5 if args.is(2, "FILTERBY") && args.is(3, "PATTERN") => Some(Filter::Pattern(args.get(4))),
        _ => {
            reply.error(SYNTAX);
            return After::Done;
        }
    };
    let found: Vec<&Entry> = match &filter {
        None => catalog.commands().iter().collect(),
        Some(filter) => {
            let shown = |entry: &&Entry| !catalog.is_hidden(entry) && filter.takes(entry);
            catalog.entries().iter().filter(shown).collect()
        }
    };
    reply.array(found.len());
    found.iter().for_each(|entry| reply.bulk_text(&entry.full_name));
    After::Done
}
