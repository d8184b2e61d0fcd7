//! Hashes of every size against a plain map, with fields that expire.

use super::*;
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
