//! What one core has around its shard: pollers, connections, the ends of the mesh. It carries out what
//! the shard says, and knows nothing of commands.

use crate::backlog::Backlog;
use crate::idle::Waker;
use mesh::{Published, Sender};
use port::{Address, Chunk, Close, Event, LinkId, Links, Poller};
use resp::Shared;
use shard::{ConnId, Outbox, Parcel, Ticket};
use std::sync::Arc;
use telemetry::Block;

/// Unsent replies of all clients of a core, beyond which commands of those wait that do not read. Below
/// it a client may send as many commands as it likes before it reads the first reply.
const UNSENT_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Unsent replies of one client beyond which it counts as one that does not read.
const STUCK_BYTES: usize = 1024 * 1024;
/// Below this it reads again.
const FLOWS_BYTES: usize = STUCK_BYTES / 4;

/// A connection, as the house knows it.
struct Conn {
    poller: u8,
    link: LinkId,
    /// Replies of this tick, filled so far.
    open: Option<Chunk>,
    /// Replies that found no chunk.
    backlog: Backlog,
    /// The shard was told that it is stuck.
    stuck: bool,
    /// It listens to messages: the limits of its kind hold.
    listens: bool,
    /// Close once the backlog is sent.
    draining: bool,
    dirty: bool,
    over_soft_since_ms: Option<i64>,
    /// It is on the list of slow ones.
    over_soft_listed: bool,
    /// It was closed at once: what is still said to it goes nowhere.
    aborted: bool,
}

/// Hard limit, soft limit in bytes, and how many seconds a client may be over that.
type OutputLimit = (u64, u64, u64);

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
    /// Large buffers that replies are done with, for the shard to free.
    pub spent: Vec<Arc<Vec<u8>>>,
    /// Bytes in all backlogs.
    unsent_bytes: usize,
    /// Connections that the shard was told are stuck, and some that were.
    stuck: Vec<ConnId>,
    /// Connections over the soft output limit.
    slow: Vec<ConnId>,
    /// Connections closed for the output limits so far.
    pub over_limit: u64,
    /// Limits of what a client has not read.
    pub output_limit: OutputLimit,
    /// The same of one that listens to messages.
    pub listeners_limit: OutputLimit,
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
            spent: Vec::new(),
            unsent_bytes: 0,
            stuck: Vec::new(),
            slow: Vec::new(),
            over_limit: 0,
            output_limit: (0, 0, 0),
            listeners_limit: (0, 0, 0),
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
            backlog: Backlog::default(),
            stuck: false,
            listens: false,
            draining: false,
            dirty: false,
            over_soft_since_ms: None,
            over_soft_listed: false,
            aborted: false,
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
        if let Some(mut conn) = self.conns.remove(link_id(id)) {
            self.unsent_bytes -= conn.backlog.len();
            self.spent.extend(conn.backlog.clear());
            if let Some(chunk) = conn.open.take() {
                self.pollers[poller].recycle(chunk);
            }
        }
        Some(id)
    }

    /// A link takes more.
    pub(crate) fn writable(&mut self, poller: usize, link: LinkId) {
        if let Some(id) = self.conn_of(poller, link) {
            self.push_backlog(id);
        }
    }

    /// Adds a large piece to a backlog, and sends of it what can be sent.
    fn write_piece(&mut self, id: ConnId, bytes: usize, push: impl FnOnce(&mut Backlog)) {
        let Some(conn) = self.conns.find(link_id(id)) else { return };
        if conn.draining || conn.aborted {
            return;
        }
        if let Some(chunk) = conn.open.take() {
            self.pollers[conn.poller as usize].submit(conn.link, chunk);
        }
        let flows = conn.backlog.is_empty();
        self.unsent_bytes += bytes;
        push(&mut conn.backlog);
        if flows {
            self.push_backlog(id);
        }
        self.keep_limits(id);
    }

    fn push_backlog(&mut self, id: ConnId) {
        let Some(conn) = self.conns.find(link_id(id)) else { return };
        let poller = &mut self.pollers[conn.poller as usize];
        let before = conn.backlog.len();
        while !conn.backlog.is_empty() {
            let Some(mut chunk) = poller.lease(conn.link, conn.backlog.len()) else { break };
            while !conn.backlog.is_empty() && !chunk.spare().is_empty() {
                let count = chunk.fill(conn.backlog.front());
                self.spent.extend(conn.backlog.consume(count));
            }
            poller.submit(conn.link, chunk);
        }
        self.unsent_bytes -= before - conn.backlog.len();
        if conn.stuck && conn.backlog.len() <= FLOWS_BYTES {
            conn.stuck = false;
            self.chokes.push((id, false, conn.backlog.len()));
        }
        if conn.backlog.is_empty() && conn.draining {
            poller.close(conn.link, Close::Drain);
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

    /// Whether clients are over the soft output limit, so that their time must be looked at.
    pub(crate) fn has_slow(&self) -> bool {
        !self.slow.is_empty()
    }

    /// Closes clients that have been over the soft output limit for too long.
    pub(crate) fn close_slow(&mut self) {
        for id in std::mem::take(&mut self.slow) {
            if let Some(conn) = self.conns.find(link_id(id)) {
                conn.over_soft_listed = false;
            }
            self.keep_limits(id);
        }
    }

    /// Closes a connection whose backlog is over the output limits; tells the shard of one that is stuck.
    fn keep_limits(&mut self, id: ConnId) {
        let Some(conn) = self.conns.find(link_id(id)) else { return };
        let (hard, soft, soft_s) = if conn.listens { self.listeners_limit } else { self.output_limit };
        let unsent = conn.backlog.len();
        let over_soft = soft > 0 && unsent as u64 > soft;
        if !over_soft {
            conn.over_soft_since_ms = None;
        }
        let since = over_soft.then(|| *conn.over_soft_since_ms.get_or_insert(self.now_ms));
        let too_long = since.is_some_and(|since| self.now_ms - since > soft_s as i64 * 1000);
        if hard > 0 && unsent as u64 > hard || too_long {
            self.over_limit += 1;
            return self.close(id, false);
        }
        if over_soft && !std::mem::replace(&mut conn.over_soft_listed, true) {
            self.slow.push(id);
        }
        // Where there is a hard limit, it is the operator's wish that such a client is closed.
        if unsent > STUCK_BYTES && self.unsent_bytes > UNSENT_BYTES_MAX && hard == 0 && !conn.stuck {
            conn.stuck = true;
            self.stuck.push(id);
            self.chokes.push((id, true, unsent));
        }
    }

    /// Lets clients that do not read go on with their commands, when there is room for replies again.
    pub(crate) fn free_stuck(&mut self) {
        if self.stuck.is_empty() || self.unsent_bytes > UNSENT_BYTES_MAX / 2 {
            return;
        }
        for id in std::mem::take(&mut self.stuck) {
            if let Some(conn) = self.conns.find(link_id(id)).filter(|conn| conn.stuck) {
                conn.stuck = false;
                self.chokes.push((id, false, conn.backlog.len()));
            }
        }
    }
}

impl Outbox for Wires {
    fn write(&mut self, id: ConnId, mut bytes: &[u8]) {
        let Some(conn) = self.conns.find(link_id(id)) else { return };
        if conn.draining || conn.aborted {
            return;
        }
        if conn.backlog.is_empty() {
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
            conn.backlog.push(bytes);
            self.unsent_bytes += bytes.len();
            self.keep_limits(id);
        }
    }

    fn write_large(&mut self, id: ConnId, bytes: Vec<u8>) {
        self.write_piece(id, bytes.len(), |backlog| backlog.push_whole(bytes));
    }

    fn write_shared(&mut self, id: ConnId, shared: &Shared) {
        self.write_piece(id, shared.len(), |backlog| backlog.push_shared(shared.clone()));
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
            self.unsent_bytes -= conn.backlog.len();
            self.spent.extend(conn.backlog.clear());
            conn.aborted = true;
            poller.close(conn.link, Close::Abort);
            return;
        }
        if conn.aborted {
            return;
        }
        if let Some(chunk) = conn.open.take() {
            poller.submit(conn.link, chunk);
        }
        conn.draining = true;
        if conn.backlog.is_empty() {
            poller.close(conn.link, Close::Drain);
        }
    }

    fn listens(&mut self, id: ConnId, listens: bool) {
        if let Some(conn) = self.conns.find(link_id(id)) {
            conn.listens = listens;
            conn.over_soft_since_ms = None;
            self.keep_limits(id);
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
