//! A chunk: some neighbouring elements of a big list, packed, with spare room at either end so that both
//! ends are cheap to push to and pop from. It does not know its neighbours.

use crate::types::packed;
use std::ops::Range;

/// A growing chunk begins with this many bytes.
const FIRST_BYTES: usize = 128;

/// How much a chunk may hold, unless it is one single element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChunkLimit {
    bytes: usize,
    count: usize,
}

/// Larger chunks save no memory that would matter, and cost time to edit.
const CHUNK_BYTES_MAX: usize = 4096;

impl ChunkLimit {
    /// The limit that `list-max-listpack-size` stands for: a number of elements, or from -1 to -5 a number
    /// of bytes, 4 KiB doubled up to 64 KiB. Either is an upper bound: 4 KiB are never exceeded.
    pub(crate) fn of_setting(size: i32) -> ChunkLimit {
        match size {
            1.. => ChunkLimit { bytes: CHUNK_BYTES_MAX, count: size as usize },
            _ => ChunkLimit { bytes: CHUNK_BYTES_MAX, count: usize::MAX },
        }
    }

    /// Whether so many bytes and elements are within it.
    #[inline]
    pub(crate) fn allows(self, bytes: usize, count: usize) -> bool {
        bytes <= self.bytes && count <= self.count
    }
}

#[derive(Debug)]
pub(crate) struct Chunk {
    buffer: Vec<u8>,
    /// Where the first element begins in the buffer; the last one ends at its end.
    start: u32,
    count: u32,
}

impl Clone for Chunk {
    /// A copy has no spare room: it may never be changed.
    fn clone(&self) -> Chunk {
        Chunk::of(self.bytes(), self.count())
    }
}

impl Chunk {
    /// A chunk of `count` packed elements.
    pub(crate) fn of(bytes: &[u8], count: usize) -> Chunk {
        Chunk { buffer: bytes.to_vec(), start: 0, count: count as u32 }
    }

    /// The packed elements.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start as usize..]
    }

    #[inline]
    fn len(&self) -> usize {
        self.buffer.len() - self.start as usize
    }

    /// How many elements there are.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.count as usize
    }

    /// Bytes on the heap.
    #[inline]
    pub(crate) fn memory_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// Whether `count` more elements that take `bytes` have room.
    #[inline]
    pub(crate) fn fits(&self, bytes: usize, count: usize, limit: ChunkLimit) -> bool {
        limit.allows(self.len() + bytes, self.count() + count)
    }

    /// Where the element lies that has this number in the chunk; the end, for the number behind the last.
    pub(crate) fn place(&self, number: usize) -> usize {
        let bytes = self.bytes();
        if number <= self.count() / 2 {
            packed::skip(bytes, 0, number)
        } else {
            packed::skip_back(bytes, bytes.len(), self.count() - number)
        }
    }

    /// Adds `count` elements behind the last.
    #[inline]
    pub(crate) fn push_back(&mut self, items: &[u8], count: usize) {
        if self.buffer.capacity() - self.buffer.len() < items.len() {
            self.make_room(items.len(), false);
        }
        self.buffer.extend_from_slice(items);
        self.count += count as u32;
    }

    /// Adds `count` elements before the first.
    #[inline]
    pub(crate) fn push_front(&mut self, items: &[u8], count: usize) {
        if (self.start as usize) < items.len() {
            self.make_room(items.len(), true);
        }
        let start = self.start as usize - items.len();
        self.buffer[start..start + items.len()].copy_from_slice(items);
        self.start = start as u32;
        self.count += count as u32;
    }

    /// Makes room for `more` bytes at one end: by moving what is there to the middle, if much is free at
    /// the other end, else by growing.
    #[cold]
    fn make_room(&mut self, more: usize, front: bool) {
        let (length, capacity) = (self.len(), self.buffer.capacity());
        let start = self.start as usize;
        let spare = capacity - length;
        if spare >= 2 * more && spare >= capacity / 2 {
            // Moved once for a quarter of the chunk at least: cheap on average.
            let target = spare / 2;
            if target > start {
                self.buffer.resize(target + length, 0);
                self.buffer.copy_within(start..start + length, target);
            } else {
                self.buffer.copy_within(start.., target);
                self.buffer.truncate(target + length);
            }
            self.start = target as u32;
            return;
        }
        let wanted = length + more;
        let capacity = match wanted {
            ..CHUNK_BYTES_MAX => (2 * length).clamp(FIRST_BYTES, CHUNK_BYTES_MAX).max(wanted),
            _ => wanted,
        };
        let mut buffer = Vec::with_capacity(capacity);
        let target = if front { buffer.capacity() - length } else { 0 };
        buffer.resize(target, 0);
        buffer.extend_from_slice(self.bytes());
        (self.buffer, self.start) = (buffer, target as u32);
    }

    /// Writes `added` elements over `removed` ones that lie at `range` of the bytes.
    pub(crate) fn splice(&mut self, range: Range<usize>, removed: usize, items: &[u8], added: usize) {
        self.count = self.count - removed as u32 + added as u32;
        if items.is_empty() && range.start == 0 {
            self.start += range.end as u32;
        } else if items.is_empty() && range.end == self.len() {
            self.buffer.truncate(self.start as usize + range.start);
        } else {
            let start = self.start as usize;
            let (before, after) = (self.buffer.len(), self.buffer.len() - range.len() + items.len());
            let (old_end, new_end) = (start + range.end, start + range.start + items.len());
            if after > before {
                self.buffer.reserve_exact(after - before);
                self.buffer.resize(after, 0);
            }
            self.buffer.copy_within(old_end..before, new_end);
            self.buffer[start + range.start..new_end].copy_from_slice(items);
            self.buffer.truncate(after);
        }
    }

    /// Takes the elements from that number on out into a chunk of their own.
    pub(crate) fn split_off(&mut self, number: usize) -> Chunk {
        let at = self.place(number);
        let right = Chunk::of(&self.bytes()[at..], self.count() - number);
        self.splice(at..self.len(), right.count(), &[], 0);
        right
    }

    /// Gives back room that is not used, if it is much.
    pub(crate) fn fit(&mut self) {
        if self.len() + self.len() / 8 < self.buffer.capacity() {
            *self = self.clone();
        }
    }
}
