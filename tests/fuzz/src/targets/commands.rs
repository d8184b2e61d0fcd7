//! Every command with 0 to 8 random arguments, on whole cores of 1, 2 or 3 shards: nothing panics, every
//! command is answered once and in order, and another client is served all the while.
//! It knows from the catalog what commands there are, and from a short list which of them end a talk.

use super::frames::commands_of;
use crate::{Random, Target};
use house::House;
use memory::{MemoryConfig, MemoryWire};
use port::contract::Heard;
use resp::client::{Decoder, Value, encode_command};

/// Any commands from one client.
pub const ANY: Target = Target { name: "commands", run: talk, make: make_talk };
/// The key positions of every declared command.
pub const KEYS: Target = Target { name: "command-keys", run: key_positions, make: make_talk };

/// Ticks in which an answer must have come. A hop takes two, a transaction over shards a few more.
const TICKS_MAX: usize = 200;

/// Commands after which a client may hear nothing, later, or something else: the exact count of answers is
/// not asked for.
const ENDS_A_TALK: [&[u8]; 15] = [
    b"quit",
    b"reply",
    b"kill",
    b"shutdown",
    b"pause",
    b"sleep",
    b"debug",
    b"hello",
    b"tracking",
    // These are answered name by name.
    b"subscribe",
    b"psubscribe",
    b"ssubscribe",
    b"unsubscribe",
    b"punsubscribe",
    b"sunsubscribe",
];

/// The first byte says how many shards there are; the rest is what a client sends.
fn talk(data: &[u8]) {
    let Some((&head, stream)) = data.split_first() else { return };
    let small = MemoryConfig {
        chunk_bytes: 4096,
        receive_chunks: 16,
        send_chunks: 64,
        send_chunks_per_link: 8,
        wire_bytes: 1 << 20,
        backlog: 16,
    };
    let mut house = House::new(1 + usize::from(head % 3), small, |config| {
        // Nobody here needs half a gigabyte of zeros.
        let assigned = config.settings.assign("proto-max-bulk-len", &["1mb"], true);
        assigned.expect("1 MiB is in range");
    });
    let (mut client, mut other) = (house.dial(0), house.dial(0));
    let mut heard = Vec::new();
    let mut rest = stream;
    let mut open = true;
    for _ in 0..TICKS_MAX {
        rest = &rest[client.send(rest)..];
        house.tick();
        house.run_errands();
        open &= client.receive(&mut heard) != Heard::End;
        if !open || rest.is_empty() && answered(stream, &heard) {
            break;
        }
    }
    judge(stream, &heard, open);
    let gone = house.asked_to_end || other_may_be_gone(stream);
    assert!(gone || ping(&mut house, &mut other), "another client is not served");
}

/// As many answers as questions, or more than can be told.
fn answered(stream: &[u8], heard: &[u8]) -> bool {
    match commands_of(stream) {
        Some(commands) => answers(heard).is_some_and(|answers| answers.len() >= commands.len()),
        None => false,
    }
}

/// Everything heard is whole replies, one for each command where that can be told.
fn judge(stream: &[u8], heard: &[u8], open: bool) {
    let answers = answers(heard);
    if !open {
        return;
    }
    let answers = answers.unwrap_or_else(|| panic!("half an answer: {}", heard.escape_ascii()));
    let Some(commands) = commands_of(stream) else { return };
    let ends = |argument: &Vec<u8>| ENDS_A_TALK.iter().any(|word| argument.eq_ignore_ascii_case(word));
    let waits = |command: &Vec<Vec<u8>>| {
        let entry = command.first().and_then(|name| house::catalog().find(name));
        entry.is_some_and(|entry| entry.command.blocks.is_some())
    };
    if commands.iter().flatten().any(ends) || commands.iter().any(waits) {
        return;
    }
    assert_eq!(answers.len(), commands.len(), "{commands:?} are answered by {answers:?}");
}

/// Whole replies; `None` where the last is not whole.
fn answers(heard: &[u8]) -> Option<Vec<Value>> {
    let (mut decoder, mut at, mut values) = (Decoder::default(), 0, Vec::new());
    while at < heard.len() {
        match decoder.next(heard, &mut at) {
            Ok(Some(value)) => values.push(value),
            Ok(None) => return None,
            Err(malformed) => panic!("{malformed}: {}", heard.escape_ascii()),
        }
    }
    Some(values)
}

/// CLIENT KILL takes others along, and a password or the end of all clients shuts them out.
fn other_may_be_gone(stream: &[u8]) -> bool {
    let lower = stream.to_ascii_lowercase();
    [b"kill".as_slice(), b"pause", b"config"]
        .iter()
        .any(|word| lower.windows(word.len()).any(|seen| seen == *word))
}

fn ping(house: &mut House, wire: &mut MemoryWire) -> bool {
    wire.send(b"PING\r\n");
    let mut heard = Vec::new();
    for _ in 0..TICKS_MAX {
        house.tick();
        house.run_errands();
        wire.receive(&mut heard);
        if heard == b"+PONG\r\n" {
            return true;
        }
    }
    false
}

/// Whatever a client sends, the key positions of the command that it names lie among its arguments.
fn key_positions(data: &[u8]) {
    let Some(commands) = data.split_first().and_then(|(_, stream)| commands_of(stream)) else { return };
    for command in commands {
        let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
        let Some(entry) = words.first().and_then(|name| house::catalog().find(name)) else { continue };
        let subcommand = words.get(1).and_then(|name| house::catalog().subcommand(entry, name));
        for keys in subcommand.unwrap_or(entry).command.keys {
            super::keys::check(keys, &words);
        }
    }
}

/// One to four commands of the catalog, each with 0 to 8 arguments.
fn make_talk(random: &mut Random) -> Vec<u8> {
    let entries = house::catalog().entries();
    let mut data = vec![random.draw() as u8];
    for _ in 0..=random.below(4) {
        let entry = &entries[random.below(entries.len())];
        let mut words: Vec<Vec<u8>> =
            entry.full_name.split('|').map(|word| word.as_bytes().to_vec()).collect();
        words.extend((0..random.below(9)).map(|_| random.argument()));
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        encode_command(&words, &mut data);
    }
    data
}
