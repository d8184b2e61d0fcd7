//! An entry as its readers see it.

use crate::header::{ACCESS_MASK, Form, Kind};
use crate::text::Text;
use crate::view::View;

/// Longer texts are "raw" where shorter ones are "embstr": Redis's own bound.
const EMBSTR_BYTES_MAX: usize = 44;
/// An entry's share of the table: a tag, a handle, and the room that is usually free.
const SLOT_BYTES: usize = 8;

/// A key and its value, borrowed from the store.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    view: View<'a>,
}

impl<'a> Entry<'a> {
    #[inline]
    pub(crate) fn new(view: View<'a>) -> Entry<'a> {
        Entry { view }
    }

    /// The key.
    #[inline]
    pub fn key(&self) -> &'a [u8] {
        self.view.key()
    }

    /// The type of the value.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.view.header().kind()
    }

    /// When it expires, in milliseconds since 1970.
    #[inline]
    pub fn expiry(&self) -> Option<i64> {
        self.view.expiry()
    }

    /// The value, if it is a string.
    #[inline]
    pub fn text(&self) -> Option<Text<'a>> {
        self.view.header().is_string().then(|| self.view.text())
    }

    /// Bytes of a string's text.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "a value's length: STRLEN, later LLEN and others")]
    pub fn len(&self) -> usize {
        self.view.len()
    }

    /// As OBJECT ENCODING answers it: "int", "embstr" or "raw".
    pub fn encoding(&self) -> &'static str {
        let header = self.view.header();
        match header.form() {
            Form::Int => "int",
            Form::Embedded if !header.is_raw() && header.value_len() <= EMBSTR_BYTES_MAX => "embstr",
            _ => "raw",
        }
    }

    /// Seconds since it was last used, as of `now` (ms); wraps after 194 days.
    pub fn idle_s(&self, now: i64) -> u32 {
        access_clock(now).wrapping_sub(self.view.header().access()) & ACCESS_MASK
    }

    /// The access clock as stored: 24 bits, seconds.
    pub fn access(&self) -> u32 {
        self.view.header().access()
    }

    /// Bytes it takes: its cell, what that owns on the heap, and its share of the table.
    pub fn memory_bytes(&self) -> usize {
        self.view.memory_bytes() + SLOT_BYTES
    }
}

impl std::fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Entry({:?}, {:?}, expiry {:?})", self.key(), self.text(), self.expiry())
    }
}

/// The access clock at a time: seconds, 24 bits.
#[inline]
pub(crate) fn access_clock(now: i64) -> u32 {
    (now.max(0) as u64 / 1000) as u32 & ACCESS_MASK
}
