//! A big hash: fields and values in a table of packed pages, and the times of those fields that expire.
//! It does not know small hashes or keys.

use super::expiry::FieldTimes;
use crate::hash::Hasher;
use crate::text::Text;
use crate::types::pages::{Pages, Part};

/// Fields without order, each with a value. `now` is in milliseconds since 1970.
#[derive(Debug, Default)]
pub struct BigHash {
    pages: Pages<2>,
    times: Option<Box<FieldTimes>>,
    /// The time by which the store has it listed, so that its fields expire in time.
    pub(super) listed: Option<i64>,
}

impl Clone for BigHash {
    /// A copy, which nobody has listed.
    fn clone(&self) -> BigHash {
        BigHash { pages: self.pages.clone(), times: self.times.clone(), listed: None }
    }
}

impl BigHash {
    /// An empty hash.
    pub fn new() -> BigHash {
        BigHash::default()
    }

    /// How many fields it holds, expired ones that nobody has removed yet included.
    #[inline]
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// It holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many fields it has.
    #[inline]
    pub fn alive(&self, now: i64) -> usize {
        self.len() - self.times.as_ref().map_or(0, |times| times.due(now))
    }

    /// Bytes on the heap.
    #[inline]
    pub fn memory_bytes(&self) -> usize {
        self.pages.memory_bytes() + self.times.as_ref().map_or(0, |times| times.memory_bytes())
    }

    /// The value of a field.
    #[inline]
    pub fn get(&self, field: &[u8], hasher: &Hasher, now: i64) -> Option<Text<'_>> {
        let part = Part::of(field);
        let hash = part.hash(hasher);
        let found = self.pages.find(hash, &part)?;
        (!self.is_due(hash, &part, now)).then(|| self.pages.text(found, 1))
    }

    /// Gives a field a value, and no time to expire unless it keeps it; whether the field is new.
    pub fn set(&mut self, field: &[u8], value: &[u8], keep_time: bool, hasher: &Hasher, now: i64) -> bool {
        let (field, value) = (Part::of(field), Part::of(value));
        let hash = field.hash(hasher);
        let due = self.is_due(hash, &field, now);
        if self.times.is_some() && (due || !keep_time) {
            self.forget_time(hash, &field);
        }
        let found = self.pages.find(hash, &field);
        match found {
            Some(found) => self.pages.replace(found, 1, &value),
            None => self.pages.insert(hash, &[field, value], hasher),
        }
        found.is_none() || due
    }

    /// Adds a field that is not there, as it was read from another place.
    pub(super) fn add(&mut self, field: Text<'_>, value: Text<'_>, hasher: &Hasher) {
        let field = Part::of_text(field);
        self.pages.insert(field.hash(hasher), &[field, Part::of_text(value)], hasher);
    }

    /// Removes a field; whether it was there.
    pub fn remove(&mut self, field: &[u8], hasher: &Hasher, now: i64) -> bool {
        let part = Part::of(field);
        let hash = part.hash(hasher);
        let Some(found) = self.pages.find(hash, &part) else { return false };
        let due = self.is_due(hash, &part, now);
        self.pages.remove(found);
        self.forget_time(hash, &part);
        !due
    }

    /// All fields with their values.
    pub fn iter(&self) -> impl Iterator<Item = (Text<'_>, Text<'_>)> {
        self.pages.iter().map(|[field, value]| (field, value))
    }

    /// Visits all fields that have not expired, with their values.
    pub fn each<'a>(&'a self, hasher: &Hasher, now: i64, visit: &mut dyn FnMut(Text<'a>, Text<'a>)) {
        let all = !self.has_due(now);
        for (field, value) in self.iter() {
            if all || !self.is_text_due(field, hasher, now) {
                visit(field, value);
            }
        }
    }

    /// A field with its value, each as likely as the others.
    pub fn random(
        &self,
        rng: &mut dyn FnMut() -> u64,
        hasher: &Hasher,
        now: i64,
    ) -> Option<(Text<'_>, Text<'_>)> {
        /// Draws of expired fields before it looks for another in order.
        const DRAWS_MAX: usize = 100;
        let some_due = self.has_due(now);
        for _ in 0..DRAWS_MAX {
            let found = self.pages.random(rng)?;
            let field = self.pages.text(found, 0);
            if !some_due || !self.is_text_due(field, hasher, now) {
                return Some((field, self.pages.text(found, 1)));
            }
        }
        self.iter().find(|(field, _)| !self.is_text_due(*field, hasher, now))
    }

    /// Visits about 32 fields from a cursor on and returns the next one; 0 both starts and ends. What
    /// is there all the time is visited exactly once, whatever else changes between the calls.
    pub fn scan(
        &self,
        cursor: u64,
        hasher: &Hasher,
        now: i64,
        visit: &mut dyn FnMut(Text<'_>, Text<'_>),
    ) -> u64 {
        let all = !self.has_due(now);
        self.pages.scan(cursor, hasher, &mut |[field, value]| {
            if all || !self.is_text_due(field, hasher, now) {
                visit(field, value);
            }
        })
    }

    /// When a field expires; `None` if it is not there, `Some(None)` if it does not.
    pub fn expiry(&self, field: &[u8], hasher: &Hasher, now: i64) -> Option<Option<i64>> {
        let part = Part::of(field);
        let hash = part.hash(hasher);
        self.pages.find(hash, &part)?;
        let time = self.times.as_ref().and_then(|times| times.get(hash, &part));
        time.is_none_or(|time| time > now).then_some(time)
    }

    /// Sets or clears the time at which a field that is there expires.
    pub fn set_expiry(&mut self, field: &[u8], expiry: Option<i64>, hasher: &Hasher) {
        let part = Part::of(field);
        let hash = part.hash(hasher);
        match expiry {
            Some(time) => {
                let times = self.times.get_or_insert_with(|| Box::new(FieldTimes::new()));
                times.set(hash, part, time, hasher);
            }
            None => self.forget_time(hash, &part),
        }
    }

    /// When the first field expires.
    pub fn first_expiry(&self) -> Option<i64> {
        self.times.as_ref().and_then(|times| times.first())
    }

    /// Removes at most `budget` fields that have expired; says how many.
    pub fn expire_some(&mut self, now: i64, budget: usize, hasher: &Hasher) -> usize {
        let mut expired = 0;
        while expired < budget
            && let Some(times) = &mut self.times
            && let Some(field) = times.take_due(now, hasher)
        {
            expired += 1;
            let part = Part::of(&field);
            let found = self.pages.find(part.hash(hasher), &part).expect("only fields have times");
            self.pages.remove(found);
            if times.is_empty() {
                self.times = None;
            }
        }
        expired
    }

    /// Frees about `budget` fields of a hash that nobody will look into again; says how many.
    pub fn free_some(&mut self, budget: usize) -> usize {
        // Times of fields are as many, at most.
        self.times = None;
        self.pages.free_some(budget)
    }

    fn has_due(&self, now: i64) -> bool {
        self.first_expiry().is_some_and(|first| first <= now)
    }

    #[inline]
    fn is_due(&self, hash: u64, field: &Part<'_>, now: i64) -> bool {
        match &self.times {
            None => false,
            Some(times) => times.get(hash, field).is_some_and(|time| time <= now),
        }
    }

    fn is_text_due(&self, field: Text<'_>, hasher: &Hasher, now: i64) -> bool {
        let part = Part::of_text(field);
        self.is_due(part.hash(hasher), &part, now)
    }

    #[inline]
    fn forget_time(&mut self, hash: u64, field: &Part<'_>) {
        if let Some(times) = &mut self.times {
            times.clear(hash, field);
            if times.is_empty() {
                self.times = None;
            }
        }
    }
}
