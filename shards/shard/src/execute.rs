//! Room 6: a function pointer over arguments and the store. It cannot wait: it validates, changes, and
//! speaks.

use crate::actor::Shard;
use crate::outbox::Outbox;
use crate::parcel::{ConnId, Ticket};
use crate::session::{Hold, Session};
use commands::{After, Args, Caller, Check, Ctx, Hashed, Home, HomeFn, Job, LocalFn, Run, Transaction};
use resp::Reply;

impl Shard {
    /// Runs a handler on this shard for one of its own sessions.
    #[inline]
    pub(crate) fn run_local(
        &mut self,
        session: &mut Session,
        number: u16,
        handler: LocalFn,
        args: Args<'_>,
        hashed: Hashed,
    ) {
        let before = self.reply.len();
        if self.short_of_room | self.is_attended() {
            self.call_with_care(session, number, handler, args, hashed);
        } else {
            // Made here, not for both ways: then it is written once, where the handler looks for it.
            self.call_unattended(handler, self.caller(session), args, hashed);
        }
        self.ran_here += 1;
        self.count_reply(number, before);
        self.mute(session, before);
    }

    /// Calls a handler while room is short or keys are watched.
    #[cold]
    fn call_with_care(
        &mut self,
        session: &Session,
        number: u16,
        handler: LocalFn,
        args: Args<'_>,
        hashed: Hashed,
    ) {
        let caller = self.caller(session);
        if !self.short_of_room || !self.lacks_room(number, args.len(), caller.version) {
            self.call(number, handler, caller, args, hashed);
        }
    }

    /// Runs on this shard a command whose handler is inside its way of running.
    pub(crate) fn run_here(&mut self, session: &mut Session, number: u16, args: Args<'_>) {
        if let Some(handler) = local_handler(self.catalog.entry(number).command.run) {
            self.run_local(session, number, handler, args, Hashed::NONE);
        }
    }

    /// Calls a handler; its reply is appended to `self.reply`.
    #[inline]
    pub(crate) fn call(
        &mut self,
        number: u16,
        handler: LocalFn,
        caller: Caller,
        args: Args<'_>,
        hashed: Hashed,
    ) {
        if self.is_attended() {
            self.call_attended(number, handler, caller, args, hashed);
        } else {
            self.call_unattended(handler, caller, args, hashed);
        }
    }

    /// Somebody cares what a command does besides its reply: keys are watched, or a pause keeps the data as it is.
    #[inline]
    fn is_attended(&self) -> bool {
        !self.watched.is_empty() | self.pause.is_some()
    }

    /// Calls a handler where nobody cares, or somebody else tells them.
    #[inline]
    pub(crate) fn call_unattended(
        &mut self,
        handler: LocalFn,
        caller: Caller,
        args: Args<'_>,
        hashed: Hashed,
    ) {
        self.call_with(caller, hashed, |ctx, reply| handler(ctx, args, reply));
    }

    /// Calls what looks at any keys, held or not: expired ones stay while a transaction may hold one as it was at its
    /// moment, and while a pause lasts.
    pub(crate) fn look_around<T>(&mut self, look: impl FnOnce(&mut Shard) -> T) -> T {
        self.store.keep_expired(self.pause.is_some() | !self.remote.intents.is_clear());
        let seen = look(self);
        self.store.keep_expired(false);
        seen
    }

    /// Calls what runs where the keys are.
    #[inline]
    pub(crate) fn call_with<T>(
        &mut self,
        caller: Caller,
        hashed: Hashed,
        handler: impl FnOnce(&mut Ctx<'_>, &mut Reply<'_>) -> T,
    ) -> T {
        let mut ctx = Ctx {
            store: &mut self.store,
            live: &self.settings.live,
            now: self.now.ms(),
            caller,
            seat: self.seat,
            random: &mut self.random,
            effects: &mut self.effects,
            watched: &mut self.watched,
            hashed,
        };
        let mut reply = Reply::new(&mut self.reply, caller.version);
        handler(&mut ctx, &mut reply)
    }

    /// Counts a command that has run, and its error if it answered with one.
    #[inline]
    pub(crate) fn count_reply(&mut self, number: u16, before: usize) {
        self.count_ran(number);
        if self.reply.get(before) == Some(&b'-') {
            self.count_error(number, before);
        }
    }

    /// The same for a command that was answered elsewhere.
    pub(crate) fn count_answer(&mut self, number: u16, answer: &[u8]) {
        self.count_ran(number);
        self.count_refusal(number, answer);
    }

    #[inline]
    fn count_ran(&mut self, number: u16) {
        self.ran_total += 1;
        if self.ran_last.0 == number {
            self.ran_last.1 += 1;
        } else {
            self.count_other(number);
        }
    }

    /// Counts another command than the one before it.
    #[inline(never)]
    fn count_other(&mut self, number: u16) {
        self.gather_ran();
        self.ran_last = (number, 1);
    }

    /// Adds the last run of equal commands to what has run before.
    pub(crate) fn gather_ran(&mut self) {
        let (number, times) = std::mem::take(&mut self.ran_last);
        match self.ran.iter_mut().find(|(other, _)| *other == number) {
            Some((_, count)) => *count += times,
            None if times > 0 => self.ran.push((number, times)),
            None => {}
        }
    }

    /// Counts the error of a command that was counted before.
    pub(crate) fn count_refusal(&mut self, number: u16, reply: &[u8]) {
        if reply.first() == Some(&b'-') {
            let before = self.reply.len();
            self.reply.extend_from_slice(reply);
            self.count_error(number, before);
            self.reply.truncate(before);
        }
    }

    #[cold]
    fn count_error(&mut self, number: u16, before: usize) {
        let text = &self.reply[before + 1..];
        let end = text.iter().position(|byte| matches!(byte, b' ' | b'\r')).unwrap_or(text.len());
        self.block.errors.count(&text[..end]);
        self.block.error_replies.add(1);
        self.block.per_command.row(number).failed_calls.add(1);
    }

    /// Runs a handler where the client is.
    pub(crate) fn run_home<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        number: u16,
        handler: HomeFn,
        args: Args<'_>,
        out: &mut O,
    ) {
        let mut buffer = std::mem::take(&mut self.reply);
        let before = buffer.len();
        let version = session.state.version;
        let after = {
            let mut reply = Reply::new(&mut buffer, version);
            handler(&mut Home { session: &mut session.state, house: self }, args, &mut reply)
        };
        self.reply = buffer;
        self.block.local_commands.add(1);
        self.count_reply(number, before);
        note_listening(conn, session, out);
        let tail = self.after(conn, session, after, before, out);
        if tail {
            self.mute_command(session, number, before);
        }
    }

    /// Carries out what a handler asked for. Returns whether its reply is still in `self.reply`.
    pub(crate) fn after<O: Outbox>(
        &mut self,
        conn: ConnId,
        session: &mut Session,
        after: After,
        before: usize,
        out: &mut O,
    ) -> bool {
        for job in std::mem::take(&mut self.jobs) {
            out.order(job, None);
        }
        for killed in std::mem::take(&mut self.kills) {
            out.close(killed, false);
        }
        match after {
            After::Done => true,
            After::Close => {
                session.state.closing = true;
                true
            }
            After::HoldUntil(time) => {
                let reply = self.reply.split_off(before);
                let ticket = self.ticket(conn, session, out);
                self.timers.push((time, ticket, reply));
                false
            }
            After::Work(job) => {
                self.reply.truncate(before);
                let ticket = self.ticket(conn, session, out);
                if matches!(job, Job::Shutdown { .. }) {
                    session.hold = Hold::End;
                }
                out.order(job, Some(ticket));
                false
            }
        }
    }

    /// Takes back a command's reply, where the client wants none; messages it hears nevertheless.
    pub(crate) fn mute_command(&mut self, session: &mut Session, number: u16, before: usize) {
        let pushes = self.catalog.entry(number).pushes;
        self.mute(session, if pushes { self.reply.len() } else { before });
    }

    /// A ticket for an answer for which the session waits whatever the order of its pipeline.
    fn ticket<O: Outbox>(&mut self, conn: ConnId, session: &mut Session, out: &mut O) -> Ticket {
        session.hold = Hold::Answers;
        let muted = self.is_muted(session);
        let ticket = self.ticket_only(conn, session, out);
        if muted {
            session.mute_last();
        }
        ticket
    }

    /// What argument checks may look at.
    pub(crate) fn check_facts(&self, db: u16) -> Check {
        Check {
            now: self.now.ms(),
            db,
            databases: self.settings.live.databases as u16,
            string_bytes_max: self.settings.live.proto_max_bulk_len as usize,
            hasher: self.store.hasher().clone(),
        }
    }
}

/// Tells the house when a client has begun or ceased to listen.
#[inline]
pub(crate) fn note_listening<O: Outbox>(conn: ConnId, session: &mut Session, out: &mut O) {
    if session.state.listens != session.told_listens {
        session.told_listens = session.state.listens;
        out.listens(conn, session.told_listens);
    }
}

/// The handler that runs where the keys are, if there is one.
pub(crate) fn local_handler(run: Run) -> Option<LocalFn> {
    match run {
        Run::Local(handler) => Some(handler),
        Run::Journey(journey) => Some(journey.alone),
        Run::Plan(plan) => Some(plan.together),
        Run::Transaction(Transaction::Watch(handler)) => Some(handler),
        Run::Home(_) | Run::Everywhere(_) | Run::Transaction(_) | Run::Publish(_) | Run::Container => None,
    }
}
