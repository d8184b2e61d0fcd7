//! When fields of a hash expire. Kept apart from the hash, so that one without such fields pays a word
//! for it. It does not know values.

use crate::hash::Hasher;
use crate::text::Text;
use crate::types::pages::{Pages, Part};
use std::collections::BTreeSet;

/// Bytes of an entry of the order: a set of such pairs is usually two thirds full.
const ORDER_BYTES: usize = 3 * size_of::<(i64, u64)>() / 2;

/// The times of a hash's fields, in milliseconds since 1970.
#[derive(Clone, Debug)]
pub(super) struct FieldTimes {
    /// The time of each field that has one.
    times: Pages<2>,
    /// Times and hashes of fields: who is next.
    order: BTreeSet<(i64, u64)>,
}

impl FieldTimes {
    pub(super) fn new() -> FieldTimes {
        FieldTimes { times: Pages::new(), order: BTreeSet::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.times.len() == 0
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<FieldTimes>() + self.times.memory_bytes() + self.order.len() * ORDER_BYTES
    }

    /// When a field expires.
    pub(super) fn get(&self, hash: u64, field: &Part<'_>) -> Option<i64> {
        let found = self.times.find(hash, field)?;
        match self.times.text(found, 1) {
            Text::Int(time) => Some(time),
            Text::Bytes(_) => unreachable!("times are integers"),
        }
    }

    /// Sets the time of a field.
    pub(super) fn set(&mut self, hash: u64, field: Part<'_>, time: i64, hasher: &Hasher) {
        if let Some(before) = self.get(hash, &field) {
            self.order.remove(&(before, hash));
            let found = self.times.find(hash, &field).expect("it has a time");
            self.times.replace(found, 1, &Part::int(time));
        } else {
            self.times.insert(hash, &[field, Part::int(time)], hasher);
        }
        self.order.insert((time, hash));
    }

    /// Forgets the time of a field; whether it had one.
    pub(super) fn clear(&mut self, hash: u64, field: &Part<'_>) -> bool {
        let Some(time) = self.get(hash, field) else { return false };
        self.order.remove(&(time, hash));
        let found = self.times.find(hash, field).expect("it has a time");
        self.times.remove(found);
        true
    }

    /// When the first field expires.
    pub(super) fn first(&self) -> Option<i64> {
        self.order.first().map(|(time, _)| *time)
    }

    /// How many fields have expired by now.
    pub(super) fn due(&self, now: i64) -> usize {
        match self.first() {
            Some(first) if first <= now => self.order.range(..=(now, u64::MAX)).count(),
            _ => 0,
        }
    }

    /// Forgets a field that has expired by now, and says which one.
    pub(super) fn take_due(&mut self, now: i64, hasher: &Hasher) -> Option<Vec<u8>> {
        let (time, hash) = *self.order.first()?;
        if time > now {
            return None;
        }
        self.order.pop_first();
        let found = self.times.find_hash(hash, hasher).expect("the order names fields");
        let field = self.times.text(found, 0).to_vec();
        self.times.remove(found);
        Some(field)
    }
}
