//! An entry as its readers see it.

use crate::frequency;
use crate::header::{ACCESS_MASK, Form, Kind};
use crate::text::{Content, Text};
use crate::types::slot::Slot;
use crate::types::{self, Item, WrongKind};
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

    /// The value as it is kept, if it is a string.
    #[inline]
    pub fn content(&self) -> Option<Content<'a>> {
        self.view.header().is_string().then(|| self.view.content())
    }

    /// Bytes of a string's text.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "a text's length, not a collection's")]
    pub fn len(&self) -> usize {
        self.view.len()
    }

    /// The value to read, if it is a collection of that kind.
    #[inline]
    pub(crate) fn slot(&self, kind: Kind) -> Result<Slot<'a>, WrongKind> {
        Slot::of(self.view, kind)
    }

    /// Visits all items of a collection; nothing, if it is a string.
    pub fn each_item(&self, visit: &mut dyn FnMut(Item<'_>)) {
        let header = self.view.header();
        match self.view.big() {
            Some(big) => big.each(visit),
            None if header.is_string() => {}
            None => types::each_packed(header.kind(), header.is_raw(), self.view.bytes(), visit),
        }
    }

    /// As OBJECT ENCODING of Redis 7.0 answers it.
    pub fn encoding(&self) -> &'static str {
        let header = self.view.header();
        let big = header.form() == Form::Big;
        match header.kind() {
            Kind::String => match header.form() {
                Form::Int => "int",
                Form::Embedded if !header.is_raw() && header.value_len() <= EMBSTR_BYTES_MAX => "embstr",
                _ => "raw",
            },
            Kind::List => "quicklist",
            // Redis 7.0 has no small form for members that are no integers.
            Kind::Set if !big && header.is_raw() => "intset",
            Kind::Set => "hashtable",
            Kind::Hash if big => "hashtable",
            Kind::SortedSet if big => "skiplist",
            Kind::Hash | Kind::SortedSet => "listpack",
            Kind::Stream => "stream",
        }
    }

    /// Seconds since it was last used, as of `now` (ms); wraps after 194 days.
    pub fn idle_s(&self, now: i64) -> u32 {
        access_clock(now).wrapping_sub(self.view.header().access()) & ACCESS_MASK
    }

    /// How often it was used, as of `now` (ms), where that is noted: the logarithmic counter.
    pub fn frequency(&self, now: i64, decay_minutes: u32) -> u32 {
        frequency::counter(self.access(), now, decay_minutes)
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
