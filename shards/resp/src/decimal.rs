//! Doubles as text, the way Redis reads (string2d) and prints (d2string) them.

use crate::long_double;

/// Longest text of `format_double`.
pub const DOUBLE_BYTES_MAX: usize = 32;

/// A double printed on the stack.
#[derive(Clone, Debug)]
pub struct DoubleText {
    bytes: [u8; DOUBLE_BYTES_MAX],
    len: u8,
}

impl DoubleText {
    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn new() -> DoubleText {
        DoubleText { bytes: [0; DOUBLE_BYTES_MAX], len: 0 }
    }

    fn push(&mut self, text: &[u8]) -> &mut DoubleText {
        let start = usize::from(self.len);
        self.bytes[start..start + text.len()].copy_from_slice(text);
        self.len += text.len() as u8;
        self
    }

    fn zeros(&mut self, count: usize) -> &mut DoubleText {
        self.push(&[b'0'; DOUBLE_BYTES_MAX][..count])
    }
}

/// Prints a double as Redis 7.2's d2string does: `inf`, `-inf`, `nan`, `-0`; whole numbers below 2^62
/// as integers; else the shortest digits that read back the same, laid out by fpconv's rules:
/// `0.0000015`, `3.5`, `1e+20`, `1.5e-9`.
pub fn format_double(value: f64) -> DoubleText {
    let mut text = DoubleText::new();
    if value.is_nan() {
        text.push(b"nan");
    } else if value.is_infinite() {
        text.push(if value < 0.0 { b"-inf" } else { b"inf" });
    } else if value == 0.0 {
        text.push(if value.is_sign_negative() { b"-0" } else { b"0" });
    } else if value.abs() <= (i64::MAX / 2) as f64 && value.trunc() == value {
        text.push(itoa::Buffer::new().format(value as i64).as_bytes());
    } else {
        let (digits, exponent) = shortest_digits(value.abs());
        if value < 0.0 {
            text.push(b"-");
        }
        lay_out(&mut text, itoa::Buffer::new().format(digits).as_bytes(), exponent);
    }
    text
}

/// The shortest digits of a positive double, as a number that does not end in 0, and the power of ten that goes
/// with it.
fn shortest_digits(value: f64) -> (u64, i32) {
    let mut buffer = zmij::Buffer::new();
    let (mut digits, mut exponent, mut fraction) = (0u64, 0, false);
    let printed = buffer.format_finite(value).as_bytes();
    for (at, &byte) in printed.iter().enumerate() {
        match byte {
            b'.' => fraction = true,
            b'e' => {
                exponent += small_exponent(&printed[at + 1..]);
                break;
            }
            // At most 17 digits and the `.0` of a whole number: 64 bits hold them.
            digit => {
                digits = digits * 10 + u64::from(digit - b'0');
                exponent -= i32::from(fraction);
            }
        }
    }
    while digits.is_multiple_of(10) {
        digits /= 10;
        exponent += 1;
    }
    (digits, exponent)
}

/// The exponent that zmij printed: at most three digits, a sign perhaps.
fn small_exponent(text: &[u8]) -> i32 {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let exponent = digits.iter().fold(0, |exponent, digit| exponent * 10 + i32::from(digit - b'0'));
    if negative { -exponent } else { exponent }
}

/// Lays digits out as fpconv does: plain where that stays short, else with an exponent.
fn lay_out(text: &mut DoubleText, digits: &[u8], exponent: i32) {
    let count = digits.len() as i32;
    let magnitude = exponent + count - 1;
    if exponent >= 0 && magnitude.abs() < count + 7 {
        text.push(digits).zeros(exponent as usize);
    } else if exponent < 0 && (exponent > -7 || magnitude.abs() < 4) {
        let whole = count + exponent;
        if whole <= 0 {
            text.push(b"0.").zeros(whole.unsigned_abs() as usize).push(digits);
        } else {
            let (whole, fraction) = digits.split_at(whole as usize);
            text.push(whole).push(b".").push(fraction);
        }
    } else {
        text.push(&digits[..1]);
        if count > 1 {
            text.push(b".").push(&digits[1..]);
        }
        text.push(if magnitude < 0 { b"e-" } else { b"e+" });
        text.push(itoa::Buffer::new().format(magnitude.unsigned_abs()).as_bytes());
    }
}

/// Reads a double as Redis's string2d does: decimal or hexadecimal (`0x1p-3`), `inf` and `infinity` in any
/// case and with any sign; no blanks, no `nan`, and nothing that overflows or vanishes to zero.
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    let unsigned = match text {
        [b'+' | b'-', rest @ ..] => rest,
        rest => rest,
    };
    let value = match unsigned {
        [b'0'..=b'9' | b'.', ..] => match unsigned {
            [b'0', b'x' | b'X', ..] => return long_double::parse_hexadecimal_f64(text),
            _ => std::str::from_utf8(text).ok()?.parse::<f64>().ok()?,
        },
        _ if is_infinity(unsigned) => {
            return Some(if text[0] == b'-' { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        _ => return None,
    };
    let vanished = value == 0.0 && mantissa(unsigned).iter().any(|byte| matches!(byte, b'1'..=b'9'));
    (value.is_finite() && !vanished).then_some(value)
}

/// The part before the exponent.
fn mantissa(unsigned: &[u8]) -> &[u8] {
    let end = unsigned.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(unsigned.len());
    &unsigned[..end]
}

pub(crate) fn is_infinity(unsigned: &[u8]) -> bool {
    unsigned.eq_ignore_ascii_case(b"inf") || unsigned.eq_ignore_ascii_case(b"infinity")
}
