//! Keys that have something to take: it is offered to who waits, first come first served. A key is held
//! from the command that filled it until that is done, so that nobody comes in between.

use super::{Name, Offered, Waiter};
use crate::actor::Shard;
use crate::outbox::Outbox;
use crate::parcel::{Anew, Offer, Parcel, PartKey, Ticket, lock_of};
use crate::planted::Bug;
use commands::{Order, Piece, Run};
use resp::{Output, Reply};
use store::Kind;

/// Clients served in one turn at most; others have theirs in between.
const SERVED_MAX: usize = 64;

/// What a key has for a client that waits for it.
enum Service {
    /// Nothing that it can use.
    None,
    /// This answer, which makes these orders due, perhaps for another key too.
    Answer { reply: Output, orders: Vec<(PartKey, Order)>, other: Option<u64> },
    /// Something that another shard has a say in.
    Anew,
}

impl Shard {
    /// Keys have changed for which clients wait: nobody else gets at them until somebody has looked.
    pub(crate) fn hold_changed(&mut self) {
        for (db, hash, key) in self.watched.change_awaited(commands::Awaited::take_changed) {
            let name = Name { db, hash, key };
            if !self.planted(Bug::ReadyUnheld) {
                self.hold_spot(&name, true);
            }
            self.waits.ready.push_back(name);
        }
    }

    /// Begins or ends the hold of a key that somebody attends.
    fn hold_spot(&mut self, name: &Name, held: bool) {
        let before = self.watched.change_awaited(|queues| {
            let spot = queues.find_mut(name.db, name.key());
            spot.map(|spot| std::mem::replace(&mut spot.held, held))
        });
        match before {
            Some(false) if held => self.remote.intents.hold(lock_of(name.hash)),
            Some(true) if !held => self.remote.intents.unhold(lock_of(name.hash)),
            _ => {}
        }
    }

    /// What is due for those who wait.
    pub(crate) fn tend_waits<O: Outbox>(&mut self, out: &mut O) {
        self.hold_changed();
        self.end_waits(out);
        if self.waits.wants_service() {
            self.serve(out);
        }
    }

    /// Serves those who wait for keys that have something.
    pub(crate) fn serve<O: Outbox>(&mut self, out: &mut O) {
        self.waits.ready.extend(std::mem::take(&mut self.waits.stalled));
        let mut left = SERVED_MAX;
        while left > 0
            && let Some(name) = self.waits.ready.pop_front()
        {
            left -= self.serve_key(name, left, out);
        }
    }

    /// Serves up to so many of those who wait for a key. How many turns that took.
    fn serve_key<O: Outbox>(&mut self, name: Name, most: usize, out: &mut O) -> usize {
        if self.is_key_sealed(name.hash) || self.waits.pushing.contains(&name.hash) {
            self.marks.service_sealed += 1;
            self.waits.stalled.push(name);
            return 1;
        }
        let mut served = 0;
        let mut place = usize::from(self.planted(Bug::SecondServedFirst) && self.queue_len(&name) > 1);
        while served < most {
            let Some(client) = self.next_in_line(&name, place) else {
                self.leave_key(&name);
                return served + 1;
            };
            let waiter = self.waits.waiters.remove(&client).expect("who is in a queue waits");
            if waiter.offered.is_some() {
                // It may decline that, and is the first here.
                self.marks.offer_behind_offer += 1;
                self.waits.waiters.insert(client, waiter);
                self.waits.stalled.push(name);
                return served + 1;
            }
            if waiter.home == self.index && !self.still_waits(waiter.ticket) {
                self.waits.waiters.insert(client, waiter);
                self.drop_waiter(client);
                continue;
            }
            let service = self.look_for(&waiter, &name);
            let (home, ticket, number) = (waiter.home, waiter.ticket, waiter.number);
            self.waits.waiters.insert(client, waiter);
            match service {
                Service::None => {
                    place += 1;
                    continue;
                }
                Service::Answer { reply, orders, .. } if home == self.index => {
                    served += 1;
                    self.marks.served_here += 1;
                    self.serve_here(client, ticket, number, &reply, orders, out);
                }
                Service::Answer { reply, orders, other } => {
                    let offered = Offered { spot: name, orders, other, now: self.now };
                    self.offer(client, offered, reply, None, out);
                    return served + 1;
                }
                Service::Anew => {
                    self.offer_anew(client, name, out);
                    return served + 1;
                }
            }
            place = 0;
        }
        self.waits.ready.push_back(name);
        served
    }

    fn queue_len(&self, name: &Name) -> usize {
        self.watched.awaited().find(name.db, name.key()).map_or(0, |spot| spot.queue.len())
    }

    /// Who stands at that place of a key's queue, if there may be something for it.
    fn next_in_line(&mut self, name: &Name, place: usize) -> Option<u64> {
        let client = *self.watched.awaited().find(name.db, name.key())?.queue.get(place)?;
        let there = self.store.find_untouched(usize::from(name.db), name.key(), self.now.ms())?;
        matches!(there.kind(), Kind::List | Kind::SortedSet).then_some(client)
    }

    /// There is nothing for anybody: others may have the key.
    fn leave_key(&mut self, name: &Name) {
        self.hold_spot(name, false);
        self.watched.change_awaited(|queues| {
            if let Some(spot) = queues.find_mut(name.db, name.key()) {
                spot.attended = false;
            }
            queues.tidy(name.db, name.key());
        });
    }

    /// What a key has for a client.
    fn look_for(&mut self, waiter: &Waiter, name: &Name) -> Service {
        let catalog = self.catalog;
        let command = catalog.entry(waiter.number).command;
        let (Run::Plan(plan), Some(blocks)) = (command.run, command.blocks) else {
            unreachable!("who waits has a blocking command");
        };
        let args = waiter.args();
        let is_it = |key: &&PartKey| args.get(key.span as usize) == &*name.key;
        let Some(key) = waiter.keys.iter().find(is_it).copied() else { return Service::None };
        let count = waiter.keys.iter().map(|key| key.ordinal as usize + 1).max().unwrap_or(0);
        let mut pieces: Vec<Piece> = (0..count).map(|_| Piece::Nothing).collect();
        let (mut found, mut other) = (Vec::new(), None);
        self.gather_keys(waiter.number, waiter.caller, args, &[key], &mut found);
        match found.pop() {
            Some(piece @ Piece::Value(Some(_))) => pieces[key.ordinal as usize] = piece,
            _ => return Service::None,
        }
        if blocks.moves {
            // A key elsewhere, or with which something else is under way, is for a transaction.
            let to = waiter.keys.iter().find(|key| key.ordinal == 1).copied();
            let Some(to) = to.filter(|to| to.hash == name.hash || self.is_at_hand(waiter, *to)) else {
                return Service::Anew;
            };
            other = (to.hash != name.hash).then_some(to.hash);
            self.gather_keys(waiter.number, waiter.caller, args, &[to], &mut found);
            pieces[1] = found.pop().expect("a piece for each key");
        }
        let facts = self.check_facts(waiter.caller.db);
        let mut bytes = Output::default();
        if self.short_of_room {
            let before = self.reply.len();
            if self.lacks_room(waiter.number, args.len(), waiter.caller.version) {
                let reply = self.reply.split_off(before);
                return Service::Answer { reply, orders: Vec::new(), other: None };
            }
        }
        let mut reply = Reply::new(&mut bytes, waiter.caller.version);
        let orders = (plan.decide)(&facts, args, &mut pieces, &mut reply);
        let orders = orders.into_iter().flatten().enumerate().filter_map(|(ordinal, order)| {
            let key = waiter.keys.iter().find(|key| key.ordinal as usize == ordinal)?;
            (!matches!(order, Order::Nothing)).then_some((*key, order))
        });
        Service::Answer { reply: bytes, orders: orders.collect(), other }
    }

    /// Whether something may be put to another key of this shard as part of a service: nothing is promised of
    /// it, or on its way to it, and no transaction has it.
    fn is_at_hand(&self, waiter: &Waiter, key: PartKey) -> bool {
        let name = commands::Key { bytes: waiter.args().get(key.span as usize), hash: key.hash };
        let spot = self.watched.awaited().find(waiter.caller.db, name);
        !self.is_key_sealed(key.hash)
            && !self.waits.pushing.contains(&key.hash)
            && spot.is_none_or(|spot| spot.promised.is_none())
    }

    /// A client of this shard has what it waited for.
    fn serve_here<O: Outbox>(
        &mut self,
        client: u64,
        ticket: Ticket,
        number: u16,
        reply: &Output,
        orders: Vec<(PartKey, Order)>,
        out: &mut O,
    ) {
        self.carry_taken(client, orders);
        self.drop_waiter(client);
        self.count_refusal(number, reply);
        self.answer_blocked(ticket, reply, out);
    }

    /// Carries out what a client's answer makes due.
    fn carry_taken(&mut self, client: u64, orders: Vec<(PartKey, Order)>) {
        let Some(waiter) = self.waits.waiters.remove(&client) else { return };
        for (key, order) in orders {
            self.carry_order(waiter.caller, waiter.args(), key, order);
        }
        self.waits.waiters.insert(client, waiter);
        self.hold_changed();
    }

    /// Offers what a key has to a client of another shard.
    fn offer<O: Outbox>(
        &mut self,
        client: u64,
        mut offered: Offered,
        reply: Output,
        anew: Option<Box<Anew>>,
        out: &mut O,
    ) {
        self.promise(client, &offered.spot);
        if self.planted(Bug::PoppedBeforeTaken) {
            self.carry_taken(client, std::mem::take(&mut offered.orders));
        }
        if let Some(hash) = offered.other {
            self.remote.intents.hold(lock_of(hash));
            self.waits.pushing.push(hash);
        }
        let waiter = self.waits.waiters.get_mut(&client).expect("it was just looked at");
        waiter.offered = Some(offered);
        self.waits.offers += 1;
        let (home, ticket, owner) = (waiter.home, waiter.ticket, self.index);
        let offer = Box::new(Offer { owner, ticket, client, reply, taken: false, anew });
        self.send(home, Parcel::Offer(offer), out);
    }

    /// What a key has is a client's, or nobody's.
    fn promise(&mut self, client: u64, name: &Name) {
        self.hold_spot(name, true);
        self.watched.change_awaited(|queues| {
            if let Some(spot) = queues.find_mut(name.db, name.key()) {
                spot.promised = Some(client);
            }
        });
    }

    /// A client's command is to run anew, as a transaction that its home begins.
    fn offer_anew<O: Outbox>(&mut self, client: u64, name: Name, out: &mut O) {
        let waiter = &self.waits.waiters[&client];
        let (number, caller) = (waiter.number, waiter.caller);
        let (bytes, spans) = (waiter.bytes.clone(), waiter.spans.clone());
        let (home, ticket) = (waiter.home, waiter.ticket);
        let offered = Offered { spot: name, orders: Vec::new(), other: None, now: self.now };
        if home != self.index {
            let anew = Box::new(Anew { number, caller, bytes, spans });
            return self.offer(client, offered, Output::default(), Some(anew), out);
        }
        self.promise(client, &offered.spot);
        let waiter = self.waits.waiters.get_mut(&client).expect("it was just looked at");
        waiter.offered = Some(offered);
        self.waits.offers += 1;
        self.run_anew(ticket, number, caller, commands::Args::new(&bytes, &spans), out);
    }

    /// A transaction has come that a waiting client began: it gets at the key now, and whoever was before it.
    pub(crate) fn anew_arrives(&mut self, client: u64, ticket: Ticket) {
        let waiter = self.waits.waiters.get(&client).filter(|waiter| waiter.ticket == ticket);
        let offered = waiter.and_then(|waiter| waiter.offered.as_ref());
        if let Some(name) = offered.map(|offered| offered.spot.clone()) {
            self.hold_spot(&name, false);
        }
    }

    /// An offer has been taken, or not.
    pub(crate) fn offer_returns<O: Outbox>(&mut self, offer: Offer, out: &mut O) {
        self.block.parcels_received.add(1);
        let Some(waiter) = self.waits.waiters.get_mut(&offer.client) else { return };
        if waiter.ticket != offer.ticket {
            return;
        }
        if offer.taken
            && let Some(offered) = &mut waiter.offered
        {
            let (orders, looked) = (std::mem::take(&mut offered.orders), offered.now);
            let now = std::mem::replace(&mut self.now, looked);
            self.carry_taken(offer.client, orders);
            self.now = now;
        }
        self.drop_waiter(offer.client);
        self.serve(out);
    }
}
