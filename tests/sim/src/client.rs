//! A simulated client: what it has sent, what it waits for, what it has read so far. It decodes replies
//! and matches them with its questions; what they mean is told elsewhere.

use crate::chaos::Chaos;
use crate::queues::is_wait;
use crate::request::{Expect, Kinds, Request, brief};
use crate::roles::Role;
use crate::wires::Instant;
use resp::client::{Decoder, Value};
use shard::ConnId;
use std::collections::VecDeque;
use std::rc::Rc;

/// What a client sends.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    History,
    Role(Role),
    Chaos(Chaos),
}

/// A question that waits for its answer.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub expect: Expect,
    pub text: Rc<str>,
}

/// One client with one connection at a time.
#[derive(Debug)]
pub(crate) struct Client {
    pub part: Part,
    /// The shard it is connected to.
    pub shard: usize,
    /// Its connection once it is open.
    pub conn: Option<ConnId>,
    /// It has asked for a connection.
    pub dialling: bool,
    /// A number for each connection that ever was.
    pub process: usize,
    /// The database it has selected, for the history.
    pub db: usize,
    /// Encoded requests not yet given to the link.
    pub unsent: Vec<u8>,
    pub questions: VecDeque<Question>,
    /// Bytes read and not yet decoded.
    received: Vec<u8>,
    decoder: Decoder,
    /// Ticks of every core when it began to wait for the answer that is due.
    pub since: Vec<u64>,
    /// Bytes asked so far, and where in them the commands of the history begin.
    asked: usize,
    begins: VecDeque<(usize, usize)>,
    /// Bytes decoded so far, and how far the shard had written at which moment.
    decoded: usize,
    writes: VecDeque<(usize, Instant)>,
    /// What a role remembers from one reply to the next.
    pub memory: i64,
    /// The server is expected to close.
    pub last: bool,
    /// It has asked for something that it may wait for.
    pub waits: bool,
    /// It has vanished: nobody reads but the oracles.
    pub ghost: bool,
    /// It has closed its half behind what is unsent.
    pub hangs_up: bool,
}

impl Client {
    pub(crate) fn new(part: Part) -> Client {
        Client {
            part,
            shard: 0,
            conn: None,
            dialling: false,
            process: 0,
            db: 0,
            unsent: Vec::new(),
            questions: VecDeque::new(),
            received: Vec::new(),
            decoder: Decoder::default(),
            since: Vec::new(),
            asked: 0,
            begins: VecDeque::new(),
            decoded: 0,
            writes: VecDeque::new(),
            memory: 0,
            last: false,
            waits: false,
            ghost: false,
            hangs_up: false,
        }
    }

    /// Forgets its connection and all that was under way.
    pub(crate) fn lose(&mut self) {
        self.conn = None;
        self.dialling = false;
        self.db = 0;
        self.unsent.clear();
        self.questions.clear();
        self.received.clear();
        self.decoder = Decoder::default();
        (self.asked, self.decoded) = (0, 0);
        self.begins.clear();
        self.writes.clear();
        self.memory = 0;
        (self.last, self.waits) = (false, false);
        self.hangs_up = false;
    }

    /// Puts a request behind the others.
    pub(crate) fn ask(&mut self, request: Request) {
        self.unsent.extend_from_slice(&request.bytes);
        if let Some(Expect::History(op)) = request.expect {
            self.begins.push_back((self.asked, op));
        }
        self.asked += request.bytes.len();
        self.waits |= is_wait(&request.text);
        if let Some(expect) = request.expect {
            self.last |= matches!(expect, Expect::Last);
            self.questions.push_back(Question { expect, text: request.text });
        }
    }

    /// The next command of the history that begins in the first so many bytes.
    pub(crate) fn next_begun(&mut self, bytes: usize) -> Option<usize> {
        self.begins.pop_front_if(|(begin, _)| *begin < bytes).map(|(_, op)| op)
    }

    /// Bytes of the server have come, with when they were written.
    pub(crate) fn receive(
        &mut self,
        bytes: impl Iterator<Item = u8>,
        writes: impl Iterator<Item = (usize, Instant)>,
    ) {
        self.received.extend(bytes);
        self.writes.extend(writes);
    }

    /// The next whole reply, or message, with when its end was written.
    pub(crate) fn next_reply(&mut self) -> Result<Option<(Value, Instant)>, String> {
        let mut at = 0;
        let next = self.decoder.next(&self.received, &mut at);
        let value = match next {
            Ok(Some(value)) => value,
            Ok(None) => return Ok(None),
            Err(fault) => {
                let shown = self.received[..self.received.len().min(80)].escape_ascii();
                return Err(format!("a reply is malformed ({fault}): {shown}"));
            }
        };
        self.received.drain(..at);
        self.decoded += at;
        let decoded = self.decoded;
        while self.writes.pop_front_if(|(written, _)| *written < decoded).is_some() {}
        let written = self.writes.front().map(|(_, instant)| *instant).unwrap_or_default();
        Ok(Some((value, written)))
    }

    /// The question to which a reply belongs.
    pub(crate) fn question_of(&mut self, value: &Value) -> Result<Question, String> {
        self.questions.pop_front().ok_or_else(|| format!("a reply without a question: {}", brief(value)))
    }

    /// Nothing is under way.
    pub(crate) fn is_satisfied(&self) -> bool {
        let waits = matches!(&self.part, Part::Role(Role::Voice(voice)) if voice.waits());
        self.unsent.is_empty() && self.questions.is_empty() && self.received.is_empty() && !waits
    }
}

/// Holds a reply against what can be said without knowing who asked.
pub(crate) fn check_plain(question: &Question, value: &Value) -> Result<(), String> {
    let good = match &question.expect {
        Expect::Kinds(kinds) => kinds.has(Kinds::of(value)),
        Expect::Exactly(wanted) => wanted == value,
        Expect::Last => matches!(value, Value::Simple(_) | Value::Error(_)),
        Expect::History(_) | Expect::Number(_) | Expect::Values(_) | Expect::Heard(..) => true,
    };
    if good {
        return Ok(());
    }
    Err(format!("{} was answered with {}, wanted {:?}", question.text, brief(value), question.expect))
}
