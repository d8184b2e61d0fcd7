//! Many seeds on all cores, and what came of them: failures with their seeds, and the rare paths that
//! were taken or never reached.

use crate::run::{Options, Outcome, run};
use shard::Marks;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Seeds to run.
#[derive(Clone, Copy, Debug)]
pub struct Campaign {
    /// The first seed.
    pub first: u64,
    /// How many.
    pub seeds: u64,
    /// How many shards.
    pub shards: u16,
    /// Stop at so many failures.
    pub failures_max: usize,
    /// How each is run.
    pub options: Options,
}

/// What a campaign came to.
#[derive(Default, Debug)]
pub struct Summary {
    /// Seeds that ended well.
    pub passed: u64,
    /// The others.
    pub failures: Vec<Outcome>,
    /// Rare paths, all seeds together.
    pub marks: Marks,
    /// Requests, all seeds together.
    pub requests: u64,
    /// Searches that were given up.
    pub unknown: u64,
}

/// A run keeps its search for an order on the stack.
const STACK_BYTES: usize = 64 << 20;

impl Campaign {
    /// Runs it on so many threads.
    pub fn run(&self, threads: usize) -> Summary {
        let next = AtomicU64::new(self.first);
        let summary = Mutex::new(Summary::default());
        std::thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                let worker = std::thread::Builder::new().stack_size(STACK_BYTES);
                let spawned = worker.spawn_scoped(scope, || self.work(&next, &summary));
                spawned.expect("a thread for a worker");
            }
        });
        let mut summary = summary.into_inner().expect("no worker panicked");
        summary.failures.sort_by_key(|outcome| outcome.seed);
        summary
    }

    fn work(&self, next: &AtomicU64, summary: &Mutex<Summary>) {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= self.first + self.seeds {
                return;
            }
            let outcome = run(seed, self.shards, self.options);
            let mut summary = summary.lock().expect("no worker panicked");
            if summary.failures.len() >= self.failures_max {
                return;
            }
            summary.marks.add(&outcome.marks);
            summary.requests += outcome.requests as u64;
            summary.unknown += u64::from(outcome.unknown);
            if outcome.failure.is_some() {
                summary.failures.push(outcome);
            } else {
                summary.passed += 1;
            }
        }
    }
}

/// Marks that one shard alone cannot reach: nothing is divided, no ring is there, all ids are its own.
const WITH_OTHERS: [&str; 19] = [
    "grown_in_part",
    "anew_in_vain",
    "blocked_on_several",
    "exec_plan",
    "heard_far",
    "published_behind",
    "gone_while_subscribing",
    "exec_stages",
    "offer_behind_offer",
    "offer_declined",
    "offer_taken",
    "split",
    "split_behind_split",
    "plan",
    "reservation_refused",
    "reservation_retried",
    "ring_full",
    "served_anew",
    "unsettled",
];

impl Summary {
    /// Rare paths that should have been taken and were not.
    pub fn unreached(&self, shards: u16) -> Vec<&'static str> {
        let missing = self.marks.each().into_iter().filter(|(_, count)| *count == 0);
        missing.map(|(name, _)| name).filter(|name| shards > 1 || !WITH_OTHERS.contains(name)).collect()
    }
}
