//! A wrapper that makes any transport a bad one, by seed: it splits what was received at any byte,
//! delays events, refuses leases and, if asked, drops links. The same seed over the same calls does
//! the same. It keeps the contract of the seam, and knows nothing of the wire inside.

#![forbid(unsafe_code)]

mod held;
mod rng;

use held::Held;
use port::{Address, Chunk, ChunkPool, Close, Event, LinkId, Poller, PollerStats, Why};
use rng::Rng;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::time::Duration;

/// ECONNRESET: what a dropped link is said to have died of.
const CONNECTION_RESET: i32 = 104;

/// Marks the chunks of this wrapper's own pool.
const TAG: u32 = u32::MAX;

/// Pieces cut off at one time; beyond, chunks pass whole.
const PIECES_MAX: usize = 64;

/// Events held back beyond the budget of a poll; above it nothing more is harvested inside.
const HELD_MAX: usize = 256;

/// What to do to a transport, and how often.
#[derive(Clone, Debug)]
pub struct Faults {
    /// All chance comes from here.
    pub seed: u64,
    /// Percentage of received chunks that are cut, again and again with the same chance.
    pub split_percent: u32,
    /// Polls by which an event is late, at most. Events of one link keep their order.
    pub delay_polls_max: u32,
    /// Percentage of leases refused (and followed by `Writable`).
    pub refuse_percent: u32,
    /// One in so many received chunks kills its link instead; 0: never.
    pub drop_one_in: u32,
}

impl Default for Faults {
    fn default() -> Self {
        Self { seed: 0, split_percent: 50, delay_polls_max: 4, refuse_percent: 20, drop_one_in: 0 }
    }
}

/// A transport with faults.
#[derive(Debug)]
pub struct Faulty<P: Poller> {
    inner: P,
    faults: Faults,
    rng: Rng,
    held: Held,
    pieces: ChunkPool,
    harvested: Vec<Event>,
    refused: u64,
}

impl<P: Poller> Faulty<P> {
    /// Wraps a transport.
    pub fn new(inner: P, faults: Faults) -> Faulty<P> {
        let pieces = ChunkPool::new(inner.chunk_size(), PIECES_MAX);
        let rng = Rng::new(faults.seed);
        Faulty { inner, faults, rng, held: Held::default(), pieces, harvested: Vec::new(), refused: 0 }
    }

    /// The transport inside, to dial it for example.
    pub fn inner(&self) -> &P {
        &self.inner
    }

    /// The transport inside, to be changed with care.
    pub fn inner_mut(&mut self) -> &mut P {
        &mut self.inner
    }

    fn hold(&mut self, event: Event) {
        match event {
            Event::Bytes(link, chunk) if self.held.is_doomed(link) => self.inner.recycle(chunk),
            Event::Bytes(link, chunk) => {
                if self.rng.one_in(self.faults.drop_one_in) {
                    self.inner.recycle(chunk);
                    self.inner.close(link, Close::Abort);
                    for chunk in self.held.drop_by_chance(link) {
                        self.recycle(chunk);
                    }
                } else {
                    self.split(link, chunk);
                }
            }
            Event::Closed(link, _) if self.held.was_dropped(link) => {
                self.held.push(Event::Closed(link, Why::Error(CONNECTION_RESET)));
            }
            other => self.held.push(other),
        }
    }

    /// Cuts pieces off the front; what is left stays in the chunk it came in.
    fn split(&mut self, link: LinkId, mut chunk: Chunk) {
        while chunk.filled().len() > 1 && self.rng.percent(self.faults.split_percent) {
            let Some(mut piece) = self.pieces.take() else { break };
            piece.tag = TAG;
            let cut = 1 + self.rng.below(chunk.filled().len() as u64 - 1) as usize;
            let taken = piece.fill(&chunk.filled()[..cut]);
            chunk.consume(taken);
            self.held.push(Event::Bytes(link, piece));
        }
        if chunk.filled().is_empty() {
            self.inner.recycle(chunk);
        } else {
            self.held.push(Event::Bytes(link, chunk));
        }
        self.inner.throttle(link, self.held.wants_no_bytes(link));
    }
}

impl<P: Poller> Poller for Faulty<P> {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn poll(&mut self, budget: usize, events: &mut Vec<Event>) {
        if self.held.len() < budget + HELD_MAX {
            let mut harvested = std::mem::take(&mut self.harvested);
            self.inner.poll(budget, &mut harvested);
            for event in harvested.drain(..) {
                self.hold(event);
            }
            self.harvested = harvested;
        }
        let before = events.len();
        self.held.release(budget, self.faults.delay_polls_max, &mut self.rng, events);
        for event in &events[before..] {
            if let Event::Bytes(link, _) = event {
                self.inner.throttle(*link, self.held.wants_no_bytes(*link));
            }
        }
    }

    fn lease(&mut self, link: LinkId, at_least: usize) -> Option<Chunk> {
        if self.held.lives(link) && self.rng.percent(self.faults.refuse_percent) {
            self.refused += 1;
            self.held.push(Event::Writable(link));
            return None;
        }
        self.inner.lease(link, at_least)
    }

    fn submit(&mut self, link: LinkId, chunk: Chunk) {
        self.inner.submit(link, chunk);
    }

    fn recycle(&mut self, chunk: Chunk) {
        if chunk.tag == TAG {
            self.pieces.give(chunk);
        } else {
            self.inner.recycle(chunk);
        }
    }

    fn flush(&mut self) {
        self.inner.flush();
    }

    fn close(&mut self, link: LinkId, how: Close) {
        self.inner.close(link, how);
        for chunk in self.held.close(link) {
            self.recycle(chunk);
        }
    }

    fn throttle(&mut self, link: LinkId, stop: bool) {
        self.held.throttle(link, stop);
        self.inner.throttle(link, self.held.wants_no_bytes(link));
    }

    fn chunk_size(&self) -> usize {
        self.inner.chunk_size()
    }

    fn stop_accepting(&mut self) {
        self.inner.stop_accepting();
    }

    fn listen(&mut self, listener: OwnedFd) -> io::Result<()> {
        self.inner.listen(listener)
    }

    fn stop_listening(&mut self, address: &Address) {
        self.inner.stop_listening(address);
    }

    fn links(&self) -> usize {
        self.inner.links()
    }

    fn stats(&self) -> PollerStats {
        let mut stats = self.inner.stats();
        stats.leases_refused += self.refused;
        stats.chunks_away += self.pieces.away() as u64;
        stats
    }

    /// Held events show on no descriptor: it must be polled.
    fn sleep_on(&self) -> Option<RawFd> {
        None
    }

    fn watch(&mut self, fd: RawFd) -> bool {
        self.inner.watch(fd)
    }

    fn park(&mut self, timeout: Option<Duration>) -> bool {
        let timeout = if self.held.can_release() { Some(Duration::ZERO) } else { timeout };
        self.inner.park(timeout)
    }
}
