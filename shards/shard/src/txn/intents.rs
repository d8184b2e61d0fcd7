//! The locks of one shard. Transactions arrive in one order, the same on every shard, and lock their
//! keys in that order: nothing can wait in a circle. What has started seals its keys until it is done
//! on every shard, so that nobody sees a half of it. A key may be held besides, for a moment that no
//! transaction can lengthen. Nothing here knows commands or bytes.

use super::locks::Locks;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// A key to lock, and whether for writing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Want {
    pub lock: u64,
    pub write: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    id: u64,
    write: bool,
    granted: bool,
}

/// A key that transactions want. Where nobody waits, as is usual, it takes no memory but its place.
#[derive(Debug)]
struct Lock {
    /// The transaction with the lowest id, and those behind it.
    first: Waiter,
    more: VecDeque<Waiter>,
    /// How it is sealed by what has started.
    readers: u32,
    writer: bool,
}

impl Lock {
    /// Takes a transaction's place away. Whether others are left.
    fn leave(&mut self, id: u64) -> bool {
        if self.first.id != id {
            self.more.retain(|waiter| waiter.id != id);
            return true;
        }
        let next = self.more.pop_front();
        next.map(|waiter| self.first = waiter).is_some()
    }
}

#[derive(Debug)]
struct Active {
    id: u64,
    home: u16,
    whole: bool,
    wants: Vec<Want>,
    /// Wants not yet granted.
    blocked: usize,
    started: bool,
}

/// Lists of wants kept for reuse.
const SPARE_WANTS_MAX: usize = 256;
/// A longer list is not kept.
const WANTS_KEPT_MAX: usize = 64;

/// All locks of a shard.
#[derive(Default, Debug)]
pub(crate) struct Intents {
    /// In the order of ids, in which they enter.
    active: VecDeque<Active>,
    locks: Locks<Lock>,
    /// Behind (or itself) a transaction that locks the whole keyspace.
    behind: VecDeque<(u64, u16, Vec<Want>, bool)>,
    whole: bool,
    spare_wants: Vec<Vec<Want>>,
    /// Keys that nothing starts on, and how often each is held.
    held: BTreeMap<u64, u32>,
    /// A hold has gone: something may start, or go on.
    unheld: bool,
    /// Transactions that are active, and keys that are held.
    occupied: usize,
}

impl Intents {
    /// Nothing is sealed: the one branch that a single-key command pays.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        self.occupied == 0
    }

    /// Nothing starts on a key from now on, and whoever wants it waits.
    pub(crate) fn hold(&mut self, lock: u64) {
        *self.held.entry(lock).or_insert(0) += 1;
        self.count();
    }

    /// The end of a hold. Then let waiting commands run, and `grant`.
    pub(crate) fn unhold(&mut self, lock: u64) {
        let Entry::Occupied(mut entry) = self.held.entry(lock) else {
            unreachable!("what is held no more was held");
        };
        *entry.get_mut() -= 1;
        if *entry.get() == 0 {
            entry.remove();
            self.unheld = true;
        }
        self.count();
    }

    /// Whether a hold has gone since this was last asked.
    pub(crate) fn take_unheld(&mut self) -> bool {
        std::mem::take(&mut self.unheld)
    }

    fn count(&mut self) {
        self.occupied = self.active.len() + self.held.len();
    }

    fn is_held(&self, wants: &[Want]) -> bool {
        !self.held.is_empty() && wants.iter().any(|want| self.held.contains_key(&want.lock))
    }

    /// Whether a command that wants this key must wait.
    pub(crate) fn sealed(&self, want: Want) -> bool {
        self.sealed_by_started(want) || !self.held.is_empty() && self.held.contains_key(&want.lock)
    }

    /// The same for a command that does not mind holds.
    pub(crate) fn sealed_by_started(&self, want: Want) -> bool {
        self.whole
            || self.locks.get(want.lock).is_some_and(|lock| lock.writer || want.write && lock.readers > 0)
    }

    /// Whether anything is sealed.
    #[cfg(test)]
    pub(crate) fn any_sealed(&self) -> bool {
        self.whole || self.locks.values().any(|lock| lock.writer || lock.readers > 0)
    }

    /// A transaction enters, in the order of ids. `wants` may repeat keys. Whether it may start now.
    pub(crate) fn enter(
        &mut self,
        id: u64,
        home: u16,
        wanted: impl Iterator<Item = Want>,
        whole: bool,
    ) -> bool {
        let mut wants = self.spare_wants.pop().unwrap_or_default();
        wants.extend(wanted);
        if wants.len() > 1 {
            wants.sort_unstable_by_key(|want| (want.lock, !want.write));
            wants.dedup_by_key(|want| want.lock);
        }
        if self.must_queue(whole) {
            self.behind.push_back((id, home, wants, whole));
            return false;
        }
        self.admit(id, home, wants, whole)
    }

    fn must_queue(&self, whole: bool) -> bool {
        self.whole || !self.behind.is_empty() || (whole && !self.is_clear())
    }

    /// Takes a place behind every earlier transaction that wants one of the keys. Where there is none, as is
    /// usual, the keys are sealed on the way.
    fn admit(&mut self, id: u64, home: u16, wants: Vec<Want>, whole: bool) -> bool {
        let mut blocked = 0;
        for Want { lock, write } in wants.iter().copied() {
            let place = match self.locks.place(lock) {
                Ok(place) => place,
                Err(place) => {
                    let first = Waiter { id, write, granted: true };
                    let lock_of_it =
                        Lock { first, more: VecDeque::new(), readers: u32::from(!write), writer: write };
                    self.locks.insert(place, lock, lock_of_it);
                    continue;
                }
            };
            let lock = self.locks.at(place);
            let writes = lock.first.write || lock.more.iter().any(|waiter| waiter.write);
            let granted = !write && !writes;
            blocked += usize::from(!granted);
            lock.readers += u32::from(granted);
            lock.more.push_back(Waiter { id, write, granted });
        }
        let starts = blocked == 0 && !self.is_held(&wants);
        if !starts {
            self.take_seals_back(id, &wants);
        }
        self.whole |= whole;
        self.active.push_back(Active { id, home, whole, wants, blocked, started: starts });
        self.count();
        starts
    }

    /// A transaction must wait after all: what it was granted is not sealed yet.
    #[cold]
    fn take_seals_back(&mut self, id: u64, wants: &[Want]) {
        for want in wants {
            let lock = self.locks.get_mut(want.lock).expect("it waits there");
            let mut waiters = std::iter::once(&lock.first).chain(&lock.more);
            if waiters.any(|waiter| waiter.id == id && waiter.granted) {
                if want.write {
                    lock.writer = false;
                } else {
                    lock.readers -= 1;
                }
            }
        }
    }

    /// Seals the keys of the transaction at that place.
    fn begin(&mut self, place: usize) {
        let active = &mut self.active[place];
        active.started = true;
        for want in &active.wants {
            let lock = self.locks.get_mut(want.lock).expect("it waits there");
            if want.write {
                lock.writer = true;
            } else {
                lock.readers += 1;
            }
        }
    }

    /// Ends the started transactions for which `complete(home, id)` says so. Returns whether any ended;
    /// then let waiting commands run before `grant`.
    pub(crate) fn release(&mut self, complete: impl Fn(u16, u64) -> bool) -> bool {
        let before = self.active.len();
        let mut place = 0;
        while let Some(active) = self.active.get(place) {
            if !active.started || !complete(active.home, active.id) {
                place += 1;
                continue;
            }
            let ended = if place == 0 { self.active.pop_front() } else { self.active.remove(place) };
            let mut ended = ended.expect("it was just seen");
            self.whole &= !ended.whole;
            for want in ended.wants.drain(..) {
                self.unlock(ended.id, want);
            }
            if self.spare_wants.len() < SPARE_WANTS_MAX && ended.wants.capacity() <= WANTS_KEPT_MAX {
                self.spare_wants.push(ended.wants);
            }
        }
        self.count();
        self.active.len() < before
    }

    /// A transaction that has ended leaves a key, which is granted to those behind it.
    fn unlock(&mut self, id: u64, want: Want) {
        let place = self.locks.place(want.lock).expect("a lock is there while somebody has it");
        let lock = self.locks.at(place);
        if want.write {
            lock.writer = false;
        } else {
            lock.readers -= 1;
        }
        if !lock.leave(id) {
            self.locks.remove(place);
            return;
        }
        let mut shared = true;
        for (place, waiter) in std::iter::once(&mut lock.first).chain(&mut lock.more).enumerate() {
            let may = if waiter.write { place == 0 } else { shared };
            shared &= !waiter.write;
            if !may {
                break;
            }
            if !waiter.granted {
                waiter.granted = true;
                let place = self.active.binary_search_by_key(&waiter.id, |active| active.id);
                self.active[place.expect("a waiter is active")].blocked -= 1;
            }
        }
    }

    /// Starts what may start after a `release`: ids are pushed on `start`, in order.
    pub(crate) fn grant(&mut self, start: &mut Vec<u64>) {
        for place in 0..self.active.len() {
            let active = &self.active[place];
            if !active.started && active.blocked == 0 && !self.is_held(&active.wants) {
                start.push(active.id);
                self.begin(place);
            }
        }
        while let Some((_, _, _, whole)) = self.behind.front() {
            if self.whole || (*whole && !self.is_clear()) {
                break;
            }
            let (id, home, wants, whole) = self.behind.pop_front().expect("it was just seen");
            if self.admit(id, home, wants, whole) {
                start.push(id);
            }
        }
    }

    /// Transactions here, started or not.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.active.len() + self.behind.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(lock: u64) -> Want {
        Want { lock, write: true }
    }
    fn read(lock: u64) -> Want {
        Want { lock, write: false }
    }

    struct Rig {
        intents: Intents,
        started: Vec<u64>,
    }

    impl Rig {
        fn new() -> Rig {
            Rig { intents: Intents::default(), started: Vec::new() }
        }
        fn enter(&mut self, id: u64, wants: &[Want], whole: bool) {
            if self.intents.enter(id, 0, wants.iter().copied(), whole) {
                self.started.push(id);
            }
        }
        fn end(&mut self, id: u64) {
            assert!(self.intents.release(|_, other| other == id));
            self.intents.grant(&mut self.started);
        }
    }

    #[test]
    fn writers_of_one_key_go_one_after_the_other() {
        let mut rig = Rig::new();
        rig.enter(1, &[write(7)], false);
        rig.enter(2, &[write(7), write(8)], false);
        rig.enter(3, &[write(8)], false);
        assert_eq!(rig.started, [1]);
        assert!(rig.intents.sealed(read(7)) && !rig.intents.sealed(write(8)));
        rig.end(1);
        assert_eq!(rig.started, [1, 2]);
        rig.end(2);
        assert_eq!(rig.started, [1, 2, 3]);
        rig.end(3);
        assert!(rig.intents.is_clear() && rig.intents.locks.is_empty());
    }

    #[test]
    fn readers_share_and_keep_writers_out() {
        let mut rig = Rig::new();
        rig.enter(1, &[read(7)], false);
        rig.enter(2, &[read(7), read(7)], false);
        rig.enter(3, &[write(7)], false);
        rig.enter(4, &[read(7)], false);
        assert_eq!(rig.started, [1, 2]);
        assert!(!rig.intents.sealed(read(7)) && rig.intents.sealed(write(7)));
        rig.end(1);
        rig.end(2);
        assert_eq!(rig.started, [1, 2, 3]);
        rig.end(3);
        assert_eq!(rig.started, [1, 2, 3, 4]);
    }

    #[test]
    fn nothing_starts_on_what_is_held_and_ids_keep_their_order() {
        let mut rig = Rig::new();
        rig.intents.hold(7);
        rig.intents.hold(7);
        rig.enter(1, &[read(7), write(8)], false);
        rig.enter(2, &[write(8)], false);
        rig.enter(3, &[write(9)], false);
        rig.enter(4, &[], true);
        assert_eq!(rig.started, [3]);
        assert!(rig.intents.sealed(read(7)) && !rig.intents.sealed_by_started(write(7)));
        rig.intents.unhold(7);
        rig.intents.grant(&mut rig.started);
        assert!(!rig.intents.take_unheld() && rig.started == [3]);
        rig.intents.unhold(7);
        assert!(rig.intents.take_unheld());
        rig.intents.grant(&mut rig.started);
        assert_eq!(rig.started, [3, 1]);
        rig.end(1);
        rig.end(2);
        rig.end(3);
        assert_eq!(rig.started, [3, 1, 2, 4]);
        rig.end(4);
        rig.intents.hold(7);
        rig.enter(5, &[], true);
        assert_eq!(rig.started, [3, 1, 2, 4]);
        rig.intents.unhold(7);
        rig.intents.grant(&mut rig.started);
        assert_eq!(rig.started, [3, 1, 2, 4, 5]);
        rig.end(5);
        assert!(rig.intents.is_clear());
    }

    #[test]
    fn a_whole_lock_waits_for_all_before_and_holds_all_behind() {
        let mut rig = Rig::new();
        rig.enter(1, &[write(1)], false);
        rig.enter(2, &[], true);
        rig.enter(3, &[write(9)], false);
        rig.enter(4, &[], true);
        assert_eq!(rig.started, [1]);
        rig.end(1);
        assert_eq!(rig.started, [1, 2]);
        assert!(rig.intents.sealed(read(1234)) && rig.intents.any_sealed());
        rig.end(2);
        assert_eq!(rig.started, [1, 2, 3]);
        rig.end(3);
        rig.end(4);
        assert_eq!(rig.started, [1, 2, 3, 4]);
        assert!(rig.intents.is_clear() && !rig.intents.any_sealed() && rig.intents.len() == 0);
    }
}
