//! The whole: cores, clients and the clock, each step drawn from the seed. It says who moves next; what
//! the moves are is told elsewhere.

use crate::chaos::Chaos;
use crate::client::{Client, Part, Question, check_plain};
use crate::history::{History, Moment};
use crate::node::{News, Node, Room, Scene};
use crate::plan::{Plan, Theme};
use crate::random::Random;
use crate::request::{Expect, Kinds, Request, brief};
use crate::roles::{Role, Stage};
use crate::trace::Trace;
use crate::wires::{Closing, Instant};
use commands::Catalog;
use mesh::Board;
use resp::client::Value;
use shard::{Marks, Now};
use std::sync::Arc;

/// Unix time at the start, in microseconds.
const START_US: i64 = 1_700_000_000_000_000;

/// What is wrong, in words.
pub(crate) type Verdict = Result<(), String>;

/// One run.
pub(crate) struct World {
    pub plan: Plan,
    pub random: Random,
    pub nodes: Vec<Node>,
    pub clients: Vec<Client>,
    pub history: History,
    pub stage: Stage,
    pub board: Arc<Board>,
    pub trace: Trace,
    pub step: u64,
    pub requests: usize,
    catalog: &'static Catalog,
    clock_us: i64,
    processes: usize,
    /// The pair that is written now.
    writer: usize,
    /// No time for faults: the end is looked at.
    pub calm: bool,
    /// Grows with every reply and every connection that ends.
    pub progress: u64,
}

impl World {
    pub(crate) fn new(plan: Plan, mut random: Random, catalog: &'static Catalog, trace: Trace) -> World {
        let board = Board::new(usize::from(plan.shards));
        let nodes = crate::build::nodes(&plan, &mut random, catalog, &board);
        let history = History::new(&plan, &mut random);
        let stage = Stage::new(&mut random, plan.shards);
        let part = |client: usize, random: &mut Random| match plan.theme {
            Theme::Linear => Part::History,
            Theme::Invariants => Part::Role(Role::for_client(client, random)),
            Theme::Chaos => Part::Chaos(Chaos::new()),
        };
        let clients = (0..plan.clients).map(|client| Client::new(part(client, &mut random))).collect();
        World {
            plan,
            random,
            nodes,
            clients,
            history,
            stage,
            board,
            trace,
            step: 0,
            requests: 0,
            catalog,
            clock_us: START_US,
            processes: 0,
            writer: 0,
            calm: false,
            progress: 0,
        }
    }

    /// A millisecond passes.
    pub(crate) fn forward_clock(&mut self) {
        self.clock_us += 1_000;
    }

    /// The number of the connection that is dialled next.
    pub(crate) fn next_process(&self) -> usize {
        self.processes
    }

    pub(crate) fn now(&self) -> Now {
        Now { unix_us: self.clock_us, mono_ns: (self.clock_us - START_US) as u64 * 1_000 }
    }

    /// The reach marks of all shards together.
    pub(crate) fn marks(&self) -> Marks {
        let mut marks = Marks::default();
        self.nodes.iter().for_each(|node| marks.add(&node.shard.marks));
        marks
    }

    /// Steps under load.
    pub(crate) fn load(&mut self) -> Verdict {
        if self.plan.theme == Theme::Invariants {
            let opening = self.stage.opening();
            self.run_alone(vec![opening])?;
        }
        for _ in 0..self.plan.steps {
            self.one_step()?;
        }
        Ok(())
    }

    fn one_step(&mut self) -> Verdict {
        self.pass_time();
        match self.random.below(20) {
            0..=6 => {
                let client = self.random.below(self.clients.len());
                self.client_step(client)
            }
            _ => {
                let node = self.draw_node();
                if self.random.percent(self.plan.whole_ticks) { self.tick(node) } else { self.advance(node) }
            }
        }
    }

    fn pass_time(&mut self) {
        self.step += 1;
        self.clock_us += self.random.below(60) as i64;
        if self.random.one_in(25) {
            self.clock_us += self.random.within(0, self.plan.jump_ms * 1_000) as i64;
        }
    }

    fn draw_node(&mut self) -> usize {
        let total: usize = self.plan.weights.iter().sum();
        let mut draw = self.random.below(total);
        for (node, weight) in self.plan.weights.iter().enumerate() {
            if draw < *weight {
                return node;
            }
            draw -= weight;
        }
        unreachable!("the draw is below the sum")
    }

    /// One room of one core.
    pub(crate) fn advance(&mut self, node: usize) -> Verdict {
        let now = self.now();
        let mut scene = Scene {
            plan: &self.plan,
            random: &mut self.random,
            trace: &mut self.trace,
            step: self.step,
            now,
            calm: self.calm,
        };
        self.nodes[node].wires.instant = Instant { step: self.step, ms: now.ms() };
        self.nodes[node].advance(&mut scene);
        if self.nodes[node].news.is_empty() {
            return Ok(());
        }
        self.progress += 1;
        for news in std::mem::take(&mut self.nodes[node].news) {
            match news {
                News::Opened(client, conn) => {
                    self.clients[client].conn = Some(conn);
                    self.clients[client].dialling = false;
                }
                News::Fed(client, bytes) => self.fed(client, bytes),
                News::Closed(client, mut link) => {
                    self.clients[client].receive(link.down.drain(..), link.writes.drain(..));
                    self.read_replies(client)?;
                    self.end_of_stream(client, link.closing)?;
                }
            }
        }
        Ok(())
    }

    /// A core goes on until its tick is over.
    pub(crate) fn tick(&mut self, node: usize) -> Verdict {
        loop {
            self.advance(node)?;
            if self.nodes[node].room == Room::Idle {
                return Ok(());
            }
        }
    }

    fn client_step(&mut self, client: usize) -> Verdict {
        if self.clients[client].conn.is_none() {
            if !self.clients[client].dialling {
                self.dial(client);
            }
            return Ok(());
        }
        if self.plan.vanish > 0 && self.random.one_in(self.plan.vanish) {
            self.vanish(client);
            return Ok(());
        }
        if !self.random.percent(self.plan.slow_readers) {
            self.read(client)?;
        }
        if self.clients[client].conn.is_some() {
            self.ask(client);
            self.send(client);
        }
        Ok(())
    }

    pub(crate) fn dial(&mut self, client: usize) {
        let shard = self.random.below(self.nodes.len());
        let this = &mut self.clients[client];
        (this.dialling, this.shard) = (true, shard);
        this.process = self.processes;
        self.processes += 1;
        if let Part::Chaos(chaos) = &mut this.part {
            *chaos = Chaos::new();
        }
        self.nodes[shard].dialling.push_back(client);
        if self.random.one_in(3) {
            self.clients[client].ask(Request::new(&["HELLO", "3"], Expect::Kinds(Kinds::ANY)));
        }
        self.trace.note(|| format!("client {client} dials shard {shard}"));
    }

    /// The shard has been fed so many bytes of a client: what begins in them was not sent before.
    fn fed(&mut self, client: usize, bytes: usize) {
        let (step, oldest_ms) = (self.step, self.oldest_ms());
        while let Some(op) = self.clients[client].next_begun(bytes) {
            self.history.sent(op, step, oldest_ms);
        }
    }

    /// The oldest time that any shard may take for now.
    fn oldest_ms(&self) -> i64 {
        let now = self.now();
        self.nodes.iter().map(|node| node.oldest_ms(now)).min().unwrap_or_else(|| now.ms())
    }

    fn vanish(&mut self, client: usize) {
        let this = &mut self.clients[client];
        let Some(conn) = this.conn else { return };
        let abrupt = self.random.one_in(2);
        if let Some(link) = self.nodes[this.shard].wires.find(conn) {
            link.client = None;
            link.down.clear();
            if abrupt {
                link.up.clear();
            }
        }
        self.trace.note(|| format!("client {client} vanishes"));
        self.lose(client);
    }

    fn lose(&mut self, client: usize) {
        // What is under way may still arrive.
        self.fed(client, usize::MAX);
        let this = &mut self.clients[client];
        this.lose();
        if let Part::Role(role) = &mut this.part {
            role.after_loss(self.stage.pairs.len());
            if let Role::Writer { pair, .. } = role {
                self.writer = *pair;
            }
        }
    }

    /// The client thinks of more requests, if it has few under way.
    fn ask(&mut self, client: usize) {
        let this = &self.clients[client];
        let ordered = match &this.part {
            Part::History => true,
            Part::Role(role) => role.is_ordered(),
            Part::Chaos(_) => false,
        };
        let depth = if ordered && !self.plan.strict { 1 } else { self.plan.depth };
        if this.questions.len() >= depth || this.unsent.len() > 4_000 || this.last {
            return;
        }
        let count = self.random.within(1, depth - this.questions.len());
        for _ in 0..count {
            if self.requests < self.plan.requests && !self.clients[client].last {
                self.requests += 1;
                self.ask_one(client);
            }
        }
    }

    fn ask_one(&mut self, client: usize) {
        let moment = self.moment(client);
        let this = &mut self.clients[client];
        let request = match &mut this.part {
            Part::History if self.random.one_in(15) => {
                this.db = self.random.below(crate::model::DATABASES);
                let ok = Expect::Exactly(Value::Simple("OK".into()));
                Request::new(&["SELECT", &this.db.to_string()], ok)
            }
            Part::History => self.history.next(moment, &mut self.random),
            Part::Role(_) if self.plan.kills && self.random.one_in(25) => {
                let id = self.random.within(1, 4 * self.plan.clients).to_string();
                Request::new(&["CLIENT", "KILL", "ID", &id], Expect::Kinds(Kinds::INTEGER))
            }
            Part::Role(role) => role.next(&mut self.stage, self.writer, self.step, &mut self.random),
            Part::Chaos(chaos) => chaos.next(self.catalog, self.plan.kills, &mut self.random),
        };
        self.trace.note(|| format!("step {}: client {client} asks {}", moment.step, request.text));
        self.clients[client].ask(request);
    }

    pub(crate) fn moment(&self, client: usize) -> Moment {
        let (process, db) = (self.clients[client].process, self.clients[client].db);
        Moment { process, db, step: self.step, now_ms: self.now().ms() }
    }

    /// Some of what is to be sent goes on its way.
    pub(crate) fn send(&mut self, client: usize) {
        let this = &mut self.clients[client];
        let (Some(conn), false) = (this.conn, this.unsent.is_empty()) else { return };
        let whole = self.calm || !self.random.percent(self.plan.cuts);
        let count = if whole { this.unsent.len() } else { self.random.within(1, this.unsent.len()) };
        if let Some(link) = self.nodes[this.shard].wires.find(conn) {
            link.up.extend(this.unsent.drain(..count));
        }
    }

    /// The client reads what is there, or a part of it.
    pub(crate) fn read(&mut self, client: usize) -> Verdict {
        let this = &mut self.clients[client];
        let Some(conn) = this.conn else { return Ok(()) };
        let most = if self.calm || self.random.one_in(2) { usize::MAX } else { self.random.within(1, 200) };
        let wires = &mut self.nodes[this.shard].wires;
        wires.read(conn, most, this);
        let closing = wires.find(conn).and_then(|link| link.closing.filter(|_| link.down.is_empty()));
        self.read_replies(client)?;
        if closing.is_some() && self.clients[client].conn.is_some() {
            let shard = self.clients[client].shard;
            if let Some(link) = self.nodes[shard].wires.find(conn) {
                link.client = None;
            }
            self.end_of_stream(client, closing)?;
        }
        Ok(())
    }

    fn read_replies(&mut self, client: usize) -> Verdict {
        while let Some((question, value, written)) =
            self.clients[client].next_reply().map_err(|fault| format!("client {client}: {fault}"))?
        {
            self.progress += 1;
            self.trace.note(|| {
                format!("step {}: client {client} reads {} for {}", self.step, brief(&value), question.text)
            });
            self.judge(client, &question, value, written)
                .map_err(|fault| format!("client {client}, {}: {fault}", question.text))?;
        }
        Ok(())
    }

    fn judge(&mut self, client: usize, question: &Question, value: Value, written: Instant) -> Verdict {
        check_plain(question, &value)?;
        match question.expect {
            Expect::History(op) => self.history.answered(op, written, value),
            Expect::Number(meaning) | Expect::Values(meaning) => {
                let this = &mut self.clients[client];
                let mut nobody = Role::Mover;
                let role = if let Part::Role(role) = &mut this.part { role } else { &mut nobody };
                role.check(&mut self.stage, &mut this.memory, meaning, &value)?;
            }
            Expect::Kinds(_) | Expect::Exactly(_) | Expect::Last => {}
        }
        Ok(())
    }

    fn end_of_stream(&mut self, client: usize, closing: Option<Closing>) -> Verdict {
        let this = &self.clients[client];
        let expected = this.last && closing == Some(Closing::Drained);
        if expected && !this.questions.is_empty() && !self.plan.kills {
            return Err(format!("client {client}: closed with answers owed: {:?}", this.questions));
        }
        if !expected && !self.plan.kills {
            return Err(format!("client {client}: closed by the server ({closing:?})"));
        }
        self.trace.note(|| format!("step {}: client {client} sees the end", self.step));
        self.lose(client);
        Ok(())
    }
}
