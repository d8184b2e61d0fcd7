//! DEBUG RELOAD and LOADAOF. Nothing is saved yet: all keys leave the store as they would for a snapshot
//! and come back, without a file between. That tests what travels (values, encodings, times to live),
//! and not that it survives.

use super::part;
use super::small::all_ok;
use crate::command::{Command, Everywhere, Go, Lock, Run};
use crate::context::Args;
use crate::home::{Call, Home, House};
use resp::Reply;
use store::Store;

pub(super) static LOADAOF: Command = part("LOADAOF", Run::Everywhere(&LOADING)).arity(2);
pub(super) static RELOAD: Command = part("RELOAD", Run::Everywhere(&RELOADING)).arity(-2);

static LOADING: Everywhere =
    Everywhere { lock: Lock::Keyspace, prepare: None, part: there_and_back, fold: all_ok };
static RELOADING: Everywhere =
    Everywhere { lock: Lock::Keyspace, prepare: Some(check), part: there_and_back, fold: all_ok };

/// MERGE and NOFLUSH change nothing where the data is what was saved a moment ago. NOSAVE asks for an
/// older file.
fn check(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Go {
    for index in 2..args.len() {
        if args.is(index, "NOSAVE") {
            reply.error("ERR DEBUG RELOAD NOSAVE needs a snapshot to load, and there is none");
            return Go::Answered;
        }
        if !args.is(index, "MERGE") && !args.is(index, "NOFLUSH") {
            reply.error("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
            return Go::Answered;
        }
    }
    Go::On
}

fn there_and_back(house: &mut dyn House, call: &Call, _: Args<'_>, _: &mut Vec<u8>) {
    let store = house.store();
    (0..store.databases()).for_each(|db| reload(store, db, call.now));
}

fn reload(store: &mut Store, db: usize, now: i64) {
    const KEYS_A_STEP: usize = 1000;
    let (mut names, mut cursor) = (Vec::new(), 0);
    loop {
        cursor = store.scan(db, cursor, KEYS_A_STEP, now, &mut |key, _| names.push(key.to_vec()));
        if cursor == 0 {
            break;
        }
    }
    let mut values = Vec::with_capacity(names.len());
    for name in &names {
        let key = store.key(name);
        values.push(store.detach(db, key, now));
    }
    for (name, value) in names.iter().zip(values) {
        if let Some(value) = value {
            let key = store.key(name);
            store.attach(db, key, value);
        }
    }
}
