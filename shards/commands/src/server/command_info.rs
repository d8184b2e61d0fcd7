//! COMMAND and COMMAND INFO: a command's ten fields. Knows how Redis lays them out, nothing of what
//! commands do.

use crate::catalog::{Catalog, Entry};
use crate::context::Args;
use crate::home::{After, Home};
use resp::Reply;
use spec::{Extent, Flags, Keys, Start};

/// Flags that Redis keeps to itself.
const UNSHOWN: Flags = Flags::PROTECTED.with(Flags::TOUCHES_ARBITRARY_KEYS).with(Flags::MAY_REPLICATE);

/// COMMAND: all of them.
pub(super) fn all(home: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    let catalog = home.house.catalog();
    reply.array(catalog.commands().len());
    catalog.commands().iter().for_each(|entry| describe(catalog, entry, reply));
    After::Done
}

/// COMMAND INFO: those that are named, or all.
pub(super) fn some(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    if args.len() == 2 {
        return all(home, args, reply);
    }
    let catalog = home.house.catalog();
    reply.array(args.len() - 2);
    for name in args.from(2) {
        match catalog.find_full(name) {
            Some(entry) if !catalog.is_hidden(entry) => describe(catalog, entry, reply),
            _ => reply.null_array(),
        }
    }
    After::Done
}

fn describe(catalog: &Catalog, entry: &Entry, reply: &mut Reply<'_>) {
    let command = entry.command;
    reply.array(10);
    reply.bulk_text(&entry.full_name);
    reply.integer(i64::from(command.arity));
    let flags: Vec<&str> = Flags(command.flags.0 & !UNSHOWN.0).names().collect();
    reply.set(flags.len());
    flags.iter().for_each(|flag| reply.simple(flag));
    let (first, last, step) = entry.legacy_keys();
    [first, last, step].into_iter().for_each(|number| reply.integer(number));
    let categories: Vec<&str> = command.all_categories().names().collect();
    reply.set(categories.len());
    categories.iter().for_each(|category| reply.simple(&format!("@{category}")));
    reply.set(command.tips.len());
    command.tips.iter().for_each(|tip| reply.bulk_text(tip));
    reply.set(command.keys.len());
    command.keys.iter().for_each(|keys| key_spec(keys, reply));
    if entry.subcommands.is_empty() || command.hidden_subcommands {
        reply.set(0);
        return;
    }
    reply.array(entry.subcommands.len());
    entry.subcommands.iter().for_each(|number| describe(catalog, catalog.entry(*number), reply));
}

fn key_spec(keys: &Keys, reply: &mut Reply<'_>) {
    reply.map(3 + usize::from(keys.notes.is_some()));
    if let Some(notes) = keys.notes {
        reply.bulk_text("notes");
        reply.bulk_text(notes);
    }
    reply.bulk_text("flags");
    access(keys, reply);
    reply.bulk_text("begin_search");
    reply.map(2);
    reply.bulk_text("type");
    match keys.start {
        Start::Index(index) => {
            reply.bulk_text("index");
            reply.bulk_text("spec");
            numbers(&[("index", i64::from(index))], reply);
        }
        Start::Unknown | Start::Option(_) => unknown(reply),
        Start::Keyword(word, from) => {
            reply.bulk_text("keyword");
            reply.bulk_text("spec");
            reply.map(2);
            reply.bulk_text("keyword");
            reply.bulk_text(word);
            reply.bulk_text("startfrom");
            reply.integer(i64::from(from));
        }
    }
    reply.bulk_text("find_keys");
    reply.map(2);
    reply.bulk_text("type");
    match keys.extent {
        _ if matches!(keys.start, Start::Unknown | Start::Option(_)) => unknown(reply),
        Extent::Range { last, step, limit } => {
            reply.bulk_text("range");
            reply.bulk_text("spec");
            let fields = [("lastkey", last.into()), ("keystep", step.into()), ("limit", limit.into())];
            numbers(&fields, reply);
        }
        Extent::Counted { number, first, step } => {
            reply.bulk_text("keynum");
            reply.bulk_text("spec");
            let fields = [("keynumidx", number.into()), ("firstkey", first.into()), ("keystep", step.into())];
            numbers(&fields, reply);
        }
    }
}

/// What is done with the keys, as a set of words.
pub(super) fn access(keys: &Keys, reply: &mut Reply<'_>) {
    let names: Vec<&str> = keys.access.names().collect();
    reply.set(names.len());
    names.iter().for_each(|name| reply.simple(name));
}

fn unknown(reply: &mut Reply<'_>) {
    reply.bulk_text("unknown");
    reply.bulk_text("spec");
    reply.map(0);
}

fn numbers(fields: &[(&str, i64)], reply: &mut Reply<'_>) {
    reply.map(fields.len());
    for (name, number) in fields {
        reply.bulk_text(name);
        reply.integer(*number);
    }
}
