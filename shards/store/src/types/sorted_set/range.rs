//! Entries of a big sorted set by rank: walked from either side, removed in runs; and freeing in
//! slices.

use super::leaf::Leaf;
use super::slab::NONE;
use super::tree::{BigSortedSet, parts};
use crate::hash::Hasher;
use crate::text::Text;
use crate::types::Item;

/// Entries from a rank on, up or down.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a> {
    set: &'a BigSortedSet,
    leaf: Option<&'a Leaf>,
    slot: usize,
    up: bool,
}

impl<'a> Iterator for Walk<'a> {
    type Item = (&'a [u8], f64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let leaf = self.leaf?;
        let (score, member) = leaf.entry(self.slot);
        let (ends, next) =
            if self.up { (self.slot + 1 == leaf.len(), leaf.next) } else { (self.slot == 0, leaf.previous) };
        if ends {
            self.leaf = (next != NONE).then(|| &self.set.leaves[next]);
            self.slot = match self.leaf {
                Some(leaf) if !self.up => leaf.len() - 1,
                _ => 0,
            };
        } else if self.up {
            self.slot += 1;
        } else {
            self.slot -= 1;
        }
        Some((member, score))
    }
}

impl BigSortedSet {
    /// The leaf of a rank, and the slot there.
    fn seek(&self, rank: u64) -> (u32, usize) {
        debug_assert!(rank < self.len, "a rank is below the number of entries");
        let (mut node, mut left) = (self.root, rank);
        for _ in 0..self.height {
            let inner = &self.inners[node];
            let mut place = 0;
            while left >= inner.counts()[place] {
                left -= inner.counts()[place];
                place += 1;
            }
            node = inner.nodes()[place];
        }
        (node, left as usize)
    }

    /// Entries from a rank on, towards higher ones (`up`) or lower ones.
    pub(super) fn walk(&self, rank: u64, up: bool) -> Walk<'_> {
        if rank >= self.len {
            return Walk { set: self, leaf: None, slot: 0, up };
        }
        let (leaf, slot) = self.seek(rank);
        Walk { set: self, leaf: Some(&self.leaves[leaf]), slot, up }
    }

    /// Removes the entries with ranks from `from` to before `to`: leaf by leaf.
    pub fn remove_ranks(&mut self, hasher: &Hasher, from: u64, to: u64) {
        let to = to.min(self.len);
        let mut left = to.saturating_sub(from);
        while left > 0 {
            let (number, slot) = self.seek(from);
            let leaf = &self.leaves[number];
            let end = leaf.len().min(slot + left as usize);
            for gone in slot..end {
                let (_, short) = parts(hasher.hash(leaf.member(gone)));
                self.index.remove(short, number);
            }
            left -= (end - slot) as u64;
            self.cut(number, slot, end);
            self.tidy(number, hasher);
        }
    }

    /// Frees about `budget` entries from the end, after which the set is good for nothing else; answers
    /// how many, 0 once nothing is left.
    pub fn free_some(&mut self, budget: usize) -> usize {
        let mut freed = 0;
        while freed < budget && self.len > 0 {
            let Some(leaf) = self.leaves.pop() else { break };
            self.buffers -= leaf.buffer_bytes();
            freed += leaf.len();
            self.len -= leaf.len() as u64;
            // The index and the nodes above go along, so that they are gone at the same time.
            while self.index.len() as u64 > self.len && self.index.pop().is_some() {}
            self.inners.pop();
        }
        freed
    }

    /// Visits all entries, lowest first.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(Item<'_>)) {
        self.walk(0, true).for_each(|(member, score)| visit(Item::Scored(Text::Bytes(member), score)));
    }

    /// Visits about `count` entries from a cursor on, in no order, and answers the next cursor; 0 both
    /// starts and ends. Cursors are below 2^32.
    ///
    /// A cursor is a place in the order of hashes by their bits in reverse. A bucket holds a range of
    /// that order whatever its number of bits, splits in the middle of it and merges with its other
    /// half: so entries below the cursor have been visited, and none at or above it.
    pub(super) fn scan(
        &self,
        hasher: &Hasher,
        mut cursor: u32,
        count: usize,
        visit: &mut dyn FnMut(&[u8], f64),
    ) -> u32 {
        let (mut pairs, mut visited) = (Vec::new(), 0);
        loop {
            pairs.clear();
            let next = self.index.bucket_at(cursor, &mut pairs);
            // Two members of one hash on one leaf are found together.
            pairs.sort_unstable();
            pairs.dedup();
            for (hash, number) in &pairs {
                let leaf = &self.leaves[*number];
                leaf.each_tagged((hash >> 24) as u8, |slot| {
                    let (score, member) = leaf.entry(slot);
                    if hasher.hash(member) as u32 == *hash {
                        visit(member, score);
                        visited += 1;
                    }
                });
            }
            cursor = next;
            if cursor == 0 || visited >= count {
                return cursor;
            }
        }
    }
}
