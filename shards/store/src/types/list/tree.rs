//! A tree of chunks in order, with the number of elements below every node: any element is found, and
//! chunks are added and removed anywhere, in steps that grow with the logarithm of the list. No node is
//! larger than a few KiB, so nothing is ever copied as a whole.

use super::chunk::{Chunk, ChunkLimit};

/// Chunks of a leaf, children of an inner node.
const FANOUT: usize = if cfg!(test) { 4 } else { 32 };

#[derive(Debug)]
pub(super) struct Leaf {
    chunks: Vec<Chunk>,
    len: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Inner {
    children: Vec<Node>,
    len: usize,
    bytes: usize,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf(Leaf),
    Inner(Box<Inner>),
}

/// Where in a node something was changed: tells how to split it if it has become too large.
#[derive(Clone, Copy)]
struct Changed {
    at: usize,
}

impl Leaf {
    const EMPTY: Leaf = Leaf { chunks: Vec::new(), len: 0, bytes: 0 };

    /// Changes a chunk, and counts what it gains or loses.
    #[inline]
    pub(super) fn change<R>(&mut self, slot: usize, change: impl FnOnce(&mut Chunk) -> R) -> R {
        let chunk = &mut self.chunks[slot];
        let (count, bytes) = (chunk.count(), chunk.memory_bytes());
        let result = change(chunk);
        self.len = self.len - count + chunk.count();
        self.bytes = self.bytes - bytes + chunk.memory_bytes();
        result
    }

    fn put_in(&mut self, slot: usize, chunk: Chunk) {
        self.len += chunk.count();
        self.bytes += chunk.memory_bytes();
        let before = self.chunks.capacity();
        if before == self.chunks.len() {
            // Between doubling and exact: most lists have few chunks, and a leaf has few anyway.
            self.chunks.reserve_exact((before / 2).clamp(1, FANOUT / 2));
        }
        self.chunks.insert(slot, chunk);
        self.bytes += (self.chunks.capacity() - before) * size_of::<Chunk>();
    }

    fn take_out(&mut self, slot: usize) -> Chunk {
        let chunk = self.chunks.remove(slot);
        self.len -= chunk.count();
        self.bytes -= chunk.memory_bytes();
        chunk
    }

    /// Puts `count` elements before the one with number `offset` of a chunk.
    pub(super) fn insert(
        &mut self,
        slot: usize,
        offset: usize,
        items: &[u8],
        count: usize,
        limit: ChunkLimit,
    ) {
        let Some(chunk) = self.chunks.get(slot) else {
            return self.put_in(slot, Chunk::of(items, count));
        };
        let (last, fits) = (chunk.count(), chunk.fits(items.len(), count, limit));
        if fits && offset == last {
            self.change(slot, |chunk| chunk.push_back(items, count));
        } else if fits && offset == 0 {
            self.change(slot, |chunk| chunk.push_front(items, count));
        } else if fits {
            let at = chunk.place(offset);
            self.change(slot, |chunk| chunk.splice(at..at, 0, items, count));
        } else if offset == 0 {
            if slot > 0 && self.chunks[slot - 1].fits(items.len(), count, limit) {
                return self.change(slot - 1, |chunk| chunk.push_back(items, count));
            }
            self.begin(slot, slot, items, count, true);
        } else if offset == last {
            if self.chunks.get(slot + 1).is_some_and(|next| next.fits(items.len(), count, limit)) {
                return self.change(slot + 1, |chunk| chunk.push_front(items, count));
            }
            self.begin(slot, slot + 1, items, count, false);
        } else {
            self.divide(slot, offset);
            // Now it is at the end of one and the beginning of the other.
            if self.chunks[slot + 1].fits(items.len(), count, limit) {
                self.change(slot + 1, |chunk| chunk.push_front(items, count));
            } else {
                self.insert(slot, offset, items, count, limit);
            }
        }
    }

    /// Begins a chunk beside a full one, which is at its size now.
    fn begin(&mut self, full: usize, slot: usize, items: &[u8], count: usize, front: bool) {
        self.change(full, Chunk::fit);
        let mut chunk = Chunk::of(&[], 0);
        if front {
            chunk.push_front(items, count);
        } else {
            chunk.push_back(items, count);
        }
        self.put_in(slot, chunk);
    }

    fn divide(&mut self, slot: usize, offset: usize) {
        let right = self.change(slot, |chunk| chunk.split_off(offset));
        self.put_in(slot + 1, right);
    }

    /// Removes up to `count` elements of a chunk from number `offset` on; answers how many.
    pub(super) fn remove(&mut self, slot: usize, offset: usize, count: usize, limit: ChunkLimit) -> usize {
        let chunk = &self.chunks[slot];
        let count = count.min(chunk.count() - offset);
        if count == chunk.count() {
            self.take_out(slot);
        } else {
            let range = chunk.place(offset)..chunk.place(offset + count);
            self.change(slot, |chunk| chunk.splice(range, count, &[], 0));
            self.tidy(slot, limit);
        }
        count
    }

    /// Writes an element over another.
    pub(super) fn replace(&mut self, slot: usize, offset: usize, item: &[u8], limit: ChunkLimit) {
        let chunk = &self.chunks[slot];
        let range = chunk.place(offset)..chunk.place(offset + 1);
        let after = chunk.bytes().len() - range.len() + item.len();
        if limit.allows(after, chunk.count()) || chunk.count() == 1 {
            return self.change(slot, |chunk| chunk.splice(range, 1, item, 1));
        }
        // The neighbours stay in a chunk of their own on either side.
        self.change(slot, |chunk| chunk.splice(range, 1, &[], 0));
        self.insert(slot, offset, item, 1, limit);
    }

    /// Joins a chunk that was shortened with a neighbour, where both together are small.
    pub(super) fn tidy(&mut self, slot: usize, limit: ChunkLimit) {
        let joins = |left: &Chunk, right: &Chunk| {
            limit.allows(2 * (left.bytes().len() + right.bytes().len()), left.count() + right.count())
        };
        if slot + 1 < self.chunks.len() && joins(&self.chunks[slot], &self.chunks[slot + 1]) {
            self.join(slot);
        } else if slot > 0 && joins(&self.chunks[slot - 1], &self.chunks[slot]) {
            self.join(slot - 1);
        }
    }

    fn join(&mut self, slot: usize) {
        let right = self.take_out(slot + 1);
        self.change(slot, |left| left.push_back(right.bytes(), right.count()));
    }
}

impl Node {
    #[inline]
    fn len(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.len,
            Node::Inner(inner) => inner.len,
        }
    }

    #[inline]
    fn bytes(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.bytes,
            Node::Inner(inner) => inner.bytes,
        }
    }

    /// Chunks or children.
    fn width(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.chunks.len(),
            Node::Inner(inner) => inner.children.len(),
        }
    }

    /// Changes the leaf that has the element of that index, or the last leaf.
    fn edit<R>(&mut self, index: usize, edit: impl FnOnce(&mut Leaf, usize, usize) -> R) -> (R, Changed) {
        match self {
            Node::Leaf(leaf) => {
                let (slot, offset) = locate(&leaf.chunks, Chunk::count, leaf.len, index);
                (edit(leaf, slot, offset), Changed { at: slot })
            }
            Node::Inner(inner) => inner.edit(index, edit),
        }
    }

    /// Cuts a node that has become too large: where it was changed at an end, it goes on growing there.
    fn split(&mut self, changed: Changed) -> Option<Node> {
        let width = self.width();
        if width <= FANOUT {
            return None;
        }
        let at = match changed.at {
            0 | 1 => (width - FANOUT).max(1),
            at if at + 3 >= width => (width - 1).min(FANOUT),
            _ => width / 2,
        };
        Some(match self {
            Node::Leaf(leaf) => {
                let right = Leaf::of(leaf.chunks.split_off(at));
                let left = std::mem::replace(leaf, Leaf::EMPTY);
                *leaf = Leaf::of(left.chunks);
                Node::Leaf(right)
            }
            Node::Inner(inner) => {
                let right = Inner::of(inner.children.split_off(at));
                **inner = Inner::of(std::mem::take(&mut inner.children));
                Node::Inner(Box::new(right))
            }
        })
    }

    /// Appends a node of the same height.
    fn append(&mut self, other: Node) {
        match (self, other) {
            (Node::Leaf(leaf), Node::Leaf(mut other)) => {
                leaf.chunks.append(&mut other.chunks);
                *leaf = Leaf::of(std::mem::take(&mut leaf.chunks));
            }
            (Node::Inner(inner), Node::Inner(mut other)) => {
                inner.children.append(&mut other.children);
                **inner = Inner::of(std::mem::take(&mut inner.children));
            }
            _ => unreachable!("neighbours are of one height"),
        }
    }
}

impl Clone for Leaf {
    /// Copies have no spare room, so they are counted anew.
    fn clone(&self) -> Leaf {
        Leaf::of(self.chunks.clone())
    }
}

impl Clone for Inner {
    fn clone(&self) -> Inner {
        Inner::of(self.children.clone())
    }
}

impl Leaf {
    fn of(chunks: Vec<Chunk>) -> Leaf {
        let len = chunks.iter().map(Chunk::count).sum();
        let inside = chunks.iter().map(Chunk::memory_bytes).sum::<usize>();
        Leaf { len, bytes: inside + chunks.capacity() * size_of::<Chunk>(), chunks }
    }
}

impl Inner {
    fn of(children: Vec<Node>) -> Inner {
        let len = children.iter().map(Node::len).sum();
        let inside = children.iter().map(Node::bytes).sum::<usize>();
        let bytes = size_of::<Inner>() + inside + children.capacity() * size_of::<Node>();
        Inner { children, len, bytes }
    }

    fn edit<R>(&mut self, index: usize, edit: impl FnOnce(&mut Leaf, usize, usize) -> R) -> (R, Changed) {
        let (at, offset) = locate(&self.children, Node::len, self.len, index);
        let child = &mut self.children[at];
        let (len, bytes) = (child.len(), child.bytes());
        let (result, changed) = child.edit(offset, edit);
        self.len = self.len - len + child.len();
        self.bytes = self.bytes - bytes + child.bytes();
        let width = child.width();
        if width == 0 || width > FANOUT || (width < FANOUT / 4 && self.children.len() > 1) {
            self.balance(at, changed);
        }
        (result, Changed { at })
    }

    /// Brings the width of a child in order: it is split, removed, or joined with a neighbour.
    #[cold]
    fn balance(&mut self, at: usize, changed: Changed) {
        if let Some(right) = self.children[at].split(changed) {
            self.children.insert(at + 1, right);
        } else if self.children[at].width() == 0 {
            self.children.remove(at);
        } else {
            let joins = |pair: &[Node]| pair[0].width() + pair[1].width() <= FANOUT / 2;
            if let Some(left) = [at.wrapping_sub(1), at]
                .into_iter()
                .find(|left| self.children.get(*left..left.wrapping_add(2)).is_some_and(joins))
            {
                let right = self.children.remove(left + 1);
                self.children[left].append(right);
            } else {
                return;
            }
        }
        *self = Inner::of(std::mem::take(&mut self.children));
    }
}

/// Where the element of that index is: below which of the `nodes`, and which it is there. An index behind
/// the last is behind the last of the last node. The nearer end is searched from.
#[inline]
fn locate<T>(nodes: &[T], len: impl Fn(&T) -> usize, total: usize, index: usize) -> (usize, usize) {
    if index >= total / 2 {
        let mut first = total;
        for (at, node) in nodes.iter().enumerate().rev() {
            first -= len(node);
            if index >= first {
                return (at, index - first);
            }
        }
        return (0, 0);
    }
    let mut rest = index;
    for (at, node) in nodes.iter().enumerate() {
        if rest < len(node) {
            return (at, rest);
        }
        rest -= len(node);
    }
    unreachable!("the index is below the total")
}

/// All chunks of a list.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    root: Node,
}

impl Tree {
    pub(super) const EMPTY: Tree = Tree { root: Node::Leaf(Leaf::EMPTY) };

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.root.len()
    }

    #[inline]
    pub(super) fn memory_bytes(&self) -> usize {
        self.root.bytes()
    }

    /// The chunk that has the element of that index, and the number of that element in it.
    pub(super) fn find(&self, mut index: usize) -> Option<(&Chunk, usize)> {
        if index >= self.len() {
            return None;
        }
        let mut node = &self.root;
        loop {
            match node {
                Node::Leaf(leaf) => {
                    let (slot, offset) = locate(&leaf.chunks, Chunk::count, leaf.len, index);
                    return Some((&leaf.chunks[slot], offset));
                }
                Node::Inner(inner) => {
                    let (at, offset) = locate(&inner.children, Node::len, inner.len, index);
                    (node, index) = (&inner.children[at], offset);
                }
            }
        }
    }

    /// Calls `edit` with the leaf that has the element of that index, the number of its chunk there, and
    /// its number in the chunk. For an index behind the last it is the end of the last chunk.
    #[inline]
    pub(super) fn edit<R>(&mut self, index: usize, edit: impl FnOnce(&mut Leaf, usize, usize) -> R) -> R {
        let (result, changed) = self.root.edit(index, edit);
        if self.root.width() > FANOUT {
            self.grow(changed);
        }
        if let Node::Inner(inner) = &self.root
            && inner.children.len() <= 1
        {
            self.shrink();
        }
        result
    }

    #[cold]
    fn grow(&mut self, changed: Changed) {
        let right = self.root.split(changed).expect("it is too wide");
        let left = std::mem::replace(&mut self.root, Node::Leaf(Leaf::EMPTY));
        self.root = Node::Inner(Box::new(Inner::of(vec![left, right])));
    }

    #[cold]
    fn shrink(&mut self) {
        while let Node::Inner(inner) = &mut self.root
            && inner.children.len() <= 1
        {
            self.root = inner.children.pop().unwrap_or(Node::Leaf(Leaf::EMPTY));
        }
    }

    /// Walks everything and compares it with what is counted.
    #[cfg(test)]
    pub(super) fn check(&self) {
        self.root.check(true);
    }
}

#[cfg(test)]
impl Node {
    /// Checks what is counted; answers the height.
    fn check(&self, root: bool) -> usize {
        assert!(self.width() <= FANOUT && (root || self.width() > 0));
        match self {
            Node::Leaf(leaf) => {
                let counted = Leaf::of(leaf.chunks.clone());
                assert_eq!(counted.len, leaf.len);
                let inside = leaf.chunks.iter().map(Chunk::memory_bytes).sum::<usize>();
                assert_eq!(leaf.bytes, inside + leaf.chunks.capacity() * size_of::<Chunk>());
                for chunk in &leaf.chunks {
                    assert!(chunk.count() > 0);
                    assert_eq!(crate::types::packed::validate(chunk.bytes()), Some(chunk.count()));
                }
                0
            }
            Node::Inner(inner) => {
                let heights: Vec<usize> = inner.children.iter().map(|child| child.check(false)).collect();
                assert!(heights.iter().all(|height| *height == heights[0]));
                assert_eq!(inner.len, inner.children.iter().map(Node::len).sum());
                let inside = inner.children.iter().map(Node::bytes).sum::<usize>();
                let own = size_of::<Inner>() + inner.children.capacity() * size_of::<Node>();
                assert_eq!(inner.bytes, inside + own);
                heights[0] + 1
            }
        }
    }
}
