//! Integers of 1 to 64 bits anywhere among the bits of a string, and what becomes of sums that do not fit.
//! It does not know keys.

/// What is done with a value that an integer cannot hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Overflow {
    /// Its lowest bits are kept.
    Wrap,
    /// The nearest value is.
    Saturate,
    /// Nothing is written.
    Fail,
}

/// How an integer is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Encoding {
    signed: bool,
    /// 1 to 64, or to 63 without a sign.
    bits: u32,
}

impl Encoding {
    /// `i` or `u` and the number of bits.
    pub(super) fn read(argument: &[u8]) -> Option<Encoding> {
        let (signed, digits) = match argument {
            [b'i', digits @ ..] => (true, digits),
            [b'u', digits @ ..] => (false, digits),
            _ => return None,
        };
        let bits = u32::try_from(resp::parse_i64(digits)?).ok()?;
        let most = if signed { 64 } else { 63 };
        (1..=most).contains(&bits).then_some(Encoding { signed, bits })
    }

    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    /// The integer at bit `offset`; bits beyond the end are clear.
    pub(super) fn get(self, bytes: &[u8], offset: u64) -> i64 {
        let window = Window::of(offset, self.bits);
        let mut held = 0;
        for at in window.first..=window.last {
            held = held << 8 | u128::from(bytes.get(at).copied().unwrap_or(0));
        }
        self.narrowed((held >> window.below) as i128)
    }

    /// Puts the lowest bits of a value at bit `offset`, where the string is long enough.
    pub(super) fn put(self, bytes: &mut [u8], offset: u64, value: i64) {
        let window = Window::of(offset, self.bits);
        let mask = ((1u128 << self.bits) - 1) << window.below;
        let value = (value as u128) << window.below & mask;
        for (back, at) in (window.first..=window.last).rev().enumerate() {
            let (mask, value) = ((mask >> (8 * back)) as u8, (value >> (8 * back)) as u8);
            bytes[at] = bytes[at] & !mask | value;
        }
    }

    /// A value as SET takes it: without a sign it is read as one of 64 bits.
    pub(super) fn widened(self, value: i64) -> i128 {
        if self.signed { value.into() } else { i128::from(value.cast_unsigned()) }
    }

    /// The value that is written in place of this one; `None`: none is.
    pub(super) fn fitted(self, value: i128, overflow: Overflow) -> Option<i64> {
        let (least, most) = match self.signed {
            true => (-(1i128 << (self.bits - 1)), (1i128 << (self.bits - 1)) - 1),
            false => (0, (1i128 << self.bits) - 1),
        };
        if (least..=most).contains(&value) {
            return Some(value as i64);
        }
        match overflow {
            Overflow::Wrap => Some(self.narrowed(value)),
            Overflow::Saturate => Some(value.clamp(least, most) as i64),
            Overflow::Fail => None,
        }
    }

    /// What the lowest bits stand for.
    fn narrowed(self, value: i128) -> i64 {
        let unused = 128 - self.bits;
        match self.signed {
            true => (value << unused >> unused) as i64,
            false => ((value as u128) << unused >> unused) as i64,
        }
    }
}

/// The bytes that an integer lies in: at most nine.
struct Window {
    first: usize,
    last: usize,
    /// Bits of the last byte that are behind it.
    below: u32,
}

impl Window {
    fn of(offset: u64, bits: u32) -> Window {
        let end = offset + u64::from(bits) - 1;
        Window { first: (offset / 8) as usize, last: (end / 8) as usize, below: 7 - (end % 8) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_comes_back_and_leaves_its_neighbours_alone() {
        let mut random = crate::Random::new(9);
        for _ in 0..20_000 {
            let signed = random.below(2) == 0;
            let encoding = Encoding { signed, bits: 1 + random.below(if signed { 64 } else { 63 }) as u32 };
            let before: [u8; 20] = std::array::from_fn(|_| random.draw() as u8);
            let offset = random.below(20 * 8 - u64::from(encoding.bits) + 1);
            let value = encoding.narrowed(random.draw().into());
            let mut after = before;
            encoding.put(&mut after, offset, value);
            assert_eq!(encoding.get(&after, offset), value);
            encoding.put(&mut after, offset, encoding.get(&before, offset));
            assert_eq!(after, before);
        }
    }

    #[test]
    fn values_that_do_not_fit_wrap_saturate_or_fail() {
        let of = |text: &str| Encoding::read(text.as_bytes()).unwrap();
        let all = |encoding: Encoding, value| {
            [Overflow::Wrap, Overflow::Saturate, Overflow::Fail].map(|how| encoding.fitted(value, how))
        };
        assert_eq!(all(of("u8"), 256), [Some(0), Some(255), None]);
        assert_eq!(all(of("u8"), -1), [Some(255), Some(0), None]);
        assert_eq!(all(of("i8"), 128), [Some(-128), Some(127), None]);
        assert_eq!(all(of("i64"), i128::from(i64::MAX) + 1), [Some(i64::MIN), Some(i64::MAX), None]);
        assert_eq!(all(of("u63"), 1 << 63), [Some(0), Some(i64::MAX), None]);
        assert_eq!(all(of("i1"), 1), [Some(-1), Some(0), None]);
        assert_eq!(of("u8").widened(-1), i128::from(u64::MAX));
        for wrong in ["u64", "i65", "i0", "u0", "8", "I8", "", "i", "i+8", "i08"] {
            assert_eq!(Encoding::read(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
