//! The shard as its own commands see it.

use crate::actor::Shard;
use commands::{Caller, Catalog, Ctx, Facts, House, Job, PauseMode, Random, SessionState, Topics};
use spec::Settings;
use std::sync::Arc;
use store::Store;
use telemetry::{Block, Snapshot};

impl House for Shard {
    fn now_ms(&self) -> i64 {
        self.now.ms()
    }

    fn now_us(&self) -> i64 {
        self.now.unix_us
    }

    fn shard(&self) -> u16 {
        self.index
    }

    fn shards(&self) -> u16 {
        self.shards
    }

    fn catalog(&self) -> &'static Catalog {
        self.catalog
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn settings_mut(&mut self) -> &mut Settings {
        self.cron.settings_changed();
        &mut self.settings
    }

    fn store(&mut self) -> &mut Store {
        &mut self.store
    }

    fn ctx(&mut self, caller: Caller) -> Ctx<'_> {
        Ctx {
            store: &mut self.store,
            live: &self.settings.live,
            now: self.now.ms(),
            caller,
            seat: self.seat,
            random: &mut self.random,
            effects: &mut self.effects,
            watched: &mut self.watched,
            hashed: commands::Hashed::NONE,
        }
    }

    fn topics(&mut self) -> &mut Topics {
        &mut self.topics
    }

    fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    fn blocks(&self) -> &[Arc<Block>] {
        &self.blocks
    }

    fn totals(&mut self) -> Snapshot {
        self.count_effects();
        self.refresh_gauges();
        self.gather_ran();
        let mut sum = Snapshot::of(self.blocks.iter().map(|block| &**block));
        // What ran in this tick is counted when its time is known.
        sum.counters.commands.add(self.ran_total);
        for (number, count) in &self.ran {
            sum.commands[usize::from(*number)].calls += u64::from(*count);
        }
        match &self.base {
            Some(base) => sum.since(base),
            None => sum,
        }
    }

    fn reset_totals(&mut self) {
        self.base = None;
        self.base = Some(self.totals());
    }

    fn sessions(&mut self, visit: &mut dyn FnMut(&mut SessionState)) {
        for (_, session) in self.sessions.iter_mut() {
            visit(&mut session.state);
        }
    }

    fn kill(&mut self, id: u64) -> bool {
        let found = self.sessions.iter_mut().find(|(_, session)| session.state.id == id);
        let Some((conn, session)) = found else {
            return false;
        };
        session.state.closing = true;
        self.kills.push(conn);
        true
    }

    fn unblock(&mut self, id: u64, error: bool) -> bool {
        let found = self.sessions.iter_mut().find(|(_, session)| session.state.id == id);
        let Some((conn, session)) = found else { return false };
        self.waits.unblock(conn, session, error)
    }

    fn pause(&mut self, until: Option<(i64, PauseMode)>) {
        self.pause = until;
        self.pause_began = until.is_some();
    }

    fn active_expiry(&mut self, on: bool) {
        self.active_expiry = on;
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn pause_cron(&mut self, paused: bool) {
        self.cron.pause(paused);
    }

    fn order(&mut self, job: Job) {
        self.jobs.push(job);
    }
}
