//! The other side: replies to values, commands to bytes. For the command line, tests and the
//! simulator; a server never calls it. Bounded in depth and size, resumable at any byte.

use crate::{parse_f64, parse_i64};
use std::fmt;

/// A reply.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `+OK`
    Simple(String),
    /// `-ERR text`, or RESP3's `!`
    Error(String),
    /// `:1`
    Integer(i64),
    /// `$3`
    Bulk(Vec<u8>),
    /// `$-1`, `*-1` or `_`
    Null,
    /// `*2`
    Array(Vec<Value>),
    /// `%1`, in the order sent
    Map(Vec<(Value, Value)>),
    /// `~2`, in the order sent
    Set(Vec<Value>),
    /// `,3.5`
    Double(f64),
    /// `#t`
    Boolean(bool),
    /// `(123`
    BigNumber(String),
    /// `=7\r\ntxt:abc`: the kind and the text
    Verbatim(String, Vec<u8>),
    /// `>2`: not an answer to a command
    Push(Vec<Value>),
    /// `|1`: attributes, and the reply they speak of
    Attribute(Vec<(Value, Value)>, Box<Value>),
}

/// Why bytes are not a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// No reply opens with this byte.
    Kind(u8),
    /// A number, length or boolean that cannot be read.
    Number,
    /// Nested deeper than `DEPTH_MAX`.
    TooDeep,
    /// Longer than `REPLY_BYTES_MAX`.
    TooLong,
    /// A string that does not end where its length says.
    Ending,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Kind(byte) => {
                write!(f, "got '{}' as reply type byte", char::from(*byte).escape_default())
            }
            Malformed::Number => f.write_str("a number in a reply cannot be read"),
            Malformed::TooDeep => f.write_str("a reply is nested too deep"),
            Malformed::TooLong => f.write_str("a reply is too long"),
            Malformed::Ending => f.write_str("a string in a reply does not end where it should"),
        }
    }
}

impl std::error::Error for Malformed {}

/// Deepest nesting taken.
pub const DEPTH_MAX: usize = 128;

/// Longest reply taken, and the most elements in one.
pub const REPLY_BYTES_MAX: usize = 1 << 31;

/// Appends a command.
pub fn encode_command(args: &[&[u8]], out: &mut Vec<u8>) {
    let mut digits = itoa::Buffer::new();
    let mut header = |kind: u8, len: usize, out: &mut Vec<u8>| {
        out.push(kind);
        out.extend_from_slice(digits.format(len).as_bytes());
        out.extend_from_slice(b"\r\n");
    };
    header(b'*', args.len(), out);
    for arg in args {
        header(b'$', arg.len(), out);
        out.extend_from_slice(arg);
        out.extend_from_slice(b"\r\n");
    }
}

/// Reads the first reply of `bytes` and tells its length; `None` where it is not whole yet.
/// Where replies arrive in pieces, a `Decoder` does not start over each time.
pub fn decode(bytes: &[u8]) -> Result<Option<(Value, usize)>, Malformed> {
    let mut at = 0;
    Ok(Decoder::default().next(bytes, &mut at)?.map(|value| (value, at)))
}

/// Reads replies that arrive in pieces: first looks for the reply's end, keeping its place, then builds the
/// value once.
#[derive(Default, Debug)]
pub struct Decoder {
    /// How far the reply was looked through, from its start.
    done: usize,
    /// How far behind `done` no line's end was found.
    scanned: usize,
    /// Elements still to come, per open aggregate.
    open: Vec<u64>,
}

impl Decoder {
    /// Reads the reply at `bytes[*at]` and moves `*at` behind it. `None`: it is not whole; call again with the
    /// reply's start still at `bytes[*at]` and more bytes behind.
    pub fn next(&mut self, bytes: &[u8], at: &mut usize) -> Result<Option<Value>, Malformed> {
        let reply = &bytes[*at..];
        if !self.skip(reply)? {
            return if reply.len() > REPLY_BYTES_MAX { Err(Malformed::TooLong) } else { Ok(None) };
        }
        let mut builder = Builder { rest: &reply[..self.done] };
        let value = builder.value()?;
        *at += self.done;
        *self = Decoder::default();
        Ok(Some(value))
    }

    /// Looks for the end of the reply; true once `done` is there.
    fn skip(&mut self, reply: &[u8]) -> Result<bool, Malformed> {
        loop {
            let rest = &reply[self.done..];
            match rest.first() {
                Some(kind) if !b"+-:_,#($=!*~>%|".contains(kind) => return Err(Malformed::Kind(*kind)),
                Some(_) => {}
                None => return Ok(false),
            }
            let Some(end) = rest[self.scanned..].iter().position(|&byte| byte == b'\n') else {
                self.scanned = rest.len();
                return Ok(false);
            };
            let end = self.scanned + end;
            let line = rest[..end].strip_suffix(b"\r").ok_or(Malformed::Ending)?;
            let (kind, text) = (line[0], &line[1..]);
            let mut size = end + 1;
            let mut elements = 0;
            match kind {
                b'$' | b'=' | b'!' => size += length(text)?.map_or(0, |len| len + 2),
                b'*' | b'~' | b'>' => elements = length(text)?.unwrap_or(0),
                b'%' => elements = 2 * length(text)?.unwrap_or(0),
                // The reply that attributes speak of comes behind them.
                b'|' => elements = 2 * length(text)?.unwrap_or(0) + 1,
                _ => {}
            }
            if rest.len() < size {
                self.scanned = end;
                return Ok(false);
            }
            self.done += size;
            self.scanned = 0;
            if elements > 0 {
                if self.open.len() == DEPTH_MAX {
                    return Err(Malformed::TooDeep);
                }
                self.open.push(elements as u64);
            } else if self.close_element() {
                return Ok(true);
            }
        }
    }

    /// One element is whole; true if the reply is.
    fn close_element(&mut self) -> bool {
        while let Some(left) = self.open.last_mut() {
            *left -= 1;
            if *left > 0 {
                return false;
            }
            self.open.pop();
        }
        true
    }
}

/// A length of a string or an aggregate; `None` for -1.
fn length(text: &[u8]) -> Result<Option<usize>, Malformed> {
    match parse_i64(text) {
        Some(-1) => Ok(None),
        Some(len) if len >= 0 => match usize::try_from(len) {
            Ok(len) if len <= REPLY_BYTES_MAX => Ok(Some(len)),
            _ => Err(Malformed::TooLong),
        },
        _ => Err(Malformed::Number),
    }
}

/// Builds a value from a reply known to be whole and not too deep.
struct Builder<'a> {
    rest: &'a [u8],
}

impl<'a> Builder<'a> {
    fn value(&mut self) -> Result<Value, Malformed> {
        let line = self.line();
        let (kind, text) = (line[0], &line[1..]);
        Ok(match kind {
            b'+' => Value::Simple(lossy(text)),
            b'-' => Value::Error(lossy(text)),
            b':' => Value::Integer(parse_i64(text).ok_or(Malformed::Number)?),
            b'_' => Value::Null,
            b',' => Value::Double(double(text)?),
            b'#' => Value::Boolean(boolean(text)?),
            b'(' => Value::BigNumber(lossy(text)),
            b'$' => self.string(text)?.map_or(Value::Null, |bytes| Value::Bulk(bytes.to_vec())),
            b'!' => Value::Error(lossy(self.string(text)?.unwrap_or(b""))),
            b'=' => match self.string(text)? {
                Some([a, b, c, b':', text @ ..]) => Value::Verbatim(lossy(&[*a, *b, *c]), text.to_vec()),
                Some(_) => return Err(Malformed::Ending),
                None => Value::Null,
            },
            b'*' => match length(text)? {
                Some(len) => Value::Array(self.values(len)?),
                None => Value::Null,
            },
            b'~' => Value::Set(self.values(length(text)?.unwrap_or(0))?),
            b'>' => Value::Push(self.values(length(text)?.unwrap_or(0))?),
            b'%' => Value::Map(self.pairs(length(text)?.unwrap_or(0))?),
            _ => Value::Attribute(self.pairs(length(text)?.unwrap_or(0))?, Box::new(self.value()?)),
        })
    }

    fn values(&mut self, len: usize) -> Result<Vec<Value>, Malformed> {
        (0..len).map(|_| self.value()).collect()
    }

    fn pairs(&mut self, len: usize) -> Result<Vec<(Value, Value)>, Malformed> {
        (0..len).map(|_| Ok((self.value()?, self.value()?))).collect()
    }

    fn line(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|&byte| byte == b'\n').expect("the reply was found whole");
        let line = &self.rest[..end - 1];
        self.rest = &self.rest[end + 1..];
        line
    }

    fn string(&mut self, text: &[u8]) -> Result<Option<&'a [u8]>, Malformed> {
        let Some(len) = length(text)? else { return Ok(None) };
        let (bytes, rest) = self.rest.split_at(len);
        self.rest = rest.strip_prefix(b"\r\n").ok_or(Malformed::Ending)?;
        Ok(Some(bytes))
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn double(text: &[u8]) -> Result<f64, Malformed> {
    if text.eq_ignore_ascii_case(b"nan") || text.eq_ignore_ascii_case(b"-nan") {
        return Ok(f64::NAN);
    }
    parse_f64(text).ok_or(Malformed::Number)
}

fn boolean(text: &[u8]) -> Result<bool, Malformed> {
    match text {
        b"t" => Ok(true),
        b"f" => Ok(false),
        _ => Err(Malformed::Number),
    }
}
