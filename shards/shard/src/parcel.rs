//! What travels between shards: runs of commands and their replies, parts of transactions and their
//! outcomes. Everything made on one core comes home to it; a remote shard that needs a large reply
//! buffer lends its own and gets it back.

use crate::outbox::Now;
use commands::{Caller, Finds, Order, Piece};
use resp::{Output, Span};
use std::sync::Arc;

/// Names a session on its home shard. The core that owns the connection hands it out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ConnId {
    /// Index into the core's table.
    pub slot: u32,
    /// Grows each time the slot is reused, so that a late answer finds nobody.
    pub generation: u32,
}

impl ConnId {
    /// Both numbers in one, as commands know it.
    pub(crate) fn place(self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.generation)
    }

    /// The connection of a place.
    pub(crate) fn of_place(place: u64) -> ConnId {
        ConnId { slot: (place >> 32) as u32, generation: place as u32 }
    }
}

/// Names one outstanding answer of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    /// The session.
    pub conn: ConnId,
    /// The answer's number within the session.
    pub sequence: u64,
}

/// One parcel. Two words, so that a ring slot is small.
#[derive(Debug)]
pub enum Parcel {
    /// Commands to run.
    Run(Box<Run>),
    /// The same, run: on its way home with the replies.
    Ran(Box<Run>),
    /// One shard's part of a command over several.
    Part(Box<Part>),
    /// The same, done.
    PartDone(Box<Part>),
    /// A reply buffer, on its way back to the shard that made it.
    Buffer(Box<Output>),
    /// What a shard tells without waiting for an answer: its number, and the news. The memory comes home as a
    /// buffer.
    News {
        /// Who tells it.
        home: u16,
        /// What, as `pubsub::news` writes it.
        bytes: Box<Output>,
    },
    /// A blocking command, to run or to wait.
    Attempt(Box<Run>),
    /// The same, run, or waiting.
    Attempted(Box<Run>),
    /// What a waiting client may have.
    Offer(Box<Offer>),
    /// The same, taken or not.
    Offered(Box<Offer>),
    /// A client waits no more, as far as that wait and those before it.
    Unwait {
        /// Its id.
        client: u64,
        /// The wait.
        wait: u32,
    },
    /// A client no longer watches what it did, up to that round.
    Unwatch {
        /// Its id.
        client: u64,
        /// The round that is over.
        round: u32,
    },
}

/// A command inside a run.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Catalog number.
    pub number: u16,
    /// First span.
    pub first: u32,
    /// How many spans.
    pub count: u32,
    /// Hash of its only key, if it has just one at a fixed place.
    pub hash: u64,
}

/// Consecutive commands of one session for one shard.
#[derive(Debug)]
pub struct Run {
    /// Where it came from and goes back to.
    pub home: u16,
    /// The shard it is for.
    pub shard: u16,
    /// Whose it is.
    pub ticket: Ticket,
    /// Who asked.
    pub caller: Caller,
    /// The arguments, unless they are lent.
    pub bytes: Vec<u8>,
    /// The input of the client that the arguments lie in, where a copy would be large.
    pub lent: Option<Arc<Vec<u8>>>,
    /// Their places.
    pub spans: Vec<Span>,
    /// The commands.
    pub steps: Vec<Step>,
    /// How many of them have run.
    pub done: usize,
    /// Encoded replies, in memory of the home shard; empty when `large` has them.
    pub reply: Output,
    /// Encoded replies in memory of the shard that ran them, to be given back.
    pub large: Option<Box<Output>>,
    /// Monotonic nanoseconds when it left.
    pub sent_ns: u64,
    /// Some of its commands may write.
    pub writes: bool,
    /// It is an attempt of a client that waits now.
    pub waits: bool,
    /// What its only command has found so far, if that goes from shard to shard.
    pub finds: Option<Box<Finds>>,
}

/// What the owner of a key has for the first client that waits for it, and what becomes of that.
#[derive(Debug)]
pub struct Offer {
    /// The shard that offers.
    pub owner: u16,
    /// Whose wait it is about.
    pub ticket: Ticket,
    /// The client's id.
    pub client: u64,
    /// What it is answered, if it still waits: nothing else happens to the key until that is known.
    pub reply: Output,
    /// It still waited, and has its answer.
    pub taken: bool,
    /// Instead of an answer: the command that is to run anew, since it needs another shard too.
    pub anew: Option<Box<Anew>>,
}

/// A command to run anew.
#[derive(Debug)]
pub struct Anew {
    /// Catalog number.
    pub number: u16,
    /// Who asked.
    pub caller: Caller,
    /// The arguments.
    pub bytes: Vec<u8>,
    /// Their places.
    pub spans: Vec<Span>,
}

/// What a part is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hop {
    /// Run the command's handler on the keys of this shard.
    Spread,
    /// Run a plan's first hop on them.
    Gather,
    /// Carry out a plan's orders.
    Apply,
    /// Run an everywhere-command's part, or the first round's.
    Everywhere,
    /// Begin a shard's share of EXEC: it locks all keys of it here.
    Exec,
    /// Go on with it, under the seals it has.
    ExecOn,
    /// Run a later round's part.
    Again,
    /// Hand a message to those who listen.
    Publish,
}

/// A key of a command over several shards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartKey {
    /// Its place among the command's keys.
    pub ordinal: u32,
    /// Its span.
    pub span: u32,
    /// Span behind its last argument.
    pub until: u32,
    /// Its hash.
    pub hash: u64,
    /// The shard that owns it.
    pub owner: u16,
    /// It may be changed.
    pub write: bool,
}

/// One shard's part of a command over several shards.
#[derive(Debug)]
pub struct Part {
    /// Where it came from and goes back to.
    pub home: u16,
    /// The shard it is for.
    pub shard: u16,
    /// The home shard's name for the whole command.
    pub work: u64,
    /// Its place in the order of all transactions; 0: none, it locks nothing.
    pub id: u64,
    /// What to do.
    pub hop: Hop,
    /// Catalog number.
    pub number: u16,
    /// Who asked.
    pub caller: Caller,
    /// The arguments.
    pub bytes: Vec<u8>,
    /// Their places: all of the command's arguments, or for `Spread` an empty one and this shard's share.
    pub spans: Vec<Span>,
    /// The keys of this shard, with spans as they are here.
    pub keys: Vec<PartKey>,
    /// The whole keyspace is locked.
    pub whole: bool,
    /// What it answers: one encoded reply, or one element a key.
    pub reply: Output,
    /// `InKeyOrder`: where each key's element ends in `reply`.
    pub cuts: Vec<u32>,
    /// A plan's findings, one a key.
    pub pieces: Vec<Piece>,
    /// A plan's orders, one a key.
    pub orders: Vec<Order>,
    /// A share of EXEC.
    pub share: Option<Box<Share>>,
    /// When its keys were looked at: what it does with them is of that moment too.
    pub looked: Now,
    /// The wait that it belongs to, if it is one of a blocking command.
    pub wait: Option<Ticket>,
    /// Nothing was there: its keys are waited for.
    pub waits: bool,
}

/// What a shard does of EXEC in one hop.
#[derive(Debug)]
pub struct Share {
    /// The time of the whole transaction.
    pub now: Now,
    /// First: has the client's watch of that round seen a change? Then nothing runs.
    pub watch: Option<u32>,
    /// It has.
    pub moved: bool,
    /// In the order of the client's commands.
    pub tasks: Vec<Task>,
}

/// A command of EXEC, or a shard's part of it.
#[derive(Debug)]
pub struct Task {
    /// Its place among the commands of the transaction.
    pub place: u32,
    /// Catalog number.
    pub number: u16,
    /// What to do.
    pub what: Chore,
    /// Who asked.
    pub caller: Caller,
    /// First span of its arguments in the part.
    pub first: u32,
    /// How many spans.
    pub count: u32,
    /// Where its answer ends in the part's reply.
    pub until: u32,
    /// Keys of a plan that are here, with spans among the command's arguments; or the one key of an element.
    pub keys: Vec<PartKey>,
    /// What a plan finds.
    pub pieces: Vec<Piece>,
    /// What it decided, one a key.
    pub orders: Vec<Order>,
    /// What a round tells.
    pub told: Vec<u8>,
}

/// What is to be done for a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chore {
    /// Run its handler.
    Run,
    /// A plan's first hop.
    Gather,
    /// A plan's second.
    Apply,
    /// An everywhere-command's part.
    Everywhere,
    /// A round's part.
    Round,
    /// Say something to those who listen there.
    Publish,
}

impl Part {
    /// Forgets all it carried, and keeps its memory.
    pub(crate) fn clear(&mut self) {
        (self.work, self.id, self.whole) = (0, 0, false);
        self.bytes.clear();
        self.spans.clear();
        self.keys.clear();
        self.reply.clear();
        self.cuts.clear();
        if self.hop != Hop::Spread {
            self.pieces.clear();
            self.orders.clear();
            self.share = None;
            (self.wait, self.waits) = (None, false);
        }
    }
}

/// What a transaction locks of a key: its hash, whatever the database. A key that is sealed in one is
/// sealed in all, so that COPY and MOVE between databases need no second lock.
#[inline]
pub(crate) const fn lock_of(hash: u64) -> u64 {
    hash
}
