//! The locks of one shard. Transactions arrive in one order, the same on every shard, and lock their
//! keys in that order: nothing can wait in a circle. What has started seals its keys until it is done
//! on every shard, so that nobody sees a half of it. Nothing here knows commands or bytes.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// A lock's hash is random already: no second hashing.
#[derive(Default)]
pub(crate) struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("locks are u64");
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

type ByLock<T> = HashMap<u64, T, BuildHasherDefault<Identity>>;

/// A key to lock, and whether for writing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Want {
    pub lock: u64,
    pub write: bool,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    write: bool,
    granted: bool,
}

#[derive(Debug)]
struct Active {
    home: u16,
    whole: bool,
    wants: Vec<Want>,
    /// Wants not yet granted.
    blocked: usize,
    started: bool,
}

/// How a key is sealed by what has started.
#[derive(Default, Debug)]
struct Seal {
    readers: u32,
    writer: bool,
}

/// All locks of a shard.
#[derive(Default, Debug)]
pub(crate) struct Intents {
    active: BTreeMap<u64, Active>,
    queues: ByLock<VecDeque<Waiter>>,
    seals: ByLock<Seal>,
    /// Behind (or itself) a transaction that locks the whole keyspace.
    behind: VecDeque<(u64, u16, Vec<Want>, bool)>,
    whole: bool,
}

impl Intents {
    /// Nothing is sealed: the one branch that a single-key command pays.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        self.active.is_empty()
    }

    /// Whether a command that wants this key must wait.
    pub(crate) fn sealed(&self, want: Want) -> bool {
        self.whole
            || self.seals.get(&want.lock).is_some_and(|seal| seal.writer || want.write && seal.readers > 0)
    }

    /// Whether anything is sealed.
    #[cfg(test)]
    pub(crate) fn any_sealed(&self) -> bool {
        self.whole || !self.seals.is_empty()
    }

    /// A transaction enters, in the order of ids. `wants` may repeat keys. Those that may start now are
    /// pushed on `start`, in order.
    pub(crate) fn enter(
        &mut self,
        id: u64,
        home: u16,
        mut wants: Vec<Want>,
        whole: bool,
        start: &mut Vec<u64>,
    ) {
        wants.sort_unstable_by_key(|want| (want.lock, !want.write));
        wants.dedup_by_key(|want| want.lock);
        if self.must_queue(whole) {
            self.behind.push_back((id, home, wants, whole));
        } else {
            self.admit(id, home, wants, whole, start);
        }
    }

    fn must_queue(&self, whole: bool) -> bool {
        self.whole || !self.behind.is_empty() || (whole && !self.active.is_empty())
    }

    fn admit(&mut self, id: u64, home: u16, wants: Vec<Want>, whole: bool, start: &mut Vec<u64>) {
        let mut blocked = 0;
        for want in &wants {
            let queue = self.queues.entry(want.lock).or_default();
            let granted =
                if want.write { queue.is_empty() } else { queue.iter().all(|waiter| !waiter.write) };
            blocked += usize::from(!granted);
            queue.push_back(Waiter { id, write: want.write, granted });
        }
        self.whole |= whole;
        self.active.insert(id, Active { home, whole, wants, blocked, started: false });
        if blocked == 0 {
            self.begin(id);
            start.push(id);
        }
    }

    fn begin(&mut self, id: u64) {
        let active = self.active.get_mut(&id).expect("it was admitted");
        active.started = true;
        for want in &active.wants {
            let seal = self.seals.entry(want.lock).or_default();
            if want.write {
                seal.writer = true;
            } else {
                seal.readers += 1;
            }
        }
    }

    /// Ends the started transactions for which `complete(home, id)` says so. Returns whether any ended;
    /// then let waiting commands run before `grant`.
    pub(crate) fn release(&mut self, complete: impl Fn(u16, u64) -> bool, ended: &mut Vec<u64>) -> bool {
        ended.clear();
        ended.extend(
            self.active
                .iter()
                .filter(|(id, active)| active.started && complete(active.home, **id))
                .map(|(id, _)| *id),
        );
        for id in ended.iter() {
            let active = self.active.remove(id).expect("it was just seen");
            for want in &active.wants {
                self.unseal(*want);
            }
            if active.whole {
                self.whole = false;
            }
            for want in &active.wants {
                if let Some(queue) = self.queues.get_mut(&want.lock) {
                    queue.retain(|waiter| waiter.id != *id);
                }
            }
            // Kept for `grant`, which walks the queues of what has ended.
            self.freed(active.wants);
        }
        !ended.is_empty()
    }

    fn unseal(&mut self, want: Want) {
        if let Some(seal) = self.seals.get_mut(&want.lock) {
            if want.write {
                seal.writer = false;
            } else {
                seal.readers -= 1;
            }
            if !seal.writer && seal.readers == 0 {
                self.seals.remove(&want.lock);
            }
        }
    }

    fn freed(&mut self, wants: Vec<Want>) {
        for want in wants {
            let Some(queue) = self.queues.get_mut(&want.lock) else { continue };
            let mut shared = true;
            for (place, waiter) in queue.iter_mut().enumerate() {
                let may = if waiter.write { place == 0 } else { shared };
                shared &= !waiter.write;
                if !may {
                    break;
                }
                if !waiter.granted {
                    waiter.granted = true;
                    self.active.get_mut(&waiter.id).expect("a waiter is active").blocked -= 1;
                }
            }
            if queue.is_empty() {
                self.queues.remove(&want.lock);
            }
        }
    }

    /// Starts what may start after a `release`: ids are pushed on `start`, in order.
    pub(crate) fn grant(&mut self, start: &mut Vec<u64>) {
        let ready: Vec<u64> = self
            .active
            .iter()
            .filter(|(_, active)| !active.started && active.blocked == 0)
            .map(|(id, _)| *id)
            .collect();
        for id in ready {
            self.begin(id);
            start.push(id);
        }
        while let Some((_, _, _, whole)) = self.behind.front() {
            if self.whole || (*whole && !self.active.is_empty()) {
                break;
            }
            let (id, home, wants, whole) = self.behind.pop_front().expect("it was just seen");
            self.admit(id, home, wants, whole, start);
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
            self.intents.enter(id, 0, wants.to_vec(), whole, &mut self.started);
        }
        fn end(&mut self, id: u64) {
            assert!(self.intents.release(|_, other| other == id, &mut Vec::new()));
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
        assert!(rig.intents.is_clear() && rig.intents.queues.is_empty() && rig.intents.seals.is_empty());
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
