//! Nodes by number, in chunks that are never moved as a whole: growing costs one chunk at most. It does
//! not know what a node is.

use std::ops::{Index, IndexMut};

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// Nodes in chunks of `2^BITS`. A node that is taken out leaves its default behind.
#[derive(Debug)]
pub(super) struct Slab<T, const BITS: u32> {
    chunks: Vec<Vec<T>>,
    free: Vec<u32>,
}

impl<T: Clone, const BITS: u32> Clone for Slab<T, BITS> {
    fn clone(&self) -> Self {
        let copy = |chunk: &Vec<T>| {
            // With room for as many: chunks behind the first have it all from the start.
            let mut copy = Vec::with_capacity(chunk.capacity());
            copy.extend_from_slice(chunk);
            copy
        };
        Slab { chunks: self.chunks.iter().map(copy).collect(), free: self.free.clone() }
    }
}

impl<T: Default, const BITS: u32> Slab<T, BITS> {
    const CHUNK: usize = 1 << BITS;

    pub(super) fn new() -> Self {
        Slab { chunks: Vec::new(), free: Vec::new() }
    }

    /// Keeps a node; answers its number.
    pub(super) fn insert(&mut self, node: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self[number] = node;
            return number;
        }
        if self.chunks.last().is_none_or(|chunk| chunk.len() == Self::CHUNK) {
            // The first one grows with its nodes: most sets are not big.
            let room = if self.chunks.is_empty() { 4.min(Self::CHUNK) } else { Self::CHUNK };
            self.chunks.push(Vec::with_capacity(room));
        }
        let above = (self.chunks.len() - 1) << BITS;
        let chunk = self.chunks.last_mut().expect("one was pushed where there was none");
        chunk.push(node);
        u32::try_from(above + chunk.len() - 1).expect("fewer nodes than 2^32")
    }

    /// Takes a node out; its number is given to another later.
    pub(super) fn remove(&mut self, number: u32) -> T {
        self.free.push(number);
        std::mem::take(&mut self[number])
    }

    /// Takes nodes from the end, for freeing: those taken out before come as defaults.
    pub(super) fn pop(&mut self) -> Option<T> {
        self.free = Vec::new();
        loop {
            let chunk = self.chunks.last_mut()?;
            if let Some(node) = chunk.pop() {
                return Some(node);
            }
            self.chunks.pop();
        }
    }

    /// All nodes, and the defaults that were left behind.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }

    /// Bytes of the nodes themselves, used or free, and of what leads to them.
    pub(super) fn memory_bytes(&self) -> usize {
        let first = self.chunks.first().map_or(0, |chunk| chunk.capacity() * size_of::<T>());
        let rest = self.chunks.len().saturating_sub(1) * Self::CHUNK * size_of::<T>();
        first + rest + self.chunks.capacity() * size_of::<Vec<T>>() + self.free.capacity() * size_of::<u32>()
    }
}

impl<T, const BITS: u32> Index<u32> for Slab<T, BITS> {
    type Output = T;

    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.chunks[(number >> BITS) as usize][(number & ((1 << BITS) - 1)) as usize]
    }
}

impl<T, const BITS: u32> IndexMut<u32> for Slab<T, BITS> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.chunks[(number >> BITS) as usize][(number & ((1 << BITS) - 1)) as usize]
    }
}
