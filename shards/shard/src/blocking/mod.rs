//! Blocking commands: clients that wait until a key has something to take.
//!
//! A client's home keeps the wait: its time, and whether it is over. It alone says that an element is the
//! client's. The shard that owns a key keeps the queue of those who wait for it, with the command of each.
//! When a key comes to have something, its owner holds it (nobody else gets at it) and offers what there
//! is to the first of the queue; the home takes that or declines, in the moment in which it answers its
//! client or finds it gone; and only what was taken is removed. So no element is lost or given twice,
//! nobody is served out of turn, and nothing has to be put back.

mod attempt;
mod home;
mod serve;

use crate::outbox::Now;
use crate::parcel::{ConnId, PartKey, Ticket};
use crate::session::Session;
use commands::{Args, Caller, Order};
use resp::Span;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A blocking command of a client of this shard.
#[derive(Debug)]
pub(crate) struct Blocked {
    /// Its answer's number within the session.
    sequence: u64,
    number: u16,
    /// Unix milliseconds when its time is over; `i64::MAX`: never.
    until: i64,
    /// The shards that own its keys, each once.
    owners: Vec<u16>,
    state: State,
}

/// How far a blocking command is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It is tried whether there is something to take.
    Tried,
    /// It waits.
    Waiting,
    /// It runs anew, since there is something now.
    Anew,
    /// Its wait ends in this turn.
    Ending,
}

impl Blocked {
    /// It waits, and nothing of it is under way.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting | State::Ending)
    }
}

/// A client, of whichever shard, that waits for keys of this one.
#[derive(Debug)]
struct Waiter {
    home: u16,
    ticket: Ticket,
    caller: Caller,
    number: u16,
    bytes: Vec<u8>,
    spans: Vec<Span>,
    /// Keys of its command that live here.
    keys: Vec<PartKey>,
    /// What it has been offered.
    offered: Option<Offered>,
}

impl Waiter {
    fn args(&self) -> Args<'_> {
        Args::new(&self.bytes, &self.spans)
    }

    fn memory(&self) -> usize {
        self.bytes.capacity() + size_of_val(&self.spans[..]) + size_of_val(&self.keys[..])
    }
}

/// What is to be done when an offer is taken.
#[derive(Debug)]
struct Offered {
    spot: Name,
    orders: Vec<(PartKey, Order)>,
    /// The hash of another key of this shard that gets something then: it is held too.
    other: Option<u64>,
    /// When it was looked at.
    now: Now,
}

/// Names an awaited key.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Name {
    db: u16,
    hash: u64,
    key: Box<[u8]>,
}

impl Name {
    fn key(&self) -> commands::Key<'_> {
        commands::Key { bytes: &self.key, hash: self.hash }
    }
}

/// All waits that this shard has to do with.
#[derive(Default, Debug)]
pub(crate) struct Waits {
    /// Who waits for keys of this shard, by client.
    waiters: BTreeMap<u64, Waiter>,
    /// Keys that have, or had, something to take.
    ready: VecDeque<Name>,
    /// The same, but somebody has to be done first.
    stalled: Vec<Name>,
    /// Offers that are not answered.
    offers: usize,
    /// Hashes of the other keys of these: nobody is served from them meanwhile.
    pushing: Vec<u64>,
    /// Clients of this shard that wait for a time, by when it is over.
    deadlines: BTreeSet<(i64, ConnId)>,
    /// Clients of this shard whose wait is ended by others, and whether with an error.
    ending: Vec<(ConnId, bool)>,
    /// How many clients of this shard wait.
    blocked: usize,
}

impl Waits {
    /// How many clients wait for keys of this shard.
    pub(crate) fn waiters(&self) -> usize {
        self.waiters.len()
    }

    /// The home and the name of a client's wait.
    pub(crate) fn wait_of(&self, client: u64) -> Option<(u16, Ticket)> {
        self.waiters.get(&client).map(|waiter| (waiter.home, waiter.ticket))
    }

    /// How many clients of this shard wait.
    pub(crate) fn blocked(&self) -> usize {
        self.blocked
    }

    /// A turn has something to do.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.blocked > 0 || self.wants_service()
    }

    /// Keys are to be looked at.
    #[inline]
    pub(crate) fn wants_service(&self) -> bool {
        !self.ready.is_empty() || !self.stalled.is_empty()
    }

    /// Nothing is offered, or to be offered.
    pub(crate) fn is_settled(&self) -> bool {
        !self.wants_service() && self.offers == 0
    }

    /// Unix milliseconds when the next wait is over.
    pub(crate) fn deadline(&self) -> Option<i64> {
        self.deadlines.first().map(|(until, _)| *until)
    }

    /// Ends a client's wait in this turn. Whether it waits.
    pub(crate) fn unblock(&mut self, conn: ConnId, session: &mut Session, error: bool) -> bool {
        match &mut session.blocked {
            Some(blocked) if blocked.state == State::Waiting && !session.state.closing => {
                blocked.state = State::Ending;
                self.ending.push((conn, error));
                true
            }
            _ => false,
        }
    }
}

/// A wait's name in parcels: late ones are told from new ones.
fn wait_of(ticket: Ticket) -> u32 {
    ticket.sequence as u32
}
