//! Values that leave their key: for RENAME, COPY and MOVE across keys, databases and shards.

use crate::draft::{Draft, Payload, Taken};
use crate::hash::Key;
use crate::header::Kind;
use crate::store::Store;
use crate::text::Text;
use crate::types::slot::{OwnBody, Slot};
use crate::types::{self, Big, Item, WrongKind};

/// A value with its expiry, outside any store: it owns its memory and may go to another shard.
#[derive(Clone, Debug)]
pub struct Detached {
    value: Value,
    expiry: Option<i64>,
    /// When it was last used; a value that was never under a key is used when it gets one.
    access: Option<u32>,
}

#[derive(Clone, Debug)]
enum Value {
    Int(i64),
    /// A string's text, or a packed collection; `raw` is the bit that a kind has to itself.
    Bytes {
        kind: Kind,
        bytes: Vec<u8>,
        raw: bool,
    },
    Big(Box<Big>),
}

impl Detached {
    /// The type of the value.
    pub fn kind(&self) -> Kind {
        match &self.value {
            Value::Int(_) => Kind::String,
            Value::Bytes { kind, .. } => *kind,
            Value::Big(big) => big.kind(),
        }
    }

    /// A collection outside any store, which does not expire.
    pub(crate) fn collection(body: OwnBody) -> Detached {
        let value = match body {
            OwnBody::Packed { kind, variant, bytes } => Value::Bytes { kind, bytes, raw: variant },
            OwnBody::Big(big) => Value::Big(Box::new(big)),
        };
        Detached { value, expiry: None, access: None }
    }

    /// A text outside any store, which does not expire. It is "raw", as what is edited in place is.
    pub fn text_of(bytes: Vec<u8>) -> Detached {
        let value = Value::Bytes { kind: Kind::String, bytes, raw: true };
        Detached { value, expiry: None, access: None }
    }

    /// The value to read, if it is a collection of that kind.
    pub(crate) fn slot(&self, kind: Kind) -> Result<Slot<'_>, WrongKind> {
        if self.kind() != kind {
            return Err(WrongKind);
        }
        Ok(match &self.value {
            Value::Int(_) => return Err(WrongKind),
            Value::Bytes { bytes, raw, .. } => Slot::packed(*raw, bytes),
            Value::Big(big) => Slot::big(big),
        })
    }

    /// The same value with another expiry.
    #[must_use]
    pub fn expiring(mut self, expiry: Option<i64>) -> Detached {
        self.expiry = expiry;
        self
    }

    /// Visits all items of a collection; nothing, if it is a string.
    pub fn each_item(&self, visit: &mut dyn FnMut(Item<'_>)) {
        match &self.value {
            Value::Int(_) | Value::Bytes { kind: Kind::String, .. } => {}
            Value::Bytes { kind, bytes, raw } => types::each_packed(*kind, *raw, bytes, visit),
            Value::Big(big) => big.each(visit),
        }
    }

    /// When it expires, in milliseconds since 1970.
    pub fn expiry(&self) -> Option<i64> {
        self.expiry
    }

    /// The value, if it is a string.
    pub fn text(&self) -> Option<Text<'_>> {
        match &self.value {
            Value::Int(value) => Some(Text::Int(*value)),
            Value::Bytes { kind: Kind::String, bytes, .. } => Some(Text::Bytes(bytes)),
            Value::Big(big) => big.text().map(|text| Text::Bytes(text.as_slice())),
            Value::Bytes { .. } => None,
        }
    }

    /// Bytes it takes.
    pub fn memory_bytes(&self) -> usize {
        let owned = match &self.value {
            Value::Int(_) => 0,
            Value::Bytes { bytes, .. } => bytes.capacity(),
            Value::Big(big) => big.memory_bytes(),
        };
        size_of::<Detached>() + owned
    }

    fn new(taken: Taken) -> Detached {
        let Taken { kind, payload, raw, expiry, access } = taken;
        let value = match payload {
            Payload::Int(value) => Value::Int(value),
            Payload::Text(bytes) => Value::Bytes { kind, bytes: bytes.to_vec(), raw },
            Payload::Buffer(bytes) => Value::Bytes { kind, bytes, raw },
            Payload::Big(big) => Value::Big(big),
        };
        Detached { value, expiry, access: Some(access) }
    }

    fn into_taken(self, clock: u32) -> Taken {
        let kind = self.kind();
        let (payload, raw) = match self.value {
            Value::Int(value) => (Payload::Int(value), false),
            Value::Bytes { bytes, raw, .. } => (Payload::Buffer(bytes), raw),
            Value::Big(big) => (Payload::Big(big), false),
        };
        Taken { kind, payload, raw, expiry: self.expiry, access: self.access.unwrap_or(clock) }
    }
}

impl Store {
    /// Takes a value out of the store; its key is gone.
    pub fn detach(&mut self, db: usize, key: Key<'_>, now: i64) -> Option<Detached> {
        let found = self.alive(db, key, now)?;
        self.unlink(db, key.hash, found);
        Some(Detached::new(self.cells.take(found.handle)))
    }

    /// A text as a value that no key has, as it would be under that key.
    pub fn make_text(&mut self, db: usize, key: Key<'_>, text: &[u8], now: i64) -> Option<Detached> {
        // It passes through the store, of which nobody is to hear.
        let notes = std::mem::take(&mut self.expire.notes.created);
        self.set_text(db, key, text, crate::Expiry::None);
        let made = self.detach(db, key, now);
        self.expire.notes.created = notes;
        made
    }

    /// A copy of a value.
    pub fn copy_out(&mut self, db: usize, key: Key<'_>, now: i64) -> Option<Detached> {
        let found = self.present(db, key, now)?;
        let view = self.cells.view(found.handle);
        let payload = match (view.big(), view.text()) {
            (Some(big), _) => Payload::Big(Box::new(big.clone())),
            (None, Text::Int(value)) => Payload::Int(value),
            (None, Text::Bytes(bytes)) => Payload::Buffer(bytes.to_vec()),
        };
        let header = view.header();
        let (kind, raw) = (header.kind(), header.is_raw());
        Some(Detached::new(Taken { kind, payload, raw, expiry: view.expiry(), access: header.access() }))
    }

    /// Puts a value under a key, whatever was there before.
    pub fn attach(&mut self, db: usize, key: Key<'_>, detached: Detached) {
        let taken = detached.into_taken(self.clock);
        self.attach_taken(db, key, taken);
    }

    /// Gives a value another key in the same database, replacing what was there; whether `from` was
    /// there and not expired.
    pub fn rename(&mut self, db: usize, from: Key<'_>, to: Key<'_>, now: i64) -> bool {
        let Some(found) = self.alive(db, from, now) else { return false };
        if from.bytes != to.bytes {
            self.unlink(db, from.hash, found);
            let taken = self.cells.take(found.handle);
            self.attach_taken(db, to, taken);
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

    /// A value was not used by being moved: its access clock comes with it.
    fn attach_taken(&mut self, db: usize, key: Key<'_>, taken: Taken) {
        let Taken { kind, payload, raw, expiry, access } = taken;
        let found = self.tables[db].find(key, &self.cells);
        let volatile = found.is_some_and(|found| self.cells.view(found.handle).header().has_expiry());
        let draft = Draft { key: key.bytes, kind, payload, raw, expiry, access };
        self.put_draft(db, key.hash, found, draft, volatile);
    }
}
