//! Replies of one connection that found no chunk, oldest first, in pieces: memory is given back as they
//! are sent, and what was handed over whole is not copied. Knows no wire.

use resp::Shared;
use std::collections::VecDeque;
use std::sync::Arc;

/// Small replies are gathered in pieces of this size.
const PIECE_BYTES: usize = 64 * 1024;

/// A buffer of this size is not freed in one go.
const LARGE_BYTES: usize = 256 * 1024;

#[derive(Debug)]
enum Piece {
    Own(Vec<u8>),
    Shared(Shared),
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match self {
            Piece::Own(bytes) => bytes,
            Piece::Shared(shared) => shared.as_slice(),
        }
    }

    /// Its buffer, if that is large.
    fn spent(self) -> Option<Arc<Vec<u8>>> {
        match self {
            Piece::Own(bytes) => (bytes.capacity() >= LARGE_BYTES).then(|| Arc::new(bytes)),
            Piece::Shared(shared) => Some(shared.into_buffer()),
        }
    }
}

/// Bytes that wait to be sent.
#[derive(Default, Debug)]
pub(crate) struct Backlog {
    pieces: VecDeque<Piece>,
    /// Bytes of the first piece that were sent already.
    sent: usize,
    bytes: usize,
}

impl Backlog {
    /// How many bytes wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// Nothing waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Adds a copy of these bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        if let Some(Piece::Own(last)) = self.pieces.back_mut()
            && last.capacity() - last.len() >= bytes.len()
        {
            return last.extend_from_slice(bytes);
        }
        let mut piece = Vec::with_capacity(bytes.len().max(PIECE_BYTES));
        piece.extend_from_slice(bytes);
        self.pieces.push_back(Piece::Own(piece));
    }

    /// Adds these bytes themselves.
    pub(crate) fn push_whole(&mut self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.bytes += bytes.len();
            self.pieces.push_back(Piece::Own(bytes));
        }
    }

    /// Adds bytes that others hold too.
    pub(crate) fn push_shared(&mut self, shared: Shared) {
        if !shared.is_empty() {
            self.bytes += shared.len();
            self.pieces.push_back(Piece::Shared(shared));
        }
    }

    /// The oldest bytes, not all of them.
    pub(crate) fn front(&self) -> &[u8] {
        self.pieces.front().map_or(&[], |piece| &piece.bytes()[self.sent..])
    }

    /// So many of the oldest bytes, no more than `front` showed, are on their way. Answers a large buffer
    /// that is done with.
    #[must_use = "a large buffer is freed in slices"]
    pub(crate) fn consume(&mut self, count: usize) -> Option<Arc<Vec<u8>>> {
        self.sent += count;
        self.bytes -= count;
        let mut done = None;
        if self.pieces.front().is_some_and(|piece| piece.bytes().len() == self.sent) {
            done = self.pieces.pop_front();
            self.sent = 0;
        }
        if self.pieces.is_empty() {
            self.pieces = VecDeque::new();
        }
        done.and_then(Piece::spent)
    }

    /// Drops everything; answers large buffers, which are freed in slices.
    pub(crate) fn clear(&mut self) -> impl Iterator<Item = Arc<Vec<u8>>> + use<> {
        std::mem::take(self).pieces.into_iter().filter_map(Piece::spent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in_however_they_are_taken() {
        for step in [1, 7, 1000, 70_000] {
            let (mut backlog, mut said, mut heard) = (Backlog::default(), Vec::new(), Vec::new());
            for round in 0..40usize {
                let bytes: Vec<u8> = (0..round * 997 % 5000).map(|place| (place + round) as u8).collect();
                said.extend_from_slice(&bytes);
                match round % 3 {
                    0 if round % 2 == 0 => backlog.push_whole(bytes),
                    0 => {
                        let (end, buffer) = (bytes.len() + 3, Arc::new([b"...", &bytes[..], b"."].concat()));
                        backlog.push_shared(Shared::new(buffer, 3..end));
                    }
                    _ => backlog.push(&bytes),
                }
                let front = backlog.front();
                let taken = front.len().min(step);
                heard.extend_from_slice(&front[..taken]);
                drop(backlog.consume(taken));
                assert_eq!(backlog.len(), said.len() - heard.len());
            }
            while !backlog.is_empty() {
                let front = backlog.front();
                let taken = front.len().min(step);
                heard.extend_from_slice(&front[..taken]);
                drop(backlog.consume(taken));
            }
            assert!(said == heard && backlog.front().is_empty());
        }
    }

    #[test]
    fn a_reader_that_never_quite_catches_up_costs_no_memory() {
        let mut backlog = Backlog::default();
        for _ in 0..10_000 {
            backlog.push(&[7; 1000]);
            if backlog.len() > 3000 {
                let taken = backlog.front().len().min(1000);
                assert!(backlog.consume(taken).is_none());
            }
        }
        assert!(
            backlog.pieces.iter().map(|piece| piece.bytes().len().max(PIECE_BYTES)).sum::<usize>()
                <= 8 * PIECE_BYTES
        );
    }
    #[test]
    fn who_holds_a_large_buffer_gets_it_back_when_it_is_sent_or_dropped() {
        let large = Arc::new(vec![7; 3 * LARGE_BYTES]);
        for sends in [true, false] {
            let mut backlog = Backlog::default();
            backlog.push(b"head");
            backlog.push_shared(Shared::new(large.clone(), 10..2 * LARGE_BYTES));
            backlog.push(b"end");
            assert_eq!(backlog.len(), 7 + 2 * LARGE_BYTES - 10);
            let mut back = Vec::new();
            while sends && !backlog.is_empty() {
                let taken = backlog.front().len().min(100_000);
                back.extend(backlog.consume(taken));
            }
            back.extend(backlog.clear());
            assert!(backlog.is_empty() && back.len() == 1 && Arc::ptr_eq(&back[0], &large));
        }
        assert_eq!(Arc::strong_count(&large), 1);
    }
}
