//! Sorted sets under their keys, small or big: one face for both. It does not know commands.

use super::edge::Edge;
use super::range::Walk;
use super::small;
use super::tree::BigSortedSet;
use crate::hash::{Hasher, Key};
use crate::header::Kind;
use crate::store::Store;
use crate::text::Text;
use crate::travel::Detached;
use crate::types::slot::{Body, OwnBody, Slot, SlotMut};
use crate::types::{Big, WrongKind};

/// Up to which size a sorted set stays small.
#[derive(Clone, Copy, Debug)]
pub struct SortedSetLimits {
    /// Members.
    pub entries: u64,
    /// Bytes of a member.
    pub member_bytes: u64,
}

/// A sorted set to read. Ranks count from the lowest entry.
#[derive(Clone, Copy)]
pub struct SortedSetRef<'a> {
    body: Form<'a>,
    hasher: &'a Hasher,
}

#[derive(Clone, Copy)]
enum Form<'a> {
    Small(&'a [u8]),
    Big(&'a BigSortedSet),
}

impl<'a> Form<'a> {
    #[inline]
    fn of(body: Body<'a>) -> Form<'a> {
        match body {
            Body::Packed(bytes) => Form::Small(bytes),
            Body::Big(Big::SortedSet(set)) => Form::Big(set),
            Body::Big(_) => unreachable!("the slot is of that kind"),
        }
    }
}

impl Store {
    /// The sorted set of a key; `touch` notes it as used now.
    pub fn sorted_set(
        &mut self,
        db: usize,
        key: Key<'_>,
        now: i64,
        touch: bool,
    ) -> Result<Option<SortedSetRef<'_>>, WrongKind> {
        let Some(found) = self.present(db, key, now) else { return Ok(None) };
        if touch {
            self.cells.touch(found.handle, self.clock);
        }
        let slot = Slot::of(self.cells.view(found.handle), Kind::SortedSet)?;
        Ok(Some(SortedSetRef { body: Form::of(slot.body()), hasher: &self.hasher }))
    }

    /// The sorted set of a key, to change.
    pub fn sorted_set_mut<'a>(
        &'a mut self,
        db: usize,
        key: Key<'a>,
        now: i64,
    ) -> Result<Option<SortedSetMut<'a>>, WrongKind> {
        Ok(self.slot_mut(db, key, Kind::SortedSet, now)?.map(|slot| SortedSetMut { slot }))
    }

    /// The same, or one that makes the key with its first member.
    pub fn sorted_set_or_new<'a>(
        &'a mut self,
        db: usize,
        key: Key<'a>,
        now: i64,
    ) -> Result<SortedSetMut<'a>, WrongKind> {
        Ok(SortedSetMut { slot: self.slot_or_new(db, key, Kind::SortedSet, now)? })
    }
}

impl Detached {
    /// A sorted set of these entries, which are in order and no two of one member.
    pub fn sorted_set<'m>(
        entries: impl ExactSizeIterator<Item = (&'m [u8], f64)> + Clone,
        limits: SortedSetLimits,
        hasher: &Hasher,
    ) -> Detached {
        let longest = entries.clone().map(|(member, _)| member.len()).max().unwrap_or(0);
        if entries.len() as u64 <= limits.entries && longest as u64 <= limits.member_bytes {
            return Detached::small_sorted_set(entries);
        }
        let mut set = BigSortedSet::new();
        entries.for_each(|(member, score)| {
            set.set(hasher, member, score);
        });
        Detached::collection(OwnBody::Big(Big::SortedSet(set)))
    }

    /// The same in its small form, however many there are: for being carried elsewhere. The order is
    /// the caller's.
    pub fn small_sorted_set<'m>(entries: impl Iterator<Item = (&'m [u8], f64)>) -> Detached {
        let mut bytes = Vec::new();
        entries.for_each(|(member, score)| small::append(&mut bytes, score, Text::of(member)));
        Detached::collection(OwnBody::Packed { kind: Kind::SortedSet, variant: false, bytes })
    }
}

impl<'a> SortedSetRef<'a> {
    /// How many members there are.
    pub fn len(&self) -> u64 {
        match self.body {
            Form::Small(bytes) => small::count(bytes),
            Form::Big(set) => set.len(),
        }
    }

    /// There is none: a new key.
    pub fn is_empty(&self) -> bool {
        match self.body {
            Form::Small(bytes) => bytes.is_empty(),
            Form::Big(set) => set.is_empty(),
        }
    }

    /// The score of a member.
    #[inline]
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        match self.body {
            Form::Small(bytes) => {
                small::find(bytes, Text::of(member)).map(|(at, _)| small::score_at(bytes, at))
            }
            Form::Big(set) => set.score(self.hasher, member),
        }
    }

    /// The rank of a member, and its score.
    pub fn rank(&self, member: &[u8]) -> Option<(u64, f64)> {
        match self.body {
            Form::Small(bytes) => {
                small::find(bytes, Text::of(member)).map(|(at, rank)| (rank, small::score_at(bytes, at)))
            }
            Form::Big(set) => set.rank(self.hasher, member),
        }
    }

    /// How many entries come before an edge.
    pub fn count_before(&self, edge: Edge<'_>) -> u64 {
        match self.body {
            Form::Small(bytes) => small::search(bytes, edge).1,
            Form::Big(set) => set.count_before(edge),
        }
    }

    /// Entries from a rank on, upwards, or downwards where not `up`.
    pub fn walk(&self, rank: u64, up: bool) -> SortedSetIter<'a> {
        SortedSetIter(match self.body {
            Form::Big(set) => Entries::Big(set.walk(rank, up)),
            Form::Small(bytes) => {
                let at = small::seek(bytes, rank);
                let end = if at < bytes.len() { small::end_of(bytes, at) } else { at };
                match up {
                    true => Entries::Up { bytes, at },
                    // A rank that there is not has nothing below it either: as for big ones.
                    false => Entries::Down { bytes, end: if at < bytes.len() { end } else { 0 } },
                }
            }
        })
    }

    /// Visits about `count` entries from a cursor on, and answers the next one; 0 both starts and ends.
    /// Whoever is there all the time is visited, whatever else comes and goes meanwhile.
    pub fn scan(&self, cursor: u64, count: usize, visit: &mut dyn FnMut(Text<'_>, f64)) -> u64 {
        match self.body {
            Form::Small(_) => {
                self.walk(0, true).for_each(|(member, score)| visit(member, score));
                0
            }
            Form::Big(set) => {
                let Ok(cursor) = u32::try_from(cursor) else { return 0 };
                let mut visit = |member: &[u8], score| visit(Text::Bytes(member), score);
                u64::from(set.scan(self.hasher, cursor, count, &mut visit))
            }
        }
    }
}

/// Entries of a sorted set in order.
#[derive(Clone)]
pub struct SortedSetIter<'a>(Entries<'a>);

#[derive(Clone)]
enum Entries<'a> {
    Up { bytes: &'a [u8], at: usize },
    Down { bytes: &'a [u8], end: usize },
    Big(Walk<'a>),
}

impl<'a> Iterator for SortedSetIter<'a> {
    type Item = (Text<'a>, f64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Entries::Big(walk) => walk.next().map(|(member, score)| (Text::Bytes(member), score)),
            Entries::Up { bytes, at } => {
                let begin = *at;
                if begin >= bytes.len() {
                    return None;
                }
                *at = small::end_of(bytes, begin);
                Some((small::member_at(bytes, begin), small::score_at(bytes, begin)))
            }
            Entries::Down { bytes, end } => {
                if *end == 0 {
                    return None;
                }
                *end = small::start_of(bytes, *end);
                Some((small::member_at(bytes, *end), small::score_at(bytes, *end)))
            }
        }
    }
}

/// A sorted set to change. Once it is dropped, one without members has removed its key.
pub struct SortedSetMut<'a> {
    slot: SlotMut<'a>,
}

impl SortedSetMut<'_> {
    /// The set as it is.
    #[inline]
    pub fn view(&self) -> SortedSetRef<'_> {
        SortedSetRef { body: Form::of(self.slot.body()), hasher: self.slot.hasher() }
    }

    /// Gives a member the score (no NaN) that `decide` makes of its old one; it may leave all as it is.
    /// Answers what `decide` was told.
    #[inline]
    pub fn update(
        &mut self,
        member: &[u8],
        limits: SortedSetLimits,
        decide: impl FnOnce(Option<f64>) -> Option<f64>,
    ) -> Option<f64> {
        let bytes = match self.slot.body() {
            Body::Packed(bytes) => bytes,
            Body::Big(_) => {
                let (set, hasher) = self.big();
                let spot = set.spot(hasher, member);
                let old = set.score_at(spot);
                if let Some(score) = decide(old) {
                    set.set_at(hasher, spot, member, score);
                }
                return old;
            }
        };
        let text = Text::of(member);
        let found = small::find(bytes, text).map(|(at, _)| at);
        let old = found.map(|at| small::score_at(bytes, at));
        if let Some(score) = decide(old) {
            match found {
                Some(at) => self.change_small(at, text, member, score),
                None => self.add_small(text, member, score, limits),
            }
        }
        old
    }

    #[inline]
    fn big(&mut self) -> (&mut BigSortedSet, &Hasher) {
        match self.slot.big_and_hasher() {
            (Big::SortedSet(set), hasher) => (set, hasher),
            _ => unreachable!("the slot is of that kind"),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self.slot.body() {
            Body::Packed(bytes) => bytes,
            Body::Big(_) => unreachable!("the set is small"),
        }
    }

    fn change_small(&mut self, at: usize, text: Text<'_>, member: &[u8], score: f64) {
        let bytes = self.bytes();
        let end = small::end_of(bytes, at);
        let (target, _) = small::search(bytes, Edge::Entry { score, member });
        if target == at || target == end {
            let begin = at + small::SCORE_HEAD;
            return self.slot.packed_mut()[begin..begin + 8].copy_from_slice(&small::score_bytes(score));
        }
        // In one piece: what lies between moves over the old place.
        let size = end - at;
        let packed = self.slot.packed_mut();
        let begin = if target < at {
            packed[target..end].rotate_right(size);
            target
        } else {
            packed[at..target].rotate_left(size);
            target - size
        };
        let begin = begin + small::SCORE_HEAD;
        packed[begin..begin + 8].copy_from_slice(&small::score_bytes(score));
        debug_assert!(small::member_at(packed, begin - small::SCORE_HEAD) == text);
    }

    fn add_small(&mut self, text: Text<'_>, member: &[u8], score: f64, limits: SortedSetLimits) {
        let bytes = self.bytes();
        let full = member.len() as u64 > limits.member_bytes || small::count(bytes) >= limits.entries;
        if full {
            return self.outgrow(member, score);
        }
        let (at, _) = small::search(bytes, Edge::Entry { score, member });
        self.slot.splice_with(at..at, |out| small::append(out, score, text));
    }

    /// Becomes a big set with one more member.
    fn outgrow(&mut self, member: &[u8], score: f64) {
        let mut set = BigSortedSet::new();
        let (hasher, mut digits) = (self.slot.hasher(), [0; 20]);
        for (member, score) in self.view().walk(0, true) {
            set.set(hasher, small::bytes_of(member, &mut digits), score);
        }
        set.set(hasher, member, score);
        self.slot.become_big(Big::SortedSet(set));
    }

    /// Removes a member; answers its score.
    pub fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let bytes = match self.slot.body() {
            Body::Packed(bytes) => bytes,
            Body::Big(_) => {
                let (set, hasher) = self.big();
                return set.remove(hasher, member);
            }
        };
        let (at, _) = small::find(bytes, Text::of(member))?;
        let (score, end) = (small::score_at(bytes, at), small::end_of(bytes, at));
        self.slot.splice(at..end, &[]);
        Some(score)
    }

    /// Removes the entries with ranks from `from` to before `to`.
    pub fn remove_ranks(&mut self, from: u64, to: u64) {
        let bytes = match self.slot.body() {
            Body::Packed(bytes) => bytes,
            Body::Big(_) => {
                let (set, hasher) = self.big();
                return set.remove_ranks(hasher, from, to);
            }
        };
        let begin = small::seek(bytes, from);
        let end = begin + small::seek(&bytes[begin..], to.saturating_sub(from));
        self.slot.splice(begin..end, &[]);
    }
}
