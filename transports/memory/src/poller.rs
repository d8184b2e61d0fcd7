//! The poller: turns lines of the hub into links and events. Knows nothing of what the bytes mean.

use crate::MemoryConfig;
use crate::hub::{Connector, Hub, PeerEnd};
use port::{
    Address, Chunk, ChunkPool, Close, Event, Lender, LinkId, Links, Peer, Poller, PollerStats, SendQueue, Why,
};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::rc::Rc;

/// ECONNRESET, as a socket would report a peer that was killed.
const CONNECTION_RESET: i32 = 104;

#[derive(Debug)]
struct Link {
    line: u32,
    queue: SendQueue,
    throttled: bool,
    /// `Close::Drain` was asked for: ends when all is sent.
    draining: bool,
    /// The peer's end was told: nothing is left to read.
    ended: bool,
    /// It is on the list for the next flush.
    listed: bool,
}

/// An in-process transport.
#[derive(Debug)]
pub struct MemoryPoller {
    hub: Rc<RefCell<Hub>>,
    links: Links<Link>,
    receiving: ChunkPool,
    lender: Lender,
    outgoing: Vec<LinkId>,
    closed: VecDeque<(LinkId, Why)>,
    stats: PollerStats,
    numbers: u32,
}

impl MemoryPoller {
    /// A poller that listens for its connectors.
    pub fn new(config: MemoryConfig) -> MemoryPoller {
        MemoryPoller {
            hub: Rc::new(RefCell::new(Hub::new(config.wire_bytes.max(1), config.backlog))),
            links: Links::default(),
            receiving: ChunkPool::new(config.chunk_bytes, config.receive_chunks.max(1)),
            lender: Lender::new(config.chunk_bytes, config.send_chunks, config.send_chunks_per_link),
            outgoing: Vec::new(),
            closed: VecDeque::new(),
            stats: PollerStats::default(),
            numbers: 0,
        }
    }

    /// A handle to dial this poller with.
    pub fn connector(&self) -> Connector {
        Connector { hub: Rc::clone(&self.hub) }
    }

    fn accept(&mut self, line: u32, events: &mut Vec<Event>) {
        let (queue, throttled, draining) = (SendQueue::default(), false, false);
        let link = self.links.insert(Link { line, queue, throttled, draining, ended: false, listed: false });
        let hub = &mut *self.hub.borrow_mut();
        hub.line(line).link = Some(link);
        // What the peer did before it was accepted was not listed yet.
        hub.list(line);
        self.numbers = self.numbers.wrapping_add(1);
        self.stats.opened += 1;
        let (remote, local) = (Address::Memory(self.numbers), Address::Memory(0));
        events.push(Event::Opened(link, Peer { remote, local, fd: -1 }));
    }

    /// Looks after a line on which something happened; `false` where no chunk is left to read into.
    fn serve(&mut self, number: u32, events: &mut Vec<Event>) -> bool {
        let mut hub = self.hub.borrow_mut();
        let line = hub.line(number);
        let (peer, blocked, unread) = (line.peer, line.blocked, !line.to_house.is_empty());
        let Some(id) = line.link else { return true };
        let link = self.links.find(id).expect("an accepted line has a link");
        if blocked && !link.listed {
            link.listed = true;
            self.outgoing.push(id);
        }
        if peer == PeerEnd::Reset {
            drop(hub);
            self.end(id, Why::Error(CONNECTION_RESET));
        } else if unread && !link.throttled && !link.draining {
            let Some(mut chunk) = self.receiving.take() else {
                hub.list(number);
                return false;
            };
            self.stats.bytes_in += hub.fill(number, &mut chunk) as u64;
            chunk.tag = 0;
            if !hub.line(number).to_house.is_empty() || peer != PeerEnd::Open {
                hub.list(number);
            }
            events.push(Event::Bytes(id, chunk));
        } else if !unread && peer != PeerEnd::Open && !link.draining && !link.ended {
            link.ended = true;
            events.push(Event::Ended(id));
        }
        true
    }

    fn end(&mut self, id: LinkId, why: Why) {
        if let Some(mut link) = self.links.remove(id) {
            self.lender.clear(&mut link.queue);
            self.hub.borrow_mut().house_leaves(link.line);
            self.closed.push_back((id, why));
        }
    }

    fn tell_closed(&mut self, budget: usize, events: &mut Vec<Event>) {
        while events.len() < budget
            && let Some((id, why)) = self.closed.pop_front()
        {
            self.stats.closed += 1;
            events.push(Event::Closed(id, why));
        }
    }

    fn send(&mut self, id: LinkId) {
        let Some(link) = self.links.find(id) else { return };
        link.listed = false;
        let mut hub = self.hub.borrow_mut();
        while let Some(piece) = link.queue.front() {
            let (length, count) = (piece.len(), hub.carry(link.line, piece));
            self.stats.bytes_out += count as u64;
            self.lender.sent(id, &mut link.queue, count);
            if count < length {
                return;
            }
        }
        drop(hub);
        if link.draining {
            let why = if link.ended { Why::Peer } else { Why::Ours };
            self.end(id, why);
        }
    }
}

impl Poller for MemoryPoller {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn poll(&mut self, budget: usize, events: &mut Vec<Event>) {
        let budget = events.len() + budget.max(1);
        self.tell_closed(budget, events);
        // A slot may be named anew only after its last name was told closed.
        if !self.closed.is_empty() {
            return;
        }
        for _ in 0..self.lender.tellable().min(budget - events.len()) {
            let turn = self.lender.next_to_tell().expect("it was counted");
            if let Some(link) = self.links.find(turn.link)
                && !link.draining
                && link.queue.take_turn(turn)
            {
                events.push(Event::Writable(turn.link));
            }
        }
        while events.len() < budget {
            let Some(line) = self.hub.borrow_mut().accept() else { break };
            self.accept(line, events);
        }
        let waiting = self.hub.borrow().waiting();
        for _ in 0..waiting {
            if events.len() >= budget {
                break;
            }
            let Some(line) = self.hub.borrow_mut().next_ready() else { break };
            if !self.serve(line, events) {
                break;
            }
        }
    }

    fn lease(&mut self, link: LinkId, _at_least: usize) -> Option<Chunk> {
        let found = self.links.find(link)?;
        if found.draining {
            return None;
        }
        self.lender.lease(link, &mut found.queue)
    }

    fn submit(&mut self, link: LinkId, chunk: Chunk) {
        match self.links.find(link) {
            Some(found) if !found.draining && !chunk.filled().is_empty() => {
                found.queue.push(chunk);
                if !found.listed {
                    found.listed = true;
                    self.outgoing.push(link);
                }
            }
            _ => self.recycle(chunk),
        }
    }

    fn recycle(&mut self, chunk: Chunk) {
        if chunk.tag == Lender::TAG {
            self.lender.give(chunk);
        } else {
            self.receiving.give(chunk);
        }
    }

    fn flush(&mut self) {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        for link in outgoing.drain(..) {
            self.send(link);
        }
        // The list keeps its memory; nothing was added meanwhile.
        self.outgoing = outgoing;
    }

    fn close(&mut self, link: LinkId, how: Close) {
        let Some(found) = self.links.find(link) else { return };
        match how {
            Close::Drain if !found.queue.is_empty() => found.draining = true,
            Close::Drain if found.ended => self.end(link, Why::Peer),
            _ => self.end(link, Why::Ours),
        }
    }

    fn throttle(&mut self, link: LinkId, stop: bool) {
        let Some(found) = self.links.find(link) else { return };
        found.throttled = stop;
        if !stop {
            self.hub.borrow_mut().list(found.line);
        }
    }

    fn chunk_size(&self) -> usize {
        self.lender.chunk_bytes()
    }

    fn stop_accepting(&mut self) {
        self.hub.borrow_mut().stop_listening();
    }

    fn links(&self) -> usize {
        self.links.len()
    }

    fn stats(&self) -> PollerStats {
        PollerStats {
            leases_refused: self.lender.refused(),
            chunks_away: (self.lender.away() + self.receiving.away()) as u64,
            ..self.stats
        }
    }

    fn sleep_on(&self) -> Option<RawFd> {
        None
    }
}
