//! Reading an entry where it lies. It changes nothing, and knows no handles.

use crate::arena::cell_bytes;
use crate::cells::Cells;
use crate::header::{Form, Header, KEY_LONG, WORD};
use crate::shared::SharedText;
use crate::text::{Content, Text};
use crate::types::Big;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The entry in a cell, to read.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    at: NonNull<u8>,
    life: PhantomData<&'a Cells>,
}

impl<'a> View<'a> {
    /// # Safety
    /// A cell with an entry is there, which nobody changes for as long as `'a`.
    #[inline]
    pub(crate) unsafe fn new(at: NonNull<u8>) -> View<'a> {
        View { at, life: PhantomData }
    }

    #[inline]
    pub(crate) fn header(self) -> Header {
        // SAFETY: every live cell begins with a header; the cells are borrowed for `'a`.
        Header::from_bits(unsafe { self.at.cast::<u64>().read() })
    }

    #[inline]
    pub(crate) fn expiry(self) -> Option<i64> {
        // SAFETY: the header says the expiry is there.
        self.header().has_expiry().then(|| unsafe { self.at.add(WORD).cast::<i64>().read() })
    }

    #[inline]
    pub(crate) fn is_expired(self, now: i64) -> bool {
        self.expiry().is_some_and(|expiry| expiry <= now)
    }

    #[inline]
    pub(crate) fn key(self) -> &'a [u8] {
        let header = self.header();
        if header.key_len() == KEY_LONG {
            // SAFETY: the header says a boxed key is there; it lives as long as its cell.
            unsafe { self.at.add(header.key_at()).cast::<Box<[u8]>>().as_ref() }
        } else {
            self.embedded_key(header)
        }
    }

    /// The key as it lies in the cell that is not boxed.
    #[inline]
    pub(crate) fn embedded_key(self, header: Header) -> &'a [u8] {
        debug_assert!(header.key_len() != KEY_LONG);
        // SAFETY: the header says where the key's bytes are and how many.
        unsafe { std::slice::from_raw_parts(self.at.add(header.key_at()).as_ptr(), header.key_len()) }
    }

    /// The value of a string.
    #[inline]
    pub(crate) fn text(self) -> Text<'a> {
        let header = self.header();
        match header.form() {
            // SAFETY: the header says an integer is there, aligned.
            Form::Int => Text::Int(unsafe { self.at.add(header.value_at()).cast::<i64>().read() }),
            _ => Text::Bytes(self.bytes()),
        }
    }

    /// The value of a string, as it is kept.
    #[inline]
    pub(crate) fn content(self) -> Content<'a> {
        // One question for by far the most, instead of a jump through a table.
        if self.header().form() == Form::Embedded {
            Content::Bytes(self.bytes())
        } else {
            self.content_apart()
        }
    }

    #[inline(never)]
    fn content_apart(self) -> Content<'a> {
        match self.header().form() {
            Form::Big => self.big().and_then(Big::text).map_or(Content::Bytes(&[]), Content::Shared),
            _ => match self.text() {
                Text::Int(value) => Content::Int(value),
                Text::Bytes(bytes) => Content::Bytes(bytes),
            },
        }
    }

    /// The value as the bytes it is kept in; neither an integer nor a big collection has any.
    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        let header = self.header();
        match header.form() {
            Form::Embedded => {
                let (start, length) = (header.size() - header.value_len(), header.value_len());
                // SAFETY: an embedded value is the end of the entry.
                unsafe { std::slice::from_raw_parts(self.at.add(start).as_ptr(), length) }
            }
            Form::Heap => self.buffer(header),
            Form::Big => self.shared_bytes(),
            Form::Int => &[],
        }
    }

    /// The bytes of a large text.
    #[cold]
    fn shared_bytes(self) -> &'a [u8] {
        self.big().and_then(Big::text).map_or(&[], SharedText::as_slice)
    }

    /// The value that is a big collection.
    #[inline]
    pub(crate) fn big(self) -> Option<&'a Big> {
        let header = self.header();
        // SAFETY: a value part of form `Big` is a box of one; it lives as long as its cell.
        (header.form() == Form::Big)
            .then(|| unsafe { &**self.at.add(header.value_at()).cast::<Box<Big>>().as_ref() })
    }

    /// Bytes of a string's text; of a packed collection, its bytes.
    #[inline]
    pub(crate) fn len(self) -> usize {
        let header = self.header();
        match header.form() {
            Form::Embedded => header.value_len(),
            _ => self.text().len(),
        }
    }

    /// Whether the key is boxed, and this one.
    #[cold]
    pub(crate) fn has_long_key(self, key: &[u8]) -> bool {
        self.header().key_len() == KEY_LONG && self.key() == key
    }

    /// Bytes of the cell and of all it owns.
    pub(crate) fn memory_bytes(self) -> usize {
        let header = self.header();
        let long_key = if header.key_len() == KEY_LONG { self.key().len() } else { 0 };
        let owned = match header.form() {
            Form::Heap => self.buffer(header).capacity(),
            _ => self.big().map_or(0, Big::memory_bytes),
        };
        cell_bytes(header.size()) + long_key + owned
    }

    fn buffer(self, header: Header) -> &'a Vec<u8> {
        debug_assert!(header.form() == Form::Heap);
        // SAFETY: a value part of form `Heap` is a buffer; it lives as long as its cell.
        unsafe { self.at.add(header.value_at()).cast::<Vec<u8>>().as_ref() }
    }
}
