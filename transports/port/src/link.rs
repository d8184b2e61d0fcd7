//! Links: what a connection is called between a transport and the house.

use crate::Chunk;
use std::net::SocketAddr;

/// Names one connection of one poller. A late event for a reused slot carries an old generation
/// and is therefore harmless.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LinkId {
    /// Index into the poller's table of links; dense and reused.
    pub slot: u32,
    /// Grows by one each time the slot is reused.
    pub generation: u32,
}

/// One end of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// An internet socket.
    Inet(SocketAddr),
    /// A Unix-domain socket, by the path it was bound to (the same on both ends, as Redis shows it).
    Unix(String),
    /// No address: an in-process link.
    Memory(u32),
}

impl std::fmt::Display for Address {
    /// As CLIENT LIST shows it: `127.0.0.1:6379`, `/run/corelane.sock:0`, `memory:7`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Inet(address) => write!(f, "{address}"),
            Address::Unix(path) => write!(f, "{path}:0"),
            Address::Memory(number) => write!(f, "memory:{number}"),
        }
    }
}

/// Who opened a link, and through which door.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Peer {
    /// The far end.
    pub remote: Address,
    /// Our end: tells which listener was dialled.
    pub local: Address,
    /// File descriptor as CLIENT LIST shows it; -1 where there is none.
    pub fd: i32,
}

/// How a link is to be closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Close {
    /// Send all that was submitted, then close.
    Drain,
    /// Close now; unsent bytes are dropped.
    Abort,
}

/// Why a link ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// The peer had ended its stream, and we then closed in order.
    Peer,
    /// We closed it.
    Ours,
    /// The wire failed: reset, timeout (the errno, or 0).
    Error(i32),
}

/// What a poller tells.
#[derive(Debug)]
pub enum Event {
    /// A new link. Always the first event of its `LinkId`.
    Opened(LinkId, Peer),
    /// Bytes in order of arrival, in a chunk lent by the poller: give it back with `recycle`.
    Bytes(LinkId, Chunk),
    /// A lease that was refused earlier would now succeed, or a send queue has emptied.
    Writable(LinkId),
    /// The peer sends nothing more: no `Bytes` follow. It may still listen, so the link lives on until
    /// the house closes it; comes at most once.
    Ended(LinkId),
    /// The link is gone; always the last event of its `LinkId`. Comes exactly once, also after `close`.
    Closed(LinkId, Why),
}

/// A table of links with generations, shared by the transports.
#[derive(Debug)]
pub struct Links<T> {
    slots: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Default for Links<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Links<T> {
    /// Adds a link and names it.
    pub fn insert(&mut self, value: T) -> LinkId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 links")
        });
        let entry = &mut self.slots[slot as usize];
        entry.1 = Some(value);
        LinkId { slot, generation: entry.0 }
    }

    /// The link of that name, if it still lives.
    pub fn find(&mut self, id: LinkId) -> Option<&mut T> {
        match self.slots.get_mut(id.slot as usize) {
            Some((generation, value)) if *generation == id.generation => value.as_mut(),
            _ => None,
        }
    }

    /// Removes a link; its name is never used again.
    pub fn remove(&mut self, id: LinkId) -> Option<T> {
        let (generation, value) = self.slots.get_mut(id.slot as usize)?;
        if *generation != id.generation || value.is_none() {
            return None;
        }
        *generation = generation.wrapping_add(1);
        self.free.push(id.slot);
        value.take()
    }

    /// How many links live.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// No link lives.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of all that live.
    pub fn ids(&self) -> impl Iterator<Item = LinkId> + '_ {
        self.slots
            .iter()
            .enumerate()
            .filter(|(_, (_, value))| value.is_some())
            .map(|(slot, (generation, _))| LinkId { slot: slot as u32, generation: *generation })
    }
}
