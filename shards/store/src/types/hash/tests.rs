//! Hashes of every size against a plain map, with fields that expire.

use super::*;
use crate::{Happened, Notes};
use proptest::prelude::*;
use std::collections::BTreeMap;

const LIMITS: HashLimits = HashLimits { fields: 6, bytes: 12 };

#[derive(Clone, Debug)]
enum Step {
    Set(u8, Vec<u8>),
    SetKeeping(u8, Vec<u8>),
    Remove(u8),
    Expire(u8, Option<i64>),
    Wait(i64),
    Check,
}

fn step() -> impl Strategy<Value = Step> {
    let value = || {
        prop_oneof![
            any::<i64>().prop_map(|value| value.to_string().into_bytes()),
            (0usize..8).prop_map(|length| vec![b'v'; length]),
            Just(vec![b'w'; 300]),
        ]
    };
    prop_oneof![
        6 => (0u8..24, value()).prop_map(|(field, value)| Step::Set(field, value)),
        2 => (0u8..24, value()).prop_map(|(field, value)| Step::SetKeeping(field, value)),
        4 => (0u8..24).prop_map(Step::Remove),
        2 => (0u8..24, proptest::option::of(1i64..40)).prop_map(|(field, time)| Step::Expire(field, time)),
        1 => (1i64..30).prop_map(Step::Wait),
        2 => Just(Step::Check),
    ]
}

fn name(field: u8) -> Vec<u8> {
    if field.is_multiple_of(2) {
        format!("{field}").into_bytes()
    } else {
        format!("field {field}").into_bytes()
    }
}

type Model = BTreeMap<Vec<u8>, (Vec<u8>, Option<i64>)>;

fn check(store: &mut Store, now: i64, model: &Model) -> Result<(), TestCaseError> {
    let key = store.key(b"a hash");
    let Some(hash) = store.read_hash(0, key, now, true).unwrap() else {
        prop_assert!(model.is_empty());
        return Ok(());
    };
    prop_assert_eq!(hash.len(), model.len());
    let (mut met, mut scanned) = (BTreeMap::new(), BTreeMap::new());
    hash.each(&mut |field, value| drop(met.insert(field.to_vec(), value.to_vec())));
    let mut cursor = 0;
    loop {
        let visit = &mut |field: Text<'_>, value: Text<'_>| {
            scanned.insert(field.to_vec(), value.to_vec());
        };
        cursor = hash.scan(cursor, 3, visit);
        if cursor == 0 {
            break;
        }
    }
    prop_assert_eq!(&met, &scanned);
    prop_assert!(met.iter().eq(model.iter().map(|(field, (value, _))| (field, value))));
    let drawn = hash.random(&mut || 0x7fff_ffff_ffff_ffff);
    prop_assert_eq!(drawn.is_some(), !model.is_empty());
    for field in (0..24).map(name) {
        let expected = model.get(&field);
        let value = hash.get(&field).map(Text::to_vec);
        prop_assert_eq!(value.as_ref(), expected.map(|(value, _)| value));
        prop_assert_eq!(hash.expiry(&field), expected.map(|(_, expiry)| *expiry));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_hash_does_what_a_plain_map_does(steps in proptest::collection::vec(step(), 0..120)) {
        let mut store = Store::new(Hasher::new([1, 2, 3, 4]), 1);
        let (mut model, mut now): (Model, i64) = (BTreeMap::new(), 1000);
        for step in steps {
            let key = store.key(b"a hash");
            match step {
                Step::Set(field, value) => {
                    let mut hash = store.hash_or_new(0, key, now).unwrap();
                    let new = hash.set(&name(field), &value, LIMITS);
                    prop_assert_eq!(new, model.insert(name(field), (value, None)).is_none());
                }
                Step::SetKeeping(field, value) => {
                    let mut hash = store.hash_or_new(0, key, now).unwrap();
                    let new = hash.set_keeping_time(&name(field), &value, LIMITS);
                    let expiry = model.get(&name(field)).and_then(|(_, expiry)| *expiry);
                    prop_assert_eq!(new, model.insert(name(field), (value, expiry)).is_none());
                }
                Step::Remove(field) => {
                    let removed = store.hash_mut(0, key, now).unwrap().is_some_and(|mut hash| hash.remove(&name(field)));
                    prop_assert_eq!(removed, model.remove(&name(field)).is_some());
                }
                Step::Expire(field, time) => {
                    let expiry = time.map(|time| now + time);
                    let there = store
                        .hash_mut(0, key, now)
                        .unwrap()
                        .is_some_and(|mut hash| hash.set_expiry(&name(field), expiry));
                    prop_assert_eq!(there, model.contains_key(&name(field)));
                    if let Some(entry) = model.get_mut(&name(field)) {
                        entry.1 = expiry;
                    }
                }
                Step::Wait(time) => {
                    now += time;
                    model.retain(|_, (_, expiry)| expiry.is_none_or(|expiry| expiry > now));
                }
                Step::Check => check(&mut store, now, &model)?,
            }
        }
        check(&mut store, now, &model)?;
        let key = store.key(b"a hash");
        store.remove(0, key, now);
        while store.reclaim(10) {}
        prop_assert_eq!(store.bytes().total(), 0);
    }
}

/// A hash whose fields expire at these times.
fn timed(store: &mut Store, db: usize, name: &[u8], times: &[i64]) {
    let mut hash = store.hash_or_new(db, store.key(name), 1000).unwrap();
    hash.set(b"stays", b"1", LIMITS);
    for time in times {
        hash.set(format!("until {time}").as_bytes(), b"1", LIMITS);
        assert!(hash.set_expiry(format!("until {time}").as_bytes(), Some(*time)));
    }
}

fn held(store: &mut Store, db: usize, name: &[u8], now: i64) -> Option<usize> {
    let found = store.slot_mut(db, store.key(name), Kind::Hash, now).unwrap()?;
    let Body::Big(hash) = found.body() else { panic!("with times it is big") };
    Some(big(hash).len())
}

#[test]
fn fields_go_when_their_time_has_come_wherever_their_hash_is_by_then() {
    let mut store = Store::new(Hasher::new([1, 2, 3, 4]), 3);
    let key = |store: &Store, name: &'static [u8]| store.key(name);
    for name in [&b"still"[..], b"renamed", b"moved", b"copied", b"written over", b"removed", b"sent"] {
        timed(&mut store, 0, name, &[1700, 1200, 1500]);
    }
    timed(&mut store, 2, b"flushed", &[1200, 1300]);
    assert_eq!((store.due[0].len(), store.due[2].len()), (7, 1));
    assert!(store.rename(0, key(&store, b"renamed"), key(&store, b"new name"), 1000));
    assert!(store.move_between(0, 1, key(&store, b"moved"), 1000));
    let copy = store.copy_out(0, key(&store, b"copied"), 1000).unwrap();
    store.attach(1, key(&store, b"copy"), copy);
    store.set_text(0, key(&store, b"written over"), b"text", crate::Expiry::None);
    assert!(store.remove(0, key(&store, b"removed"), 1000));
    let sent = store.detach(0, key(&store, b"sent"), 1000).unwrap();
    store.attach(2, key(&store, b"come"), sent);
    store.swap(1, 2);
    store.flush(1);
    assert_eq!((store.due[0].len(), store.due[1].len(), store.due[2].len()), (3, 0, 2));
    for (now, left) in [(1100, 4), (1200, 3), (1600, 2), (1700, 1)] {
        while !store.expire_slice(now, 3).finished {}
        store.expire_slice(now, 1000);
        for (db, name) in [(0, &b"still"[..]), (0, b"new name"), (0, b"copied"), (2, b"moved"), (2, b"copy")]
        {
            assert_eq!(held(&mut store, db, name, 1000), Some(left), "{name:?} at {now}");
        }
    }
    assert_eq!(store.counters().expired_fields, 15);
    assert!((0..3).all(|db| !store.has_field_times(db)));
    let mut hash = store.hash_mut(0, store.key(b"still"), 1700).unwrap().unwrap();
    assert!(hash.set_expiry(b"stays", Some(1800)));
    drop(hash);
    store.note_keys(Notes { expired: true, fields: true, emptied: true, created: false });
    store.expire_slice(1800, 10);
    let noted: Vec<Happened> = store.take_noted().into_iter().map(|noted| noted.what).collect();
    assert_eq!(noted, [Happened::FieldsExpired, Happened::Emptied], "with its last field a hash goes");
    assert!(store.find(0, store.key(b"still"), 1800).is_none());
    (0..3).for_each(|db| store.flush(db));
    while store.reclaim(1) {}
    assert_eq!(store.bytes().total(), 0);
}

#[test]
fn a_hash_may_have_lost_its_times_when_they_come() {
    let mut store = Store::new(Hasher::new([1, 2, 3, 4]), 1);
    for name in [&b"kept"[..], b"lost"] {
        timed(&mut store, 0, name, &[1200]);
    }
    let kept = store.key(b"kept");
    assert!(store.hash_mut(0, kept, 1000).unwrap().unwrap().set_expiry(b"until 1200", None));
    let lost = store.key(b"lost");
    assert!(store.hash_mut(0, lost, 1000).unwrap().unwrap().remove(b"until 1200"));
    store.expire_slice(1300, 1000);
    assert_eq!(store.counters().expired_fields, 0);
    assert!(!store.has_field_times(0), "nothing is listed any more");
    assert_eq!(held(&mut store, 0, b"kept", 1300), Some(2));
    assert_eq!(held(&mut store, 0, b"lost", 1300), Some(1));
}
