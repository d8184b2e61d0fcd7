//! The store in its real shape, from outside: the unit tests use tables with tiny buckets.

use corelane_store::{Expiry, HashFunction, Hasher, Store, Usage};
use std::collections::{BTreeMap, BTreeSet};

const NOW: i64 = 1_000_000;
const KEYS: u32 = 60_000;

fn name(number: u32) -> [u8; 16] {
    let mut name = *b"a key of 16 ....";
    name[12..].copy_from_slice(&number.to_be_bytes());
    name
}

fn set(store: &mut Store, number: u32) {
    let name = name(number);
    let key = store.key(&name);
    store.set_text(0, key, b"a value of 16 B.", Expiry::None);
}

fn remove(store: &mut Store, number: u32) -> bool {
    let name = name(number);
    let key = store.key(&name);
    store.remove(0, key, NOW)
}

fn holds(store: &mut Store, number: u32) -> bool {
    let name = name(number);
    let key = store.key(&name);
    store.find(0, key, NOW).is_some()
}

fn stores() -> [Store; 2] {
    [HashFunction::Ahash, HashFunction::Siphash]
        .map(|function| Store::new(Hasher::with_function(function, [1, 2, 3, 4]), 16))
}

#[test]
fn an_entry_costs_less_than_24_bytes_over_its_own() {
    for mut store in stores() {
        for number in 0..KEYS {
            set(&mut store, number);
            // Before that, a page that is reserved but not yet touched weighs too much.
            if number >= 20_000 && number % 1000 == 0 {
                let overhead = store.bytes().total() as f64 / f64::from(number + 1) - 32.0;
                assert!(overhead < 24.0, "{overhead} bytes at {number}: {:?}", store.bytes());
            }
        }
        let stats = store.table_stats(0);
        assert_eq!((stats.keys, stats.probes.iter().sum::<u64>()), (KEYS as usize, u64::from(KEYS)));
        let far: u64 = stats.probes[3..].iter().sum();
        assert!(far < u64::from(KEYS) / 20, "few look-ups read more than two lines: {stats:?}");
    }
}

#[test]
fn tables_shrink_with_what_they_hold_until_nothing_is_left() {
    for mut store in stores() {
        (0..KEYS).for_each(|number| set(&mut store, number));
        let full = store.bytes();
        // In another order than they came.
        let mut left: BTreeSet<u32> = (0..KEYS).collect();
        for step in 0..KEYS {
            let number = (u64::from(step) * 7919 % u64::from(KEYS)) as u32;
            assert!(remove(&mut store, number));
            left.remove(&number);
            if left.len() == KEYS as usize / 50 {
                assert!(store.bytes().tables < full.tables / 10, "{:?}", store.table_stats(0));
                assert!(left.iter().all(|&number| holds(&mut store, number)));
            }
        }
        let stats = store.table_stats(0);
        assert!(stats.segments <= 8, "{stats:?}");
        while store.reclaim(100) {}
        assert_eq!(store.bytes(), Usage::default());
    }
}

#[test]
fn a_scan_sees_what_stays_once_while_the_table_grows_and_shrinks_tenfold() {
    for mut store in stores() {
        (0..3000).for_each(|number| set(&mut store, number));
        let mut seen: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        let (mut cursor, mut next, mut calls) = (0, 3000, 0);
        loop {
            cursor = store.scan(0, cursor, 10, NOW, &mut |key, _| {
                *seen.entry(key.to_vec()).or_default() += 1;
            });
            if cursor == 0 {
                break;
            }
            calls += 1;
            if calls % 200 < 100 {
                (next..next + 300).for_each(|number| set(&mut store, number));
                next += 300;
            } else if next > 3300 {
                next -= 300;
                (next..next + 300).for_each(|number| assert!(remove(&mut store, number)));
            }
        }
        assert!(calls > 200, "{calls} calls");
        assert!((0..3000).all(|number| seen.get(&name(number)[..]) == Some(&1)));
    }
}
