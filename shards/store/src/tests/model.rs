//! Every operation against an ordered map.

use crate::{Expiry, IncrementFault, Key, Store, Text, canonical_int};
use proptest::prelude::*;
use std::collections::BTreeMap;

const DATABASES: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    SetText(usize, u16, Vec<u8>, Option<i64>),
    SetKeep(usize, u16, Vec<u8>),
    SetBytes(usize, u16, Vec<u8>),
    SetInt(usize, u16, i64),
    Increment(usize, u16, i64),
    Append(usize, u16, Vec<u8>),
    WriteRange(usize, u16, usize, Vec<u8>),
    Find(usize, u16),
    Remove(usize, u16),
    RemoveMany(usize, u16, u16),
    SetMany(usize, u16, u16),
    SetExpiry(usize, u16, Option<i64>),
    Rename(usize, u16, u16),
    MoveBetween(usize, usize, u16),
    CopyTo(usize, u16, usize, u16),
    DetachTo(usize, u16, usize, u16),
    Swap(usize, usize),
    Flush(usize),
    Reclaim(usize),
    ExpireSlice(usize),
    ScanAll(usize, usize),
    Random(usize, u64),
    Wait(i64),
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..60),
        2 => any::<i64>().prop_map(|value| value.to_string().into_bytes()),
        1 => (990usize..1024, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]),
        1 => (0usize..1400, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let db = 0..DATABASES;
    let key = prop_oneof![3 => 0u16..40, 2 => 0u16..400];
    let later = prop::option::of(0i64..40);
    prop_oneof![
        8 => (db.clone(), key.clone(), value(), later.clone()).prop_map(|(d, k, v, e)| Step::SetText(d, k, v, e)),
        3 => (db.clone(), key.clone(), value()).prop_map(|(d, k, v)| Step::SetKeep(d, k, v)),
        1 => (db.clone(), key.clone(), value()).prop_map(|(d, k, v)| Step::SetBytes(d, k, v)),
        2 => (db.clone(), key.clone(), any::<i64>()).prop_map(|(d, k, v)| Step::SetInt(d, k, v)),
        3 => (db.clone(), key.clone(), any::<i32>()).prop_map(|(d, k, v)| Step::Increment(d, k, v.into())),
        3 => (db.clone(), key.clone(), value()).prop_map(|(d, k, v)| Step::Append(d, k, v)),
        3 => (db.clone(), key.clone(), 0usize..1500, value()).prop_map(|(d, k, o, v)| Step::WriteRange(d, k, o, v)),
        4 => (db.clone(), key.clone()).prop_map(|(d, k)| Step::Find(d, k)),
        6 => (db.clone(), key.clone()).prop_map(|(d, k)| Step::Remove(d, k)),
        1 => (db.clone(), 0u16..400, 0u16..200).prop_map(|(d, k, n)| Step::RemoveMany(d, k, n)),
        1 => (db.clone(), 0u16..400, 0u16..200).prop_map(|(d, k, n)| Step::SetMany(d, k, n)),
        4 => (db.clone(), key.clone(), later).prop_map(|(d, k, e)| Step::SetExpiry(d, k, e)),
        2 => (db.clone(), key.clone(), key.clone()).prop_map(|(d, a, b)| Step::Rename(d, a, b)),
        2 => (db.clone(), db.clone(), key.clone()).prop_map(|(a, b, k)| Step::MoveBetween(a, b, k)),
        2 => (db.clone(), key.clone(), db.clone(), key.clone()).prop_map(|(d, k, e, l)| Step::CopyTo(d, k, e, l)),
        2 => (db.clone(), key.clone(), db.clone(), key).prop_map(|(d, k, e, l)| Step::DetachTo(d, k, e, l)),
        1 => (db.clone(), db.clone()).prop_map(|(a, b)| Step::Swap(a, b)),
        1 => db.clone().prop_map(Step::Flush),
        2 => (1usize..100).prop_map(Step::Reclaim),
        2 => (1usize..40).prop_map(Step::ExpireSlice),
        2 => (db.clone(), 1usize..30).prop_map(|(d, n)| Step::ScanAll(d, n)),
        2 => (db, any::<u64>()).prop_map(|(d, r)| Step::Random(d, r)),
        3 => (0i64..20).prop_map(Step::Wait),
    ]
}

/// The text of a key: a few of them are long.
fn name(number: u16) -> Vec<u8> {
    match number % 50 {
        0 => format!("{number}{}", "k".repeat(600)).into_bytes(),
        1 => format!("{number}{}", "k".repeat(400)).into_bytes(),
        rest => format!("key:{number}{}", "-".repeat(rest.into())).into_bytes(),
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Held {
    text: Vec<u8>,
    expiry: Option<i64>,
}

struct Model {
    store: Store,
    now: i64,
    dbs: Vec<BTreeMap<Vec<u8>, Held>>,
}

fn text_of(text: Text<'_>) -> Vec<u8> {
    match text {
        Text::Int(value) => value.to_string().into_bytes(),
        Text::Bytes(bytes) => bytes.to_vec(),
    }
}

impl Model {
    fn new() -> Model {
        Model {
            store: Store::new(crate::Hasher::new([5, 6, 7, 8]), DATABASES),
            now: 1000,
            dbs: vec![BTreeMap::new(); DATABASES],
        }
    }

    fn alive(&mut self, db: usize, name: &[u8]) -> Option<&mut Held> {
        let now = self.now;
        if self.dbs[db].get(name).is_some_and(|held| held.expiry.is_some_and(|expiry| expiry <= now)) {
            self.dbs[db].remove(name);
        }
        self.dbs[db].get_mut(name)
    }

    /// Looks at a key in both, so that lazily expired ones are gone from both.
    fn meet(&mut self, db: usize, name: &[u8]) -> Option<Held> {
        let key = self.store.key(name);
        let found = self
            .store
            .find(db, key, self.now)
            .map(|entry| Held { text: text_of(entry.text().unwrap()), expiry: entry.expiry() });
        let held = self.alive(db, name).cloned();
        assert_eq!(found, held);
        held
    }

    fn set(&mut self, db: usize, name: &[u8], text: Vec<u8>, expiry: Option<i64>) {
        self.dbs[db].insert(name.to_vec(), Held { text, expiry });
    }

    fn run(&mut self, step: Step) {
        let now = self.now;
        match step {
            Step::SetText(db, number, text, later) => {
                let name = name(number);
                let expiry = later.map(|later| now + later);
                let key = self.store.key(&name);
                self.store.set_text(db, key, &text, expiry.map_or(Expiry::None, Expiry::At));
                self.set(db, &name, text, expiry);
            }
            Step::SetKeep(db, number, text) => {
                let name = name(number);
                let expiry = self.meet(db, &name).and_then(|held| held.expiry);
                let key = self.store.key(&name);
                self.store.set_text(db, key, &text, Expiry::Keep);
                self.set(db, &name, text, expiry);
            }
            Step::SetBytes(db, number, text) => {
                let name = name(number);
                let key = self.store.key(&name);
                self.store.set_bytes(db, key, &text, Expiry::None);
                let entry = self.store.find(db, key, now).unwrap();
                assert_eq!(entry.text(), Some(Text::Bytes(&text)));
                assert_eq!(entry.encoding(), if text.len() <= 44 { "embstr" } else { "raw" });
                self.set(db, &name, text, None);
            }
            Step::SetInt(db, number, value) => {
                let name = name(number);
                let key = self.store.key(&name);
                self.store.set_int(db, key, value, Expiry::None);
                self.set(db, &name, value.to_string().into_bytes(), None);
            }
            Step::Increment(db, number, delta) => self.increment(db, &name(number), delta),
            Step::Append(db, number, bytes) => {
                let name = name(number);
                let held = self.meet(db, &name);
                let key = self.store.key(&name);
                let length = self.store.append(db, key, &bytes);
                let mut held = held.unwrap_or(Held { text: Vec::new(), expiry: None });
                held.text.extend_from_slice(&bytes);
                assert_eq!(length, held.text.len());
                self.set(db, &name, held.text, held.expiry);
            }
            Step::WriteRange(db, number, offset, bytes) => {
                self.write_range(db, &name(number), offset, &bytes)
            }
            Step::Find(db, number) => drop(self.meet(db, &name(number))),
            Step::Remove(db, number) => self.remove(db, &name(number)),
            Step::RemoveMany(db, from, count) => (from..from + count).for_each(|n| self.remove(db, &name(n))),
            Step::SetMany(db, from, count) => {
                for number in from..from + count {
                    self.run(Step::SetText(db, number, number.to_string().into_bytes(), None));
                }
            }
            Step::SetExpiry(db, number, later) => {
                let name = name(number);
                let expiry = later.map(|later| now + later);
                let there = self.meet(db, &name).is_some();
                let key = self.store.key(&name);
                assert_eq!(self.store.set_expiry(db, key, expiry), there);
                if let Some(held) = self.alive(db, &name) {
                    held.expiry = expiry;
                }
            }
            step => self.run_more(step),
        }
    }

    fn run_more(&mut self, step: Step) {
        let now = self.now;
        match step {
            Step::Rename(db, from, to) => {
                let (from, to) = (name(from), name(to));
                let (from_key, to_key) = (self.store.key(&from), self.store.key(&to));
                let held = self.alive(db, &from).cloned();
                assert_eq!(self.store.rename(db, from_key, to_key, now), held.is_some());
                if let Some(held) = held {
                    self.dbs[db].remove(&from);
                    self.set(db, &to, held.text, held.expiry);
                }
            }
            Step::MoveBetween(from, to, number) => {
                let name = name(number);
                let key = self.store.key(&name);
                let free = from != to && self.alive(to, &name).is_none();
                let held = self.alive(from, &name).cloned().filter(|_| free);
                assert_eq!(self.store.move_between(from, to, key, now), held.is_some());
                if let Some(held) = held {
                    self.dbs[from].remove(&name);
                    self.set(to, &name, held.text, held.expiry);
                }
            }
            Step::CopyTo(db, from, other, to) => {
                let (from, to) = (name(from), name(to));
                let copy = self.store.copy_out(db, Key { ..self.store.key(&from) }, now);
                let held = self.alive(db, &from).cloned();
                assert_eq!(
                    copy.as_ref().map(|copy| text_of(copy.text().unwrap())),
                    held.as_ref().map(|held| held.text.clone())
                );
                if let (Some(copy), Some(held)) = (copy, held) {
                    assert_eq!(copy.expiry(), held.expiry);
                    let key = self.store.key(&to);
                    self.store.attach(other, key, copy);
                    self.set(other, &to, held.text, held.expiry);
                }
            }
            Step::DetachTo(db, from, other, to) => {
                let (from, to) = (name(from), name(to));
                let detached = self.store.detach(db, self.store.key(&from), now);
                let held = self.alive(db, &from).cloned();
                self.dbs[db].remove(&from);
                assert_eq!(detached.is_some(), held.is_some());
                if let (Some(detached), Some(held)) = (detached, held) {
                    let key = self.store.key(&to);
                    self.store.attach(other, key, detached);
                    self.set(other, &to, held.text, held.expiry);
                }
            }
            Step::Swap(a, b) => {
                self.store.swap(a, b);
                self.dbs.swap(a, b);
            }
            Step::Flush(db) => {
                self.store.flush(db);
                self.dbs[db].clear();
            }
            Step::Reclaim(budget) => drop(self.store.reclaim(budget)),
            Step::ExpireSlice(budget) => {
                let report = self.store.expire_slice(now, budget);
                assert!(report.buckets <= budget && report.expired <= report.met);
            }
            Step::ScanAll(db, count) => self.scan_all(db, count),
            Step::Random(db, seed) => {
                let mut random = super::Random(seed);
                if let Some(drawn) = self.store.random(db, &mut || random.next(), now).map(<[u8]>::to_vec) {
                    assert!(self.alive(db, &drawn).is_some());
                }
            }
            Step::Wait(ms) => self.now += ms,
            _ => unreachable!("run has the others"),
        }
    }

    fn increment(&mut self, db: usize, name: &[u8], delta: i64) {
        let held = self.meet(db, name);
        let key = self.store.key(name);
        let sum = self.store.increment(db, key, delta, self.now);
        let (old, expiry) = match &held {
            None => (Some(0), None),
            Some(held) => (canonical_int(&held.text), held.expiry),
        };
        match old.map(|old| old.checked_add(delta)) {
            None => assert_eq!(sum, Err(IncrementFault::NotAnInteger)),
            Some(None) => assert_eq!(sum, Err(IncrementFault::Overflow)),
            Some(Some(expected)) => {
                assert_eq!(sum, Ok(expected));
                self.set(db, name, expected.to_string().into_bytes(), expiry);
            }
        }
    }

    fn write_range(&mut self, db: usize, name: &[u8], offset: usize, bytes: &[u8]) {
        let held = self.meet(db, name);
        let key = self.store.key(name);
        let length = self.store.write_range(db, key, offset, bytes);
        if bytes.is_empty() {
            return assert_eq!(length, held.map_or(0, |held| held.text.len()));
        }
        let mut held = held.unwrap_or(Held { text: Vec::new(), expiry: None });
        let end = offset + bytes.len();
        held.text.resize(held.text.len().max(end), 0);
        held.text[offset..end].copy_from_slice(bytes);
        assert_eq!(length, held.text.len());
        assert_eq!(self.store.find(db, key, self.now).unwrap().encoding(), "raw");
        self.set(db, name, held.text, held.expiry);
    }

    fn remove(&mut self, db: usize, name: &[u8]) {
        let there = self.alive(db, name).is_some();
        self.dbs[db].remove(name);
        let key = self.store.key(name);
        assert_eq!(self.store.remove(db, key, self.now), there);
    }

    fn scan_all(&mut self, db: usize, count: usize) {
        let mut seen = BTreeMap::new();
        let mut cursor = 0;
        loop {
            cursor = self.store.scan(db, cursor, count, self.now, &mut |key, entry| {
                let held = Held { text: text_of(entry.text().unwrap()), expiry: entry.expiry() };
                assert!(seen.insert(key.to_vec(), held).is_none(), "each once, while nothing changes");
            });
            assert!(cursor < 1 << 48);
            if cursor == 0 {
                break;
            }
        }
        let now = self.now;
        self.dbs[db].retain(|_, held| held.expiry.is_none_or(|expiry| expiry > now));
        assert_eq!(seen, self.dbs[db]);
        assert_eq!(self.store.len(db), self.dbs[db].len(), "scans remove what has expired");
    }
}

fn cases() -> ProptestConfig {
    ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_store_does_what_an_ordered_map_does(steps in prop::collection::vec(step(), 1..400)) {
        let mut model = Model::new();
        for (number, step) in steps.into_iter().enumerate() {
            model.run(step);
            if number % 8 == 0 {
                model.store.check();
            }
        }
        model.store.check();
        for db in 0..DATABASES {
            model.scan_all(db, 7);
            for name in model.dbs[db].keys().cloned().collect::<Vec<_>>() {
                model.meet(db, &name);
            }
        }
        for db in 0..DATABASES {
            for name in model.dbs[db].keys().cloned().collect::<Vec<_>>() {
                model.remove(db, &name);
            }
        }
        while model.store.reclaim(10) {}
        prop_assert_eq!(model.store.bytes(), crate::Usage::default());
    }
}
