//! DEBUG PROTOCOL: one reply of each kind, for those who test clients.

use super::part;
use crate::command::{Command, Run};
use crate::context::Args;
use crate::home::{After, Home};
use resp::{Reply, Version};

pub(super) static PROTOCOL: Command = part("PROTOCOL", Run::Home(protocol)).arity(3);

const UNKNOWN: &str = "ERR Wrong protocol type name. Please use one of the following: \
                       string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false";

fn protocol(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    match args.get(2).to_ascii_lowercase().as_slice() {
        b"string" => reply.bulk_text("Hello World"),
        b"integer" => reply.integer(12_345),
        #[expect(clippy::approx_constant, reason = "the number that Redis answers")]
        b"double" => reply.double(3.141),
        b"null" => reply.null(),
        b"bignum" => reply.big_number("1234567999999999999999999999999999999"),
        b"array" => {
            reply.array(3);
            (0..3).for_each(|number| reply.integer(number));
        }
        b"set" => {
            reply.set(3);
            (0..3).for_each(|number| reply.integer(number));
        }
        b"map" => {
            reply.map(3);
            for number in 0..3 {
                reply.integer(number);
                reply.boolean(number == 1);
            }
        }
        b"attrib" => {
            if reply.attribute(1) {
                reply.bulk_text("key-popularity");
                reply.array(2);
                reply.bulk_text("key:123");
                reply.integer(90);
            }
            reply.bulk_text("Some real reply following the attribute");
        }
        b"push" if reply.version() == Version::Resp2 => {
            reply.error("ERR RESP2 is not supported by this command");
        }
        b"push" => {
            reply.push(2);
            reply.bulk_text("server-cpu-usage");
            reply.integer(42);
            // A push message answers nothing: whoever asked waits for a reply too.
            reply.bulk_text("Some real reply following the push reply");
        }
        b"verbatim" => reply.verbatim("txt", b"This is a verbatim\nstring"),
        b"true" => reply.boolean(true),
        b"false" => reply.boolean(false),
        _ => reply.error(UNKNOWN),
    }
    After::Done
}
