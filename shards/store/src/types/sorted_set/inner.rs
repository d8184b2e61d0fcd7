//! An inner node: its children, how many entries each holds, and what each begins with. It knows
//! numbers, not nodes.

use super::slab::NONE;

/// Children a node has at most.
pub(super) const CHILDREN_MAX: usize = 48;

/// A child as its parent sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    /// Its number: of a leaf where the parent's level is 1.
    pub(super) node: u32,
    /// Its first leaf, whose first entry is the child's.
    pub(super) first: u32,
    /// The score of that entry.
    pub(super) score: f64,
    /// Entries under it.
    pub(super) count: u64,
}

/// Columns of children in order, so that a search runs over scores alone.
#[derive(Clone, Debug)]
pub(super) struct Inner {
    /// The node above.
    pub(super) parent: u32,
    /// 1 above leaves.
    pub(super) level: u16,
    len: u16,
    nodes: [u32; CHILDREN_MAX],
    firsts: [u32; CHILDREN_MAX],
    scores: [f64; CHILDREN_MAX],
    counts: [u64; CHILDREN_MAX],
}

impl Default for Inner {
    fn default() -> Inner {
        Inner {
            parent: NONE,
            level: 0,
            len: 0,
            nodes: [NONE; CHILDREN_MAX],
            firsts: [NONE; CHILDREN_MAX],
            scores: [0.0; CHILDREN_MAX],
            counts: [0; CHILDREN_MAX],
        }
    }
}

impl Inner {
    /// An empty one of a level.
    pub(super) fn at(level: u16) -> Inner {
        Inner { level, ..Inner::default() }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        usize::from(self.len)
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.len() == CHILDREN_MAX
    }

    pub(super) fn nodes(&self) -> &[u32] {
        &self.nodes[..self.len()]
    }

    #[inline]
    pub(super) fn counts(&self) -> &[u64] {
        &self.counts[..self.len()]
    }

    #[inline]
    pub(super) fn scores(&self) -> &[f64] {
        &self.scores[..self.len()]
    }

    #[inline]
    pub(super) fn child(&self, place: usize) -> Child {
        Child {
            node: self.nodes[place],
            first: self.firsts[place],
            score: self.scores[place],
            count: self.counts[place],
        }
    }

    /// Where a child stands.
    #[inline]
    pub(super) fn place_of(&self, node: u32) -> usize {
        self.nodes().iter().position(|other| *other == node).expect("a child is among its parent's")
    }

    /// Entries under it.
    pub(super) fn count(&self) -> u64 {
        self.counts().iter().sum()
    }

    /// Adds to the entries under a child; wraps, so that taking away is adding too.
    #[inline]
    pub(super) fn add(&mut self, place: usize, delta: u64) {
        self.counts[place] = self.counts[place].wrapping_add(delta);
    }

    /// Says what a child begins with.
    #[inline]
    pub(super) fn begins(&mut self, place: usize, score: f64, first: u32) {
        self.scores[place] = score;
        self.firsts[place] = first;
    }

    /// Puts a child at a place; there must be room.
    pub(super) fn insert(&mut self, place: usize, child: Child) {
        let len = self.len();
        self.nodes.copy_within(place..len, place + 1);
        self.firsts.copy_within(place..len, place + 1);
        self.scores.copy_within(place..len, place + 1);
        self.counts.copy_within(place..len, place + 1);
        self.nodes[place] = child.node;
        self.firsts[place] = child.first;
        self.scores[place] = child.score;
        self.counts[place] = child.count;
        self.len += 1;
    }

    /// Takes the child at a place out.
    pub(super) fn remove(&mut self, place: usize) {
        let len = self.len();
        self.nodes.copy_within(place + 1..len, place);
        self.firsts.copy_within(place + 1..len, place);
        self.scores.copy_within(place + 1..len, place);
        self.counts.copy_within(place + 1..len, place);
        self.len -= 1;
    }

    /// Takes the children from a place on into a node of their own, without parent.
    pub(super) fn split_off(&mut self, from: usize) -> Inner {
        let mut right = Inner::at(self.level);
        right.append_from(self, from);
        self.len = from as u16;
        right
    }

    /// Appends the children of another node from a place on.
    pub(super) fn append_from(&mut self, other: &Inner, from: usize) {
        let (len, all) = (self.len(), self.len() + other.len() - from);
        self.nodes[len..all].copy_from_slice(&other.nodes()[from..]);
        self.firsts[len..all].copy_from_slice(&other.firsts[from..other.len()]);
        self.scores[len..all].copy_from_slice(&other.scores()[from..]);
        self.counts[len..all].copy_from_slice(&other.counts()[from..]);
        self.len = all as u16;
    }
}
