//! One packed page: entries of `P` texts each, one after the other, in a buffer `B` that somebody else
//! provides. It knows tags and texts; it does not know where pages lie, or other pages.
//!
//! ```text
//! entries: u32 | bytes in use: u32 | owner: u32 | a tag an entry | P codes an entry | bytes of the texts
//! ```
//! Tags lie together so that eight are compared at once; where an entry's texts begin is the sum of
//! what the codes before it stand for, which is also found eight at a time. A page without entries has
//! an empty buffer.

use super::cells::OWNER_AT;
use super::lanes::{self, LANES, Lanes};
use super::longs::Longs;
use super::part::{self, LONG, Part, bytes_of, read_int};
use crate::hash::Hasher;
use crate::text::Text;
use std::ops::{Deref, DerefMut};

/// Bytes of the numbers in front; the third is not ours.
const HEAD: usize = OWNER_AT + 4;

/// A page; the buffer is empty or begins with the numbers.
#[derive(Clone, Copy)]
pub(super) struct Page<const P: usize, B>(pub(super) B);

/// An entry of a page: its number, and where its texts begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    index: usize,
    at: usize,
}

impl<const P: usize, B: Deref<Target = [u8]>> Page<P, B> {
    /// How many entries there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.first_chunk().map_or(0, |count| u32::from_le_bytes(*count) as usize)
    }

    /// Bytes in use.
    #[inline]
    pub(super) fn used(&self) -> usize {
        self.0.get(4..8).map_or(0, |used| u32::from_le_bytes(used.try_into().expect("four")) as usize)
    }

    #[inline]
    fn tag(&self, index: usize) -> u8 {
        self.0[HEAD + index]
    }

    #[inline]
    fn code_at(count: usize, index: usize) -> usize {
        HEAD + count + P * index
    }

    #[inline]
    fn code(&self, place: Place, which: usize) -> u8 {
        self.0[Self::code_at(self.len(), place.index) + which]
    }

    /// The entry of that number.
    #[inline]
    pub(super) fn place(&self, index: usize) -> Place {
        let count = self.len();
        debug_assert!(index < count);
        // From the nearer end.
        let (codes_at, texts_at) = (Self::code_at(count, 0), Self::code_at(count, count));
        let at = if 2 * index < count {
            texts_at + lanes::sum(&self.0, codes_at, P * index)
        } else {
            self.used() - lanes::sum(&self.0, codes_at + P * index, P * (count - index))
        };
        Place { index, at }
    }

    /// All entries.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        let count = self.len();
        let mut next = Place { index: 0, at: Self::code_at(count, count) };
        std::iter::from_fn(move || {
            let place = next;
            (place.index < count).then(|| {
                next = self.behind(place);
                place
            })
        })
    }

    /// Where the entry behind one would be.
    #[inline]
    fn behind(&self, place: Place) -> Place {
        Place { index: place.index + 1, at: place.at + self.entry_bytes(place) }
    }

    #[inline]
    fn entry_bytes(&self, place: Place) -> usize {
        let at = Self::code_at(self.len(), place.index);
        let mut size = 0;
        for code in &self.0[at..at + P] {
            size += bytes_of(*code);
        }
        size
    }

    /// Where a text's bytes are.
    #[inline]
    fn part_at(&self, place: Place, which: usize) -> std::ops::Range<usize> {
        let code_at = Self::code_at(self.len(), place.index);
        let mut at = place.at;
        for code in &self.0[code_at..code_at + which] {
            at += bytes_of(*code);
        }
        at..at + bytes_of(self.0[code_at + which])
    }

    /// What an entry's first text is told by.
    #[inline]
    fn identity<'a>(&'a self, place: Place, longs: &'a Longs) -> &'a [u8] {
        let bytes = &self.0[self.part_at(place, 0)];
        if self.code(place, 0) == LONG { longs.text(number_of(bytes)) } else { bytes }
    }

    /// The hash of an entry's first text.
    #[inline]
    pub(super) fn hash(&self, place: Place, longs: &Longs, hasher: &Hasher) -> u64 {
        part::hash(self.code(place, 0), self.identity(place, longs), hasher)
    }

    /// The entry whose first text has this hash.
    pub(super) fn find_hash(&self, tag: u8, hash: u64, longs: &Longs, hasher: &Hasher) -> Option<Place> {
        let mut places = self.places().filter(|place| self.tag(place.index) == tag);
        places.find(|place| self.hash(*place, longs, hasher) == hash)
    }

    /// The entry whose first text is this one.
    #[inline]
    pub(super) fn find(&self, tag: u8, part: &Part<'_>, longs: &Longs) -> Option<Place> {
        let (count, code, wanted) = (self.len(), part.code(), Lanes::all(tag));
        let mut first = 0;
        while first < count {
            for lane in wanted.matches(&self.0, HEAD + first) {
                let index = first + lane;
                // Behind the tags are codes.
                if index >= count {
                    break;
                }
                if self.0[Self::code_at(count, index)] == code {
                    let place = self.place(index);
                    if self.identity(place, longs) == part.identity() {
                        return Some(place);
                    }
                }
            }
            first += LANES;
        }
        None
    }

    /// Bytes in use with another entry.
    #[inline]
    pub(super) fn used_with(&self, parts: &[Part<'_>; P]) -> usize {
        let mut used = self.used().max(HEAD) + 1 + P;
        for part in parts {
            used += bytes_of(part.code());
        }
        used
    }

    /// Bytes in use with another text in the place of one.
    #[inline]
    pub(super) fn used_replaced(&self, place: Place, which: usize, part: &Part<'_>) -> usize {
        self.used() - bytes_of(self.code(place, which)) + bytes_of(part.code())
    }

    /// Gives back what an entry's text has elsewhere.
    #[inline]
    fn forget(&self, place: Place, which: usize, longs: &mut Longs) {
        if self.code(place, which) == LONG {
            longs.remove(number_of(&self.0[self.part_at(place, which)]));
        }
    }

    /// Gives back what all entries have elsewhere; the page is to be dropped.
    pub(super) fn forget_all(&self, longs: &mut Longs) {
        for place in self.places() {
            (0..P).for_each(|which| self.forget(place, which, longs));
        }
    }

    /// Its tags, its codes, and the bytes of its texts.
    pub(super) fn parts(&self) -> (&[u8], &[u8], &[u8]) {
        if self.0.is_empty() {
            return (&[], &[], &[]);
        }
        let (tags, rest) = self.0[HEAD..self.used()].split_at(self.len());
        let (codes, texts) = rest.split_at(P * tags.len());
        (tags, codes, texts)
    }
}

impl<'a, const P: usize> Page<P, &'a [u8]> {
    /// A text of an entry.
    #[inline]
    pub(super) fn text(self, place: Place, which: usize, longs: &'a Longs) -> Text<'a> {
        let (code, bytes) = (self.code(place, which), &self.0[self.part_at(place, which)]);
        if code < part::SPECIAL {
            return Text::Bytes(bytes);
        }
        match read_int(code, bytes) {
            Some(value) => Text::Int(value),
            None => Text::Bytes(longs.text(number_of(bytes))),
        }
    }

    /// The texts of all entries.
    pub(super) fn texts(self, longs: &'a Longs) -> impl Iterator<Item = [Text<'a>; P]> {
        let count = self.len();
        let mut next = Place { index: 0, at: Self::code_at(count, count) };
        std::iter::from_fn(move || {
            let place = next;
            (place.index < count).then(|| {
                next = self.behind(place);
                std::array::from_fn(|which| self.text(place, which, longs))
            })
        })
    }
}

impl<const P: usize> Page<P, Vec<u8>> {
    /// A page that is to have so many entries, with so many bytes of texts: all zeros so far.
    pub(super) fn with_room(count: usize, bytes: usize) -> Self {
        if count == 0 {
            return Page(Vec::new());
        }
        let used = Self::code_at(count, count) + bytes;
        let mut page = Page(vec![0; used + SPARE_BYTES]);
        page.set_head(count, used);
        page
    }
}

/// What a page in the making has more than it uses: room for steps of copies.
const SPARE_BYTES: usize = 16;

/// What changes a page; its buffer has room for that.
impl<const P: usize, B: DerefMut<Target = [u8]>> Page<P, B> {
    #[inline]
    fn set_head(&mut self, count: usize, used: usize) {
        self.0[..4].copy_from_slice(&(count as u32).to_le_bytes());
        self.0[4..8].copy_from_slice(&(used as u32).to_le_bytes());
    }

    /// Adds an entry behind the others.
    pub(super) fn push(&mut self, tag: u8, parts: &[Part<'_>; P], longs: &mut Longs) {
        let (count, used) = (self.len(), self.used().max(HEAD));
        let (texts_at, new_used) = (Self::code_at(count, count), self.used_with(parts));
        self.0.copy_within(texts_at..used, texts_at + 1 + P);
        self.0.copy_within(HEAD + count..texts_at, HEAD + count + 1);
        self.set_head(count + 1, new_used);
        self.0[HEAD + count] = tag;
        let mut at = used + 1 + P;
        for (which, part) in parts.iter().enumerate() {
            self.0[texts_at + 1 + which] = part.code();
            at += self.write(at, part, longs);
        }
    }

    /// Writes a text's bytes, and returns how many they are.
    #[inline]
    fn write(&mut self, at: usize, part: &Part<'_>, longs: &mut Longs) -> usize {
        let size = bytes_of(part.code());
        match part {
            Part::Long(text) => self.0[at..at + 4].copy_from_slice(&longs.add(text).to_le_bytes()),
            _ => self.0[at..at + size].copy_from_slice(part.identity()),
        }
        size
    }

    /// Takes an entry out; those behind it move up by one. A page without any keeps its numbers.
    pub(super) fn remove(&mut self, place: Place, longs: &mut Longs) {
        (0..P).for_each(|which| self.forget(place, which, longs));
        let (count, used, bytes) = (self.len(), self.used(), self.entry_bytes(place));
        let (tag_at, code_at) = (HEAD + place.index, Self::code_at(count, place.index));
        self.0.copy_within(tag_at + 1..code_at, tag_at);
        self.0.copy_within(code_at + P..place.at, code_at - 1);
        self.0.copy_within(place.at + bytes..used, place.at - 1 - P);
        let new_used = used - 1 - P - bytes;
        self.set_head(count - 1, new_used);
    }

    /// Puts another text in the place of one.
    pub(super) fn replace(&mut self, place: Place, which: usize, part: &Part<'_>, longs: &mut Longs) {
        self.forget(place, which, longs);
        let (used, range) = (self.used(), self.part_at(place, which));
        let new_end = range.start + bytes_of(part.code());
        let new_used = used - range.end + new_end;
        if new_end != range.end {
            self.0.copy_within(range.end..used, new_end);
            self.set_head(self.len(), new_used);
        }
        let code_at = Self::code_at(self.len(), place.index) + which;
        self.0[code_at] = part.code();
        self.write(range.start, part, longs);
    }

    /// The same to fill, with what room there is behind the texts.
    pub(super) fn parts_mut(&mut self) -> (&mut [u8], &mut [u8], &mut [u8]) {
        let count = self.len();
        if count == 0 {
            return (&mut [], &mut [], &mut []);
        }
        let (tags, rest) = self.0[HEAD..].split_at_mut(count);
        let (codes, texts) = rest.split_at_mut(P * count);
        (tags, codes, texts)
    }
}

/// The number that a long text's part holds.
#[inline]
pub(super) fn number_of(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(*bytes.first_chunk().expect("a long text has a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_and_go_in_order() {
        let (mut page, mut longs) = (Page::<2, _>(vec![0; 4096]), Longs::new());
        let long = [b'l'; 1000];
        let rows: [[&[u8]; 2]; 5] =
            [[b"field", b"value"], [b"12", b"-3000000"], [b"", &long], [&long, b""], [b"z", b"12345678901"]];
        for (index, row) in rows.iter().enumerate() {
            page.push(index as u8 % 2, &row.map(Part::of), &mut longs);
        }
        let text = |page: &Page<2, Vec<u8>>, longs: &Longs, index: u8, field: &[u8]| -> Option<String> {
            let place = page.find(index % 2, &Part::of(field), longs)?;
            Some(match Page::<2, &[u8]>(&page.0).text(place, 1, longs) {
                Text::Int(value) => value.to_string(),
                Text::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            })
        };
        for (index, row) in rows.iter().enumerate() {
            let value = String::from_utf8_lossy(row[1]).into_owned();
            assert_eq!(text(&page, &longs, index as u8, row[0]), Some(value));
            assert_eq!(text(&page, &longs, index as u8 + 1, row[0]), None);
        }
        let place = page.find(0, &Part::of(b""), &longs).unwrap();
        page.replace(place, 1, &Part::of(b"short"), &mut longs);
        assert_eq!(text(&page, &longs, 2, b""), Some("short".into()));
        page.remove(page.place(1), &mut longs);
        assert_eq!((page.len(), text(&page, &longs, 1, b"12")), (4, None));
        assert_eq!(text(&page, &longs, 4, b"z"), Some("12345678901".into()));
        while page.len() > 0 {
            page.remove(page.place(page.len() / 2), &mut longs);
        }
        assert_eq!((page.used(), longs.bytes()), (HEAD, 0));
    }
}
