//! A bucket: one cache line with room for twelve handles, each behind a tag of its hash.
//! It knows neither keys nor which bucket it is.

use crate::arena::Handle;

/// Handles a bucket can name. Tests make do with three, so that buckets overflow all the time.
pub(crate) const SLOTS: usize = if cfg!(test) { 3 } else { 12 };
const SLOT_MASK: u32 = (1 << SLOTS) - 1;

/// Bits of `marks`. Its first twelve say which slots are taken, the next twelve which of those are
/// guests: entries of the bucket before, which was full.
const GUEST_AT: u32 = 12;
/// The bucket behind has guests of this one.
const AWAY: u32 = 1 << 24;
/// The segment's stash bucket of that number has entries of this one: seven bits.
const STASH_AT: u32 = 25;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Bucket {
    tags: [u8; 12],
    marks: u32,
    handles: [Handle; 12],
}

const _: () = assert!(size_of::<Bucket>() == 64);

impl Bucket {
    pub(crate) const EMPTY: Bucket = Bucket { tags: [0; 12], marks: 0, handles: [Handle::FILLER; 12] };

    /// The slots taken by entries with this tag.
    #[inline]
    pub(crate) fn matches(&self, tag: u8) -> Slots {
        Slots(self.same_tag(tag) & self.marks & SLOT_MASK)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn same_tag(&self, tag: u8) -> u32 {
        use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_load_si128, _mm_movemask_epi8, _mm_set1_epi8};
        // SAFETY: a bucket is aligned to 64 bytes and begins with 12 tags and 4 bytes of marks; SSE2
        // is part of every x86-64.
        unsafe {
            let tags = _mm_load_si128(std::ptr::from_ref(self).cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(tags, _mm_set1_epi8(tag as i8))) as u32
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline]
    fn same_tag(&self, tag: u8) -> u32 {
        self.same_tag_anywhere(tag)
    }

    /// For processors we know nothing of.
    #[cfg(any(test, not(target_arch = "x86_64")))]
    fn same_tag_anywhere(&self, tag: u8) -> u32 {
        let mut same = 0;
        for (slot, other) in self.tags.iter().enumerate() {
            same |= u32::from(*other == tag) << slot;
        }
        same
    }

    #[inline]
    pub(crate) fn handle(&self, slot: usize) -> Handle {
        self.handles[slot]
    }

    #[inline]
    pub(crate) fn set_handle(&mut self, slot: usize, handle: Handle) {
        self.handles[slot] = handle;
    }

    /// All slots taken.
    #[inline]
    pub(crate) fn taken(&self) -> Slots {
        Slots(self.marks & SLOT_MASK)
    }

    /// Slots taken by entries of the bucket before.
    #[inline]
    pub(crate) fn guests(&self) -> Slots {
        Slots(self.marks >> GUEST_AT & SLOT_MASK)
    }

    /// A slot that is free.
    #[inline]
    pub(crate) fn vacancy(&self) -> Option<usize> {
        let free = !self.marks & SLOT_MASK;
        (free != 0).then(|| free.trailing_zeros() as usize)
    }

    #[inline]
    pub(crate) fn put(&mut self, slot: usize, tag: u8, handle: Handle, guest: bool) {
        debug_assert!(self.marks >> slot & 1 == 0, "the slot is free");
        self.tags[slot] = tag;
        self.handles[slot] = handle;
        self.marks |= (1 | u32::from(guest) << GUEST_AT) << slot;
    }

    #[inline]
    pub(crate) fn clear(&mut self, slot: usize) {
        debug_assert!(self.marks >> slot & 1 == 1, "the slot is taken");
        self.marks &= !((1 | 1 << GUEST_AT) << slot);
    }

    /// Whether entries of this bucket are elsewhere.
    #[inline]
    pub(crate) fn overflows(&self) -> bool {
        self.marks >= AWAY
    }

    /// Whether the bucket behind has guests of this one.
    #[inline]
    pub(crate) fn is_away(&self) -> bool {
        self.marks & AWAY != 0
    }

    pub(crate) fn set_away(&mut self, away: bool) {
        self.marks = self.marks & !AWAY | if away { AWAY } else { 0 };
    }

    /// The stash buckets that have entries of this one.
    #[inline]
    pub(crate) fn stashes(&self) -> Slots {
        Slots(self.marks >> STASH_AT)
    }

    pub(crate) fn set_stash(&mut self, stash: usize, used: bool) {
        let bit = 1 << (STASH_AT + stash as u32);
        self.marks = self.marks & !bit | if used { bit } else { 0 };
    }
}

/// A set of small numbers, iterated from the lowest.
#[derive(Clone, Copy)]
pub(crate) struct Slots(u32);

impl Slots {
    #[inline]
    pub(crate) fn and(self, other: Slots) -> Slots {
        Slots(self.0 & other.0)
    }

    #[inline]
    pub(crate) fn without(self, other: Slots) -> Slots {
        Slots(self.0 & !other.0)
    }

    #[inline]
    pub(crate) fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) fn has(self, number: usize) -> bool {
        self.0 >> number & 1 == 1
    }
}

impl Iterator for Slots {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        (self.0 != 0).then(|| {
            let lowest = self.0.trailing_zeros() as usize;
            self.0 &= self.0 - 1;
            lowest
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_alike_on_every_processor() {
        let mut bucket = Bucket::EMPTY;
        for seed in 0..2000u32 {
            for (slot, tag) in bucket.tags.iter_mut().enumerate() {
                *tag = (seed.wrapping_mul(0x9e37_79b9) >> (slot * 2)) as u8 & 7 | 0x80;
            }
            bucket.marks = seed;
            for tag in 0x7f..0x89 {
                assert_eq!(bucket.same_tag(tag) & 0xfff, bucket.same_tag_anywhere(tag));
            }
        }
    }
}
