//! The whole: cores, clients and the clock, each step drawn from the seed. It says who moves next; what
//! the moves are is told elsewhere.

use crate::chaos::Chaos;
use crate::client::{Client, Part};
use crate::history::History;
use crate::node::{News, Node, Room, Scene};
use crate::plan::{Plan, Theme};
use crate::random::Random;
use crate::roles::{Role, Stage};
use crate::trace::Trace;
use crate::wires::Instant;
use commands::Catalog;
use mesh::Board;
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
    pub catalog: &'static Catalog,
    clock_us: i64,
    /// Connections that ever were.
    pub processes: usize,
    /// The pair that is written now.
    pub writer: usize,
    /// No time for faults: the end is looked at.
    pub calm: bool,
    /// Nobody sleeps: what was left lying because it is in nobody's way is put away.
    pub awake: bool,
    /// Grows with every reply and every connection that ends.
    pub progress: u64,
}

impl World {
    pub(crate) fn new(plan: Plan, mut random: Random, catalog: &'static Catalog, trace: Trace) -> World {
        let board = Board::new(usize::from(plan.shards));
        let nodes = crate::build::nodes(&plan, &mut random, catalog, &board);
        let history = History::new(&plan, catalog, &mut random);
        let mut stage = Stage::new(&mut random, &plan);
        stage.square.uncertain = plan.closes_anyone() || plan.half_close > 0 || plan.leaves;
        let part = |client: usize, random: &mut Random| match plan.theme {
            Theme::Linear => Part::History,
            Theme::Invariants => Part::Role(Role::for_client(client, &plan, random)),
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
            awake: false,
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
        Now::new(self.clock_us, (self.clock_us - START_US) as u64 * 1_000)
    }

    /// The reach marks of all shards together.
    pub(crate) fn marks(&mut self) -> Marks {
        let mut marks = Marks::default();
        for node in &mut self.nodes {
            let mut own = node.shard.marks;
            own.look_at(&node.shard.store_mut().counters());
            marks.add(&own);
        }
        marks
    }

    /// Steps under load.
    pub(crate) fn load(&mut self) -> Verdict {
        if self.plan.theme == Theme::Invariants {
            let opening = self.stage.opening();
            self.run_alone(opening)?;
        }
        for _ in 0..self.plan.steps {
            self.one_step()?;
            if self.plan.lull > 0 && self.random.one_in(self.plan.lull) {
                self.lull()?;
            }
        }
        Ok(())
    }

    fn one_step(&mut self) -> Verdict {
        self.pass_time();
        match self.random.below(20) {
            0..=6 => {
                let client = self.random.below(self.plan.clients);
                self.client_step(client)
            }
            _ => {
                let mut node = self.draw_node();
                // The board's promise is about what others see in these rooms.
                let staged = |node: usize, world: &World| {
                    let room = world.nodes[node].room;
                    matches!(room, Room::DrainAll(_) | Room::Order | Room::Publish(_) | Room::Published)
                };
                if self.plan.lingers && staged(node, self) && !self.random.one_in(4) {
                    node = self.draw_node();
                }
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

    /// One room of one core; what it has to tell clients stays with it.
    pub(crate) fn enter_room(&mut self, node: usize) {
        let now = self.now();
        let mut scene = Scene {
            plan: &self.plan,
            random: &mut self.random,
            trace: &mut self.trace,
            step: self.step,
            now,
            calm: self.calm,
            sleeps: self.plan.sleeps && !self.awake,
        };
        self.nodes[node].wires.instant = Instant { step: self.step, ms: now.ms() };
        self.nodes[node].advance(&mut scene);
    }

    /// One room of one core, and what it has to tell clients.
    pub(crate) fn advance(&mut self, node: usize) -> Verdict {
        self.enter_room(node);
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
}
