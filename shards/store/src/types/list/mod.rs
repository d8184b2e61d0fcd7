//! Lists: elements in an order that their writers chose. A short one is packed in its key's cell, a long
//! one is a tree of packed chunks. This file is about long ones; it does not know their keys.

mod chunk;
mod tree;
mod view;

use super::packed::{self, Items};
use crate::text::Text;
pub(crate) use chunk::ChunkLimit;
use tree::Tree;
pub(crate) use view::packed_items;
pub use view::{Leftward, ListMut, ListRef, Rightward, Side};

/// A list that has outgrown its key's cell.
#[derive(Clone, Debug)]
pub(crate) struct BigList {
    tree: Tree,
}

impl BigList {
    /// A list of packed elements.
    pub(crate) fn of(items: &[u8], limit: ChunkLimit) -> BigList {
        let mut list = BigList { tree: Tree::EMPTY };
        list.append(items, limit);
        list
    }

    /// How many elements there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.tree.len()
    }

    /// Bytes on the heap.
    #[inline]
    pub(crate) fn memory_bytes(&self) -> usize {
        self.tree.memory_bytes()
    }

    /// Puts one packed element before the one of that index, which may be behind the last.
    #[inline]
    pub(crate) fn insert(&mut self, index: usize, item: &[u8], limit: ChunkLimit) {
        self.tree.edit(index, |leaf, slot, offset| leaf.insert(slot, offset, item, 1, limit));
    }

    /// Adds packed elements at the end.
    pub(crate) fn append(&mut self, items: &[u8], limit: ChunkLimit) {
        let mut at = 0;
        while at < items.len() {
            let end = packed::end_of(items, at);
            self.insert(self.len(), &items[at..end], limit);
            at = end;
        }
    }

    /// Writes a packed element over the one of that index.
    pub(crate) fn replace(&mut self, index: usize, item: &[u8], limit: ChunkLimit) {
        self.tree.edit(index, |leaf, slot, offset| leaf.replace(slot, offset, item, limit));
    }

    /// Removes `count` elements from that index on.
    pub(crate) fn remove(&mut self, index: usize, mut count: usize, limit: ChunkLimit) {
        while count > 0 && index < self.len() {
            count -= self.tree.edit(index, |leaf, slot, offset| leaf.remove(slot, offset, count, limit));
        }
    }

    /// The packed elements of the chunk that has the one of that index, and where that one lies there.
    #[inline]
    pub(crate) fn around(&self, index: usize) -> Option<(&[u8], usize)> {
        self.tree.find(index).map(|(chunk, offset)| (chunk.bytes(), chunk.place(offset)))
    }

    /// All packed elements, if they are together and take no more than `bytes_max`.
    pub(crate) fn whole(&self, bytes_max: usize) -> Option<&[u8]> {
        let (chunk, _) = self.tree.find(0)?;
        (chunk.count() == self.len() && chunk.bytes().len() <= bytes_max).then(|| chunk.bytes())
    }

    /// Visits all elements in order.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(Text<'_>)) {
        let mut index = 0;
        while let Some((chunk, _)) = self.tree.find(index) {
            Items::new(chunk.bytes()).for_each(&mut *visit);
            index += chunk.count();
        }
    }

    /// Frees about `budget` elements from the front; answers how many.
    pub(crate) fn free_some(&mut self, budget: usize) -> usize {
        let mut freed = 0;
        while freed < budget && self.len() > 0 {
            freed += self
                .tree
                .edit(0, |leaf, slot, _| leaf.remove(slot, 0, usize::MAX, ChunkLimit::of_setting(-1)));
        }
        freed
    }

    #[cfg(test)]
    pub(crate) fn check(&self) {
        self.tree.check();
    }
}
