//! DEBUG DIGEST and DIGEST-VALUE: a signature of the data that does not depend on the order of keys, so
//! that shards can work it out apart. The recipe is Redis's (its debug.c), so that both agree on it.

use super::part;
use crate::command::{Command, Everywhere, Lock, Run, Spread};
use crate::context::{Args, Ctx};
use crate::home::{After, Call, Home, House};
use resp::Reply;
use sha1_smol::Sha1;
use spec::{Access, Extent, Keys, Start};
use store::{Entry, Store, Text};

/// A SHA-1 sum, or several over each other.
type Digest = [u8; 20];

pub(super) static DIGEST: Command = part("DIGEST", Run::Everywhere(&DIGESTING)).arity(2);
pub(super) static DIGEST_VALUE: Command = part("DIGEST-VALUE", Run::Local(digest_values))
    .arity(-3)
    .keys(&[Keys::new(Start::Index(2), Extent::Range { last: -1, step: 1, limit: 0 }, Access::RO)])
    .spread(Spread::InKeyOrder);

static DIGESTING: Everywhere = Everywhere { lock: Lock::Keyspace, prepare: None, part: digest_part, fold };

/// Lays the sum of `bytes` over the digest: in any order.
fn lay_over(digest: &mut Digest, bytes: &[u8]) {
    let sum = Sha1::from(bytes).digest().bytes();
    digest.iter_mut().zip(sum).for_each(|(byte, other)| *byte ^= other);
}

/// Takes `bytes` into the digest: in this order.
fn take_in(digest: &mut Digest, bytes: &[u8]) {
    lay_over(digest, bytes);
    *digest = Sha1::from(*digest).digest().bytes();
}

/// Takes a value in: its type, its content, whether it expires.
fn take_value(digest: &mut Digest, entry: &Entry<'_>) {
    // A string's number in Redis is 0.
    take_in(digest, &0u32.to_be_bytes());
    match entry.text() {
        Some(Text::Int(number)) => take_in(digest, resp::IntegerText::new(number).as_bytes()),
        Some(Text::Bytes(bytes)) => take_in(digest, bytes),
        None => {}
    }
    if entry.expiry().is_some() {
        lay_over(digest, b"!!expire!!");
    }
}

/// A part: for each database its number of keys here (8 bytes) and the digests of its keys over each
/// other.
fn digest_part(house: &mut dyn House, call: &Call, _: Args<'_>, out: &mut Vec<u8>) {
    let store = house.store();
    for db in 0..store.databases() {
        let (keys, digest) = digest_keys(store, db, call.now);
        out.extend_from_slice(&keys.to_le_bytes());
        out.extend_from_slice(&digest);
    }
}

fn digest_keys(store: &mut Store, db: usize, now: i64) -> (u64, Digest) {
    const KEYS_A_STEP: usize = 1000;
    let (mut keys, mut digest, mut cursor) = (0, Digest::default(), 0);
    loop {
        cursor = store.scan(db, cursor, KEYS_A_STEP, now, &mut |key, entry| {
            let mut own = Digest::default();
            take_in(&mut own, key);
            take_value(&mut own, entry);
            lay_over(&mut digest, &own);
            keys += 1;
        });
        if cursor == 0 {
            return (keys, digest);
        }
    }
}

const RECORD: usize = 8 + size_of::<Digest>();

fn fold(home: &mut Home<'_>, _: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    let mut whole = Digest::default();
    for db in 0..home.house.store().databases() {
        let records: Vec<&[u8]> =
            parts.iter().filter_map(|part| part.get(db * RECORD..(db + 1) * RECORD)).collect();
        if records.iter().all(|record| record[..8] == [0; 8]) {
            continue;
        }
        take_in(&mut whole, &(db as u32).to_be_bytes());
        for record in records {
            whole.iter_mut().zip(&record[8..]).for_each(|(byte, other)| *byte ^= other);
        }
    }
    reply.simple(&hexadecimal(&whole));
    After::Done
}

fn digest_values(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, now) = (ctx.db(), ctx.now);
    reply.array(args.len() - first_key(args));
    for name in args.from(first_key(args)) {
        let key = ctx.key(name);
        let mut digest = Digest::default();
        if let Some(entry) = ctx.store.find_untouched(db, key, now) {
            take_value(&mut digest, &entry);
        }
        reply.simple(&hexadecimal(&digest));
    }
}

/// A share of a divided command has one key behind one word; the whole command has two words before its
/// keys.
fn first_key(args: Args<'_>) -> usize {
    args.len().saturating_sub(1).min(2)
}

fn hexadecimal(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
