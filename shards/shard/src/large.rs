//! Large strings on their way in and out: a client's input and a shard's replies are lent instead of
//! copied, and what is done with is freed in slices. Small ones never come here.

use crate::actor::Shard;
use crate::batch::{Batch, Frame};
use crate::outbox::Outbox;
use crate::parcel::{ConnId, Run, Step};
use crate::session::{Hold, Session};
use resp::{Output, Piece, Span};
use std::sync::Arc;
use store::SHARED_BYTES_MIN;

/// Room is made at once for what is missing of a frame, from this many bytes on.
const ROOM_BYTES_MIN: usize = 64 * 1024;
/// Room behind a large frame for what comes with its last bytes, so that the buffer does not grow for them.
const ROOM_BEHIND_BYTES: usize = 64 * 1024;
/// Input begins to move to a larger buffer when the room left is one part in so many of it: then so many
/// bytes move for each that comes.
const MOVE_PART: usize = 8;

impl Shard {
    /// Goes on with input in which a large string may be: its buffer is lent to those who keep the string.
    #[cold]
    pub(crate) fn advance_large<O: Outbox>(&mut self, conn: ConnId, session: &mut Session, out: &mut O) {
        let tail = Arc::new(std::mem::take(&mut session.tail));
        self.store.lend(tail.clone());
        let used = self.advance(conn, session, &tail[session.tail_at..], out);
        self.store.end_loan();
        session.tail_at += used;
        if session.state.closing {
            session.tail_at = tail.len();
        }
        if used > 0 {
            self.store.bury(std::mem::take(&mut session.grown));
        }
        match Arc::try_unwrap(tail) {
            // It has not run yet, or was copied by what it was for.
            Ok(tail) => {
                session.tail = tail;
                self.compact(session);
            }
            Err(kept) => {
                session.tail = kept[session.tail_at..].to_vec();
                session.tail_at = 0;
                self.store.bury(kept);
            }
        }
        self.make_room(session);
    }

    /// Drops input that has run; a large buffer goes in slices.
    fn compact(&mut self, session: &mut Session) {
        let rest = session.backlog();
        if session.tail_at > 0 && rest <= session.tail.len() / 2 {
            let kept = session.tail[session.tail_at..].to_vec();
            self.store.bury(std::mem::replace(&mut session.tail, kept));
            session.tail_at = 0;
        }
    }

    /// A large frame is on its way. Its buffer grows to what was announced, as far as that can be believed,
    /// and rarely; what has come moves to the larger one as more comes, not in one go.
    pub(crate) fn make_room(&mut self, session: &mut Session) {
        if self.missing_bytes < ROOM_BYTES_MIN || session.hold != Hold::None || session.backlog() == 0 {
            return;
        }
        let (backlog, spare) = (session.backlog(), session.tail.capacity() - session.tail.len());
        let wanted = self.missing_bytes + ROOM_BEHIND_BYTES;
        if session.grown.capacity() == 0 {
            let is_short = spare < self.missing_bytes && spare < (backlog / MOVE_PART).max(ROOM_BEHIND_BYTES);
            if is_short && backlog <= SHARED_BYTES_MIN {
                session.tail.reserve_exact(wanted);
            } else if is_short {
                session.grown = Vec::with_capacity(backlog + wanted);
            }
        }
        if session.grown.capacity() > 0 {
            self.move_over(session, spare);
        }
    }

    /// Moves a part of the input to its larger buffer, so much that all has moved when `spare` is used up.
    fn move_over(&mut self, session: &mut Session, spare: usize) {
        let input = &session.tail[session.tail_at..];
        let left = input.len() - session.grown.len();
        let ends = spare < 2 * ROOM_BEHIND_BYTES;
        let count = if ends { left } else { left.saturating_sub(MOVE_PART * spare) };
        let from = session.grown.len();
        session.grown.extend_from_slice(&input[from..from + count]);
        if ends {
            let grown = std::mem::take(&mut session.grown);
            self.store.bury(std::mem::replace(&mut session.tail, grown));
            session.tail_at = 0;
        }
    }

    /// Puts frames into a run by lending the client's input, if they are large and lie in what is lent now.
    /// Whether it is so.
    pub(crate) fn lend(&self, run: &mut Run, bytes: &[u8], batch: &Batch, frames: &[Frame]) -> bool {
        let Some(buffer) = self.store.lent() else { return false };
        let (whole, input) = (buffer.as_ptr_range(), bytes.as_ptr_range());
        let longest = frames.iter().flat_map(|frame| batch.spans_of(frame)).map(|span| span.len).max();
        let large = longest.is_some_and(|length| length as usize >= SHARED_BYTES_MIN);
        if !large || input.start < whole.start || input.end > whole.end {
            return false;
        }
        let base = (input.start as usize - whole.start as usize) as u32;
        for frame in frames {
            let (first, spans) = (run.spans.len() as u32, batch.spans_of(frame));
            run.spans.extend(spans.iter().map(|span| Span { start: span.start + base, len: span.len }));
            run.steps.push(Step { number: frame.number, first, count: frame.count, hash: frame.hash });
        }
        run.lent = Some(buffer.clone());
        true
    }

    /// Sends what was written and what it refers to, or puts it behind answers that are away.
    #[cold]
    pub(crate) fn hand_out_shared<O: Outbox>(&mut self, conn: ConnId, session: &mut Session, out: &mut O) {
        let mut reply = std::mem::take(&mut self.reply);
        self.share_bytes += reply.total();
        if session.waiting() == 0 {
            self.block.bytes_out.add(reply.total() as u64);
            write_pieces(conn, &reply, out);
        } else {
            session.queue(&reply, false);
        }
        self.forget(&mut reply);
        self.reply = reply;
    }

    /// Empties an output; what it alone still refers to is freed in slices.
    #[inline]
    pub(crate) fn forget(&mut self, output: &mut Output) {
        if output.refers() {
            self.forget_shared(output);
        }
        output.bytes_mut().clear();
    }

    #[cold]
    fn forget_shared(&mut self, output: &mut Output) {
        output.take_shared().for_each(|shared| self.store.bury(shared.into_buffer()));
    }

    /// Takes a buffer that was lent for a reply back: if nobody else has it any more, it is freed in slices.
    pub fn take_back(&mut self, buffer: Arc<Vec<u8>>) {
        self.store.bury(buffer);
        self.cron.reclaim_soon();
    }
}

/// Writes all of an output.
#[inline]
pub(crate) fn write_pieces<O: Outbox>(conn: ConnId, output: &Output, out: &mut O) {
    if output.refers() {
        write_each_piece(conn, output, out);
    } else {
        out.write(conn, output);
    }
}

#[cold]
fn write_each_piece<O: Outbox>(conn: ConnId, output: &Output, out: &mut O) {
    output.each(|piece| match piece {
        Piece::Bytes(bytes) => out.write(conn, bytes),
        Piece::Shared(shared) => out.write_shared(conn, shared),
    });
}
