//! Integers as text, by the strict rules of Redis's string2ll: what parses is what would be printed.

/// Reads a signed integer. No blanks, no `+`, no leading zeros, no `-0`; `None` where it does not fit.
#[inline]
pub fn parse_i64(text: &[u8]) -> Option<i64> {
    match *text {
        [b'-', ref digits @ ..] if digits != b"0" => {
            let magnitude = parse_u64(digits)?;
            (magnitude <= 1 << 63).then(|| (magnitude as i64).wrapping_neg())
        }
        _ => i64::try_from(parse_u64(text)?).ok(),
    }
}

/// Reads an unsigned integer by the same rules.
#[inline]
pub fn parse_u64(text: &[u8]) -> Option<u64> {
    let (&first, rest) = text.split_first()?;
    let first = first.wrapping_sub(b'0');
    if first > 9 || (first == 0 && !rest.is_empty()) || rest.len() > 19 {
        return None;
    }
    let mut number = u64::from(first);
    // Nineteen digits always fit in 64 bits; only a twentieth needs care.
    let (plain, last) = rest.split_at(rest.len().min(18));
    for byte in plain {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    for byte in last {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(number)
}

/// An integer printed on the stack.
#[derive(Clone, Debug)]
pub struct IntegerText {
    bytes: [u8; 20],
    len: u8,
}

impl IntegerText {
    /// Prints `number`.
    pub fn new(number: i64) -> IntegerText {
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(number).as_bytes();
        let mut bytes = [0; 20];
        bytes[..digits.len()].copy_from_slice(digits);
        IntegerText { bytes, len: digits.len() as u8 }
    }

    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_only_what_it_would_print() {
        for text in ["0", "7", "-7", "10", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(parse_i64(text.as_bytes()), text.parse().ok(), "{text}");
        }
        let refused = [
            "",
            "-",
            "+1",
            "01",
            "-0",
            "-01",
            " 1",
            "1 ",
            "1a",
            "a",
            "--1",
            "1.0",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
            "100000000000000000000",
            "1\0",
        ];
        for text in refused {
            assert_eq!(parse_i64(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse_u64(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse_u64(b"18446744073709551616"), None);
        assert_eq!(parse_u64(b"-1"), None);
    }

    proptest! {
        #[test]
        fn every_integer_comes_back(number: i64) {
            prop_assert_eq!(parse_i64(IntegerText::new(number).as_bytes()), Some(number));
        }

        #[test]
        fn whatever_parses_prints_the_same(text in "-?[0-9]{0,21}") {
            if let Some(number) = parse_i64(text.as_bytes()) {
                prop_assert_eq!(number.to_string(), text);
            } else if let Ok(number) = text.parse::<i64>() {
                prop_assert_ne!(number.to_string(), text);
            }
        }
    }
}
