//! Frames parsed ahead of execution: arguments as spans, commands looked up, keys hashed and their
//! buckets fetched, so that the memory is there when they run.

use commands::Args;
use resp::Span;

/// A frame that is no known command.
pub(crate) const UNKNOWN: u16 = u16::MAX;

/// One parsed frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Catalog number, or [`UNKNOWN`].
    pub number: u16,
    /// Owner of its single key; this shard where it has none.
    pub owner: u16,
    /// First span.
    pub first: u32,
    /// How many spans.
    pub count: u32,
    /// Where it starts in the input.
    pub start: u32,
    /// Hash of its single key.
    pub hash: u64,
}

impl Frame {
    /// A frame with nothing known of it yet but its place.
    #[inline]
    pub(crate) fn new(first: u32, count: u32, start: u32) -> Frame {
        Frame { number: UNKNOWN, owner: 0, first, count, start, hash: 0 }
    }
}

/// Frames parsed ahead.
#[derive(Default, Debug)]
pub(crate) struct Batch {
    pub frames: Vec<Frame>,
    pub spans: Vec<Span>,
}

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.spans.clear();
        // A frame of a million arguments must not keep its memory for ever.
        if self.spans.capacity() > 64 * 1024 {
            self.spans = Vec::new();
        }
    }

    /// The arguments of a frame.
    #[inline]
    pub(crate) fn args_of<'a>(&'a self, bytes: &'a [u8], frame: &Frame) -> Args<'a> {
        Args::new(bytes, self.spans_of(frame))
    }

    /// The spans of a frame.
    #[inline]
    pub(crate) fn spans_of(&self, frame: &Frame) -> &[Span] {
        &self.spans[frame.first as usize..][..frame.count as usize]
    }
}
