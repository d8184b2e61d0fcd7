//! A segment: the buckets of one hash prefix. An entry lies in its home bucket, as a guest in the
//! one behind it, in a stash bucket, or, when colliding keys fill all of these, in a chain.
//! It knows its prefix, not the directory that leads to it.

use crate::arena::Handle;
use crate::bucket::{Bucket, SLOTS};
use crate::cells::Cells;
use crate::hash::Key;
use crate::table::Keys;
use std::num::NonZeroU32;

/// The home bucket is named by so many bits of the hash, behind the segment's prefix.
pub(crate) const HOME_BITS: u32 = if cfg!(test) { 1 } else { 4 };
const HOMES: usize = 1 << HOME_BITS;
/// With the segment's own line, 20 lines: a size class of common allocators.
const STASHES: usize = if cfg!(test) { 2 } else { 3 };
pub(crate) const BUCKETS: usize = HOMES + STASHES;
/// Entries of a segment without its chain.
pub(crate) const CAPACITY: usize = BUCKETS * SLOTS;

/// Places are numbered bucket by bucket, sixteen numbers each; those of the chain come after.
const SLOT_BITS: usize = 4;
const CHAIN_AT: usize = BUCKETS << SLOT_BITS;

/// Where in a segment an entry is. Holds until the segment changes. Never zero, so that an entry
/// found, or none, travels in one register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place(NonZeroU32);

impl Place {
    #[inline]
    fn numbered(number: usize) -> Place {
        Place(NonZeroU32::MIN | (number as u32) << 1)
    }

    #[inline]
    fn new(bucket: usize, slot: usize) -> Place {
        Place::numbered(bucket << SLOT_BITS | slot)
    }

    #[inline]
    fn number(self) -> usize {
        (self.0.get() >> 1) as usize
    }

    #[inline]
    fn bucket(self) -> usize {
        self.number() >> SLOT_BITS
    }

    #[inline]
    fn slot(self) -> usize {
        self.number() & ((1 << SLOT_BITS) - 1)
    }

    /// Its index in the chain, if it is there.
    #[inline]
    fn chained(self) -> Option<usize> {
        self.number().checked_sub(CHAIN_AT)
    }
}

/// An entry found.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) handle: Handle,
}

/// What a first look says: the first entry with a key's tag is it, or there is none. So most look-ups end.
#[derive(Clone, Copy)]
pub(crate) enum Probe {
    Here(Found),
    Nowhere,
    /// One has to look further.
    Unsure,
}

/// An entry that found all buckets full.
#[derive(Clone, Copy, Debug)]
struct Chained {
    hash: u64,
    handle: Handle,
}

#[repr(C, align(64))]
pub(crate) struct Segment {
    /// The hash bits all its entries share, at the top; `depth` of them.
    prefix: u64,
    depth: u32,
    len: u32,
    /// Entries with an expiry: active expiry passes by a segment that has none.
    volatile: u32,
    chain: Vec<Chained>,
    buckets: [Bucket; BUCKETS],
}

/// The home bucket, in a segment of this depth.
#[inline]
fn home(hash: u64, depth: u32) -> usize {
    (hash << depth >> (64 - HOME_BITS)) as usize
}

impl Segment {
    pub(crate) fn new(prefix: u64, depth: u32) -> Box<Segment> {
        let buckets = [Bucket::EMPTY; BUCKETS];
        Box::new(Segment { prefix, depth, len: 0, volatile: 0, chain: Vec::new(), buckets })
    }

    /// Empties a segment, which is to cover another prefix, and returns what it had.
    pub(crate) fn reset(&mut self, prefix: u64, depth: u32) -> Segment {
        let buckets = [Bucket::EMPTY; BUCKETS];
        let new = Segment { prefix, depth, len: 0, volatile: 0, chain: Vec::new(), buckets };
        std::mem::replace(self, new)
    }

    pub(crate) fn prefix(&self) -> u64 {
        self.prefix
    }

    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) fn volatile(&self) -> usize {
        self.volatile as usize
    }

    /// Bytes it takes, its chain included.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Segment>() + self.chain.capacity() * size_of::<Chained>()
    }

    /// The first hash behind this segment; 0 behind the last.
    pub(crate) fn end(&self) -> u64 {
        if self.depth == 0 { 0 } else { self.prefix.wrapping_add(1 << (64 - self.depth)) }
    }

    /// Starts loading the home bucket. `depth` is the segment's own, known without touching it.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64, depth: u32) {
        crate::prefetch::prefetch(&raw const self.buckets[home(hash, depth)]);
    }

    /// Starts loading the entries that the home bucket has under this hash's tag.
    #[inline]
    pub(crate) fn prefetch_entry(&self, hash: u64, depth: u32, keys: &Keys<'_>) {
        let bucket = &self.buckets[home(hash, depth)];
        bucket.matches(hash as u8).for_each(|slot| keys.cells.prefetch(bucket.handle(slot)));
    }

    /// The entry of a key. `depth` is the segment's own.
    #[inline(always)]
    pub(crate) fn find(&self, key: Key<'_>, depth: u32, cells: &Cells) -> Option<Found> {
        // What is rare is kept out of the way, so that the rest needs few registers and no stack.
        match self.probe(key, depth, cells) {
            Probe::Here(found) => Some(found),
            Probe::Nowhere => None,
            Probe::Unsure => self.find_slowly(key, depth, cells),
        }
    }

    /// A first look for a key. `depth` is the segment's own.
    #[inline(always)]
    pub(crate) fn probe(&self, key: Key<'_>, depth: u32, cells: &Cells) -> Probe {
        debug_assert_eq!(depth, self.depth, "the directory knows the depth");
        let home = home(key.hash, depth);
        let bucket = &self.buckets[home];
        match bucket.matches(key.hash as u8).next() {
            Some(slot) if cells.holds_short(bucket.handle(slot), key.bytes) => {
                Probe::Here(Found { place: Place::new(home, slot), handle: bucket.handle(slot) })
            }
            None if !bucket.overflows() => Probe::Nowhere,
            _ => Probe::Unsure,
        }
    }

    #[inline(never)]
    fn find_slowly(&self, key: Key<'_>, depth: u32, cells: &Cells) -> Option<Found> {
        self.find_by(key.hash, depth, |handle| cells.holds(handle, key.bytes))
    }

    /// The entry of this hash for which `is_it` answers yes.
    pub(crate) fn find_by(&self, hash: u64, depth: u32, is_it: impl Fn(Handle) -> bool) -> Option<Found> {
        let home = home(hash, depth);
        let bucket = &self.buckets[home];
        for slot in bucket.matches(hash as u8) {
            let handle = bucket.handle(slot);
            if is_it(handle) {
                return Some(Found { place: Place::new(home, slot), handle });
            }
        }
        if bucket.overflows() { self.find_away(hash, home, is_it) } else { None }
    }

    fn find_away(&self, hash: u64, home: usize, is_it: impl Fn(Handle) -> bool) -> Option<Found> {
        let tag = hash as u8;
        let bucket = &self.buckets[home];
        if bucket.is_away() {
            let next = behind(home);
            let neighbour = &self.buckets[next];
            for slot in neighbour.matches(tag).and(neighbour.guests()) {
                let handle = neighbour.handle(slot);
                if is_it(handle) {
                    return Some(Found { place: Place::new(next, slot), handle });
                }
            }
        }
        for stash in bucket.stashes() {
            let other = &self.buckets[HOMES + stash];
            for slot in other.matches(tag) {
                let handle = other.handle(slot);
                if is_it(handle) {
                    return Some(Found { place: Place::new(HOMES + stash, slot), handle });
                }
            }
        }
        // An entry goes to the chain only past the last stash, whose mark therefore covers both.
        if bucket.stashes().has(STASHES - 1) {
            for (index, chained) in self.chain.iter().enumerate() {
                if chained.hash == hash && is_it(chained.handle) {
                    return Some(Found { place: Place::numbered(CHAIN_AT + index), handle: chained.handle });
                }
            }
        }
        None
    }

    /// Adds an entry if a bucket that may hold it has room.
    #[inline]
    pub(crate) fn place(&mut self, hash: u64, handle: Handle, volatile: bool) -> bool {
        let tag = hash as u8;
        let home = home(hash, self.depth);
        if let Some(slot) = self.buckets[home].vacancy() {
            self.buckets[home].put(slot, tag, handle, false);
        } else if !self.place_away(home, tag, handle) {
            return false;
        }
        self.len += 1;
        self.volatile += u32::from(volatile);
        true
    }

    fn place_away(&mut self, home: usize, tag: u8, handle: Handle) -> bool {
        let next = behind(home);
        if let Some(slot) = self.buckets[next].vacancy() {
            self.buckets[next].put(slot, tag, handle, true);
            self.buckets[home].set_away(true);
            return true;
        }
        for stash in 0..STASHES {
            if let Some(slot) = self.buckets[HOMES + stash].vacancy() {
                self.buckets[HOMES + stash].put(slot, tag, handle, false);
                self.buckets[home].set_stash(stash, true);
                return true;
            }
        }
        false
    }

    /// Adds an entry for which no bucket has room.
    #[cold]
    pub(crate) fn chain(&mut self, hash: u64, handle: Handle, volatile: bool) {
        self.chain.push(Chained { hash, handle });
        self.buckets[home(hash, self.depth)].set_stash(STASHES - 1, true);
        self.len += 1;
        self.volatile += u32::from(volatile);
    }

    /// Adds an entry wherever it goes.
    pub(crate) fn place_or_chain(&mut self, hash: u64, handle: Handle, volatile: bool) {
        if !self.place(hash, handle, volatile) {
            self.chain(hash, handle, volatile);
        }
    }

    pub(crate) fn set_handle(&mut self, place: Place, handle: Handle) {
        match place.chained() {
            None => self.buckets[place.bucket()].set_handle(place.slot(), handle),
            Some(index) => self.chain[index].handle = handle,
        }
    }

    pub(crate) fn count_volatile(&mut self, volatile: bool) {
        self.volatile = if volatile { self.volatile + 1 } else { self.volatile - 1 };
    }

    /// Removes the entry of this hash at this place.
    pub(crate) fn remove(&mut self, place: Place, hash: u64, volatile: bool, keys: &Keys<'_>) {
        let home = home(hash, self.depth);
        self.len -= 1;
        self.volatile -= u32::from(volatile);
        if let Some(index) = place.chained() {
            self.chain.swap_remove(index);
            if self.chain.is_empty() {
                self.chain = Vec::new();
            }
            return self.unmark_stash(home, STASHES - 1, keys);
        }
        let (bucket, slot) = (place.bucket(), place.slot());
        self.buckets[bucket].clear(slot);
        if bucket >= HOMES {
            self.unmark_stash(home, bucket - HOMES, keys);
        } else if bucket != home && self.buckets[bucket].guests().is_empty() {
            self.buckets[home].set_away(false);
        }
    }

    /// Takes back a stash mark if no entry of that home is there any more. Rare enough to hash the
    /// dozen keys of that stash again, rather than spend bits on remembering their homes.
    fn unmark_stash(&mut self, home: usize, stash: usize, keys: &Keys<'_>) {
        let bucket = &self.buckets[HOMES + stash];
        let is_home = |hash| self::home(hash, self.depth) == home;
        let still = bucket.taken().any(|slot| is_home(keys.hash_of(bucket.handle(slot))))
            || stash == STASHES - 1 && self.chain.iter().any(|chained| is_home(chained.hash));
        self.buckets[home].set_stash(stash, still);
    }

    /// Lists the entries whose home is the bucket of `hash`; returns the first hash behind the
    /// bucket, 0 behind the last.
    pub(crate) fn bucket(&self, hash: u64, keys: &Keys<'_>, handles: &mut Vec<Handle>) -> u64 {
        let home = home(hash, self.depth);
        let bucket = &self.buckets[home];
        handles.extend(bucket.taken().without(bucket.guests()).map(|slot| bucket.handle(slot)));
        let is_home = |hash| self::home(hash, self.depth) == home;
        if bucket.is_away() {
            let next = &self.buckets[behind(home)];
            handles.extend(next.guests().map(|slot| next.handle(slot)));
        }
        for stash in bucket.stashes() {
            let other = &self.buckets[HOMES + stash];
            let here = other.taken().map(|slot| other.handle(slot));
            handles.extend(here.filter(|&handle| is_home(keys.hash_of(handle))));
        }
        if bucket.stashes().has(STASHES - 1) {
            let here = self.chain.iter().filter(|chained| is_home(chained.hash));
            handles.extend(here.map(|chained| chained.handle));
        }
        let width = 64 - self.depth - HOME_BITS;
        (hash >> width << width).wrapping_add(1 << width)
    }

    /// Calls for every entry, in no order, with its hash where that is known.
    pub(crate) fn for_each(&self, mut call: impl FnMut(Handle, Option<u64>)) {
        for bucket in &self.buckets {
            bucket.taken().for_each(|slot| call(bucket.handle(slot), None));
        }
        self.chain.iter().for_each(|chained| call(chained.handle, Some(chained.hash)));
    }

    /// The entry of that number, counted from 0 in no order.
    pub(crate) fn nth(&self, mut number: usize) -> Option<Handle> {
        for bucket in &self.buckets {
            let mut taken = bucket.taken();
            if number < taken.count() {
                return taken.nth(number).map(|slot| bucket.handle(slot));
            }
            number -= taken.count();
        }
        self.chain.get(number).map(|chained| chained.handle)
    }

    /// Takes up to `limit` entries out of a segment that is going away; how many it took.
    pub(crate) fn drain(&mut self, limit: usize, mut call: impl FnMut(Handle)) -> usize {
        let mut taken = 0;
        while taken < limit
            && let Some(chained) = self.chain.pop()
        {
            call(chained.handle);
            taken += 1;
        }
        for bucket in &mut self.buckets {
            for slot in bucket.taken() {
                if taken == limit {
                    break;
                }
                call(bucket.handle(slot));
                bucket.clear(slot);
                taken += 1;
            }
        }
        self.len -= taken as u32;
        taken
    }

    /// Adds its buckets to a histogram of fill, and its entries to one of lines looked at.
    pub(crate) fn survey(&self, fill: &mut [u64], probes: &mut [u64]) {
        let mut note = |lines: usize, entries: usize| {
            let last = probes.len() - 1;
            probes[lines.min(last)] += entries as u64;
        };
        for (number, bucket) in self.buckets.iter().enumerate() {
            let (taken, guests) = (bucket.taken().count(), bucket.guests().count());
            if number < HOMES {
                fill[taken] += 1;
                note(1, taken - guests);
                note(2, guests);
            } else {
                note(3 + number - HOMES, taken);
            }
        }
        for index in 0..self.chain.len() {
            note(3 + STASHES + index, 1);
        }
    }
}

/// The bucket that takes guests of `home`; behind the last comes the first.
#[inline]
fn behind(home: usize) -> usize {
    (home + 1) % HOMES
}

#[cfg(test)]
impl Segment {
    /// Every entry is where a look-up finds it, and every mark says what is so.
    pub(crate) fn check(&self, keys: &Keys<'_>) {
        let mut len = 0;
        let mut volatile = 0;
        let mut away = [false; HOMES];
        let mut stashed = [[false; STASHES]; HOMES];
        self.for_each(|handle, known| {
            let hash = keys.hash_of(handle);
            assert!(known.is_none_or(|known| known == hash));
            assert_eq!(
                hash ^ self.prefix & !(u64::MAX.checked_shr(self.depth).unwrap_or(0)),
                hash & u64::MAX.checked_shr(self.depth).unwrap_or(0)
            );
            let found = self.find_by(hash, self.depth, |other| other == handle).expect("found");
            let place = found.place;
            let home = home(hash, self.depth);
            match place.chained() {
                Some(_) => stashed[home][STASHES - 1] = true,
                None if place.bucket() >= HOMES => stashed[home][place.bucket() - HOMES] = true,
                None => {
                    let guest = self.buckets[place.bucket()].guests().has(place.slot());
                    assert_eq!(guest, place.bucket() != home);
                    away[home] |= guest;
                    assert!(!guest || place.bucket() == behind(home));
                }
            }
            len += 1;
            volatile += u32::from(keys.cells.view(handle).header().has_expiry());
        });
        assert_eq!((len, volatile), (self.len, self.volatile));
        for home in 0..HOMES {
            assert_eq!(self.buckets[home].is_away(), away[home]);
            for (stash, &used) in stashed[home].iter().enumerate() {
                assert_eq!(self.buckets[home].stashes().has(stash), used);
            }
        }
    }
}
