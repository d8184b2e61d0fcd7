//! One core: its shard, its pollers, its ends of the mesh; and `tick`, the life of a request from top
//! to bottom.

use crate::idle::{Idle, Waker};
use crate::wires::{Events, PARCELS_PER_PEER, Wires, peer_of};
use commands::Job;
use mesh::Receiver;
use port::{Event, Peer};
use shard::{ConnId, Now, Outbox, Parcel, Shard, Ticket};
use spec::setting::{ClientClass, Priority};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};
use telemetry::Block;

/// Events harvested from one poller in one tick.
const BUDGET: usize = 128;
/// Clocks are compared this often.
const RESYNC_NS: u64 = 50_000_000;
/// Clients over the soft output limit are looked at this often.
const SLOW_LOOK_MS: i64 = 500;

/// A message to a core from outside the data cores.
#[derive(Debug)]
pub enum Letter {
    /// Go through a tick and say so.
    Visit(mpsc::SyncSender<()>),
    /// A job was done.
    JobDone(Ticket, Result<(), String>),
    /// Listen on these sockets too, and no longer on these addresses; then say so.
    Doors {
        /// New listeners.
        open: Vec<OwnedFd>,
        /// Addresses to be left.
        close: Vec<SocketAddr>,
        /// To be told.
        done: mpsc::SyncSender<()>,
    },
    /// Stop: accept nothing more, send what is due, close.
    Stop {
        /// How long clients may take for it.
        drain: Duration,
    },
}

/// A core's letter box: anyone may write, the core alone reads.
#[derive(Clone)]
pub struct LetterBox {
    sender: mpsc::Sender<Letter>,
    flag: Arc<AtomicBool>,
    waker: Waker,
}

impl LetterBox {
    /// Posts a letter and wakes the core.
    pub fn post(&self, letter: Letter) {
        if self.sender.send(letter).is_ok() {
            self.flag.store(true, Ordering::SeqCst);
            self.waker.wake();
        }
    }
}

/// The core's end of its letter box.
pub struct Letters {
    receiver: mpsc::Receiver<Letter>,
    flag: Arc<AtomicBool>,
}

/// Both ends of a letter box.
pub fn letter_box(waker: Waker) -> (LetterBox, Letters) {
    let (sender, receiver) = mpsc::channel();
    let flag = Arc::new(AtomicBool::new(false));
    (LetterBox { sender, flag: flag.clone(), waker }, Letters { receiver, flag })
}

/// A job for the house, with where to send its outcome.
#[derive(Debug)]
pub struct Request {
    /// The core that asks.
    pub core: usize,
    /// What is to be done.
    pub job: Job,
    /// Whose answer it is.
    pub ticket: Option<Ticket>,
}

/// Monotonic and unix time from one read.
struct Clock {
    start: Instant,
    unix_us: i64,
    synced_ns: u64,
}

impl Clock {
    fn new() -> Clock {
        Clock { start: Instant::now(), unix_us: unix_us(), synced_ns: 0 }
    }

    #[inline]
    fn nanoseconds(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    #[inline]
    fn now(&mut self) -> Now {
        let mono_ns = self.nanoseconds();
        if mono_ns - self.synced_ns > RESYNC_NS {
            self.synced_ns = mono_ns;
            self.unix_us = unix_us();
        }
        Now::new(self.unix_us + ((mono_ns - self.synced_ns) / 1000) as i64, mono_ns)
    }
}

fn unix_us() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}

/// One core.
pub struct Core {
    shard: Shard,
    wires: Wires,
    inboxes: Vec<Receiver<Parcel>>,
    letters: Letters,
    requests: mpsc::Sender<Request>,
    waker: Waker,
    idle: Idle,
    clock: Clock,
    events: Events,
    blocks: Vec<Arc<Block>>,
    block: Arc<Block>,
    first: usize,
    /// It stops, at this time at the latest.
    stopping: Option<Instant>,
    /// Its clients have gone, and it has said so in `empty_cores`.
    emptied: bool,
    empty_cores: Arc<AtomicUsize>,
    generation: u64,
    /// The last thing it did was to sleep.
    slept: bool,
    /// This tick found parcels or letters.
    rung: bool,
}

/// What a core is built from.
pub struct Parts {
    /// The shard.
    pub shard: Shard,
    /// Its pollers; it sleeps in the first.
    pub pollers: Vec<Box<dyn port::Poller>>,
    /// Rings to every other shard, by number; none to itself.
    pub senders: Vec<Option<mesh::Sender<Parcel>>>,
    /// Rings from every other shard.
    pub inboxes: Vec<Receiver<Parcel>>,
    /// Wakers of every core.
    pub wakers: Vec<Waker>,
    /// Its letters.
    pub letters: Letters,
    /// Where jobs go.
    pub requests: mpsc::Sender<Request>,
    /// Counters of every shard.
    pub blocks: Vec<Arc<Block>>,
    /// When it sleeps.
    pub idle: Idle,
    /// How many cores have seen their last client off.
    pub empty_cores: Arc<AtomicUsize>,
}

impl Core {
    /// A core of these parts.
    pub fn new(mut parts: Parts) -> Core {
        let me = usize::from(parts.shard.index());
        let waker = parts.wakers[me].clone();
        let others: Vec<_> = parts.pollers.iter().skip(1).filter_map(|poller| poller.sleep_on()).collect();
        if let Some(first) = parts.pollers.first_mut() {
            first.watch(waker.descriptor());
            for other in others {
                first.watch(other);
            }
        }
        let block = parts.blocks[me].clone();
        Core {
            wires: Wires::new(me, parts.pollers, parts.senders, parts.wakers),
            shard: parts.shard,
            inboxes: parts.inboxes,
            letters: parts.letters,
            requests: parts.requests,
            waker,
            idle: parts.idle,
            clock: Clock::new(),
            events: Vec::with_capacity(2 * BUDGET),
            blocks: parts.blocks,
            block,
            first: 0,
            stopping: None,
            emptied: false,
            empty_cores: parts.empty_cores,
            generation: u64::MAX,
            slept: false,
            rung: false,
        }
    }

    /// Ticks until it is told to stop and its clients have gone.
    pub fn run(&mut self) {
        while !self.is_done() {
            let useful = self.tick();
            if std::mem::take(&mut self.slept) && (self.rung || !useful) {
                // Alarms come with parcels or letters, or belong to an earlier sleep.
                self.waker.hush();
            }
            let now_ns = self.clock.nanoseconds();
            if self.idle.sleeps(useful, now_ns) && !self.shard.is_restless() {
                self.park();
            } else {
                self.flush(now_ns);
                if !useful && self.shard.is_restless() {
                    // It waits for another core, which may need this one's processor.
                    std::thread::yield_now();
                }
            }
        }
    }

    /// One pass: neighbours, harvest, parse to execute, order, out. Whether there was anything to do.
    pub fn tick(&mut self) -> bool {
        let now = self.clock.now();
        self.wires.now_ms = now.ms();
        let mut useful = self.read_letters(now);
        self.rung = useful;
        // 1 neighbours
        let mut parcels = self.drain(now);
        if self.shard.wants_order() {
            let settled = self.shard.settled();
            parcels += self.drain(now);
            self.shard.order(settled, &mut self.wires);
        }
        self.rung |= parcels > 0;
        // 2 harvest, 3 to 8
        let began_ns = self.harvest(now);
        self.shard.turn(now, &mut self.wires);
        if self.wires.has_slow() {
            self.wires.close_slow();
        }
        self.wires.free_stuck();
        while let Some(buffer) = self.wires.spent.pop() {
            self.shard.take_back(buffer);
        }
        if !self.wires.chokes.is_empty() {
            self.tell_chokes();
        }
        // 9 publish; the flush follows, alone or as a part of going to sleep
        self.shard.stage(&mut self.wires);
        self.wires.submit();
        let sent = self.wires.publish(&self.block);
        self.shard.published();
        if !self.wires.errands.is_empty() {
            self.run_errands();
        }
        useful |= parcels + sent > 0 || began_ns.is_some() || self.shard.ran() > 0;
        if useful {
            self.account(now, began_ns.unwrap_or(now.mono_ns));
        }
        self.block.ticks.add(1);
        self.follow_settings();
        useful
    }

    /// Times of the tick, shared among its commands.
    fn account(&mut self, now: Now, began_ns: u64) {
        self.block.useful_ticks.add(1);
        let ran = self.shard.ran();
        if ran > 0 {
            let took_ns = self.clock.nanoseconds().saturating_sub(began_ns);
            // A command waits for the harvest, and on average for half of the batch before it.
            let before_ns = (took_ns - took_ns.checked_div(ran).unwrap_or(0)) / 2;
            self.block.rooms.queue.record_many(began_ns - now.mono_ns + before_ns, ran);
            self.shard.took(took_ns);
        }
    }

    fn drain(&mut self, now: Now) -> usize {
        let mut parcels = 0;
        for inbox in &mut self.inboxes {
            for _ in 0..PARCELS_PER_PEER {
                let Some(parcel) = inbox.pop() else { break };
                parcels += 1;
                self.shard.deliver(now, parcel, &mut self.wires);
            }
            inbox.release();
        }
        parcels
    }

    /// Polls every transport and runs what came. Monotonic nanoseconds when the first command began, if
    /// anything came at all.
    fn harvest(&mut self, now: Now) -> Option<u64> {
        let mut began = None;
        let count = self.wires.pollers.len();
        let strict = self.shard.settings().live.priority == Priority::Strict;
        if !strict {
            self.first = (self.first + 1) % count.max(1);
        }
        for turn in 0..count {
            let poller = if strict { turn } else { (self.first + turn) % count };
            let mut events = std::mem::take(&mut self.events);
            self.wires.pollers[poller].poll(BUDGET, &mut events);
            if !events.is_empty() && began.is_none() {
                began = Some(self.clock.nanoseconds());
            }
            for event in events.drain(..) {
                self.handle(now, poller, event);
            }
            self.events = events;
        }
        began
    }

    fn handle(&mut self, now: Now, poller: usize, event: Event) {
        match event {
            Event::Bytes(link, chunk) => {
                if let Some(conn) = self.wires.conn_of(poller, link) {
                    self.block.reads.add(1);
                    self.shard.feed(now, conn, chunk.filled(), &mut self.wires);
                }
                self.wires.pollers[poller].recycle(chunk);
            }
            Event::Writable(link) => self.wires.writable(poller, link),
            Event::Opened(link, peer) => {
                let conn = self.wires.opened(poller, link);
                match self.refusal(&peer) {
                    _ if self.stopping.is_some() => self.wires.close(conn, true),
                    None => self.shard.open(now, conn, peer_of(&peer)),
                    Some(text) => self.turn_away(conn, text),
                }
            }
            Event::Ended(link) => {
                if let Some(conn) = self.wires.conn_of(poller, link) {
                    self.shard.ended(now, conn, &mut self.wires);
                }
            }
            Event::Closed(link, _) => {
                if let Some(conn) = self.wires.closed(poller, link) {
                    self.shard.close(conn);
                }
            }
        }
    }

    /// Why a newcomer is turned away, if it is.
    fn refusal(&self, peer: &Peer) -> Option<&'static str> {
        let live = &self.shard.settings().live;
        let open: u64 = self.blocks.iter().map(|block| block.connections_open.read()).sum();
        if open >= u64::from(live.maxclients) {
            return Some("-ERR max number of clients reached\r\n");
        }
        let local = match &peer.remote {
            port::Address::Inet(address) => address.ip().to_canonical().is_loopback(),
            port::Address::Unix(_) | port::Address::Memory(_) => true,
        };
        if live.protected_mode && live.requirepass.is_empty() && !local {
            return Some(DENIED);
        }
        None
    }

    fn turn_away(&mut self, conn: ConnId, text: &str) {
        self.block.connections_received.add(1);
        self.block.connections_rejected.add(1);
        self.wires.write(conn, text.as_bytes());
        self.wires.close(conn, true);
    }

    fn tell_chokes(&mut self) {
        // In the order they came: the last word on a connection holds.
        for (conn, stuck, bytes) in self.wires.chokes.drain(..) {
            self.shard.choke(conn, stuck, bytes);
        }
    }

    fn run_errands(&mut self) {
        for errand in self.wires.errands.drain(..) {
            assert!(!matches!(errand.job, Job::Crash), "DEBUG PANIC or DEBUG SEGFAULT was asked for");
            let core = usize::from(self.shard.index());
            // The house ends after its cores: somebody listens.
            let _ = self.requests.send(Request { core, job: errand.job, ticket: errand.ticket });
        }
    }

    fn read_letters(&mut self, now: Now) -> bool {
        if !self.letters.flag.load(Ordering::Relaxed) {
            return false;
        }
        self.letters.flag.store(false, Ordering::SeqCst);
        while let Ok(letter) = self.letters.receiver.try_recv() {
            match letter {
                Letter::Visit(answer) => drop(answer.try_send(())),
                Letter::JobDone(ticket, outcome) => {
                    self.shard.job_done(now, ticket, outcome, &mut self.wires);
                }
                Letter::Doors { open, close, done } => {
                    self.change_doors(open, &close);
                    // Whoever asked has room for every core's answer, or has given up.
                    let _ = done.try_send(());
                }
                Letter::Stop { drain } => self.stop(drain),
            }
        }
        true
    }

    /// New listeners first, so that there is always one. Sockets are the first poller's.
    fn change_doors(&mut self, open: Vec<OwnedFd>, close: &[SocketAddr]) {
        let Some(poller) = self.wires.pollers.first_mut() else { return };
        for listener in open {
            if let Err(error) = poller.listen(listener) {
                tracing::error!("a listener cannot be used: {error}");
            }
        }
        close.iter().for_each(|address| poller.stop_listening(&port::Address::Inet(*address)));
    }

    fn stop(&mut self, drain: Duration) {
        if self.stopping.is_some() {
            return;
        }
        for poller in &mut self.wires.pollers {
            poller.stop_accepting();
        }
        self.shard.leave(&mut self.wires);
        self.stopping = Some(Instant::now() + drain);
    }

    /// Its clients have gone, and so have those of the other cores, which may still ask it for something.
    fn is_done(&mut self) -> bool {
        let Some(last) = self.stopping else { return false };
        if self.wires.connections() == 0 && !std::mem::replace(&mut self.emptied, true) {
            self.empty_cores.fetch_add(1, Ordering::SeqCst);
        }
        self.empty_cores.load(Ordering::SeqCst) == self.blocks.len() || Instant::now() >= last
    }

    /// Rings every doorbell.
    fn flush(&mut self, began_ns: u64) {
        for poller in &mut self.wires.pollers {
            poller.flush();
        }
        self.count_wires(began_ns);
    }

    fn count_wires(&mut self, began_ns: u64) {
        let (mut syscalls, mut refused, mut away) = (0, 0, 0);
        for poller in &self.wires.pollers {
            let stats = poller.stats();
            syscalls += stats.syscalls;
            refused += stats.leases_refused;
            away += stats.chunks_away;
        }
        if syscalls != self.block.syscalls.read() {
            let took = self.clock.nanoseconds().saturating_sub(began_ns);
            self.block.rooms.flush.record(took);
        }
        self.block.syscalls.set(syscalls);
        self.block.leases_refused.set(refused);
        self.block.chunks_away.set(away);
        self.block.output_limit_closes.set(self.wires.over_limit);
    }

    /// Goes to sleep, unless something has come in the meantime.
    fn park(&mut self) {
        self.waker.bell().intend();
        let came = self.inboxes.iter_mut().any(|inbox| inbox.visible() > 0);
        if came || self.letters.flag.load(Ordering::SeqCst) {
            self.waker.bell().awake();
            self.flush(self.clock.nanoseconds());
            return;
        }
        let timeout = self.timeout();
        self.block.parks.add(1);
        for poller in self.wires.pollers.iter_mut().skip(1) {
            poller.flush();
        }
        let slept = self.wires.pollers[0].park(timeout);
        self.waker.bell().awake();
        self.slept = true;
        if !slept {
            std::thread::yield_now();
        }
        let now_ns = self.clock.nanoseconds();
        self.count_wires(now_ns);
    }

    fn timeout(&mut self) -> Option<Duration> {
        if self.stopping.is_some() {
            return Some(Duration::from_millis(20));
        }
        let now = self.clock.now().ms();
        let slow = self.wires.has_slow().then_some(now + SLOW_LOOK_MS);
        let due = [self.shard.deadline(), slow].into_iter().flatten().min()?;
        Some(Duration::from_millis(due.saturating_sub(now).clamp(0, 60_000) as u64))
    }

    /// Takes over settings that the house itself obeys, when they have changed.
    fn follow_settings(&mut self) {
        let settings = self.shard.settings();
        if settings.generation() == self.generation {
            return;
        }
        self.generation = settings.generation();
        let limit_of = |class: ClientClass| {
            let limit = settings.live.output_limits[class as usize];
            (limit.hard_bytes, limit.soft_bytes, limit.soft_seconds)
        };
        self.wires.output_limit = limit_of(ClientClass::Normal);
        self.wires.listeners_limit = limit_of(ClientClass::Pubsub);
        self.idle.set(settings.live.poll);
        for poller in &mut self.wires.pollers {
            poller.keep_alive(settings.live.tcp_keepalive_s);
        }
    }
}

/// Redis's words to a stranger in protected mode.
const DENIED: &str = "-DENIED Corelane is running in protected mode because protected mode is enabled and no password is set for the default user. In this mode connections are only accepted from the loopback interface. If you want to connect from external computers, set a password, or turn protected mode off with 'CONFIG SET protected-mode no' from the loopback interface or in the configuration file.\r\n";
