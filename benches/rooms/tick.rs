//! The whole life of a request, from a client's bytes to its reply's, in batches of 64 from one
//! connection: alone on one shard, and on two, where keys live here or away.
//! A step is one request.

use crate::Room;
use house::House;
use memory::{MemoryConfig, MemoryWire};
use port::contract::Heard;
use std::hint::black_box;

/// GET hits of 16-byte keys: the target of the whole path.
pub(crate) const GET: Room =
    Room { name: "tick-get", instructions_target: 700.0, build: || requests(1, Where::Any, get) };
/// SET over an old value.
pub(crate) const SET: Room =
    Room { name: "tick-set", instructions_target: 0.0, build: || requests(1, Where::Any, set) };
/// INCR of a number.
pub(crate) const INCR: Room =
    Room { name: "tick-incr", instructions_target: 0.0, build: || requests(1, Where::Any, incr) };
/// GET hits on two shards, all keys here.
pub(crate) const GET_HERE: Room =
    Room { name: "tick-get-2-here", instructions_target: 0.0, build: || requests(2, Where::Here, get) };
/// GET hits on two shards, all keys on the other one.
pub(crate) const GET_AWAY: Room =
    Room { name: "tick-get-2-away", instructions_target: 0.0, build: || requests(2, Where::Away, get) };
/// MSET of two keys of one shard.
pub(crate) const MSET_HERE: Room =
    Room { name: "tick-mset-2-here", instructions_target: 0.0, build: || requests(2, Where::Here, mset) };
/// MSET of two keys, one on each shard: three times its twin on one.
pub(crate) const MSET_SPLIT: Room = Room {
    name: "tick-mset-2-split",
    instructions_target: 5_100.0,
    build: || requests(2, Where::Both, mset),
};

const BATCH: usize = 64;
const KEYS: usize = 1_024;

/// On which shard the keys of a request live; the client is on shard 0.
#[derive(Clone, Copy)]
enum Where {
    Any,
    Here,
    Away,
    Both,
}

/// Keys of 16 bytes and their shards.
fn keys(shards: u16, place: Where) -> Vec<Vec<u8>> {
    let owner = |key: &[u8]| spec::owner_of(spec::slot_of(key), shards);
    let mut wanted = (0..KEYS).map(|index| match place {
        Where::Any => None,
        Where::Here => Some(0),
        Where::Away => Some(1),
        Where::Both => Some(index as u16 % 2),
    });
    let mut next = wanted.next();
    let mut keys = Vec::new();
    for number in 0.. {
        let Some(place) = next else { break };
        let key = format!("key:{number:012}").into_bytes();
        if place.is_none_or(|shard| owner(&key) == shard) {
            keys.push(key);
            next = wanted.next();
        }
    }
    keys
}

fn get(keys: &[Vec<u8>], at: usize) -> Vec<&[u8]> {
    vec![b"GET", &keys[at]]
}

fn set(keys: &[Vec<u8>], at: usize) -> Vec<&[u8]> {
    vec![b"SET", &keys[at], b"fedcba9876543210"]
}

fn incr(keys: &[Vec<u8>], at: usize) -> Vec<&[u8]> {
    vec![b"INCR", &keys[at]]
}

/// With `Where::Both` one key of each shard. No two requests of a batch have a key in common.
fn mset(keys: &[Vec<u8>], at: usize) -> Vec<&[u8]> {
    let other = (at + BATCH + 1) % KEYS;
    vec![b"MSET", &keys[at], b"fedcba9876543210", &keys[other], b"fedcba9876543210"]
}

type Ask = for<'a> fn(&'a [Vec<u8>], usize) -> Vec<&'a [u8]>;

fn requests(shards: u16, place: Where, ask: Ask) -> Box<dyn FnMut(u64)> {
    let keys = keys(shards, place);
    let mut house = House::new(usize::from(shards), MemoryConfig::default(), |_| ());
    let mut wire = house.dial(0);
    let value: &[u8] = if counts(ask, &keys) { b"1000000000000000" } else { b"0123456789abcdef" };
    for batch in keys.chunks(BATCH) {
        let mut bytes = Vec::new();
        for key in batch {
            resp::client::encode_command(&[b"SET", key, value], &mut bytes);
        }
        converse(&mut house, &mut wire, &bytes, b"+OK\r\n".len() * batch.len());
    }
    let batches: Vec<Batch> =
        (0..KEYS / BATCH).map(|batch| Batch::new(&mut house, &mut wire, &keys, batch, ask)).collect();
    Box::new(move |steps| {
        for batch in batches.iter().cycle().take(steps as usize / BATCH) {
            converse(&mut house, &mut wire, black_box(&batch.bytes), batch.reply_bytes);
        }
    })
}

/// INCR wants a number.
fn counts(ask: Ask, keys: &[Vec<u8>]) -> bool {
    ask(keys, 0)[0] == b"INCR"
}

/// 64 requests, and how long their replies are.
struct Batch {
    bytes: Vec<u8>,
    reply_bytes: usize,
}

impl Batch {
    fn new(house: &mut House, wire: &mut MemoryWire, keys: &[Vec<u8>], batch: usize, ask: Ask) -> Batch {
        let (mut bytes, mut reply_bytes) = (Vec::new(), 0);
        for at in batch * BATCH..(batch + 1) * BATCH {
            let mut request = Vec::new();
            resp::client::encode_command(&ask(keys, at), &mut request);
            reply_bytes += reply_to(house, wire, &request);
            bytes.append(&mut request);
        }
        Batch { bytes, reply_bytes }
    }
}

/// Sends, and ticks until so many bytes of replies have come.
fn converse(house: &mut House, wire: &mut MemoryWire, bytes: &[u8], reply_bytes: usize) {
    assert_eq!(wire.send(bytes), bytes.len(), "the wire holds a batch");
    let mut heard = 0;
    while heard < reply_bytes {
        house.tick();
        if let Heard::Bytes(count) = wire.discard() {
            heard += count;
        }
    }
    assert_eq!(heard, reply_bytes);
}

/// The length of the reply to one request, which must be no error.
fn reply_to(house: &mut House, wire: &mut MemoryWire, request: &[u8]) -> usize {
    assert_eq!(wire.send(request), request.len());
    let mut reply = Vec::new();
    while !reply.ends_with(b"\r\n") {
        house.tick();
        wire.receive(&mut reply);
    }
    // A bulk string may have come with its first line alone.
    (0..8).for_each(|_| house.tick());
    wire.receive(&mut reply);
    assert_ne!(reply[0], b'-', "{}", reply.escape_ascii());
    reply.len()
}
