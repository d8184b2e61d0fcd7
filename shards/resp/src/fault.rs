//! What a client can get wrong in a frame, in the words Redis uses for it. A fault ends the
//! connection after its text was sent; what is sent and closed is not known here.

use std::fmt;

/// A frame that breaks the protocol. `Display` gives Redis's text without the leading `ERR `.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// `*` with a count that is no number, or too large a one.
    InvalidMultibulkLength,
    /// `$` with a length that is no number, negative, or over `proto-max-bulk-len`.
    InvalidBulkLength,
    /// An argument that opens with another byte than `$`.
    ExpectedBulk(u8),
    /// More than 64 KiB without a line's end.
    TooBigInline,
    /// More than 64 KiB without the end of a `*` line.
    TooBigMultibulkCount,
    /// More than 64 KiB without the end of a `$` line.
    TooBigBulkCount,
    /// An inline command whose quotes do not match.
    UnbalancedQuotes,
    /// More than 10 arguments before AUTH.
    UnauthenticatedMultibulkLength,
    /// An argument of more than 16,384 bytes before AUTH.
    UnauthenticatedBulkLength,
}

impl Fault {
    /// The text, with `'x'` in place of the byte that `ExpectedBulk` tells of.
    fn text(self) -> &'static str {
        match self {
            Fault::InvalidMultibulkLength => "Protocol error: invalid multibulk length",
            Fault::InvalidBulkLength => "Protocol error: invalid bulk length",
            Fault::ExpectedBulk(_) => "Protocol error: expected '$', got ",
            Fault::TooBigInline => "Protocol error: too big inline request",
            Fault::TooBigMultibulkCount => "Protocol error: too big mbulk count string",
            Fault::TooBigBulkCount => "Protocol error: too big bulk count string",
            Fault::UnbalancedQuotes => "Protocol error: unbalanced quotes in request",
            Fault::UnauthenticatedMultibulkLength => "Protocol error: unauthenticated multibulk length",
            Fault::UnauthenticatedBulkLength => "Protocol error: unauthenticated bulk length",
        }
    }

    /// Appends the error reply, `-ERR ...\r\n`. Unlike `Display` it repeats a byte that is not UTF-8 as
    /// it came, as Redis does; a line's end in it turns into a space.
    pub fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"-ERR ");
        out.extend_from_slice(self.text().as_bytes());
        if let Fault::ExpectedBulk(byte) = self {
            let byte = if matches!(byte, b'\r' | b'\n') { b' ' } else { byte };
            out.extend_from_slice(&[b'\'', byte, b'\'']);
        }
        out.extend_from_slice(b"\r\n");
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())?;
        match self {
            Fault::ExpectedBulk(byte) => write!(f, "'{}'", char::from(*byte)),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}
