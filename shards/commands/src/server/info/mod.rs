//! INFO: which sections are asked for, and their order. Each section writes its own lines; none of them
//! knows the others.

mod commands;
mod corelane;
pub(super) mod figures;
mod memory;
mod persistence;
mod server;
mod stats;

use crate::command::{Command, Run};
use crate::context::Args;
use crate::home::{After, Home, House};
use figures::Figures;
use resp::Reply;
use spec::{Argument, ArgumentKind, Flags, Group};

pub(super) static INFO: Command = Command::new("INFO", Group::Server, Run::Home(info))
    .arity(-1)
    .flags(Flags::LOADING.with(Flags::STALE))
    .categories(spec::Categories::DANGEROUS)
    .tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"])
    .summary("1.0.0", "Returns information and statistics about the server.")
    .arguments(&[Argument::new("section", ArgumentKind::String).optional().multiple()]);

/// Writes a section's lines.
type Write = fn(&mut dyn House, &Figures, &mut String);

/// One section.
struct Section {
    /// As it is asked for.
    names: &'static [&'static str],
    title: &'static str,
    /// Shown where no section is asked for.
    is_default: bool,
    write: Write,
}

const fn section(names: &'static [&'static str], title: &'static str, write: Write) -> Section {
    Section { names, title, is_default: true, write }
}

const fn extra(names: &'static [&'static str], title: &'static str, write: Write) -> Section {
    Section { names, title, is_default: false, write }
}

/// All sections in Redis's order, and ours behind them.
static SECTIONS: &[Section] = &[
    section(&["server"], "Server", server::server),
    section(&["clients"], "Clients", server::clients),
    section(&["memory"], "Memory", memory::memory),
    section(&["persistence"], "Persistence", persistence::persistence),
    section(&["stats"], "Stats", stats::stats),
    section(&["replication"], "Replication", server::replication),
    section(&["cpu"], "CPU", server::cpu),
    section(&["modules", "module_list"], "Modules", |_, _, _| ()),
    extra(&["commandstats"], "Commandstats", commands::commandstats),
    section(&["errorstats"], "Errorstats", commands::errorstats),
    extra(&["latencystats"], "Latencystats", commands::latencystats),
    section(&["cluster"], "Cluster", server::cluster),
    section(&["keyspace"], "Keyspace", stats::keyspace),
    section(&["corelane"], "Corelane", corelane::corelane),
];

/// Whether these arguments ask for a section. No argument asks for the default ones.
fn wanted(section: &Section, args: Args<'_>) -> bool {
    if args.len() == 1 {
        return section.is_default;
    }
    args.from(1).any(|word| {
        let is = |name: &&str| word.eq_ignore_ascii_case(name.as_bytes());
        is(&"all")
            || is(&"everything")
            || is(&"default") && section.is_default
            || section.names.iter().any(is)
    })
}

fn info(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let figures = Figures::gather(home.house);
    let mut text = String::with_capacity(8 * 1024);
    for section in SECTIONS.iter().filter(|section| wanted(section, args)) {
        if !text.is_empty() {
            text.push_str("\r\n");
        }
        text.push_str("# ");
        text.push_str(section.title);
        text.push_str("\r\n");
        (section.write)(home.house, &figures, &mut text);
    }
    reply.verbatim("txt", text.as_bytes());
    After::Done
}
