//! One connection as the ring sees it: which operations are in flight, what waits to be sent, how it ends.
//! Knows nothing of how operations reach the kernel.

use crate::sys::Message;
use port::{Close, SendQueue, Why};
use std::os::fd::OwnedFd;

/// Where a link's multishot receive stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Receive {
    /// Not with the kernel and not wanted.
    Idle,
    /// Waits in the poller's list to be armed.
    Queued,
    /// Found no buffer; waits in the poller's list until buffers come home.
    Starved,
    /// With the kernel.
    Armed,
    /// With the kernel, and asked back.
    Cancelling,
}

/// A link counts as bulk from so many full chunks on that came one after the other.
const BULK_CHUNKS: u8 = 16;

/// Where a link's watch for the peer's hang-up stands. It tells once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Watch {
    /// Waits in the poller's list to be armed.
    Queued,
    /// With the kernel.
    Armed,
    /// With the kernel, and asked back.
    Cancelling,
    /// It has told, or is not wanted any more.
    Over,
}

/// How and why a link ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ending {
    pub(crate) why: Why,
    pub(crate) how: Close,
}

/// A connection.
pub(crate) struct Link {
    pub(crate) fd: OwnedFd,
    pub(crate) receive: Receive,
    pub(crate) watch: Watch,
    /// The peer has sent its last or is gone: what is left to read is there already.
    pub(crate) hung_up: bool,
    pub(crate) throttled: bool,
    /// Full chunks that came one after the other, up to a bound; each that is not full halves it.
    full: u8,
    /// The peer has sent its last; it may still listen.
    pub(crate) ended: bool,
    /// Chunks submitted and unsent.
    pub(crate) queue: SendQueue,
    /// Bytes at the front of the queue that the kernel is reading; 0 when no send is in flight.
    pub(crate) sending: usize,
    /// The vector of the send in flight, when it has more than one part.
    pub(crate) message: Option<Box<Message>>,
    /// The link waits in the poller's outbox.
    pub(crate) queued: bool,
    /// The send in flight was asked back.
    pub(crate) send_cancelled: bool,
    pub(crate) ending: Option<Ending>,
    /// It waits in the poller's list of finished links.
    pub(crate) buried: bool,
}

impl Link {
    pub(crate) fn new(fd: OwnedFd) -> Link {
        Link {
            fd,
            receive: Receive::Idle,
            watch: Watch::Queued,
            hung_up: false,
            throttled: false,
            full: 0,
            ended: false,
            queue: SendQueue::default(),
            sending: 0,
            message: None,
            queued: false,
            send_cancelled: false,
            ending: None,
            buried: false,
        }
    }

    /// A chunk has come. Whether that makes it bulk.
    #[inline]
    pub(crate) fn note_chunk(&mut self, is_full: bool) -> bool {
        let before = self.full;
        self.full = if is_full { before.saturating_add(1).min(4 * BULK_CHUNKS) } else { before / 2 };
        before < BULK_CHUNKS && self.is_bulk()
    }

    /// It sends more than others should wait for.
    #[inline]
    pub(crate) fn is_bulk(&self) -> bool {
        self.full >= BULK_CHUNKS
    }

    /// The house may still use it: it was not closed by us, nor has it failed.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.ending.is_none()
    }

    /// The kernel holds an operation of it.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.sending > 0
            || matches!(self.receive, Receive::Armed | Receive::Cancelling)
            || matches!(self.watch, Watch::Armed | Watch::Cancelling)
    }

    /// Nothing is in flight or owed: the descriptor may be closed.
    pub(crate) fn is_finished(&self) -> bool {
        self.ending.is_some() && self.queue.is_empty() && !self.is_busy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_bulk_while_nearly_all_of_its_chunks_are_full() {
        let mut link = Link::new(std::fs::File::open("/dev/null").expect("it is there").into());
        let told: Vec<usize> = (1..=1000).filter(|_| link.note_chunk(true)).collect();
        assert_eq!((told.len(), link.is_bulk()), (1, true), "it is told once");
        assert!(!link.note_chunk(false) && !link.note_chunk(false) && link.is_bulk());
        assert!(!link.note_chunk(false) && !link.is_bulk(), "three in a row that are not full");
        // A client whose batches are four chunks long never is.
        for place in 0..1000 {
            link.note_chunk(place % 5 > 0);
            assert!(!link.is_bulk());
        }
    }
}
