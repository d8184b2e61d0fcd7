//! Slots against plain lists: whatever happens to a key, its collection stays what it is, and every byte is
//! counted.

use super::packed::any_text;
use crate::types::list::{BigList, ChunkLimit};
use crate::types::packed::{self, Items};
use crate::types::slot::{Body, OwnBody, SlotMut};
use crate::types::{Big, Item};
use crate::{Detached, Expiry, Hasher, Kind, Store, Text, WrongKind};
use proptest::prelude::*;
use std::collections::BTreeMap;

const DATABASES: usize = 2;
const LIMIT: fn() -> ChunkLimit = || ChunkLimit::of_setting(5);

#[derive(Clone, Debug)]
enum Step {
    /// Writes some items over some others.
    Splice {
        key: u8,
        at: prop::sample::Index,
        removed: usize,
        texts: Vec<Vec<u8>>,
    },
    Grow(u8),
    Pack(u8),
    Empty(u8),
    Expire(u8, Option<i64>),
    Rename(u8, u8),
    Copy(u8, usize, u8),
    Detach(u8, u8),
    Move(u8),
    SetText(u8),
    Remove(u8),
    Flush,
    Reclaim(usize),
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let key = || 0u8..8;
    prop_oneof![
        20 => (key(), any::<prop::sample::Index>(), 0usize..6, prop::collection::vec(any_text(), 0..6))
            .prop_map(|(key, at, removed, texts)| Step::Splice { key, at, removed, texts }),
        4 => key().prop_map(Step::Grow),
        2 => key().prop_map(Step::Pack),
        1 => key().prop_map(Step::Empty),
        4 => (key(), prop::option::of(0i64..40)).prop_map(|(key, later)| Step::Expire(key, later)),
        2 => (key(), key()).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => (key(), 0..DATABASES, key()).prop_map(|(from, db, to)| Step::Copy(from, db, to)),
        2 => (key(), key()).prop_map(|(from, to)| Step::Detach(from, to)),
        2 => key().prop_map(Step::Move),
        1 => key().prop_map(Step::SetText),
        1 => key().prop_map(Step::Remove),
        1 => Just(Step::Flush),
        2 => (1usize..50).prop_map(Step::Reclaim),
        3 => (0i64..10).prop_map(Step::Wait),
    ]
}

/// Some keys are long, and one fills a cell but for a few bytes.
fn name(number: u8) -> Vec<u8> {
    let length = [1, 20, 200, 500, 512, 513, 700, 3][usize::from(number) % 8];
    vec![b'a' + number; length]
}

#[derive(Clone, PartialEq, Debug)]
struct Held {
    items: Vec<Vec<u8>>,
    variant: bool,
    big: bool,
    expiry: Option<i64>,
}

struct Model {
    store: Store,
    now: i64,
    dbs: Vec<BTreeMap<Vec<u8>, Held>>,
}

fn plain(text: Text<'_>) -> Vec<u8> {
    match text {
        Text::Int(value) => value.to_string().into_bytes(),
        Text::Bytes(bytes) => bytes.to_vec(),
    }
}

/// Slots do not look into packed bytes, so these lists do without a count in front.
fn items_of(body: Body<'_>) -> Vec<Vec<u8>> {
    match body {
        Body::Packed(bytes) => Items::new(bytes).map(plain).collect(),
        Body::Big(big) => {
            let mut items = Vec::new();
            big.each(&mut |item| match item {
                Item::Element(text) => items.push(plain(text)),
                other => panic!("a list has no {other:?}"),
            });
            items
        }
    }
}

fn splice(slot: &mut SlotMut<'_>, at: usize, removed: usize, texts: &[Vec<u8>]) {
    let range = match slot.body() {
        Body::Packed(bytes) => packed::skip(bytes, 0, at)..packed::skip(bytes, 0, at + removed),
        Body::Big(_) => {
            let Big::List(list) = slot.big_mut() else { panic!("a list") };
            list.remove(at, removed, LIMIT());
            for (number, text) in texts.iter().enumerate() {
                let mut item = Vec::new();
                packed::append(&mut item, Text::of(text));
                list.insert(at + number, &item, LIMIT());
            }
            return;
        }
    };
    slot.splice_with(range, |out| texts.iter().for_each(|text| packed::append(out, Text::of(text))));
}

impl Model {
    fn new() -> Model {
        let store = Store::new(Hasher::new([5, 6, 7, 8]), DATABASES);
        Model { store, now: 1000, dbs: vec![BTreeMap::new(); DATABASES] }
    }

    fn forget_expired(&mut self) {
        let now = self.now;
        self.dbs.iter_mut().for_each(|db| db.retain(|_, held| held.expiry.is_none_or(|at| at > now)));
    }

    fn run(&mut self, step: Step) {
        self.forget_expired();
        let now = self.now;
        match step {
            Step::Splice { key, at, removed, texts } => {
                let name = name(key);
                let mut held = self.dbs[0].get(&name).cloned().unwrap_or(Held {
                    items: Vec::new(),
                    variant: false,
                    big: false,
                    expiry: None,
                });
                let at = at.index(held.items.len() + 1);
                let removed = removed.min(held.items.len() - at);
                let mut slot = self.store.slot_or_new(0, self.store.key(&name), Kind::List, now).unwrap();
                assert_eq!(items_of(slot.body()), held.items);
                assert_eq!(slot.is_vacant(), held.items.is_empty());
                assert_eq!(slot.variant(), held.variant);
                splice(&mut slot, at, removed, &texts);
                drop(slot);
                held.items.splice(at..at + removed, texts);
                if held.items.is_empty() {
                    self.dbs[0].remove(&name);
                } else {
                    self.dbs[0].insert(name, held);
                }
            }
            Step::Grow(key) => self.change(key, |slot, held| {
                let mut bytes = Vec::new();
                held.items.iter().for_each(|text| packed::append(&mut bytes, Text::of(text)));
                slot.become_big(Big::List(BigList::of(&bytes, LIMIT())));
                (held.big, held.variant) = (true, false);
            }),
            Step::Pack(key) => self.change(key, |slot, held| {
                let mut bytes = Vec::new();
                held.items.iter().for_each(|text| packed::append(&mut bytes, Text::of(text)));
                // A list has one packed form, but the bit must travel.
                slot.become_packed(&bytes, true);
                (held.big, held.variant) = (false, true);
            }),
            Step::Empty(key) => {
                self.change(key, |slot, held| splice(slot, 0, held.items.len(), &[]));
                self.dbs[0].remove(&name(key));
            }
            step => self.run_more(step),
        }
    }

    fn change(&mut self, key: u8, change: impl FnOnce(&mut SlotMut<'_>, &mut Held)) {
        let name = name(key);
        let slot = self.store.slot_mut(0, self.store.key(&name), Kind::List, self.now).unwrap();
        assert_eq!(slot.is_some(), self.dbs[0].contains_key(&name));
        if let (Some(mut slot), Some(held)) = (slot, self.dbs[0].get_mut(&name)) {
            change(&mut slot, held);
        }
    }

    fn run_more(&mut self, step: Step) {
        let now = self.now;
        match step {
            Step::Expire(key, later) => {
                let (name, expiry) = (name(key), later.map(|later| now + later));
                let there = self.store.find(0, self.store.key(&name), now).is_some();
                assert_eq!(there, self.dbs[0].contains_key(&name));
                if let Some(held) = self.dbs[0].get_mut(&name) {
                    assert!(self.store.set_expiry(0, self.store.key(&name), expiry));
                    held.expiry = expiry;
                }
            }
            Step::Rename(from, to) => {
                let (from, to) = (name(from), name(to));
                let there = self.store.rename(0, self.store.key(&from), self.store.key(&to), now);
                let held = self.dbs[0].remove(&from);
                assert_eq!(there, held.is_some());
                held.map(|held| self.dbs[0].insert(to, held));
            }
            Step::Copy(from, db, to) => {
                let (from, to) = (name(from), name(to));
                let copy = self.store.copy_out(0, self.store.key(&from), now);
                assert_eq!(copy.is_some(), self.dbs[0].contains_key(&from));
                if let Some(copy) = copy {
                    assert_eq!((copy.kind(), copy.text()), (Kind::List, None));
                    self.store.attach(db, self.store.key(&to), copy);
                    let held = self.dbs[0][&from].clone();
                    self.dbs[db].insert(to, held);
                }
            }
            Step::Detach(from, to) => {
                let (from, to) = (name(from), name(to));
                if let Some(detached) = self.store.detach(0, self.store.key(&from), now) {
                    let held = self.dbs[0].remove(&from).unwrap();
                    assert_eq!(items_of(detached.slot(Kind::List).unwrap().body()), held.items);
                    assert!(matches!(detached.slot(Kind::Set), Err(WrongKind)));
                    self.store.attach(1, self.store.key(&to), detached);
                    self.dbs[1].insert(to, held);
                }
            }
            Step::Move(key) => {
                let name = name(key);
                let moved = self.store.move_between(0, 1, self.store.key(&name), now);
                let free = !self.dbs[1].contains_key(&name) && self.dbs[0].contains_key(&name);
                assert_eq!(moved, free);
                if moved {
                    let held = self.dbs[0].remove(&name).unwrap();
                    self.dbs[1].insert(name, held);
                }
            }
            Step::SetText(key) => {
                let name = name(key);
                self.store.set_text(0, self.store.key(&name), b"7", Expiry::None);
                assert!(matches!(
                    self.store.slot_mut(0, self.store.key(&name), Kind::List, now),
                    Err(WrongKind)
                ));
                self.store.remove(0, self.store.key(&name), now);
                self.dbs[0].remove(&name);
            }
            Step::Remove(key) => {
                let name = name(key);
                let there = self.dbs[0].remove(&name).is_some();
                assert_eq!(self.store.remove(0, self.store.key(&name), now), there);
            }
            Step::Flush => {
                self.store.flush(1);
                self.dbs[1].clear();
            }
            Step::Reclaim(budget) => drop(self.store.reclaim(budget)),
            Step::Wait(ms) => self.now += ms,
            _ => unreachable!("run has the others"),
        }
    }

    fn compare(&mut self) {
        self.forget_expired();
        for db in 0..DATABASES {
            for (name, held) in &self.dbs[db] {
                let entry = self.store.find(db, self.store.key(name), self.now).unwrap();
                assert_eq!((entry.kind(), entry.expiry()), (Kind::List, held.expiry));
                assert_eq!((entry.text(), entry.encoding()), (None, "quicklist"));
                let slot = entry.slot(Kind::List).unwrap();
                assert_eq!(items_of(slot.body()), held.items);
                assert_eq!(slot.variant(), held.variant);
                assert_eq!(matches!(slot.body(), Body::Big(_)), held.big);
                assert!(matches!(entry.slot(Kind::Hash), Err(WrongKind)));
                if let Body::Big(Big::List(list)) = slot.body() {
                    list.check();
                }
            }
        }
        self.store.check();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_slot_does_what_a_list_does(steps in prop::collection::vec(step(), 1..150)) {
        let mut model = Model::new();
        for (number, step) in steps.into_iter().enumerate() {
            model.run(step);
            if number % 8 == 0 {
                model.compare();
            }
        }
        model.compare();
        for db in 0..DATABASES {
            let names: Vec<_> = model.dbs[db].keys().cloned().collect();
            names.iter().for_each(|name| assert!(model.store.remove(db, model.store.key(name), model.now)));
            // What has expired and was not met since is still there.
            model.store.flush(db);
        }
        while model.store.reclaim(10) {}
        prop_assert_eq!(model.store.bytes(), crate::Usage::default());
    }
}

fn big_list(elements: usize) -> BigList {
    let mut list = BigList::of(&[], LIMIT());
    for number in 0..elements {
        let mut item = Vec::new();
        packed::append(&mut item, Text::Int(number as i64));
        list.append(&item, ChunkLimit::of_setting(-2));
    }
    list
}

#[test]
fn a_big_collection_is_freed_in_slices() {
    let mut store = super::store();
    let list = Detached::collection(OwnBody::Big(Big::List(big_list(50_000))));
    assert!(list.memory_bytes() > 100_000);
    store.attach(0, store.key(b"k"), list);
    assert!(store.bytes().heap_buffers > 100_000);
    assert!(store.delete("k"));
    assert!(store.bytes().heap_buffers > 100_000, "not in the command");
    assert_eq!(store.pending_keys(), 1);
    let mut slices = 0;
    while store.reclaim(1000) {
        slices += 1;
        assert!(slices < 1000);
    }
    assert!(slices >= 3, "{slices}");
    assert_eq!((store.pending_keys(), store.counters().lazily_freed), (0, 1));
    assert_eq!(store.bytes(), crate::Usage::default());
}

#[test]
fn a_store_with_big_collections_can_be_flushed_and_dropped() {
    let mut store = super::store();
    for number in 0..20 {
        let list = Detached::collection(OwnBody::Big(Big::List(big_list(number * 40 + 1))));
        store.attach(0, store.key(format!("{number}").as_bytes()), list);
    }
    store.flush(0);
    store.reclaim(300);
    store.check();
    while store.reclaim(300) {}
    assert_eq!(store.bytes(), crate::Usage::default());
    for number in 0..20 {
        let list = Detached::collection(OwnBody::Big(Big::List(big_list(number * 40 + 1))));
        store.attach(0, store.key(format!("{number}").as_bytes()), list);
    }
}

#[test]
fn a_packed_collection_is_freed_and_found_like_any_value() {
    let mut store = super::store();
    let mut bytes = Vec::new();
    (0..400).for_each(|number| packed::append(&mut bytes, Text::Int(number)));
    let set = OwnBody::Packed { kind: Kind::Hash, variant: false, bytes };
    store.attach(0, store.key(b"k"), Detached::collection(set).expiring(Some(super::NOW + 5)));
    let entry = store.find(0, store.key(b"k"), super::NOW).unwrap();
    assert_eq!(
        (entry.kind(), entry.encoding(), entry.expiry()),
        (Kind::Hash, "listpack", Some(super::NOW + 5))
    );
    let mut fields = Vec::new();
    entry.each_item(&mut |item| match item {
        Item::Field(Text::Int(field), Text::Int(value)) => fields.push((field, value)),
        other => panic!("{other:?}"),
    });
    assert_eq!(fields, (0..200).map(|number| (2 * number, 2 * number + 1)).collect::<Vec<_>>());
    assert!(store.find(0, store.key(b"k"), super::NOW + 5).is_none());
    while store.reclaim(300) {}
    assert_eq!(store.bytes(), crate::Usage::default());
}
