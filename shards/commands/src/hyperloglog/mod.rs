//! HyperLogLogs: how many different elements a key has seen, told from 16,384 small registers. They are
//! strings whose bytes are those of Redis, so that either reads what the other wrote. How entries are kept
//! it does not know.

mod add;
mod count;
mod debug;
mod dense;
mod estimate;
mod hash;
mod layout;
mod merge;
#[cfg(test)]
mod model_tests;
mod registers;
mod sparse;
#[cfg(test)]
mod tests;

use crate::command::Command;
use crate::lookup;
use resp::Reply;
use store::Text;

/// All of them.
pub(crate) static ALL: &[&Command] =
    &[&add::PFADD, &count::PFCOUNT, &debug::PFDEBUG, &merge::PFMERGE, &debug::PFSELFTEST];

/// How many registers a sketch has.
const REGISTERS: usize = 1 << hash::INDEX_BITS;

/// Why a value is no sketch to work with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// It is not a string.
    WrongKind,
    /// It does not begin as a sketch, or has not the length of one.
    NotASketch,
    /// Its runs are not those of all registers.
    Corrupt,
}

impl Fault {
    fn refuse(self, reply: &mut Reply<'_>) {
        reply.error(match self {
            Fault::WrongKind => lookup::WRONG_KIND,
            Fault::NotASketch => "WRONGTYPE Key is not a valid HyperLogLog string value.",
            Fault::Corrupt => "INVALIDOBJ Corrupted HLL object detected",
        });
    }
}

/// The bytes of a sketch that a key was found to hold; `None`: it is not there.
fn sketch<'s>(text: Result<Option<Text<'s>>, lookup::WrongKind>) -> Result<Option<&'s [u8]>, Fault> {
    match text.map_err(|lookup::WrongKind| Fault::WrongKind)? {
        None => Ok(None),
        Some(Text::Int(_)) => Err(Fault::NotASketch),
        Some(Text::Bytes(bytes)) => layout::encoding(bytes).map(|_| Some(bytes)),
    }
}
