//! Room 5: where a command runs. One fixed key costs one hash and one compare; several keys may turn
//! out to live on several shards.

use crate::actor::Shard;
use crate::batch::{Batch, Frame, UNKNOWN};
use crate::feed::{Flow, RELAXED_AWAY_MAX};
use crate::gates::Passage;
use crate::outbox::Outbox;
use crate::parcel::{ConnId, PartKey, lock_of};
use crate::planted::Bug;
use crate::session::{Hold, Session};
use crate::txn::Want;
use commands::{Args, Caller, Entry, Hashed, ReplyMode, Run, Spread, Transaction};

/// Commands over several shards that a session may have away: enough to share the price of a round.
const TRANSACTIONS_AWAY_MAX: usize = 64;

/// Where a command's keys are.
pub(crate) enum Place {
    /// All on one shard.
    One(u16),
    /// On several.
    Several,
}

impl Shard {
    pub(crate) fn caller(&self, session: &Session) -> Caller {
        Caller {
            client: session.state.id,
            db: session.state.db,
            version: session.state.version,
            no_touch: session.state.no_touch,
            watch_round: session.watch_round,
        }
    }

    /// Runs one frame, or sends it where it runs.
    pub(crate) fn run_frame<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        bytes: &[u8],
        batch: &Batch,
        place: usize,
        out: &mut O,
    ) -> Flow {
        let frame = &batch.frames[place];
        // What is rare is out of the way: then the usual path has the registers.
        if frame.number == UNKNOWN {
            return self.unknown(session, batch.args_of(bytes, frame));
        }
        // The catalog outlives the shard, so an entry does not borrow it.
        let catalog = self.catalog;
        let entry = catalog.entry(frame.number);
        let passage = self.pass(session, entry, frame.count as usize);
        if passage != Passage::Free {
            return self.turn_back(conn, session, passage, frame.number, batch.args_of(bytes, frame));
        }
        if session.transacting && !self.follows(session, entry) {
            return Flow::Held;
        }
        session.state.last_command = Some(frame.number);
        let args = batch.args_of(bytes, frame);
        if session.multi.is_some() && self.queues_frame(conn, session, entry, args, out) {
            return Flow::Next;
        }
        // By far the most: one key, which lives here.
        if let Some(handler) = entry.with_one_key {
            let sealed = !self.remote.intents.is_clear() && self.is_sealed(entry, args, frame.hash);
            if frame.owner == self.index && !sealed {
                let hashed = Hashed::new(args, entry.single_key as usize, frame.hash);
                self.run_local(session, frame.number, handler, args, hashed);
                self.behind_answers(session);
                return Flow::Next;
            }
            return self.send_away(conn, session, bytes, batch, place, frame.owner, out);
        }
        self.run_otherwise(conn, session, bytes, batch, place, out)
    }

    /// A frame that is no command.
    #[cold]
    fn unknown(&mut self, session: &mut Session, args: Args<'_>) -> Flow {
        self.refuse_unknown(session, args);
        self.behind_answers(session);
        Flow::Next
    }

    /// A frame that may not pass, or not yet.
    #[cold]
    fn turn_back(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        passage: Passage,
        number: u16,
        args: Args<'_>,
    ) -> Flow {
        match passage {
            Passage::Paused => {
                session.hold = Hold::Pause;
                self.marks.paused += 1;
                self.paused.push_back(conn);
                return Flow::Held;
            }
            Passage::WrongArity => self.refuse_arity(session, number, args),
            Passage::Refused | Passage::Free => {}
        }
        self.behind_answers(session);
        Flow::Next
    }

    /// Runs a frame that is not a command with one key.
    #[inline(never)]
    fn run_otherwise<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        bytes: &[u8],
        batch: &Batch,
        place: usize,
        out: &mut O,
    ) -> Flow {
        let frame = &batch.frames[place];
        let args = batch.args_of(bytes, frame);
        let catalog = self.catalog;
        let entry = catalog.entry(frame.number);
        if self.has_unsaid() {
            self.say_between(conn, session, out);
        }
        match entry.command.run {
            Run::Publish(kind) => self.publish(conn, session, frame.number, kind, args, out),
            Run::Local(_) | Run::Plan(_) => self.run_many(conn, session, bytes, batch, place, out),
            Run::Home(handler) => {
                // Facts of the session must not overtake commands that are away.
                if session.waiting() > 0 {
                    session.hold = Hold::Answers;
                    return Flow::Held;
                }
                self.run_home(conn, session, frame.number, handler, args, out);
                if (session.multi.is_some() || !session.guards.is_empty()) && entry.command.name == "RESET" {
                    self.end_transaction(session);
                }
                Flow::Next
            }
            Run::Journey(journey) => self.set_out(conn, session, bytes, batch, place, journey, out),
            Run::Everywhere(everywhere) => {
                if session.waiting() > 0 {
                    session.hold = Hold::Answers;
                    return Flow::Held;
                }
                self.start_everywhere(conn, session, frame.number, everywhere, args, out)
            }
            Run::Transaction(Transaction::Watch(_)) if session.multi.is_none() => {
                self.guard(session, args);
                self.run_many(conn, session, bytes, batch, place, out)
            }
            Run::Transaction(what) => {
                if session.waiting() > 0 {
                    session.hold = Hold::Answers;
                    return Flow::Held;
                }
                self.run_transaction(conn, session, frame.number, what, out)
            }
            Run::Container => unreachable!("the arity gate refuses containers"),
        }
    }

    /// Whether a command may run behind commands over several shards that are away: one that may turn out to
    /// be of that kind itself. They take effect in the order of their ids, and are seen by nobody before all
    /// earlier ones of this shard are done, so that they need not wait for each other's answers.
    #[cold]
    fn follows(&self, session: &mut Session, entry: &Entry) -> bool {
        let alone = session.waiting() == 0;
        if alone {
            (session.transacting, session.publishing) = (false, false);
        } else if session.publishing {
            // Only more messages go behind messages.
            if !matches!(entry.command.run, Run::Publish(_)) {
                session.hold = Hold::Answers;
                return false;
            }
        } else if !entry.has_keys || entry.single_key != 0 {
            session.hold = Hold::Answers;
            return false;
        }
        true
    }

    /// Whether a command with `self.home.keys` may go out behind others of its client: while the rings have room
    /// for many more. Where that is short, each client has one command in the line for it.
    fn may_follow<O: Outbox>(&self, session: &Session, out: &mut O) -> bool {
        let room = 2 * self.home.staged_len();
        session.waiting() < TRANSACTIONS_AWAY_MAX
            && self.home.keys.iter().map(|key| key.owner).filter(|owner| *owner != self.index).all(|owner| {
                self.outgoing[owner as usize].is_empty() && out.room(owner) > room + self.home.kept(owner)
            })
    }

    /// A command with any number of keys.
    fn run_many<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        bytes: &[u8],
        batch: &Batch,
        place: usize,
        out: &mut O,
    ) -> Flow {
        let frame = &batch.frames[place];
        let args = batch.args_of(bytes, frame);
        let catalog = self.catalog;
        let entry = catalog.entry(frame.number);
        if self.shards > 1 && entry.command.wide.is_some_and(|wide| (wide.when)(args)) {
            return self.run_wide(conn, session, entry, args, out);
        }
        if entry.command.blocks.is_some() {
            return self.run_blocking(conn, session, bytes, batch, place, out);
        }
        match self.locate(entry, args) {
            Place::One(_) if session.transacting => {
                session.hold = Hold::Answers;
                Flow::Held
            }
            Place::One(owner) => {
                let sealed =
                    !self.remote.intents.is_clear() && entry.has_keys && self.is_sealed(entry, args, 0);
                if owner == self.index && !sealed {
                    self.run_here(session, frame.number, args);
                    self.behind_answers(session);
                    return Flow::Next;
                }
                self.send_away(conn, session, bytes, batch, place, owner, out)
            }
            Place::Several => {
                // Commands for one of the keys that are away (`pipeline-order relaxed`) come first, and
                // those behind it wait: one client's commands for one key never overtake each other.
                self.complete_keys(entry, args);
                if session.waiting() > 0 && !(session.transacting && self.may_follow(session, out)) {
                    session.hold = Hold::Answers;
                    return Flow::Held;
                }
                let keys = std::mem::take(&mut self.home.keys);
                let good = self.check_before_split(session, entry, args, &keys);
                self.home.keys = keys;
                if !good {
                    self.behind_answers(session);
                    return Flow::Next;
                }
                self.marks.split += 1;
                self.marks.split_behind_split += u64::from(session.waiting() > 0);
                self.start_over_keys(conn, session, entry, args, out);
                session.transacting = true;
                Flow::Away { more: 0 }
            }
        }
    }

    /// A command that needs keys it does not name.
    #[inline(never)]
    fn run_wide<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        entry: &Entry,
        args: Args<'_>,
        out: &mut O,
    ) -> Flow {
        if session.waiting() > 0 {
            session.hold = Hold::Answers;
            return Flow::Held;
        }
        // What it names tells where it may write: there must be room.
        self.list_keys(entry, args);
        let keys = std::mem::take(&mut self.home.keys);
        let good = self.check_before_split(session, entry, args, &keys);
        self.home.keys = keys;
        if !good {
            return Flow::Next;
        }
        self.start_wide(conn, session, entry.number, args, out);
        session.hold = Hold::Answers;
        Flow::Away { more: 0 }
    }

    /// Finds the keys of a command and who owns them: `self.home.keys` has them then, as `note_keys` says.
    pub(crate) fn locate(&mut self, entry: &Entry, args: Args<'_>) -> Place {
        if self.shards == 1 || !entry.has_keys {
            return Place::One(self.index);
        }
        self.note_keys(entry, args);
        // No key, or arguments that do not hold the keys they promise: the handler says so.
        let Some(first) = self.home.keys.first() else { return Place::One(self.index) };
        let several = self.home.keys.iter().any(|key| key.owner != first.owner);
        if several { Place::Several } else { Place::One(first.owner) }
    }

    #[inline]
    pub(crate) fn owner(&self, key: &[u8]) -> u16 {
        spec::owner_of(spec::slot_of(key), self.shards)
    }

    /// Calls `found` with each key and whether it may be changed. Nothing where the arguments are bad.
    pub(crate) fn visit_keys(&self, entry: &Entry, args: Args<'_>, mut found: impl FnMut(&[u8], bool)) {
        for keys in entry.command.keys {
            let write = keys.access.writes();
            if let Ok(places) = keys.places(args.len(), |at| args.get(at)) {
                places.for_each(|at| found(args.get(at), write));
            }
        }
    }

    /// Notes the keys of a command and their owners in `self.home.keys`; their hashes and where their arguments
    /// end come from `complete_keys`.
    fn note_keys(&mut self, entry: &Entry, args: Args<'_>) {
        let shards = self.shards;
        let found = &mut self.home.keys;
        found.clear();
        for keys in entry.command.keys {
            let write = keys.access.writes();
            let Ok(places) = keys.places(args.len(), |at| args.get(at)) else { continue };
            for at in places {
                found.push(PartKey {
                    ordinal: found.len() as u32,
                    span: at as u32,
                    until: at as u32 + 1,
                    hash: 0,
                    owner: spec::owner_of(spec::slot_of(args.get(at)), shards),
                    write,
                });
            }
        }
    }

    /// What else is to be known of noted keys where a command is to be divided.
    fn complete_keys(&mut self, entry: &Entry, args: Args<'_>) {
        let found = &mut self.home.keys;
        for key in found.iter_mut() {
            key.hash = self.store.hasher().hash(args.get(key.span as usize));
        }
        if entry.command.spread != Spread::None {
            // A key's arguments reach to the next key.
            let mut until = args.len() as u32;
            for key in found.iter_mut().rev() {
                key.until = until;
                until = key.span;
            }
        }
    }

    /// Lists the keys of a command that is to be divided.
    pub(crate) fn list_keys(&mut self, entry: &Entry, args: Args<'_>) {
        self.note_keys(entry, args);
        self.complete_keys(entry, args);
    }

    /// Whether a command with keys on this shard meets a seal.
    #[inline(never)]
    pub(crate) fn is_sealed(&self, entry: &Entry, args: Args<'_>, hash: u64) -> bool {
        let intents = &self.remote.intents;
        if entry.single_key != 0 {
            let write = entry.command.keys[0].access.writes();
            if !write && self.planted(Bug::ReadsPassSeals) {
                return false;
            }
            return intents.sealed(Want { lock: lock_of(hash), write });
        }
        let mut sealed = false;
        self.visit_keys(entry, args, |key, write| {
            let hash = self.store.hasher().hash(key);
            sealed |= intents.sealed(Want { lock: lock_of(hash), write });
        });
        sealed
    }

    pub(crate) fn check_before_split(
        &mut self,
        session: &mut Session,
        entry: &Entry,
        args: Args<'_>,
        keys: &[PartKey],
    ) -> bool {
        let before = self.reply.len();
        let good = self.may_split(entry, args, keys, self.caller(session));
        if !good {
            self.count_reply(entry.number, before);
            self.mute(session, before);
        }
        good
    }

    /// Whether a command may be divided; if not, it is answered with the reason.
    pub(crate) fn may_split(
        &mut self,
        entry: &Entry,
        args: Args<'_>,
        keys: &[PartKey],
        caller: Caller,
    ) -> bool {
        let facts = self.check_facts(caller.db);
        let mut reply = resp::Reply::new(&mut self.reply, caller.version);
        let good = entry.command.check.is_none_or(|check| check(&facts, args, &mut reply));
        good && !self.parts_lack_room(entry, keys, caller.version)
    }

    /// The session waits for its answers, unless it may run ahead.
    pub(crate) fn hold_for_answers(&mut self, session: &mut Session) {
        let ahead = self.is_relaxed() || self.planted(Bug::RunsAhead);
        if !ahead || session.waiting() >= RELAXED_AWAY_MAX {
            session.hold = Hold::Answers;
        }
    }

    /// Moves what was just written behind answers that are away (`pipeline-order relaxed`).
    #[inline]
    pub(crate) fn behind_answers(&mut self, session: &mut Session) {
        if session.waiting() > 0 && !self.reply.is_empty() {
            session.queue(&self.reply, false);
            self.reply.clear();
        }
    }

    /// Takes back what a command wrote, where the client wants no replies.
    #[inline]
    pub(crate) fn mute(&mut self, session: &mut Session, before: usize) {
        if session.state.reply_mode != ReplyMode::On {
            self.mute_by_mode(session, before);
        }
    }

    #[cold]
    fn mute_by_mode(&mut self, session: &mut Session, before: usize) {
        match session.state.reply_mode {
            ReplyMode::On => {}
            ReplyMode::Off => self.reply.truncate(before),
            ReplyMode::SkipNext => session.state.reply_mode = ReplyMode::Skip,
            ReplyMode::Skip => {
                self.reply.truncate(before);
                session.state.reply_mode = ReplyMode::On;
            }
        }
    }

    /// How long a run of frames for `owner` is, from `place` on: they travel together.
    pub(crate) fn run_length(
        &mut self,
        session: &mut Session,
        bytes: &[u8],
        batch: &Batch,
        place: usize,
        owner: u16,
    ) -> usize {
        let travels = |frame: &Frame| {
            frame.number != UNKNOWN && frame.owner == owner && {
                let entry = self.catalog.entry(frame.number);
                let args = batch.args_of(bytes, frame);
                entry.with_one_key.is_some() && entry.runs_with(args.len())
            }
        };
        if session.state.reply_mode != ReplyMode::On || self.pause.is_some() {
            return 1;
        }
        1 + batch.frames[place + 1..].iter().take_while(|frame| travels(frame)).count()
    }
}
