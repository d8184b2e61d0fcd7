//! What a client queues behind MULTI, and where EXEC begins: at once, if all its keys are here and
//! nobody has sealed them; else as a transaction of the global order (`exec`).

use crate::actor::Shard;
use crate::execute::local_handler;
use crate::feed::Flow;
use crate::gates::Passage;
use crate::outbox::Outbox;
use crate::parcel::{ConnId, PartKey, lock_of};
use crate::planted::Bug;
use crate::route::Place;
use crate::session::{Hold, Session};
use crate::txn::Want;
use commands::{After, Args, Entry, Hashed, Home, ReplyMode, Run, Transaction, Wide};
use resp::{Reply, Span};
use spec::{Flags, Group};

/// A client's queue is below this, so that its spans fit.
const QUEUE_BYTES_MAX: usize = (u32::MAX as usize) / 2;

/// Commands queued behind MULTI.
#[derive(Default, Debug)]
pub(crate) struct Multi {
    pub bytes: Vec<u8>,
    pub spans: Vec<Span>,
    pub commands: Vec<Queued>,
    /// What any of them does.
    pub flags: Flags,
    /// One was refused: EXEC will be.
    pub spoilt: bool,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    /// Catalog number.
    pub number: u16,
    /// First span.
    pub first: u32,
    /// How many.
    pub count: u32,
}

impl Multi {
    /// The arguments of a command.
    pub(crate) fn args(&self, queued: Queued) -> Args<'_> {
        Args::new(&self.bytes, &self.spans[queued.first as usize..][..queued.count as usize])
    }

    /// Bytes that it holds.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + size_of_val(&self.spans[..]) + size_of_val(&self.commands[..])
    }
}

/// What EXEC needs: the keys to lock, and the shards that take part.
#[derive(Default, Debug)]
pub(super) struct Needs {
    pub keys: Vec<PartKey>,
    /// By number.
    pub shards: Vec<bool>,
    /// The whole keyspace is locked.
    pub whole: bool,
    /// A command may have to wait for the house, or looks at more than the keys and the session.
    pub slow: bool,
    /// A command runs where the client is.
    pub at_home: bool,
}

impl Shard {
    /// Whether a command waits for EXEC behind MULTI.
    pub(crate) fn is_queued(entry: &Entry) -> bool {
        match entry.command.run {
            Run::Transaction(what) => matches!(what, Transaction::Unwatch),
            Run::Home(_) => entry.parent.is_some() || !matches!(entry.command.name, "QUIT" | "RESET"),
            _ => true,
        }
    }

    /// Queues a command behind MULTI, if it is one that waits for EXEC.
    #[cold]
    pub(crate) fn queues_frame<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        entry: &Entry,
        args: Args<'_>,
        out: &mut O,
    ) -> bool {
        let queued = Shard::is_queued(entry);
        if queued {
            self.queue_frame(conn, session, entry, args, out);
        }
        queued
    }

    /// Queues a command behind MULTI.
    pub(crate) fn queue_frame<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        entry: &Entry,
        args: Args<'_>,
        out: &mut O,
    ) {
        if entry.command.flags.has(Flags::NO_MULTI) {
            self.refuse(session, entry.number, "ERR Command not allowed inside a transaction");
            return;
        }
        let Some(multi) = &mut session.multi else { return };
        let before = multi.size();
        let first = multi.spans.len() as u32;
        for argument in args.from(0) {
            multi.spans.push(Span { start: multi.bytes.len() as u32, len: argument.len() as u32 });
            multi.bytes.extend_from_slice(argument);
        }
        multi.commands.push(Queued { number: entry.number, first, count: args.len() as u32 });
        multi.flags = multi.flags.with(entry.command.flags);
        let size = multi.size();
        session.state.queued = Some(multi.commands.len());
        session.state.queued_bytes = size;
        self.held_bytes += size - before;
        let limit = self.settings.live.client_query_buffer_limit as usize;
        if size > limit.min(QUEUE_BYTES_MAX) {
            self.block.query_limit_closes.add(1);
            out.close(conn, false);
            session.state.closing = true;
            return;
        }
        let before = self.reply.len();
        Reply::new(&mut self.reply, session.state.version).simple("QUEUED");
        self.mute(session, before);
    }

    pub(crate) fn is_exec(&self, number: u16) -> bool {
        number != crate::batch::UNKNOWN
            && matches!(self.catalog.entry(number).command.run, Run::Transaction(Transaction::Exec))
    }

    /// A command was refused behind MULTI: EXEC will be too. If it is EXEC itself, that is its end, even
    /// where nothing had begun.
    pub(crate) fn refuse_queued(&mut self, session: &mut Session, number: u16, text: &str) -> Passage {
        if let Some(multi) = &mut session.multi {
            multi.spoilt = true;
        }
        if self.is_exec(number) {
            self.end_transaction(session);
            self.block.exec_aborts.add(1);
            let why = text.strip_prefix("ERR ").unwrap_or(text);
            self.say_refused(session, &format!("EXECABORT Transaction discarded because of: {why}"));
        } else {
            self.say_refused(session, text);
        }
        Passage::Refused
    }

    /// MULTI, EXEC, DISCARD, UNWATCH, and WATCH behind MULTI.
    pub(crate) fn run_transaction<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        number: u16,
        what: Transaction,
        out: &mut O,
    ) -> Flow {
        let before = self.reply.len();
        let mut reply = Reply::new(&mut self.reply, session.state.version);
        match (what, session.multi.is_some()) {
            (Transaction::Exec, true) => return self.exec(conn, session, number, out),
            (Transaction::Exec, false) => reply.error("ERR EXEC without MULTI"),
            (Transaction::Multi, true) => reply.error("ERR MULTI calls can not be nested"),
            (Transaction::Watch(_), _) => reply.error("ERR WATCH inside MULTI is not allowed"),
            (Transaction::Discard, false) => reply.error("ERR DISCARD without MULTI"),
            (Transaction::Multi, false) => {
                reply.ok();
                session.multi = Some(Box::default());
                session.state.queued = Some(0);
            }
            (Transaction::Discard, true) => {
                reply.ok();
                self.end_transaction(session);
            }
            (Transaction::Unwatch, _) => {
                reply.ok();
                self.unguard(session);
            }
        }
        self.block.local_commands.add(1);
        self.count_reply(number, before);
        self.mute(session, before);
        Flow::Next
    }

    /// A client is in no transaction any more, and watches nothing.
    pub(crate) fn end_transaction(&mut self, session: &mut Session) {
        self.take_multi(session);
        self.unguard(session);
    }

    fn take_multi(&mut self, session: &mut Session) -> Option<Box<Multi>> {
        self.held_bytes -= session.state.queued_bytes;
        session.state.queued = None;
        session.state.queued_bytes = 0;
        session.multi.take()
    }

    fn exec<O: Outbox>(&mut self, conn: ConnId, session: &mut Session, number: u16, out: &mut O) -> Flow {
        let Some(multi) = self.take_multi(session) else { return Flow::Next };
        if multi.spoilt {
            self.unguard(session);
            let before = self.reply.len();
            self.block.exec_aborts.add(1);
            Reply::new(&mut self.reply, session.state.version)
                .error("EXECABORT Transaction discarded because of previous errors.");
            self.count_reply(number, before);
            self.mute(session, before);
            return Flow::Next;
        }
        let needs = self.needs_of(session, &multi);
        if self.is_for_here(&needs) {
            self.exec_here(session, number, &multi);
            return Flow::Next;
        }
        self.start_exec(conn, session, number, multi, needs, out);
        session.transacting = false;
        session.hold = Hold::Answers;
        Flow::Away { more: 0 }
    }

    /// What has to be locked, and where it is.
    fn needs_of(&mut self, session: &Session, multi: &Multi) -> Needs {
        let mut needs = Needs { shards: vec![false; self.shards as usize], ..Needs::default() };
        for guard in &session.guards {
            needs.shards[guard.owner as usize] = true;
            if !self.planted(Bug::WatchUnlocked) {
                needs.keys.push(watch_key(guard.owner, guard.hash));
            }
        }
        let catalog = self.catalog;
        for queued in &multi.commands {
            let entry = catalog.entry(queued.number);
            let args = multi.args(*queued);
            if self.wide_of(entry, args).is_some() {
                needs.shards.fill(true);
                (needs.whole, needs.slow) = (true, true);
                continue;
            }
            match entry.command.run {
                Run::Home(_) => {
                    needs.at_home = true;
                    needs.slow |= !speaks_of_session(entry);
                }
                Run::Everywhere(everywhere) => {
                    needs.slow = true;
                    needs.shards.fill(true);
                    needs.whole |= everywhere.lock == commands::Lock::Keyspace || is_about_data(entry);
                }
                Run::Publish(kind) => {
                    let mut shards = vec![self.index];
                    self.topics.shards_that_hear(kind, args.get(1), &mut shards);
                    shards.into_iter().for_each(|shard| needs.shards[usize::from(shard)] = true);
                }
                Run::Transaction(_) | Run::Container => {}
                Run::Local(_) | Run::Plan(_) | Run::Journey(_) => match self.place_of(entry, args) {
                    Place::One(owner) => {
                        needs.shards[owner as usize] = true;
                        if self.shards > 1 || !self.remote.intents.is_clear() {
                            self.list_keys(entry, args);
                            needs.keys.extend(&self.home.keys);
                        }
                    }
                    Place::Several => {
                        self.list_keys(entry, args);
                        self.home.keys.iter().for_each(|key| needs.shards[key.owner as usize] = true);
                        needs.keys.extend(&self.home.keys);
                    }
                },
            }
        }
        needs
    }

    /// Where a command runs that has keys, or could have.
    pub(super) fn place_of(&mut self, entry: &Entry, args: Args<'_>) -> Place {
        match entry.command.run {
            Run::Journey(journey) => Place::One((journey.begin)(args, self.shards).min(self.shards - 1)),
            _ => self.locate(entry, args),
        }
    }

    /// How a command goes that needs keys it does not name, if they may be elsewhere.
    pub(super) fn wide_of(&self, entry: &Entry, args: Args<'_>) -> Option<&'static Wide> {
        entry.command.wide.filter(|wide| self.shards > 1 && (wide.when)(args))
    }

    fn is_for_here(&self, needs: &Needs) -> bool {
        let here = |shard: usize| shard == usize::from(self.index);
        let elsewhere =
            needs.shards.iter().enumerate().any(|(shard, takes_part)| *takes_part && !here(shard));
        let want = |key: &PartKey| Want { lock: lock_of(key.hash), write: key.write };
        let intents = &self.remote.intents;
        !needs.slow
            && !elsewhere
            && (intents.is_clear() || !needs.keys.iter().any(|key| intents.sealed(want(key))))
    }

    /// Runs a whole transaction on this shard, at once.
    fn exec_here(&mut self, session: &mut Session, number: u16, multi: &Multi) {
        // CLIENT REPLY inside is for what comes behind.
        let muted = self.is_muted(session);
        let before = self.reply.len();
        let watches = !session.guards.is_empty();
        let moved = watches && self.end_watch(session.state.id, session.watch_round);
        self.unguard(session);
        if moved {
            self.block.exec_nulls.add(1);
            Reply::new(&mut self.reply, session.state.version).null_array();
        } else {
            self.block.exec_local.add(1);
            Reply::new(&mut self.reply, session.state.version).array(multi.commands.len());
            for queued in &multi.commands {
                self.exec_one_here(session, multi, *queued);
            }
        }
        self.block.local_commands.add(1);
        self.count_reply(number, before);
        if muted {
            self.reply.truncate(before);
        }
        skip_what_comes(session);
    }

    fn exec_one_here(&mut self, session: &mut Session, multi: &Multi, queued: Queued) {
        let (before, args) = (self.reply.len(), multi.args(queued));
        let caller = self.caller(session);
        match self.catalog.entry(queued.number).command.run {
            Run::Home(handler) => {
                let mut buffer = std::mem::take(&mut self.reply);
                let mut reply = Reply::new(&mut buffer, caller.version);
                let mut home = Home { session: &mut session.state, house: self };
                let after = handler(&mut home, args, &mut reply);
                debug_assert!(matches!(after, After::Done), "what may wait is slow");
                self.reply = buffer;
            }
            Run::Publish(kind) => {
                let heard = self.publish_later(kind, args);
                self.block.published.add(1);
                Reply::new(&mut self.reply, caller.version).integer(heard);
            }
            run => match local_handler(run) {
                Some(handler) => {
                    let short = self.short_of_room;
                    if !short || !self.lacks_room(queued.number, args.len(), caller.version) {
                        self.call(queued.number, handler, caller, args, Hashed::NONE);
                    }
                }
                None => Reply::new(&mut self.reply, caller.version).ok(),
            },
        }
        if self.reply.len() == before
            && let Some(blocks) = self.catalog.entry(queued.number).command.blocks
        {
            // There is nothing, and no waiting here.
            blocks.nothing(&mut Reply::new(&mut self.reply, caller.version));
        }
        if self.reply.len() == before {
            // CLIENT REPLY says nothing, but each command has its place in the array.
            Reply::new(&mut self.reply, caller.version).null();
        }
        self.count_reply(queued.number, before);
    }
}

/// CLIENT REPLY SKIP inside a transaction skips what comes behind it.
pub(super) fn skip_what_comes(session: &mut Session) {
    if session.state.reply_mode == ReplyMode::SkipNext {
        session.state.reply_mode = ReplyMode::Skip;
    }
}

/// A watched key as something to lock: it must not change while the transaction lasts.
fn watch_key(owner: u16, hash: u64) -> PartKey {
    PartKey { ordinal: 0, span: 0, until: 0, hash, owner, write: false }
}

/// A command about the connection: it looks at nothing that other commands change.
pub(super) fn speaks_of_session(entry: &Entry) -> bool {
    entry.command.group == Group::Connection
}

/// A command with a part on every shard that reads or writes keys.
pub(super) fn is_about_data(entry: &Entry) -> bool {
    entry.command.flags.any(Flags::WRITE.with(Flags::READONLY))
}
