//! WATCH: which keys a client guards, who tells the shards that they no longer matter, and which keys a
//! command has changed. What is watched on this shard is kept by `commands::Watched`.

use crate::actor::Shard;
use crate::outbox::Outbox;
use crate::parcel::{Parcel, Run};
use crate::planted::Bug;
use crate::session::Session;
use crate::txn::works::Work;
use commands::{Args, Caller, Hashed, Key, LocalFn, Transaction};
use spec::Flags;

/// A key that a client watches, as its home knows it: enough to lock it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Guard {
    /// Where it lives.
    pub owner: u16,
    /// Its hash.
    pub hash: u64,
}

/// A key that a command may write, and that somebody watches.
struct Suspect<'a> {
    key: Key<'a>,
    was_there: bool,
}

impl Shard {
    /// WATCH is on its way: notes where its keys are.
    pub(crate) fn guard(&mut self, session: &mut Session, args: Args<'_>) {
        for key in args.from(1) {
            let guard = Guard { owner: self.owner(key), hash: self.store.hasher().hash(key) };
            if !session.guards.contains(&guard) {
                session.guards.push(guard);
            }
        }
    }

    /// A client watches nothing any more; what comes is another round.
    pub(crate) fn unguard(&mut self, session: &mut Session) {
        if session.guards.is_empty() {
            return;
        }
        let (client, round) = (session.state.id, session.watch_round);
        let mut owners: Vec<u16> = session.guards.drain(..).map(|guard| guard.owner).collect();
        owners.sort_unstable();
        owners.dedup();
        session.watch_round = round.wrapping_add(1);
        for owner in owners {
            if owner == self.index {
                self.watched.forget(client, round);
            } else {
                self.block.parcels_sent.add(1);
                self.outgoing[owner as usize].push_back(Parcel::Unwatch { client, round });
                self.outgoing_len += 1;
            }
        }
    }

    /// A client has gone while its WATCH was away: what has begun to be watched behind its end is forgotten.
    pub(crate) fn unwatch_after<O: Outbox>(&mut self, run: &Run, out: &mut O) {
        let watches = |number: u16| {
            let run = self.catalog.entry(number).command.run;
            matches!(run, commands::Run::Transaction(Transaction::Watch(_)))
        };
        if run.steps.iter().any(|step| watches(step.number)) {
            self.unwatch_at(run.shard, run.caller, out);
        }
    }

    /// The same where WATCH was divided.
    pub(super) fn unwatch_parts<O: Outbox>(&mut self, work: &Work, out: &mut O) {
        let run = self.catalog.entry(work.number).command.run;
        if matches!(run, commands::Run::Transaction(Transaction::Watch(_))) {
            work.parts.iter().for_each(|part| self.unwatch_at(part.shard, work.caller, out));
        }
    }

    /// Has a shard forget what a client watches there.
    pub(crate) fn unwatch_at<O: Outbox>(&mut self, shard: u16, caller: Caller, out: &mut O) {
        let (client, round) = (caller.client, caller.watch_round);
        if shard == self.index {
            self.watched.forget(client, round);
        } else {
            self.send(shard, Parcel::Unwatch { client, round }, out);
        }
    }

    /// Whether a key that a client watches here has changed; then it watches nothing here any more.
    pub(crate) fn end_watch(&mut self, client: u64, round: u32) -> bool {
        let now = self.now.ms();
        let blind = self.planted(Bug::WatchMissesExpiry);
        let store = &mut self.store;
        let moved = self.watched.has_moved(client, round, |db, key| {
            blind || store.find_untouched(usize::from(db), key, now).is_some()
        });
        self.watched.forget(client, round);
        moved
    }

    /// A command has changed keys: tells those who watch one that it may write.
    pub(super) fn touch_written(&mut self, number: u16, caller: Caller, args: Args<'_>) {
        let catalog = self.catalog;
        for keys in catalog.entry(number).command.keys.iter().filter(|keys| keys.access.writes()) {
            let touch = |at| self.watched.touch(caller.db, self.store.key(args.get(at)));
            let _ = keys.visit(args.len(), |at| args.get(at), touch);
        }
    }

    /// Calls a handler while keys are watched: those that it changes are told. While a pause lasts, those that only
    /// read let expired keys stay.
    #[cold]
    pub(crate) fn call_attended(
        &mut self,
        number: u16,
        handler: LocalFn,
        caller: Caller,
        args: Args<'_>,
        hashed: Hashed,
    ) {
        let (db, now) = (usize::from(caller.db), self.now.ms());
        let mut suspects: Vec<Suspect<'_>> = Vec::new();
        let (catalog, mut count) = (self.catalog, 0);
        for keys in catalog.entry(number).command.keys.iter().filter(|keys| keys.access.writes()) {
            let good = keys.visit(args.len(), |at| args.get(at), |_| ()).is_ok();
            let _ = keys.visit(
                args.len(),
                |at| args.get(at),
                |at| {
                    count += 1;
                    let key = hashed.key(args.get(at)).unwrap_or_else(|| self.store.key(args.get(at)));
                    if good && self.watched.is_watched(caller.db, key) {
                        let was_there = self.store.find_untouched(db, key, now).is_some();
                        suspects.push(Suspect { key, was_there });
                    }
                },
            );
        }
        let dirty = self.effects.dirty;
        let writes = catalog.entry(number).command.flags.has(Flags::WRITE);
        self.store.keep_expired(self.pause.is_some() && !writes);
        self.call_unattended(handler, caller, args, hashed);
        self.store.keep_expired(false);
        if self.effects.dirty == dirty || self.planted(Bug::WritesUntold) {
            return;
        }
        for Suspect { key, was_there } in suspects {
            // Of several keys, one that neither was there nor is has not been changed.
            if count == 1 || was_there || self.store.find_untouched(db, key, now).is_some() {
                self.watched.touch(caller.db, key);
            }
        }
        if self.watched.awaited().has_changed() {
            self.hold_changed();
        }
    }
}
