//! Where parts of commands over several shards run: in the order of their ids, under locks that stay
//! until the whole command is done.

use crate::actor::Shard;
use crate::execute::local_handler;
use crate::outbox::Outbox;
use crate::parcel::{Hop, Parcel, Part, PartKey, lock_of};
use crate::planted::Bug;
use crate::txn::intents::{Intents, Want};
use commands::{Args, Call, Caller, Hashed, House, Key, LocalFn, Order, Piece, Run, Spread};
use resp::Span;
use spec::setting::Events;
use std::collections::{HashMap, VecDeque};

/// Parts on this shard.
#[derive(Default)]
pub(crate) struct Remote {
    pub intents: Intents,
    /// Arrived, their order perhaps not settled yet.
    pub queue: PartQueue,
    /// Entered, not yet started.
    waiting: HashMap<u64, Box<Part>>,
    start: Vec<u64>,
    /// The arguments of one key, reused.
    spans: Vec<Span>,
}

/// Parts in the order of their ids.
#[derive(Default)]
pub(crate) struct PartQueue(VecDeque<Box<Part>>);

impl PartQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a part. Each home sends its own in order, so that its place is near the end.
    #[inline]
    pub(crate) fn insert(&mut self, part: Box<Part>) {
        if self.0.back().is_none_or(|last| last.id < part.id) {
            self.0.push_back(part);
        } else {
            self.insert_before(part);
        }
    }

    #[inline(never)]
    fn insert_before(&mut self, part: Box<Part>) {
        let behind = self.0.iter().rev().take_while(|other| other.id > part.id).count();
        self.0.insert(self.0.len() - behind, part);
    }
}

impl Remote {
    pub(crate) fn is_empty(&self) -> bool {
        self.intents.is_clear() && self.queue.is_empty() && self.waiting.is_empty()
    }

    /// A part waits for a seal to go.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
}

impl Shard {
    /// A part has come, from another shard.
    pub(crate) fn part_arrives<O: Outbox>(&mut self, part: Box<Part>, out: &mut O) {
        self.block.parcels_received.add(1);
        self.take_part(part, out);
    }

    pub(crate) fn take_part<O: Outbox>(&mut self, mut part: Box<Part>, out: &mut O) {
        match part.hop {
            Hop::Apply => {
                self.carry_orders(&mut part);
                self.part_done(part, out);
            }
            Hop::Exec | Hop::ExecOn if part.id == 0 || part.hop == Hop::ExecOn => {
                self.run_share(&mut part);
                self.part_done(part, out);
            }
            Hop::Publish => {
                self.publish_part(&mut part, out);
                self.part_done(part, out);
            }
            Hop::Again => {
                self.run_part(&mut part);
                self.part_done(part, out);
            }
            Hop::Everywhere if part.id == 0 => {
                self.run_part(&mut part);
                self.part_ran(part, out);
            }
            _ => {
                self.remote.queue.insert(part);
            }
        }
    }

    pub(crate) fn part_done<O: Outbox>(&mut self, part: Box<Part>, out: &mut O) {
        if self.has_unsaid() {
            self.say(None, out);
        }
        if part.home == self.index {
            self.part_returns(part, out);
        } else {
            self.send(part.home, Parcel::PartDone(part), out);
        }
    }

    /// Parts have arrived whose order is to be settled: then the house calls `settled`, drains the
    /// rings once more, and calls `order`.
    #[inline]
    pub fn wants_order(&self) -> bool {
        !self.remote.queue.is_empty()
    }

    /// Below this id nothing more can arrive that is not in the rings already.
    pub fn settled(&self) -> u64 {
        self.home.board().settled_below(usize::from(self.index))
    }

    /// Lets parts with ids below `settled` enter, in order, and runs those that meet no lock.
    pub fn order<O: Outbox>(&mut self, settled: u64, out: &mut O) {
        let settled = if self.planted(Bug::ArrivalOrder) { u64::MAX } else { settled };
        while let Some(mut part) = self.remote.queue.0.pop_front() {
            let id = part.id;
            if id >= settled {
                self.remote.queue.0.push_front(part);
                self.marks.unsettled += 1;
                break;
            }
            if let Some(ticket) = part.wait {
                self.anew_arrives(part.caller.client, ticket);
            }
            let reads = !self.planted(Bug::ReadsUnlocked);
            let wanted = part.keys.iter().filter(|key| key.write || reads);
            let wants = wanted.map(|key| Want { lock: lock_of(key.hash), write: key.write });
            let whole = part.whole && !self.planted(Bug::WholeUnlocked);
            if self.remote.intents.enter(id, part.home, wants, whole) {
                self.run_part(&mut part);
                self.part_done(part, out);
            } else {
                self.marks.transaction_wait += 1;
                self.block.transactions_waited.add(1);
                self.remote.waiting.insert(id, part);
            }
        }
    }

    fn start_parts<O: Outbox>(&mut self, out: &mut O) {
        let mut start = std::mem::take(&mut self.remote.start);
        for id in start.drain(..) {
            let mut part = self.remote.waiting.remove(&id).expect("what starts has entered");
            self.run_part(&mut part);
            self.part_done(part, out);
        }
        self.remote.start = start;
    }

    /// Takes away the seals of commands that are done everywhere; what waited for them goes on.
    pub(crate) fn release<O: Outbox>(&mut self, out: &mut O) {
        let unheld = self.remote.intents.take_unheld();
        if self.remote.intents.is_clear() && !unheld {
            return;
        }
        let board = self.home.board();
        let early = self.planted(Bug::EarlyRelease);
        let ended = self.remote.intents.release(|home, id| early || board.open(usize::from(home)) > id);
        // What somebody waited for is theirs before others get at it.
        if ended && self.waits.wants_service() {
            self.serve(out);
        }
        if ended | unheld | self.remote.intents.take_unheld() {
            // Single-shard commands first: they take a moment and seal nothing.
            if !self.planted(Bug::ParkedForever) {
                self.unpark(out);
            }
            let Remote { intents, start, .. } = &mut self.remote;
            intents.grant(start);
            self.start_parts(out);
        }
    }

    /// Runs a part's first hop.
    fn run_part(&mut self, part: &mut Part) {
        let (grown, now) = (self.store.counters().grown, self.now);
        if matches!(part.hop, Hop::Spread | Hop::Gather) && self.planted(Bug::TimelessPart) {
            self.now = crate::outbox::Now::default();
        }
        self.run_hop(part);
        self.now = now;
        self.marks.grown_in_part += self.store.counters().grown - grown;
    }

    fn run_hop(&mut self, part: &mut Part) {
        match part.hop {
            Hop::Spread => self.run_spread(part),
            Hop::Gather => self.gather(part),
            Hop::Everywhere | Hop::Again => {
                let command = self.catalog.entry(part.number).command;
                if let Some(wide) = command.wide {
                    return self.run_round(wide, part);
                }
                let Run::Everywhere(everywhere) = command.run else {
                    unreachable!("it was begun as an everywhere-command");
                };
                let call = Call { caller: part.caller, now: self.now.ms() };
                let mut reply = std::mem::take(&mut part.reply);
                let args = Args::new(&part.bytes, &part.spans);
                self.look_around(|shard| (everywhere.part)(shard, &call, args, reply.bytes_mut()));
                part.reply = reply;
            }
            Hop::Exec => self.run_share(part),
            Hop::Apply | Hop::ExecOn | Hop::Publish => unreachable!("what goes on does not queue"),
        }
    }

    fn run_spread(&mut self, part: &mut Part) {
        let command = self.catalog.entry(part.number).command;
        let handler = local_handler(command.run).expect("only local commands are spread");
        if command.spread == Spread::InKeyOrder {
            return self.run_in_key_order(part, handler);
        }
        let args = Args::new(&part.bytes, &part.spans);
        let hashed = match part.keys[..] {
            [key] => Hashed::new(args, key.span as usize, key.hash),
            _ => Hashed::NONE,
        };
        // The session that runs now keeps its replies apart.
        std::mem::swap(&mut self.reply, &mut part.reply);
        self.call(part.number, handler, part.caller, args, hashed);
        std::mem::swap(&mut self.reply, &mut part.reply);
    }

    /// Runs a handler for one key after the other.
    fn run_in_key_order(&mut self, part: &mut Part, handler: LocalFn) {
        std::mem::swap(&mut self.reply, &mut self.away_reply);
        for place in 0..part.keys.len() {
            let key = part.keys[place];
            let mut spans = std::mem::take(&mut self.remote.spans);
            spans.push(part.spans[0]);
            spans.extend_from_slice(&part.spans[key.span as usize..key.until as usize]);
            self.reply.clear();
            let args = Args::new(&part.bytes, &spans);
            self.call(part.number, handler, part.caller, args, Hashed::new(args, 1, key.hash));
            spans.clear();
            self.remote.spans = spans;
            // An array of one: its element alone is wanted.
            let head = if self.reply.starts_with(b"*1\r\n") { 4 } else { 0 };
            part.reply.append_piece(&self.reply, head..self.reply.len());
            part.cuts.push(part.reply.len() as u32);
        }
        self.end_away_reply();
    }

    fn gather(&mut self, part: &mut Part) {
        part.looked = self.now;
        let args = Args::new(&part.bytes, &part.spans);
        self.gather_keys(part.number, part.caller, args, &part.keys, &mut part.pieces);
    }

    /// Runs a plan's first hop on these keys.
    pub(crate) fn gather_keys(
        &mut self,
        number: u16,
        caller: Caller,
        args: Args<'_>,
        keys: &[PartKey],
        pieces: &mut Vec<Piece>,
    ) {
        let Run::Plan(plan) = self.catalog.entry(number).command.run else {
            unreachable!("it was begun as a plan");
        };
        let mut ctx = self.ctx(caller);
        for key in keys {
            let name = Key { bytes: args.get(key.span as usize), hash: key.hash };
            pieces.push((plan.gather)(&mut ctx, args, key.ordinal as usize, name));
        }
    }

    /// Runs a part's second hop.
    fn carry_orders(&mut self, part: &mut Part) {
        if part.waits {
            return self.wait_by_part(part);
        }
        // What was there then is there still, also if its time is over by now.
        let now = std::mem::replace(&mut self.now, part.looked);
        let grown = self.store.counters().grown;
        let args = Args::new(&part.bytes, &part.spans);
        for (key, order) in part.keys.iter().zip(part.orders.drain(..)) {
            self.carry_order(part.caller, args, *key, order);
        }
        self.now = now;
        self.marks.grown_in_part += self.store.counters().grown - grown;
    }

    /// Carries out a plan's order for one key.
    pub(crate) fn carry_order(&mut self, caller: Caller, args: Args<'_>, key: PartKey, order: Order) {
        let now = self.now.ms();
        let name = Key { bytes: args.get(key.span as usize), hash: key.hash };
        match order {
            Order::Nothing => {}
            Order::Remove(_) if self.planted(Bug::SourceStays) => {}
            Order::Remove(event) => {
                // It goes because it comes elsewhere: that is the one change.
                if self.store.remove(caller.db as usize, name, now) {
                    self.watched.touch(caller.db, name);
                    self.ctx(caller).notify(Events::GENERIC, event, name.bytes);
                }
            }
            Order::Put { db, .. }
                if self.planted(Bug::PutOnlyNew)
                    && self.store.find_untouched(db as usize, name, now).is_some() => {}
            Order::Put { db, value, event: (class, event) } => {
                let db = if self.planted(Bug::PutHere) { caller.db } else { db };
                self.ctx(caller).replaces(db, name);
                self.store.attach(db as usize, name, value);
                self.ctx(caller).notify_in(db, class, event, name.bytes);
                self.effects.dirty += 1;
                self.watched.touch(db, name);
            }
            Order::Act(..)
                if self.planted(Bug::ActLost)
                    && self.store.find_untouched(caller.db as usize, name, now).is_none() => {}
            Order::Act(act, value) => {
                let mut ctx = self.ctx(caller);
                act(&mut ctx, args, name, value);
                // It is not ordered where nothing changes.
                self.watched.touch(caller.db, name);
            }
        }
    }
}
