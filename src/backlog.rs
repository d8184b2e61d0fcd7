//! Replies of one connection that found no chunk, oldest first, in pieces: memory is given back as they
//! are sent, and what was handed over whole is not copied. Knows no wire.

use std::collections::VecDeque;

/// Small replies are gathered in pieces of this size.
const PIECE_BYTES: usize = 64 * 1024;

/// Bytes that wait to be sent.
#[derive(Default, Debug)]
pub(crate) struct Backlog {
    pieces: VecDeque<Vec<u8>>,
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
        if let Some(last) = self.pieces.back_mut()
            && last.capacity() - last.len() >= bytes.len()
        {
            return last.extend_from_slice(bytes);
        }
        let mut piece = Vec::with_capacity(bytes.len().max(PIECE_BYTES));
        piece.extend_from_slice(bytes);
        self.pieces.push_back(piece);
    }

    /// Adds these bytes themselves.
    pub(crate) fn push_whole(&mut self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.bytes += bytes.len();
            self.pieces.push_back(bytes);
        }
    }

    /// The oldest bytes, not all of them.
    pub(crate) fn front(&self) -> &[u8] {
        self.pieces.front().map_or(&[], |piece| &piece[self.sent..])
    }

    /// So many of the oldest bytes, no more than `front` showed, are on their way.
    pub(crate) fn consume(&mut self, count: usize) {
        self.sent += count;
        self.bytes -= count;
        if self.pieces.front().is_some_and(|piece| piece.len() == self.sent) {
            self.pieces.pop_front();
            self.sent = 0;
        }
        if self.pieces.is_empty() {
            self.pieces = VecDeque::new();
        }
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
                    0 => backlog.push_whole(bytes),
                    _ => backlog.push(&bytes),
                }
                let front = backlog.front();
                let taken = front.len().min(step);
                heard.extend_from_slice(&front[..taken]);
                backlog.consume(taken);
                assert_eq!(backlog.len(), said.len() - heard.len());
            }
            while !backlog.is_empty() {
                let front = backlog.front();
                let taken = front.len().min(step);
                heard.extend_from_slice(&front[..taken]);
                backlog.consume(taken);
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
                backlog.consume(taken);
            }
        }
        assert!(backlog.pieces.iter().map(Vec::capacity).sum::<usize>() <= 8 * PIECE_BYTES);
    }
}
