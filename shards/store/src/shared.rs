//! Large texts: bytes of a buffer that others may hold too, so that a reply or a copy costs nothing. It
//! does not know who they are.

use std::ops::Range;
use std::sync::Arc;

/// A text of so many bytes is kept in a buffer that can be shared: from here on a copy costs a shard's
/// other clients more than all that sharing needs.
pub const SHARED_BYTES_MIN: usize = if cfg!(feature = "sharing") { 1000 } else { 1024 * 1024 };

/// A text is kept in the buffer it came in if no more than one part in so many of that is something else.
const WASTE_PART: usize = 8;
/// Bytes of a buffer besides its content: counts and a vector.
const BUFFER_BYTES: usize = 16 + size_of::<Vec<u8>>();

/// A large text. Readers share its buffer; whoever changes it gets one of their own, if it is shared.
#[derive(Clone, Debug)]
pub struct SharedText {
    buffer: Arc<Vec<u8>>,
    start: usize,
    len: usize,
}

impl SharedText {
    /// A text in a buffer of its own.
    pub(crate) fn whole(buffer: Vec<u8>) -> SharedText {
        SharedText { start: 0, len: buffer.len(), buffer: Arc::new(buffer) }
    }

    /// The text as a piece of the buffer that it lies in, if it lies in it and is most of it.
    pub(crate) fn within(buffer: &Arc<Vec<u8>>, text: &[u8]) -> Option<SharedText> {
        let place = place_in(buffer, text)?;
        let waste = buffer.capacity() - text.len();
        let kept = waste <= text.len() / WASTE_PART || cfg!(feature = "sharing");
        kept.then(|| SharedText { buffer: buffer.clone(), start: place.start, len: text.len() })
    }

    /// The text.
    pub fn as_slice(&self) -> &[u8] {
        &self.buffer[self.start..self.start + self.len]
    }

    /// The buffer that it lies in.
    pub fn buffer(&self) -> &Arc<Vec<u8>> {
        &self.buffer
    }

    /// Where a piece of the text lies in the buffer.
    pub fn range_of(&self, piece: &[u8]) -> Option<Range<usize>> {
        place_in(&self.buffer, piece)
    }

    /// Bytes on the heap. What is shared counts with each who holds it.
    pub(crate) fn memory_bytes(&self) -> usize {
        BUFFER_BYTES + self.buffer.capacity()
    }

    /// The text to change: of `len` bytes by `fit`, which gets the buffer, what lies in it before the text,
    /// and the length that the text is to have. A shared buffer is copied first.
    pub(crate) fn resize(&mut self, len: usize, room: fn(&mut Vec<u8>, usize)) {
        let kept = len.min(self.len);
        self.with_room(len, room);
        let end = self.start + kept;
        let start = self.start;
        let buffer = self.own();
        buffer.truncate(end);
        buffer.resize(start + len, 0);
        self.len = len;
    }

    /// Adds to the end of the text.
    pub(crate) fn append(&mut self, bytes: &[u8], room: fn(&mut Vec<u8>, usize)) {
        let len = self.len + bytes.len();
        self.with_room(len, room);
        let end = self.start + self.len;
        let buffer = self.own();
        buffer.truncate(end);
        buffer.extend_from_slice(bytes);
        self.len = len;
    }

    /// The text's bytes, to change.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        let (start, end) = (self.start, self.start + self.len);
        &mut self.own()[start..end]
    }

    /// The buffer, if nobody else has it.
    pub(crate) fn into_buffer(self) -> Option<Vec<u8>> {
        Arc::into_inner(self.buffer)
    }

    /// Makes the buffer ours alone, with room for a text of `len` bytes.
    fn with_room(&mut self, len: usize, room: fn(&mut Vec<u8>, usize)) {
        let start = self.start;
        match Arc::get_mut(&mut self.buffer) {
            Some(buffer) => room(buffer, start + len),
            None => self.copy(len, room),
        }
    }

    /// The buffer, ours alone.
    fn own(&mut self) -> &mut Vec<u8> {
        if Arc::get_mut(&mut self.buffer).is_none() {
            self.copy(self.len, |_, _| {});
        }
        Arc::get_mut(&mut self.buffer).expect("it was made ours")
    }

    fn copy(&mut self, len: usize, room: fn(&mut Vec<u8>, usize)) {
        let mut copy = Vec::new();
        room(&mut copy, len.max(self.len));
        copy.extend_from_slice(self.as_slice());
        (self.start, self.buffer) = (0, Arc::new(copy));
    }
}

/// Where a piece lies in a buffer, if it does.
fn place_in(buffer: &[u8], piece: &[u8]) -> Option<Range<usize>> {
    let (whole, part) = (buffer.as_ptr_range(), piece.as_ptr_range());
    let inside = whole.start <= part.start && part.end <= whole.end;
    let start = (part.start as usize).wrapping_sub(whole.start as usize);
    inside.then(|| start..start + piece.len())
}
