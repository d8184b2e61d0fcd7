//! COMMAND GETKEYS and GETKEYSANDFLAGS: which arguments of a command are keys. Nothing is run.

use super::command_info::access;
use crate::catalog::Entry;
use crate::context::Args;
use crate::home::{After, Home};
use resp::Reply;
use spec::Keys;

/// Where the words of the other command begin.
const FIRST: usize = 2;

pub(super) fn keys(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    if let Some(found) = find(home, args, reply) {
        reply.array(found.len());
        found.iter().for_each(|(at, _)| reply.bulk(args.get(*at)));
    }
    After::Done
}

pub(super) fn keys_and_flags(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    if let Some(found) = find(home, args, reply) {
        reply.array(found.len());
        for (at, keys) in found {
            reply.array(2);
            reply.bulk(args.get(at));
            access(keys, reply);
        }
    }
    After::Done
}

/// The places of the keys among the arguments, with what is done to them; replies where there are none.
fn find(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Option<Vec<(usize, &'static Keys)>> {
    let count = args.len() - FIRST;
    let catalog = home.house.catalog();
    let found = catalog.find_words(args.get(FIRST), args.get(FIRST + 1));
    let Some(entry) = found.filter(|entry| !entry.is_container()) else {
        reply.error("ERR Invalid command specified");
        return None;
    };
    if !entry.has_keys || catalog.is_hidden(entry) {
        reply.error("ERR The command has no key arguments");
        return None;
    }
    if !entry.command.takes(count) {
        reply.error("ERR Invalid number of arguments specified for command");
        return None;
    }
    let places = positions(entry, args, count);
    if places.is_none() {
        reply.error("ERR Invalid arguments specified for command");
    }
    places
}

/// `None` where the arguments do not hold the keys they promise.
fn positions(entry: &Entry, args: Args<'_>, count: usize) -> Option<Vec<(usize, &'static Keys)>> {
    let mut places = Vec::new();
    for keys in entry.command.keys {
        let seen = keys.visit(count, |at| args.get(FIRST + at), |at| places.push((FIRST + at, keys)));
        seen.ok()?;
    }
    Some(places)
}
