//! Slots: a key's place in the store, to read or change the collection there. A slot keeps the table, the
//! counts of bytes and the cell in order while a collection grows, shrinks and goes; what the bytes or the
//! structure mean is known to each kind's own file.

use super::{Big, WrongKind};
use crate::draft::{Draft, Payload};
use crate::hash::{Hasher, Key};
use crate::header::Kind;
use crate::segment::Found;
use crate::store::Store;
use crate::view::View;
use std::ops::Range;

/// The value of a collection.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    /// The bytes of a small one; of a key that is not there, none.
    Packed(&'a [u8]),
    Big(&'a Big),
}

/// A collection that belongs to no store.
pub(crate) enum OwnBody {
    Packed { kind: Kind, variant: bool, bytes: Vec<u8> },
    Big(Big),
}

/// A collection to read.
///
/// `variant` is a bit that each kind has to itself, for telling apart two packed forms of its own.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'a> {
    body: Body<'a>,
    variant: bool,
}

impl<'a> Slot<'a> {
    /// The collection of an entry, if it is of that kind.
    #[inline]
    pub(crate) fn of(view: View<'a>, kind: Kind) -> Result<Slot<'a>, WrongKind> {
        let header = view.header();
        if header.kind() != kind {
            return Err(WrongKind);
        }
        Ok(match view.big() {
            Some(big) => Slot::big(big),
            None => Slot::packed(header.is_raw(), view.bytes()),
        })
    }

    #[inline]
    pub(crate) fn packed(variant: bool, bytes: &'a [u8]) -> Slot<'a> {
        Slot { body: Body::Packed(bytes), variant }
    }

    #[inline]
    pub(crate) fn big(big: &'a Big) -> Slot<'a> {
        Slot { body: Body::Big(big), variant: false }
    }

    #[inline]
    pub(crate) fn body(&self) -> Body<'a> {
        self.body
    }

    #[inline]
    pub(crate) fn variant(&self) -> bool {
        self.variant
    }
}

/// A collection to change. When it is dropped, a collection without elements has removed its key.
pub(crate) struct SlotMut<'a> {
    store: &'a mut Store,
    db: usize,
    key: Key<'a>,
    kind: Kind,
    /// `None` while the key is not there.
    found: Option<Found>,
    /// Bytes of the big collection when it was last counted, once it was lent to be changed.
    counted: Option<usize>,
}

impl Store {
    /// The collection of a key, noted as used now: to change it.
    #[inline]
    pub(crate) fn slot_mut<'a>(
        &'a mut self,
        db: usize,
        key: Key<'a>,
        kind: Kind,
        now: i64,
    ) -> Result<Option<SlotMut<'a>>, WrongKind> {
        let Some(found) = self.alive(db, key, now) else { return Ok(None) };
        if self.cells.view(found.handle).header().kind() != kind {
            return Err(WrongKind);
        }
        self.cells.touch(found.handle, self.clock);
        Ok(Some(SlotMut { store: self, db, key, kind, found: Some(found), counted: None }))
    }

    /// The same, or one that makes the key with its first bytes.
    #[inline]
    pub(crate) fn slot_or_new<'a>(
        &'a mut self,
        db: usize,
        key: Key<'a>,
        kind: Kind,
        now: i64,
    ) -> Result<SlotMut<'a>, WrongKind> {
        let found = self.alive(db, key, now);
        if let Some(found) = found {
            if self.cells.view(found.handle).header().kind() != kind {
                return Err(WrongKind);
            }
            self.cells.touch(found.handle, self.clock);
        }
        Ok(SlotMut { store: self, db, key, kind, found, counted: None })
    }
}

impl SlotMut<'_> {
    /// Whether the key is not there (yet).
    pub(crate) fn is_vacant(&self) -> bool {
        self.found.is_none()
    }

    /// The collection as it is.
    #[inline]
    pub(crate) fn body(&self) -> Body<'_> {
        match self.found {
            None => Body::Packed(&[]),
            Some(found) => {
                let view = self.store.cells.view(found.handle);
                view.big().map_or_else(|| Body::Packed(view.bytes()), Body::Big)
            }
        }
    }

    /// The bit that the kind has to itself; not set in a new key.
    #[inline]
    pub(crate) fn variant(&self) -> bool {
        self.found.is_some_and(|found| self.store.cells.view(found.handle).header().is_raw())
    }

    /// Writes `bytes` over a range of the packed bytes, which may grow or shrink by that.
    pub(crate) fn splice(&mut self, range: Range<usize>, bytes: &[u8]) {
        let Some(found) = self.found else {
            assert!(range.end == 0, "a new collection has no bytes");
            return self.put(Payload::Text(bytes), false);
        };
        let cells = &mut self.store.cells;
        let before = cells.view(found.handle).len();
        let after = before - range.len() + bytes.len();
        let (old_end, new_end) = (range.end, range.start + bytes.len());
        let mut handle = found.handle;
        if after > before {
            handle = cells.resize_packed(handle, after);
        }
        let packed = cells.value_mut(handle);
        packed.copy_within(old_end..before, new_end);
        packed[range.start..new_end].copy_from_slice(bytes);
        if after < before {
            handle = cells.resize_packed(handle, after);
            handle = cells.settle_packed(handle);
        }
        self.moved(handle);
    }

    /// The same with what `write` appends to an empty buffer.
    pub(crate) fn splice_with(&mut self, range: Range<usize>, write: impl FnOnce(&mut Vec<u8>)) {
        let mut scratch = self.take_scratch();
        write(&mut scratch);
        self.splice(range, &scratch);
        self.give_scratch(scratch);
    }

    /// An empty buffer for packing items, to be given back.
    pub(crate) fn take_scratch(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.store.scratch)
    }

    pub(crate) fn give_scratch(&mut self, mut scratch: Vec<u8>) {
        const KEPT_BYTES_MAX: usize = 64 * 1024;
        scratch.clear();
        scratch.shrink_to(KEPT_BYTES_MAX);
        self.store.scratch = scratch;
    }

    /// The packed bytes, to change without moving any.
    pub(crate) fn packed_mut(&mut self) -> &mut [u8] {
        match self.found {
            Some(found) => self.store.cells.value_mut(found.handle),
            None => &mut [],
        }
    }

    /// Puts packed bytes in place of whatever is there.
    pub(crate) fn become_packed(&mut self, bytes: &[u8], variant: bool) {
        self.put(Payload::Text(bytes), variant);
    }

    /// Puts a big collection in place of whatever is there.
    pub(crate) fn become_big(&mut self, big: Big) {
        debug_assert!(big.kind() == self.kind);
        self.store.counters.grown += 1;
        self.put(Payload::Big(Box::new(big)), false);
    }

    /// The big collection, to change.
    #[inline]
    pub(crate) fn big_mut(&mut self) -> &mut Big {
        let found = self.found.expect("a new collection is not big");
        let big = self.store.cells.big_mut(found.handle);
        if self.counted.is_none() {
            self.counted = Some(big.memory_bytes());
        }
        big
    }

    /// The big collection, to change, and the hasher of its elements.
    #[inline]
    pub(crate) fn big_and_hasher(&mut self) -> (&mut Big, &Hasher) {
        self.big_mut();
        let found = self.found.expect("looked at just now");
        (self.store.cells.big_mut(found.handle), &self.store.hasher)
    }

    /// Lists a hash by the time at which its first field expires.
    pub(crate) fn list_due(&mut self) {
        let found = self.found.expect("a new collection has no fields");
        self.store.list_due(self.db, found.handle);
    }

    /// Counts fields whose time had come on the way here.
    pub(crate) fn met_fields(&mut self, fields: usize) {
        self.store.counters.met_fields += fields as u64;
    }

    /// The hasher of elements.
    #[inline]
    pub(crate) fn hasher(&self) -> &Hasher {
        &self.store.hasher
    }

    /// Writes the entry anew; its key and expiry stay.
    #[inline(never)]
    fn put(&mut self, payload: Payload<'_>, variant: bool) {
        self.count();
        let access = self.store.clock;
        let view = self.found.map(|found| self.store.cells.view(found.handle));
        let expiry = view.and_then(View::expiry);
        let draft = Draft { key: self.key.bytes, kind: self.kind, payload, raw: variant, expiry, access };
        if let Some(found) = self.found {
            let handle = self.store.cells.overwrite(found.handle, draft);
            self.moved(handle);
        } else {
            let handle = self.store.cells.write(draft);
            self.store.link(self.db, self.key.hash, handle);
            // Making room for it may have moved others, but it is there.
            self.found = Some(self.store.tables[self.db].find_handle(self.key.hash, handle));
        }
    }

    /// Notes where the entry is now.
    #[inline]
    fn moved(&mut self, handle: crate::arena::Handle) {
        let found = self.found.as_mut().expect("it was there to be moved");
        if found.handle != handle {
            found.handle = handle;
            self.store.tables[self.db].set_handle(self.key.hash, found.place, handle);
        }
    }

    /// Counts what the big collection has gained or lost.
    #[inline]
    fn count(&mut self) {
        if let (Some(found), Some(before)) = (self.found, self.counted.take()) {
            let after = self.store.cells.big_mut(found.handle).memory_bytes();
            self.store.cells.resized(before, after);
        }
    }
}

impl Drop for SlotMut<'_> {
    #[inline]
    fn drop(&mut self) {
        self.count();
        let Some(found) = self.found else { return };
        let view = self.store.cells.view(found.handle);
        let empty = match view.big() {
            Some(big) => big.len() == 0,
            None => view.len() == 0,
        };
        if empty {
            self.store.unlink(self.db, self.key.hash, found);
            self.store.cells.free(found.handle);
        }
    }
}
