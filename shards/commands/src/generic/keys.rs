//! KEYS and RANDOMKEY: a look at all shards.

use crate::command::{Command, Everywhere, Lock, Run};
use crate::context::Args;
use crate::home::{After, Call, Home, House};
use resp::{Output, Reply, Version};
use spec::{Argument, ArgumentKind, Categories, Flags, Group, glob};

pub(super) static KEYS: Command = Command::new(
    "KEYS",
    Group::Generic,
    Run::Everywhere(&Everywhere { lock: Lock::Nothing, prepare: None, part: keys, fold: fold_keys }),
)
.arity(2)
.flags(Flags::READONLY)
.categories(Categories::KEYSPACE.with(Categories::DANGEROUS))
.summary("1.0.0", "Returns all key names that match a pattern.")
.complexity(
    "O(N) with N being the number of keys in the database, under the assumption that the key names in the \
     database and the given pattern have limited length.",
)
.tips(&["request_policy:all_shards", "nondeterministic_output_order"])
.arguments(&[Argument::new("pattern", ArgumentKind::Pattern)]);

pub(super) static RANDOMKEY: Command = Command::new(
    "RANDOMKEY",
    Group::Generic,
    Run::Everywhere(&Everywhere {
        lock: Lock::Nothing,
        prepare: None,
        part: random_key,
        fold: fold_random_key,
    }),
)
.flags(Flags::READONLY)
.categories(Categories::KEYSPACE)
.summary("1.0.0", "Returns a random key name from the database.")
.tips(&["request_policy:all_shards", "nondeterministic_output"]);

/// Keys visited between two looks at whether the walk is over.
const KEYS_PER_STEP: usize = 1024;

/// A number in front of a part, eight bytes.
fn head(part: &[u8]) -> (u64, &[u8]) {
    match part.split_first_chunk() {
        Some((number, rest)) => (u64::from_le_bytes(*number), rest),
        None => (0, &[]),
    }
}

/// A part is how many keys match, and each of them as a bulk string. The walk visits every key of the
/// database and is not interrupted: like Redis's, it takes as long as there are keys (a few million a
/// second and shard), and all shards are at it at once. SCAN is the bounded way.
fn keys(house: &mut dyn House, call: &Call, args: Args<'_>, out: &mut Vec<u8>) {
    let ctx = house.ctx(call.caller);
    let (db, pattern) = (ctx.db(), args.get(1));
    let all = glob::matches_all(pattern);
    let mut written = Output::from(std::mem::take(out));
    written.extend_from_slice(&[0; 8]);
    let (mut cursor, mut found) = (0, 0u64);
    loop {
        let mut list = Reply::new(&mut written, Version::Resp2);
        cursor = ctx.store.scan(db, cursor, KEYS_PER_STEP, ctx.now, &mut |key, _| {
            if all || glob::glob_match(pattern, key, false) {
                list.bulk(key);
                found += 1;
            }
        });
        if cursor == 0 {
            break;
        }
    }
    written[..8].copy_from_slice(&found.to_le_bytes());
    *out = written.into_bytes();
}

fn fold_keys(_: &mut Home<'_>, _: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    reply.array(parts.iter().map(|part| head(part).0 as usize).sum());
    parts.iter().for_each(|part| reply.raw(head(part).1));
    After::Done
}

/// A part is how many keys there are, and one of them; nothing where none was found.
fn random_key(house: &mut dyn House, call: &Call, _: Args<'_>, out: &mut Vec<u8>) {
    let ctx = house.ctx(call.caller);
    let db = ctx.db();
    let random = ctx.random;
    if let Some(key) = ctx.store.random(db, &mut || random.draw(), ctx.now).map(<[u8]>::to_vec) {
        out.extend_from_slice(&(ctx.store.len(db) as u64).to_le_bytes());
        out.extend_from_slice(&key);
    }
}

/// Draws a shard by how many keys it has: then every key is as likely.
fn fold_random_key(home: &mut Home<'_>, _: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    let total: u64 = parts.iter().map(|part| head(part).0).sum();
    if total == 0 {
        reply.null();
        return After::Done;
    }
    let mut draw = home.house.random().below(total);
    for (keys, name) in parts.iter().map(|part| head(part)) {
        if draw < keys {
            reply.bulk(name);
            break;
        }
        draw -= keys;
    }
    After::Done
}
