//! The store in tables whose buckets hold three and whose segments hold twelve, so that splits,
//! merges, guests, stashes and chains happen all the time.

mod check;
mod collisions;
mod expiry;
mod list;
mod memory;
mod model;
mod packed;
mod random;
mod scan;
mod shared;
mod slot;
mod strings;

use crate::{Expiry, Hasher, Store};

/// A time in milliseconds.
const NOW: i64 = 1_000_000;

fn store() -> Store {
    Store::new(Hasher::new([1, 2, 3, 4]), 16)
}

/// Short calls for tests, in database 0 at `NOW`.
impl Store {
    fn set(&mut self, key: &str, text: &str) {
        self.set_text(0, self.key(key.as_bytes()), text.as_bytes(), Expiry::None);
    }

    fn set_until(&mut self, key: &str, text: &str, expiry: i64) {
        self.set_text(0, self.key(key.as_bytes()), text.as_bytes(), Expiry::At(expiry));
    }

    /// The text of a key, and its encoding.
    fn look(&mut self, key: &str) -> Option<(String, &'static str)> {
        self.look_at(key, NOW)
    }

    fn look_at(&mut self, key: &str, now: i64) -> Option<(String, &'static str)> {
        let entry = self.find(0, self.key(key.as_bytes()), now)?;
        let text = match entry.text()? {
            crate::Text::Int(value) => value.to_string(),
            crate::Text::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        };
        Some((text, entry.encoding()))
    }

    fn delete(&mut self, key: &str) -> bool {
        self.remove(0, self.key(key.as_bytes()), NOW)
    }
}

#[test]
fn stores_and_detached_values_may_go_to_another_thread() {
    fn goes<T: Send>() {}
    goes::<Store>();
    goes::<crate::Detached>();
}

/// A small generator, so that tests repeat.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
