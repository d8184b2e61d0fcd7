//! A table of packed pages that grows and shrinks a page at a time: linear hashing (Litwin 1980), the
//! heart of big sets (one text an entry) and big hashes (two). It does not know what entries mean.
//!
//! A hash leads to the bucket of its low bits: of as many as there are buckets for, so that with 11
//! buckets 8 to 10 have taken over half of what 0 to 2 had, and 3 to 7 wait for theirs. A bucket is one
//! page, 32 entries on average, without a pointer or an allocation an entry. Nothing is ever copied as
//! a whole but one page, and a list of segments, which is a thousandth of the table. Pages lie in cells
//! of our own: as the table grows, all of them go through the same few sizes at about the same time, and
//! a general allocator is left with a quarter of its memory in halves of slabs.
//!
//! # Scans
//! Read a hash from its lowest bit on, as a fraction: the entries of a bucket are then those of an
//! interval, and the buckets, however many there are, divide all fractions among them. A cursor is a
//! fraction (its bits reversed, so that it is a small number), and says that all entries below it were
//! visited and none at or above it. A step visits what lies at or above the cursor in the bucket that
//! holds it, and goes on to the end of that bucket's interval: whatever was split or merged between two
//! steps, an entry that stays is met exactly once.

mod cells;
mod divide;
mod lanes;
mod longs;
mod page;
mod part;
#[cfg(test)]
mod tests;

use crate::hash::Hasher;
use crate::text::Text;
use cells::{Cell, Cells, OWNER_AT};
use longs::Longs;
use page::{Page, Place};
pub(crate) use part::Part;

/// Buckets of a segment.
const SEGMENT: usize = if cfg!(test) { 4 } else { 512 };
/// Entries a page has on average, at most.
const FILL: usize = if cfg!(test) { 4 } else { 32 };
/// Bytes a page has in use on average, at most.
const FILL_BYTES: usize = 1280;
/// Draws of `random` before it takes what it can get.
const DRAWS_MAX: usize = 1000;

/// A table of entries of `P` texts, each found by its first.
#[derive(Clone)]
pub(crate) struct Pages<const P: usize> {
    /// Where the page of each bucket is.
    segments: Vec<Vec<Cell>>,
    cells: Cells,
    buckets: usize,
    len: usize,
    /// Bytes in use in all pages.
    used: usize,
    /// No page has ever had more entries.
    fullest: usize,
    longs: Longs,
}

impl<const P: usize> std::fmt::Debug for Pages<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pages({} entries in {} buckets)", self.len, self.buckets)
    }
}

/// An entry that was found; it holds until the next change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    bucket: usize,
    place: Place,
}

impl<const P: usize> Default for Pages<P> {
    fn default() -> Pages<P> {
        Pages::new()
    }
}

impl<const P: usize> Pages<P> {
    pub(crate) fn new() -> Pages<P> {
        let segments = vec![vec![Cell::default()]];
        let (cells, longs) = (Cells::default(), Longs::new());
        Pages { segments, cells, buckets: 1, len: 0, used: 0, fullest: 0, longs }
    }

    /// How many entries there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        let lists = match self.segments.len() {
            0 => 0,
            1 => size_of::<Vec<Cell>>() + self.segments[0].capacity() * size_of::<Cell>(),
            many => many * (size_of::<Vec<Cell>>() + SEGMENT * size_of::<Cell>()),
        };
        lists + self.cells.bytes() + self.longs.bytes()
    }

    /// The entry whose first text is `part`.
    #[inline]
    pub(crate) fn find(&self, hash: u64, part: &Part<'_>) -> Option<Found> {
        let bucket = self.bucket_of(hash);
        let place = self.page(bucket).find(tag_of(hash), part, &self.longs)?;
        Some(Found { bucket, place })
    }

    /// The entry whose first text has this hash: of several, one of them.
    pub(crate) fn find_hash(&self, hash: u64, hasher: &Hasher) -> Option<Found> {
        let bucket = self.bucket_of(hash);
        let place = self.page(bucket).find_hash(tag_of(hash), hash, &self.longs, hasher)?;
        Some(Found { bucket, place })
    }

    /// A text of an entry.
    #[inline]
    pub(crate) fn text(&self, found: Found, which: usize) -> Text<'_> {
        self.page(found.bucket).text(found.place, which, &self.longs)
    }

    /// Adds an entry that is not there.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, parts: &[Part<'_>; P], hasher: &Hasher) {
        let bucket = self.bucket_of(hash);
        let page = self.page(bucket);
        let (before, used) = (page.used(), page.used_with(parts));
        let cell = self.fitted(bucket, used);
        let mut page = Page::<P, _>(self.cells.get_mut(cell));
        page.push(tag_of(hash), parts, &mut self.longs);
        self.fullest = self.fullest.max(page.len());
        self.used += used - before;
        self.len += 1;
        if self.len > self.buckets * FILL || self.used > self.buckets * FILL_BYTES {
            self.split(hasher);
        }
    }

    /// Puts another text in the place of one that is not the first.
    #[inline]
    pub(crate) fn replace(&mut self, found: Found, which: usize, part: &Part<'_>) {
        debug_assert!(which > 0, "the first text leads to the entry");
        let Found { bucket, place } = found;
        let page = self.page(bucket);
        let (before, used) = (page.used(), page.used_replaced(place, which, part));
        let cell = if used > before { self.fitted(bucket, used) } else { self.cell(bucket) };
        let mut page = Page::<P, _>(self.cells.get_mut(cell));
        page.replace(place, which, part, &mut self.longs);
        self.used = self.used + used - before;
        if used < before {
            self.trim(bucket, used);
        }
    }

    /// Takes an entry out.
    pub(crate) fn remove(&mut self, found: Found) {
        let Found { bucket, place } = found;
        let cell = self.cell(bucket);
        let mut page = Page::<P, _>(self.cells.get_mut(cell));
        let before = page.used();
        page.remove(place, &mut self.longs);
        let (left, used) = (page.len(), page.used());
        if left == 0 {
            self.used -= before;
            self.vacate(bucket);
        } else {
            self.used -= before - used;
            self.trim(bucket, used);
        }
        self.len -= 1;
        if self.buckets > 1 && self.len < self.buckets * FILL / 2 && self.used < self.buckets * FILL_BYTES / 2
        {
            self.merge();
        }
    }

    /// All entries, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = [Text<'_>; P]> {
        let pages = self.segments.iter().flatten().map(|cell| Page::<P, _>(self.cells.get(*cell)));
        pages.flat_map(|page| page.texts(&self.longs))
    }

    fn first_from(&self, bucket: usize) -> Option<Found> {
        (bucket..self.buckets)
            .find_map(|bucket| self.page(bucket).places().next().map(|place| Found { bucket, place }))
    }

    /// An entry, each as likely as the others.
    ///
    /// A bucket is drawn, and a place in it out of as many as the fullest page has had; where there is
    /// no entry at that place, both are drawn again.
    pub(crate) fn random(&self, rng: &mut dyn FnMut() -> u64) -> Option<Found> {
        let fullest = if self.buckets <= 4 {
            (0..self.buckets).map(|bucket| self.page(bucket).len()).max().unwrap_or(0)
        } else {
            self.fullest
        };
        for _ in 0..if self.len > 0 { DRAWS_MAX } else { 0 } {
            let number = below(rng(), self.buckets * fullest);
            let (bucket, index) = (number / fullest, number % fullest);
            if index < self.page(bucket).len() {
                return Some(Found { bucket, place: self.page(bucket).place(index) });
            }
        }
        self.first_from(below(rng(), self.buckets)).or_else(|| self.first_from(0))
    }

    /// Visits the entries of one bucket from a cursor on and returns the next one; 0 both starts and
    /// ends.
    pub(crate) fn scan(&self, cursor: u64, hasher: &Hasher, visit: &mut dyn FnMut([Text<'_>; P])) -> u64 {
        let position = cursor.reverse_bits();
        let bucket = self.bucket_of(cursor);
        let (page, begin) = (self.page(bucket), (bucket as u64).reverse_bits());
        for place in page.places() {
            let visited = position > begin && page.hash(place, &self.longs, hasher).reverse_bits() < position;
            if !visited {
                visit(std::array::from_fn(|which| page.text(place, which, &self.longs)));
            }
        }
        let end = match self.bits_of(bucket) {
            0 => 0,
            bits => begin.wrapping_add(1 << (64 - bits)),
        };
        end.reverse_bits()
    }

    /// Frees about `budget` entries of a table that nobody will look into again, and says how many. All
    /// it counts stays true, but entries are no longer found.
    pub(crate) fn free_some(&mut self, budget: usize) -> usize {
        let mut freed = 0;
        while freed < budget && !self.segments.is_empty() {
            let last = self.segments.iter().map(Vec::len).sum::<usize>();
            let Some(bucket) = last.checked_sub(1) else { break };
            let page = Page::<P, _>(self.cells.get(self.cell(bucket)));
            page.forget_all(&mut self.longs);
            (self.len, freed) = (self.len - page.len(), freed + page.len());
            self.vacate(bucket);
            self.pop_bucket();
        }
        freed
    }

    #[inline]
    fn cell(&self, bucket: usize) -> Cell {
        self.segments[bucket / SEGMENT][bucket % SEGMENT]
    }

    #[inline]
    fn set_cell(&mut self, bucket: usize, cell: Cell) {
        self.segments[bucket / SEGMENT][bucket % SEGMENT] = cell;
    }

    #[inline]
    fn page(&self, bucket: usize) -> Page<P, &[u8]> {
        Page(self.cells.get(self.cell(bucket)))
    }

    /// The cell of a bucket's page, made to fit so many bytes.
    #[inline]
    fn fitted(&mut self, bucket: usize, bytes: usize) -> Cell {
        let cell = self.cell(bucket);
        if self.cells.fits(cell, bytes) { cell } else { self.refit(bucket, bytes) }
    }

    #[inline(never)]
    fn refit(&mut self, bucket: usize, bytes: usize) -> Cell {
        let old = self.cell(bucket);
        // Less than all, where the page is about to be written anew.
        let used = self.page(bucket).used().min(bytes);
        let new = self.cells.allocate(bytes, bucket as u32);
        self.set_cell(bucket, new);
        if !old.is_none() {
            self.cells.copy(old, new, used);
            // The copy brought its owner along, who is the same.
            self.release(old);
        }
        self.cell(bucket)
    }

    /// Makes a page's cell smaller where that is worth it: with some bytes to spare, so that a page at
    /// the edge does not go back and forth.
    #[inline]
    fn trim(&mut self, bucket: usize, used: usize) {
        let enough = used + used / 8;
        if enough < self.cells.get(self.cell(bucket)).len() && !self.cells.fits(self.cell(bucket), enough) {
            self.refit(bucket, enough);
        }
    }

    /// Frees a cell that no bucket has, and notes which other page is there now.
    fn release(&mut self, cell: Cell) {
        if let Some(owner) = self.cells.free(cell) {
            self.set_cell(owner as usize, cell);
        }
    }

    /// Frees the cell of a bucket without entries.
    fn vacate(&mut self, bucket: usize) {
        let cell = self.cell(bucket);
        if !cell.is_none() {
            self.set_cell(bucket, Cell::default());
            self.release(cell);
        }
    }

    /// Puts a page that was made elsewhere in place of a bucket's.
    fn put(&mut self, bucket: usize, page: &Page<P, Vec<u8>>) {
        if page.len() == 0 {
            return self.vacate(bucket);
        }
        let cell = self.fitted(bucket, page.used());
        let target = self.cells.get_mut(cell);
        target[..OWNER_AT].copy_from_slice(&page.0[..OWNER_AT]);
        target[OWNER_AT + 4..page.used()].copy_from_slice(&page.0[OWNER_AT + 4..page.used()]);
    }

    /// Forgets the last bucket.
    fn pop_bucket(&mut self) {
        let last = self.segments.last_mut().expect("there is a last bucket");
        last.pop();
        if last.is_empty() {
            self.segments.pop();
        } else if self.segments.len() == 1 && self.segments[0].len().is_power_of_two() {
            self.segments[0].shrink_to_fit();
        }
    }

    #[inline]
    fn bucket_of(&self, hash: u64) -> usize {
        // As many bits as number all buckets; where there is no such bucket yet, one less.
        let all = (1usize << (usize::BITS - (self.buckets - 1).leading_zeros())) - 1;
        let bucket = hash as usize & all;
        if bucket < self.buckets { bucket } else { bucket & all >> 1 }
    }

    /// How many low bits of a hash decide that it belongs to a bucket.
    fn bits_of(&self, bucket: usize) -> u32 {
        let all = usize::BITS - (self.buckets - 1).leading_zeros();
        // Its other half, which it has not given away yet.
        let split = all > 0 && bucket < 1 << (all - 1) && bucket + (1 << (all - 1)) >= self.buckets;
        all - u32::from(split)
    }

    /// Makes one bucket more, of half of what another has.
    #[inline(never)]
    fn split(&mut self, hasher: &Hasher) {
        let new = self.buckets;
        let bit = 1usize << new.ilog2();
        let old = new - bit;
        let (page, longs) = (self.page(old), &self.longs);
        let goes = |code, bytes: &[u8]| {
            let identity = if code == part::LONG { longs.text(page::number_of(bytes)) } else { bytes };
            part::hash(code, identity, hasher) as usize & bit != 0
        };
        let before = page.used();
        let [stays, goes] = page.split(goes);
        self.used = self.used + stays.used() + goes.used() - before;
        if new.is_multiple_of(SEGMENT) {
            self.segments.push(Vec::with_capacity(SEGMENT));
        }
        self.segments[new / SEGMENT].push(Cell::default());
        self.buckets += 1;
        self.put(old, &stays);
        self.put(new, &goes);
    }

    /// Gives what the last bucket has back to the one it was split from.
    #[inline(never)]
    fn merge(&mut self) {
        let last = self.buckets - 1;
        let into = last - (1 << last.ilog2());
        let (page, from) = (self.page(into), self.page(last));
        let (merged, before) = (page.merge(&from), page.used() + from.used());
        self.used = self.used + merged.used() - before;
        self.fullest = self.fullest.max(merged.len());
        self.put(into, &merged);
        self.vacate(last);
        self.pop_bucket();
        self.buckets = last;
    }
}

/// The tag of a hash: bits that do not choose the bucket.
#[inline]
fn tag_of(hash: u64) -> u8 {
    (hash >> 56) as u8
}

/// A number below `bound` made of 64 random bits.
#[inline]
pub(crate) fn below(random: u64, bound: usize) -> usize {
    ((u128::from(random) * bound as u128) >> 64) as usize
}
