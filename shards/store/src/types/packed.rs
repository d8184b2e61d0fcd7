//! Packed items: texts and integers one after the other in a run of bytes, each followed by its own
//! length so that it can be walked from both ends. It knows neither kinds nor keys.
//!
//! An item is laid out as an entry of Redis's listpack (its listpack.md), so that snapshots can take
//! items as they are; the head and tail of a listpack are left out.
//!
//! ```text
//! 0xxxxxxx                    0 to 127          110xxxxx x            13-bit integer
//! 10llllll text               up to 63 bytes    1110llll l text       up to 4095 bytes
//! 11110000 llll text          longer            11110001 to 11110100  integer of 2, 3, 4, 8 bytes
//! ```
//!
//! Each is followed by the bytes it took so far, seven bits a byte, to be read backwards. Every value has
//! one encoding, its shortest; who keeps texts gives [`Text::of`] them, so that equal texts are equal items.

use crate::text::Text;

const INT_13: u8 = 0xc0;
const TEXT_12: u8 = 0xe0;
const TEXT_32: u8 = 0xf0;
const INT_16: u8 = 0xf1;
const INT_24: u8 = 0xf2;
const INT_32: u8 = 0xf3;
const INT_64: u8 = 0xf4;

/// Appends an item.
#[inline]
pub(crate) fn append(out: &mut Vec<u8>, text: Text<'_>) {
    let length = match text {
        Text::Int(value) => append_int(out, value),
        Text::Bytes(bytes) => {
            let head = match bytes.len() {
                length @ 0..=0x3f => {
                    out.push(0x80 | length as u8);
                    1
                }
                length @ 0x40..=0xfff => {
                    out.extend_from_slice(&[TEXT_12 | (length >> 8) as u8, length as u8]);
                    2
                }
                length => {
                    let length = u32::try_from(length).expect("no argument is longer than 4 GiB");
                    out.push(TEXT_32);
                    out.extend_from_slice(&length.to_le_bytes());
                    5
                }
            };
            out.extend_from_slice(bytes);
            head + bytes.len()
        }
    };
    append_length(out, length);
}

/// Appends an integer without its backward length; answers how many bytes it took.
fn append_int(out: &mut Vec<u8>, value: i64) -> usize {
    let before = out.len();
    let bytes = value.to_le_bytes();
    match value {
        0..=0x7f => out.push(value as u8),
        -0x1000..=0xfff => out.extend_from_slice(&[INT_13 | (value >> 8) as u8 & 0x1f, value as u8]),
        -0x8000..=0x7fff => out.extend_from_slice(&[INT_16, bytes[0], bytes[1]]),
        -0x80_0000..=0x7f_ffff => out.extend_from_slice(&[INT_24, bytes[0], bytes[1], bytes[2]]),
        -0x8000_0000..=0x7fff_ffff => {
            out.push(INT_32);
            out.extend_from_slice(&bytes[..4]);
        }
        _ => {
            out.push(INT_64);
            out.extend_from_slice(&bytes);
        }
    }
    out.len() - before
}

/// Bytes of the backward length of an item of `length` bytes. The bounds are listpack's.
#[inline]
fn length_size(length: usize) -> usize {
    match length {
        0..=127 => 1,
        128..=16_382 => 2,
        16_383..=2_097_150 => 3,
        2_097_151..=268_435_454 => 4,
        _ => 5,
    }
}

#[inline]
fn append_length(out: &mut Vec<u8>, length: usize) {
    let size = length_size(length);
    if size == 1 {
        return out.push(length as u8);
    }
    out.push((length >> (7 * (size - 1))) as u8);
    (0..size - 1).rev().for_each(|group| out.push((length >> (7 * group)) as u8 & 0x7f | 0x80));
}

/// Bytes that an item takes.
pub(crate) fn size(text: Text<'_>) -> usize {
    let length = match text {
        Text::Int(0..=0x7f) => 1,
        Text::Int(-0x1000..=0xfff) => 2,
        Text::Int(-0x8000..=0x7fff) => 3,
        Text::Int(-0x80_0000..=0x7f_ffff) => 4,
        Text::Int(-0x8000_0000..=0x7fff_ffff) => 5,
        Text::Int(_) => 9,
        Text::Bytes(bytes) => match bytes.len() {
            length @ 0..=0x3f => 1 + length,
            length @ 0x40..=0xfff => 2 + length,
            length => 5 + length,
        },
    };
    length + length_size(length)
}

/// Where the head of an item ends and how long it is in all, without its backward length.
#[inline]
fn measure(bytes: &[u8], at: usize) -> (usize, usize) {
    match bytes[at] {
        0..=0x7f => (0, 1),
        head @ 0x80..=0xbf => (1, 1 + usize::from(head & 0x3f)),
        0xc0..=0xdf => (0, 2),
        head @ 0xe0..=0xef => (2, 2 + (usize::from(head & 0xf) << 8 | usize::from(bytes[at + 1]))),
        TEXT_32 => {
            let length = bytes[at + 1..at + 5].try_into().expect("four bytes");
            (5, 5 + u32::from_le_bytes(length) as usize)
        }
        INT_16 => (0, 3),
        INT_24 => (0, 4),
        INT_32 => (0, 5),
        INT_64 => (0, 9),
        head => unreachable!("no item begins with {head}"),
    }
}

/// The end of the item that begins at `at`: where the next one begins.
#[inline]
pub(crate) fn end_of(bytes: &[u8], at: usize) -> usize {
    let (_, length) = measure(bytes, at);
    at + length + length_size(length)
}

/// The beginning of the item that ends at `end`.
#[inline]
pub(crate) fn start_of(bytes: &[u8], end: usize) -> usize {
    let (mut length, mut shift, mut at) = (0, 0, end - 1);
    loop {
        let byte = bytes[at];
        length |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return at - length;
        }
        shift += 7;
        at -= 1;
    }
}

/// The item that begins at `at`.
#[inline]
pub(crate) fn text_at(bytes: &[u8], at: usize) -> Text<'_> {
    let (head, length) = measure(bytes, at);
    if head > 0 {
        return Text::Bytes(&bytes[at + head..at + length]);
    }
    let part = |from: usize| i64::from(bytes[at + from]);
    Text::Int(match bytes[at] {
        small @ 0..=0x7f => i64::from(small),
        // The sign is the fifth of the upper bits.
        high @ 0xc0..=0xdf => (i64::from(high & 0x1f) << 59 >> 51) | part(1),
        INT_16 => i64::from(i16::from_le_bytes([bytes[at + 1], bytes[at + 2]])),
        INT_24 => part(1) | part(2) << 8 | i64::from(bytes[at + 3] as i8) << 16,
        INT_32 => i64::from(i32::from_le_bytes(bytes[at + 1..at + 5].try_into().expect("four bytes"))),
        _ => i64::from_le_bytes(bytes[at + 1..at + 9].try_into().expect("eight bytes")),
    })
}

/// Where the item lies that is `count` items behind the one at `at`; the end, if there are fewer.
#[inline]
pub(crate) fn skip(bytes: &[u8], mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        if at >= bytes.len() {
            break;
        }
        at = end_of(bytes, at);
    }
    at
}

/// Where the item begins that is `count` items in front of `end`; the beginning, if there are fewer.
#[inline]
pub(crate) fn skip_back(bytes: &[u8], mut end: usize, count: usize) -> usize {
    for _ in 0..count {
        if end == 0 {
            break;
        }
        end = start_of(bytes, end);
    }
    end
}

/// How many items there are.
pub(crate) fn count(bytes: &[u8]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        at = end_of(bytes, at);
        count += 1;
    }
    count
}

/// Where the first item lies that is `text`, looking at every `step`-th from the one at `at` on.
pub(crate) fn find(bytes: &[u8], mut at: usize, step: usize, text: Text<'_>) -> Option<usize> {
    while at < bytes.len() {
        if text_at(bytes, at) == text {
            return Some(at);
        }
        at = skip(bytes, at, step);
    }
    None
}

/// The number of items, if bytes from elsewhere are items and nothing else.
#[cfg(test)]
pub(crate) fn validate(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        // The longest head has five bytes; what is cut off counts as zeros, and is then too short.
        let mut head = [0; 5];
        let known = rest.len().min(5);
        head[..known].copy_from_slice(&rest[..known]);
        if head[0] > INT_64 {
            return None;
        }
        let (_, length) = measure(&head, 0);
        let end = length + length_size(length);
        if end > rest.len() || start_of_checked(&rest[..end])? != 0 {
            return None;
        }
        // One encoding for each value, or the same would be taken for different.
        if size(text_at(rest, 0)) != end {
            return None;
        }
        at += end;
        count += 1;
    }
    Some(count)
}

/// As [`start_of`] the last item of bytes that may be anything.
#[cfg(test)]
fn start_of_checked(bytes: &[u8]) -> Option<usize> {
    let (mut length, mut shift) = (0usize, 0);
    for (at, byte) in bytes.iter().enumerate().rev().take(5) {
        length |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return at.checked_sub(length);
        }
        shift += 7;
    }
    None
}

/// The items of a run of bytes, from either end.
#[derive(Clone, Copy)]
pub(crate) struct Items<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Items<'a> {
    /// All items of `bytes`.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Items<'a> {
        Items { bytes, at: 0, end: bytes.len() }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Text<'a>;

    #[inline]
    fn next(&mut self) -> Option<Text<'a>> {
        if self.at >= self.end {
            return None;
        }
        let at = self.at;
        self.at = end_of(self.bytes, at);
        Some(text_at(self.bytes, at))
    }
}

impl DoubleEndedIterator for Items<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        self.end = start_of(self.bytes, self.end);
        Some(text_at(self.bytes, self.end))
    }
}
