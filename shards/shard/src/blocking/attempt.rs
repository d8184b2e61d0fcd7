//! A blocking command where its keys are: it takes what is there, or its client joins their queues.

use super::{Offered, Waiter, wait_of};
use crate::actor::Shard;
use crate::execute::local_handler;
use crate::outbox::Outbox;
use crate::parcel::{Parcel, Part, PartKey, Run, Ticket, lock_of};
use commands::{Args, Caller, Hashed, Key};

impl Shard {
    /// Whether a run is a blocking command's.
    pub(crate) fn is_attempt(&self, run: &Run) -> bool {
        run.steps.first().is_some_and(|step| self.catalog.entry(step.number).command.blocks.is_some())
    }

    /// A blocking command of another shard's client.
    pub(crate) fn attempt_arrives<O: Outbox>(&mut self, run: Box<Run>, out: &mut O) {
        self.block.parcels_received.add(1);
        self.attempt(run, out);
    }

    /// Sets an attempt aside until a seal goes.
    pub(super) fn park_attempt(&mut self, run: Box<Run>) {
        self.marks.sealed_wait += 1;
        self.block.sealed_waits.add(1);
        self.parked.push_back(run);
    }

    /// Takes what is there for a client, or has it wait.
    pub(crate) fn attempt<O: Outbox>(&mut self, mut run: Box<Run>, out: &mut O) {
        let Some(step) = run.steps.first().copied() else { return };
        let catalog = self.catalog;
        let entry = catalog.entry(step.number);
        let args = Args::new(&run.bytes, &run.spans);
        if !self.remote.intents.is_clear() && self.is_sealed(entry, args, step.hash) {
            return self.park_attempt(run);
        }
        self.look_at_room(run.bytes.len());
        // The session that runs now keeps its replies apart.
        std::mem::swap(&mut self.reply, &mut self.away_reply);
        self.try_here(step.number, run.caller, args);
        if self.reply.is_empty() {
            self.list_keys(entry, args);
            let keys = self.home.keys.clone();
            self.wait_for(run.home, run.ticket, step.number, run.caller, args, keys);
            run.waits = true;
        }
        self.append(&mut run);
        self.end_away_reply();
        if run.home == self.index {
            self.end_attempt(run, out);
        } else {
            self.send(run.home, Parcel::Attempted(run), out);
        }
    }

    /// Takes what is there, if anything is; else nothing is said.
    pub(super) fn try_here(&mut self, number: u16, caller: Caller, args: Args<'_>) {
        let before = self.reply.len();
        let lacks_room = self.short_of_room && self.lacks_room(number, args.len(), caller.version);
        let handler = local_handler(self.catalog.entry(number).command.run);
        if let Some(handler) = handler.filter(|_| !lacks_room) {
            self.call(number, handler, caller, args, Hashed::NONE);
        }
        self.count_reply(number, before);
    }

    /// A part of a command over several shards that has found nothing anywhere: its client waits.
    pub(crate) fn wait_by_part(&mut self, part: &Part) {
        let ticket = part.wait.expect("a part of a blocking command belongs to a wait");
        let args = Args::new(&part.bytes, &part.spans);
        self.wait_for(part.home, ticket, part.number, part.caller, args, part.keys.clone());
    }

    /// A client joins the queues of its keys that live here. One that has been in them stays where it was:
    /// what it was promised is not, any more.
    pub(super) fn wait_for(
        &mut self,
        home: u16,
        ticket: Ticket,
        number: u16,
        caller: Caller,
        args: Args<'_>,
        keys: Vec<PartKey>,
    ) {
        let client = caller.client;
        if let Some(waiter) = self.waits.waiters.get_mut(&client) {
            if waiter.ticket == ticket {
                if let Some(offered) = waiter.offered.take() {
                    self.end_offer(offered);
                }
                return;
            }
            let wait = wait_of(waiter.ticket);
            self.unwait(client, wait);
        }
        let moves = self.catalog.entry(number).command.blocks.is_some_and(|blocks| blocks.moves);
        let awaited = |key: &&PartKey| !moves || key.ordinal == 0;
        if !keys.iter().any(|key| awaited(&key)) {
            return;
        }
        let mut bytes = Vec::with_capacity(args.from(0).map(<[u8]>::len).sum());
        let mut spans = Vec::with_capacity(args.len());
        for argument in args.from(0) {
            spans.push(resp::Span { start: bytes.len() as u32, len: argument.len() as u32 });
            bytes.extend_from_slice(argument);
        }
        self.watched.change_awaited(|queues| {
            for key in keys.iter().filter(awaited) {
                let name = Key { bytes: args.get(key.span as usize), hash: key.hash };
                queues.wait(client, caller.db, name);
            }
        });
        let waiter = Waiter { home, ticket, caller, number, bytes, spans, keys, offered: None };
        self.held_bytes += waiter.memory();
        self.waits.waiters.insert(client, waiter);
    }

    /// A client waits no more, as far as that wait and those before it.
    pub(crate) fn unwait(&mut self, client: u64, wait: u32) {
        let Some(waiter) = self.waits.waiters.get(&client) else { return };
        let is_later = wait_of(waiter.ticket).wrapping_sub(wait).cast_signed() > 0;
        if !is_later {
            self.drop_waiter(client);
        }
    }

    /// Takes a client out of all queues. What it was promised is the next one's.
    pub(super) fn drop_waiter(&mut self, client: u64) {
        let Some(waiter) = self.waits.waiters.remove(&client) else { return };
        self.held_bytes -= waiter.memory();
        let args = waiter.args();
        self.watched.change_awaited(|queues| {
            for key in &waiter.keys {
                let name = Key { bytes: args.get(key.span as usize), hash: key.hash };
                queues.leave(client, waiter.caller.db, name);
            }
        });
        if let Some(offered) = waiter.offered {
            self.end_offer(offered);
        }
    }

    /// An offer is answered, one way or the other: somebody looks who is next.
    fn end_offer(&mut self, offered: Offered) {
        self.waits.offers -= 1;
        if let Some(hash) = offered.other {
            let place = self.waits.pushing.iter().position(|other| *other == hash);
            self.waits.pushing.swap_remove(place.expect("it is held while it is offered"));
            self.remote.intents.unhold(lock_of(hash));
        }
        let name = offered.spot;
        self.watched.change_awaited(|queues| {
            if let Some(spot) = queues.find_mut(name.db, name.key()) {
                spot.promised = None;
            }
        });
        self.waits.ready.push_back(name);
    }
}
