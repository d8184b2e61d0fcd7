//! One packed page: entries of `P` texts each, one after the other, in a buffer as large as the
//! allocator would make it anyway. It knows tags and texts; it does not know hashes or other pages.
//!
//! ```text
//! entries: u32 | bytes in use: u32 | a tag an entry | P codes an entry | bytes of the texts
//! ```
//! Tags lie together so that eight are compared at once; where an entry's texts begin is the sum of
//! what the codes before it stand for, which is also found eight at a time. A page without entries has
//! no buffer.

use super::lanes::{self, LANES, Lanes};
use super::longs::Longs;
use super::part::{self, LONG, Part, bytes_of, read_int};
use crate::hash::Hasher;
use crate::text::Text;

/// Bytes of the two numbers in front.
const HEAD: usize = 8;

/// A page; the buffer is empty or begins with the two numbers.
#[derive(Clone, Default)]
pub(super) struct Page<const P: usize>(Box<[u8]>);

/// An entry of a page: its number, and where its texts begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    index: usize,
    at: usize,
}

impl<const P: usize> Page<P> {
    /// How many entries there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.first_chunk().map_or(0, |count| u32::from_le_bytes(*count) as usize)
    }

    /// Bytes in use.
    #[inline]
    pub(super) fn used(&self) -> usize {
        self.0.get(4..HEAD).map_or(0, |used| u32::from_le_bytes(used.try_into().expect("four")) as usize)
    }

    /// Bytes of the buffer.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn set_head(&mut self, count: usize, used: usize) {
        self.0[..4].copy_from_slice(&(count as u32).to_le_bytes());
        self.0[4..HEAD].copy_from_slice(&(used as u32).to_le_bytes());
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

    /// A text of an entry.
    #[inline]
    pub(super) fn text<'a>(&'a self, place: Place, which: usize, longs: &'a Longs) -> Text<'a> {
        let (code, bytes) = (self.code(place, which), &self.0[self.part_at(place, which)]);
        if code < part::SPECIAL {
            return Text::Bytes(bytes);
        }
        match read_int(code, bytes) {
            Some(value) => Text::Int(value),
            None => Text::Bytes(longs.text(number_of(bytes))),
        }
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

    /// Adds an entry behind the others.
    pub(super) fn push(&mut self, tag: u8, parts: &[Part<'_>; P], longs: &mut Longs) {
        let (count, used) = (self.len(), self.used().max(HEAD));
        let bytes: usize = parts.iter().map(|part| bytes_of(part.code())).sum();
        let (texts_at, new_used) = (Self::code_at(count, count), used + 1 + P + bytes);
        self.reserve(new_used);
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

    /// Takes an entry out; those behind it move up by one.
    pub(super) fn remove(&mut self, place: Place, longs: &mut Longs) {
        (0..P).for_each(|which| self.forget(place, which, longs));
        let (count, used, bytes) = (self.len(), self.used(), self.entry_bytes(place));
        if count == 1 {
            self.0 = Box::default();
            return;
        }
        let (tag_at, code_at) = (HEAD + place.index, Self::code_at(count, place.index));
        self.0.copy_within(tag_at + 1..code_at, tag_at);
        self.0.copy_within(code_at + P..place.at, code_at - 1);
        self.0.copy_within(place.at + bytes..used, place.at - 1 - P);
        let new_used = used - 1 - P - bytes;
        self.set_head(count - 1, new_used);
        self.trim(new_used);
    }

    /// Puts another text in the place of one.
    pub(super) fn replace(&mut self, place: Place, which: usize, part: &Part<'_>, longs: &mut Longs) {
        self.forget(place, which, longs);
        let (used, range) = (self.used(), self.part_at(place, which));
        let new_end = range.start + bytes_of(part.code());
        let new_used = used - range.end + new_end;
        if new_end != range.end {
            self.reserve(new_used);
            self.0.copy_within(range.end..used, new_end);
            self.set_head(self.len(), new_used);
        }
        let code_at = Self::code_at(self.len(), place.index) + which;
        self.0[code_at] = part.code();
        self.write(range.start, part, longs);
        if new_used < used {
            self.trim(new_used);
        }
    }

    /// Makes the buffer large enough.
    #[inline]
    fn reserve(&mut self, used: usize) {
        if used > self.0.len() {
            self.resize(class_bytes(used));
        }
    }

    /// Makes the buffer smaller where that is worth it: with some entries to spare, so that a page at
    /// the edge does not go back and forth.
    fn trim(&mut self, used: usize) {
        let enough = class_bytes(used + used / 8);
        if enough < self.0.len() {
            self.resize(enough);
        }
    }

    #[inline(never)]
    fn resize(&mut self, bytes: usize) {
        let mut buffer = std::mem::take(&mut self.0).into_vec();
        buffer.reserve_exact(bytes.saturating_sub(buffer.len()));
        buffer.resize(bytes, 0);
        self.0 = buffer.into_boxed_slice();
    }

    /// A page that is to have so many entries, with so many bytes of texts: all zeros so far.
    pub(super) fn with_room(count: usize, bytes: usize) -> Page<P> {
        if count == 0 {
            return Page::default();
        }
        let used = Self::code_at(count, count) + bytes;
        let mut page = Page(vec![0; class_bytes(used)].into_boxed_slice());
        page.set_head(count, used);
        page
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

/// What the allocator makes of so many bytes: steps of 16 up to 128, then four steps to each doubling
/// (jemalloc's size classes; others do not do better by much).
#[inline]
pub(super) fn class_bytes(bytes: usize) -> usize {
    if bytes <= 128 {
        return bytes.next_multiple_of(16);
    }
    bytes.next_multiple_of(1 << ((bytes - 1).ilog2() - 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_jemalloc() {
        let classes =
            [(1, 16), (16, 16), (17, 32), (128, 128), (129, 160), (257, 320), (512, 512), (513, 640)];
        assert!(classes.iter().all(|(bytes, class)| class_bytes(*bytes) == *class));
        assert_eq!((class_bytes(1025), class_bytes(2049), class_bytes(16_385)), (1280, 2560, 20_480));
    }

    #[test]
    fn entries_come_and_go_in_order() {
        let (mut page, mut longs) = (Page::<2>::default(), Longs::new());
        let long = [b'l'; 1000];
        let rows: [[&[u8]; 2]; 5] =
            [[b"field", b"value"], [b"12", b"-3000000"], [b"", &long], [&long, b""], [b"z", b"12345678901"]];
        for (index, row) in rows.iter().enumerate() {
            page.push(index as u8 % 2, &row.map(Part::of), &mut longs);
        }
        let text = |page: &Page<2>, longs: &Longs, index: u8, field: &[u8]| -> Option<String> {
            let place = page.find(index % 2, &Part::of(field), longs)?;
            Some(match page.text(place, 1, longs) {
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
        assert_eq!((page.bytes(), page.used(), longs.bytes()), (0, 0, 0));
    }
}
