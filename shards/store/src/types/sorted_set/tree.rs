//! A big sorted set: a B+ tree that counts, over packed leaves, and an index from members to leaves.
//! Every operation touches a bounded number of nodes: nothing is ever copied as a whole. It does not
//! know commands.

use super::edge::Edge;
use super::index::Index;
use super::inner::Inner;
use super::leaf::Leaf;
use super::slab::{NONE, Slab};
use crate::hash::Hasher;

/// Members with scores, in order. Give it the same hasher every time.
#[derive(Debug)]
pub struct BigSortedSet {
    pub(super) leaves: Slab<Leaf, 6>,
    pub(super) inners: Slab<Inner, 4>,
    pub(super) index: Index,
    /// A leaf where there is no inner node.
    pub(super) root: u32,
    pub(super) height: u16,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) len: u64,
    /// Bytes of the leaves' buffers.
    pub(super) buffers: usize,
}

/// What was found under a member's name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) hash: u64,
    pub(super) leaf: u32,
    pub(super) slot: usize,
}

/// The byte of a hash that tells members of a leaf apart, and the part that leads to its leaf: the one
/// can be told from the other, and low bits alone choose a bucket there.
#[inline]
pub(super) fn parts(hash: u64) -> (u8, u32) {
    ((hash >> 24) as u8, hash as u32)
}

impl Clone for BigSortedSet {
    fn clone(&self) -> BigSortedSet {
        let mut copy = BigSortedSet {
            leaves: self.leaves.clone(),
            inners: self.inners.clone(),
            index: self.index.clone(),
            ..*self
        };
        // Buffers of a copy have no more room than they need.
        copy.buffers = copy.leaves.iter().map(Leaf::buffer_bytes).sum();
        copy
    }
}

impl Default for BigSortedSet {
    fn default() -> BigSortedSet {
        BigSortedSet::new()
    }
}

impl BigSortedSet {
    /// An empty one.
    pub fn new() -> BigSortedSet {
        let mut leaves = Slab::new();
        let root = leaves.insert(Leaf::default());
        BigSortedSet {
            leaves,
            inners: Slab::new(),
            index: Index::default(),
            root,
            height: 0,
            first: root,
            last: root,
            len: 0,
            buffers: 0,
        }
    }

    /// How many members there are.
    #[inline]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// There is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes it takes in all.
    pub fn memory_bytes(&self) -> usize {
        size_of::<BigSortedSet>()
            + self.buffers
            + self.leaves.memory_bytes()
            + self.inners.memory_bytes()
            + self.index.memory_bytes()
    }

    /// The spot of a member; its leaf is `NONE` where it is not there.
    #[inline]
    pub(super) fn spot(&self, hasher: &Hasher, member: &[u8]) -> Spot {
        let hash = hasher.hash(member);
        let (tag, short) = parts(hash);
        let found = self.index.find(short, |leaf| Some((leaf, self.leaves[leaf].find(tag, member)?)));
        let (leaf, slot) = found.unwrap_or((NONE, 0));
        Spot { hash, leaf, slot }
    }

    /// The score of a member.
    #[inline]
    pub fn score(&self, hasher: &Hasher, member: &[u8]) -> Option<f64> {
        self.score_at(self.spot(hasher, member))
    }

    #[inline]
    pub(super) fn score_at(&self, spot: Spot) -> Option<f64> {
        (spot.leaf != NONE).then(|| self.leaves[spot.leaf].score(spot.slot))
    }

    /// How many members come before it, and its score.
    pub fn rank(&self, hasher: &Hasher, member: &[u8]) -> Option<(u64, f64)> {
        let spot = self.spot(hasher, member);
        if spot.leaf == NONE {
            return None;
        }
        let leaf = &self.leaves[spot.leaf];
        let (mut rank, mut child, mut parent) = (spot.slot as u64, spot.leaf, leaf.parent);
        while parent != NONE {
            let node = &self.inners[parent];
            rank += node.counts()[..node.place_of(child)].iter().sum::<u64>();
            (child, parent) = (parent, node.parent);
        }
        Some((rank, leaf.score(spot.slot)))
    }

    /// Sets a member's score, which is not NaN; answers the one before, where the member was there.
    pub fn set(&mut self, hasher: &Hasher, member: &[u8], score: f64) -> Option<f64> {
        let spot = self.spot(hasher, member);
        self.set_at(hasher, spot, member, score)
    }

    /// The same of a spot just found.
    pub(super) fn set_at(&mut self, hasher: &Hasher, spot: Spot, member: &[u8], score: f64) -> Option<f64> {
        debug_assert!(!score.is_nan(), "a score is a number");
        if spot.leaf == NONE {
            self.add(hasher, spot.hash, score, member);
            return None;
        }
        let before = self.leaves[spot.leaf].score(spot.slot);
        if before.to_bits() != score.to_bits() && !self.move_within_leaf(spot, member, score) {
            self.take(spot, hasher);
            self.add(hasher, spot.hash, score, member);
        }
        Some(before)
    }

    /// Removes a member; answers its score.
    pub fn remove(&mut self, hasher: &Hasher, member: &[u8]) -> Option<f64> {
        let spot = self.spot(hasher, member);
        if spot.leaf == NONE {
            return None;
        }
        let score = self.leaves[spot.leaf].score(spot.slot);
        self.take(spot, hasher);
        Some(score)
    }

    /// The leaf that an edge falls on, and how many entries come before that leaf.
    #[inline]
    pub(super) fn descend(&self, edge: Edge<'_>) -> (u32, u64) {
        let (mut node, mut before) = (self.root, 0);
        for _ in 0..self.height {
            let inner = &self.inners[node];
            let (mut low, mut high) = (0, inner.len());
            while low < high {
                let middle = usize::midpoint(low, high);
                let child = inner.child(middle);
                if edge.is_behind(child.score, || self.leaves[child.first].member(0)) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            let place = low.saturating_sub(1);
            before += inner.counts()[..place].iter().sum::<u64>();
            node = inner.nodes()[place];
        }
        (node, before)
    }

    /// How many entries come before an edge.
    pub fn count_before(&self, edge: Edge<'_>) -> u64 {
        let (leaf, before) = self.descend(edge);
        before + self.leaves[leaf].search(edge) as u64
    }

    /// Gives an entry another score where it stays on its leaf; false where it does not.
    fn move_within_leaf(&mut self, spot: Spot, member: &[u8], score: f64) -> bool {
        let leaf = &self.leaves[spot.leaf];
        let target = leaf.search(Edge::Entry { score, member });
        // Seen without the entry itself, which may stand in front of its new place.
        let slot = if target > spot.slot { target - 1 } else { target };
        let stays_above = slot > 0 || leaf.previous == NONE;
        let stays_below = slot + 1 < leaf.len() || leaf.next == NONE;
        if !stays_above || !stays_below {
            return false;
        }
        let leaf = &mut self.leaves[spot.leaf];
        if slot == spot.slot {
            leaf.set_score(slot, score);
        } else {
            let before = leaf.buffer_bytes();
            leaf.remove(spot.slot, spot.slot + 1);
            leaf.insert(slot, parts(spot.hash).0, score, member);
            let after = leaf.buffer_bytes();
            self.buffers = self.buffers + after - before;
        }
        if slot == 0 || spot.slot == 0 {
            self.climb(spot.leaf, 0, true);
        }
        true
    }

    /// Adds a member that is not there.
    pub(super) fn add(&mut self, hasher: &Hasher, hash: u64, score: f64, member: &[u8]) {
        let (tag, short) = parts(hash);
        let edge = Edge::Entry { score, member };
        let (mut number, _) = self.descend(edge);
        let slot = loop {
            let leaf = &self.leaves[number];
            let slot = leaf.search(edge);
            if leaf.fits(member.len()) {
                break slot;
            }
            number = self.make_room(hasher, number, slot, score, member);
        };
        let leaf = &mut self.leaves[number];
        let before = leaf.buffer_bytes();
        leaf.insert(slot, tag, score, member);
        let after = leaf.buffer_bytes();
        self.buffers += after - before;
        self.len += 1;
        self.index.insert(short, number);
        self.climb(number, 1, slot == 0);
    }

    /// Tells all nodes above a leaf that it has more entries (or less: `delta` wraps), and, where it
    /// begins with another entry, with which.
    pub(super) fn climb(&mut self, number: u32, delta: u64, mut begins: bool) {
        let leaf = &self.leaves[number];
        let score = if begins && leaf.len() > 0 { leaf.score(0) } else { 0.0 };
        let (mut child, mut parent) = (number, leaf.parent);
        while parent != NONE && (delta != 0 || begins) {
            let node = &mut self.inners[parent];
            let place = node.place_of(child);
            node.add(place, delta);
            if begins {
                node.begins(place, score, number);
                begins = place == 0;
            }
            (child, parent) = (parent, node.parent);
        }
    }
}
