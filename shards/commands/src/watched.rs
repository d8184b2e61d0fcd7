//! Which clients watch which keys of one shard (WATCH), and whose keys have changed since; what clients
//! wait for hears of changes here too. It does not know who changes keys; it is told. Keys that merely expired are found when a client is asked about.

use crate::awaited::Awaited;
use crate::context::Key;
use std::collections::BTreeMap;

/// All watched keys of a shard.
#[derive(Default, Debug)]
pub struct Watched {
    /// By the keys' hash.
    spots: BTreeMap<u64, Vec<Spot>>,
    /// By their id.
    clients: BTreeMap<u64, Watcher>,
    /// Keys for which clients wait.
    awaited: Awaited,
    /// Somebody watches or waits.
    occupied: bool,
}

/// A watched key.
#[derive(Debug)]
struct Spot {
    db: u16,
    key: Box<[u8]>,
    clients: Vec<u64>,
}

/// A client that watches.
#[derive(Debug)]
struct Watcher {
    /// Grows with each of its transactions: what forgets an old one must not forget a new one.
    round: u32,
    moved: bool,
    watches: Vec<Watch>,
}

#[derive(Debug)]
struct Watch {
    db: u16,
    hash: u64,
    key: Box<[u8]>,
    /// It was there when the watch began: if it is not when the watch ends, it has gone.
    was_there: bool,
}

impl Watched {
    /// Nobody watches or waits: the one branch that a command pays.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.occupied
    }

    /// What clients wait for.
    pub fn awaited(&self) -> &Awaited {
        &self.awaited
    }

    /// Changes what clients wait for.
    pub fn change_awaited<T>(&mut self, change: impl FnOnce(&mut Awaited) -> T) -> T {
        let result = change(&mut self.awaited);
        self.count();
        result
    }

    fn count(&mut self) {
        self.occupied = !self.clients.is_empty() || !self.awaited.is_empty();
    }

    /// How many clients watch keys here.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// How many keys are watched.
    pub fn keys(&self) -> usize {
        self.spots.values().map(Vec::len).sum()
    }

    /// A client watches a key from now on. What it watched in earlier rounds is forgotten.
    pub fn watch(&mut self, client: u64, round: u32, db: u16, key: Key<'_>, was_there: bool) {
        if self.clients.get(&client).is_some_and(|watcher| watcher.round != round) {
            self.drop_client(client);
        }
        let spots = self.spots.entry(key.hash).or_default();
        let place = spots.iter().position(|spot| spot.db == db && *spot.key == *key.bytes);
        let place = place.unwrap_or_else(|| {
            spots.push(Spot { db, key: key.bytes.into(), clients: Vec::new() });
            spots.len() - 1
        });
        if spots[place].clients.contains(&client) {
            return;
        }
        spots[place].clients.push(client);
        let watcher =
            self.clients.entry(client).or_insert(Watcher { round, moved: false, watches: Vec::new() });
        watcher.watches.push(Watch { db, hash: key.hash, key: key.bytes.into(), was_there });
        self.occupied = true;
    }

    /// A key has been changed.
    pub fn touch(&mut self, db: u16, key: Key<'_>) {
        self.awaited.touch(db, key);
        let Some(spots) = self.spots.get(&key.hash) else { return };
        for spot in spots.iter().filter(|spot| spot.db == db && *spot.key == *key.bytes) {
            for client in &spot.clients {
                if let Some(watcher) = self.clients.get_mut(client) {
                    watcher.moved = true;
                }
            }
        }
    }

    /// The same for all watched keys of which `changed` says so.
    pub fn touch_where(&mut self, mut changed: impl FnMut(u16, Key<'_>) -> bool) {
        self.awaited.touch_where(&mut changed);
        for (hash, spots) in &self.spots {
            for spot in spots {
                if changed(spot.db, Key { bytes: &spot.key, hash: *hash }) {
                    for client in &spot.clients {
                        if let Some(watcher) = self.clients.get_mut(client) {
                            watcher.moved = true;
                        }
                    }
                }
            }
        }
    }

    /// Whether somebody watches a key, or waits for it.
    pub fn is_watched(&self, db: u16, key: Key<'_>) -> bool {
        if self.awaited.find(db, key).is_some() {
            return true;
        }
        let spots = self.spots.get(&key.hash);
        spots.is_some_and(|spots| spots.iter().any(|spot| spot.db == db && *spot.key == *key.bytes))
    }

    /// Whether a key of a client has changed since it began this round; `is_there` looks keys up.
    pub fn has_moved(&self, client: u64, round: u32, mut is_there: impl FnMut(u16, Key<'_>) -> bool) -> bool {
        match self.clients.get(&client) {
            Some(watcher) if watcher.round == round => {
                watcher.moved
                    || watcher.watches.iter().any(|watch| {
                        watch.was_there && !is_there(watch.db, Key { bytes: &watch.key, hash: watch.hash })
                    })
            }
            // Its keys were to be watched here. Better no transaction than a wrong one.
            _ => true,
        }
    }

    /// A client's round is over: forgets what it watched in it, or before.
    pub fn forget(&mut self, client: u64, round: u32) {
        let is_later = |watcher: &Watcher| watcher.round.wrapping_sub(round).cast_signed() > 0;
        if self.clients.get(&client).is_some_and(|watcher| !is_later(watcher)) {
            self.drop_client(client);
        }
    }

    fn drop_client(&mut self, client: u64) {
        let Some(watcher) = self.clients.remove(&client) else { return };
        self.count();
        for watch in watcher.watches {
            let Some(spots) = self.spots.get_mut(&watch.hash) else { continue };
            for spot in spots.iter_mut().filter(|spot| spot.db == watch.db && spot.key == watch.key) {
                spot.clients.retain(|other| *other != client);
            }
            spots.retain(|spot| !spot.clients.is_empty());
            if spots.is_empty() {
                self.spots.remove(&watch.hash);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(bytes: &[u8]) -> Key<'_> {
        // Keys of one length collide, so that spots are told apart by their bytes.
        Key { bytes, hash: bytes.len() as u64 }
    }

    fn moved(watched: &Watched, client: u64, round: u32) -> bool {
        watched.has_moved(client, round, |_, _| true)
    }

    #[test]
    fn a_change_moves_those_who_watch_that_key_in_that_database() {
        let mut watched = Watched::default();
        watched.watch(1, 0, 0, key(b"a"), true);
        watched.watch(1, 0, 0, key(b"a"), true);
        watched.watch(2, 0, 0, key(b"b"), true);
        watched.watch(3, 0, 9, key(b"a"), true);
        assert_eq!((watched.clients(), watched.keys()), (3, 3));
        watched.touch(0, key(b"a"));
        assert!(moved(&watched, 1, 0) && !moved(&watched, 2, 0) && !moved(&watched, 3, 0));
        watched.touch_where(|db, _| db == 9);
        assert!(!moved(&watched, 2, 0) && moved(&watched, 3, 0));
        (1..4).for_each(|client| watched.forget(client, 0));
        assert!(watched.is_empty() && watched.keys() == 0);
    }

    #[test]
    fn a_key_that_went_by_itself_has_moved() {
        let mut watched = Watched::default();
        watched.watch(1, 0, 0, key(b"there"), true);
        watched.watch(2, 0, 0, key(b"not"), false);
        assert!(watched.has_moved(1, 0, |_, _| false) && !watched.has_moved(1, 0, |_, _| true));
        assert!(!watched.has_moved(2, 0, |_, _| false));
    }

    #[test]
    fn an_old_round_is_over_and_a_late_end_of_it_ends_nothing_newer() {
        let mut watched = Watched::default();
        watched.watch(1, 4, 0, key(b"a"), true);
        watched.touch(0, key(b"a"));
        watched.watch(1, 5, 0, key(b"b"), true);
        assert!(!moved(&watched, 1, 5) && moved(&watched, 1, 4));
        watched.forget(1, 4);
        watched.touch(0, key(b"a"));
        assert!(!moved(&watched, 1, 5));
        watched.forget(1, 5);
        assert!(watched.is_empty());
    }
}
