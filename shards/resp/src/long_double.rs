//! The x87 `long double` (64 bits of mantissa) in software: Redis's INCRBYFLOAT and HINCRBYFLOAT read, add and
//! print in it, so that 1 + -1.1 gives -0.1. Knows nothing of commands.

use crate::decimal::is_infinity;
use crate::natural::Natural;
use std::cmp::Ordering;

/// Exponent of the last mantissa bit of the smallest (denormal) and largest numbers.
const EXPONENT_MIN: i32 = -16_445;
const EXPONENT_MAX: i32 = 16_383 - 63;

/// Redis reads numbers of fewer than 5 KiB.
const TEXT_BYTES_MAX: usize = 5 * 1024;

/// Decimals printed, before trailing zeros are dropped.
const DECIMALS: usize = 17;
const DECIMALS_POWER: u128 = 10u128.pow(DECIMALS as u32);

/// A floating-point number with 64 bits of mantissa and 15 bits of exponent; never a NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LongDouble {
    negative: bool,
    /// `u64::MAX` with the exponent `INFINITE` stands for infinity.
    mantissa: u64,
    /// Power of two of the mantissa's last bit.
    exponent: i32,
}

const INFINITE: i32 = i32::MAX;

/// mantissa * 2^exponent, and a little more if `sticky`: what is left to round.
#[derive(Clone, Copy)]
struct Unrounded {
    mantissa: u128,
    exponent: i32,
    sticky: bool,
}

impl Unrounded {
    /// Rounds to the nearest `bits` bits, ties to even, with no bit below 2^`exponent_min`.
    /// Returns the mantissa and its exponent.
    fn round(self, bits: u32, exponent_min: i32) -> (u64, i32) {
        if self.mantissa == 0 {
            return (0, exponent_min);
        }
        let surplus = (128 - self.mantissa.leading_zeros()) as i32 - bits as i32;
        let drop = surplus.max(exponent_min.saturating_sub(self.exponent));
        if drop <= 0 {
            // Fits: shifted up to full width so that equal numbers have equal fields.
            let up = (-drop) as u32;
            return ((self.mantissa << up) as u64, self.exponent - up as i32);
        }
        if drop > 128 {
            return (0, exponent_min);
        }
        let (kept, below) = match drop {
            128 => (0, self.mantissa),
            _ => (self.mantissa >> drop, self.mantissa & ((1 << drop) - 1)),
        };
        let half = 1u128 << (drop - 1);
        let up = match below.cmp(&half) {
            Ordering::Greater => true,
            Ordering::Equal => self.sticky || kept & 1 == 1,
            Ordering::Less => false,
        };
        let rounded = kept + u128::from(up);
        match rounded >> bits {
            0 => (rounded as u64, self.exponent + drop),
            _ => ((rounded >> 1) as u64, self.exponent + drop + 1),
        }
    }

    fn long_double(self, negative: bool) -> LongDouble {
        let (mantissa, exponent) = self.round(64, EXPONENT_MIN);
        if exponent > EXPONENT_MAX {
            LongDouble::infinity(negative)
        } else {
            LongDouble { negative, mantissa, exponent }
        }
    }
}

impl LongDouble {
    fn infinity(negative: bool) -> LongDouble {
        LongDouble { negative, mantissa: u64::MAX, exponent: INFINITE }
    }

    fn zero(negative: bool) -> LongDouble {
        LongDouble { negative, mantissa: 0, exponent: EXPONENT_MIN }
    }

    /// Reads a number as Redis's string2ld does: the rules of `parse_f64`, in long double.
    pub fn parse(text: &[u8]) -> Option<LongDouble> {
        if text.len() >= TEXT_BYTES_MAX {
            return None;
        }
        let (negative, unsigned) = split_sign(text);
        if is_infinity(unsigned) {
            return Some(LongDouble::infinity(negative));
        }
        let number = match unsigned {
            [b'0', b'x' | b'X', digits @ ..] => parse_hexadecimal(digits)?,
            _ => match Decimal::parse(unsigned)? {
                Decimal { digits, .. } if digits.is_empty() => return Some(LongDouble::zero(negative)),
                decimal => decimal.to_binary()?,
            },
        };
        let value = number.long_double(negative);
        let vanished = value.mantissa == 0 && number.mantissa != 0;
        (value.is_finite() && !vanished).then_some(value)
    }

    /// Neither of the infinities.
    pub fn is_finite(self) -> bool {
        self.exponent != INFINITE
    }

    /// The sum, rounded once; `None` where it is no number (inf - inf).
    pub fn plus(self, other: LongDouble) -> Option<LongDouble> {
        match (self.is_finite(), other.is_finite()) {
            (true, true) => Some(self.plus_finite(other)),
            (true, false) => Some(other),
            (false, true) => Some(self),
            (false, false) => (self.negative == other.negative).then_some(self),
        }
    }

    fn plus_finite(self, other: LongDouble) -> LongDouble {
        let (large, small) = match self.cmp_magnitude(other) {
            Ordering::Less => (other, self),
            _ => (self, other),
        };
        if small.mantissa == 0 {
            // 0 + -0 is 0.
            return LongDouble {
                negative: large.negative && (large.mantissa != 0 || small.negative),
                ..large
            };
        }
        // 62 bits of room below and two above: more than the three guard bits that exact rounding needs.
        let exponent = large.exponent - 62;
        let above = u128::from(large.mantissa) << 62;
        let wide = u128::from(small.mantissa) << 62;
        let shift = (large.exponent - small.exponent) as u32;
        let (below, sticky) = match shift {
            0..128 => (wide >> shift, wide & ((1 << shift) - 1) != 0),
            _ => (0, true),
        };
        let mantissa = match large.negative == small.negative {
            true => above + below,
            // What was shifted out is taken from the last bit; the rest of that bit is sticky.
            false => above - below - u128::from(sticky),
        };
        if mantissa == 0 && !sticky {
            return LongDouble::zero(false);
        }
        Unrounded { mantissa, exponent, sticky }.long_double(large.negative)
    }

    /// Full-width mantissas make the exponent decide; denormals share the smallest one.
    fn cmp_magnitude(self, other: LongDouble) -> Ordering {
        (self.exponent, self.mantissa).cmp(&(other.exponent, other.mantissa))
    }

    /// A thousand times the number, rounded as a product, and then up to a whole one; `None` where that has
    /// no place in 64 bits.
    pub fn thousandfold_up(self) -> Option<i64> {
        if !self.is_finite() {
            return None;
        }
        let mantissa = u128::from(self.mantissa) * 1_000;
        let product =
            Unrounded { mantissa, exponent: self.exponent, sticky: false }.long_double(self.negative);
        let (whole, rest) = match product.exponent {
            0.. => (u128::from(product.mantissa).checked_shl(product.exponent as u32)?, false),
            -63..0 => {
                let shift = product.exponent.unsigned_abs();
                (u128::from(product.mantissa >> shift), product.mantissa & ((1 << shift) - 1) != 0)
            }
            _ => (0, product.mantissa != 0),
        };
        if product.mantissa != 0 && product.exponent > 0 {
            return None;
        }
        let whole = i128::try_from(whole).ok()?;
        let up = if product.negative { -whole } else { whole + i128::from(rest) };
        i64::try_from(up).ok()
    }

    /// Appends the number as Redis's ld2string does for people (`%.17Lf`, less trailing zeros): never an
    /// exponent, up to 4,933 digits.
    pub fn write(self, out: &mut Vec<u8>) {
        let start = out.len();
        if self.negative {
            out.push(b'-');
        }
        if !self.is_finite() {
            return out.extend_from_slice(b"inf");
        }
        if self.exponent > 0 {
            return write_large(self.mantissa, self.exponent as u32, out);
        }
        let scaled = u128::from(self.mantissa) * DECIMALS_POWER;
        let scaled = round_shift(scaled, self.exponent.unsigned_abs());
        let (whole, fraction) = (scaled / DECIMALS_POWER, scaled % DECIMALS_POWER);
        if whole == 0 && fraction == 0 {
            out.truncate(start);
            return out.push(b'0');
        }
        out.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes());
        if fraction != 0 {
            let mut digits = itoa::Buffer::new();
            let digits = digits.format(fraction);
            out.push(b'.');
            out.extend(std::iter::repeat_n(b'0', DECIMALS - digits.len()));
            out.extend_from_slice(digits.trim_end_matches('0').as_bytes());
        }
    }
}

impl From<f64> for LongDouble {
    /// Exact. `value` is not a NaN.
    fn from(value: f64) -> LongDouble {
        assert!(!value.is_nan(), "a long double is a number");
        let negative = value.is_sign_negative();
        if value.is_infinite() {
            return LongDouble::infinity(negative);
        }
        let bits = value.to_bits();
        let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i32);
        let (mantissa, exponent) = match exponent {
            0 => (fraction, -1074),
            _ => (fraction | 1 << 52, exponent - 1075),
        };
        Unrounded { mantissa: mantissa.into(), exponent, sticky: false }.long_double(negative)
    }
}

impl From<i64> for LongDouble {
    fn from(value: i64) -> LongDouble {
        let mantissa = value.unsigned_abs().into();
        Unrounded { mantissa, exponent: 0, sticky: false }.long_double(value < 0)
    }
}

/// Reads a signed hexadecimal double such as `-0x1.8p-3`, rounded to 53 bits.
pub(crate) fn parse_hexadecimal_f64(text: &[u8]) -> Option<f64> {
    let (negative, unsigned) = split_sign(text);
    let number = parse_hexadecimal(unsigned.get(2..)?)?;
    let (mantissa, exponent) = number.round(53, -1074);
    if (mantissa == 0 && number.mantissa != 0) || exponent > 1023 - 52 {
        return None;
    }
    // Exact: the mantissa was rounded to what is left of it at this exponent. In two steps, since 2^-1074
    // times 2^53 fits where 2^-1074 alone would be the smallest number there is.
    let half = exponent / 2;
    let value = mantissa as f64 * 2f64.powi(half) * 2f64.powi(exponent - half);
    Some(if negative { -value } else { value })
}

fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    }
}

/// What follows `0x`: digits with at most one point, then perhaps `p` and a power of two.
fn parse_hexadecimal(text: &[u8]) -> Option<Unrounded> {
    let end = text.iter().position(|byte| matches!(byte, b'p' | b'P')).unwrap_or(text.len());
    let mut exponent = match text.get(end + 1..) {
        Some(exponent) => parse_exponent(exponent)?,
        None => 0,
    };
    let (mut mantissa, mut sticky, mut any, mut fraction) = (0u128, false, false, false);
    for &byte in &text[..end] {
        if byte == b'.' && !fraction {
            fraction = true;
            continue;
        }
        let digit = char::from(byte).to_digit(16)?;
        any = true;
        if mantissa >> 124 == 0 {
            mantissa = mantissa << 4 | u128::from(digit);
            exponent = exponent.saturating_sub(if fraction { 4 } else { 0 });
        } else {
            sticky |= digit != 0;
            exponent = exponent.saturating_add(if fraction { 0 } else { 4 });
        }
    }
    any.then_some(Unrounded { mantissa, exponent, sticky })
}

/// A decimal exponent, cut to a size where it no longer matters.
fn parse_exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() {
        return None;
    }
    let mut exponent = 0i32;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        exponent = (exponent * 10 + i32::from(digit)).min(100_000);
    }
    Some(if negative { -exponent } else { exponent })
}

/// Significant digits (values, no zeros at either end) and the power of ten of the last.
struct Decimal {
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    fn parse(text: &[u8]) -> Option<Decimal> {
        let end = text.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(text.len());
        let mut exponent = match text.get(end + 1..) {
            Some(exponent) => parse_exponent(exponent)?,
            None => 0,
        };
        let mut digits = Vec::with_capacity(end);
        let (mut any, mut fraction) = (false, false);
        for &byte in &text[..end] {
            match byte {
                b'.' if !fraction => fraction = true,
                b'0'..=b'9' => {
                    any = true;
                    exponent -= i32::from(fraction);
                    if byte != b'0' || !digits.is_empty() {
                        digits.push(byte - b'0');
                    }
                }
                _ => return None,
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
            exponent += 1;
        }
        any.then_some(Decimal { digits, exponent })
    }

    /// At least 66 leading bits of the number, the rest in `sticky`. `None` where it is far out of range.
    fn to_binary(&self) -> Option<Unrounded> {
        let magnitude = self.digits.len() as i32 + self.exponent;
        if !(-5_000..=5_000).contains(&magnitude) {
            return None;
        }
        if self.digits.len() <= 19 && (-18..=18).contains(&self.exponent) {
            let number = self.digits.iter().fold(0u128, |number, digit| number * 10 + u128::from(*digit));
            let power = 10u128.pow(self.exponent.unsigned_abs());
            if self.exponent >= 0 {
                return Some(Unrounded { mantissa: number * power, exponent: 0, sticky: false });
            }
            let up = number.leading_zeros();
            let wide = number << up;
            return Some(Unrounded {
                mantissa: wide / power,
                exponent: -(up as i32),
                sticky: wide % power != 0,
            });
        }
        Some(self.to_binary_slowly())
    }

    /// By whole numbers of any size: digits * 10^exponent = digits * 5^exponent * 2^exponent.
    fn to_binary_slowly(&self) -> Unrounded {
        let mut number = Natural::default();
        for group in self.digits.chunks(9) {
            let value = group.iter().fold(0, |value, digit| value * 10 + u32::from(*digit));
            number.multiply_add(10u32.pow(group.len() as u32), value);
        }
        let power = Natural::power_of_five(self.exponent.unsigned_abs());
        if self.exponent >= 0 {
            let (mantissa, up, sticky) = number.times(&power).leading_bits();
            return Unrounded { mantissa, exponent: self.exponent + up, sticky };
        }
        // Shifted so that the quotient has 67 or 68 bits, found one by one.
        let up = power.bits() as i32 - number.bits() as i32;
        let (mut rest, power) = match up {
            0.. => (number.shifted(up as usize), power),
            _ => (number, power.shifted(up.unsigned_abs() as usize)),
        };
        let mut mantissa = 0u128;
        for _ in 0..68 {
            mantissa <<= 1;
            if rest.subtract_if_not_less(&power) {
                mantissa |= 1;
            }
            rest.multiply_add(2, 0);
        }
        Unrounded { mantissa, exponent: self.exponent - up - 67, sticky: !rest.is_zero() }
    }
}

/// `value / 2^shift` to the nearest whole number, ties to even.
fn round_shift(value: u128, shift: u32) -> u128 {
    if shift == 0 {
        return value;
    }
    // A scaled mantissa has at most 121 bits: it is less than half of 2^122.
    if shift > 122 {
        return 0;
    }
    let (kept, below, half) = (value >> shift, value & ((1 << shift) - 1), 1u128 << (shift - 1));
    kept + u128::from(below > half || (below == half && kept & 1 == 1))
}

/// A whole number too large for its fraction to exist.
fn write_large(mantissa: u64, up: u32, out: &mut Vec<u8>) {
    let mut number = Natural::from(mantissa).shifted(up as usize);
    let mut groups = Vec::new();
    while !number.is_zero() {
        groups.push(number.divide(1_000_000_000));
    }
    let first = groups.pop().expect("a mantissa is not zero at this exponent");
    out.extend_from_slice(itoa::Buffer::new().format(first).as_bytes());
    for group in groups.iter().rev() {
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(*group).as_bytes();
        out.extend(std::iter::repeat_n(b'0', 9 - digits.len()));
        out.extend_from_slice(digits);
    }
}
