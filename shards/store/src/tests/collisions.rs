//! Keys whose hashes collide: slow, but right, and no burden on others.

use super::NOW;
use crate::{Expiry, Hasher, Store};

fn first_byte_alone(bytes: &[u8]) -> u64 {
    u64::from(bytes.first().copied().unwrap_or(0)) << 56 | 7
}

fn name(number: usize) -> Vec<u8> {
    format!("x{number}").into_bytes()
}

#[test]
fn a_thousand_keys_of_one_hash_are_all_kept_and_all_removed() {
    let mut store = Store::new(Hasher::chosen(|_| 0xdead_beef_dead_beef), 1);
    for number in 0..1000 {
        let name = name(number);
        store.set_int(0, store.key(&name), number as i64, Expiry::None);
    }
    store.check();
    // A directory for a thousand keys at most, however hard they push.
    assert!(store.table_stats(0).depth_max <= 11, "{:?}", store.table_stats(0));
    for number in (0..1000).rev() {
        let name = name(number);
        let key = store.key(&name);
        assert_eq!(store.find(0, key, NOW).unwrap().text(), Some(crate::Text::Int(number as i64)));
    }
    let mut seen = 0;
    let mut cursor = 0;
    while seen == 0 {
        cursor = store.scan(0, cursor, 1, NOW, &mut |_, _| seen += 1);
    }
    assert_eq!(seen, 1000, "a bucket is never cut");
    assert_eq!(store.scan(0, cursor, 1000, NOW, &mut |_, _| seen += 1), 0);
    assert_eq!(seen, 1000);
    for number in 0..1000 {
        let name = name(number);
        let key = store.key(&name);
        assert!(store.remove(0, key, NOW));
        assert!(!store.remove(0, key, NOW));
        if number % 100 == 0 {
            store.check();
        }
    }
    store.check();
    assert!(store.is_empty(0));
}

#[test]
fn a_chain_dissolves_when_the_table_has_grown_enough_to_split() {
    let mut store = Store::new(Hasher::chosen(first_byte_alone), 1);
    let names: Vec<Vec<u8>> =
        (0..200u8).flat_map(|first| (0..10u8).map(move |second| vec![first, second])).collect();
    for (number, name) in names.iter().enumerate() {
        store.set_int(0, store.key(name), number as i64, Expiry::None);
        if number % 50 == 0 {
            store.check();
        }
    }
    store.check();
    for (number, name) in names.iter().enumerate() {
        let key = store.key(name);
        assert_eq!(store.find(0, key, NOW).unwrap().text(), Some(crate::Text::Int(number as i64)));
    }
}

#[test]
fn a_key_away_from_a_crowd_is_found_beside_it() {
    let mut store = Store::new(Hasher::chosen(first_byte_alone), 1);
    for number in 0..500 {
        let name = name(number);
        store.set_int(0, store.key(&name), 1, Expiry::None);
    }
    store.set_int(0, store.key(b"\xf0 far"), 2, Expiry::None);
    let stats = store.table_stats(0);
    assert_eq!(stats.keys, 501);
    assert!(stats.segment_keys_max >= 500);
    let key = store.key(b"\xf0 far");
    assert_eq!(store.find(0, key, NOW).unwrap().text(), Some(crate::Text::Int(2)));
    assert_eq!(store.table_stats(0).probes.iter().sum::<u64>(), 501);
    store.check();
}
