//! Text: what a string holds, and which texts are integers.

use crate::shared::SharedText;

/// The value of a string, borrowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Text<'a> {
    /// An integer; its text is its shortest decimal form.
    Int(i64),
    /// Any other bytes.
    Bytes(&'a [u8]),
}

/// The value of a string as it is kept: a large one can be shared.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// An integer.
    Int(i64),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A large text.
    Shared(&'a SharedText),
}

impl<'a> Text<'a> {
    /// The text of `bytes`: an integer, where they are its shortest decimal form.
    #[inline]
    pub fn of(bytes: &'a [u8]) -> Text<'a> {
        canonical_int(bytes).map_or(Text::Bytes(bytes), Text::Int)
    }

    /// A copy of the text.
    pub fn to_vec(self) -> Vec<u8> {
        match self {
            Text::Bytes(bytes) => bytes.to_vec(),
            Text::Int(value) => value.to_string().into_bytes(),
        }
    }

    /// Bytes of the text: what STRLEN answers.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "a value's length, not a collection's")]
    pub fn len(self) -> usize {
        match self {
            Text::Bytes(bytes) => bytes.len(),
            Text::Int(value) => {
                let digits = value.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
                digits + usize::from(value < 0)
            }
        }
    }
}

/// The integer of which `bytes` are the shortest decimal form, if they are one.
#[inline]
pub fn canonical_int(bytes: &[u8]) -> Option<i64> {
    let (&first, rest) = bytes.split_first()?;
    // The usual text is no number: one look at its first byte says so.
    if !first.is_ascii_digit() && first != b'-' || bytes.len() > 20 {
        return None;
    }
    let (negative, digits) = if first == b'-' { (true, rest) } else { (false, bytes) };
    match digits {
        [] => return None,
        [b'0'] if !negative => return Some(0),
        [b'0', ..] => return None,
        _ => {}
    }
    let mut magnitude = 0u64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        magnitude = magnitude.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    match negative {
        true if magnitude <= 1 << 63 => Some((magnitude as i64).wrapping_neg()),
        true => None,
        false => i64::try_from(magnitude).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_texts_are_integers_and_no_others() {
        for value in [0, 1, -1, 9, 10, -10, 12345, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1] {
            let text = value.to_string();
            assert_eq!(canonical_int(text.as_bytes()), Some(value));
            assert_eq!(Text::Int(value).len(), text.len(), "{text}");
        }
        let others = [
            "",
            "-",
            "-0",
            "00",
            "01",
            "-01",
            "+1",
            " 1",
            "1 ",
            "1a",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
            "18446744073709551616",
            "123456789012345678901",
        ];
        for text in others {
            assert_eq!(canonical_int(text.as_bytes()), None, "{text:?}");
        }
    }
}
