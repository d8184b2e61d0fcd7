//! The keys of one shard for which clients wait, each with its queue, first come first. It is told when a
//! key has changed, and remembers that somebody has to look. It knows clients by their ids alone, and not
//! what they wait with, or how they are served.

use crate::context::Key;
use std::collections::{BTreeMap, VecDeque};

/// All awaited keys of a shard.
#[derive(Default, Debug)]
pub struct Awaited {
    /// By the keys' hash.
    spots: BTreeMap<u64, Vec<Spot>>,
    /// How many there are.
    len: usize,
    /// Keys that have changed since they were last asked for.
    changed: Vec<(u16, u64, Box<[u8]>)>,
}

/// An awaited key.
#[derive(Debug)]
pub struct Spot {
    db: u16,
    key: Box<[u8]>,
    /// Who waits, by id; who came first is first.
    pub queue: VecDeque<u64>,
    /// Somebody looks, or will, who may be served: what changes until then is seen too.
    pub attended: bool,
    /// The client to whom what is there is promised.
    pub promised: Option<u64>,
    /// Nobody else gets at the key.
    pub held: bool,
}

impl Awaited {
    /// Nobody waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many keys are waited for.
    pub fn keys(&self) -> usize {
        self.len
    }

    /// The key's place, if somebody waits for it.
    pub fn find(&self, db: u16, key: Key<'_>) -> Option<&Spot> {
        let spots = self.spots.get(&key.hash)?;
        spots.iter().find(|spot| spot.db == db && *spot.key == *key.bytes)
    }

    /// The same, to be changed.
    pub fn find_mut(&mut self, db: u16, key: Key<'_>) -> Option<&mut Spot> {
        let spots = self.spots.get_mut(&key.hash)?;
        spots.iter_mut().find(|spot| spot.db == db && *spot.key == *key.bytes)
    }

    /// A client waits for a key from now on, behind all others that do.
    pub fn wait(&mut self, client: u64, db: u16, key: Key<'_>) {
        if self.find(db, key).is_none() {
            let (key_bytes, queue) = (key.bytes.into(), VecDeque::new());
            let spot = Spot { db, key: key_bytes, queue, attended: false, promised: None, held: false };
            self.spots.entry(key.hash).or_default().push(spot);
            self.len += 1;
        }
        let spot = self.find_mut(db, key).expect("it was just made");
        // A command may name a key twice; nobody else comes in between.
        if spot.queue.back() != Some(&client) {
            spot.queue.push_back(client);
        }
    }

    /// A client waits for a key no more. The place stays while it is attended.
    pub fn leave(&mut self, client: u64, db: u16, key: Key<'_>) {
        let Some(spot) = self.find_mut(db, key) else { return };
        spot.queue.retain(|other| *other != client);
        self.tidy(db, key);
    }

    /// Forgets a place where nobody waits and nobody looks.
    pub fn tidy(&mut self, db: u16, key: Key<'_>) {
        let Some(spots) = self.spots.get_mut(&key.hash) else { return };
        let before = spots.len();
        spots.retain(|spot| {
            let this = spot.db == db && *spot.key == *key.bytes;
            !this || !spot.queue.is_empty() || spot.attended
        });
        self.len -= before - spots.len();
        if spots.is_empty() {
            self.spots.remove(&key.hash);
        }
    }

    /// Whether what a key holds is promised to another client than this one: there is nothing for it then.
    pub fn is_promised_to_another(&self, db: u16, key: Key<'_>, client: u64) -> bool {
        let promised = self.find(db, key).and_then(|spot| spot.promised);
        promised.is_some_and(|other| other != client)
    }

    /// A key has been changed.
    pub fn touch(&mut self, db: u16, key: Key<'_>) {
        if self.len == 0 {
            return;
        }
        if let Some(spot) = self.find_mut(db, key)
            && !spot.attended
        {
            spot.attended = true;
            let bytes = spot.key.clone();
            self.changed.push((db, key.hash, bytes));
        }
    }

    /// The same for all awaited keys of which `changed` says so.
    pub fn touch_where(&mut self, changed: &mut impl FnMut(u16, Key<'_>) -> bool) {
        for (hash, spots) in &mut self.spots {
            for spot in spots.iter_mut().filter(|spot| !spot.attended) {
                if changed(spot.db, Key { bytes: &spot.key, hash: *hash }) {
                    spot.attended = true;
                    self.changed.push((spot.db, *hash, spot.key.clone()));
                }
            }
        }
    }

    /// Some keys have changed.
    pub fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The keys that have changed, each once: database, hash and name. They are attended from now on.
    pub fn take_changed(&mut self) -> Vec<(u16, u64, Box<[u8]>)> {
        std::mem::take(&mut self.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(bytes: &[u8]) -> Key<'_> {
        // Keys of one length collide, so that places are told apart by their bytes.
        Key { bytes, hash: bytes.len() as u64 }
    }

    #[test]
    fn who_came_first_is_first_and_a_change_is_told_once() {
        let mut awaited = Awaited::default();
        awaited.wait(1, 0, key(b"a"));
        awaited.wait(1, 0, key(b"a"));
        awaited.wait(2, 0, key(b"a"));
        awaited.wait(3, 9, key(b"a"));
        awaited.wait(3, 0, key(b"b"));
        assert_eq!(awaited.keys(), 3);
        assert_eq!(awaited.find(0, key(b"a")).unwrap().queue, [1, 2]);
        awaited.touch(0, key(b"a"));
        awaited.touch(0, key(b"a"));
        awaited.touch(0, key(b"c"));
        assert_eq!(awaited.take_changed().len(), 1);
        awaited.leave(1, 0, key(b"a"));
        awaited.leave(2, 0, key(b"a"));
        // It is attended: the place stays until that is over.
        assert_eq!(awaited.keys(), 3);
        awaited.find_mut(0, key(b"a")).unwrap().attended = false;
        awaited.tidy(0, key(b"a"));
        awaited.touch_where(&mut |db, _| db == 9);
        assert_eq!(awaited.take_changed().len(), 1);
        awaited.leave(3, 0, key(b"b"));
        assert_eq!(awaited.keys(), 1);
    }

    #[test]
    fn what_is_promised_is_there_for_one() {
        let mut awaited = Awaited::default();
        awaited.wait(1, 0, key(b"a"));
        assert!(!awaited.is_promised_to_another(0, key(b"a"), 2));
        awaited.find_mut(0, key(b"a")).unwrap().promised = Some(1);
        assert!(awaited.is_promised_to_another(0, key(b"a"), 2));
        assert!(!awaited.is_promised_to_another(0, key(b"a"), 1));
    }
}
