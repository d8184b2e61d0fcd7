//! A leaf: up to [`ENTRIES_MAX`] entries in order, packed into one buffer. It knows nothing of the tree
//! around it but the numbers of its neighbours.

use super::edge::Edge;
use super::slab::NONE;

/// Entries a leaf holds at most.
pub(super) const ENTRIES_MAX: usize = 64;
/// Bytes of members that a leaf holds at most; only a leaf of one entry may hold more.
pub(super) const MEMBERS_MAX: usize = 4096;
/// A leaf with so many entries or more is full when its buffer is: it does not grow by a size class for
/// the few that are left.
pub(super) const ENTRIES_MANY: usize = ENTRIES_MAX * 7 / 8;
/// Bytes of an entry beside its member: tag and score, and a start where members differ in length.
const BESIDE: usize = 1 + 8;
const START: usize = 2;
/// The length of members that differ in theirs.
const VARIED: u16 = u16::MAX;

/// ```text
/// page: tags (a byte each) | starts of the members (2 bytes each) | scores (8 bytes each) | members
/// ```
/// Starts are left out while all members have one length, as names and numbers often do.
/// A tag is a byte of the member's hash, so that a member is found by comparing many tags at a time. A
/// start counts from where the members begin.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// The inner node above.
    pub(super) parent: u32,
    /// The leaf with the next higher entries.
    pub(super) next: u32,
    /// The leaf with the next lower entries.
    pub(super) previous: u32,
    count: u16,
    /// The length of all members, or `VARIED`. Of an empty leaf it means nothing.
    length: u16,
    page: Vec<u8>,
}

impl Default for Leaf {
    fn default() -> Leaf {
        Leaf { parent: NONE, next: NONE, previous: NONE, count: 0, length: VARIED, page: Vec::new() }
    }
}

impl Leaf {
    #[inline]
    pub(super) fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Bytes of a start: none where all members have one length.
    #[inline]
    fn start_size(&self) -> usize {
        if self.length == VARIED { START } else { 0 }
    }

    #[inline]
    fn beside(&self) -> usize {
        BESIDE + self.start_size()
    }

    #[inline]
    fn scores_at(&self) -> usize {
        (1 + self.start_size()) * self.len()
    }

    /// Bytes of its buffer.
    #[inline]
    pub(super) fn buffer_bytes(&self) -> usize {
        self.page.capacity()
    }

    #[inline]
    fn members_at(&self) -> usize {
        self.beside() * self.len()
    }

    /// Bytes of all members.
    #[inline]
    pub(super) fn members_len(&self) -> usize {
        self.page.len() - self.members_at()
    }

    /// Whether there is room for an entry with a member of that many bytes.
    #[inline]
    pub(super) fn fits(&self, member_len: usize) -> bool {
        let fits = self.len() < ENTRIES_MAX && self.members_len() + member_len <= MEMBERS_MAX;
        let grows = self.page.len() + self.beside() + member_len > self.page.capacity();
        self.count == 0 || fits && !(grows && self.len() >= ENTRIES_MANY)
    }

    /// Where the member of an entry begins among the members; of the entry behind the last: their end.
    #[inline]
    fn start(&self, slot: usize) -> usize {
        let count = self.len();
        if self.length != VARIED {
            return usize::from(self.length) * slot;
        }
        if slot == count {
            return self.members_len();
        }
        let at = count + START * slot;
        usize::from(u16::from_le_bytes([self.page[at], self.page[at + 1]]))
    }

    #[inline]
    pub(super) fn score(&self, slot: usize) -> f64 {
        let at = self.scores_at() + 8 * slot;
        f64::from_le_bytes(*self.page[at..].first_chunk().expect("a score is in the page"))
    }

    #[inline]
    pub(super) fn member(&self, slot: usize) -> &[u8] {
        let base = self.members_at();
        &self.page[base + self.start(slot)..base + self.start(slot + 1)]
    }

    #[inline]
    pub(super) fn entry(&self, slot: usize) -> (f64, &[u8]) {
        (self.score(slot), self.member(slot))
    }

    /// The first slot whose entry is not before the edge.
    #[inline]
    pub(super) fn search(&self, edge: Edge<'_>) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if edge.is_behind(self.score(middle), || self.member(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The slot of a member, of which the tag is known.
    #[inline]
    pub(super) fn find(&self, tag: u8, member: &[u8]) -> Option<usize> {
        let tags = &self.page[..self.len()];
        let mut from = 0;
        // Sixteen at a time: one compare of a vector register.
        let (blocks, rest) = tags.as_chunks::<16>();
        for block in blocks {
            let equal = block.iter().fold(0u8, |any, other| any | u8::from(*other == tag));
            if equal != 0 {
                let hit = (0..16).find(|at| block[*at] == tag && self.member(from + at) == member);
                if let Some(at) = hit {
                    return Some(from + at);
                }
            }
            from += 16;
        }
        let hit = (0..rest.len()).find(|at| rest[*at] == tag && self.member(from + at) == member);
        hit.map(|at| from + at)
    }

    /// Visits the slots of a tag.
    pub(super) fn each_tagged(&self, tag: u8, mut visit: impl FnMut(usize)) {
        (0..self.len()).filter(|slot| self.page[*slot] == tag).for_each(&mut visit);
    }

    #[inline]
    pub(super) fn set_score(&mut self, slot: usize, score: f64) {
        let at = self.scores_at() + 8 * slot;
        self.page[at..at + 8].copy_from_slice(&score.to_le_bytes());
    }

    /// Puts an entry at a slot, where it [`fits`](Leaf::fits).
    pub(super) fn insert(&mut self, slot: usize, tag: u8, score: f64, member: &[u8]) {
        self.admit(member.len());
        let (count, old) = (self.len(), self.page.len());
        let (beside, start_size, start) = (self.beside(), self.start_size(), self.start(slot));
        let length = old + beside + member.len();
        self.reserve(length);
        let page = &mut self.page;
        page.resize(length, 0);
        // From the back, so that nothing is written over before it has moved.
        let (members, moved) = (beside * count, beside * (count + 1));
        page.copy_within(members + start..old, moved + start + member.len());
        page.copy_within(members..members + start, moved);
        page[moved + start..moved + start + member.len()].copy_from_slice(member);
        let (scores, moved) = ((1 + start_size) * count, (1 + start_size) * (count + 1));
        page.copy_within(scores + 8 * slot..members, moved + 8 * (slot + 1));
        page.copy_within(scores..scores + 8 * slot, moved);
        page[moved + 8 * slot..moved + 8 * (slot + 1)].copy_from_slice(&score.to_le_bytes());
        if start_size > 0 {
            let (starts, ends, moved) = (count, scores, count + 1);
            page.copy_within(starts + START * slot..ends, moved + START * (slot + 1));
            page.copy_within(starts..starts + START * slot, moved);
            let start = u16::try_from(start).expect("members of several entries are short");
            page[moved + START * slot..moved + START * (slot + 1)].copy_from_slice(&start.to_le_bytes());
            shift(&mut page[moved + START * (slot + 1)..(1 + START) * (count + 1)], member.len() as u16);
        }
        page.copy_within(slot..count, slot + 1);
        page[slot] = tag;
        self.count += 1;
    }

    /// Makes ready for a member of a length: starts are written once it is another than all had.
    fn admit(&mut self, length: usize) {
        let short = u16::try_from(length).unwrap_or(VARIED);
        if self.count == 0 {
            self.length = short;
        } else if self.length != short && self.length != VARIED {
            let (count, own) = (self.len(), self.length);
            self.reserve(self.page.len() + START * count);
            let starts = (0..count).flat_map(|slot| (own * slot as u16).to_le_bytes());
            self.page.splice(count..count, starts);
            self.length = VARIED;
        }
    }

    /// Takes the entries from `from` to before `to` out; a buffer that has become far too big is changed.
    pub(super) fn remove(&mut self, from: usize, to: usize) {
        self.drop_entries(from, to);
        if self.page.len() * 3 < self.page.capacity() {
            self.page.shrink_to(room(self.page.len() * 3 / 2));
        }
    }

    fn drop_entries(&mut self, from: usize, to: usize) {
        let (count, gone) = (self.len(), to - from);
        let (start, end, old) = (self.start(from), self.start(to), self.page.len());
        let (beside, start_size) = (self.beside(), self.start_size());
        let page = &mut self.page;
        let (starts, scores, members) = (count, (1 + start_size) * count, beside * count);
        let left = count - gone;
        page.copy_within(to..count, from);
        if start_size > 0 {
            page.copy_within(starts..starts + START * from, left);
            page.copy_within(starts + START * to..scores, left + START * from);
            // Wraps: what is taken away is added as its complement.
            let delta = ((end - start) as u16).wrapping_neg();
            shift(&mut page[left + START * from..(1 + START) * left], delta);
        }
        let moved = (1 + start_size) * left;
        page.copy_within(scores..scores + 8 * from, moved);
        page.copy_within(scores + 8 * to..members, moved + 8 * from);
        page.copy_within(members..members + start, beside * left);
        page.copy_within(members + end..old, beside * left + start);
        page.truncate(old - beside * gone - (end - start));
        self.count = left as u16;
    }

    /// Takes the entries from `from` on into a leaf of their own, with as big a buffer.
    pub(super) fn split_off(&mut self, from: usize) -> Leaf {
        let mut right = self.empty_like();
        right.put_together(&Leaf::default(), (self, from, self.len()));
        self.drop_entries(from, self.len());
        right
    }

    /// Takes the first entries into a leaf of their own, with as big a buffer.
    pub(super) fn split_front(&mut self, count: usize) -> Leaf {
        let mut left = self.empty_like();
        left.put_together(&Leaf::default(), (self, 0, count));
        self.drop_entries(0, count);
        left
    }

    /// An empty leaf with a buffer as big, and no neighbours: leaves of one set are of one size, so that
    /// what one gives back to the allocator the next can use.
    pub(super) fn empty_like(&self) -> Leaf {
        let usual = self.page.capacity().min(room((BESIDE + START) * ENTRIES_MAX + MEMBERS_MAX));
        Leaf { page: Vec::with_capacity(usual), ..Leaf::default() }
    }

    /// Appends the entries of another leaf.
    pub(super) fn append(&mut self, other: &Leaf) {
        let own = self.take_entries();
        self.put_together(&own, (other, 0, other.len()));
    }

    /// Puts the entries of another leaf in front.
    pub(super) fn prepend(&mut self, other: &Leaf) {
        let own = self.take_entries();
        self.put_together(other, (&own, 0, own.len()));
    }

    /// The entries in a leaf of their own; this one is left with a buffer as big.
    fn take_entries(&mut self) -> Leaf {
        let page = Vec::with_capacity(self.page.capacity());
        let page = std::mem::replace(&mut self.page, page);
        Leaf { count: std::mem::take(&mut self.count), length: self.length, page, ..Leaf::default() }
    }

    /// Fills this empty leaf with all entries of one and some of another behind them.
    fn put_together(&mut self, left: &Leaf, (right, from, to): (&Leaf, usize, usize)) {
        let (base, start, end) = (left.members_len(), right.start(from), right.start(to));
        let all = left.len() + to - from;
        self.length = match (left.len(), to - from) {
            (0, _) => right.length,
            (_, 0) => left.length,
            _ if left.length == right.length => left.length,
            _ => VARIED,
        };
        self.count = all as u16;
        let length = self.beside() * all + base + end - start;
        self.reserve(length);
        let (varied, page) = (self.length == VARIED, &mut self.page);
        page.extend_from_slice(&left.page[..left.len()]);
        page.extend_from_slice(&right.page[from..to]);
        if varied {
            let mut put = |start: usize| page.extend_from_slice(&(start as u16).to_le_bytes());
            (0..left.len()).for_each(|slot| put(left.start(slot)));
            (from..to).for_each(|slot| put(base + right.start(slot) - start));
        }
        page.extend_from_slice(&left.page[left.scores_at()..left.members_at()]);
        let scores = right.scores_at();
        page.extend_from_slice(&right.page[scores + 8 * from..scores + 8 * to]);
        page.extend_from_slice(&left.page[left.members_at()..]);
        page.extend_from_slice(&right.page[right.members_at() + start..right.members_at() + end]);
    }

    /// Where to split a full leaf: half of its bytes lie on either side.
    pub(super) fn middle(&self) -> usize {
        let half = self.page.len() / 2;
        let cut = (1..self.len()).find(|slot| self.beside() * slot + self.start(*slot) >= half);
        cut.unwrap_or(self.len() - 1)
    }

    fn reserve(&mut self, length: usize) {
        if length > self.page.capacity() {
            let more = room(length) - self.page.len();
            self.page.reserve_exact(more);
        }
    }
}

/// Adds to each 16-bit start; wraps.
fn shift(starts: &mut [u8], delta: u16) {
    let (starts, _) = starts.as_chunks_mut::<2>();
    for start in starts {
        *start = u16::from_le_bytes(*start).wrapping_add(delta).to_le_bytes();
    }
}

/// The room to ask for: what an allocator of four size classes a doubling (jemalloc) would give anyway.
pub(super) fn room(length: usize) -> usize {
    let step = match length {
        0..=128 => 16,
        length => length.next_power_of_two() / 8,
    };
    length.next_multiple_of(step.max(16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_a_size_class() {
        for (length, class) in [(1, 16), (128, 128), (129, 160), (257, 320), (1024, 1024), (1025, 1280)] {
            assert_eq!(room(length), class, "{length}");
        }
    }

    #[test]
    fn entries_come_and_go_anywhere() {
        let mut leaf = Leaf::default();
        let mut model: Vec<(f64, Vec<u8>)> = Vec::new();
        let mut seed = 1u64;
        let mut below = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) as usize) % bound
        };
        for step in 0..20_000u32 {
            // Now and then members have one length for a while.
            let member = if step / 500 % 2 == 0 {
                format!("m{step:07}").into_bytes()
            } else {
                step.to_string().repeat(below(5)).into_bytes()
            };
            if leaf.fits(member.len()) && below(3) > 0 {
                let slot = below(model.len() + 1);
                leaf.insert(slot, step as u8, f64::from(step), &member);
                model.insert(slot, (f64::from(step), member));
            } else if !model.is_empty() {
                let from = below(model.len());
                let to = from + below((model.len() - from).min(9) + 1);
                leaf.remove(from, to);
                model.drain(from..to);
            }
            if below(50) == 0 && model.len() > 1 {
                let cut = leaf.middle();
                let right = leaf.split_off(cut);
                assert_eq!((leaf.len(), right.len()), (cut, model.len() - cut));
                if below(2) == 0 {
                    leaf.append(&right);
                } else {
                    let mut whole = right.clone();
                    whole.prepend(&leaf);
                    leaf = whole;
                }
                let front = leaf.split_front(cut);
                assert_eq!(front.len(), cut);
                leaf.prepend(&front);
            }
            assert_eq!(leaf.len(), model.len());
            for (slot, (score, member)) in model.iter().enumerate() {
                assert_eq!(leaf.entry(slot), (*score, member.as_slice()), "step {step}");
                let found = leaf.find(*score as u32 as u8, member);
                assert_eq!(found.map(|found| leaf.member(found)), Some(member.as_slice()));
            }
        }
    }
}
