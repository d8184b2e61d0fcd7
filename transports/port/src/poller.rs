//! What every transport is: a poller that one core calls once a tick.

use crate::{Address, Chunk, Close, Event, LinkId};
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::time::Duration;

/// Counters of one poller since its start. Plain numbers: the core copies them out.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PollerStats {
    /// Links opened and closed.
    pub opened: u64,
    /// Links closed.
    pub closed: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// System calls made.
    pub syscalls: u64,
    /// Leases refused: back-pressure.
    pub leases_refused: u64,
    /// Chunks now away from their pools.
    pub chunks_away: u64,
}

/// A transport, as one core sees it. Dynamic dispatch is paid per batch, never per request.
///
/// The contract (each line is a test in `contract`):
/// bytes of a link arrive whole and in order; submitted chunks leave whole and in order, one send in
/// flight per link; `Opened` is first and `Closed` last, each once; calls with a stale `LinkId` do
/// nothing (a submitted chunk still goes back to its pool); a refused lease is followed by `Writable`
/// once it would succeed; `close` while busy is safe. A peer that has sent its last is told by `Ended`, once,
/// after its last bytes, and its link lives until the house closes it: whatever the house submits until
/// then, in that tick or many later, reaches a peer that still listens.
pub trait Poller {
    /// The driver's name, such as `uring` or `epoll`.
    fn name(&self) -> &'static str;

    /// Harvests at most about `budget` events (and never more than twice that); never blocks.
    fn poll(&mut self, budget: usize, events: &mut Vec<Event>);

    /// An empty chunk of `at_least` bytes or fewer where `at_least` exceeds the transport's chunk
    /// size (see `chunk_size`). `None` is back-pressure: wait for `Writable`. A link may have a bounded
    /// number of chunks submitted and unsent; one that has none gets one, whatever other links hold.
    fn lease(&mut self, link: LinkId, at_least: usize) -> Option<Chunk>;

    /// Queues a leased chunk for sending; an empty one is recycled. Bytes leave at `flush`.
    fn submit(&mut self, link: LinkId, chunk: Chunk);

    /// Gives back a chunk that came with `Event::Bytes`, or an unused lease.
    fn recycle(&mut self, chunk: Chunk);

    /// Rings the doorbell once for all that is queued.
    fn flush(&mut self);

    /// Closes a link. `Event::Closed` follows in a later `poll`.
    fn close(&mut self, link: LinkId, how: Close);

    /// Stops (`true`) or resumes (`false`) harvesting bytes of a link: back-pressure towards the peer.
    /// Bytes already on their way may still arrive, bounded by a few chunks.
    fn throttle(&mut self, link: LinkId, stop: bool);

    /// Size in bytes of the chunks that `lease` hands out.
    fn chunk_size(&self) -> usize;

    /// Stops accepting; existing links go on.
    fn stop_accepting(&mut self);

    /// Accepts on one more listening socket.
    ///
    /// # Errors
    /// Where the kernel refuses, or the transport has no use for sockets.
    fn listen(&mut self, _listener: OwnedFd) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Accepts no longer on sockets bound to this address; existing links go on.
    fn stop_listening(&mut self, _address: &Address) {}

    /// How many links live.
    fn links(&self) -> usize;

    /// Counters since the start.
    fn stats(&self) -> PollerStats;

    /// A descriptor that turns readable when `poll` would find something, for another poller to `watch`.
    /// `None`: it must be polled.
    fn sleep_on(&self) -> Option<RawFd>;

    /// Idle seconds before keepalive probes, for links that open from now on; 0 for none.
    fn keep_alive(&mut self, _seconds: u32) {}

    /// Adds a foreign descriptor (a wake-up eventfd, another poller's `sleep_on`): its readability ends
    /// `park`. The poller never reads it. Only the poller a core parks in needs this.
    fn watch(&mut self, _fd: RawFd) -> bool {
        false
    }

    /// Does `flush` and then sleeps until there may be something to harvest, a watched descriptor is
    /// readable, or `timeout` has passed (`None`: no bound). One system call where the driver can.
    /// Returns `false` where this transport cannot sleep (then `flush` was done).
    fn park(&mut self, _timeout: Option<Duration>) -> bool {
        self.flush();
        false
    }
}
