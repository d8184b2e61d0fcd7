//! Strings: setting, appending, editing in place, counting.

use crate::arena::Handle;
use crate::draft::{Draft, Payload};
use crate::frequency;
use crate::hash::Key;
use crate::header::{Form, Kind};
use crate::segment::Found;
use crate::shared::{SHARED_BYTES_MIN, SharedText};
use crate::store::{Expiry, Store};
use crate::text::{Text, canonical_int};
use crate::types::Big;
use std::sync::Arc;

/// Why a value cannot be counted up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IncrementFault {
    /// It is not a string.
    WrongKind,
    /// It is not an integer in its canonical form, or out of range.
    NotAnInteger,
    /// The sum would be out of range.
    Overflow,
}

impl Store {
    /// Sets a key to a text, whatever it was before. A text that is an integer's canonical form
    /// becomes that integer. Writes count as use at the last time given to any other call, so
    /// [`Store::expire_slice`] once a tick keeps the access clock going.
    #[inline]
    pub fn set_text(&mut self, db: usize, key: Key<'_>, text: &[u8], expiry: Expiry) {
        let payload = canonical_int(text).map_or(Payload::Text(text), Payload::Int);
        self.put(db, key, payload, false, expiry);
    }

    /// As [`Store::set_text`], but the bytes stay bytes whatever they look like.
    pub fn set_bytes(&mut self, db: usize, key: Key<'_>, bytes: &[u8], expiry: Expiry) {
        self.put(db, key, Payload::Text(bytes), false, expiry);
    }

    /// Large texts that are set from now on may lie in this buffer: those that are most of it are kept in it
    /// instead of being copied. Until [`Store::end_loan`].
    pub fn lend(&mut self, buffer: Arc<Vec<u8>>) {
        self.lender = Some(buffer);
    }

    /// Ends what [`Store::lend`] began; answers the buffer.
    pub fn end_loan(&mut self) -> Option<Arc<Vec<u8>>> {
        self.lender.take()
    }

    /// The buffer that is lent now.
    pub fn lent(&self) -> Option<&Arc<Vec<u8>>> {
        self.lender.as_ref()
    }

    /// Sets a key to an integer, whatever it was before.
    pub fn set_int(&mut self, db: usize, key: Key<'_>, value: i64, expiry: Expiry) {
        self.put(db, key, Payload::Int(value), false, expiry);
    }

    /// Adds to an integer, 0 where the key is not there; answers the sum. The expiry stays.
    pub fn increment(
        &mut self,
        db: usize,
        key: Key<'_>,
        delta: i64,
        now: i64,
    ) -> Result<i64, IncrementFault> {
        let Some(found) = self.alive(db, key, now) else {
            self.put(db, key, Payload::Int(delta), false, Expiry::None);
            return Ok(delta);
        };
        let view = self.cells.view(found.handle);
        let header = view.header();
        if header.kind() != Kind::String {
            return Err(IncrementFault::WrongKind);
        }
        let old = match view.text() {
            Text::Int(value) => value,
            Text::Bytes(bytes) => canonical_int(bytes).ok_or(IncrementFault::NotAnInteger)?,
        };
        let sum = old.checked_add(delta).ok_or(IncrementFault::Overflow)?;
        if header.form() == Form::Int {
            self.cells.set_int(found.handle, sum);
            self.cells.touch(found.handle, self.clock);
        } else {
            self.put(db, key, Payload::Int(sum), false, Expiry::Keep);
        }
        Ok(sum)
    }

    /// Appends to a string, or sets it where the key is not there; answers its new length. The key
    /// must not be of another kind; the expiry stays.
    pub fn append(&mut self, db: usize, key: Key<'_>, bytes: &[u8]) -> usize {
        let Some(found) = self.tables[db].find(key, &self.cells) else {
            self.set_text(db, key, bytes, Expiry::None);
            return bytes.len();
        };
        let handle = self.cells.append_text(found.handle, bytes);
        self.edited(db, key, found, handle)
    }

    /// Writes over part of a string, which is padded with zeros up to there; answers its new length.
    /// The key must not be of another kind; the expiry stays. Nothing is done where `bytes` is empty.
    pub fn write_range(&mut self, db: usize, key: Key<'_>, offset: usize, bytes: &[u8]) -> usize {
        let found = self.tables[db].find(key, &self.cells);
        if bytes.is_empty() {
            return found.map_or(0, |found| self.cells.view(found.handle).len());
        }
        let end = offset + bytes.len();
        let Some(found) = found else {
            let mut buffer = vec![0; end];
            buffer[offset..].copy_from_slice(bytes);
            self.put(db, key, Payload::Buffer(buffer).shared(Kind::String), true, Expiry::None);
            return end;
        };
        let length = end.max(self.cells.view(found.handle).len());
        let handle = self.cells.resize_text(found.handle, length);
        self.cells.value_mut(handle)[offset..end].copy_from_slice(bytes);
        self.edited(db, key, found, handle)
    }

    /// Gives a string `length` bytes (at least one), cut or followed by zeros, and lets `edit` change them; a
    /// key that is not there becomes such a string. It must not be of another kind; the expiry stays.
    pub fn edit_text<R>(
        &mut self,
        db: usize,
        key: Key<'_>,
        length: usize,
        edit: impl FnOnce(&mut [u8]) -> R,
    ) -> R {
        assert!(length > 0, "an empty string has nothing to edit");
        if self.tables[db].find(key, &self.cells).is_none() {
            self.write_range(db, key, length - 1, &[0]);
        }
        let found = self.tables[db].find(key, &self.cells).expect("it is there by now");
        let handle = self.cells.resize_text(found.handle, length);
        let answer = edit(self.cells.value_mut(handle));
        self.edited(db, key, found, handle);
        answer
    }

    /// A string was edited: notes its new handle; answers its length. That it is used was noted when it was
    /// looked at.
    fn edited(&mut self, db: usize, key: Key<'_>, found: Found, handle: Handle) -> usize {
        if handle != found.handle {
            self.tables[db].set_handle(key.hash, found.place, handle);
        }
        self.cells.view(handle).len()
    }

    /// A large text where it lies, if it was lent; else a copy.
    #[cold]
    fn large(&self, text: &[u8]) -> Payload<'static> {
        let lent = self.lender.as_ref().and_then(|buffer| SharedText::within(buffer, text));
        let shared = lent.unwrap_or_else(|| SharedText::whole(text.to_vec()));
        Payload::Big(Box::new(Big::Text(shared)))
    }

    /// Sets a key, whatever it was before.
    #[inline]
    pub(crate) fn put(&mut self, db: usize, key: Key<'_>, payload: Payload<'_>, raw: bool, expiry: Expiry) {
        if frequency::is_clock(self.clock) {
            return self.put_counted(db, key, payload, raw, expiry);
        }
        let found = self.tables[db].find(key, &self.cells);
        let before = found.and_then(|found| self.cells.view(found.handle).expiry());
        let expiry = match expiry {
            Expiry::None => None,
            Expiry::Keep => before,
            Expiry::At(time) => Some(time),
        };
        let access = self.clock;
        if let Some(found) = found
            && !raw
            && self.cells.overwrite_in_place(found.handle, &payload, expiry, access)
        {
            return;
        }
        let draft = Draft { key: key.bytes, kind: Kind::String, payload, raw, expiry, access };
        self.put_draft(db, key.hash, found, draft, before.is_some());
    }

    /// The same where uses are counted: to be overwritten is one more.
    #[cold]
    #[inline(never)]
    fn put_counted(&mut self, db: usize, key: Key<'_>, payload: Payload<'_>, raw: bool, expiry: Expiry) {
        let found = self.tables[db].find(key, &self.cells);
        let before = found.and_then(|found| self.cells.view(found.handle).expiry());
        let access = found.map_or(self.clock, |found| {
            let header = self.cells.view(found.handle).header();
            self.cells.used(header, self.clock)
        });
        let expiry = match expiry {
            Expiry::None => None,
            Expiry::Keep => before,
            Expiry::At(time) => Some(time),
        };
        let draft = Draft { key: key.bytes, kind: Kind::String, payload, raw, expiry, access };
        self.put_draft(db, key.hash, found, draft, before.is_some());
    }

    #[inline(never)]
    pub(crate) fn put_draft(
        &mut self,
        db: usize,
        hash: u64,
        found: Option<Found>,
        mut draft: Draft<'_>,
        volatile: bool,
    ) {
        if let Payload::Text(text) = draft.payload
            && text.len() >= SHARED_BYTES_MIN
        {
            draft.payload = self.large(text);
        }
        if let Some(found) = found {
            self.unlist_due(db, found.handle);
            let handle = self.cells.overwrite(found.handle, draft);
            self.put_back(db, hash, found, handle, volatile);
            self.list_due(db, handle);
        } else {
            let handle = self.cells.write(draft);
            self.link(db, hash, handle);
        }
    }
}
