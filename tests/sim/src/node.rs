//! One simulated core: a shard and its wires, ticking as the house's core does, but in rooms that others
//! may come between. It does not know which client does what, or when it is its turn.

use crate::plan::{HouseBug, Plan};
use crate::random::Random;
use crate::trace::Trace;
use crate::wires::{Closing, Link, Wires};
use mesh::Receiver;
use shard::{ConnId, Now, Parcel, Peer, Shard, Ticket};
use std::collections::VecDeque;

/// Where in its tick a core is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    Idle,
    Drain(usize),
    Settle,
    DrainAll(usize),
    Order,
    Harvest,
    Turn,
    Stage,
    Publish(usize),
    Published,
}

/// What a harvest tells the clients.
#[derive(Debug)]
pub(crate) enum News {
    Opened(usize, ConnId),
    /// The shard was fed so many bytes of the client, all in all.
    Fed(usize, usize),
    /// The link is gone, with what was still under way to the client.
    Closed(usize, Box<Link>),
}

/// One core.
pub(crate) struct Node {
    pub shard: Shard,
    pub wires: Wires,
    inboxes: Vec<Receiver<Parcel>>,
    pub room: Room,
    /// Ticks so far.
    pub ticks: u64,
    pub now: Now,
    settled: u64,
    /// Clients that have asked for a connection.
    pub dialling: VecDeque<usize>,
    pub news: Vec<News>,
    jobs: Vec<(u64, Option<Ticket>)>,
    /// The tick found something to do.
    useful: bool,
}

/// A core's surroundings in a step.
pub(crate) struct Scene<'a> {
    pub plan: &'a Plan,
    pub random: &'a mut Random,
    pub trace: &'a mut Trace,
    pub step: u64,
    pub now: Now,
    /// Everything that can be done is done: no skipping, no dawdling.
    pub calm: bool,
    /// Who has nothing to do sleeps.
    pub sleeps: bool,
}

impl Node {
    pub(crate) fn new(shard: Shard, wires: Wires, inboxes: Vec<Receiver<Parcel>>) -> Node {
        Node {
            shard,
            wires,
            inboxes,
            room: Room::Idle,
            ticks: 0,
            now: Now::default(),
            settled: 0,
            dialling: VecDeque::new(),
            news: Vec::new(),
            jobs: Vec::new(),
            useful: true,
        }
    }

    /// Goes through one room.
    pub(crate) fn advance(&mut self, scene: &mut Scene<'_>) {
        if self.room == Room::Idle && scene.sleeps && self.may_sleep(scene) {
            return;
        }
        let rings = self.inboxes.len();
        self.room = match self.room {
            Room::Idle => {
                self.now = scene.now;
                self.end_jobs(scene);
                Room::Drain(0)
            }
            Room::Drain(ring) if ring < rings => {
                let most = if scene.calm { 256 } else { scene.random.within(0, scene.plan.drain) };
                self.drain(ring, most, scene);
                Room::Drain(ring + 1)
            }
            Room::Drain(_) if self.shard.wants_order() => Room::Settle,
            Room::Drain(_) => Room::Harvest,
            Room::Settle => {
                self.settled = self.shard.settled();
                Room::DrainAll(0)
            }
            Room::DrainAll(ring) if ring < rings => {
                let budget = scene.plan.house_bug == Some(HouseBug::DrainBudget);
                self.drain(ring, if budget { 1 } else { usize::MAX }, scene);
                Room::DrainAll(ring + 1)
            }
            Room::DrainAll(_) => Room::Order,
            Room::Order => {
                self.order(scene);
                Room::Harvest
            }
            Room::Harvest => {
                self.harvest(scene);
                Room::Turn
            }
            Room::Turn => {
                self.turn(scene);
                Room::Stage
            }
            Room::Stage => {
                self.shard.stage(&mut self.wires);
                if scene.plan.house_bug == Some(HouseBug::PublishedEarly) {
                    self.shard.published();
                }
                Room::Publish(0)
            }
            Room::Publish(to) if to < self.wires.senders.len() => {
                if let Some(sender) = &mut self.wires.senders[to] {
                    self.useful |= sender.publish() > 0;
                }
                Room::Publish(to + 1)
            }
            Room::Publish(_) => Room::Published,
            Room::Published => {
                self.shard.published();
                self.ticks += 1;
                self.useful |= self.shard.ran() > 0;
                self.shard.took(1_000);
                let delay = if scene.calm { 0 } else { scene.random.within(0, 60) as u64 };
                self.jobs.extend(self.wires.jobs.drain(..).map(|ticket| (scene.step + delay, ticket)));
                Room::Idle
            }
        };
    }

    fn order(&mut self, scene: &mut Scene<'_>) {
        if scene.plan.house_bug == Some(HouseBug::SettledAfterDrain) {
            self.settled = self.shard.settled();
        }
        let settled = self.settled;
        scene.trace.note(|| format!("shard {}: orders below {settled}", self.shard.index()));
        self.shard.order(self.settled, &mut self.wires);
    }

    fn turn(&mut self, scene: &Scene<'_>) {
        self.shard.turn(self.now, &mut self.wires);
        let mut chokes = std::mem::take(&mut self.wires.chokes);
        if scene.plan.house_bug == Some(HouseBug::ChokesBackwards) {
            chokes.reverse();
        }
        for (conn, stuck, bytes) in chokes {
            self.shard.choke(conn, stuck, bytes);
        }
    }

    /// The oldest time that what runs here may take for now.
    pub(crate) fn oldest_ms(&self, now: Now) -> i64 {
        if self.room == Room::Idle { now.ms() } else { self.now.ms() }
    }

    /// Nothing is under way here or to here.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.shard.is_quiet()
            && self.jobs.is_empty()
            && self.wires.jobs.is_empty()
            && self.dialling.is_empty()
            && self.wires.chokes.is_empty()
            && !self.wires.has_news()
            && self.inboxes.iter_mut().all(|inbox| inbox.visible() == 0)
            && self.wires.senders.iter().flatten().all(|sender| sender.staged() == 0)
    }

    /// The last tick did nothing, nothing has come, and the shard does not mind: who has to be woken for
    /// what is still to be done is told by the shard alone.
    fn may_sleep(&mut self, scene: &Scene<'_>) -> bool {
        let came = !self.dialling.is_empty()
            || !self.wires.chokes.is_empty()
            || self.jobs.iter().any(|(due, _)| *due <= scene.step)
            || self.wires.has_news()
            || self.inboxes.iter_mut().any(|inbox| inbox.visible() > 0);
        let due = self.shard.deadline().is_some_and(|due| due <= scene.now.ms());
        let useful = std::mem::take(&mut self.useful);
        !useful && !came && !due && !self.shard.is_restless()
    }

    fn end_jobs(&mut self, scene: &mut Scene<'_>) {
        let due = |job: &(u64, Option<Ticket>)| job.0 <= scene.step;
        while let Some(place) = self.jobs.iter().position(due) {
            if let (_, Some(ticket)) = self.jobs.swap_remove(place) {
                self.shard.job_done(self.now, ticket, Ok(()), &mut self.wires);
            }
        }
    }

    fn drain(&mut self, ring: usize, most: usize, scene: &mut Scene<'_>) {
        for _ in 0..most {
            let Some(parcel) = self.inboxes[ring].pop() else { break };
            self.useful = true;
            let index = self.shard.index();
            scene.trace.note(|| format!("shard {index}: takes {}", brief(&parcel)));
            self.shard.deliver(self.now, parcel, &mut self.wires);
        }
        self.inboxes[ring].release();
    }

    fn harvest(&mut self, scene: &mut Scene<'_>) {
        let slots = self.wires.slots();
        let first = if slots == 0 { 0 } else { scene.random.below(slots) };
        for place in 0..slots {
            if scene.calm || scene.random.percent(70) {
                self.visit((first + place) % slots, scene);
            }
        }
        while let Some(client) = self.dialling.pop_front() {
            let conn = self.wires.open(client);
            let peer = Peer {
                remote: format!("127.0.0.1:{client}"),
                local: "127.0.0.1:6379".into(),
                unix: false,
                fd: 7,
            };
            self.shard.open(self.now, conn, peer);
            self.news.push(News::Opened(client, conn));
        }
    }

    /// What came by the link in a slot.
    fn visit(&mut self, slot: usize, scene: &mut Scene<'_>) {
        let Some(link) = self.wires.at(slot) else { return };
        let (conn, gone, closing) = (link.conn, link.is_orphan(), link.closing);
        if !link.up.is_empty() && (!link.throttled || gone) && closing != Some(Closing::Aborted) {
            let whole = scene.calm || !scene.random.percent(scene.plan.cuts);
            let count = if whole { link.up.len() } else { scene.random.within(1, link.up.len().min(90)) };
            let bytes: Vec<u8> = link.up.drain(..count).collect();
            link.fed += count;
            self.news.extend(link.client.map(|client| News::Fed(client, link.fed)));
            self.useful = true;
            self.shard.feed(self.now, conn, &bytes, &mut self.wires);
        }
        let Some(link) = self.wires.at(slot) else { return };
        if link.up.is_empty() && std::mem::take(&mut link.ended) {
            self.shard.ended(self.now, conn, &mut self.wires);
        }
        let Some(link) = self.wires.at(slot) else { return };
        let hung_up = gone && link.up.is_empty();
        let closed = link.closing.is_some() && (scene.calm || scene.random.one_in(2));
        if hung_up || closed {
            let link = self.wires.remove(conn).expect("it was just seen");
            self.shard.close(conn);
            if let Some(client) = link.client {
                self.news.push(News::Closed(client, Box::new(link)));
            }
        }
    }
}

/// A parcel as a trace shows it.
fn brief(parcel: &Parcel) -> String {
    match parcel {
        Parcel::Run(run) => format!("a run of {} for {:?} of {}", run.steps.len(), run.ticket, run.home),
        Parcel::Ran(run) => format!("its run back for {:?}", run.ticket),
        Parcel::Part(part) => format!("part {} of {} ({:?})", part.id, part.home, part.hop),
        Parcel::PartDone(part) => format!("part {} back from {} ({:?})", part.id, part.shard, part.hop),
        Parcel::Attempt(run) => format!("an attempt for {:?} of {}", run.ticket, run.home),
        Parcel::Attempted(run) => format!("an attempt back for {:?}, waits: {}", run.ticket, run.waits),
        Parcel::Offer(offer) => format!("an offer of {} for {:?}", offer.owner, offer.ticket),
        Parcel::Offered(offer) => format!("its offer back for {:?}, taken: {}", offer.ticket, offer.taken),
        Parcel::Unwait { client, wait } => format!("the end of wait {wait} of {client}"),
        Parcel::Unwatch { client, round } => format!("the end of round {round} of what {client} watches"),
        Parcel::News { home, bytes } => format!("news of shard {home}, {} bytes", bytes.len()),
        Parcel::Buffer(buffer) => format!("a buffer of {}", buffer.len()),
    }
}
