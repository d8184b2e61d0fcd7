//! Lending chunks for sending: a bound per link, a bound per poller, and whom to tell when there is
//! room again. Shared by the drivers that keep unsent chunks themselves; knows nothing of wires.

use crate::{Chunk, ChunkPool, LinkId};
use std::collections::VecDeque;

/// The chunks a link has submitted and the wire has not taken yet, oldest first.
#[derive(Debug, Default)]
pub struct SendQueue {
    chunks: VecDeque<Chunk>,
    refused: Refused,
    /// It is on the lender's list.
    listed: bool,
    /// It is on the lender's list of those whose queue has emptied.
    entitled: bool,
    /// It was lent a chunk beyond the bound over all, and has not been empty since.
    beyond: bool,
}

/// What a link waits for since its last refused lease.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Refused {
    /// Nothing.
    #[default]
    Not,
    /// For half of its own queue to empty.
    QueueFull,
    /// For its turn on the lender's list, or for its own queue to empty.
    PoolEmpty,
}

/// A link whose turn it is to be told `Writable`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Which; it may have ended since.
    pub link: LinkId,
    /// Its queue has emptied: it is told whatever others hold.
    entitled: bool,
}

impl SendQueue {
    /// Adds a chunk at the end.
    pub fn push(&mut self, chunk: Chunk) {
        self.chunks.push_back(chunk);
    }

    /// Nothing is unsent.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// How many chunks are unsent.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// The unsent bytes, chunk by chunk.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.chunks.iter().map(Chunk::filled)
    }

    /// The oldest unsent bytes.
    pub fn front(&self) -> Option<&[u8]> {
        self.chunks.front().map(Chunk::filled)
    }

    /// The link's turn has come. Returns whether it is to be told `Writable`: it may have been already.
    pub fn take_turn(&mut self, turn: Turn) -> bool {
        if turn.entitled {
            self.entitled = false;
        } else {
            self.listed = false;
        }
        std::mem::take(&mut self.refused) != Refused::Not
    }
}

/// Lends chunks up to a bound per link and one over all, and keeps the list of links to be told. A link
/// with nothing unsent always gets one chunk: peers that do not read may hold all the others for ever,
/// and must not keep anybody else waiting.
#[derive(Debug)]
pub struct Lender {
    pool: ChunkPool,
    chunks_per_link: usize,
    list: VecDeque<LinkId>,
    entitled: VecDeque<LinkId>,
    refused: u64,
}

impl Lender {
    /// Marks lent chunks, so that `recycle` can tell them from received ones.
    pub const TAG: u32 = u32::MAX - 1;

    /// Lends `chunks` of `chunk_bytes`, at most `chunks_per_link` of them unsent per link.
    pub fn new(chunk_bytes: usize, chunks: usize, chunks_per_link: usize) -> Lender {
        let chunks_per_link = chunks_per_link.max(1);
        Lender {
            pool: ChunkPool::new(chunk_bytes, chunks.max(1)),
            chunks_per_link,
            list: VecDeque::new(),
            entitled: VecDeque::new(),
            refused: 0,
        }
    }

    /// An empty chunk, unless the link has too many unsent or all are lent.
    pub fn lease(&mut self, link: LinkId, queue: &mut SendQueue) -> Option<Chunk> {
        if queue.chunks.len() >= self.chunks_per_link {
            self.refused += 1;
            if queue.refused == Refused::Not {
                queue.refused = Refused::QueueFull;
            }
            return None;
        }
        let mut chunk = match self.pool.take() {
            Some(chunk) => chunk,
            None if queue.is_empty() && !queue.beyond => {
                queue.beyond = true;
                self.pool.take_beyond()
            }
            None => {
                self.refused += 1;
                self.enlist(link, queue);
                return None;
            }
        };
        chunk.tag = Self::TAG;
        Some(chunk)
    }

    /// A lent chunk comes home unsent.
    pub fn give(&mut self, chunk: Chunk) {
        self.pool.give(chunk);
    }

    /// The wire took `count` bytes from the front of a queue: emptied chunks go home. A link that was
    /// refused is told when half its queue is free, so that it writes in batches.
    pub fn sent(&mut self, link: LinkId, queue: &mut SendQueue, mut count: usize) {
        while let Some(chunk) = queue.chunks.front_mut() {
            let length = chunk.filled().len();
            if count < length {
                chunk.consume(count);
                break;
            }
            count -= length;
            self.pool.give(queue.chunks.pop_front().expect("just seen"));
        }
        if queue.chunks.is_empty() {
            queue.beyond = false;
            if queue.refused != Refused::Not && !queue.entitled {
                queue.entitled = true;
                self.entitled.push_back(link);
            }
        } else if queue.refused == Refused::QueueFull && queue.chunks.len() <= self.chunks_per_link / 2 {
            self.enlist(link, queue);
        }
    }

    /// A link ends: what it has not sent goes home.
    pub fn clear(&mut self, queue: &mut SendQueue) {
        while let Some(chunk) = queue.chunks.pop_front() {
            self.pool.give(chunk);
        }
    }

    fn enlist(&mut self, link: LinkId, queue: &mut SendQueue) {
        queue.refused = Refused::PoolEmpty;
        if !queue.listed {
            queue.listed = true;
            self.list.push_back(link);
        }
    }

    /// How many links may be told `Writable` now: those that are entitled, and as many others as there
    /// are chunks to lend.
    pub fn tellable(&self) -> usize {
        self.entitled.len() + self.list.len().min(self.pool.available())
    }

    /// The next link to tell.
    pub fn next_to_tell(&mut self) -> Option<Turn> {
        let entitled = self.entitled.pop_front().map(|link| Turn { link, entitled: true });
        entitled.or_else(|| self.list.pop_front().map(|link| Turn { link, entitled: false }))
    }

    /// Chunks lent or unsent.
    pub fn away(&self) -> usize {
        self.pool.away()
    }

    /// Leases refused so far.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Bytes per chunk.
    pub fn chunk_bytes(&self) -> usize {
        self.pool.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: LinkId = LinkId { slot: 0, generation: 0 };
    const B: LinkId = LinkId { slot: 1, generation: 0 };

    fn tell(lender: &mut Lender, queue: &mut SendQueue) -> Option<LinkId> {
        let turn = lender.next_to_tell()?;
        queue.take_turn(turn).then_some(turn.link)
    }

    fn filled(lender: &mut Lender, link: LinkId, queue: &mut SendQueue, bytes: &[u8]) -> bool {
        let Some(mut chunk) = lender.lease(link, queue) else { return false };
        chunk.fill(bytes);
        queue.push(chunk);
        true
    }

    #[test]
    fn a_full_queue_is_told_once_when_half_of_it_is_free() {
        let mut lender = Lender::new(4, 100, 4);
        let mut queue = SendQueue::default();
        for _ in 0..4 {
            assert!(filled(&mut lender, A, &mut queue, b"abcd"));
        }
        assert!(!filled(&mut lender, A, &mut queue, b"abcd"));
        assert!(!filled(&mut lender, A, &mut queue, b"abcd"));
        lender.sent(A, &mut queue, 6);
        assert_eq!((queue.len(), lender.tellable()), (3, 0));
        assert_eq!(queue.pieces().next(), Some(&b"cd"[..]));
        lender.sent(A, &mut queue, 10);
        assert_eq!((queue.len(), lender.tellable(), tell(&mut lender, &mut queue)), (0, 1, Some(A)));
        assert_eq!((lender.away(), lender.refused()), (0, 2));
    }

    #[test]
    fn an_empty_pool_tells_as_many_as_it_can_serve_first_come_first_served() {
        let mut lender = Lender::new(4, 2, 4);
        let (mut one, mut other) = (SendQueue::default(), SendQueue::default());
        let held = lender.lease(A, &mut one).unwrap();
        assert!(filled(&mut lender, A, &mut one, b"ab"));
        let beyond = lender.lease(B, &mut other).unwrap();
        assert!(!filled(&mut lender, B, &mut other, b"ab"));
        assert!(!filled(&mut lender, A, &mut one, b"ab"));
        assert_eq!(lender.tellable(), 0);
        lender.give(held);
        assert_eq!(lender.tellable(), 0);
        lender.give(beyond);
        assert_eq!((lender.tellable(), tell(&mut lender, &mut other)), (1, Some(B)));
        lender.clear(&mut one);
        assert_eq!((lender.tellable(), tell(&mut lender, &mut one), lender.away()), (1, Some(A), 0));
    }

    #[test]
    fn whoever_has_nothing_unsent_is_served_while_others_hold_everything() {
        let mut lender = Lender::new(4, 2, 4);
        let (mut stuck, mut modest) = (SendQueue::default(), SendQueue::default());
        while filled(&mut lender, A, &mut stuck, b"ab") {}
        assert_eq!(lender.away(), 2);
        for _ in 0..10 {
            assert!(filled(&mut lender, B, &mut modest, b"abcd"));
            assert!(!filled(&mut lender, B, &mut modest, b"abcd"), "one at a time");
            assert_eq!(lender.tellable(), 0);
            lender.sent(B, &mut modest, 4);
            assert_eq!((lender.tellable(), tell(&mut lender, &mut modest), lender.away()), (1, Some(B), 2));
        }
        lender.clear(&mut stuck);
        assert_eq!((lender.tellable(), lender.away()), (2, 0));
        assert_eq!(tell(&mut lender, &mut stuck), Some(A));
        assert_eq!(tell(&mut lender, &mut modest), None, "it has been told already");
        assert_eq!(lender.tellable(), 0);
    }
}
