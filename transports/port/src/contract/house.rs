//! The house as the suite plays it: ticks a poller, keeps its books, and checks at every event what
//! must always hold. Knows nothing of any one test.

use super::{Heard, Rig, Wire};
use crate::{Chunk, Close, Event, LinkId, Poller, Why};
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// No wait of the suite lasts longer: what has not come by then never will.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the house does with bytes it receives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Keeps a copy and gives the chunk back.
    Collect,
    /// Keeps a copy, sends the same bytes back, and throttles a peer that does not listen.
    Echo,
    /// Keeps a copy and the chunk.
    Hoard,
}

/// The house's books about one living link.
#[derive(Default)]
pub(super) struct Guest {
    pub received: Vec<u8>,
    pub outgoing: VecDeque<u8>,
    /// A lease was refused: nothing is leased again before `Writable`.
    pub refused: bool,
    throttled: bool,
    /// The peer has sent its last: closed in order once it has all answers.
    finishing: bool,
}

pub(super) struct House<'a, R: Rig> {
    pub rig: &'a R,
    pub poller: R::Poller,
    pub manner: Manner,
    pub budget: usize,
    /// Links whose peer has sent its last are kept: more answers are to come.
    pub detains: bool,
    pub guests: HashMap<LinkId, Guest>,
    pub ended: HashMap<LinkId, (Why, Guest)>,
    pub hoard: Vec<Chunk>,
    pub writables: usize,
    newest: Option<LinkId>,
    events: Vec<Event>,
}

/// An echoing house throttles above this much unsent, and resumes below a quarter of it.
const ECHO_BYTES_MAX: usize = 256 * 1024;

/// How much goes on to flow after back-pressure was met: enough to meet it again and again.
const REST_BYTES: usize = 128 * 1024;

impl<'a, R: Rig> House<'a, R> {
    pub(super) fn new(rig: &'a R, manner: Manner) -> Self {
        House {
            rig,
            poller: rig.build(),
            manner,
            budget: 64,
            detains: false,
            guests: HashMap::new(),
            ended: HashMap::new(),
            hoard: Vec::new(),
            writables: 0,
            newest: None,
            events: Vec::new(),
        }
    }

    /// Dials and waits for the link to open.
    pub(super) fn connect(&mut self) -> (LinkId, Box<dyn Wire>) {
        self.newest = None;
        let wire = self.rig.dial(&mut self.poller).expect("the poller listens");
        self.until("the link opens", |house| house.newest.is_some());
        (self.newest.expect("just waited for"), wire)
    }

    /// One tick: harvest, answer, flush.
    pub(super) fn tick(&mut self) {
        self.harvest();
        let links: Vec<LinkId> = self.guests.keys().copied().collect();
        for link in links {
            self.pump(link);
        }
        self.poller.flush();
    }

    /// Polls once, checks and books the events; returns how many there were.
    pub(super) fn harvest(&mut self) -> usize {
        let mut events = std::mem::take(&mut self.events);
        self.poller.poll(self.budget, &mut events);
        let count = events.len();
        assert!(count <= 2 * self.budget, "{count} events for a budget of {}", self.budget);
        for event in events.drain(..) {
            self.book(event);
        }
        self.events = events;
        count
    }

    fn book(&mut self, event: Event) {
        match event {
            Event::Opened(link, _) => {
                assert!(!self.ended.contains_key(&link), "{link:?} is never used again");
                let slot_taken = self.guests.keys().any(|other| other.slot == link.slot);
                assert!(!slot_taken, "the slot of {link:?} is free");
                self.guests.insert(link, Guest::default());
                self.newest = Some(link);
            }
            Event::Bytes(link, chunk) => {
                let guest = self.guests.get_mut(&link).expect("bytes come between Opened and Closed");
                assert!(!chunk.filled().is_empty(), "bytes are never none");
                assert!(!guest.finishing, "no bytes come behind Ended");
                guest.received.extend_from_slice(chunk.filled());
                if self.manner == Manner::Echo {
                    guest.outgoing.extend(chunk.filled());
                }
                match self.manner {
                    Manner::Hoard => self.hoard.push(chunk),
                    _ => self.poller.recycle(chunk),
                }
            }
            Event::Writable(link) => {
                let guest = self.guests.get_mut(&link).expect("Writable comes between Opened and Closed");
                guest.refused = false;
                self.writables += 1;
            }
            Event::Ended(link) => {
                let guest = self.guests.get_mut(&link).expect("Ended comes between Opened and Closed");
                assert!(!guest.finishing, "Ended comes once");
                guest.finishing = true;
            }
            Event::Closed(link, why) => {
                let guest = self.guests.remove(&link).expect("Closed comes once, after Opened");
                self.ended.insert(link, (why, guest));
            }
        }
    }

    /// Leases, fills and submits as much of a link's outgoing bytes as the transport takes.
    pub(super) fn pump(&mut self, link: LinkId) {
        let Some(guest) = self.guests.get_mut(&link) else { return };
        while !guest.outgoing.is_empty() && !guest.refused {
            match self.poller.lease(link, guest.outgoing.len()) {
                None => guest.refused = true,
                Some(mut chunk) => {
                    assert!(
                        chunk.filled().is_empty() && !chunk.spare().is_empty(),
                        "a lease is an empty chunk"
                    );
                    let filled = chunk.fill(guest.outgoing.make_contiguous());
                    guest.outgoing.drain(..filled);
                    self.poller.submit(link, chunk);
                }
            }
        }
        if guest.finishing && !self.detains && guest.outgoing.is_empty() {
            self.poller.close(link, Close::Drain);
        }
        let unsent = guest.outgoing.len();
        if self.manner == Manner::Echo && guest.throttled != (unsent > ECHO_BYTES_MAX) {
            let stop = unsent > ECHO_BYTES_MAX;
            if stop || unsent < ECHO_BYTES_MAX / 4 {
                guest.throttled = stop;
                self.poller.throttle(link, stop);
            }
        }
    }

    /// Hands bytes to a link, to leave as the transport takes them.
    pub(super) fn say(&mut self, link: LinkId, bytes: &[u8]) {
        self.guests.get_mut(&link).expect("a living link").outgoing.extend(bytes);
        self.pump(link);
    }

    /// Ticks until something holds.
    pub(super) fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            self.tick();
            assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
            std::thread::yield_now();
        }
    }

    pub(super) fn until_closed(&mut self, link: LinkId) -> Why {
        self.until("the link is closed", |house| house.ended.contains_key(&link));
        self.ended[&link].0
    }

    /// Ticks a while, for what must not happen to have its chance.
    pub(super) fn linger(&mut self) {
        for _ in 0..100 {
            self.tick();
            std::thread::yield_now();
        }
    }

    /// Fills the link until the transport refuses and the peer, which does not listen, holds all it can.
    /// A part is left with the house. Returns all that was said.
    pub(super) fn stuff(&mut self, link: LinkId, seed: u64) -> Vec<u8> {
        let mut said = pattern(seed, 16 << 20);
        self.say(link, &said);
        let mut left = 0;
        self.until("back-pressure holds", |house| {
            let guest = &house.guests[&link];
            let stands_still = guest.refused && guest.outgoing.len() == left;
            left = guest.outgoing.len();
            house.linger();
            stands_still && house.guests[&link].outgoing.len() == left
        });
        assert!(left > 0, "a peer that does not listen is not sent 16 MiB");
        let kept = left.min(REST_BYTES);
        self.guests.get_mut(&link).expect("a living link").outgoing.truncate(kept);
        said.truncate(said.len() - (left - kept));
        said
    }

    /// Has a peer send until it is held back, and then as much again as the house must still take.
    /// Returns what is sent in all, and how much of it has been.
    pub(super) fn flood(&mut self, wire: &mut dyn Wire, seed: u64) -> (Vec<u8>, usize) {
        let mut said = pattern(seed, 24 << 20);
        let (mut sent, mut idle) = (0, 0);
        self.until("the peer is held back", |_| {
            let taken = wire.send(&said[sent..said.len().min(sent + 60_000)]);
            sent += taken;
            idle = if taken == 0 { idle + 1 } else { 0 };
            idle > 500 || sent == said.len()
        });
        assert!(sent < said.len(), "a peer whose bytes nobody takes is held back");
        said.truncate(sent + REST_BYTES);
        (said, sent)
    }

    /// Has the peer listen until it heard `count` bytes in all, or the end.
    pub(super) fn hear(&mut self, wire: &mut dyn Wire, heard: &mut Vec<u8>, count: usize) -> Heard {
        let mut last = Heard::Nothing;
        self.until("the peer has heard it all", |_| {
            last = wire.receive(heard);
            heard.len() >= count || last == Heard::End
        });
        last
    }

    /// Has the peer send all of `bytes` while the house ticks.
    pub(super) fn have_sent(&mut self, wire: &mut dyn Wire, mut bytes: &[u8]) {
        self.until("the peer has sent it all", |_| {
            bytes = &bytes[wire.send(bytes)..];
            bytes.is_empty()
        });
    }

    /// Waits until the house has received `count` bytes of a living link.
    pub(super) fn until_received(&mut self, link: LinkId, count: usize) {
        self.until("the bytes have arrived", |house| house.guests[&link].received.len() >= count);
    }

    /// Closes what lives, waits for it, and checks that nothing is left.
    pub(super) fn finish(mut self) {
        for chunk in self.hoard.drain(..) {
            self.poller.recycle(chunk);
        }
        let living: Vec<LinkId> = self.guests.keys().copied().collect();
        for link in living {
            self.poller.close(link, Close::Abort);
        }
        self.until("every link is closed", |house| house.guests.is_empty());
        self.until("every chunk is home", |house| house.poller.stats().chunks_away == 0);
        self.linger();
        let stats = self.poller.stats();
        assert_eq!(stats.opened, stats.closed, "what opened has closed");
        assert_eq!(stats.closed as usize, self.ended.len(), "each once");
        assert_eq!(stats.chunks_away, 0, "every chunk is home");
        assert_eq!(self.poller.links(), 0, "no link is left");
    }
}

/// Bytes that tell their place, so that a lost, doubled or moved one shows.
pub(super) fn pattern(seed: u64, count: usize) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        bytes.extend_from_slice(&dice.roll().to_le_bytes());
    }
    bytes.truncate(count);
    bytes
}

/// Compares without printing megabytes.
#[track_caller]
pub(super) fn check_same(heard: &[u8], said: &[u8]) {
    let same = heard.iter().zip(said).take_while(|(one, other)| one == other).count();
    assert!(
        heard.len() == said.len() && same == said.len(),
        "{} bytes of {} came, the first {same} of them right",
        heard.len(),
        said.len()
    );
}

/// A splitmix64 generator: the suite is the same in every run.
pub(super) struct Dice(pub u64);

impl Dice {
    pub(super) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound as u64) as usize
    }
}
