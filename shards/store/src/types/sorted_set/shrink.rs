//! How a tree gives room back: entries go, sparse leaves and nodes are put together, empty ones given up.

use super::inner::CHILDREN_MAX;
use super::leaf::{ENTRIES_MAX, MEMBERS_MAX};
use super::slab::NONE;
use super::tree::{BigSortedSet, Spot, parts};
use crate::hash::Hasher;

/// A leaf with no more entries than this is put together with a neighbour where both fit.
const LEAF_SPARSE: usize = 12;
/// What two leaves put together hold at most: some room is left.
const LEAF_JOINED_MAX: usize = ENTRIES_MAX * 5 / 8;
/// An inner node with no more children than this is put together with a neighbour where both fit.
const INNER_SPARSE: usize = CHILDREN_MAX / 4;
const INNER_JOINED_MAX: usize = CHILDREN_MAX * 3 / 4;

impl BigSortedSet {
    /// Removes the entry of a spot.
    pub(super) fn take(&mut self, spot: Spot, hasher: &Hasher) {
        self.index.remove(parts(spot.hash).1, spot.leaf);
        self.cut(spot.leaf, spot.slot, spot.slot + 1);
        self.tidy(spot.leaf, hasher);
    }

    /// Removes entries of a leaf that the index no longer has.
    pub(super) fn cut(&mut self, number: u32, from: usize, to: usize) {
        let leaf = &mut self.leaves[number];
        let before = leaf.buffer_bytes();
        leaf.remove(from, to);
        self.buffers = self.buffers + leaf.buffer_bytes() - before;
        let gone = (to - from) as u64;
        self.len -= gone;
        self.climb(number, gone.wrapping_neg(), from == 0);
    }

    /// Gives a leaf up that has become empty, or puts it together with a neighbour where it has become
    /// sparse.
    pub(super) fn tidy(&mut self, number: u32, hasher: &Hasher) {
        let leaf = &self.leaves[number];
        if leaf.parent == NONE || leaf.len() > LEAF_SPARSE {
            return;
        }
        if leaf.len() == 0 {
            return self.unlink_leaf(number);
        }
        let joins = |left: u32, right: u32| {
            if left == NONE || right == NONE {
                return false;
            }
            let (left, right) = (&self.leaves[left], &self.leaves[right]);
            left.parent == right.parent
                && left.len() + right.len() <= LEAF_JOINED_MAX
                && left.members_len() + right.members_len() <= MEMBERS_MAX * 3 / 4
        };
        if joins(number, leaf.next) {
            self.join_leaves(number, leaf.next, hasher);
        } else if joins(leaf.previous, number) {
            self.join_leaves(leaf.previous, number, hasher);
        }
    }

    /// Moves all entries of the right one of two neighbours under one parent to the left one.
    fn join_leaves(&mut self, left: u32, right: u32, hasher: &Hasher) {
        let moved = self.leaves[right].len();
        self.repoint(hasher, right, 0..moved, right, left);
        let taken = self.leaves[right].split_off(0);
        self.change_leaf(left, |leaf| leaf.append(&taken));
        let node = &mut self.inners[self.leaves[left].parent];
        let (to, from) = (node.place_of(left), node.place_of(right));
        node.add(to, moved as u64);
        node.add(from, (moved as u64).wrapping_neg());
        self.unlink_leaf(right);
    }

    /// Gives up a leaf that has no entries, and is counted with none.
    fn unlink_leaf(&mut self, number: u32) {
        let leaf = self.leaves.remove(number);
        self.buffers -= leaf.buffer_bytes();
        match leaf.previous {
            NONE => self.first = leaf.next,
            previous => self.leaves[previous].next = leaf.next,
        }
        match leaf.next {
            NONE => self.last = leaf.previous,
            next => self.leaves[next].previous = leaf.previous,
        }
        self.unlink_child(leaf.parent, number);
    }

    fn unlink_child(&mut self, number: u32, child: u32) {
        let node = &mut self.inners[number];
        let place = node.place_of(child);
        node.remove(place);
        let (parent, left) = (node.parent, node.len());
        if left == 0 {
            debug_assert!(parent != NONE, "a root has two children or more");
            self.inners.remove(number);
            return self.unlink_child(parent, number);
        }
        if place == 0 {
            self.begins_anew(number);
        }
        if parent == NONE {
            return self.lower_root();
        }
        if left <= INNER_SPARSE {
            self.tidy_inner(number);
        }
    }

    /// Tells the nodes above one what it begins with now.
    fn begins_anew(&mut self, number: u32) {
        let head = self.inners[number].child(0);
        let (mut child, mut parent) = (number, self.inners[number].parent);
        while parent != NONE {
            let node = &mut self.inners[parent];
            let place = node.place_of(child);
            node.begins(place, head.score, head.first);
            if place > 0 {
                return;
            }
            (child, parent) = (parent, node.parent);
        }
    }

    /// A root with one child gives way to it.
    fn lower_root(&mut self) {
        while self.height > 0 && self.inners[self.root].len() == 1 {
            let node = self.inners.remove(self.root);
            self.root = node.nodes()[0];
            self.height -= 1;
            self.set_parent(self.root, node.level, NONE);
        }
    }

    /// Puts a sparse inner node together with a neighbour where both fit.
    fn tidy_inner(&mut self, number: u32) {
        let parent = self.inners[number].parent;
        let above = &self.inners[parent];
        let place = above.place_of(number);
        let fit = |left: usize| {
            let pair = above.nodes().get(left..left + 2)?;
            let all = self.inners[pair[0]].len() + self.inners[pair[1]].len();
            (all <= INNER_JOINED_MAX).then_some((pair[0], pair[1], left))
        };
        let pair = fit(place).or_else(|| fit(place.checked_sub(1)?));
        let Some((left, right, place)) = pair else { return };
        let count = self.inners[parent].counts()[place + 1];
        let taken = std::mem::take(&mut self.inners[right]);
        let from = self.inners[left].len();
        self.inners[left].append_from(&taken, 0);
        self.adopt(left, from);
        let above = &mut self.inners[parent];
        above.add(place, count);
        self.inners.remove(right);
        self.unlink_child(parent, right);
    }
}
