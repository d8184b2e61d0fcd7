//! Strings as rows of bits, the highest bit of the first byte being bit 0: every command of Redis's bitmap
//! family. What the bits are used for it does not know.

mod bit;
mod count;
mod field;
mod integer;
#[cfg(test)]
mod model_tests;
mod operation;
mod position;
mod range;
#[cfg(test)]
mod tests;

use crate::command::Command;
use resp::{IntegerText, Reply};
use spec::Live;
use store::Text;

/// All of them.
pub(crate) static ALL: &[&Command] = &[
    &count::BITCOUNT,
    &field::BITFIELD,
    &field::BITFIELD_RO,
    &operation::BITOP,
    &position::BITPOS,
    &bit::GETBIT,
    &bit::SETBIT,
];

/// Not the place of a bit, or of one that no string may have.
const NOT_AN_OFFSET: &str = "ERR bit offset is not an integer or out of range";

/// The place of a bit; `None` once it is refused. With `bits`, `#n` is the n-th integer of so many bits.
fn offset(argument: &[u8], bits: Option<u32>, live: &Live, reply: &mut Reply<'_>) -> Option<u64> {
    let place = match (argument.strip_prefix(b"#"), bits) {
        (Some(ordinal), Some(bits)) => resp::parse_i64(ordinal).and_then(|it| it.checked_mul(bits.into())),
        _ => resp::parse_i64(argument),
    };
    let place = place.and_then(|place| u64::try_from(place).ok());
    let place = place.filter(|place| place / 8 < live.proto_max_bulk_len);
    if place.is_none() {
        reply.error(NOT_AN_OFFSET);
    }
    place
}

/// What `read` makes of the bytes of a text, as GET would answer them.
fn with_bytes<R>(text: Option<Text<'_>>, read: impl FnOnce(&[u8]) -> R) -> R {
    match text {
        None => read(&[]),
        Some(Text::Bytes(bytes)) => read(bytes),
        Some(Text::Int(number)) => read(IntegerText::new(number).as_bytes()),
    }
}
