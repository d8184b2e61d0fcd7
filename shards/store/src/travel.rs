//! Values that leave their key: for RENAME, COPY and MOVE across keys, databases and shards.

use crate::cells::Payload;
use crate::hash::Key;
use crate::header::Kind;
use crate::store::{Expiry, Store};
use crate::text::Text;

/// A value with its expiry, outside any store: it owns its memory and may go to another shard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Detached {
    value: Value,
    expiry: Option<i64>,
    access: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Value {
    Int(i64),
    Bytes { bytes: Vec<u8>, raw: bool },
}

impl Detached {
    /// The type of the value.
    pub fn kind(&self) -> Kind {
        Kind::String
    }

    /// When it expires, in milliseconds since 1970.
    pub fn expiry(&self) -> Option<i64> {
        self.expiry
    }

    /// The value, if it is a string.
    pub fn text(&self) -> Option<Text<'_>> {
        Some(match &self.value {
            Value::Int(value) => Text::Int(*value),
            Value::Bytes { bytes, .. } => Text::Bytes(bytes),
        })
    }

    /// Bytes it takes.
    pub fn memory_bytes(&self) -> usize {
        let owned = match &self.value {
            Value::Int(_) => 0,
            Value::Bytes { bytes, .. } => bytes.capacity(),
        };
        size_of::<Detached>() + owned
    }

    fn new(payload: Payload<'_>, raw: bool, expiry: Option<i64>, access: u32) -> Detached {
        let value = match payload {
            Payload::Int(value) => Value::Int(value),
            Payload::Text(bytes) => Value::Bytes { bytes: bytes.to_vec(), raw },
            Payload::Buffer(bytes) => Value::Bytes { bytes, raw },
        };
        Detached { value, expiry, access }
    }

    fn into_parts(self) -> (Payload<'static>, bool, Option<i64>, u32) {
        let (payload, raw) = match self.value {
            Value::Int(value) => (Payload::Int(value), false),
            Value::Bytes { bytes, raw } => (Payload::Buffer(bytes), raw),
        };
        (payload, raw, self.expiry, self.access)
    }
}

impl Store {
    /// Takes a value out of the store; its key is gone.
    pub fn detach(&mut self, db: usize, key: Key<'_>, now: i64) -> Option<Detached> {
        let found = self.alive(db, key, now)?;
        self.unlink(db, key.hash, found);
        let taken = self.cells.take(found.handle);
        Some(Detached::new(taken.payload, taken.raw, taken.expiry, taken.access))
    }

    /// A copy of a value.
    pub fn copy_out(&mut self, db: usize, key: Key<'_>, now: i64) -> Option<Detached> {
        let found = self.alive(db, key, now)?;
        let view = self.cells.view(found.handle);
        let payload = match view.text() {
            Text::Int(value) => Payload::Int(value),
            Text::Bytes(bytes) => Payload::Text(bytes),
        };
        let header = view.header();
        Some(Detached::new(payload, header.is_raw(), view.expiry(), header.access()))
    }

    /// Puts a value under a key, whatever was there before.
    pub fn attach(&mut self, db: usize, key: Key<'_>, detached: Detached) {
        let (payload, raw, expiry, access) = detached.into_parts();
        self.attach_parts(db, key, payload, raw, expiry, access);
    }

    /// Gives a value another key in the same database, replacing what was there; whether `from` was
    /// there and not expired.
    pub fn rename(&mut self, db: usize, from: Key<'_>, to: Key<'_>, now: i64) -> bool {
        let Some(found) = self.alive(db, from, now) else { return false };
        if from.bytes != to.bytes {
            self.unlink(db, from.hash, found);
            let taken = self.cells.take(found.handle);
            self.attach_parts(db, to, taken.payload, taken.raw, taken.expiry, taken.access);
        }
        true
    }

    /// Moves a key to another database; whether it was there, and the other database had none.
    pub fn move_between(&mut self, from: usize, to: usize, key: Key<'_>, now: i64) -> bool {
        if from == to || self.alive(to, key, now).is_some() {
            return false;
        }
        let Some(found) = self.alive(from, key, now) else { return false };
        self.unlink(from, key.hash, found);
        self.link(to, key.hash, found.handle);
        true
    }

    fn attach_parts(
        &mut self,
        db: usize,
        key: Key<'_>,
        payload: Payload<'_>,
        raw: bool,
        expiry: Option<i64>,
        access: u32,
    ) {
        self.put(db, key, payload, raw, expiry.map_or(Expiry::None, Expiry::At));
        // The value was not used by being moved.
        let found = self.tables[db].find(key, &self.cells).expect("put just now");
        self.cells.touch(found.handle, access);
    }
}
