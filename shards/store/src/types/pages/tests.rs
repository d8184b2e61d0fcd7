//! The table against plain maps, with pages of four so that it splits and merges all the time.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn hasher() -> Hasher {
    Hasher::new([5, 6, 7, 8])
}

fn bytes(text: Text<'_>) -> Vec<u8> {
    match text {
        Text::Int(value) => value.to_string().into_bytes(),
        Text::Bytes(bytes) => bytes.to_vec(),
    }
}

fn put(table: &mut Pages<2>, key: &[u8], value: &[u8], hasher: &Hasher) {
    let part = Part::of(key);
    let hash = part.hash(hasher);
    match table.find(hash, &part) {
        Some(found) => table.replace(found, 1, &Part::of(value)),
        None => table.insert(hash, &[part, Part::of(value)], hasher),
    }
}

fn get(table: &Pages<2>, key: &[u8], hasher: &Hasher) -> Option<Vec<u8>> {
    let part = Part::of(key);
    table.find(part.hash(hasher), &part).map(|found| bytes(table.text(found, 1)))
}

fn take(table: &mut Pages<2>, key: &[u8], hasher: &Hasher) -> bool {
    let part = Part::of(key);
    let found = table.find(part.hash(hasher), &part);
    found.map(|found| table.remove(found)).is_some()
}

/// What the table counts as it goes, counted anew.
fn check(table: &Pages<2>) {
    let cells = table.segments.iter().flatten();
    let pages: Vec<_> = cells.map(|cell| Page::<2, _>(table.cells.get(*cell))).collect();
    assert_eq!(pages.len(), table.buckets);
    assert_eq!(pages.iter().map(|page| page.len()).sum::<usize>(), table.len);
    assert_eq!(pages.iter().map(|page| page.used()).sum::<usize>(), table.used);
    assert!(pages.iter().all(|page| page.len() <= table.fullest));
    assert!(table.segments.iter().all(|segment| !segment.is_empty()));
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        (0u8..100).prop_map(|number| format!("key {number}").into_bytes()),
        (-300i64..300).prop_map(|number| (number * number * number).to_string().into_bytes()),
        (230usize..250).prop_map(|length| vec![b'l'; length]),
        proptest::collection::vec(any::<u8>(), 0..3),
    ]
}

#[derive(Clone, Debug)]
enum Step {
    Put(Vec<u8>, Vec<u8>),
    Take(Vec<u8>),
    TakeAny(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (key(), key()).prop_map(|(key, value)| Step::Put(key, value)),
        2 => key().prop_map(Step::Take),
        1 => any::<u64>().prop_map(Step::TakeAny),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_does_what_a_plain_map_does(steps in proptest::collection::vec(step(), 0..400)) {
        let (mut table, mut model, hasher) = (Pages::<2>::new(), BTreeMap::new(), hasher());
        for step in steps {
            match step {
                Step::Put(key, value) => {
                    put(&mut table, &key, &value, &hasher);
                    model.insert(key, value);
                }
                Step::Take(key) => prop_assert_eq!(take(&mut table, &key, &hasher), model.remove(&key).is_some()),
                Step::TakeAny(random) => {
                    let found = table.random(&mut || random);
                    prop_assert_eq!(found.is_some(), !model.is_empty());
                    if let Some(found) = found {
                        prop_assert!(model.remove(&bytes(table.text(found, 0))).is_some());
                        table.remove(found);
                    }
                }
            }
            prop_assert_eq!(table.len(), model.len());
        }
        check(&table);
        let mut copy = table.clone();
        for (key, value) in &model {
            prop_assert_eq!(get(&table, key, &hasher), Some(value.clone()));
            prop_assert!(take(&mut table, key, &hasher));
        }
        check(&table);
        prop_assert_eq!((table.len(), table.buckets, table.used, table.longs.bytes()), (0, 1, 0, 0));
        let listed: BTreeMap<_, _> = copy.iter().map(|[key, value]| (bytes(key), bytes(value))).collect();
        prop_assert_eq!(listed, model);
        while copy.free_some(3) > 0 {}
        let lists = copy.cells.bytes();
        prop_assert!(copy.len() == 0 && copy.memory_bytes() == lists && lists < 1000);
    }

    /// The guarantee of SSCAN and HSCAN, and more: what stays is met once.
    #[test]
    fn a_scan_meets_what_stays_exactly_once(
        stay in 0u32..200,
        moves in proptest::collection::vec((any::<bool>(), 1u32..60), 0..80),
    ) {
        let (mut table, hasher) = (Pages::<2>::new(), hasher());
        let name = |number: u32| format!("element {number}").into_bytes();
        (0..stay).for_each(|number| put(&mut table, &name(number), b"", &hasher));
        let (mut cursor, mut moves, mut top) = (0, moves.into_iter(), 1000);
        let mut met: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        loop {
            cursor = table.scan(cursor, &hasher, &mut |[key, _]| *met.entry(bytes(key)).or_default() += 1);
            if cursor == 0 {
                break;
            }
            if let Some((grow, count)) = moves.next() {
                if grow {
                    (top..top + count).for_each(|number| put(&mut table, &name(number), b"x", &hasher));
                    top += count;
                } else {
                    (1000.max(top - count)..top).for_each(|number| assert!(take(&mut table, &name(number), &hasher)));
                    top = 1000.max(top - count);
                }
            }
        }
        prop_assert!((0..stay).all(|number| met.get(&name(number)) == Some(&1)));
    }
}

#[test]
fn every_cursor_is_taken() {
    let (mut table, hasher) = (Pages::<2>::new(), hasher());
    for number in 0..77 {
        put(&mut table, format!("{number}").as_bytes(), b"", &hasher);
    }
    let mut state = 1u64;
    for _ in 0..10_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut cursor = state >> (state % 64);
        for _ in 0..table.buckets + 1 {
            cursor = table.scan(cursor, &hasher, &mut |_| {});
            if cursor == 0 {
                break;
            }
        }
        assert_eq!(cursor, 0, "it comes to an end from anywhere");
    }
}

#[test]
fn all_are_as_likely_to_be_drawn() {
    let (mut table, hasher) = (Pages::<2>::new(), hasher());
    for number in 0..41 {
        put(&mut table, format!("{number}").as_bytes(), b"", &hasher);
    }
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb)
    };
    let mut drawn: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    for _ in 0..41 * 1000 {
        let found = table.random(&mut random).unwrap();
        *drawn.entry(bytes(table.text(found, 0))).or_default() += 1;
    }
    assert_eq!(drawn.len(), 41);
    assert!(drawn.values().all(|count| (850..1150).contains(count)), "{drawn:?}");
}

#[test]
fn entries_whose_hashes_collide_share_a_page() {
    let hasher = Hasher::chosen(|_| 0xff00_0000_0000_00ff);
    let mut table = Pages::<2>::new();
    let keys: BTreeSet<Vec<u8>> = (0..500).map(|number| format!("k{number}").into_bytes()).collect();
    keys.iter().for_each(|key| put(&mut table, key, key, &hasher));
    check(&table);
    assert!(keys.iter().all(|key| get(&table, key, &hasher).as_ref() == Some(key)));
    assert!(table.random(&mut || 3).is_some());
    assert!(keys.iter().all(|key| take(&mut table, key, &hasher)));
    assert_eq!((table.len(), table.buckets), (0, 1));
}
