//! A client's home keeps its wait: it begins it, ends it, and says whether an offer is taken.

use super::{Blocked, State, wait_of};
use crate::actor::Shard;
use crate::batch::Batch;
use crate::feed::Flow;
use crate::outbox::Outbox;
use crate::parcel::{ConnId, Offer, Parcel, Run, Ticket, lock_of};
use crate::pause::PAUSED_WRITES;
use crate::planted::Bug;
use crate::route::Place;
use crate::runs::pack;
use crate::session::{Hold, Session};
use crate::txn::{Want, Work};
use commands::{Args, Entry};
use resp::{Output, Reply};

/// What a client is told whose wait another one ends with an error.
const UNBLOCKED: &str = "UNBLOCKED client unblocked via CLIENT UNBLOCK";

impl Shard {
    /// A blocking command of a session: it has something to take at once, or the session waits.
    pub(crate) fn run_blocking<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        bytes: &[u8],
        batch: &Batch,
        place: usize,
        out: &mut O,
    ) -> Flow {
        // While it waits nothing else of its client is away.
        if session.waiting() > 0 {
            session.hold = Hold::Answers;
            return Flow::Held;
        }
        let frame = &batch.frames[place];
        let args = batch.args_of(bytes, frame);
        let catalog = self.catalog;
        let entry = catalog.entry(frame.number);
        let before = self.reply.len();
        let blocks = entry.command.blocks.expect("it is a blocking command");
        let mut reply = Reply::new(&mut self.reply, session.state.version);
        let Some(until) = (blocks.until)(self.now.ms(), args, &mut reply) else {
            self.count_reply(frame.number, before);
            self.mute(session, before);
            return Flow::Next;
        };
        let owner = match self.locate(entry, args) {
            Place::One(owner) if owner == self.index && !self.is_any_sealed(entry, args) => {
                self.try_here(frame.number, self.caller(session), args);
                if self.reply.len() > before {
                    self.ran_here += 1;
                    self.mute(session, before);
                    return Flow::Next;
                }
                return self.wait_here(conn, session, entry, args, until, out);
            }
            Place::One(owner) => Some(owner),
            Place::Several => None,
        };
        self.list_keys(entry, args);
        let owners = self.owners_listed(blocks.moves);
        if owner.is_none() {
            let keys = std::mem::take(&mut self.home.keys);
            let good = self.check_before_split(session, entry, args, &keys);
            self.home.keys = keys;
            if !good {
                return Flow::Next;
            }
        }
        let ticket = self.begin_blocking(conn, session, entry.number, until, owners, out);
        match owner {
            Some(owner) => {
                let mut run = self.shell(ticket);
                run.caller = self.caller(session);
                run.shard = owner;
                run.sent_ns = self.now.mono_ns;
                run.writes = entry.command.flags.any(PAUSED_WRITES);
                self.writes_away += usize::from(run.writes);
                pack(&mut run, bytes, batch.spans_of(frame), frame.number, frame.hash);
                if owner == self.index {
                    self.park_attempt(run);
                } else {
                    self.block.hops.add(1);
                    self.send(owner, Parcel::Attempt(run), out);
                }
            }
            None => {
                self.marks.split += 1;
                self.begin_over_keys(ticket, false, self.caller(session), entry, args);
            }
        }
        Flow::Away { more: 0 }
    }

    fn is_any_sealed(&self, entry: &Entry, args: Args<'_>) -> bool {
        !self.remote.intents.is_clear() && self.is_sealed(entry, args, 0)
    }

    /// The shards of the listed keys that are waited for, each once.
    fn owners_listed(&self, first_only: bool) -> Vec<u16> {
        let count = if first_only { 1 } else { usize::MAX };
        let mut owners: Vec<u16> = self.home.keys.iter().take(count).map(|key| key.owner).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// All keys are here, and there was nothing: the client waits.
    fn wait_here<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        entry: &Entry,
        args: Args<'_>,
        until: i64,
        out: &mut O,
    ) -> Flow {
        let ticket = self.begin_blocking(conn, session, entry.number, until, vec![self.index], out);
        self.list_keys(entry, args);
        let keys = self.home.keys.clone();
        self.wait_for(self.index, ticket, entry.number, self.caller(session), args, keys);
        self.begin_wait(conn, session);
        Flow::Away { more: 0 }
    }

    /// The session is held until its blocking command is answered.
    fn begin_blocking<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        number: u16,
        until: i64,
        owners: Vec<u16>,
        out: &mut O,
    ) -> Ticket {
        let muted = self.is_muted(session);
        let ticket = self.ticket_only(conn, session, out);
        if muted {
            session.mute_last();
        }
        session.transacting = false;
        session.hold = Hold::Blocked;
        let sequence = ticket.sequence;
        session.blocked = Some(Box::new(Blocked { sequence, number, until, owners, state: State::Tried }));
        ticket
    }

    /// There was nothing to take: the client waits from now on.
    fn begin_wait(&mut self, conn: ConnId, session: &mut Session) {
        let Some(blocked) = &mut session.blocked else { return };
        if blocked.state == State::Tried {
            self.waits.blocked += 1;
            self.marks.blocked += 1;
            self.marks.blocked_on_several += u64::from(blocked.owners.len() > 1);
        }
        blocked.state = State::Waiting;
        session.state.blocked = true;
        if blocked.until < i64::MAX {
            self.waits.deadlines.insert((blocked.until, conn));
        }
    }

    /// An attempt has come home: its client is answered, or waits.
    pub(crate) fn attempt_returns<O: Outbox>(&mut self, run: Box<Run>, out: &mut O) {
        self.block.parcels_received.add(1);
        self.block.rooms.hop.record(self.now.mono_ns.saturating_sub(run.sent_ns));
        self.end_attempt(run, out);
    }

    pub(super) fn end_attempt<O: Outbox>(&mut self, mut run: Box<Run>, out: &mut O) {
        self.writes_away -= usize::from(run.writes);
        let ticket = run.ticket;
        if run.waits {
            if !self.stays_blocked(ticket, out) {
                self.unwait_at(run.shard, run.caller.client, ticket, out);
            }
        } else {
            let loan = run.large.take();
            let bytes = loan.as_deref().unwrap_or(&run.reply);
            self.answer_blocked(ticket, bytes, out);
            // Memory goes home to the shard that made it.
            if let Some(large) = loan
                && run.shard != self.index
            {
                self.send(run.shard, Parcel::Buffer(large), out);
            }
        }
        self.put_away(run);
    }

    /// A command over several shards has ended, in an answer or in a wait.
    pub(crate) fn finish_blocking<O: Outbox>(&mut self, work: Box<Work>, reply: &Output, out: &mut O) {
        let (number, ticket, client) = (work.number, work.ticket, work.caller.client);
        let anew = self.sessions.find(ticket.conn).and_then(|session| session.blocked.as_ref());
        let anew = anew.is_some_and(|blocked| blocked.state == State::Anew);
        let shards: Vec<u16> = work.parts.iter().filter(|part| part.waits).map(|part| part.shard).collect();
        self.home.put_away(work);
        // It is counted when it is tried first.
        if anew {
            self.count_refusal(number, reply);
        } else {
            self.count_answer(number, reply);
        }
        if !reply.is_empty() {
            self.answer_blocked(ticket, reply, out);
        } else if !self.stays_blocked(ticket, out) {
            for shard in shards {
                self.unwait_at(shard, client, ticket, out);
            }
        }
    }

    /// There is nothing to take for a session: it waits on. Whether it is still there.
    fn stays_blocked<O: Outbox>(&mut self, ticket: Ticket, out: &mut O) -> bool {
        let Some(mut session) = self.sessions.take(ticket.conn) else { return false };
        let anew = session.blocked.as_ref().is_some_and(|blocked| blocked.state == State::Anew);
        self.marks.anew_in_vain += u64::from(anew);
        self.begin_wait(ticket.conn, &mut session);
        let over = session.ended || session.state.closing;
        if over {
            self.give_up_waiting(ticket.conn, &mut session);
        }
        self.settle(ticket.conn, session, out);
        true
    }

    /// What another shard has for a waiting client: it is the client's if it still waits.
    pub(crate) fn offer_arrives<O: Outbox>(&mut self, mut offer: Box<Offer>, out: &mut O) {
        self.block.parcels_received.add(1);
        let waits = self.still_waits(offer.ticket);
        let (ticket, owner) = (offer.ticket, offer.owner);
        match offer.anew.take() {
            _ if !waits => {
                self.marks.offer_declined += 1;
                offer.taken = self.planted(Bug::TakenTwice);
                self.send(owner, Parcel::Offered(offer), out);
            }
            Some(anew) => {
                let args = Args::new(&anew.bytes, &anew.spans);
                self.run_anew(ticket, anew.number, anew.caller, args, out);
            }
            None => {
                self.marks.offer_taken += 1;
                let reply = std::mem::take(&mut offer.reply);
                offer.taken = true;
                // First: what the client does next must find it done.
                self.send(owner, Parcel::Offered(offer), out);
                self.leave_other_queues(ticket, owner, out);
                self.count_refused_offer(ticket, &reply);
                self.answer_blocked(ticket, &reply, out);
            }
        }
    }

    /// Whether a wait is not over.
    pub fn still_waits(&self, ticket: Ticket) -> bool {
        let Some(session) = self.sessions.find(ticket.conn) else { return false };
        let this = |blocked: &Blocked| blocked.sequence == ticket.sequence && blocked.state == State::Waiting;
        !session.state.closing && session.blocked.as_deref().is_some_and(this)
    }

    /// A waiting client's command runs anew, as a transaction over two shards.
    pub(super) fn run_anew<O: Outbox>(
        &mut self,
        ticket: Ticket,
        number: u16,
        caller: commands::Caller,
        args: Args<'_>,
        out: &mut O,
    ) {
        self.marks.served_anew += 1;
        if let Some(mut session) = self.sessions.take(ticket.conn) {
            if let Some(blocked) = &mut session.blocked {
                blocked.state = State::Anew;
                self.waits.deadlines.remove(&(blocked.until, ticket.conn));
            }
            self.sessions.put(ticket.conn, session);
        }
        let catalog = self.catalog;
        let entry = catalog.entry(number);
        self.list_keys(entry, args);
        let before = self.reply.len();
        if self.parts_lack_room(entry, &self.home.keys.clone(), caller.version) {
            let refusal = self.reply.split_off(before);
            self.answer_blocked(ticket, &refusal, out);
        } else {
            self.begin_over_keys(ticket, false, caller, entry, args);
        }
    }

    /// A blocking command is answered; its client goes on.
    pub(super) fn answer_blocked<O: Outbox>(&mut self, ticket: Ticket, bytes: &Output, out: &mut O) {
        if let Some(mut session) = self.sessions.take(ticket.conn) {
            if session.blocked.as_ref().is_some_and(|blocked| blocked.sequence == ticket.sequence) {
                self.forget_wait(ticket.conn, &mut session);
                session.hold = Hold::Answers;
            }
            self.sessions.put(ticket.conn, session);
        }
        self.answer(ticket, bytes, false, out);
    }

    fn count_refused_offer(&mut self, ticket: Ticket, reply: &[u8]) {
        let blocked = self.sessions.find(ticket.conn).and_then(|session| session.blocked.as_ref());
        if let Some(number) = blocked.map(|blocked| blocked.number) {
            self.count_refusal(number, reply);
        }
    }

    /// A client is served by that shard: the others need not keep its place.
    fn leave_other_queues<O: Outbox>(&mut self, ticket: Ticket, served_by: u16, out: &mut O) {
        let Some(mut session) = self.sessions.take(ticket.conn) else { return };
        let client = session.state.id;
        let owners =
            session.blocked.as_mut().map_or_else(Vec::new, |blocked| std::mem::take(&mut blocked.owners));
        self.sessions.put(ticket.conn, session);
        for owner in owners.into_iter().filter(|owner| *owner != served_by) {
            self.unwait_at(owner, client, ticket, out);
        }
    }

    /// Has a shard forget a wait.
    fn unwait_at<O: Outbox>(&mut self, shard: u16, client: u64, ticket: Ticket, out: &mut O) {
        let wait = wait_of(ticket);
        if shard == self.index {
            self.unwait(client, wait);
        } else {
            self.send(shard, Parcel::Unwait { client, wait }, out);
        }
    }

    /// A client waits no more, whatever it waited for.
    pub(crate) fn forget_wait(&mut self, conn: ConnId, session: &mut Session) {
        let Some(blocked) = session.blocked.take() else { return };
        session.state.blocked = false;
        self.waits.deadlines.remove(&(blocked.until, conn));
        if blocked.state == State::Tried {
            // It is in no queue yet. If it comes to be in one, that is undone when the attempt is home.
            return;
        }
        self.waits.blocked -= 1;
        let (client, wait) = (session.state.id, blocked.sequence as u32);
        for owner in blocked.owners {
            if owner == self.index {
                self.unwait(client, wait);
            } else if !self.planted(Bug::GoneStaysInLine) {
                self.block.parcels_sent.add(1);
                self.outgoing[owner as usize].push_back(Parcel::Unwait { client, wait });
                self.outgoing_len += 1;
            }
        }
    }

    /// A client that waits is not there any more to be served: nothing more of it runs.
    pub(crate) fn give_up_waiting(&mut self, conn: ConnId, session: &mut Session) {
        if session.blocked.as_ref().is_some_and(|blocked| blocked.is_waiting()) {
            self.forget_wait(conn, session);
            session.forget_answers();
            session.hold = Hold::None;
            session.state.closing = true;
        }
    }

    /// Ends waits whose time is over, or that another client ends.
    pub(super) fn end_waits<O: Outbox>(&mut self, out: &mut O) {
        for (conn, error) in std::mem::take(&mut self.waits.ending) {
            self.marks.unblocked += 1;
            self.end_wait(conn, error, out);
        }
        while let Some((until, conn)) = self.waits.deadlines.first().copied() {
            if until > self.now.ms() {
                break;
            }
            self.waits.deadlines.pop_first();
            self.marks.timed_out += 1;
            self.end_wait(conn, false, out);
        }
    }

    fn end_wait<O: Outbox>(&mut self, conn: ConnId, error: bool, out: &mut O) {
        let Some(session) = self.sessions.find(conn) else { return };
        let Some(blocked) = session.blocked.as_ref().filter(|blocked| blocked.is_waiting()) else { return };
        let ticket = Ticket { conn, sequence: blocked.sequence };
        let number = blocked.number;
        let mut bytes = Output::default();
        let mut reply = Reply::new(&mut bytes, session.state.version);
        if error {
            reply.error(UNBLOCKED);
            self.count_refusal(number, &bytes);
        } else {
            reply.null_array();
        }
        self.answer_blocked(ticket, &bytes, out);
    }

    /// Whether a transaction that has started keeps a key from being served.
    pub(super) fn is_key_sealed(&self, hash: u64) -> bool {
        let want = Want { lock: lock_of(hash), write: true };
        !self.remote.intents.is_clear() && self.remote.intents.sealed_by_started(want)
    }
}
