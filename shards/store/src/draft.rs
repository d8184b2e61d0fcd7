//! Drafts: entries on their way into a cell, and values on their way out. They touch no memory of cells.

use crate::arena::CELL_BYTES_MAX;
use crate::header::{Form, Header, KEY_INLINE_MAX, Kind, WORD};
use crate::shared::{SHARED_BYTES_MIN, SharedText};
use crate::types::Big;

/// A value on its way into a cell.
pub(crate) enum Payload<'a> {
    Int(i64),
    /// Embedded where it fits, else copied to the heap.
    Text(&'a [u8]),
    /// A buffer that moves in (or is embedded where it fits).
    Buffer(Vec<u8>),
    /// A collection that moves in.
    Big(Box<Big>),
}

impl<'a> Payload<'a> {
    /// The same; a large buffer of a string as a text that can be shared.
    pub(crate) fn shared(self, kind: Kind) -> Payload<'a> {
        match self {
            Payload::Buffer(buffer) if kind == Kind::String && buffer.len() >= SHARED_BYTES_MIN => {
                Payload::Big(Box::new(Big::Text(SharedText::whole(buffer))))
            }
            other => other,
        }
    }
}

/// An entry on its way into a cell.
pub(crate) struct Draft<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) kind: Kind,
    pub(crate) payload: Payload<'a>,
    /// A string is shown as "raw" whatever its length: it was edited in place. A collection has the bit
    /// to itself.
    pub(crate) raw: bool,
    pub(crate) expiry: Option<i64>,
    pub(crate) access: u32,
}

impl Draft<'_> {
    fn key_bytes(&self) -> usize {
        if self.key.len() <= KEY_INLINE_MAX { self.key.len() } else { size_of::<Box<[u8]>>() }
    }

    fn form(&self) -> Form {
        let length = match &self.payload {
            Payload::Int(_) => return Form::Int,
            Payload::Big(_) => return Form::Big,
            Payload::Text(bytes) => bytes.len(),
            Payload::Buffer(bytes) => bytes.len(),
        };
        match embeds(self.key_bytes(), self.expiry.is_some(), length) {
            true => Form::Embedded,
            false => Form::Heap,
        }
    }

    pub(crate) fn header(&self) -> Header {
        let form = self.form();
        let value_len = match (&self.payload, form) {
            (Payload::Text(bytes), Form::Embedded) => bytes.len(),
            (Payload::Buffer(bytes), Form::Embedded) => bytes.len(),
            _ => 0,
        };
        let has_expiry = self.expiry.is_some();
        Header::new(self.kind, form, self.raw, has_expiry, self.key.len(), value_len, self.access)
    }
}

/// Whether a value of `length` bytes has room in a cell beside its key.
pub(crate) fn embeds(key_bytes: usize, has_expiry: bool, length: usize) -> bool {
    WORD + usize::from(has_expiry) * WORD + key_bytes + length <= CELL_BYTES_MAX
}

/// An owned value, out of its cell.
pub(crate) struct Taken {
    pub(crate) kind: Kind,
    pub(crate) payload: Payload<'static>,
    pub(crate) raw: bool,
    pub(crate) expiry: Option<i64>,
    pub(crate) access: u32,
}
