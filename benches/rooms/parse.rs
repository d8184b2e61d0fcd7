//! Room 3: frames to spans, in batches of 64 as a pipelined connection brings them.
//! A step is one frame.

use crate::Room;
use resp::{Limits, Parsed, Parser};
use std::hint::black_box;

/// `GET key:000000000001`
pub(crate) const GET: Room =
    Room { name: "parse-get", instructions_target: 0.0, build: || frames(&[b"GET", b"key:000000000001"]) };
/// `SET key:000000000001 value`
pub(crate) const SET: Room = Room {
    name: "parse-set",
    instructions_target: 0.0,
    build: || frames(&[b"SET", b"key:000000000001", b"0123456789abcdef"]),
};

const BATCH: usize = 64;

fn frames(args: &[&[u8]]) -> Box<dyn FnMut(u64)> {
    let mut wire = Vec::new();
    (0..BATCH).for_each(|_| resp::client::encode_command(args, &mut wire));
    let limits = Limits::default();
    let (mut parser, mut spans) = (Parser::default(), Vec::new());
    Box::new(move |steps| {
        for _ in 0..steps / BATCH as u64 {
            let (wire, mut at) = (black_box(&wire), 0);
            spans.clear();
            while at < wire.len() {
                let parsed = parser.next(wire, &mut at, &mut spans, &limits);
                assert_eq!(parsed, Ok(Parsed::Frame));
            }
            black_box(&spans);
        }
    })
}
