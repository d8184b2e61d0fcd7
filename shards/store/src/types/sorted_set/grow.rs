//! How a tree makes room: a full leaf lends entries to a neighbour or is divided, and nodes above likewise.

use super::inner::{CHILDREN_MAX, Child, Inner};
use super::leaf::{ENTRIES_MANY, Leaf, MEMBERS_MAX};
use super::slab::NONE;
use super::tree::{BigSortedSet, parts};
use crate::hash::Hasher;
use std::ops::Range;

/// A full leaf lends entries to a neighbour with so many less than itself.
const LENDS_FROM: usize = 4;

impl BigSortedSet {
    /// Makes room for an entry at a slot of a full leaf; answers the leaf where it may go.
    pub(super) fn make_room(
        &mut self,
        hasher: &Hasher,
        number: u32,
        slot: usize,
        score: f64,
        member: &[u8],
    ) -> u32 {
        let leaf = &self.leaves[number];
        let len = leaf.len();
        // An end of the set grows: its leaves stay full.
        let appends = slot == len && (leaf.next == NONE || len == 1);
        let prepends = slot == 0 && (leaf.previous == NONE || len == 1);
        if appends {
            let new = leaf.empty_like();
            self.buffers += new.buffer_bytes();
            return self.link_leaf(number, new, score);
        }
        if prepends {
            // The entries go behind the new leaf, that is, the old number's leaf becomes the empty one.
            let empty = leaf.empty_like();
            self.buffers += empty.buffer_bytes();
            let whole = std::mem::replace(&mut self.leaves[number], empty);
            let (parent, previous, next) = (whole.parent, whole.previous, whole.next);
            let leaf = &mut self.leaves[number];
            (leaf.parent, leaf.previous, leaf.next) = (parent, previous, next);
            let score = whole.score(0);
            self.move_to_new_leaf(hasher, number, whole, score);
            return number;
        }
        if let Some(target) = self.lend(hasher, number, slot, member.len()) {
            return target;
        }
        let leaf = &mut self.leaves[number];
        let cut = leaf.middle();
        let right = leaf.split_off(cut);
        self.buffers += right.buffer_bytes();
        let score = right.score(0);
        let new = self.move_to_new_leaf(hasher, number, right, score);
        if slot <= cut { number } else { new }
    }

    /// Moves entries of a full leaf to a neighbour that has room, so that leaves are fuller than halves
    /// of full ones; answers the leaf on which the slot is now.
    fn lend(&mut self, hasher: &Hasher, number: u32, slot: usize, member_len: usize) -> Option<u32> {
        let leaf = &self.leaves[number];
        let len = leaf.len();
        // Where all members fit on one leaf, however they are divided is right.
        let lends = |other: u32| {
            let near = (other != NONE).then(|| &self.leaves[other])?;
            let members = leaf.members_len() + near.members_len() + member_len;
            let less = len.saturating_sub(near.len());
            let has = near.parent == leaf.parent && less >= LENDS_FROM && members <= MEMBERS_MAX;
            has.then_some(less / 2)
        };
        if len < ENTRIES_MANY {
            return None;
        }
        let (next, previous) = (leaf.next, leaf.previous);
        match (lends(previous), lends(next)) {
            (None, None) => None,
            (down, Some(up)) if down.is_none_or(|down| down <= up) => {
                self.shift_up(hasher, number, next, len - up);
                Some(if slot <= len - up { number } else { next })
            }
            (down, _) => {
                let down = down.expect("one of both lends");
                self.shift_down(hasher, previous, number, down);
                Some(if slot <= down { previous } else { number })
            }
        }
    }

    /// Moves the entries of a leaf from a slot on to the next leaf, which has the same parent.
    fn shift_up(&mut self, hasher: &Hasher, number: u32, next: u32, from: usize) {
        let moved = self.leaves[number].split_off(from);
        self.change_leaf(next, |leaf| leaf.prepend(&moved));
        self.told_of_shift(number, next, moved.len() as u64);
        self.repoint(hasher, next, 0..moved.len(), number, next);
    }

    /// Moves the first entries of a leaf to the previous leaf, which has the same parent.
    fn shift_down(&mut self, hasher: &Hasher, previous: u32, number: u32, count: usize) {
        let moved = self.leaves[number].split_front(count);
        let old = self.leaves[previous].len();
        self.change_leaf(previous, |leaf| leaf.append(&moved));
        self.told_of_shift(previous, number, (moved.len() as u64).wrapping_neg());
        self.repoint(hasher, previous, old..old + count, number, previous);
    }

    /// Changes a leaf, and counts what its buffer takes then.
    pub(super) fn change_leaf(&mut self, number: u32, change: impl FnOnce(&mut Leaf)) {
        let leaf = &mut self.leaves[number];
        self.buffers -= leaf.buffer_bytes();
        change(leaf);
        self.buffers += leaf.buffer_bytes();
    }

    /// Tells the parent of two leaves that entries went from the left one to the right one.
    fn told_of_shift(&mut self, left: u32, right: u32, count: u64) {
        let head = self.leaves[right].score(0);
        let node = &mut self.inners[self.leaves[right].parent];
        let (from, to) = (node.place_of(left), node.place_of(right));
        node.add(from, count.wrapping_neg());
        node.add(to, count);
        node.begins(to, head, right);
    }

    /// Links a leaf with entries of `number`'s in behind that one: the index is told.
    fn move_to_new_leaf(&mut self, hasher: &Hasher, number: u32, mut leaf: Leaf, score: f64) -> u32 {
        let moved = leaf.len() as u64;
        leaf.parent = NONE;
        let new = self.link_leaf(number, leaf, score);
        self.repoint(hasher, new, 0..moved as usize, number, new);
        self.climb(number, moved.wrapping_neg(), false);
        self.climb(new, moved, false);
        new
    }

    /// Tells the index that entries are under another number than before.
    pub(super) fn repoint(&mut self, hasher: &Hasher, holder: u32, slots: Range<usize>, from: u32, to: u32) {
        let leaf = &self.leaves[holder];
        for slot in slots {
            let (_, short) = parts(hasher.hash(leaf.member(slot)));
            self.index.repoint(short, from, to);
        }
    }

    /// Puts a leaf behind another, as a child of which the parents count nothing yet.
    fn link_leaf(&mut self, behind: u32, mut leaf: Leaf, score: f64) -> u32 {
        let next = self.leaves[behind].next;
        (leaf.previous, leaf.next) = (behind, next);
        let new = self.leaves.insert(leaf);
        self.leaves[behind].next = new;
        if next == NONE {
            self.last = new;
        } else {
            self.leaves[next].previous = new;
        }
        let child = Child { node: new, first: new, score, count: 0 };
        self.link_child(behind, self.leaves[behind].parent, 1, child);
        new
    }

    /// Puts a child behind another one of the same parent (`NONE`: that one is the root).
    fn link_child(&mut self, behind: u32, parent: u32, level: u16, child: Child) {
        if parent == NONE {
            let first = self.first;
            let old = Child { node: behind, first, score: self.first_score(), count: self.len - child.count };
            let mut root = Inner::at(level);
            root.insert(0, old);
            root.insert(1, child);
            self.root = self.inners.insert(root);
            self.height = level;
            self.adopt(self.root, 0);
            return;
        }
        let place = self.inners[parent].place_of(behind) + 1;
        if !self.inners[parent].is_full() {
            self.inners[parent].insert(place, child);
            self.set_parent(child.node, level, parent);
            return;
        }
        // At the end of the set nodes stay full, elsewhere they are halved.
        let at_end = place == CHILDREN_MAX && self.leaves[child.first].next == NONE;
        let cut = if at_end { CHILDREN_MAX } else { CHILDREN_MAX / 2 };
        let mut right = self.inners[parent].split_off(cut);
        let goes_right = at_end || place > cut;
        if goes_right {
            right.insert(place - cut, child);
        } else {
            self.inners[parent].insert(place, child);
        }
        let above = self.inners[parent].parent;
        let head = Child { count: right.count(), ..right.child(0) };
        let new = self.inners.insert(right);
        self.adopt(new, 0);
        if !goes_right {
            self.set_parent(child.node, level, parent);
        }
        // What went right is counted there and no longer on the left; the child itself nowhere yet.
        let moved = head.count;
        if above != NONE {
            let node = &mut self.inners[above];
            let place = node.place_of(parent);
            node.add(place, moved.wrapping_neg());
        }
        self.link_child(parent, above, level + 1, Child { node: new, ..head });
    }

    fn first_score(&self) -> f64 {
        let leaf = &self.leaves[self.first];
        if leaf.len() > 0 { leaf.score(0) } else { f64::NEG_INFINITY }
    }

    /// Tells the children of a node from a place on who their parent is.
    pub(super) fn adopt(&mut self, parent: u32, from: usize) {
        let node = &self.inners[parent];
        if node.level == 1 {
            for child in &node.nodes()[from..] {
                self.leaves[*child].parent = parent;
            }
        } else {
            let (children, len) = (node.clone(), node.len());
            for child in &children.nodes()[from..len] {
                self.inners[*child].parent = parent;
            }
        }
    }

    /// Tells a child of a node of that level who its parent is.
    pub(super) fn set_parent(&mut self, child: u32, level: u16, parent: u32) {
        if level == 1 {
            self.leaves[child].parent = parent;
        } else {
            self.inners[child].parent = parent;
        }
    }
}
