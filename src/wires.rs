//! What one core has around its shard: pollers, connections, the ends of the mesh. It carries out what
//! the shard says, and knows nothing of commands.

use crate::idle::Waker;
use mesh::{Published, Sender};
use port::{Address, Chunk, Close, Event, LinkId, Links, Poller};
use shard::{ConnId, Outbox, Parcel, Ticket};
use telemetry::Block;

/// Unsent replies of a client beyond which its commands wait.
const STUCK_BYTES: usize = 32 * 1024 * 1024;

/// A connection, as the house knows it.
struct Conn {
    poller: u8,
    link: LinkId,
    /// Replies of this tick, filled so far.
    open: Option<Chunk>,
    /// Replies that found no chunk, from `sent` on.
    backlog: Vec<u8>,
    sent: usize,
    /// The shard was told that it is stuck.
    stuck: bool,
    /// Close once the backlog is sent.
    draining: bool,
    dirty: bool,
    over_soft_since_ms: Option<i64>,
}

impl Conn {
    fn unsent(&self) -> usize {
        self.backlog.len() - self.sent
    }
}

/// Something for the house that a tick has gathered.
pub(crate) struct Errand {
    pub job: commands::Job,
    pub ticket: Option<Ticket>,
}

/// The world around one shard.
pub(crate) struct Wires {
    pub pollers: Vec<Box<dyn Poller>>,
    conns: Links<Conn>,
    /// By poller and link slot.
    by_link: Vec<Vec<Option<ConnId>>>,
    dirty: Vec<ConnId>,
    /// Connections whose state the shard has to hear: stuck or not, unsent bytes.
    pub chokes: Vec<(ConnId, bool, usize)>,
    senders: Vec<Option<Sender<Parcel>>>,
    wakers: Vec<Waker>,
    pub errands: Vec<Errand>,
    /// Hard limit, soft limit in bytes and its seconds, for normal clients.
    pub output_limit: (u64, u64, u64),
    pub now_ms: i64,
    me: usize,
}

pub(crate) fn conn_id(id: LinkId) -> ConnId {
    ConnId { slot: id.slot, generation: id.generation }
}

fn link_id(id: ConnId) -> LinkId {
    LinkId { slot: id.slot, generation: id.generation }
}

impl Wires {
    pub(crate) fn new(
        me: usize,
        pollers: Vec<Box<dyn Poller>>,
        senders: Vec<Option<Sender<Parcel>>>,
        wakers: Vec<Waker>,
    ) -> Wires {
        let by_link = pollers.iter().map(|_| Vec::new()).collect();
        Wires {
            pollers,
            conns: Links::default(),
            by_link,
            dirty: Vec::new(),
            chokes: Vec::new(),
            senders,
            wakers,
            errands: Vec::new(),
            output_limit: (0, 0, 0),
            now_ms: 0,
            me,
        }
    }

    /// A link has opened: names the connection.
    pub(crate) fn opened(&mut self, poller: usize, link: LinkId) -> ConnId {
        let id = self.conns.insert(Conn {
            poller: poller as u8,
            link,
            open: None,
            backlog: Vec::new(),
            sent: 0,
            stuck: false,
            draining: false,
            dirty: false,
            over_soft_since_ms: None,
        });
        let slots = &mut self.by_link[poller];
        if slots.len() <= link.slot as usize {
            slots.resize(link.slot as usize + 1, None);
        }
        slots[link.slot as usize] = Some(conn_id(id));
        conn_id(id)
    }

    /// The connection of a link.
    #[inline]
    pub(crate) fn conn_of(&self, poller: usize, link: LinkId) -> Option<ConnId> {
        *self.by_link[poller].get(link.slot as usize)?
    }

    /// A link has closed: forgets the connection.
    pub(crate) fn closed(&mut self, poller: usize, link: LinkId) -> Option<ConnId> {
        let id = self.by_link[poller].get_mut(link.slot as usize)?.take()?;
        if let Some(chunk) = self.conns.remove(link_id(id)).and_then(|mut conn| conn.open.take()) {
            self.pollers[poller].recycle(chunk);
        }
        Some(id)
    }

    /// A link takes more.
    pub(crate) fn writable(&mut self, poller: usize, link: LinkId) {
        if let Some(id) = self.conn_of(poller, link) {
            self.push_backlog(id);
        }
    }

    fn push_backlog(&mut self, id: ConnId) {
        let Some(conn) = self.conns.find(link_id(id)) else { return };
        let poller = &mut self.pollers[conn.poller as usize];
        while conn.sent < conn.backlog.len() {
            let Some(mut chunk) = poller.lease(conn.link, conn.backlog.len() - conn.sent) else { break };
            conn.sent += chunk.fill(&conn.backlog[conn.sent..]);
            poller.submit(conn.link, chunk);
        }
        if conn.unsent() == 0 {
            conn.backlog = Vec::new();
            conn.sent = 0;
            conn.over_soft_since_ms = None;
            if std::mem::take(&mut conn.stuck) {
                self.chokes.push((id, false, 0));
            }
            if conn.draining {
                poller.close(conn.link, Close::Drain);
            }
        }
    }

    /// Submits what this tick's replies have filled.
    pub(crate) fn submit(&mut self) {
        for id in self.dirty.drain(..) {
            let Some(conn) = self.conns.find(link_id(id)) else { continue };
            conn.dirty = false;
            if let Some(chunk) = conn.open.take() {
                self.pollers[conn.poller as usize].submit(conn.link, chunk);
            }
        }
    }

    /// Publishes what is staged for other shards and wakes those that sleep. Returns how many parcels
    /// went out.
    pub(crate) fn publish(&mut self, block: &Block) -> usize {
        let mut sent = 0;
        for sender in self.senders.iter_mut().flatten() {
            if sender.staged() > 0 {
                sent += sender.publish();
            }
        }
        if sent > 0 {
            self.wake_peers(block);
        }
        sent
    }

    fn wake_peers(&self, block: &Block) {
        let published = Published::now();
        for (peer, waker) in self.wakers.iter().enumerate() {
            if peer != self.me && waker.wake_after(&published) {
                block.wakeups_sent.add(1);
            }
        }
    }

    /// How many connections there are.
    pub(crate) fn connections(&self) -> usize {
        self.conns.len()
    }

    /// Bytes that found no chunk go to the backlog, within the output limits.
    fn hold_back(&mut self, id: ConnId, bytes: &[u8]) {
        let (hard, soft, soft_s) = self.output_limit;
        let now_ms = self.now_ms;
        let Some(conn) = self.conns.find(link_id(id)) else { return };
        conn.backlog.extend_from_slice(bytes);
        let unsent = conn.unsent();
        let over_soft = soft > 0 && unsent as u64 > soft && {
            let since = *conn.over_soft_since_ms.get_or_insert(now_ms);
            now_ms - since > soft_s as i64 * 1000
        };
        if hard > 0 && unsent as u64 > hard || over_soft {
            self.pollers[conn.poller as usize].close(conn.link, Close::Abort);
            conn.backlog = Vec::new();
            conn.sent = 0;
            return;
        }
        if unsent > STUCK_BYTES && !conn.stuck {
            conn.stuck = true;
            self.chokes.push((id, true, unsent));
        }
    }
}

impl Outbox for Wires {
    fn write(&mut self, id: ConnId, mut bytes: &[u8]) {
        let Some(conn) = self.conns.find(link_id(id)) else { return };
        if conn.draining {
            return;
        }
        if conn.unsent() == 0 {
            let poller = &mut self.pollers[conn.poller as usize];
            while !bytes.is_empty() {
                let Some(mut chunk) = conn.open.take().or_else(|| poller.lease(conn.link, bytes.len()))
                else {
                    break;
                };
                bytes = &bytes[chunk.fill(bytes)..];
                if chunk.spare().is_empty() {
                    poller.submit(conn.link, chunk);
                } else {
                    conn.open = Some(chunk);
                    if !std::mem::replace(&mut conn.dirty, true) {
                        self.dirty.push(id);
                    }
                }
            }
        }
        if !bytes.is_empty() {
            self.hold_back(id, bytes);
        }
    }

    fn send(&mut self, to: u16, parcel: Parcel) -> Result<(), Parcel> {
        match &mut self.senders[to as usize] {
            Some(sender) => sender.stage(parcel),
            None => Err(parcel),
        }
    }

    fn room(&mut self, to: u16) -> usize {
        self.senders[to as usize].as_mut().map_or(0, Sender::room)
    }

    fn close(&mut self, id: ConnId, drain: bool) {
        let Some(conn) = self.conns.find(link_id(id)) else { return };
        let poller = &mut self.pollers[conn.poller as usize];
        if !drain {
            if let Some(chunk) = conn.open.take() {
                poller.recycle(chunk);
            }
            poller.close(conn.link, Close::Abort);
            return;
        }
        if let Some(chunk) = conn.open.take() {
            poller.submit(conn.link, chunk);
        }
        conn.draining = true;
        if conn.unsent() == 0 {
            poller.close(conn.link, Close::Drain);
        }
    }

    fn throttle(&mut self, id: ConnId, stop: bool) {
        if let Some(conn) = self.conns.find(link_id(id)) {
            self.pollers[conn.poller as usize].throttle(conn.link, stop);
        }
    }

    fn order(&mut self, job: commands::Job, ticket: Option<Ticket>) {
        self.errands.push(Errand { job, ticket });
    }
}

/// A peer as the shard wants to know it.
pub(crate) fn peer_of(peer: &port::Peer) -> shard::Peer {
    let unix = matches!(peer.remote, Address::Unix(_));
    shard::Peer { remote: peer.remote.to_string(), local: peer.local.to_string(), unix, fd: peer.fd }
}

/// Events of one poller, reused from tick to tick.
pub(crate) type Events = Vec<Event>;

/// Parcels taken from one peer in one drain at most: as many as a ring holds, so that a drain takes all
/// that was visible when it began. The order of transactions stands on that.
pub(crate) const PARCELS_PER_PEER: usize = 1024;
