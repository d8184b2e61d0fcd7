//! A text as a page keeps it: a code of one byte, which says how many bytes follow elsewhere in the
//! page, and those bytes. It does not know pages.

use crate::hash::Hasher;
use crate::text::{Text, canonical_int};

/// Texts up to here are kept in the page as they are; their code is their length.
pub(super) const PLAIN_BYTES_MAX: usize = 0xef;
/// Codes from here on are no lengths: their low half says how many bytes they have in the page.
pub(super) const SPECIAL: u8 = 0xf0;
/// A longer text, kept elsewhere: four bytes of its number, and one that keeps the code apart from
/// that of a 32-bit integer.
pub(super) const LONG: u8 = 0xf5;
const INT8: u8 = 0xf1;
const INT16: u8 = 0xf2;
const INT32: u8 = 0xf4;
const INT64: u8 = 0xf8;

/// Bytes that a part with this code has in the page.
#[inline]
pub(super) fn bytes_of(code: u8) -> usize {
    usize::from(code - if code >= SPECIAL { SPECIAL } else { 0 })
}

/// A text on its way into a page, or sought there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// An integer in as few bytes as it needs.
    Int { code: u8, bytes: [u8; 8] },
    /// A short text.
    Plain(&'a [u8]),
    /// A text of more than [`PLAIN_BYTES_MAX`] bytes.
    Long(&'a [u8]),
}

impl<'a> Part<'a> {
    /// The part that stands for these bytes; equal bytes make equal parts, and others do not.
    #[inline]
    pub(crate) fn of(bytes: &'a [u8]) -> Part<'a> {
        match canonical_int(bytes) {
            Some(value) => Part::int(value),
            None if bytes.len() <= PLAIN_BYTES_MAX => Part::Plain(bytes),
            None => Part::Long(bytes),
        }
    }

    /// As [`Part::of`], for what is a text already.
    #[inline]
    pub(crate) fn of_text(text: Text<'a>) -> Part<'a> {
        match text {
            Text::Int(value) => Part::int(value),
            Text::Bytes(bytes) => Part::of(bytes),
        }
    }

    /// An integer.
    #[inline]
    pub(crate) fn int(value: i64) -> Part<'a> {
        let code = if i8::try_from(value).is_ok() {
            INT8
        } else if i16::try_from(value).is_ok() {
            INT16
        } else if i32::try_from(value).is_ok() {
            INT32
        } else {
            INT64
        };
        Part::Int { code, bytes: value.to_le_bytes() }
    }

    #[inline]
    pub(super) fn code(&self) -> u8 {
        match self {
            Part::Int { code, .. } => *code,
            Part::Plain(bytes) => bytes.len() as u8,
            Part::Long(_) => LONG,
        }
    }

    /// What identifies it: the bytes in the page, or the whole of a long text.
    #[inline]
    pub(super) fn identity(&self) -> &[u8] {
        match self {
            Part::Int { code, bytes } => &bytes[..bytes_of(*code)],
            Part::Plain(bytes) | Part::Long(bytes) => bytes,
        }
    }

    /// Its hash.
    #[inline]
    pub(crate) fn hash(&self, hasher: &Hasher) -> u64 {
        hash(self.code(), self.identity(), hasher)
    }
}

/// The hash of a part: of an integer, that of its bytes, so that no digits are needed, turned so that it
/// is not the one of a text with the same bytes.
#[inline]
pub(super) fn hash(code: u8, identity: &[u8], hasher: &Hasher) -> u64 {
    hasher.hash(identity).rotate_left(if code > SPECIAL && code != LONG { 32 } else { 0 })
}

/// The integer of a code and its bytes; `None` where the code is not one of an integer.
#[inline]
pub(super) fn read_int(code: u8, bytes: &[u8]) -> Option<i64> {
    Some(match code {
        INT8 => i64::from(bytes[0] as i8),
        INT16 => i64::from(i16::from_le_bytes(bytes.try_into().expect("the code says 2"))),
        INT32 => i64::from(i32::from_le_bytes(bytes.try_into().expect("the code says 4"))),
        INT64 => i64::from_le_bytes(bytes.try_into().expect("the code says 8")),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back_from_as_few_bytes_as_they_need() {
        let values = [(0, 1), (-128, 1), (128, 2), (-32_768, 2), (32_768, 4), (1 << 31, 8), (i64::MIN, 8)];
        for (value, bytes) in values {
            let text = value.to_string();
            let part = Part::of(text.as_bytes());
            assert_eq!((part.identity().len(), bytes_of(part.code())), (bytes, bytes));
            assert_eq!(read_int(part.code(), part.identity()), Some(value));
        }
    }

    #[test]
    fn other_texts_are_kept_as_they_are() {
        let (longest, longer) = ([b'x'; PLAIN_BYTES_MAX], [b'x'; PLAIN_BYTES_MAX + 1]);
        for text in [&b""[..], b"007", b"a", &longest] {
            let part = Part::of(text);
            assert!(matches!(part, Part::Plain(bytes) if bytes == text));
            assert_eq!(bytes_of(part.code()), text.len());
            assert_eq!(read_int(part.code(), text), None);
        }
        assert!(matches!(Part::of(&longer), Part::Long(_)));
        assert_eq!(bytes_of(LONG), 5);
    }
}
