//! Copying and comparing a few bytes without a call: keys and values are short as a rule.

/// Copies bytes to an address.
///
/// # Safety
/// There is room for them at `to`, and they do not overlap it.
#[inline]
pub(crate) unsafe fn copy(bytes: &[u8], to: *mut u8) {
    let (from, length) = (bytes.as_ptr(), bytes.len());
    // SAFETY: every word lies within the first `length` bytes on both sides: two words from either
    // end cover up to twice their width. What the sides are good for, the caller says.
    unsafe {
        match length {
            8..=16 => {
                let (first, last) = (word(from), word(from.add(length - 8)));
                to.cast::<u64>().write_unaligned(first);
                to.add(length - 8).cast::<u64>().write_unaligned(last);
            }
            4..8 => {
                let (first, last) = (half(from), half(from.add(length - 4)));
                to.cast::<u32>().write_unaligned(first);
                to.add(length - 4).cast::<u32>().write_unaligned(last);
            }
            17..=32 => {
                let (first, second) = (word(from), word(from.add(8)));
                let (third, last) = (word(from.add(length - 16)), word(from.add(length - 8)));
                to.cast::<u64>().write_unaligned(first);
                to.add(8).cast::<u64>().write_unaligned(second);
                to.add(length - 16).cast::<u64>().write_unaligned(third);
                to.add(length - 8).cast::<u64>().write_unaligned(last);
            }
            _ => std::ptr::copy_nonoverlapping(from, to, length),
        }
    }
}

/// The longest text that [`equal`] is for.
pub(crate) const EQUAL_BYTES_MAX: usize = 32;

/// Whether two short texts of equal length are equal.
#[inline]
pub(crate) fn equal(a: &[u8], b: &[u8]) -> bool {
    let length = a.len();
    assert!(length == b.len() && length <= EQUAL_BYTES_MAX, "the caller looked");
    let (x, y) = (a.as_ptr(), b.as_ptr());
    // SAFETY: as in `copy`: all words lie within the two texts.
    unsafe {
        if length >= 8 {
            let end = length - 8;
            if word(x) != word(y) || word(x.add(end)) != word(y.add(end)) {
                return false;
            }
            return length <= 16
                || word(x.add(8)) == word(y.add(8)) && word(x.add(end - 8)) == word(y.add(end - 8));
        }
        if length >= 4 {
            let end = length - 4;
            return half(x) == half(y) && half(x.add(end)) == half(y.add(end));
        }
    }
    a == b
}

/// # Safety
/// Eight bytes can be read there.
#[inline]
unsafe fn word(at: *const u8) -> u64 {
    // SAFETY: the caller's word.
    unsafe { at.cast::<u64>().read_unaligned() }
}

/// # Safety
/// Four bytes can be read there.
#[inline]
unsafe fn half(at: *const u8) -> u32 {
    // SAFETY: the caller's word.
    unsafe { at.cast::<u32>().read_unaligned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_short_length_are_copied_and_compared_whole() {
        let text: Vec<u8> = (1..100).collect();
        for length in 0..text.len() {
            let mut copied = vec![0; length + 16];
            // SAFETY: there is room.
            unsafe { copy(&text[..length], copied[8..].as_mut_ptr()) };
            assert_eq!(copied[8..8 + length], text[..length]);
            assert!(copied[..8].iter().chain(&copied[8 + length..]).all(|&byte| byte == 0));
            if length > EQUAL_BYTES_MAX {
                continue;
            }
            assert!(equal(&copied[8..8 + length], &text[..length]));
            for wrong in 8..8 + length {
                copied[wrong] ^= 1;
                assert!(!equal(&copied[8..8 + length], &text[..length]), "{wrong} of {length}");
                copied[wrong] ^= 1;
            }
        }
    }
}
