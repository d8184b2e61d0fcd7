//! Room 6': commands for one other shard travel together in a run; their replies are encoded where the
//! values live and spliced at home. A run that meets a seal is set aside, not waited for.

use crate::actor::Shard;
use crate::batch::Batch;
use crate::execute::local_handler;
use crate::feed::Flow;
use crate::outbox::Outbox;
use crate::parcel::{ConnId, Parcel, Run, Step, Ticket};
use crate::pause::PAUSED_WRITES;
use crate::planted::Bug;
use crate::session::{Hold, Session};
use commands::{Args, Caller, Hashed, ReplyMode};
use resp::{NOTHING, Output, Span};
use std::ops::Range;

/// Reply room that a run carries from home.
const REPLY_BYTES: usize = 1024;
/// Shells kept for reuse.
const SPARE_RUNS_MAX: usize = 256;
/// A larger reply travels in the memory it was written to.
const COPIED_BYTES_MAX: usize = 64 * 1024;
/// A larger request buffer is not kept.
const REQUEST_KEPT_BYTES: usize = 64 * 1024;

impl Shard {
    /// Sends frames from `place` on to `owner` (or sets them aside here, where a key is sealed).
    #[expect(clippy::too_many_arguments, reason = "the whole place of a frame")]
    pub(crate) fn send_away<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        bytes: &[u8],
        batch: &Batch,
        place: usize,
        owner: u16,
        out: &mut O,
    ) -> Flow {
        // What is set aside here for a seal must not be overtaken by the client's next commands, nor must
        // it overtake: the client waits for it.
        let set_aside = owner == self.index;
        if set_aside && session.waiting() > 0 {
            session.hold = Hold::Answers;
            return Flow::Held;
        }
        let length = self.run_length(session, bytes, batch, place, owner);
        if length > 1 {
            self.marks.long_run += 1;
        }
        let run = self.load(conn, session, bytes, batch, place..place + length, owner, out);
        if set_aside {
            session.hold = Hold::Answers;
            self.marks.sealed_wait += 1;
            self.block.sealed_waits.add(1);
            self.parked.push_back(run);
        } else {
            self.block.hops.add(length as u64);
            self.send(owner, Parcel::Run(run), out);
        }
        self.hold_for_answers(session);
        Flow::Away { more: length - 1 }
    }

    /// Puts frames into a run for `owner`, whose answer the session expects from now on.
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "the whole place of frames")]
    pub(crate) fn load<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        bytes: &[u8],
        batch: &Batch,
        places: Range<usize>,
        owner: u16,
        out: &mut O,
    ) -> Box<Run> {
        // A client that wants no reply still waits for its turn; the answer is then empty.
        let muted = session.state.reply_mode != ReplyMode::On;
        let ticket = self.ticket_only(conn, session, out);
        let mut run = self.shell(ticket);
        run.caller = self.caller(session);
        run.shard = owner;
        let mut writes = false;
        let frames = &batch.frames[places];
        let lent = self.lend(&mut run, bytes, batch, frames);
        for frame in frames {
            writes |= self.catalog.entry(frame.number).command.flags.any(PAUSED_WRITES);
            if !lent {
                pack(&mut run, bytes, batch.spans_of(frame), frame.number, frame.hash);
            }
            session.state.last_command = Some(frame.number);
        }
        run.writes = writes;
        self.writes_away += usize::from(writes);
        if muted {
            let before = self.reply.len();
            self.mute(session, before);
            run.sent_ns = MUTED;
        } else {
            run.sent_ns = self.now.mono_ns;
        }
        run
    }

    pub(crate) fn shell(&mut self, ticket: Ticket) -> Box<Run> {
        match self.spare_runs.pop() {
            Some(mut run) => {
                run.ticket = ticket;
                run
            }
            None => Box::new(Run {
                home: self.index,
                shard: self.index,
                ticket,
                caller: NOBODY,
                bytes: Vec::with_capacity(256),
                lent: None,
                spans: Vec::with_capacity(16),
                steps: Vec::with_capacity(8),
                done: 0,
                reply: Output::with_capacity(REPLY_BYTES),
                large: None,
                sent_ns: 0,
                writes: false,
                waits: false,
                finds: None,
            }),
        }
    }

    /// A run from another shard.
    pub(crate) fn run_arrives<O: Outbox>(&mut self, run: Box<Run>, out: &mut O) {
        self.block.parcels_received.add(1);
        self.carry_out_behind(run, out);
    }

    /// Runs a run, but not before earlier ones of its client that are set aside. With `pipeline-order
    /// strict` there are none, except where another shard has not yet heard that it is.
    fn carry_out_behind<O: Outbox>(&mut self, run: Box<Run>, out: &mut O) {
        let of_its_client = |other: &Run| other.home == run.home && other.ticket.conn == run.ticket.conn;
        let looks = !self.planted(Bug::ParkedOvertaken);
        if looks && self.parked.iter().any(|other| of_its_client(other)) {
            self.parked.push_back(run);
        } else {
            self.carry_out(run, out);
        }
    }

    /// Runs what is left of a run; sets it aside where it meets a seal.
    pub(crate) fn carry_out<O: Outbox>(&mut self, mut run: Box<Run>, out: &mut O) {
        self.look_at_room(run.lent.as_ref().map_or(run.bytes.len(), |lent| lent.len()));
        // The session that runs now keeps its replies apart.
        std::mem::swap(&mut self.reply, &mut self.away_reply);
        let stop = match run.lent.clone() {
            _ if run.finds.is_some() => self.go_on_with(&mut run),
            None => self.run_steps(&mut run),
            Some(lent) => {
                self.store.lend(lent);
                let stop = self.run_steps(&mut run);
                self.store.end_loan();
                stop
            }
        };
        self.append(&mut run);
        self.end_away_reply();
        if self.has_unsaid() {
            self.say(None, out);
        }
        match stop {
            Stop::Done => self.send_home(run, out),
            Stop::Sealed => {
                self.marks.sealed_wait += 1;
                self.block.sealed_waits.add(1);
                if self.planted(Bug::RunRepeats) {
                    run.done = 0;
                    run.reply.clear();
                }
                self.parked.push_back(run);
            }
            Stop::GoesOn(shard) => self.send_on(run, shard, out),
        }
    }

    fn run_steps(&mut self, run: &mut Run) -> Stop {
        let catalog = self.catalog;
        while let Some(step) = run.steps.get(run.done).copied() {
            let spans = &run.spans[step.first as usize..(step.first + step.count) as usize];
            let args = Args::new(run.lent.as_deref().unwrap_or(&run.bytes), spans);
            let entry = catalog.entry(step.number);
            if !self.remote.intents.is_clear() && entry.has_keys && self.is_sealed(entry, args, step.hash) {
                return Stop::Sealed;
            }
            let before = self.reply.len();
            let now = self.now;
            if run.home != self.index && self.planted(Bug::TimelessHop) {
                self.now = crate::outbox::Now::default();
            }
            let lacks_room =
                self.short_of_room && self.lacks_room(step.number, args.len(), run.caller.version);
            if let Some(handler) = local_handler(entry.command.run).filter(|_| !lacks_room) {
                let place = entry.single_key as usize;
                let hashed = if place == 0 { Hashed::NONE } else { Hashed::new(args, place, step.hash) };
                self.call(step.number, handler, run.caller, args, hashed);
            }
            self.now = now;
            self.count_reply(step.number, before);
            run.done += 1;
        }
        Stop::Done
    }

    /// Puts replies into the run: into its own memory if they fit, else in ours, on loan.
    pub(crate) fn append(&mut self, run: &mut Run) {
        let written = &self.reply;
        match &mut run.large {
            Some(large) => large.append_output(written),
            None if run.reply.len() + written.len() <= run.reply.capacity() => {
                run.reply.append_output(written);
            }
            None => {
                self.marks.large_reply += 1;
                if run.reply.is_empty() && written.len() > COPIED_BYTES_MAX {
                    run.large = Some(Box::new(std::mem::take(&mut self.reply)));
                    return;
                }
                let mut large = Output::with_capacity(run.reply.len() + written.len());
                if !self.planted(Bug::LargeReplyLosesHead) {
                    large.append_output(&run.reply);
                }
                large.append_output(written);
                run.large = Some(Box::new(large));
            }
        }
    }

    /// After work for somebody else's session: the reply of the session that runs now comes back.
    #[inline]
    pub(crate) fn end_away_reply(&mut self) {
        self.reply.clear();
        if self.reply.capacity() > COPIED_BYTES_MAX {
            self.reply.bytes_mut().shrink_to(COPIED_BYTES_MAX);
        }
        std::mem::swap(&mut self.reply, &mut self.away_reply);
    }

    fn send_home<O: Outbox>(&mut self, run: Box<Run>, out: &mut O) {
        if run.home == self.index {
            self.run_ends(run, out);
        } else {
            self.send(run.home, Parcel::Ran(run), out);
        }
    }

    /// A run of ours has come home.
    pub(crate) fn run_returns<O: Outbox>(&mut self, run: Box<Run>, out: &mut O) {
        self.block.parcels_received.add(1);
        if run.sent_ns != MUTED {
            let away = self.now.mono_ns.saturating_sub(run.sent_ns);
            self.block.rooms.hop.record(away);
        }
        self.run_ends(run, out);
    }

    fn run_ends<O: Outbox>(&mut self, mut run: Box<Run>, out: &mut O) {
        self.writes_away -= usize::from(run.writes);
        if self.sessions.is_gone(run.ticket.conn) {
            self.unwatch_after(&run, out);
        }
        let loan = run.large.take();
        let muted = run.sent_ns == MUTED;
        let bytes = if muted { &NOTHING } else { loan.as_deref().unwrap_or(&run.reply) };
        self.answer(run.ticket, bytes, false, out);
        self.forget(&mut run.reply);
        if let Some(lent) = run.lent.take() {
            self.store.bury(lent);
        }
        // Memory goes home to the shard that made it.
        if let Some(mut large) = loan {
            if run.shard == self.index {
                self.forget(&mut large);
            } else {
                self.send(run.shard, Parcel::Buffer(large), out);
            }
        }
        self.put_away(run);
    }

    pub(crate) fn put_away(&mut self, mut run: Box<Run>) {
        if self.spare_runs.len() >= SPARE_RUNS_MAX || run.bytes.capacity() > REQUEST_KEPT_BYTES {
            return;
        }
        run.bytes.clear();
        run.spans.clear();
        run.steps.clear();
        run.reply.clear();
        run.done = 0;
        run.waits = false;
        run.large = None;
        self.spare_runs.push(run);
    }

    /// Tries runs again that were set aside.
    pub(crate) fn unpark<O: Outbox>(&mut self, out: &mut O) {
        for run in std::mem::take(&mut self.parked) {
            if self.is_attempt(&run) {
                self.attempt(run, out);
            } else {
                self.carry_out_behind(run, out);
            }
        }
    }
}

/// Where a run stops on a shard.
pub(crate) enum Stop {
    /// All of it has run.
    Done,
    /// A key is sealed.
    Sealed,
    /// Its command goes on on another shard.
    GoesOn(u16),
}

/// Who asks by a shell that is not in use.
const NOBODY: Caller =
    Caller { client: 0, db: 0, version: resp::Version::Resp2, no_touch: false, watch_round: 0 };

/// In `sent_ns`: the client wants no reply.
const MUTED: u64 = u64::MAX;

/// Copies a frame's arguments into a run.
pub(crate) fn pack(run: &mut Run, bytes: &[u8], spans: &[Span], number: u16, hash: u64) {
    let (Some(head), Some(last)) = (spans.first(), spans.last()) else {
        return;
    };
    let (from, until) = (head.start as usize, (last.start + last.len) as usize);
    let base = run.bytes.len() as u32;
    let first = run.spans.len() as u32;
    run.bytes.extend_from_slice(&bytes[from..until]);
    run.spans.extend(spans.iter().map(|span| Span { start: span.start - head.start + base, len: span.len }));
    run.steps.push(Step { number, first, count: spans.len() as u32, hash });
}
