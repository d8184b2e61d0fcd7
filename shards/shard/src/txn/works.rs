//! The book of commands over several shards whose home is here: what each needs until it is answered, its
//! parts, and the memory of both for reuse. It does not know when anything is sent, or what is answered.

use crate::outbox::Now;
use crate::parcel::{Hop, Part, PartKey, Ticket};
use crate::pause::PAUSED_WRITES;
use crate::txn::exec::Exec;
use commands::{Args, Caller, Catalog};
use mesh::Board;
use resp::{Output, Span};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Shells of commands and of parts kept for reuse.
const SPARE_MAX: usize = 256;
/// Larger ones are not kept.
pub(super) const KEPT_BYTES_MAX: usize = 16 * 1024;

/// A command over several shards, at home.
pub(crate) struct Work {
    pub(crate) ticket: Ticket,
    pub(crate) number: u16,
    pub(crate) caller: Caller,
    pub(super) id: u64,
    /// Its arguments, where it ends by looking at them: not for `Spread`.
    pub(super) bytes: Vec<u8>,
    pub(super) spans: Vec<Span>,
    /// Keys in all its parts.
    pub(super) keys: usize,
    /// Parts not yet staged, or come home.
    #[expect(clippy::vec_box, reason = "the box travels")]
    pub(crate) parts: Vec<Box<Part>>,
    pub(super) away: usize,
    /// A plan's reply, while its second hop runs; what was told in a round.
    pub(crate) reply: Output,
    pub(super) muted: bool,
    /// What it is about, if it is EXEC.
    pub(super) exec: Option<Box<Exec>>,
    /// It is EXEC, and may write.
    pub(super) writes: bool,
    /// It is a blocking command.
    pub(super) blocks: bool,
}

/// All commands over several shards whose home is here.
pub(crate) struct Home {
    pub(super) board: Arc<Board>,
    pub(super) index: u16,
    pub(super) works: Vec<(u32, Option<Box<Work>>)>,
    free: Vec<u32>,
    #[expect(clippy::vec_box, reason = "they are boxed where they are used")]
    spare_works: Vec<Box<Work>>,
    #[expect(clippy::vec_box, reason = "the box travels")]
    spare_parts: Vec<Box<Part>>,
    /// Keys of the command that is being divided.
    pub(crate) keys: Vec<PartKey>,
    /// The reply that is being folded.
    pub(super) folded: Output,
    /// Waiting for room in the rings, in order.
    pub(super) staged: VecDeque<u64>,
    /// Commands that go on once the house has done a job.
    pub(super) after_jobs: Vec<(Ticket, u64)>,
    /// Ids that are not done everywhere, in order.
    pub(super) open: VecDeque<u64>,
    pub(super) drew: bool,
    pub(super) refused: bool,
    /// Parcels claimed for each shard in this tick.
    pub(super) claims: Vec<usize>,
    /// The first of the staged, for which room is kept in the rings; 0: for none.
    pub(super) favoured: usize,
    /// Room in each ring that is theirs alone.
    pub(super) kept: Vec<usize>,
}

impl Home {
    pub(crate) fn new(board: Arc<Board>, index: u16, shards: u16) -> Home {
        Home {
            board,
            index,
            works: Vec::new(),
            free: Vec::new(),
            spare_works: Vec::new(),
            spare_parts: Vec::new(),
            keys: Vec::new(),
            folded: Output::default(),
            staged: VecDeque::new(),
            after_jobs: Vec::new(),
            open: VecDeque::new(),
            drew: false,
            refused: false,
            claims: vec![0; shards as usize],
            favoured: 0,
            kept: vec![0; shards as usize],
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.works.len() == self.free.len()
    }

    /// Whether a command that may write is not done.
    pub(crate) fn has_writes(&self, catalog: &Catalog) -> bool {
        let mut live = self.works.iter().filter_map(|(_, work)| work.as_ref());
        live.any(|work| work.writes || catalog.entry(work.number).command.flags.any(PAUSED_WRITES))
    }

    /// How many wait for room in the rings.
    pub(crate) fn staged_len(&self) -> usize {
        self.staged.len()
    }

    pub(crate) fn has_staged(&self) -> bool {
        !self.staged.is_empty()
    }

    pub(crate) fn board(&self) -> &Arc<Board> {
        &self.board
    }

    /// A command with nothing in it yet.
    pub(crate) fn work(&mut self, ticket: Ticket, number: u16, caller: Caller, muted: bool) -> Box<Work> {
        let Some(mut work) = self.spare_works.pop() else {
            return Box::new(Work {
                ticket,
                number,
                caller,
                id: 0,
                bytes: Vec::new(),
                spans: Vec::new(),
                keys: 0,
                parts: Vec::new(),
                away: 0,
                reply: Output::default(),
                muted,
                exec: None,
                writes: false,
                blocks: false,
            });
        };
        (work.ticket, work.number, work.caller, work.muted) = (ticket, number, caller, muted);
        work
    }

    /// A part with nothing in it yet, for that shard.
    pub(crate) fn part(&mut self, shard: u16, number: u16, caller: Caller, hop: Hop) -> Box<Part> {
        let mut part = self.spare_parts.pop().unwrap_or_else(|| Box::new(empty_part(self.index, caller)));
        (part.shard, part.number, part.caller, part.hop) = (shard, number, caller, hop);
        part
    }

    /// A command has ended: its memory, and that of its parts, is kept for the next one.
    pub(crate) fn put_away(&mut self, mut work: Box<Work>) {
        while let Some(mut part) = work.parts.pop() {
            let bytes = part.bytes.capacity() + part.reply.capacity() + 16 * part.keys.capacity();
            if self.spare_parts.len() < SPARE_MAX && bytes <= KEPT_BYTES_MAX {
                part.clear();
                self.spare_parts.push(part);
            }
        }
        let bytes = work.bytes.capacity() + work.reply.capacity();
        if self.spare_works.len() < SPARE_MAX && bytes <= KEPT_BYTES_MAX {
            work.bytes.clear();
            work.spans.clear();
            work.reply.clear();
            (work.id, work.keys, work.away) = (0, 0, 0);
            (work.exec, work.writes, work.blocks) = (None, false, false);
            self.spare_works.push(work);
        }
    }

    pub(crate) fn insert(&mut self, work: Box<Work>) -> u64 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.works.push((0, None));
            self.works.len() as u32 - 1
        });
        let entry = &mut self.works[slot as usize];
        let name = u64::from(entry.0) << 32 | u64::from(slot);
        entry.1.insert(work).parts.iter_mut().for_each(|part| part.work = name);
        name
    }

    pub(super) fn find(&mut self, name: u64) -> &mut Work {
        let entry = &mut self.works[(name & 0xFFFF_FFFF) as usize];
        assert!(u64::from(entry.0) == name >> 32, "a part outlived its command");
        entry.1.as_mut().expect("a part belongs to a live command")
    }

    pub(crate) fn remove(&mut self, name: u64) -> Box<Work> {
        let slot = (name & 0xFFFF_FFFF) as usize;
        let work = self.works[slot].1.take().expect("it is ended once");
        self.works[slot].0 = self.works[slot].0.wrapping_add(1);
        self.free.push(slot as u32);
        if work.id != 0 {
            if self.open.front() == Some(&work.id) {
                self.open.pop_front();
                self.tell_open();
            } else {
                let place = self.open.binary_search(&work.id).expect("what has an id is open");
                self.open.remove(place);
            }
        }
        work
    }

    pub(super) fn tell_open(&self) {
        self.board.set_open(usize::from(self.index), self.open.front().copied().unwrap_or(u64::MAX));
    }
}

impl Home {
    /// Makes one part for each shard that owns keys. `Spread` parts get their share of the arguments, behind an
    /// empty one where the command's name was; others get all of them.
    pub(super) fn divide(&mut self, work: &mut Work, args: Args<'_>, hop: Hop) {
        let keys = std::mem::take(&mut self.keys);
        work.keys = keys.len();
        for key in &keys {
            let place = work.parts.iter().position(|part| part.shard == key.owner);
            let place = place.unwrap_or_else(|| {
                let mut part = self.part(key.owner, work.number, work.caller, hop);
                if hop == Hop::Spread {
                    part.spans.push(NO_NAME);
                } else {
                    push_arguments(&mut part, args, 0..args.len());
                }
                work.parts.push(part);
                work.parts.len() - 1
            });
            let part = &mut work.parts[place];
            let mut own = *key;
            if hop == Hop::Spread {
                own.span = part.spans.len() as u32;
                push_arguments(part, args, key.span as usize..key.until as usize);
                own.until = part.spans.len() as u32;
            }
            part.keys.push(own);
        }
        self.keys = keys;
    }
}

pub(super) fn empty_part(home: u16, caller: Caller) -> Part {
    Part {
        home,
        shard: home,
        work: 0,
        id: 0,
        hop: Hop::Spread,
        number: 0,
        caller,
        bytes: Vec::new(),
        spans: Vec::new(),
        keys: Vec::new(),
        whole: false,
        reply: Output::default(),
        cuts: Vec::new(),
        pieces: Vec::new(),
        orders: Vec::new(),
        share: None,
        looked: Now::default(),
        wait: None,
        waits: false,
    }
}

/// In place of a command's name, which no handler of a divided command looks at.
const NO_NAME: Span = Span { start: 0, len: 0 };

/// Copies arguments into a part, with what lies between them: in one go.
pub(super) fn push_arguments(part: &mut Part, args: Args<'_>, which: Range<usize>) {
    let Some((first, more)) = args.spans().get(which).and_then(<[Span]>::split_first) else { return };
    let last = more.last().unwrap_or(first);
    let shift = (part.bytes.len() as u32).wrapping_sub(first.start);
    part.bytes.extend_from_slice(&args.bytes()[first.start as usize..(last.start + last.len) as usize]);
    part.spans.push(Span { start: first.start.wrapping_add(shift), len: first.len });
    more.iter()
        .for_each(|span| part.spans.push(Span { start: span.start.wrapping_add(shift), len: span.len }));
}

/// Copies one argument into a part.
pub(crate) fn push_argument(part: &mut Part, argument: &[u8]) {
    part.spans.push(Span { start: part.bytes.len() as u32, len: argument.len() as u32 });
    part.bytes.extend_from_slice(argument);
}
