//! Replies, as a client reads them: any bytes are refused or read, in pieces as in one.
//! It does not know which command a reply answers.

use crate::{Random, Target};
use resp::client::{Decoder, Malformed, Value};
use resp::{Output, Reply, Version};

/// A stream cut anywhere decodes as the whole stream does.
pub const SPLIT: Target = Target { name: "replies-split", run: split, make: make_stream };

fn split(data: &[u8]) {
    let whole = decode(data, data.len().max(1));
    assert_eq!(whole, decode(data, 1), "single bytes tell another story than the whole");
    assert_eq!(whole, decode(data, 7), "pieces tell another story than the whole");
}

/// Values are compared as text: NaN is not equal to itself.
fn decode(stream: &[u8], piece: usize) -> (Vec<String>, Option<Malformed>) {
    let (mut decoder, mut at, mut values) = (Decoder::default(), 0, Vec::new());
    let mut fed = 0;
    while fed < stream.len() {
        fed = (fed + piece).min(stream.len());
        loop {
            match decoder.next(&stream[..fed], &mut at) {
                Ok(Some(value)) => values.push(describe(&value)),
                Ok(None) => break,
                Err(malformed) => return (values, Some(malformed)),
            }
        }
    }
    (values, None)
}

fn describe(value: &Value) -> String {
    format!("{value:?}")
}

fn make_stream(random: &mut Random) -> Vec<u8> {
    let mut stream = Output::default();
    let version = if random.one_in(2) { Version::Resp2 } else { Version::Resp3 };
    let mut reply = Reply::new(&mut stream, version);
    for _ in 0..=random.below(3) {
        write_value(random, &mut reply, 3);
    }
    if random.one_in(2) {
        random.mutate(stream.bytes_mut());
    }
    stream.into_bytes()
}

fn write_value(random: &mut Random, reply: &mut Reply<'_>, depth: usize) {
    match random.below(if depth == 0 { 9 } else { 12 }) {
        0 => reply.ok(),
        1 => reply.error("ERR no"),
        2 => reply.integer(random.draw() as i64),
        3 => reply.bulk(&random.argument()),
        4 => reply.null(),
        5 => reply.double(f64::from_bits(random.draw())),
        6 => reply.boolean(random.one_in(2)),
        7 => reply.verbatim("txt", &random.argument()),
        8 => reply.big_number("1234567999999999999999999999999999999"),
        9 => {
            let len = random.below(4);
            reply.array(len);
            (0..len).for_each(|_| write_value(random, reply, depth - 1));
        }
        10 => {
            let pairs = random.below(3);
            reply.map(pairs);
            (0..2 * pairs).for_each(|_| write_value(random, reply, depth - 1));
        }
        _ => {
            let len = random.below(3);
            reply.set(len);
            (0..len).for_each(|_| write_value(random, reply, depth - 1));
        }
    }
}
