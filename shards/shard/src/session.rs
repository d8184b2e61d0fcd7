//! A client as its shard knows it: what is known of it, the input not yet run, and the answers not
//! yet home. Answers go out in the order of the questions.

use crate::blocking::Blocked;
use crate::parcel::ConnId;
use crate::txn::{Guard, Multi};
use commands::SessionState;
use resp::{Output, Parser, Version};
use std::collections::VecDeque;

/// Why a session's next command may not run yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hold {
    /// It may.
    None,
    /// Answers are away (`pipeline-order strict`), or too many of them are.
    Answers,
    /// CLIENT PAUSE.
    Pause,
    /// Its replies pile up: the client does not read.
    Choked,
    /// It asked for the server's end, and is answered by that.
    End,
    /// It had more than its share of this turn.
    Turn,
    /// A blocking command has begun, and is not answered.
    Blocked,
}

/// An answer that cannot be sent yet, because it, or one before it, is away.
#[derive(Debug)]
struct Answer {
    sequence: u64,
    bytes: Option<Output>,
    close: bool,
    /// The client wants no reply to it.
    muted: bool,
}

/// One client.
#[derive(Debug)]
pub(crate) struct Session {
    /// What CLIENT LIST shows, and what handlers may change.
    pub state: SessionState,
    pub parser: Parser,
    /// Input not yet run, from `tail_at` on.
    pub tail: Vec<u8>,
    pub tail_at: usize,
    /// A larger buffer for a large frame on its way: a copy of the first of the input not yet run.
    pub grown: Vec<u8>,
    pub hold: Hold,
    /// It has sent its last.
    pub ended: bool,
    /// Reading from it is stopped.
    pub throttled: bool,
    /// The house says its output is stuck.
    pub choked: bool,
    /// How many frames to parse ahead: few while it is held often.
    pub lookahead: usize,
    /// What is queued behind MULTI.
    pub multi: Option<Box<Multi>>,
    /// Keys that it watches, wherever they are.
    pub guards: Vec<Guard>,
    /// Which of its transactions comes next.
    pub watch_round: u32,
    /// All answers that are away are those of commands over several shards, which keep their order
    /// themselves. Says nothing while none is away.
    pub transacting: bool,
    /// They are those of messages, behind which other messages may go. Says nothing while none is away.
    pub publishing: bool,
    /// The house was told that it listens.
    pub told_listens: bool,
    /// The blocking command that it is held for.
    pub blocked: Option<Box<Blocked>>,
    answers: VecDeque<Answer>,
    next_sequence: u64,
}

impl Session {
    pub(crate) fn new(state: SessionState) -> Session {
        Session {
            state,
            parser: Parser::default(),
            tail: Vec::new(),
            tail_at: 0,
            grown: Vec::new(),
            hold: Hold::None,
            ended: false,
            throttled: false,
            choked: false,
            lookahead: LOOKAHEAD_MAX,
            multi: None,
            guards: Vec::new(),
            watch_round: 0,
            transacting: false,
            publishing: false,
            told_listens: false,
            blocked: None,
            answers: VecDeque::new(),
            next_sequence: 0,
        }
    }

    /// Makes room for an answer that is away.
    pub(crate) fn expect(&mut self) -> u64 {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.answers.push_back(Answer { sequence, bytes: None, close: false, muted: false });
        sequence
    }

    /// The answer for which room was just made is not to be shown.
    pub(crate) fn mute_last(&mut self) {
        if let Some(answer) = self.answers.back_mut() {
            answer.muted = true;
        }
    }

    /// Whether an answer is not to be shown.
    pub(crate) fn mutes(&self, sequence: u64) -> bool {
        self.answers.iter().find(|answer| answer.sequence == sequence).is_some_and(|answer| answer.muted)
    }

    /// It ends, is held, or is to be: one look for all three.
    #[inline]
    pub(crate) fn may_not_go_on(&self) -> bool {
        u8::from(self.state.closing) | u8::from(self.choked) | self.hold as u8 != Hold::None as u8
    }

    /// Queues bytes behind answers that are away.
    pub(crate) fn queue(&mut self, bytes: &Output, close: bool) {
        match self.answers.back_mut() {
            Some(Answer { bytes: Some(ready), close: closing, .. }) => {
                ready.append_output(bytes);
                *closing |= close;
            }
            _ => {
                let sequence = self.next_sequence;
                self.next_sequence += 1;
                self.answers.push_back(Answer { sequence, bytes: Some(bytes.clone()), close, muted: false });
            }
        }
    }

    /// An answer came home. Returns whether it is the first in line: then `bytes` go straight out.
    pub(crate) fn answer(&mut self, sequence: u64, bytes: &Output) -> bool {
        if self.answers.front().is_some_and(|first| first.sequence == sequence) {
            self.answers.pop_front();
            return true;
        }
        if let Some(place) = self.answers.iter_mut().find(|answer| answer.sequence == sequence) {
            place.bytes = Some(bytes.clone());
        }
        false
    }

    /// The next answer that may go out: bytes, and whether to close behind them.
    pub(crate) fn next_ready(&mut self) -> Option<(Output, bool)> {
        if self.answers.front()?.bytes.is_some() {
            let answer = self.answers.pop_front()?;
            return answer.bytes.map(|bytes| (bytes, answer.close));
        }
        None
    }

    /// Nothing that is away is waited for any more.
    pub(crate) fn forget_answers(&mut self) {
        self.answers.clear();
    }

    /// The oldest answer that is away or queued.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.answers.front().map(|answer| answer.sequence)
    }

    /// How many answers are queued or away.
    pub(crate) fn waiting(&self) -> usize {
        self.answers.len()
    }

    /// Input not yet run.
    pub(crate) fn backlog(&self) -> usize {
        self.tail.len() - self.tail_at
    }

    /// Drops input that has run, when it is most of what is held.
    pub(crate) fn compact(&mut self) {
        if self.tail_at == self.tail.len() {
            self.tail.clear();
            self.tail_at = 0;
            if self.tail.capacity() > TAIL_KEPT_BYTES {
                self.tail = Vec::new();
            }
        } else if self.tail_at > self.tail.len() / 2 {
            self.tail.drain(..self.tail_at);
            self.tail_at = 0;
        }
    }
}

/// Frames parsed ahead at most.
pub(crate) const LOOKAHEAD_MAX: usize = 32;
/// Frames parsed ahead by a session that is held often.
pub(crate) const LOOKAHEAD_HELD: usize = 8;
/// A larger input buffer is given back when it is empty.
const TAIL_KEPT_BYTES: usize = 32 * 1024;

/// The sessions of a shard, by the house's connection slots. A running session is taken out.
#[derive(Default, Debug)]
pub(crate) struct Sessions {
    slots: Vec<Option<(u32, Box<Session>)>>,
    live: usize,
}

impl Sessions {
    pub(crate) fn insert(&mut self, conn: ConnId, session: Session) {
        let slot = conn.slot as usize;
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, || None);
        }
        debug_assert!(self.slots[slot].is_none(), "a slot is free before it is reused");
        self.slots[slot] = Some((conn.generation, Box::new(session)));
        self.live += 1;
    }

    /// Takes a session out to run it.
    #[inline]
    pub(crate) fn take(&mut self, conn: ConnId) -> Option<Box<Session>> {
        let slot = self.slots.get_mut(conn.slot as usize)?;
        match slot {
            Some((generation, _)) if *generation == conn.generation => {
                slot.take().map(|(_, session)| session)
            }
            _ => None,
        }
    }

    /// Puts it back.
    #[inline]
    pub(crate) fn put(&mut self, conn: ConnId, session: Box<Session>) {
        self.slots[conn.slot as usize] = Some((conn.generation, session));
    }

    /// The protocol of a client that is in its place.
    #[inline]
    pub(crate) fn version_of(&self, conn: ConnId) -> Option<Version> {
        let (generation, session) = self.slots.get(conn.slot as usize)?.as_ref()?;
        (*generation == conn.generation).then_some(session.state.version)
    }

    /// A session that is not running.
    pub(crate) fn find(&self, conn: ConnId) -> Option<&Session> {
        let (generation, session) = self.slots.get(conn.slot as usize)?.as_ref()?;
        (*generation == conn.generation).then_some(session)
    }

    /// The client of that connection has gone.
    pub(crate) fn is_gone(&self, conn: ConnId) -> bool {
        let slot = self.slots.get(conn.slot as usize).and_then(Option::as_ref);
        slot.is_none_or(|(generation, _)| *generation != conn.generation)
    }

    pub(crate) fn remove(&mut self, conn: ConnId) -> Option<Box<Session>> {
        let session = self.take(conn)?;
        self.live -= 1;
        Some(session)
    }

    /// How many live, a running one included.
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Session> {
        self.slots.iter().flatten().map(|(_, session)| &**session)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ConnId, &mut Session)> {
        self.slots.iter_mut().enumerate().filter_map(|(slot, entry)| {
            let (generation, session) = entry.as_mut()?;
            Some((ConnId { slot: slot as u32, generation: *generation }, &mut **session))
        })
    }

    /// How many slots there are, live or not.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The session in a slot.
    pub(crate) fn at(&mut self, slot: usize) -> Option<(ConnId, &mut Session)> {
        let (generation, session) = self.slots.get_mut(slot)?.as_mut()?;
        Some((ConnId { slot: slot as u32, generation: *generation }, &mut **session))
    }
}
