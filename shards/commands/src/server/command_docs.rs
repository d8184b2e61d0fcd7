//! COMMAND DOCS: what a command is for and which arguments it takes, as interactive clients show it.

use crate::catalog::{Catalog, Entry};
use crate::context::Args;
use crate::home::{After, Home};
use resp::Reply;
use spec::{Argument, ArgumentKind};

/// Those that are named and that there are, or all.
pub(super) fn docs(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let catalog = home.house.catalog();
    let entries: Vec<&Entry> = if args.len() == 2 {
        catalog.commands().iter().collect()
    } else {
        args.from(2)
            .filter_map(|name| catalog.find_full(name))
            .filter(|entry| !catalog.is_hidden(entry))
            .collect()
    };
    reply.map(entries.len());
    entries.iter().for_each(|entry| document(catalog, entry, reply));
    After::Done
}

fn document(catalog: &Catalog, entry: &Entry, reply: &mut Reply<'_>) {
    let command = entry.command;
    reply.bulk_text(&entry.full_name);
    let fields = reply.defer();
    let mut count = 0;
    let mut pair = |name: &str, value: &str, reply: &mut Reply<'_>| {
        reply.bulk_text(name);
        reply.bulk_text(value);
        count += 1;
    };
    pair("summary", command.summary, reply);
    pair("since", command.since, reply);
    pair("group", command.group.name(), reply);
    if !command.complexity.is_empty() {
        pair("complexity", command.complexity, reply);
    }
    if let Some((since, instead)) = command.deprecated {
        reply.bulk_text("doc_flags");
        reply.set(1);
        reply.simple("deprecated");
        pair("deprecated_since", since, reply);
        pair("replaced_by", instead, reply);
        count += 1;
    }
    if !command.arguments.is_empty() {
        reply.bulk_text("arguments");
        arguments(command.arguments, &mut KeySpecs { next: 0, count: command.keys.len() }, reply);
        count += 1;
    }
    if !entry.subcommands.is_empty() && !command.hidden_subcommands {
        reply.bulk_text("subcommands");
        reply.map(entry.subcommands.len());
        entry.subcommands.iter().for_each(|number| document(catalog, catalog.entry(*number), reply));
        count += 1;
    }
    reply.settle_map(fields, count);
}

/// Which key spec an argument that is a key belongs to: they come in the order of the specs, and the
/// last spec takes all that are left.
struct KeySpecs {
    next: usize,
    count: usize,
}

impl KeySpecs {
    fn of(&mut self, argument: &Argument) -> Option<usize> {
        if argument.kind != ArgumentKind::Key {
            return None;
        }
        let spec = self.next.min(self.count.checked_sub(1)?);
        self.next += 1;
        Some(spec)
    }
}

fn arguments(list: &[Argument], specs: &mut KeySpecs, reply: &mut Reply<'_>) {
    reply.array(list.len());
    list.iter().for_each(|argument| describe(argument, specs, reply));
}

fn describe(argument: &Argument, specs: &mut KeySpecs, reply: &mut Reply<'_>) {
    let fields = reply.defer();
    let mut count = 0;
    let mut pair = |name: &str, value: &str, reply: &mut Reply<'_>| {
        reply.bulk_text(name);
        reply.bulk_text(value);
        count += 1;
    };
    pair("name", argument.name, reply);
    pair("type", argument.kind.name(), reply);
    if argument.parts.is_empty() {
        pair("display_text", argument.name, reply);
    }
    if let Some(spec) = specs.of(argument) {
        reply.bulk_text("key_spec_index");
        reply.integer(spec as i64);
        count += 1;
    }
    if let Some(token) = argument.token {
        reply.bulk_text("token");
        reply.bulk_text(token);
        count += 1;
    }
    if let Some(since) = argument.since {
        reply.bulk_text("since");
        reply.bulk_text(since);
        count += 1;
    }
    let flags = [
        (argument.optional, "optional"),
        (argument.multiple, "multiple"),
        (argument.multiple_token, "multiple_token"),
    ];
    let flags: Vec<&str> = flags.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
    if !flags.is_empty() {
        reply.bulk_text("flags");
        reply.set(flags.len());
        flags.iter().for_each(|flag| reply.simple(flag));
        count += 1;
    }
    if !argument.parts.is_empty() {
        reply.bulk_text("arguments");
        arguments(argument.parts, specs, reply);
        count += 1;
    }
    reply.settle_map(fields, count);
}
