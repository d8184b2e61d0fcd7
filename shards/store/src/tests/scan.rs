//! The promise of SCAN: what stays is seen, whatever else comes and goes.

use super::{NOW, Random, store};
use crate::Store;
use std::collections::{BTreeMap, BTreeSet};

fn name(number: u64) -> String {
    format!("key {number}")
}

/// Scans once, doing something between calls; how often each key was seen.
fn scan(store: &mut Store, count: usize, mut between: impl FnMut(&mut Store)) -> BTreeMap<String, u32> {
    let mut seen = BTreeMap::new();
    let mut cursor = 0;
    loop {
        let before = cursor;
        cursor = store.scan(0, cursor, count, NOW, &mut |key, _| {
            *seen.entry(String::from_utf8_lossy(key).into_owned()).or_default() += 1;
        });
        assert!(cursor == 0 || cursor > before, "cursors only grow");
        assert!(cursor < 1 << 48);
        if cursor == 0 {
            return seen;
        }
        between(store);
    }
}

#[test]
fn an_empty_database_is_scanned_in_one_call() {
    let mut store = store();
    assert_eq!(store.scan(0, 0, 10, NOW, &mut |_, _| unreachable!()), 0);
    assert_eq!(store.scan(0, 12345 << 20, 10, NOW, &mut |_, _| unreachable!()), 0);
}

#[test]
fn any_cursor_ends() {
    let mut store = store();
    (0..500).for_each(|number| store.set(&name(number), "v"));
    let mut random = Random(4);
    for _ in 0..200 {
        let mut cursor = random.next() >> random.below(64);
        for _ in 0..2000 {
            cursor = store.scan(0, cursor, 1, NOW, &mut |_, _| {});
            if cursor == 0 {
                break;
            }
        }
        assert_eq!(cursor, 0);
    }
}

#[test]
fn keys_that_stay_are_seen_once_while_others_come_and_go() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut store = store();
        let stay: BTreeSet<u64> = (0..random.below(400)).map(|_| random.below(1000)).collect();
        let mut others: BTreeSet<u64> = (0..random.below(4000)).map(|_| 1000 + random.below(5000)).collect();
        stay.iter().chain(&others).for_each(|&number| store.set(&name(number), "v"));
        // Some scans meet a table that only grows, some one that only shrinks, some both by turns.
        let style = random.below(3);
        let mut calls = 0;
        let count = 1 + random.below(20) as usize;
        let seen = scan(&mut store, count, |store| {
            calls += 1;
            let grow = style == 0 || style == 2 && calls / 20 % 2 == 0;
            for _ in 0..random.below(120) {
                let number = 1000 + random.below(5000);
                if grow {
                    others.insert(number);
                    store.set(&name(number), "v");
                } else if let Some(number) = others.range(number..).next().copied() {
                    others.remove(&number);
                    assert!(store.delete(&name(number)));
                }
            }
        });
        store.check();
        for number in stay {
            assert_eq!(seen.get(&name(number)), Some(&1), "seed {seed}, key {number}");
        }
    }
}

#[test]
fn a_scan_across_a_flush_and_a_swap_ends() {
    let mut store = store();
    (0..300).for_each(|number| store.set(&name(number), "v"));
    let mut calls = 0;
    scan(&mut store, 5, |store| {
        calls += 1;
        match calls {
            10 => store.flush(0),
            12 => (0..100).for_each(|number| store.set(&name(number), "v")),
            15 => store.swap(0, 1),
            _ => {}
        }
    });
}

#[test]
fn a_call_gives_about_as_many_keys_as_asked_for() {
    let mut store = store();
    (0..5000).for_each(|number| store.set(&name(number), "v"));
    let mut cursor = 0;
    loop {
        let mut seen = 0;
        cursor = store.scan(0, cursor, 100, NOW, &mut |_, _| seen += 1);
        if cursor == 0 {
            break;
        }
        // One bucket more than asked for, at most: its own three, as many beside, six in the stash.
        assert!((100..100 + 12).contains(&seen), "{seen}");
    }
}

#[test]
fn expired_keys_are_removed_by_a_scan_not_seen() {
    let mut store = store();
    for number in 0..1000 {
        store.set_until(&name(number), "v", if number % 2 == 0 { NOW } else { NOW + 1 });
    }
    let seen = scan(&mut store, 10, |_| {});
    assert_eq!(seen.len(), 500);
    assert_eq!((store.len(0), store.volatile(0), store.counters().expired), (500, 500, 500));
    store.check();
}

#[test]
fn a_call_is_bounded_though_it_finds_nothing() {
    let mut store = store();
    (0..2000).for_each(|number| store.set_until(&name(number), "v", NOW));
    let cursor = store.scan(0, 0, 1, NOW, &mut |_, _| unreachable!("all have expired"));
    assert!(cursor > 0);
    assert!((1..=120).contains(&store.counters().expired), "ten buckets: {:?}", store.counters());
}
