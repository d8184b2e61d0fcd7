//! Rooms 3 and 7: bytes of a client in, frames out, one batch at a time; and answers back to it in the
//! order of its questions.

use crate::actor::Shard;
use crate::batch::{Batch, Frame};
use crate::large::write_pieces;
use crate::outbox::{Now, Outbox};
use crate::parcel::{ConnId, Ticket};
use crate::planted::Bug;
use crate::session::{Hold, LOOKAHEAD_HELD, LOOKAHEAD_MAX, Session};
use commands::{Args, Entry};
use resp::{Fault, Limits, NOTHING, Output, Parsed, Reply};
use spec::{owner_of, slot_of};
use store::SHARED_BYTES_MIN;

/// Room for replies that a shard begins with.
const REPLY_KEPT_BYTES: usize = 64 * 1024;
/// Replies of this size are handed over instead of copied.
const REPLY_LARGE_BYTES: usize = 1024 * 1024;
/// Spans count in 32 bits: no client's input may grow to 4 GiB, whatever the settings say.
const QUERY_BYTES_MAX: usize = u32::MAX as usize - (1 << 24);
/// Input held for a session that may not go on, beyond which reading from it stops.
const BACKLOG_STOP_BYTES: usize = 256 * 1024;
/// Below this reading goes on.
const BACKLOG_GO_BYTES: usize = 64 * 1024;

/// How a frame went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// Go on with the next frame.
    Next,
    /// This frame and `more` behind it are on their way; the session is held.
    Away {
        /// Further frames that travel with it.
        more: usize,
    },
    /// This frame did not run; the session is held before it.
    Held,
}

/// Why parsing stopped.
enum Stop {
    More,
    Full,
    Inline(u32),
    Fault(Fault),
}

impl Shard {
    /// Bytes of a client have come.
    pub fn feed<O: Outbox>(&mut self, now: Now, conn: ConnId, bytes: &[u8], out: &mut O) {
        self.now = now;
        self.block.bytes_in.add(bytes.len() as u64);
        let Some(mut session) = self.sessions.take(conn) else {
            return;
        };
        session.state.active_ms = now.ms();
        if session.choked && session.hold == Hold::None {
            session.hold = Hold::Choked;
        }
        if session.state.closing {
            // What comes behind a last command is not read.
        } else if session.hold == Hold::None && session.tail.is_empty() {
            let used = self.advance(conn, &mut session, bytes, out);
            if used < bytes.len() && !session.state.closing {
                session.tail.extend_from_slice(&bytes[used..]);
                self.make_room(&mut session);
            }
        } else {
            session.tail.extend_from_slice(bytes);
            if session.hold == Hold::None {
                self.advance_tail(conn, &mut session, out);
            } else if session.waiting() > 0 {
                self.marks.away_while_queued += 1;
            }
        }
        self.settle(conn, session, out);
    }

    /// Goes on with the input that a session holds.
    fn advance_tail<O: Outbox>(&mut self, conn: ConnId, session: &mut Session, out: &mut O) {
        if session.backlog() >= SHARED_BYTES_MIN {
            return self.advance_large(conn, session, out);
        }
        let tail = std::mem::take(&mut session.tail);
        let used = self.advance(conn, session, &tail[session.tail_at..], out);
        session.tail_at += used;
        session.tail = tail;
        if session.state.closing {
            session.tail_at = session.tail.len();
        }
        session.compact();
        self.make_room(session);
    }

    /// Hands out what the session's run has written, bounds its input, and puts it back.
    pub(crate) fn settle<O: Outbox>(&mut self, conn: ConnId, mut session: Box<Session>, out: &mut O) {
        self.hand_out(conn, &mut session, out);
        let backlog = session.backlog();
        self.held_bytes = self.held_bytes + backlog - session.state.query_bytes;
        session.state.query_bytes = backlog;
        session.state.held = session.hold != Hold::None;
        // Input of a session that may not go on is bounded by reading no further, except where it waits in a
        // blocking command: it must be seen when such a client goes.
        let limit = self.settings.live.client_query_buffer_limit as usize;
        let bounded = matches!(session.hold, Hold::None | Hold::Blocked);
        if backlog > QUERY_BYTES_MAX || backlog > limit && bounded {
            self.block.query_limit_closes.add(1);
            out.close(conn, false);
            session.state.closing = true;
        }
        let stop = backlog > if session.throttled { BACKLOG_GO_BYTES } else { BACKLOG_STOP_BYTES };
        let stop = stop && !bounded;
        if stop != session.throttled {
            session.throttled = stop;
            out.throttle(conn, stop);
        }
        if Shard::is_over(&session) {
            session.state.closing = true;
            out.close(conn, true);
        }
        self.sessions.put(conn, session);
    }

    /// Sends what was written, or puts it behind answers that are away.
    #[inline]
    pub(crate) fn hand_out<O: Outbox>(&mut self, conn: ConnId, session: &mut Session, out: &mut O) {
        // What its commands have to tell is told before they are answered.
        if self.has_unsaid() {
            self.say_between(conn, session, out);
        }
        if !self.reply.is_empty() {
            self.hand_out_written(conn, session, out);
        }
    }

    #[inline(never)]
    fn hand_out_written<O: Outbox>(&mut self, conn: ConnId, session: &mut Session, out: &mut O) {
        if self.reply.refers() {
            return self.hand_out_shared(conn, session, out);
        }
        self.share_bytes += self.reply.len();
        if session.waiting() == 0 {
            self.block.bytes_out.add(self.reply.len() as u64);
            if self.reply.len() >= REPLY_LARGE_BYTES {
                out.write_large(conn, std::mem::take(&mut self.reply).into_bytes());
                self.reply.reserve(REPLY_KEPT_BYTES);
                return;
            }
            out.write(conn, &self.reply);
        } else {
            session.queue(&self.reply, false);
        }
        self.reply.bytes_mut().clear();
        if self.reply.capacity() > 1024 * 1024 {
            self.reply = Output::with_capacity(REPLY_KEPT_BYTES);
        }
    }

    /// Parses and runs frames of `bytes`; returns how many bytes are done with.
    pub(crate) fn advance<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        bytes: &[u8],
        out: &mut O,
    ) -> usize {
        let mut at = 0;
        self.share_bytes = 0;
        self.missing_bytes = 0;
        let mut batch = std::mem::take(&mut self.batch);
        loop {
            batch.clear();
            let stop = self.parse(session, bytes, &mut at, &mut batch);
            self.look_at_room(bytes.len());
            self.prepare(session.state.db, bytes, &mut batch);
            if let Some(held_at) = self.run_batch(conn, session, bytes, &batch, out) {
                session.parser.restart();
                // Frames parsed in vain are parsed again: fewer at a time, unless all of them travelled.
                session.lookahead = match held_at {
                    Some(_) => LOOKAHEAD_HELD,
                    None => (session.lookahead * 2).min(LOOKAHEAD_MAX),
                };
                at = held_at.unwrap_or(at);
                if let (None, Stop::Inline(start)) = (held_at, &stop) {
                    at = *start as usize;
                }
                break;
            }
            if session.state.closing {
                break;
            }
            match stop {
                Stop::Full => session.lookahead = (session.lookahead * 2).min(LOOKAHEAD_MAX),
                Stop::More => break,
                Stop::Inline(start) => {
                    let held = self.run_inline(conn, session, out);
                    if let Some(held_at) = held.filter(|at| at.is_some() || !self.planted(Bug::InlineRunsOn))
                    {
                        if held_at.is_some() {
                            at = start as usize;
                        }
                        break;
                    }
                    if session.state.closing {
                        break;
                    }
                }
                Stop::Fault(fault) => {
                    self.break_off(session, fault);
                    break;
                }
            }
            if self.reply.len() > self.bounds.flush_bytes || self.reply.refers() {
                self.hand_out(conn, session, out);
                if self.has_had_its_share(conn, session) {
                    break;
                }
            }
        }
        self.batch = batch;
        at
    }

    /// First pass: parses up to a batch of frames.
    #[inline(never)]
    fn parse(&mut self, session: &mut Session, bytes: &[u8], at: &mut usize, batch: &mut Batch) -> Stop {
        let limits = Limits {
            bulk_bytes_max: self.settings.live.proto_max_bulk_len as usize,
            unauthenticated: self.needs_auth(session),
            ..Limits::default()
        };
        // Until AUTH has run, its limits hold: one frame at a time.
        let ahead = if limits.unauthenticated { 1 } else { session.lookahead };
        while batch.frames.len() < ahead {
            let start = *at as u32;
            let first = batch.spans.len();
            match session.parser.next(bytes, at, &mut batch.spans, &limits) {
                Ok(Parsed::Frame) => {
                    let count = (batch.spans.len() - first) as u32;
                    batch.frames.push(Frame::new(first as u32, count, start));
                }
                Ok(Parsed::Empty) => {}
                Ok(Parsed::Inline) => return Stop::Inline(start),
                Ok(Parsed::NeedMore { at_least }) => {
                    self.missing_bytes = at_least;
                    return Stop::More;
                }
                Err(fault) => return Stop::Fault(fault),
            }
        }
        Stop::Full
    }

    /// Second pass: looks commands up, hashes single keys and fetches their buckets. A pass of its own, since
    /// both loops then do with the registers there are.
    #[inline(never)]
    fn prepare(&self, db: u16, bytes: &[u8], batch: &mut Batch) {
        let buckets = self.store.buckets(db as usize);
        // One command after the other is the same as a rule: it is looked up once. A name longer than a word
        // is not known by its word.
        let (mut name, mut entry) = ((0, usize::MAX), None);
        for frame in &mut batch.frames {
            let spans = &batch.spans[frame.first as usize..][..frame.count as usize];
            let args = Args::new(bytes, spans);
            let (word, length) = (args.word(0), args.length(0));
            if (word, length) != name {
                name = (word, if length > size_of::<u64>() { usize::MAX } else { length });
                entry = self.catalog.find_first(args);
            }
            frame.owner = self.index;
            if let Some(entry) = entry {
                self.classify(entry, args, frame);
            }
            if frame.hash != 0 && frame.owner == self.index {
                buckets.prefetch(frame.hash);
            }
        }
    }

    /// Fills in number, owner and hash.
    #[inline(always)]
    fn classify(&self, mut entry: &Entry, args: Args<'_>, frame: &mut Frame) {
        if !entry.subcommands.is_empty() && args.len() > 1 {
            match self.catalog.subcommand(entry, args.get(1)) {
                Some(sub) => entry = sub,
                None => {
                    frame.number = entry.number;
                    return;
                }
            }
        }
        frame.number = entry.number;
        let place = entry.single_key as usize;
        if place != 0 && place < args.len() {
            let key = args.get(place);
            frame.hash = self.store.hasher().hash(key);
            if self.shards > 1 {
                frame.owner = owner_of(slot_of(key), self.shards);
            }
        }
    }

    /// Third pass: runs the frames in order. `Some(Some(at))`: held before the frame at `at`;
    /// `Some(None)`: held behind the last frame; `None`: all ran.
    #[expect(clippy::option_option, reason = "held or not, and where")]
    fn run_batch<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        bytes: &[u8],
        batch: &Batch,
        out: &mut O,
    ) -> Option<Option<usize>> {
        let mut next = 0;
        while next < batch.frames.len() {
            let flow = self.run_frame(conn, session, bytes, batch, next, out);
            match flow {
                Flow::Next => next += 1,
                Flow::Away { more } => next += 1 + more,
                Flow::Held => {}
            }
            if session.may_not_go_on() {
                if session.state.closing {
                    return None;
                }
                if session.hold == Hold::None {
                    self.marks.choked += 1;
                    session.hold = Hold::Choked;
                }
                if next < batch.frames.len() && session.waiting() > 0 {
                    self.marks.away_while_queued += 1;
                }
                return Some(batch.frames.get(next).map(|frame| frame.start as usize));
            }
            if self.reply.len() > self.bounds.flush_bytes || self.reply.refers() {
                self.hand_out(conn, session, out);
                if self.has_had_its_share(conn, session) {
                    return Some(batch.frames.get(next).map(|frame| frame.start as usize));
                }
            }
        }
        None
    }

    /// Whether a session has written so much that all others get their turn before it goes on.
    #[inline(never)]
    fn has_had_its_share(&mut self, conn: ConnId, session: &mut Session) -> bool {
        if self.share_bytes <= self.bounds.share_bytes {
            return false;
        }
        self.marks.yielded += 1;
        self.in_its_turn(conn, session);
        true
    }

    /// A session goes on at the next turn. It is held until then, so that it is there once.
    pub(crate) fn in_its_turn(&mut self, conn: ConnId, session: &mut Session) {
        session.hold = Hold::Turn;
        self.resume.push_back(conn);
    }

    /// Runs an inline command as a batch of one; returns what `run_batch` does.
    #[expect(clippy::option_option, reason = "held or not, and where")]
    fn run_inline<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        out: &mut O,
    ) -> Option<Option<usize>> {
        let (bytes, spans) = session.parser.inline_args();
        let (bytes, mut batch) = (bytes.to_vec(), Batch { frames: Vec::new(), spans: spans.to_vec() });
        batch.frames.push(Frame::new(0, batch.spans.len() as u32, 0));
        self.prepare(session.state.db, &bytes, &mut batch);
        self.run_batch(conn, session, &bytes, &batch, out)
    }

    /// Bytes that are no protocol: says why, and closes.
    fn break_off(&mut self, session: &mut Session, fault: Fault) {
        self.block.protocol_errors.add(1);
        self.block.error_replies.add(1);
        self.block.errors.count(b"ERR");
        let mut reply = Reply::new(&mut self.reply, session.state.version);
        reply.fault(fault);
        session.state.closing = true;
    }

    /// An answer has come home: out it goes, or it waits for its turn; then the session goes on.
    pub(crate) fn answer<O: Outbox>(&mut self, ticket: Ticket, bytes: &Output, close: bool, out: &mut O) {
        let mut ticket = ticket;
        if self.planted(Bug::StrangersAnswer)
            && let Some((conn, _)) = self.sessions.at(ticket.conn.slot as usize)
        {
            ticket.conn = conn;
        }
        let Some(mut session) = self.sessions.take(ticket.conn) else {
            return;
        };
        if self.planted(Bug::AnswersSwapped) {
            ticket.sequence = session.oldest().unwrap_or(ticket.sequence);
        }
        let bytes = if session.mutes(ticket.sequence) { &NOTHING } else { bytes };
        if session.answer(ticket.sequence, bytes) {
            self.block.bytes_out.add(bytes.total() as u64);
            if !bytes.is_empty() {
                write_pieces(ticket.conn, bytes, out);
            }
            session.state.closing |= close;
            while let Some((mut ready, close)) = session.next_ready() {
                self.block.bytes_out.add(ready.total() as u64);
                write_pieces(ticket.conn, &ready, out);
                self.forget(&mut ready);
                session.state.closing |= close;
            }
        }
        let relaxed = session.waiting() < RELAXED_AWAY_MAX / 2 && !session.transacting;
        if session.hold == Hold::Answers && (session.waiting() == 0 || relaxed && self.is_relaxed()) {
            session.hold = Hold::None;
        }
        self.go_on(ticket.conn, session, out);
    }

    /// Runs what a session holds, if it may.
    pub(crate) fn go_on<O: Outbox>(&mut self, conn: ConnId, mut session: Box<Session>, out: &mut O) {
        if session.hold == Hold::None && session.backlog() > 0 && !session.state.closing {
            self.advance_tail(conn, &mut session, out);
        }
        self.settle(conn, session, out);
    }

    /// Requests of one session may overlap on several shards.
    pub(crate) fn is_relaxed(&self) -> bool {
        self.settings.live.pipeline_order == spec::setting::PipelineOrder::Relaxed
    }
}

/// Answers that a session may have away with `pipeline-order relaxed`.
pub(crate) const RELAXED_AWAY_MAX: usize = 128;
