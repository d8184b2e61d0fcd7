//! Hashes: fields with values. A small one is packed in its key's cell, field and value after field and
//! value, in the order they came; a big one is a table of packed pages. Here both look alike. Commands
//! it does not know.

mod big;
pub(crate) mod due;
mod expiry;
#[cfg(test)]
mod tests;

use super::pages::below;
use super::slot::{Body, Slot, SlotMut};
use super::{Big, WrongKind, packed};
use crate::hash::{Hasher, Key};
use crate::header::Kind;
use crate::store::Store;
use crate::text::Text;
use crate::travel::Detached;
pub use big::BigHash;
use packed::Items;

/// Expired fields that a write to a hash removes on its way.
const EXPIRED_MAX: usize = 32;

/// How far a hash stays small.
#[derive(Clone, Copy, Debug)]
pub struct HashLimits {
    /// Fields.
    pub fields: usize,
    /// Bytes of a field or a value.
    pub bytes: usize,
}

/// A hash to read. Fields that have expired are not in it.
#[derive(Clone, Copy)]
pub struct HashRef<'a> {
    body: Body<'a>,
    hasher: &'a Hasher,
    now: i64,
}

/// A hash to change. Once it is dropped, a key without fields is gone.
pub struct HashMut<'a> {
    slot: SlotMut<'a>,
    now: i64,
    expired: usize,
}

impl Store {
    /// The hash of a key; `touch` notes it as used now.
    pub fn read_hash(
        &mut self,
        db: usize,
        key: Key<'_>,
        now: i64,
        touch: bool,
    ) -> Result<Option<HashRef<'_>>, WrongKind> {
        let Some(found) = self.present(db, key, now) else { return Ok(None) };
        if touch {
            self.cells.touch(found.handle, self.clock);
        }
        let slot = Slot::of(self.cells.view(found.handle), Kind::Hash)?;
        Ok(Some(HashRef { body: slot.body(), hasher: &self.hasher, now }))
    }

    /// The hash of a key, to change.
    pub fn hash_mut<'a>(
        &'a mut self,
        db: usize,
        key: Key<'a>,
        now: i64,
    ) -> Result<Option<HashMut<'a>>, WrongKind> {
        let slot = self.slot_mut(db, key, Kind::Hash, now)?;
        Ok(slot.map(|slot| HashMut::new(slot, now)))
    }

    /// The same, or one that makes the key with its first field.
    pub fn hash_or_new<'a>(
        &'a mut self,
        db: usize,
        key: Key<'a>,
        now: i64,
    ) -> Result<HashMut<'a>, WrongKind> {
        Ok(HashMut::new(self.slot_or_new(db, key, Kind::Hash, now)?, now))
    }
}

impl Detached {
    /// The value, if it is a hash.
    pub fn hash<'a>(&'a self, hasher: &'a Hasher, now: i64) -> Result<HashRef<'a>, WrongKind> {
        Ok(HashRef { body: self.slot(Kind::Hash)?.body(), hasher, now })
    }
}

fn big(big: &Big) -> &BigHash {
    match big {
        Big::Hash(hash) => hash,
        _ => unreachable!("the slot says it is a hash"),
    }
}

impl<'a> HashRef<'a> {
    /// How many fields it has.
    pub fn len(&self) -> usize {
        match self.body {
            Body::Packed(bytes) => packed::count(bytes) / 2,
            Body::Big(hash) => big(hash).alive(self.now),
        }
    }

    /// It has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a field.
    #[inline]
    pub fn get(&self, field: &[u8]) -> Option<Text<'a>> {
        match self.body {
            Body::Packed(bytes) => {
                let at = packed::find(bytes, 0, 2, Text::of(field))?;
                Some(packed::text_at(bytes, packed::end_of(bytes, at)))
            }
            Body::Big(hash) => big(hash).get(field, self.hasher, self.now),
        }
    }

    /// Visits all fields with their values.
    pub fn each(&self, visit: &mut dyn FnMut(Text<'a>, Text<'a>)) {
        match self.body {
            Body::Packed(bytes) => {
                let mut items = Items::new(bytes);
                while let (Some(field), Some(value)) = (items.next(), items.next()) {
                    visit(field, value);
                }
            }
            Body::Big(hash) => big(hash).each(self.hasher, self.now, visit),
        }
    }

    /// A field with its value, each as likely as the others.
    pub fn random(&self, rng: &mut dyn FnMut() -> u64) -> Option<(Text<'a>, Text<'a>)> {
        match self.body {
            Body::Packed(bytes) => {
                let at = packed::skip(bytes, 0, 2 * below(rng(), packed::count(bytes) / 2));
                let value = packed::end_of(bytes, at);
                Some((packed::text_at(bytes, at), packed::text_at(bytes, value)))
            }
            Body::Big(hash) => big(hash).random(rng, self.hasher, self.now),
        }
    }

    /// Visits about `count` fields from a cursor on and returns the next one; 0 both starts and ends. A
    /// small hash is visited as a whole. A big one visits what is there all the time exactly once.
    pub fn scan(&self, mut cursor: u64, count: usize, visit: &mut dyn FnMut(Text<'_>, Text<'_>)) -> u64 {
        let Body::Big(hash) = self.body else {
            self.each(visit);
            return 0;
        };
        let mut visited = 0;
        loop {
            cursor = big(hash).scan(cursor, self.hasher, self.now, &mut |field, value| {
                visited += 1;
                visit(field, value);
            });
            if cursor == 0 || visited >= count {
                return cursor;
            }
        }
    }

    /// When a field expires, in milliseconds since 1970; `None` if it is not there, `Some(None)` if it
    /// does not expire.
    pub fn expiry(&self, field: &[u8]) -> Option<Option<i64>> {
        match self.body {
            Body::Packed(bytes) => packed::find(bytes, 0, 2, Text::of(field)).map(|_| None),
            Body::Big(hash) => big(hash).expiry(field, self.hasher, self.now),
        }
    }
}

impl<'a> HashMut<'a> {
    fn new(mut slot: SlotMut<'a>, now: i64) -> HashMut<'a> {
        let mut expired = 0;
        if let Body::Big(hash) = slot.body()
            && big(hash).first_expiry().is_some_and(|first| first <= now)
        {
            let (hash, hasher) = big_mut(&mut slot);
            expired = hash.expire_some(now, EXPIRED_MAX, hasher);
            slot.met_fields(expired);
        }
        HashMut { slot, now, expired }
    }

    /// The same hash to read.
    #[inline]
    pub fn as_ref(&self) -> HashRef<'_> {
        HashRef { body: self.slot.body(), hasher: self.slot.hasher(), now: self.now }
    }

    /// How many expired fields have been removed on the way here.
    pub fn expired(&self) -> usize {
        self.expired
    }

    /// How many fields it has.
    pub fn len(&self) -> usize {
        self.as_ref().len()
    }

    /// It has none: once dropped, the key is gone.
    pub fn is_empty(&self) -> bool {
        match self.slot.body() {
            Body::Packed(bytes) => bytes.is_empty(),
            Body::Big(hash) => big(hash).is_empty(),
        }
    }

    /// The value of a field.
    pub fn get(&self, field: &[u8]) -> Option<Text<'_>> {
        self.as_ref().get(field)
    }

    /// Gives a field a value; whether the field is new. A time at which it expires is forgotten.
    pub fn set(&mut self, field: &[u8], value: &[u8], limits: HashLimits) -> bool {
        self.put(field, value, false, limits)
    }

    /// The same; a time at which it expires stays.
    pub fn set_keeping_time(&mut self, field: &[u8], value: &[u8], limits: HashLimits) -> bool {
        self.put(field, value, true, limits)
    }

    #[inline]
    fn put(&mut self, field: &[u8], value: &[u8], keep_time: bool, limits: HashLimits) -> bool {
        if let Body::Packed(bytes) = self.slot.body() {
            let (at, before) = seek(bytes, Text::of(field));
            let new = at == bytes.len();
            let fits = field.len() <= limits.bytes && value.len() <= limits.bytes;
            if fits && (!new || before < limits.fields) {
                let (from, end) = if new {
                    (at, at)
                } else {
                    let from = packed::end_of(bytes, at);
                    (from, packed::end_of(bytes, from))
                };
                self.slot.splice_with(from..end, |out| {
                    if new {
                        packed::append(out, Text::of(field));
                    }
                    packed::append(out, Text::of(value));
                });
                return new;
            }
            self.grow();
        }
        let now = self.now;
        let (hash, hasher) = big_mut(&mut self.slot);
        hash.set(field, value, keep_time, hasher, now)
    }

    /// Removes a field; whether it was there.
    pub fn remove(&mut self, field: &[u8]) -> bool {
        let now = self.now;
        match self.slot.body() {
            Body::Packed(bytes) => {
                let Some(at) = packed::find(bytes, 0, 2, Text::of(field)) else { return false };
                let end = packed::skip(bytes, at, 2);
                self.slot.splice(at..end, &[]);
                true
            }
            Body::Big(_) => {
                let (hash, hasher) = big_mut(&mut self.slot);
                hash.remove(field, hasher, now)
            }
        }
    }

    /// Sets or clears the time at which a field expires; whether the field is there.
    pub fn set_expiry(&mut self, field: &[u8], expiry: Option<i64>) -> bool {
        if self.as_ref().expiry(field).is_none() {
            return false;
        }
        if let Body::Packed(_) = self.slot.body() {
            // Only big hashes know times.
            if expiry.is_none() {
                return true;
            }
            self.grow();
        }
        let (hash, hasher) = big_mut(&mut self.slot);
        hash.set_expiry(field, expiry, hasher);
        self.slot.list_due();
        true
    }

    /// Makes a small hash a big one.
    #[cold]
    fn grow(&mut self) {
        let mut grown = BigHash::new();
        let hasher = self.slot.hasher();
        self.as_ref().each(&mut |field, value| grown.add(field, value, hasher));
        self.slot.become_big(Big::Hash(grown));
    }
}

/// Where a field of a packed hash lies, or the end; and how many fields lie before.
#[inline]
fn seek(bytes: &[u8], field: Text<'_>) -> (usize, usize) {
    let (mut at, mut before) = (0, 0);
    while at < bytes.len() && packed::text_at(bytes, at) != field {
        at = packed::skip(bytes, at, 2);
        before += 1;
    }
    (at, before)
}

#[inline]
fn big_mut<'s>(slot: &'s mut SlotMut<'_>) -> (&'s mut BigHash, &'s Hasher) {
    match slot.big_and_hasher() {
        (Big::Hash(hash), hasher) => (hash, hasher),
        _ => unreachable!("the slot says it is a hash"),
    }
}
