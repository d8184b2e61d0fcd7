//! The hub: where peers and poller meet. Knows lines and bytes, not links or events.

use port::contract::{Heard, Wire};
use port::{Chunk, LinkId};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

/// How the peer's end of a line stands.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum PeerEnd {
    /// Sends and listens.
    #[default]
    Open,
    /// Sends no more, but listens.
    HalfClosed,
    /// Has gone in order.
    Gone,
    /// Has gone without order.
    Reset,
}

/// One connection: two bounded queues.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) to_house: VecDeque<u8>,
    pub(crate) to_peer: VecDeque<u8>,
    pub(crate) peer: PeerEnd,
    /// The house's name for it, once accepted.
    pub(crate) link: Option<LinkId>,
    /// The house has closed its end.
    house_gone: bool,
    /// It is on the ready list.
    listed: bool,
    /// The house has bytes that did not fit.
    pub(crate) blocked: bool,
}

/// All lines of one poller. Slots are reused, with the memory of their queues.
#[derive(Debug)]
pub(crate) struct Hub {
    lines: Vec<Line>,
    free: Vec<u32>,
    dialled: VecDeque<u32>,
    ready: VecDeque<u32>,
    listening: bool,
    wire_bytes: usize,
    backlog: usize,
}

impl Hub {
    pub(crate) fn new(wire_bytes: usize, backlog: usize) -> Hub {
        let (dialled, ready) = (VecDeque::new(), VecDeque::new());
        Hub { lines: Vec::new(), free: Vec::new(), dialled, ready, listening: true, wire_bytes, backlog }
    }

    fn dial(&mut self) -> io::Result<u32> {
        if !self.listening || self.dialled.len() >= self.backlog {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.lines.push(Line::default());
            u32::try_from(self.lines.len() - 1).expect("fewer than 2^32 lines")
        });
        self.dialled.push_back(number);
        Ok(number)
    }

    pub(crate) fn line(&mut self, number: u32) -> &mut Line {
        &mut self.lines[number as usize]
    }

    pub(crate) fn accept(&mut self) -> Option<u32> {
        self.dialled.pop_front()
    }

    /// Nobody is served any more: who waits is refused.
    pub(crate) fn stop_listening(&mut self) {
        self.listening = false;
        while let Some(number) = self.dialled.pop_front() {
            self.house_leaves(number);
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.ready.len()
    }

    pub(crate) fn next_ready(&mut self) -> Option<u32> {
        let number = self.ready.pop_front()?;
        self.lines[number as usize].listed = false;
        Some(number)
    }

    /// Puts a line on the ready list, once.
    pub(crate) fn list(&mut self, number: u32) {
        let line = &mut self.lines[number as usize];
        if !line.listed && line.link.is_some() {
            line.listed = true;
            self.ready.push_back(number);
        }
    }

    /// Moves bytes of the peer into a chunk.
    pub(crate) fn fill(&mut self, number: u32, chunk: &mut Chunk) -> usize {
        let queue = &mut self.lines[number as usize].to_house;
        let (front, back) = queue.as_slices();
        let mut count = chunk.fill(front);
        if count == front.len() {
            count += chunk.fill(back);
        }
        queue.drain(..count);
        count
    }

    /// Takes what fits of the house's bytes. A peer that has gone takes everything and hears nothing.
    pub(crate) fn carry(&mut self, number: u32, bytes: &[u8]) -> usize {
        let room = self.wire_bytes;
        let line = self.line(number);
        if matches!(line.peer, PeerEnd::Gone | PeerEnd::Reset) {
            return bytes.len();
        }
        let count = bytes.len().min(room - line.to_peer.len());
        line.to_peer.extend(&bytes[..count]);
        line.blocked = count < bytes.len();
        count
    }

    /// The house closes its end.
    pub(crate) fn house_leaves(&mut self, number: u32) {
        let line = self.line(number);
        line.house_gone = true;
        line.link = None;
        self.free_if_left(number);
    }

    fn peer_leaves(&mut self, number: u32, how: PeerEnd) {
        self.line(number).peer = how;
        self.list(number);
        self.free_if_left(number);
    }

    fn free_if_left(&mut self, number: u32) {
        let line = self.line(number);
        if line.house_gone && matches!(line.peer, PeerEnd::Gone | PeerEnd::Reset) {
            if line.listed {
                let place = self.ready.iter().position(|listed| *listed == number);
                self.ready.remove(place.expect("a listed line is on the list"));
            }
            let line = self.line(number);
            line.to_house.clear();
            line.to_peer.clear();
            line.peer = PeerEnd::Open;
            (line.house_gone, line.listed, line.blocked) = (false, false, false);
            self.free.push(number);
        }
    }
}

/// Dials a `MemoryPoller` from the same thread.
#[derive(Clone, Debug)]
pub struct Connector {
    pub(crate) hub: Rc<RefCell<Hub>>,
}

impl Connector {
    /// Opens a link; the poller reports it in its next `poll`.
    ///
    /// # Errors
    /// `ConnectionRefused` where the poller accepts no more, or too many wait already.
    pub fn dial(&self) -> io::Result<MemoryWire> {
        let line = self.hub.borrow_mut().dial()?;
        Ok(MemoryWire { hub: Rc::clone(&self.hub), line })
    }
}

/// The peer's end of a link. Dropping it closes it.
#[derive(Debug)]
pub struct MemoryWire {
    hub: Rc<RefCell<Hub>>,
    line: u32,
}

impl MemoryWire {
    /// Sends what fits; returns how much did.
    pub fn send(&mut self, bytes: &[u8]) -> usize {
        let hub = &mut *self.hub.borrow_mut();
        let room = hub.wire_bytes;
        let line = hub.line(self.line);
        if line.house_gone || line.peer != PeerEnd::Open {
            return 0;
        }
        let count = bytes.len().min(room - line.to_house.len());
        line.to_house.extend(&bytes[..count]);
        if count > 0 {
            hub.list(self.line);
        }
        count
    }

    /// Appends at most 64 KiB of what has arrived.
    pub fn receive(&mut self, into: &mut Vec<u8>) -> Heard {
        self.take(64 * 1024, |front, back| {
            into.extend_from_slice(front);
            into.extend_from_slice(back);
        })
    }

    /// Throws away all that has arrived, for benches that only count.
    pub fn discard(&mut self) -> Heard {
        self.take(usize::MAX, |_, _| ())
    }

    fn take(&mut self, bytes_max: usize, look: impl FnOnce(&[u8], &[u8])) -> Heard {
        let hub = &mut *self.hub.borrow_mut();
        let line = hub.line(self.line);
        let count = line.to_peer.len().min(bytes_max);
        if count == 0 {
            return if line.house_gone { Heard::End } else { Heard::Nothing };
        }
        let (front, back) = line.to_peer.as_slices();
        let in_front = front.len().min(count);
        look(&front[..in_front], &back[..count - in_front]);
        line.to_peer.drain(..count);
        if line.blocked {
            hub.list(self.line);
        }
        Heard::Bytes(count)
    }

    /// Sends no more, but goes on listening.
    pub fn shutdown_write(&mut self) {
        let hub = &mut *self.hub.borrow_mut();
        hub.line(self.line).peer = PeerEnd::HalfClosed;
        hub.list(self.line);
    }
}

impl Drop for MemoryWire {
    fn drop(&mut self) {
        let hub = &mut *self.hub.borrow_mut();
        let how = if hub.line(self.line).peer == PeerEnd::Reset { PeerEnd::Reset } else { PeerEnd::Gone };
        hub.peer_leaves(self.line, how);
    }
}

impl Wire for MemoryWire {
    fn send(&mut self, bytes: &[u8]) -> usize {
        MemoryWire::send(self, bytes)
    }

    fn receive(&mut self, into: &mut Vec<u8>) -> Heard {
        MemoryWire::receive(self, into)
    }

    fn shutdown_write(&mut self) {
        MemoryWire::shutdown_write(self);
    }

    fn reset(self: Box<Self>) {
        self.hub.borrow_mut().line(self.line).peer = PeerEnd::Reset;
    }
}
