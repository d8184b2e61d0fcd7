//! The store under room 6: a hashed key found, set, counted up, among 1,000 keys of 16 bytes.
//! A step is one operation, its hash included.

use crate::Room;
use std::hint::black_box;
use store::{Expiry, Hasher, Store};

/// Finds a key and looks at its length.
pub(crate) const GET: Room = Room { name: "store-get", instructions_target: 0.0, build: get };
/// Overwrites a value of 16 bytes with another.
pub(crate) const SET: Room = Room { name: "store-set", instructions_target: 0.0, build: set };
/// Adds one to an integer.
pub(crate) const INCREMENT: Room =
    Room { name: "store-increment", instructions_target: 0.0, build: increment };

const NOW: i64 = 1_700_000_000_000;

fn keys() -> Vec<Vec<u8>> {
    (0..1_000).map(|number| format!("key:{number:012}").into_bytes()).collect()
}

fn filled(keys: &[Vec<u8>], value: &[u8]) -> Store {
    let mut store = Store::new(Hasher::new([1, 2, 3, 4]), 16);
    for key in keys {
        let key = store.key(key);
        store.set_text(0, key, value, Expiry::None);
    }
    store
}

fn get() -> Box<dyn FnMut(u64)> {
    let keys = keys();
    let mut store = filled(&keys, b"0123456789abcdef");
    Box::new(move |steps| {
        for key in keys.iter().cycle().take(steps as usize) {
            let key = store.key(black_box(key));
            let entry = store.find(0, key, NOW).expect("every key was set");
            black_box(entry.len());
        }
    })
}

fn set() -> Box<dyn FnMut(u64)> {
    let keys = keys();
    let mut store = filled(&keys, b"0123456789abcdef");
    Box::new(move |steps| {
        for key in keys.iter().cycle().take(steps as usize) {
            let key = store.key(black_box(key));
            store.set_text(0, key, black_box(b"fedcba9876543210"), Expiry::None);
        }
    })
}

fn increment() -> Box<dyn FnMut(u64)> {
    let keys = keys();
    let mut store = filled(&keys, b"1");
    Box::new(move |steps| {
        for key in keys.iter().cycle().take(steps as usize) {
            let key = store.key(black_box(key));
            let sum = store.increment(0, key, 1, NOW);
            assert!(sum.is_ok());
        }
    })
}
