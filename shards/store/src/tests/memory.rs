//! Memory: what is counted, and that it comes back.

use super::{NOW, Random, store};
use crate::{Expiry, Usage};

#[test]
fn a_new_store_owns_nothing() {
    assert_eq!(store().bytes(), Usage::default());
}

#[test]
fn all_bytes_come_back_when_all_keys_are_removed() {
    let mut store = store();
    let mut random = Random(3);
    let names: Vec<String> =
        (0..3000).map(|number| "k".repeat(random.below(700) as usize) + &format!("{number}")).collect();
    for name in &names {
        store.set(name, &"v".repeat(random.below(1500) as usize));
    }
    store.check();
    assert!(store.bytes().heap_buffers > 0 && store.bytes().tables > 0);
    for (number, name) in names.iter().enumerate() {
        assert!(store.delete(name));
        if number % 300 == 0 {
            store.check();
        }
    }
    while store.reclaim(10) {}
    assert_eq!(store.bytes(), Usage::default());
}

#[test]
fn tables_shrink_with_what_they_hold() {
    let mut store = store();
    (0..20_000).for_each(|number| store.set(&number.to_string(), "v"));
    let full = store.bytes().tables;
    let directory = store.tables[0].directory_bytes();
    (0..19_900).for_each(|number| assert!(store.delete(&number.to_string())));
    store.check();
    let left = store.table_stats(0);
    assert!(left.segments <= 100, "{left:?}");
    assert!(store.bytes().tables < full / 10, "{full} {:?}", store.bytes());
    assert!(store.tables[0].directory_bytes() < directory / 20, "the directory shrinks too");
    (19_900..20_000).for_each(|number| assert!(store.look(&number.to_string()).is_some()));
}

#[test]
fn a_flush_is_freed_in_slices_and_new_keys_come_meanwhile() {
    let mut store = store();
    (0..5000).for_each(|number| store.set(&number.to_string(), &"v".repeat(number)));
    store.flush(0);
    assert_eq!(store.len(0), 0);
    assert_eq!(store.look("17"), None);
    let before = store.bytes();
    assert!(store.reclaim(100), "much is left");
    let after = store.bytes();
    assert!(after.entries < before.entries && after.entries > before.entries * 9 / 10);
    assert!(after.tables < before.tables && after.tables > before.tables * 9 / 10);
    store.set("new", "v");
    let mut slices = 0;
    while store.reclaim(100) {
        slices += 1;
    }
    assert!(slices > 40);
    store.check();
    assert_eq!(store.look("new"), Some(("v".into(), "embstr")));
    assert!(store.delete("new"));
    while store.reclaim(100) {}
    assert_eq!(store.bytes(), Usage::default());
}

#[test]
fn a_large_buffer_is_freed_in_slices() {
    let mut store = store();
    let key = store.key(b"k");
    store.write_range(0, key, 10 << 20, b"end");
    assert!(store.bytes().heap_buffers > 10 << 20);
    assert!(store.delete("k"));
    assert!(store.bytes().heap_buffers > 10 << 20, "not in the command");
    let mut slices = 0;
    while store.reclaim(1) {
        slices += 1;
    }
    assert!((5..20).contains(&slices), "{slices} slices");
    assert_eq!(store.bytes(), Usage::default());
}

#[test]
fn small_texts_take_eight_bytes_and_themselves() {
    let mut store = store();
    store.set("sixteen bytes ok", "another sixteen.");
    assert_eq!(store.bytes().entries, 40);
    let key = store.key(b"sixteen bytes ok");
    assert_eq!(store.find(0, key, NOW).unwrap().memory_bytes(), 48);
}

#[test]
fn overwriting_frees_what_was_there() {
    let mut store = store();
    let key = store.key(b"k");
    let huge = vec![1; 100_000];
    for text in [&huge[..], b"12", b"text", &huge, &huge[..1000], &huge, b"9"] {
        store.set_text(0, key, text, Expiry::None);
        store.check();
    }
    assert_eq!(store.bytes().heap_buffers, 0);
}

#[test]
fn a_store_with_buffers_can_be_dropped_at_any_time() {
    let mut store = store();
    (0..100).for_each(|number| store.set(&number.to_string(), &"v".repeat(number * 100)));
    store.flush(0);
    store.reclaim(20);
    (0..100).for_each(|number| store.set(&number.to_string(), &"v".repeat(number * 100)));
}

#[test]
fn cells_are_used_again_however_long_keys_come_and_go() {
    let mut store = store();
    let mut random = Random(5);
    let mut reserved = 0;
    for round in 0..100_000 {
        let name = format!("{:08}", random.below(2000));
        match random.below(2) {
            0 => store.set(&name, "some text"),
            _ => {
                store.delete(&name);
            }
        }
        if round == 20_000 {
            reserved = store.bytes().reserved;
        }
    }
    assert!(store.bytes().reserved <= reserved + reserved / 4, "{reserved} {:?}", store.bytes());
}
