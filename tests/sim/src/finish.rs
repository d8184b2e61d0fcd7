//! The end of a run: clients stop sending, every question must be answered, the history must have an
//! order, and everything must have been returned.

use crate::client::{Client, Part};
use crate::linear::{self, Found};
use crate::node::{Node, Room};
use crate::plan::Theme;
use crate::request::{Expect, Request};
use crate::roles::Role;
use crate::world::{Verdict, World};
use resp::client::Value;

/// Rounds, each a tick of every core, in which something must be answered or closed.
const ROUNDS_MAX: usize = 400;

impl World {
    /// Brings the run to its end and looks at what is left. True: the search for an order was given up.
    pub(crate) fn finish(&mut self) -> Result<bool, String> {
        self.calm = true;
        if self.plan.leaves {
            return self.leave();
        }
        self.answer_all()?;
        self.wait_for_quiet()?;
        let unknown = match self.plan.theme {
            Theme::Linear => self.look_at_history()?,
            Theme::Invariants => {
                let closing = self.stage.closing();
                self.run_alone(closing)?;
                self.listen_to_the_end()?;
                false
            }
            Theme::Chaos => false,
        };
        self.check_owners()?;
        // First those go who have said that they want no reply: what they asked may run late, behind a command
        // that blocks, and must not come behind the last FLUSHALL.
        for client in 0..self.clients.len() {
            self.hang_up(client);
        }
        self.settle_down("the clients gone", |world| {
            world.nodes.iter().all(|node| node.wires.links() == 0 && node.shard.clients() == 0)
        })?;
        self.wait_for_quiet()?;
        let ok = Expect::Exactly(Value::Simple("OK".into()));
        self.run_alone(vec![Request::new(&["FLUSHALL"], ok)])?;
        self.settle_down("all memory free", |world| {
            let free =
                |node: &mut Node| node.wires.links() == 0 && node.shard.store_mut().bytes().used() == 0;
            world.nodes.iter_mut().all(free)
        })?;
        self.wait_for_quiet()?;
        self.check_emptiness()?;
        Ok(unknown)
    }

    /// Listeners have heard all that was said.
    fn listen_to_the_end(&mut self) -> Verdict {
        for client in 0..self.clients.len() {
            self.read(client)?;
            if let Part::Role(Role::Voice(voice)) = &self.clients[client].part {
                voice
                    .has_heard_all(&self.stage.square)
                    .map_err(|fault| format!("client {client}: {fault}"))?;
            }
        }
        Ok(())
    }

    /// All clients wait for their answers, which must come without anything else happening.
    pub(crate) fn lull(&mut self) -> Verdict {
        self.calm = true;
        self.answer_all()?;
        self.calm = false;
        Ok(())
    }

    fn answer_all(&mut self) -> Verdict {
        self.settle_down("answers", |world| {
            let answered = world.clients.iter().all(|client| client.conn.is_none() || client.is_satisfied());
            answered && !world.nodes.iter().any(|node| node.wires.has_orphans())
        })
    }

    /// Seals that nobody has met may lie in a core that sleeps; once awake it must put everything away.
    fn wait_for_quiet(&mut self) -> Verdict {
        self.awake = true;
        self.settle_down("everything returned", |world| world.nodes.iter_mut().all(Node::is_quiet))?;
        self.awake = false;
        Ok(())
    }

    /// The house closes: clients get what is away, and the end.
    fn leave(&mut self) -> Result<bool, String> {
        self.nodes.iter_mut().for_each(|node| {
            node.dialling.clear();
            node.shard.leave(&mut node.wires);
        });
        for client in &mut self.clients {
            client.dialling = false;
            client.last = true;
        }
        self.plan.kills = true;
        self.settle_down("the last goes", |world| world.nodes.iter().all(|node| node.wires.links() == 0))?;
        self.wait_for_quiet()?;
        self.check_owners()?;
        if self.plan.theme == Theme::Linear { self.look_for_order() } else { Ok(false) }
    }

    /// Ticks all cores, in any order and through each other, until `done`.
    fn settle_down(&mut self, what: &str, done: impl Fn(&mut World) -> bool) -> Verdict {
        let (mut rounds, mut progress) = (0, self.progress);
        while rounds < ROUNDS_MAX {
            if done(self) {
                return Ok(());
            }
            self.round()?;
            rounds += 1;
            if self.progress != progress {
                (rounds, progress) = (0, self.progress);
            }
        }
        Err(format!("nothing happens any more: {what}; {}", self.state_of_things()))
    }

    fn round(&mut self) -> Verdict {
        self.step += 1;
        self.forward_clock();
        let mut ticking: Vec<usize> = (0..self.nodes.len()).collect();
        while !ticking.is_empty() {
            let place = self.random.below(ticking.len());
            let node = ticking[place];
            self.advance(node)?;
            if self.nodes[node].room == Room::Idle {
                ticking.swap_remove(place);
            }
        }
        for client in 0..self.clients.len() {
            self.send(client);
            self.read(client)?;
        }
        Ok(())
    }

    /// A client of its own asks and is answered.
    pub(crate) fn run_alone(&mut self, requests: Vec<Request>) -> Verdict {
        let calm = std::mem::replace(&mut self.calm, true);
        let client = self.clients.len();
        self.clients.push(Client::new(Part::History));
        self.dial(client);
        requests.into_iter().for_each(|request| self.clients[client].ask(request));
        self.settle_down("a client on its own", |world| world.clients[client].is_satisfied())?;
        self.hang_up(client);
        self.clients.pop();
        self.calm = calm;
        Ok(())
    }

    fn hang_up(&mut self, client: usize) {
        let this = &mut self.clients[client];
        if let Some(conn) = this.conn
            && let Some(link) = self.nodes[this.shard].wires.find(conn)
        {
            link.client = None;
            link.up.clear();
        }
        if this.dialling {
            self.nodes[this.shard].dialling.retain(|other| *other != client);
        }
        this.lose();
    }

    fn look_at_history(&mut self) -> Result<bool, String> {
        for db in 0..crate::model::DATABASES {
            let client = self.clients.len();
            // The client of `run_alone` has this number, and its connection is the next.
            let moment = crate::history::Moment { process: self.next_process(), ..self.moment(0) };
            let ok = Expect::Exactly(Value::Simple("OK".into()));
            let mut requests = vec![Request::new(&["SELECT", &db.to_string()], ok)];
            requests.extend(self.history.closing(moment, db));
            debug_assert_eq!(client, self.clients.len());
            self.run_alone(requests)?;
        }
        self.look_for_order()
    }

    fn look_for_order(&mut self) -> Result<bool, String> {
        for op in &self.history.ops {
            self.trace.note(|| linear::describe(op));
        }
        match linear::check(&self.history.ops, self.history.keys.len()) {
            Found::Order => Ok(false),
            Found::Unknown => Ok(true),
            Found::None(text) => {
                Err(format!("no order explains the history on {:?}: {text}", self.history.keys))
            }
        }
    }

    /// A key lives where its slot does.
    fn check_owners(&mut self) -> Verdict {
        let (shards, now) = (self.plan.shards, self.now().ms());
        for (index, node) in self.nodes.iter_mut().enumerate() {
            let store = node.shard.store_mut();
            for db in 0..store.databases() {
                let mut cursor = 0;
                let mut strangers = Vec::new();
                loop {
                    cursor = store.scan(db, cursor, 100, now, &mut |key, _| {
                        if usize::from(spec::owner_of(spec::slot_of(key), shards)) != index {
                            strangers.push(key.escape_ascii().to_string());
                        }
                    });
                    if cursor == 0 {
                        break;
                    }
                }
                if !strangers.is_empty() {
                    return Err(format!("shard {index} holds keys of others in {db}: {strangers:?}"));
                }
            }
        }
        Ok(())
    }

    fn check_emptiness(&mut self) -> Verdict {
        for (index, node) in self.nodes.iter_mut().enumerate() {
            if node.shard.clients() != 0 {
                return Err(format!("shard {index} still has {} sessions", node.shard.clients()));
            }
            if node.shard.watching() != 0 {
                return Err(format!(
                    "on shard {index} {} clients watch that have gone",
                    node.shard.watching()
                ));
            }
            if node.shard.topics() != 0 {
                return Err(format!(
                    "shard {index} takes it that {} names are listened to",
                    node.shard.topics()
                ));
            }
            if node.shard.waiting() != 0 || node.shard.blocked() != 0 {
                let (waiting, blocked) = (node.shard.waiting(), node.shard.blocked());
                return Err(format!(
                    "on shard {index} {waiting} clients wait that have gone, {blocked} of its own"
                ));
            }
            let store = node.shard.store_mut();
            if let Some(db) = (0..store.databases()).find(|db| !store.is_empty(*db)) {
                return Err(format!("shard {index} still has keys in {db} after FLUSHALL"));
            }
            let block = node.shard.block();
            if block.connections_open.read() != 0 || block.keys_total() != 0 {
                return Err(format!("shard {index} counts connections or keys that are gone"));
            }
            if self.board.open(index) != mesh::NONE_OPEN {
                return Err(format!("shard {index} still has a transaction open"));
            }
        }
        Ok(())
    }

    fn state_of_things(&mut self) -> String {
        let mut text = String::new();
        for (index, client) in self.clients.iter().enumerate() {
            if let Some(question) = client.questions.front() {
                let more = client.questions.len() - 1;
                text += &format!(
                    "\n    client {index} of shard {} waits for {} and {more} more",
                    client.shard, question.text
                );
            }
        }
        for (index, node) in self.nodes.iter_mut().enumerate() {
            let quiet = node.is_quiet();
            let (links, bytes) = (node.wires.links(), node.shard.store_mut().bytes());
            if quiet && links == 0 && bytes.used() == 0 {
                continue;
            }
            text += &format!("\n    shard {index}: quiet {quiet}, {links} links, {bytes:?}");
        }
        text
    }
}
