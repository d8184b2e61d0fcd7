//! The end of a tick: answers that were set aside, timers, expiry in bounded slices, gauges.

use crate::actor::Shard;
use crate::outbox::{Now, Outbox};
use crate::parcel::lock_of;
use crate::planted::Bug;
use crate::rates::Rates;
use crate::session::{Hold, Session};
use crate::txn::Want;
use spec::setting::Events;
use store::Notes;
use telemetry::Block;

/// What the periodic work remembers.
#[derive(Default, Debug)]
pub(crate) struct Cron {
    /// Unix milliseconds of the next expiry slice.
    expire_ms: i64,
    /// The last expiry slice found nothing.
    expires_little: bool,
    /// Unix milliseconds of the next look at idle clients.
    idle_ms: i64,
    /// Monotonic nanoseconds of the next refresh of slow gauges.
    gauges_ns: u64,
    /// Slot where the look at idle clients goes on.
    idle_slot: usize,
    /// Memory is still to be freed.
    reclaiming: bool,
    /// Something has happened since slow gauges were refreshed.
    stale: bool,
    /// DEBUG PAUSE-CRON.
    paused: bool,
    /// Settings may have changed of which others must be told.
    settings_changed: bool,
    /// What happens a second.
    rates: Rates,
}

impl Cron {
    /// There is memory to be freed before anybody sleeps.
    pub(crate) fn reclaim_soon(&mut self) {
        self.reclaiming = true;
    }

    pub(crate) fn pause(&mut self, paused: bool) {
        self.paused = paused;
    }

    pub(crate) fn settings_changed(&mut self) {
        self.settings_changed = true;
    }
}

/// Monotonic nanoseconds between refreshes of slow gauges.
const GAUGES_NS: u64 = 100_000_000;

/// Buckets looked at in one expiry slice at most, for each step of `active-expire-effort`.
const EXPIRE_BUCKETS: usize = 256;
/// Milliseconds between expiry slices that find little.
const EXPIRE_PAUSE_MS: i64 = 50;
/// How much longer a core may sleep over an expiry slice when the last one found nothing.
const EXPIRE_SLEEP_MS: i64 = 150;
/// Entries freed in one slice at most.
const RECLAIM_ENTRIES: usize = 128;
/// Clients looked at for idleness in one slice at most.
const IDLE_SLOTS: usize = 64;

impl Shard {
    /// What has been said and not told by the end of a tick, and to the store what it is to note.
    #[cold]
    fn tell_what_is_left<O: Outbox>(&mut self, out: &mut O) {
        if std::mem::take(&mut self.cron.settings_changed) {
            let told = self.settings.live.notify_events;
            self.store.note_keys(Notes {
                expired: told.intersects(Events::EXPIRED),
                fields: told.intersects(Events::HASH),
                emptied: told.intersects(Events::GENERIC),
                created: told.intersects(Events::NEW),
            });
        }
        self.say(None, out);
        self.tell_forgotten(out);
    }

    /// Everything that is due besides input: own parts, released seals, timers, expiry. Bounded.
    pub fn turn<O: Outbox>(&mut self, now: Now, out: &mut O) {
        self.now = now;
        for _ in 0..self.own.len() {
            if let Some(part) = self.own.pop_front() {
                self.take_part(part, out);
            }
        }
        if self.waits.is_busy() || self.watched.awaited().has_changed() {
            self.tend_waits(out);
        }
        self.release(out);
        self.end_pause(out);
        self.end_timers(out);
        for _ in 0..self.resume.len() {
            if let Some(conn) = self.resume.pop_front()
                && let Some(mut session) = self.sessions.take(conn)
            {
                assert!(session.hold == Hold::Turn, "who goes on has been held for it");
                session.hold = if session.choked { Hold::Choked } else { Hold::None };
                self.go_on(conn, session, out);
            }
        }
        // Most ticks find these lists empty, and an empty drain costs more than a look.
        if !self.kills.is_empty() {
            self.kills.drain(..).for_each(|killed| out.close(killed, false));
        }
        if !self.jobs.is_empty() {
            self.jobs.drain(..).for_each(|job| out.order(job, None));
        }
        if !self.cron.paused {
            // CLIENT PAUSE keeps the data as it is.
            if self.pause.is_none() {
                self.expire();
            }
            self.close_idle(out);
        }
        let untold = self.has_unsaid() | self.store.has_noted() | self.topics.has_forgotten();
        if untold | self.cron.settings_changed {
            self.tell_what_is_left(out);
        }
        self.reclaim();
        self.tell_room();
        self.cron.stale |= self.ran_total > 0 || self.cron.reclaiming;
        self.count_effects();
        self.block.blocked_clients.set((self.paused.len() + self.waits.blocked()) as u64);
        self.block.blocking_keys.set(self.watched.awaited().keys() as u64);
        if now.mono_ns >= self.cron.gauges_ns {
            self.cron.gauges_ns = now.mono_ns + GAUGES_NS;
            self.cron.stale = false;
            self.refresh_gauges();
            self.cron.rates.sample(now.mono_ns, &self.block);
        }
    }

    /// Counts what commands did besides their replies.
    pub(crate) fn count_effects(&mut self) {
        self.count_keys();
        if self.effects == commands::Effects::default() {
            return;
        }
        // What keys tell is not counted, and still to be told.
        let events = std::mem::take(&mut self.effects.events);
        let effects = std::mem::take(&mut self.effects);
        self.effects.events = events;
        self.block.changes.add(effects.dirty);
        self.block.keyspace_hits.add(effects.hits);
        self.block.keyspace_misses.add(effects.misses);
    }

    fn end_timers<O: Outbox>(&mut self, out: &mut O) {
        let now = self.now.ms();
        while let Some(place) = self.timers.iter().position(|(time, ..)| *time <= now) {
            let (_, ticket, reply) = self.timers.swap_remove(place);
            self.answer(ticket, &reply, false, out);
        }
    }

    fn expire(&mut self) {
        if !self.active_expiry || self.now.ms() < self.cron.expire_ms {
            return;
        }
        let buckets = EXPIRE_BUCKETS * self.settings.live.active_expire_effort as usize;
        // What a transaction holds stays as it was at its moment.
        let intents = &self.remote.intents;
        let spared = |hash| !intents.is_clear() && intents.sealed(Want { lock: lock_of(hash), write: true });
        let report = self.store.expire_slice_but(self.now.ms(), buckets, spared);
        self.block.expire_slices.add(1);
        // Much was found: there is more. Else look again later.
        let busy = report.expired * 4 > report.met;
        if busy {
            self.block.expire_slices_full.add(1);
        }
        self.cron.expires_little = report.expired == 0;
        let pause = if busy { 1 } else { EXPIRE_PAUSE_MS };
        self.cron.expire_ms = self.now.ms() + pause;
    }

    fn reclaim(&mut self) {
        if self.planted(Bug::NeverFrees) {
            return;
        }
        self.cron.reclaiming = self.store.has_ruins() && self.store.reclaim(RECLAIM_ENTRIES);
    }

    fn close_idle<O: Outbox>(&mut self, out: &mut O) {
        let timeout_ms = self.settings.live.timeout_s as i64 * 1000;
        if timeout_ms == 0 || self.now.ms() < self.cron.idle_ms {
            return;
        }
        for _ in 0..IDLE_SLOTS.min(self.sessions.slots()) {
            self.cron.idle_slot = (self.cron.idle_slot + 1) % self.sessions.slots().max(1);
            if let Some((conn, session)) = self.sessions.at(self.cron.idle_slot) {
                let idle = !session.state.listens && self.now.ms() - session.state.active_ms > timeout_ms;
                if idle && session.waiting() == 0 && session.hold == Hold::None {
                    // What comes until the house has closed it is not run.
                    session.state.closing = true;
                    out.close(conn, true);
                }
            }
        }
        self.cron.idle_ms = self.now.ms() + 20;
    }

    /// Shows how many keys there are, and how many have expired.
    fn count_keys(&mut self) {
        let mut resized = self.store.take_resized();
        while resized != 0 {
            let db = resized.trailing_zeros() as usize;
            resized &= resized - 1;
            if db < telemetry::DATABASES {
                self.block.keys[db].set(self.store.len(db) as u64);
                self.block.volatile_keys[db].set(self.store.volatile(db) as u64);
            }
        }
        let counters = self.store.counters();
        self.block.expired_keys.set(counters.expired);
        self.block.expired_fields.set(counters.expired_fields + counters.met_fields);
    }

    pub(crate) fn refresh_gauges(&mut self) {
        let usage = self.store.bytes();
        self.block.memory_entries.set(usage.entries as u64 + usage.heap_buffers as u64);
        self.block.memory_tables.set(usage.tables as u64);
        let clients = self.sessions.len() * size_of::<Session>() + self.held_bytes + self.topics.bytes();
        self.block.memory_buffers.set(clients as u64);
        self.block.listening_clients.set(self.topics.clients() as u64);
        self.block.lazily_pending_keys.set(self.store.pending_keys() as u64);
        self.block.lazily_freed_keys.set(self.store.counters().lazily_freed);
        if self.index == 0 {
            let used = self.blocks.iter().map(|block| block.memory_total()).sum();
            self.block.memory_peak.raise(used);
        }
    }

    /// Tells the time that a batch of commands took together; each gets its share.
    pub fn took(&mut self, nanoseconds: u64) {
        if self.ran_total == 0 {
            return;
        }
        let share = nanoseconds / self.ran_total;
        self.gather_ran();
        let block: &Block = &self.block;
        block.commands.add(self.ran_total);
        block.local_commands.add(std::mem::take(&mut self.ran_here));
        block.rooms.execute.record_many(share, self.ran_total);
        for (number, count) in self.ran.drain(..) {
            let row = block.per_command.row(number);
            row.ran(u64::from(count), share * u64::from(count));
            if self.settings.live.latency_tracking {
                row.track(share);
            }
        }
        if share > self.settings.live.stall_threshold_us * 1000 {
            block.stalls.add(1);
        }
        self.ran_total = 0;
    }

    /// Commands that have run since `took` was last called.
    pub fn ran(&self) -> u64 {
        self.ran_total
    }

    /// There is work that no event will announce: the core must not sleep.
    pub fn is_restless(&self) -> bool {
        !self.own.is_empty()
            || !self.resume.is_empty()
            || self.outgoing_len > 0
            || self.waits.wants_service()
            || self.home.has_staged()
            || !self.remote.queue.is_empty()
            || !self.parked.is_empty() && !self.planted(Bug::SleepsOnParked)
            || self.remote.is_waiting()
            || self.cron.reclaiming
    }

    /// Unix milliseconds when `turn` is due even if nothing comes; `None`: only when something does.
    pub fn deadline(&self) -> Option<i64> {
        let pause = self.pause.map(|(until, _)| until);
        let timer = self.timers.iter().map(|(time, ..)| *time).min();
        let databases = 0..self.settings.live.databases as usize;
        let volatile =
            databases.into_iter().any(|db| self.store.volatile(db) > 0 || self.store.has_field_times(db));
        let may_expire = self.active_expiry && !self.cron.paused && self.pause.is_none();
        // A sleeping core wakes more rarely for what is likely to be nothing.
        let longer = if self.cron.expires_little { EXPIRE_SLEEP_MS } else { 0 };
        let expire = (volatile && may_expire).then_some(self.cron.expire_ms + longer);
        // Rates fall to zero while nothing happens: they are shown until they have.
        let is_behind = self.cron.stale || self.cron.rates.is_moving();
        let gauges = is_behind.then_some(self.now.ms() + (GAUGES_NS / 1_000_000) as i64);
        let idle =
            (self.settings.live.timeout_s > 0 && self.sessions.len() > 0).then_some(self.now.ms() + 500);
        [pause, timer, expire, idle, gauges, self.waits.deadline()].into_iter().flatten().min()
    }
}
