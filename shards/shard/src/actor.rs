//! The shard: a value that is called with bytes, parcels and the time, and answers through an outbox.
//! It never performs input or output and never waits.

use crate::batch::Batch;
use crate::blocking::Waits;
use crate::outbox::{Now, Outbox};
use crate::parcel::{ConnId, Parcel, Part, Run, Ticket};
use crate::planted::Bug;
use crate::pubsub::Post;
use crate::session::{Hold, Session, Sessions};
use crate::txn::{Home, Remote};
use commands::{Catalog, Effects, Facts, Job, PauseMode, Random, ReplyMode, SessionState, Topics, Watched};
use mesh::Board;
use resp::{Output, Version};
use spec::Settings;
use std::collections::VecDeque;
use std::sync::Arc;
use store::Store;
use telemetry::{Block, Snapshot};

/// What a shard is made with.
pub struct Make {
    /// Its number, below `shards`.
    pub index: u16,
    /// How many there are.
    pub shards: u16,
    /// All commands; the same for every shard.
    pub catalog: &'static Catalog,
    /// Its own copy of the settings.
    pub settings: Settings,
    /// Its slice of the keyspace; hashed with the same seeds as everybody's.
    pub store: Store,
    /// Seed of its random numbers.
    pub seed: u64,
    /// Where transactions get their order.
    pub board: Arc<Board>,
    /// Counters of every shard by number; it writes its own.
    pub blocks: Vec<Arc<Block>>,
    /// Facts for INFO.
    pub facts: Arc<Facts>,
}

/// What a session may write before others get their turn. Tests make it small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Bytes of replies gathered before they are handed out in the middle of a batch.
    pub flush_bytes: usize,
    /// Bytes of replies in one turn, handed out so far.
    pub share_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { flush_bytes: 32 * 1024, share_bytes: 1024 * 1024 }
    }
}

/// Who connects, as far as the shard wants to know.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Far end, as CLIENT LIST shows it.
    pub remote: String,
    /// Our end.
    pub local: String,
    /// Came by a Unix socket.
    pub unix: bool,
    /// File descriptor, or -1.
    pub fd: i32,
}

/// One shard.
pub struct Shard {
    pub(crate) index: u16,
    /// The same, and how many shards there are: as handlers ask for it.
    pub(crate) seat: commands::Seat,
    pub(crate) shards: u16,
    pub(crate) catalog: &'static Catalog,
    pub(crate) settings: Settings,
    pub(crate) store: Store,
    pub(crate) random: Random,
    pub(crate) blocks: Vec<Arc<Block>>,
    pub(crate) block: Arc<Block>,
    pub(crate) facts: Arc<Facts>,
    pub(crate) now: Now,
    pub(crate) sessions: Sessions,
    pub(crate) effects: Effects,
    /// Keys of this shard that clients watch.
    pub(crate) watched: Watched,
    /// Who listens to what.
    pub(crate) topics: Topics,
    /// Messages to deliver.
    pub(crate) post: Post,
    /// Clients that wait for keys of this shard, and clients of this shard that wait.
    pub(crate) waits: Waits,
    /// Commands that ran for sessions of this shard, since `took` was last called.
    pub(crate) ran_here: u64,
    /// Replies of the session that runs now.
    pub(crate) reply: Output,
    /// Replies of a run for somebody else's session, while it runs.
    pub(crate) away_reply: Output,
    /// Replies of the session that runs now, handed out since it began to run.
    pub(crate) share_bytes: usize,
    /// What is missing of the frame that was parsed last, if it is not whole.
    pub(crate) missing_bytes: usize,
    /// Frames parsed ahead; reused from batch to batch.
    pub(crate) batch: Batch,
    pub(crate) base: Option<Snapshot>,
    /// Bytes of clients: input not yet run, replies not yet taken by the wire.
    pub(crate) held_bytes: usize,
    pub(crate) pause: Option<(i64, PauseMode)>,
    /// CLIENT PAUSE is being carried out here.
    pub(crate) pause_began: bool,
    /// Parts of CLIENT PAUSE that are done once no write is away.
    #[expect(clippy::vec_box, reason = "the box travels")]
    pub(crate) pausing: Vec<Box<Part>>,
    /// Runs of ours with writes in them that are not home again.
    pub(crate) writes_away: usize,
    /// Sessions that CLIENT PAUSE holds.
    pub(crate) paused: VecDeque<ConnId>,
    /// Sessions to go on with at the next turn: each that is held for it, once.
    pub(crate) resume: VecDeque<ConnId>,
    /// Replies due at a time in unix milliseconds (DEBUG SLEEP).
    pub(crate) timers: Vec<(i64, Ticket, Output)>,
    /// Parcels for a ring that was full, by shard.
    pub(crate) outgoing: Vec<VecDeque<Parcel>>,
    pub(crate) outgoing_len: usize,
    /// Parts of everywhere-commands for this shard itself.
    pub(crate) own: VecDeque<Box<Part>>,
    /// Runs that wait for a seal.
    pub(crate) parked: VecDeque<Box<Run>>,
    /// Shells of runs, to be used again.
    #[expect(clippy::vec_box, reason = "the box travels")]
    pub(crate) spare_runs: Vec<Box<Run>>,
    /// Commands over several shards whose home is here.
    pub(crate) home: Home,
    /// Their parts that run here.
    pub(crate) remote: Remote,
    pub(crate) active_expiry: bool,
    pub(crate) next_client: u64,
    pub(crate) kills: Vec<ConnId>,
    pub(crate) jobs: Vec<Job>,
    /// Commands run in this tick, by catalog number, for timing.
    pub(crate) ran: Vec<(u16, u32)>,
    /// The last of them and how often it ran in a row, not yet in `ran`.
    pub(crate) ran_last: (u16, u32),
    pub(crate) ran_total: u64,
    pub(crate) cron: crate::turn::Cron,
    /// The room for small entries comes to its end.
    pub(crate) short_of_room: bool,
    /// What a session may write before others get their turn.
    pub bounds: Bounds,
    /// Rare paths that were taken, for tests.
    pub marks: crate::marks::Marks,
    /// A bug that is planted here, to see that it is found.
    #[cfg(feature = "planted")]
    pub plant: Option<Bug>,
}

impl Shard {
    /// A new shard.
    pub fn new(mut make: Make) -> Shard {
        commands::note_uses(&make.settings.live, &mut make.store);
        let block = make.blocks[make.index as usize].clone();
        let mut cron = crate::turn::Cron::default();
        cron.settings_changed();
        Shard {
            index: make.index,
            seat: commands::Seat { shard: make.index, shards: make.shards },
            shards: make.shards,
            catalog: make.catalog,
            settings: make.settings,
            store: make.store,
            random: Random::new(make.seed),
            blocks: make.blocks,
            block,
            facts: make.facts,
            now: Now::default(),
            sessions: Sessions::default(),
            effects: Effects::default(),
            watched: Watched::default(),
            topics: Topics::default(),
            post: Post::new(make.shards),
            waits: Waits::default(),
            ran_here: 0,
            reply: Output::with_capacity(64 * 1024),
            away_reply: Output::with_capacity(4 * 1024),
            share_bytes: 0,
            missing_bytes: 0,
            batch: Batch::default(),
            base: None,
            held_bytes: 0,
            pause: None,
            pause_began: false,
            pausing: Vec::new(),
            writes_away: 0,
            paused: VecDeque::new(),
            resume: VecDeque::new(),
            timers: Vec::new(),
            outgoing: (0..make.shards).map(|_| VecDeque::new()).collect(),
            outgoing_len: 0,
            own: VecDeque::new(),
            parked: VecDeque::new(),
            spare_runs: Vec::new(),
            home: Home::new(make.board, make.index, make.shards),
            remote: Remote::default(),
            active_expiry: true,
            next_client: 0,
            kills: Vec::new(),
            jobs: Vec::new(),
            ran: Vec::new(),
            ran_last: (0, 0),
            ran_total: 0,
            cron,
            short_of_room: false,
            bounds: Bounds::default(),
            marks: crate::marks::Marks::default(),
            #[cfg(feature = "planted")]
            plant: None,
        }
    }

    /// A client has come.
    pub fn open(&mut self, now: Now, conn: ConnId, peer: Peer) {
        self.now = now;
        // Ids are unique over all shards without a shared counter.
        let id = self.seat.client_id(self.next_client);
        self.next_client += 1;
        let state = SessionState {
            id,
            place: conn.place(),
            remote: peer.remote,
            local: peer.local,
            unix: peer.unix,
            fd: peer.fd,
            name: Vec::new(),
            library: Vec::new(),
            library_version: Vec::new(),
            db: 0,
            version: Version::Resp2,
            authenticated: self.settings.live.requirepass.is_empty(),
            no_evict: false,
            no_touch: false,
            reply_mode: ReplyMode::On,
            since_ms: now.ms(),
            active_ms: now.ms(),
            last_command: None,
            query_bytes: 0,
            output_bytes: 0,
            queued: None,
            queued_bytes: 0,
            subscribed: [0; 3],
            listens: false,
            blocked: false,
            held: false,
            closing: false,
        };
        self.sessions.insert(conn, Session::new(state));
        self.block.connections_received.add(1);
        self.block.connections_open.set(self.sessions.len() as u64);
    }

    /// A client has gone. Answers that are still away find nobody.
    pub fn close(&mut self, conn: ConnId) {
        if let Some(mut session) = self.sessions.remove(conn) {
            self.store.bury(std::mem::take(&mut session.tail));
            self.store.bury(std::mem::take(&mut session.grown));
            self.end_transaction(&mut session);
            if session.state.listens {
                self.topics.leave(conn.place());
            }
            self.marks.lost_while_blocked += u64::from(session.blocked.is_some());
            self.forget_wait(conn, &mut session);
            self.held_bytes -= session.state.query_bytes + session.state.output_bytes;
            if session.waiting() > 0 {
                self.marks.lost_client_with_answers_away += 1;
            }
            if session.hold == Hold::Pause {
                self.paused.retain(|paused| *paused != conn);
            }
        }
        self.block.connections_open.set(self.sessions.len() as u64);
    }

    /// A parcel has come from another shard.
    pub fn deliver<O: Outbox>(&mut self, now: Now, parcel: Parcel, out: &mut O) {
        self.now = now;
        match parcel {
            Parcel::Run(run) => self.run_arrives(run, out),
            Parcel::Ran(run) => self.run_returns(run, out),
            Parcel::Part(part) => self.part_arrives(part, out),
            Parcel::PartDone(part) => self.part_returns(part, out),
            Parcel::Buffer(mut buffer) => self.forget(&mut buffer),
            Parcel::News { home, bytes } => self.news_arrive(home, bytes, out),
            Parcel::Attempt(run) => self.attempt_arrives(run, out),
            Parcel::Attempted(run) => self.attempt_returns(run, out),
            Parcel::Offer(offer) => self.offer_arrives(offer, out),
            Parcel::Offered(offer) => self.offer_returns(*offer, out),
            Parcel::Unwait { client, wait } => {
                self.block.parcels_received.add(1);
                self.unwait(client, wait);
            }
            Parcel::Unwatch { client, round } => {
                self.block.parcels_received.add(1);
                self.watched.forget(client, round);
            }
        }
    }

    /// The house says that a client's replies are stuck (`true`) or flow again.
    pub fn choke(&mut self, conn: ConnId, stuck: bool, output_bytes: usize) {
        if let Some(mut session) = self.sessions.take(conn) {
            session.choked = stuck;
            self.held_bytes = self.held_bytes + output_bytes - session.state.output_bytes;
            session.state.output_bytes = output_bytes;
            if !stuck && session.hold == Hold::Choked {
                self.in_its_turn(conn, &mut session);
                if self.planted(Bug::ResumedTwice) {
                    session.hold = Hold::None;
                }
            }
            self.sessions.put(conn, session);
        }
    }

    /// A job's outcome: `+OK`, or the error text with its code.
    pub fn job_done<O: Outbox>(
        &mut self,
        now: Now,
        ticket: Ticket,
        outcome: Result<(), String>,
        out: &mut O,
    ) {
        self.now = now;
        if self.go_on_after_job(ticket, &outcome, out) {
            return;
        }
        let mut bytes = Output::default();
        let mut reply = resp::Reply::new(&mut bytes, Version::Resp2);
        match outcome {
            Ok(()) => reply.ok(),
            Err(text) => reply.error(&text),
        }
        self.answer(ticket, &bytes, false, out);
    }

    /// Sends a parcel, or keeps it for the next tick when the ring is full.
    pub(crate) fn send<O: Outbox>(&mut self, to: u16, parcel: Parcel, out: &mut O) {
        let loses = self.planted(Bug::LostParcel);
        let queue = &mut self.outgoing[to as usize];
        self.block.parcels_sent.add(1);
        // Room that is kept for commands over several shards is not for others.
        let kept = self.home.kept(to);
        if queue.is_empty() && (kept == 0 || out.room(to) > kept) {
            match out.send(to, parcel) {
                Ok(()) => return,
                Err(back) => {
                    self.marks.ring_full += 1;
                    self.block.ring_full.add(1);
                    if loses {
                        return;
                    }
                    queue.push_back(back);
                }
            }
        } else {
            queue.push_back(parcel);
        }
        self.outgoing_len += 1;
    }

    /// Tries parcels again that a full ring gave back.
    pub(crate) fn send_again<O: Outbox>(&mut self, out: &mut O) {
        if self.outgoing_len == 0 {
            return;
        }
        for to in 0..self.outgoing.len() {
            let kept = self.home.kept(to as u16);
            while kept == 0 || out.room(to as u16) > kept {
                let Some(parcel) = self.outgoing[to].pop_front() else { break };
                let news = if let Parcel::News { bytes, .. } = &parcel { bytes.len() } else { 0 };
                if let Err(back) = out.send(to as u16, parcel) {
                    self.outgoing[to].push_front(back);
                    break;
                }
                self.outgoing_len -= 1;
                self.post.waiting[to] -= news;
                self.block.ring_retries.add(1);
            }
        }
    }

    /// How many clients are connected.
    pub fn clients(&self) -> usize {
        self.sessions.len()
    }

    /// This shard's counters.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// The settings as this shard knows them.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Its number.
    pub fn index(&self) -> u16 {
        self.index
    }

    /// Its slice of the keyspace, for tests and tools.
    pub fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    /// How many clients watch keys that live here.
    pub fn watching(&self) -> usize {
        self.watched.clients()
    }

    /// How many names are listened to, here or elsewhere.
    pub fn topics(&self) -> usize {
        commands::TopicKind::ALL.iter().map(|kind| self.topics.count(*kind)).sum()
    }

    /// How many clients wait for keys that live here.
    pub fn waiting(&self) -> usize {
        self.waits.waiters()
    }

    /// Who waits for a key of this shard, in their order: home and name of each wait. For tests.
    pub fn line(&self, db: u16, key: &[u8]) -> Vec<(u16, Ticket)> {
        let spot = self.watched.awaited().find(db, self.store.key(key));
        let clients = spot.map_or_else(Vec::new, |spot| spot.queue.iter().copied().collect());
        clients.into_iter().filter_map(|client| self.waits.wait_of(client)).collect()
    }

    /// Whether a client of this shard waits in a blocking command.
    pub fn is_blocked(&self, conn: ConnId) -> bool {
        let blocked = self.sessions.find(conn).and_then(|session| session.blocked.as_ref());
        blocked.is_some_and(|blocked| blocked.is_waiting())
    }

    /// Ids of this shard's clients that wait in a blocking command. For tests.
    pub fn blocked_clients(&self) -> Vec<u64> {
        let waiting = self.sessions.iter().filter(|session| session.state.blocked);
        waiting.map(|session| session.state.id).collect()
    }

    /// How many of this shard's clients wait in a blocking command.
    pub fn blocked(&self) -> usize {
        self.waits.blocked()
    }

    /// Nothing is queued, held, locked or away: everything was returned.
    pub fn is_quiet(&self) -> bool {
        self.outgoing_len == 0
            && self.own.is_empty()
            && self.parked.is_empty()
            && self.home.is_empty()
            && self.remote.is_empty()
            && self.timers.is_empty()
            && self.paused.is_empty()
            && self.pausing.is_empty()
            && self.resume.is_empty()
            && !self.topics.has_forgotten()
            && !self.has_unsaid()
            && self.waits.is_settled()
    }
}
