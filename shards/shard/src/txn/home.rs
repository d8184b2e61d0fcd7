//! Where a command over several shards is begun and ended: parts go out under one id, outcomes are
//! folded, the client is answered.

use crate::actor::Shard;
use crate::execute::note_listening;
use crate::feed::Flow;
use crate::outbox::Outbox;
use crate::parcel::{ConnId, Hop, Parcel, Part, Ticket};
use crate::planted::Bug;
use crate::session::{Hold, Session};
use crate::txn::works::{KEPT_BYTES_MAX, Work, push_arguments};
use commands::{After, Args, Caller, Entry, Everywhere, Go, Lock, Order, Piece, Run, Spread};
use resp::{NOTHING, Output, Reply};
use std::ops::Range;

impl Shard {
    /// Begins a command whose keys, those in `self.home.keys`, live on several shards.
    pub(crate) fn start_over_keys<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        entry: &Entry,
        args: Args<'_>,
        out: &mut O,
    ) {
        let muted = self.is_muted(session);
        let ticket = self.ticket_only(conn, session, out);
        self.begin_over_keys(ticket, muted, self.caller(session), entry, args);
    }

    /// The same with a ticket for its answer.
    pub(crate) fn begin_over_keys(
        &mut self,
        ticket: Ticket,
        muted: bool,
        caller: Caller,
        entry: &Entry,
        args: Args<'_>,
    ) {
        let hop = if matches!(entry.command.run, Run::Plan(_)) { Hop::Gather } else { Hop::Spread };
        let mut work = self.home.work(ticket, entry.number, caller, muted);
        if hop == Hop::Gather {
            work.bytes.extend_from_slice(args.bytes());
            work.spans.extend_from_slice(args.spans());
        }
        self.home.divide(&mut work, args, hop);
        if entry.command.blocks.is_some() {
            work.blocks = true;
            work.parts.iter_mut().for_each(|part| part.wait = Some(ticket));
        }
        let name = self.home.insert(work);
        self.home.staged.push_back(name);
    }

    /// Whether the client wants no reply to this command.
    pub(crate) fn is_muted(&mut self, session: &mut Session) -> bool {
        let muted = session.state.reply_mode != commands::ReplyMode::On;
        if muted {
            let before = self.reply.len();
            self.mute(session, before);
        }
        muted
    }

    /// A ticket for an answer that comes later; what was written before goes out first.
    pub(crate) fn ticket_only<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        out: &mut O,
    ) -> Ticket {
        if session.waiting() > 0 || !self.planted(Bug::ReplyOvertaken) {
            self.hand_out(conn, session, out);
        }
        Ticket { conn, sequence: session.expect() }
    }

    /// Begins a command with a part on every shard.
    pub(crate) fn start_everywhere<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        number: u16,
        everywhere: &Everywhere,
        args: Args<'_>,
        out: &mut O,
    ) -> Flow {
        let before_answer = self.reply.len();
        let first = match self.prepare_everywhere(session, everywhere, args) {
            Go::On => None,
            Go::After(job) => Some(job),
            Go::Answered => {
                let before = self.reply.len();
                note_listening(conn, session, out);
                self.count_reply(number, before_answer);
                self.after(conn, session, After::Done, before, out);
                self.mute_command(session, number, before_answer);
                return Flow::Next;
            }
        };
        let caller = self.caller(session);
        let muted = self.is_muted(session) && !self.catalog.entry(number).pushes;
        let ticket = self.ticket_only(conn, session, out);
        let mut work = self.home.work(ticket, number, caller, muted);
        work.bytes.extend_from_slice(args.bytes());
        work.spans.extend_from_slice(args.spans());
        let only_home = everywhere.lock == Lock::Keyspace && self.planted(Bug::FlushAtHome);
        for shard in (0..self.shards).filter(|shard| !only_home || *shard == self.index) {
            let mut part = self.home.part(shard, number, caller, Hop::Everywhere);
            part.whole = everywhere.lock == Lock::Keyspace;
            push_arguments(&mut part, args, 0..args.len());
            work.parts.push(part);
        }
        let name = self.home.insert(work);
        match first {
            None => self.begin_everywhere(name, out),
            Some(job) => {
                self.home.after_jobs.push((ticket, name));
                out.order(job, Some(ticket));
            }
        }
        // Its outcome may change the session (CLIENT KILL, CONFIG SET requirepass): nothing overtakes it.
        session.hold = Hold::Answers;
        Flow::Away { more: 0 }
    }

    fn prepare_everywhere(&mut self, session: &mut Session, everywhere: &Everywhere, args: Args<'_>) -> Go {
        let Some(prepare) = everywhere.prepare else { return Go::On };
        let mut buffer = std::mem::take(&mut self.reply);
        let mut reply = Reply::new(&mut buffer, session.state.version);
        let mut home = commands::Home { session: &mut session.state, house: self };
        let go = prepare(&mut home, args, &mut reply);
        self.reply = buffer;
        go
    }

    fn begin_everywhere<O: Outbox>(&mut self, name: u64, out: &mut O) {
        if self.home.find(name).parts.iter().any(|part| part.whole) {
            self.home.staged.push_back(name);
        } else {
            self.send_parts(name, out);
        }
    }

    /// A job is done: the command that waited for it goes on, or ends with the job's error. Whether one
    /// waited.
    pub(crate) fn go_on_after_job<O: Outbox>(
        &mut self,
        ticket: Ticket,
        outcome: &Result<(), String>,
        out: &mut O,
    ) -> bool {
        let Some(place) = self.home.after_jobs.iter().position(|(waits, _)| *waits == ticket) else {
            return false;
        };
        let (_, name) = self.home.after_jobs.swap_remove(place);
        if self.home.find(name).exec.is_some() {
            self.exec_after_job(name, outcome, out);
            return true;
        }
        match outcome {
            Ok(()) => self.begin_everywhere(name, out),
            Err(text) => {
                let work = self.home.remove(name);
                let mut bytes = Output::default();
                Reply::new(&mut bytes, work.caller.version).error(text);
                self.finish(work, &bytes, out);
            }
        }
        true
    }

    /// Sends the parts of a command that locks nothing.
    pub(crate) fn send_parts<O: Outbox>(&mut self, name: u64, out: &mut O) {
        if self.topics.has_forgotten() && !self.planted(Bug::FarewellLate) {
            self.tell_forgotten(out);
        }
        let work = self.home.find(name);
        let parts = std::mem::take(&mut work.parts);
        work.away = parts.len();
        for part in parts {
            if part.shard == self.index {
                self.own.push_back(part);
            } else {
                self.send(part.shard, Parcel::Part(part), out);
            }
        }
    }

    /// Room 9, first half: draws ids for what is staged and puts the parts in the rings. The house then
    /// publishes the rings and calls [`Shard::published`].
    pub fn stage<O: Outbox>(&mut self, out: &mut O) {
        self.send_again(out);
        if self.planted(Bug::OpenTooLate) {
            self.home.tell_open();
        }
        if self.home.staged.is_empty() {
            return;
        }
        let outgoing = &self.outgoing;
        let (count, refused) = self.home.claim(out, |to| !outgoing[to as usize].is_empty());
        if refused {
            self.marks.reservation_refused += 1;
            self.block.reservations_refused.add(1);
        }
        if self.home.favoured == 0 && refused && !self.planted(Bug::NoRoomKept) {
            // The next time it is theirs. What is kept goes when one has gone, and the others have
            // their turn before more is kept.
            self.home.keep_room(count);
        } else if count > 0 {
            self.home.favoured = 0;
            self.home.kept.fill(0);
        }
        if count == 0 {
            self.home.refused = refused;
            return;
        }
        if std::mem::replace(&mut self.home.refused, refused) {
            self.marks.reservation_retried += 1;
            self.block.reservations_retried.add(1);
        }
        let first = self.home.board.draw(usize::from(self.index), count as u64);
        self.home.drew = true;
        self.home.open.extend(first..first + count as u64);
        // Before anybody can see the parts: what is started stays sealed until we say otherwise.
        if !self.planted(Bug::OpenTooLate) {
            self.home.tell_open();
        }
        for id in first..first + count as u64 {
            let name = self.home.staged.pop_front().expect("it was counted");
            let work = self.home.find(name);
            work.id = id;
            work.away = work.parts.len();
            while let Some(mut part) = work.parts.pop() {
                part.id = id;
                if part.shard == self.index {
                    self.remote.queue.insert(part);
                } else {
                    self.block.parcels_sent.add(1);
                    let fits = out.send(part.shard, Parcel::Part(part));
                    assert!(fits.is_ok(), "room was claimed");
                }
            }
        }
    }

    /// Room 9, second half: the rings were published.
    pub fn published(&mut self) {
        if std::mem::take(&mut self.home.drew) {
            self.home.board.published(usize::from(self.index));
        }
    }

    /// A part has come home.
    pub(crate) fn part_returns<O: Outbox>(&mut self, part: Box<Part>, out: &mut O) {
        let name = part.work;
        if part.shard != self.index {
            self.block.parcels_received.add(1);
        }
        let work = self.home.find(name);
        work.parts.push(part);
        work.away -= 1;
        if work.away > 0 {
            return;
        }
        if !work.parts.is_sorted_by_key(|part| part.shard) {
            work.parts.sort_by_key(|part| part.shard);
        }
        let hop = work.parts[0].hop;
        match hop {
            Hop::Spread => self.end_spread(name, out),
            Hop::Everywhere | Hop::Again => self.end_everywhere(name, out),
            Hop::Gather => self.decide(name, out),
            Hop::Exec | Hop::ExecOn => self.end_stage(name, out),
            Hop::Publish => self.end_publish(name, out),
            Hop::Apply => {
                self.block.transactions_multi_hop.add(1);
                let mut work = self.home.remove(name);
                let reply = std::mem::take(&mut work.reply);
                self.finish(work, &reply, out);
            }
        }
    }

    pub(crate) fn finish<O: Outbox>(&mut self, work: Box<Work>, reply: &Output, out: &mut O) {
        let (number, ticket, muted) = (work.number, work.ticket, work.muted);
        if self.sessions.is_gone(ticket.conn) {
            self.unwatch_parts(&work, out);
        }
        if work.blocks {
            return self.finish_blocking(work, reply, out);
        }
        self.home.put_away(work);
        self.count_answer(number, reply);
        self.answer(ticket, if muted { &NOTHING } else { reply }, false, out);
    }

    fn end_spread<O: Outbox>(&mut self, name: u64, out: &mut O) {
        self.block.transactions_single_hop.add(1);
        let mut work = self.home.remove(name);
        let spread = self.catalog.entry(work.number).command.spread;
        if let Some(bad) = work.parts.iter_mut().find(|part| part.reply.first() == Some(&b'-')) {
            let reply = std::mem::take(&mut bad.reply);
            return self.finish(work, &reply, out);
        }
        let mut bytes = std::mem::take(&mut self.home.folded);
        let mut reply = Reply::new(&mut bytes, work.caller.version);
        match spread {
            Spread::InKeyOrder => {
                in_key_order(&work, !self.planted(Bug::PartOrder), &mut reply);
                work.parts.iter_mut().for_each(|part| self.forget(&mut part.reply));
            }
            Spread::Sum => reply.integer(work.parts.iter().map(|part| integer_of(&part.reply)).sum()),
            Spread::AllOk | Spread::None => reply.ok(),
        }
        self.finish(work, &bytes, out);
        self.forget(&mut bytes);
        if bytes.capacity() <= KEPT_BYTES_MAX {
            self.home.folded = bytes;
        }
    }

    fn end_everywhere<O: Outbox>(&mut self, name: u64, out: &mut O) {
        let number = self.home.find(name).number;
        if let Some(wide) = self.catalog.entry(number).command.wide {
            return self.next_round(wide, name, out);
        }
        let work = self.home.remove(name);
        let Some(mut session) = self.sessions.take(work.ticket.conn) else {
            // A subscription arrives even if its client has gone: then it is forgotten.
            if let Some(kind) = self.catalog.entry(number).subscribes {
                self.marks.gone_while_subscribing += 1;
                let args = Args::new(&work.bytes, &work.spans);
                args.from(1).for_each(|name| self.topics.arrive(kind, name));
            }
            return;
        };
        let Run::Everywhere(everywhere) = self.catalog.entry(work.number).command.run else {
            unreachable!("it was begun as an everywhere-command");
        };
        let parts: Vec<&[u8]> = work.parts.iter().map(|part| &part.reply[..]).collect();
        let mut bytes = Output::default();
        let after = {
            let mut reply = Reply::new(&mut bytes, session.state.version);
            let mut home = commands::Home { session: &mut session.state, house: self };
            (everywhere.fold)(&mut home, Args::new(&work.bytes, &work.spans), &parts, &mut reply)
        };
        debug_assert!(matches!(after, After::Done | After::Close), "a fold has no second wait");
        note_listening(work.ticket.conn, &mut session, out);
        self.after(work.ticket.conn, &mut session, After::Done, self.reply.len(), out);
        self.sessions.put(work.ticket.conn, session);
        let (number, ticket, muted) = (work.number, work.ticket, work.muted);
        self.home.put_away(work);
        self.count_answer(number, &bytes);
        let answer = if muted { &NOTHING } else { &bytes };
        self.answer(ticket, answer, matches!(after, After::Close), out);
    }

    /// A plan has seen all its keys.
    fn decide<O: Outbox>(&mut self, name: u64, out: &mut O) {
        let facts = {
            let db = self.home.find(name).caller.db;
            self.check_facts(db)
        };
        let swapped = self.planted(Bug::PiecesSwapped);
        let work = self.home.find(name);
        let mut pieces: Vec<Piece> = (0..work.keys).map(|_| Piece::Nothing).collect();
        for part in &mut work.parts {
            for (key, piece) in part.keys.iter().zip(part.pieces.drain(..)) {
                pieces[key.ordinal as usize] = piece;
            }
        }
        let Run::Plan(plan) = self.catalog.entry(work.number).command.run else {
            unreachable!("it was begun as a plan");
        };
        if swapped {
            pieces.reverse();
        }
        let mut bytes = Output::default();
        let mut reply = Reply::new(&mut bytes, work.caller.version);
        let orders = (plan.decide)(&facts, Args::new(&work.bytes, &work.spans), &mut pieces, &mut reply);
        match orders.filter(|_| !self.planted(Bug::SecondHopSkipped)) {
            None if bytes.is_empty() && self.home.find(name).blocks => {
                // Under the same seals: whatever comes to be there is seen.
                self.home.find(name).parts.iter_mut().for_each(|part| part.waits = true);
                self.apply(name, Vec::new(), out);
            }
            None => {
                self.block.transactions_single_hop.add(1);
                let work = self.home.remove(name);
                self.finish(work, &bytes, out);
            }
            Some(orders) => {
                self.marks.plan += 1;
                self.home.find(name).reply = bytes;
                self.apply(name, orders, out);
            }
        }
    }

    fn apply<O: Outbox>(&mut self, name: u64, orders: Vec<Order>, out: &mut O) {
        let work = self.home.find(name);
        let mut orders: Vec<Option<Order>> = orders.into_iter().map(Some).collect();
        orders.resize_with(work.keys, || None);
        let parts = std::mem::take(&mut work.parts);
        work.away = parts.len();
        for mut part in parts {
            part.hop = Hop::Apply;
            part.orders = part
                .keys
                .iter()
                .map(|key| orders[key.ordinal as usize].take().unwrap_or(Order::Nothing))
                .collect();
            if part.shard == self.index {
                self.own.push_back(part);
            } else {
                self.send(part.shard, Parcel::Part(part), out);
            }
        }
    }
}

/// The elements of all parts as one array, in the order of the keys.
fn in_key_order(work: &Work, sorted: bool, reply: &mut Reply<'_>) {
    let mut places: Vec<(&Output, Range<usize>, u32)> = Vec::with_capacity(work.keys);
    for part in &work.parts {
        let mut start = 0;
        for (key, end) in part.keys.iter().zip(&part.cuts) {
            places.push((&part.reply, start..*end as usize, key.ordinal));
            start = *end as usize;
        }
    }
    if sorted {
        places.sort_unstable_by_key(|(.., ordinal)| *ordinal);
    }
    reply.array(places.len());
    for (written, element, _) in places {
        reply.raw_output(written, element);
    }
}

/// The number of an integer reply.
pub(crate) fn integer_of(reply: &[u8]) -> i64 {
    let digits = reply.strip_prefix(b":").and_then(|rest| rest.strip_suffix(b"\r\n"));
    digits.and_then(resp::parse_i64).unwrap_or(0)
}
