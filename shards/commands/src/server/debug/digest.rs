//! DEBUG DIGEST and DIGEST-VALUE: a signature of the data that does not depend on the order of keys, so
//! that shards can work it out apart. The recipe is Redis's (its debug.c), so that both agree on it.

use super::part;
use crate::command::{Command, Everywhere, Lock, Run, Spread};
use crate::context::{Args, Ctx};
use crate::home::{After, Call, Home, House};
use resp::Reply;
use sha1_smol::Sha1;
use spec::{Access, Extent, Keys, Start};
use store::{Entry, Item, Kind, Store, Text};

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

/// Takes a value in: its type, its content, whether it expires. What has no order of its own is laid over
/// each other.
fn take_value(digest: &mut Digest, entry: &Entry<'_>) {
    take_in(digest, &type_number(entry.kind()).to_be_bytes());
    if let Some(text) = entry.text() {
        take_text(digest, text);
    }
    let list = entry.kind() == Kind::List;
    entry.each_item(&mut |item| match item {
        Item::Element(text) if list => take_text(digest, text),
        Item::Element(text) => with_bytes(text, &mut |bytes| lay_over(digest, bytes)),
        Item::Field(field, value) => {
            let mut own = Digest::default();
            take_text(&mut own, field);
            take_text(&mut own, value);
            lay_over(digest, &own);
        }
        Item::Scored(member, score) => {
            let mut own = Digest::default();
            take_text(&mut own, member);
            take_in(&mut own, seventeen_digits(score).as_bytes());
            lay_over(digest, &own);
        }
    });
    if entry.expiry().is_some() {
        lay_over(digest, b"!!expire!!");
    }
}

/// A type's number in Redis.
fn type_number(kind: Kind) -> u32 {
    match kind {
        Kind::String => 0,
        Kind::List => 1,
        Kind::Set => 2,
        Kind::SortedSet => 3,
        Kind::Hash => 4,
        Kind::Stream => 6,
    }
}

fn take_text(digest: &mut Digest, text: Text<'_>) {
    with_bytes(text, &mut |bytes| take_in(digest, bytes));
}

fn with_bytes(text: Text<'_>, call: &mut dyn FnMut(&[u8])) {
    match text {
        Text::Int(number) => call(resp::IntegerText::new(number).as_bytes()),
        Text::Bytes(bytes) => call(bytes),
    }
}

/// A double as C's `%.17g` prints it.
fn seventeen_digits(value: f64) -> String {
    const DIGITS: i32 = 17;
    if !value.is_finite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let scientific = format!("{value:.16e}");
    let (digits, exponent) = scientific.split_once('e').expect("the format has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a number");
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..DIGITS).contains(&exponent) {
        let decimals = (DIGITS - 1 - exponent) as usize;
        return trim(&format!("{value:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(digits), exponent.abs())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_printed_with_seventeen_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1, "0.10000000000000001"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (1.5e300, "1.5000000000000001e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1.0000000000000001e-05"),
            (123456.789, "123456.789"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, expected) in cases {
            assert_eq!(seventeen_digits(value), expected);
        }
    }
}
