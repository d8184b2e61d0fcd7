//! Natural numbers of any size: just what reading and printing a long double exactly takes.
//! Schoolbook methods; the sizes are bounded by the callers (about 24,000 bits).

/// A natural number of any size, lowest word first, no zero words on top.
#[derive(Default)]
pub(crate) struct Natural {
    words: Vec<u32>,
}

impl Natural {
    pub(crate) fn power_of_five(exponent: u32) -> Natural {
        let mut power = Natural { words: vec![1] };
        for _ in 0..exponent / 13 {
            power.multiply_add(5u32.pow(13), 0);
        }
        power.multiply_add(5u32.pow(exponent % 13), 0);
        power
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.words.is_empty()
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    pub(crate) fn bits(&self) -> usize {
        let unused = self.words.last().map_or(0, |word| word.leading_zeros() as usize);
        self.words.len() * 32 - unused
    }

    pub(crate) fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for word in &mut self.words {
            carry += u64::from(*word) * u64::from(factor);
            *word = carry as u32;
            carry >>= 32;
        }
        if carry != 0 {
            self.words.push(carry as u32);
        }
    }

    pub(crate) fn times(&self, other: &Natural) -> Natural {
        let mut words = vec![0u32; self.words.len() + other.words.len()];
        for (at, &word) in self.words.iter().enumerate() {
            let mut carry = 0u64;
            for (offset, &factor) in other.words.iter().enumerate() {
                carry += u64::from(words[at + offset]) + u64::from(word) * u64::from(factor);
                words[at + offset] = carry as u32;
                carry >>= 32;
            }
            words[at + other.words.len()] = carry as u32;
        }
        let mut product = Natural { words };
        product.trim();
        product
    }

    pub(crate) fn shifted(&self, up: usize) -> Natural {
        let mut shifted = Natural { words: vec![0; up / 32] };
        let mut carry = 0u64;
        for &word in &self.words {
            carry |= u64::from(word) << (up % 32);
            shifted.words.push(carry as u32);
            carry >>= 32;
        }
        shifted.words.push(carry as u32);
        shifted.trim();
        shifted
    }

    /// Divides in place; returns the remainder.
    pub(crate) fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0u64;
        for word in self.words.iter_mut().rev() {
            let wide = rest << 32 | u64::from(*word);
            *word = (wide / u64::from(divisor)) as u32;
            rest = wide % u64::from(divisor);
        }
        self.trim();
        rest as u32
    }

    /// Takes `other` away if that leaves nothing below zero; says whether it did.
    pub(crate) fn subtract_if_not_less(&mut self, other: &Natural) -> bool {
        let by_length = self.words.len().cmp(&other.words.len());
        if by_length.then_with(|| self.words.iter().rev().cmp(other.words.iter().rev())).is_lt() {
            return false;
        }
        let mut borrow = false;
        for (at, word) in self.words.iter_mut().enumerate() {
            let (less, first) = word.overflowing_sub(other.words.get(at).copied().unwrap_or(0));
            let (less, second) = less.overflowing_sub(u32::from(borrow));
            (*word, borrow) = (less, first || second);
        }
        self.trim();
        true
    }

    /// The top 97 to 128 bits, how many bits lie below them, and whether any of those is set.
    pub(crate) fn leading_bits(&self) -> (u128, i32, bool) {
        let below = self.words.len().saturating_sub(4);
        let top = self.words[below..].iter().rev().fold(0u128, |top, word| top << 32 | u128::from(*word));
        (top, below as i32 * 32, self.words[..below].iter().any(|word| *word != 0))
    }
}

impl From<u64> for Natural {
    fn from(value: u64) -> Natural {
        let mut number = Natural { words: vec![value as u32, (value >> 32) as u32] };
        number.trim();
        number
    }
}
