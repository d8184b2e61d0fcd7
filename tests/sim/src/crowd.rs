//! What clients do in their steps: they dial, ask, send, read, hang up; and how their replies are judged.
//! Whose turn it is, and what shards make of it, is told elsewhere.

use crate::chaos::Chaos;
use crate::client::{Client, Part, Question, check_plain};
use crate::history::Moment;
use crate::queues::Queuer;
use crate::request::{Expect, Kinds, Meaning, Request, brief};
use crate::roles::Role;
use crate::wires::{Closing, Instant};
use crate::world::{Verdict, World};
use resp::client::Value;

/// Ticks of every core within which the next answer comes, however crowded the rings: with twelve clients
/// each waits for no more than one parcel of every other, and for its way there and back.
const WAIT_TICKS_MAX: u64 = 120;

impl World {
    /// A step of a client.
    pub(crate) fn client_step(&mut self, client: usize) -> Verdict {
        if self.clients[client].conn.is_none() {
            if !self.clients[client].dialling {
                self.dial(client);
            }
            return Ok(());
        }
        if self.plan.vanish > 0 && self.random.one_in(self.plan.vanish) && self.may_vanish(client) {
            self.vanish(client);
            return Ok(());
        }
        if self.plan.half_close > 0 && self.random.one_in(self.plan.half_close) {
            self.half_close(client);
        }
        if !self.random.percent(self.plan.slow_readers) {
            self.read(client)?;
        }
        if self.plan.flood {
            self.look_for_starving(client)?;
        }
        if self.clients[client].conn.is_some() {
            self.ask(client);
            self.send(client);
        }
        Ok(())
    }

    /// Where cores tick at their pace and clients read at once, nobody waits for long.
    fn look_for_starving(&mut self, client: usize) -> Verdict {
        let this = &mut self.clients[client];
        let ticks = self.nodes.iter().map(|node| node.ticks);
        if this.questions.is_empty() || this.since.is_empty() {
            this.since = ticks.collect();
            return Ok(());
        }
        let waited = ticks.zip(&this.since).map(|(now, since)| now - since).min().unwrap_or(0);
        if waited > WAIT_TICKS_MAX {
            let question = this.questions.front().map_or("", |question| &question.text);
            return Err(format!("client {client} has waited {waited} ticks of every core for {question}"));
        }
        Ok(())
    }

    pub(crate) fn dial(&mut self, client: usize) {
        let shard = if self.plan.flood { 0 } else { self.random.below(self.nodes.len()) };
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
    pub(crate) fn fed(&mut self, client: usize, bytes: usize) {
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

    /// The client has sent its last, perhaps half a frame, and waits for its answers.
    fn half_close(&mut self, client: usize) {
        let this = &mut self.clients[client];
        if this.last {
            return;
        }
        this.last = true;
        this.hangs_up = true;
        if self.random.one_in(3) {
            this.unsent.extend_from_slice(b"*2\r\n$4\r\nECH");
        }
        self.trace.note(|| format!("step {}: client {client} closes its half", self.step));
    }

    /// Whether a client may vanish without taking along what it asked for: what an ordinary pop has taken
    /// out is gone with it. Who waits may go at any time.
    fn may_vanish(&self, client: usize) -> bool {
        let this = &self.clients[client];
        let pops = |question: &Question| {
            matches!(question.expect, Expect::Values(Meaning::Popped | Meaning::InLine(_)))
        };
        let shard = &self.nodes[this.shard].shard;
        let waits = this.questions.len() == 1 && this.conn.is_some_and(|conn| shard.is_blocked(conn));
        waits || !this.questions.iter().any(pops)
    }

    fn vanish(&mut self, client: usize) {
        let Some(conn) = self.clients[client].conn else { return };
        let fresh = Client::new(self.clients[client].part.clone());
        let mut ghost = std::mem::replace(&mut self.clients[client], fresh);
        ghost.ghost = true;
        if let Part::Role(Role::Voice(voice)) = &mut ghost.part {
            voice.vanishes();
        }
        ghost.unsent.clear();
        let abrupt = self.random.one_in(2);
        if let Some(link) = self.nodes[ghost.shard].wires.find(conn) {
            // What the shard still writes is seen by the oracles, if by nobody else.
            link.client = Some(self.clients.len());
            link.gone = true;
            if abrupt {
                link.up.clear();
            }
        }
        self.clients.push(ghost);
        self.trace.note(|| format!("step {}: client {client} vanishes", self.step));
        self.lose(client);
    }

    fn lose(&mut self, client: usize) {
        let this = &mut self.clients[client];
        this.lose();
        if let Part::Role(role) = &mut this.part {
            role.after_loss(self.stage.pairs.len());
            if let Role::Voice(voice) = role {
                voice.begin_anew(&mut self.stage.square);
            }
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
        let patient = matches!(&this.part, Part::Role(role) if role.is_patient());
        let depth = match &this.part {
            _ if patient || ordered && !self.plan.strict => 1,
            Part::Role(Role::Queuer(_)) => self.plan.depth.min(2),
            _ => self.plan.depth,
        };
        if this.questions.len() >= depth || this.unsent.len() > self.unsent_max() || this.last {
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

    /// Bytes that a client keeps for its link at most.
    fn unsent_max(&self) -> usize {
        if self.plan.heavy { 400_000 } else { 4_000 }
    }

    fn ask_one(&mut self, client: usize) {
        let moment = self.moment(client);
        self.stage.oldest_ms = self.oldest_ms();
        match &self.clients[client].part {
            Part::Role(Role::Queuer(Queuer::InLine { .. })) => {
                self.stage.queues.ahead = self.look_at_line();
            }
            Part::Role(Role::Queuer(Queuer::Ender | Queuer::Popper | Queuer::Either)) => {
                let blocked = self.nodes.iter().flat_map(|node| node.shard.blocked_clients());
                self.stage.queues.blocked = blocked.collect();
            }
            _ => {}
        }
        let this = &mut self.clients[client];
        let inside = matches!(&this.part, Part::Role(role) if role.is_in_transaction());
        let request = match &mut this.part {
            Part::History | Part::Role(_) if !inside && self.plan.kills && self.random.one_in(30) => {
                let id = self.random.within(1, 4 * self.plan.clients).to_string();
                Request::new(&["CLIENT", "KILL", "ID", &id], Expect::Kinds(Kinds::INTEGER))
            }
            Part::History if self.plan.pauses && self.random.one_in(40) => {
                let mode = if self.random.one_in(2) { "WRITE" } else { "ALL" };
                let ok = Expect::Exactly(Value::Simple("OK".into()));
                Request::new(&["CLIENT", "PAUSE", "30", mode], ok)
            }
            Part::History | Part::Role(_) if !inside && !self.plan.flood && self.random.one_in(60) => {
                let ok = Expect::Exactly(Value::Simple("OK".into()));
                Request::new(&["DEBUG", "SLEEP", "0.003"], ok)
            }
            Part::History if self.random.one_in(15) => {
                this.db = self.random.below(crate::model::DATABASES);
                let ok = Expect::Exactly(Value::Simple("OK".into()));
                Request::new(&["SELECT", &this.db.to_string()], ok)
            }
            Part::History if self.random.one_in(self.plan.transactions) => {
                for request in self.history.transaction(moment, &mut self.random) {
                    self.ask_that(client, moment, request);
                }
                return;
            }
            Part::History => self.history.next(moment, &mut self.random),
            Part::Role(role) => role.next(&mut self.stage, self.writer, self.step, &mut self.random),
            Part::Chaos(chaos) => chaos.next(self.catalog, self.plan.kills, &mut self.random),
        };
        self.ask_that(client, moment, request);
    }

    /// The tokens of those who stand in line, as the shards know it.
    fn look_at_line(&mut self) -> Vec<usize> {
        let key = self.stage.queues.line[0].as_bytes();
        let owner = spec::owner_of(spec::slot_of(key), self.plan.shards);
        let line = self.nodes[usize::from(owner)].shard.line(0, key);
        let waiting = line.into_iter().filter(|(home, ticket)| {
            let home = &self.nodes[usize::from(*home)].shard;
            home.still_waits(*ticket)
        });
        let token_of = |(home, ticket): (u16, shard::Ticket)| {
            let is_it =
                |client: &&Client| client.shard == usize::from(home) && client.conn == Some(ticket.conn);
            match self.clients.iter().find(is_it)?.part {
                Part::Role(Role::Queuer(Queuer::InLine { token })) => Some(token),
                _ => None,
            }
        };
        waiting.filter_map(token_of).collect()
    }

    fn ask_that(&mut self, client: usize, moment: Moment, request: Request) {
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
        let Some(conn) = this.conn else { return };
        if this.unsent.is_empty() {
            if let Some(link) = self.nodes[this.shard].wires.find(conn).filter(|_| this.hangs_up) {
                link.ended = true;
            }
            return;
        }
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

    pub(crate) fn read_replies(&mut self, client: usize) -> Verdict {
        let of_client = |fault: String| format!("client {client}: {fault}");
        while let Some((value, written)) = self.clients[client].next_reply().map_err(of_client)? {
            self.progress += 1;
            if let Part::Role(Role::Voice(voice)) = &mut self.clients[client].part
                && voice.overhears(&mut self.stage.square, &value).map_err(of_client)?
            {
                self.trace.note(|| format!("step {}: client {client} hears {}", self.step, brief(&value)));
                continue;
            }
            self.clients[client].since.clear();
            let question = self.clients[client].question_of(&value).map_err(of_client)?;
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
        match &question.expect {
            Expect::History(op) => self.history.answered(*op, written, value),
            Expect::Heard(channel, speaker, listeners) => {
                self.stage.square.answered(*channel, *speaker, listeners, &value)?;
            }
            Expect::Number(meaning) | Expect::Values(meaning) => {
                let meaning = *meaning;
                let mut nobody = Role::Mover;
                if matches!(meaning, Meaning::Paused | Meaning::Stands) {
                    self.look_behind_the_scenes();
                }
                let this = &mut self.clients[client];
                let role = if let Part::Role(role) = &mut this.part { role } else { &mut nobody };
                role.check(&mut self.stage, &mut this.memory, meaning, &value)?;
            }
            Expect::Kinds(_) | Expect::Exactly(_) | Expect::Last => {}
        }
        Ok(())
    }

    /// What the stores themselves hold now.
    fn look_behind_the_scenes(&mut self) {
        let (now, shards) = (self.now().ms(), self.plan.shards);
        self.stage.newest_ms = now;
        let mut values = Vec::new();
        for key in self.stage.keys() {
            let owner = spec::owner_of(spec::slot_of(key.as_bytes()), shards);
            let store = self.nodes[usize::from(owner)].shard.store_mut();
            let name = store.key(key.as_bytes());
            values.push(format!("{:?}", store.find_untouched(0, name, now).and_then(|entry| entry.text())));
        }
        self.stage.values = values;
    }

    pub(crate) fn end_of_stream(&mut self, client: usize, closing: Option<Closing>) -> Verdict {
        let this = &self.clients[client];
        if this.ghost {
            self.clients[client].lose();
            return Ok(());
        }
        let expected = this.last && closing == Some(Closing::Drained);
        // What a pause holds is not run any more for a client that has sent its last.
        let unanswered = self.plan.closes_anyone() || self.plan.pauses;
        // Nor does one that has sent its last wait for anything.
        let unanswered = unanswered || this.waits;
        if expected && !this.questions.is_empty() && !unanswered {
            return Err(format!("client {client}: closed with answers owed: {:?}", this.questions));
        }
        if !expected && !self.plan.closes_anyone() {
            return Err(format!("client {client}: closed by the server ({closing:?})"));
        }
        self.trace.note(|| format!("step {}: client {client} sees the end", self.step));
        self.lose(client);
        Ok(())
    }
}
