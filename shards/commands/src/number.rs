//! Numbers among the arguments, refused in Redis's words, and the errors that many commands share.
//! It does not know commands.

use resp::Reply;

/// An option that is unknown, out of place, or lacks its value.
pub(crate) const SYNTAX: &str = "ERR syntax error";
/// Not a 64-bit integer in its shortest form.
pub(crate) const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
/// A database that there is not.
pub(crate) const NO_SUCH_DB: &str = "ERR DB index is out of range";
/// COPY and MOVE onto itself.
pub(crate) const SAME_OBJECT: &str = "ERR source and destination objects are the same";

/// A 64-bit integer; `None` once it is refused.
#[inline]
pub(crate) fn integer(argument: &[u8], reply: &mut Reply<'_>) -> Option<i64> {
    let number = resp::parse_i64(argument);
    if number.is_none() {
        reply.error(NOT_AN_INTEGER);
    }
    number
}

/// A 64-bit integer whose negative is one too; `None` once it is refused.
pub(crate) fn negatable(argument: &[u8], reply: &mut Reply<'_>) -> Option<i64> {
    let number = integer(argument, reply)?;
    if number == i64::MIN {
        let (min, max) = (-i64::MAX, i64::MAX);
        reply.error_fmt(format_args!("ERR value is out of range, value must between {min} and {max}"));
        return None;
    }
    Some(number)
}

/// The index of a database; `None` once it is refused.
pub(crate) fn database(argument: &[u8], databases: usize, reply: &mut Reply<'_>) -> Option<u16> {
    let number = integer(argument, reply)?;
    if i32::try_from(number).is_err() {
        let (min, max) = (i32::MIN, i32::MAX);
        reply.error_fmt(format_args!("ERR value is out of range, value must between {min} and {max}"));
        return None;
    }
    let known = u16::try_from(number).ok().filter(|db| usize::from(*db) < databases);
    if known.is_none() {
        reply.error(NO_SUCH_DB);
    }
    known
}

/// A scan's cursor by the rules of C's strtoul, as Redis reads it: a sign is let through, and so is
/// nothing at all.
pub(crate) fn cursor(text: &[u8]) -> Option<u64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() && !text.is_empty() {
        return None;
    }
    let mut number = 0u64;
    for digit in digits {
        let value = char::from(*digit).to_digit(10)?;
        number = number.checked_mul(10)?.checked_add(u64::from(value))?;
    }
    Some(if negative { number.wrapping_neg() } else { number })
}

/// The error of a command with too few or too many arguments; `name` in small letters.
pub(crate) fn wrong_arity(name: &str, reply: &mut Reply<'_>) {
    reply.error_fmt(format_args!("ERR wrong number of arguments for '{name}' command"));
}
