//! What surrounds one simulated shard: rings to the others, links to clients, jobs. It does what the
//! house's own wires do, without sockets; it knows nothing of commands.

use crate::client::Client;
use mesh::Sender;
use shard::{ConnId, Outbox, Parcel, Ticket};

/// Unread replies of a client beyond which the shard is told that it is stuck.
const STUCK_BYTES: usize = 700;

/// How the server has closed a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closing {
    /// With everything written sent first.
    Drained,
    /// At once.
    Aborted,
}

/// A step, and the newest clock in it in milliseconds.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Instant {
    pub step: u64,
    pub ms: i64,
}

/// A connection as the house knows it.
#[derive(Debug)]
pub(crate) struct Link {
    pub conn: ConnId,
    /// Who looks at what is written.
    pub client: Option<usize>,
    /// The client has gone, without a word.
    pub gone: bool,
    /// Bytes under way to the shard.
    pub up: Vec<u8>,
    /// Bytes under way to the client.
    pub down: Vec<u8>,
    /// Bytes that the shard was fed.
    pub fed: usize,
    /// Bytes that the shard wrote.
    written: usize,
    /// How far it had written at which moment; taken by the client.
    pub writes: Vec<(usize, Instant)>,
    pub stuck: bool,
    pub throttled: bool,
    /// The client has sent its last; the shard is told behind what is under way.
    pub ended: bool,
    pub closing: Option<Closing>,
}

/// The world around one shard.
pub(crate) struct Wires {
    pub senders: Vec<Option<Sender<Parcel>>>,
    slots: Vec<(u32, Option<Link>)>,
    free: Vec<u32>,
    pub chokes: Vec<(ConnId, bool, usize)>,
    /// Tickets of jobs that the house was given.
    pub jobs: Vec<Option<Ticket>>,
    /// Now.
    pub instant: Instant,
}

impl Link {
    /// Nobody reads any more.
    pub(crate) fn is_orphan(&self) -> bool {
        self.gone || self.client.is_none()
    }
}

impl Wires {
    pub(crate) fn new(senders: Vec<Option<Sender<Parcel>>>) -> Wires {
        Wires {
            senders,
            slots: Vec::new(),
            free: Vec::new(),
            chokes: Vec::new(),
            jobs: Vec::new(),
            instant: Instant::default(),
        }
    }

    /// A new link, in the slot that was freed last.
    pub(crate) fn open(&mut self, client: usize) -> ConnId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            self.slots.len() as u32 - 1
        });
        let entry = &mut self.slots[slot as usize];
        entry.0 += 1;
        let conn = ConnId { slot, generation: entry.0 };
        entry.1 = Some(Link {
            conn,
            client: Some(client),
            gone: false,
            up: Vec::new(),
            down: Vec::new(),
            fed: 0,
            written: 0,
            writes: Vec::new(),
            stuck: false,
            throttled: false,
            ended: false,
            closing: None,
        });
        conn
    }

    pub(crate) fn find(&mut self, conn: ConnId) -> Option<&mut Link> {
        let (generation, link) = self.slots.get_mut(conn.slot as usize)?;
        if *generation == conn.generation { link.as_mut() } else { None }
    }

    pub(crate) fn remove(&mut self, conn: ConnId) -> Option<Link> {
        self.find(conn)?;
        self.free.push(conn.slot);
        self.slots[conn.slot as usize].1.take()
    }

    /// How many slots there are.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The link in a slot.
    pub(crate) fn at(&mut self, slot: usize) -> Option<&mut Link> {
        self.slots.get_mut(slot)?.1.as_mut()
    }

    pub(crate) fn links(&self) -> usize {
        self.slots.iter().filter(|(_, link)| link.is_some()).count()
    }

    /// A link has something for its shard.
    pub(crate) fn has_news(&self) -> bool {
        let has = |link: &Link| {
            !link.up.is_empty() && !link.throttled || link.ended || link.closing.is_some() || link.is_orphan()
        };
        self.slots.iter().any(|(_, link)| link.as_ref().is_some_and(has))
    }

    /// A client has gone, and its link is still there.
    pub(crate) fn has_orphans(&self) -> bool {
        self.slots.iter().any(|(_, link)| link.as_ref().is_some_and(Link::is_orphan))
    }

    /// The client reads up to `most` bytes.
    pub(crate) fn read(&mut self, conn: ConnId, most: usize, client: &mut Client) {
        let bytes = self.take_down(conn, most);
        let Some(link) = self.find(conn) else { return };
        client.receive(bytes.into_iter(), link.writes.drain(..));
    }

    /// Up to `most` bytes on their way to the client reach it.
    pub(crate) fn take_down(&mut self, conn: ConnId, most: usize) -> Vec<u8> {
        let Some(link) = self.find(conn) else { return Vec::new() };
        let count = most.min(link.down.len());
        let bytes = link.down.drain(..count).collect();
        if link.stuck && link.down.is_empty() {
            link.stuck = false;
            self.chokes.push((conn, false, 0));
        }
        bytes
    }
}

impl Outbox for Wires {
    fn write(&mut self, conn: ConnId, bytes: &[u8]) {
        let instant = self.instant;
        let Some(link) = self.find(conn) else { return };
        if link.closing.is_some() || link.client.is_none() {
            return;
        }
        link.down.extend_from_slice(bytes);
        link.written += bytes.len();
        link.writes.push((link.written, instant));
        let unread = link.down.len();
        if unread > STUCK_BYTES && !link.stuck && !link.gone {
            link.stuck = true;
            self.chokes.push((conn, true, unread));
        }
    }

    fn send(&mut self, to: u16, parcel: Parcel) -> Result<(), Parcel> {
        match &mut self.senders[to as usize] {
            Some(sender) => sender.stage(parcel),
            None => panic!("a shard sends itself a parcel"),
        }
    }

    fn room(&mut self, to: u16) -> usize {
        self.senders[to as usize].as_mut().map_or(0, Sender::room)
    }

    fn close(&mut self, conn: ConnId, drain: bool) {
        let Some(link) = self.find(conn) else { return };
        if !drain {
            link.down.clear();
            link.closing = Some(Closing::Aborted);
        } else if link.closing.is_none() {
            link.closing = Some(Closing::Drained);
        }
    }

    fn throttle(&mut self, conn: ConnId, stop: bool) {
        if let Some(link) = self.find(conn) {
            link.throttled = stop;
        }
    }

    fn order(&mut self, _: commands::Job, ticket: Option<Ticket>) {
        self.jobs.push(ticket);
    }
}
