//! One seed from its first step to its verdict. Panics of the system under test are verdicts too.

use crate::plan::{HouseBug, Plan};
use crate::random::Random;
use crate::trace::Trace;
use crate::world::World;
use commands::Catalog;
use shard::Marks;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// What one seed came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// How many shards it ran with.
    pub shards: u16,
    /// What is wrong, if anything.
    pub failure: Option<String>,
    /// Rare paths that were taken.
    pub marks: Marks,
    /// Requests that were sent.
    pub requests: usize,
    /// The search for an order of the history was given up.
    pub unknown: bool,
    /// The last steps, where they were asked for.
    pub trace: String,
}

/// How a seed is run.
#[derive(Clone, Copy, Default, Debug)]
pub struct Options {
    /// Keep a trace.
    pub trace: bool,
    /// A mistake of the house.
    pub house_bug: Option<HouseBug>,
    /// A mistake of the shards.
    #[cfg(feature = "planted")]
    pub shard_bug: Option<shard::Bug>,
}

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps panics of runs from the terminal: they are told with their seed.
pub fn hush_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |place| format!(" at {place}"));
        let text = info.payload_as_str().unwrap_or("no text");
        PANIC.with_borrow_mut(|panic| *panic = Some(format!("panic{place}: {text}")));
    }));
}

/// All commands, made once.
pub(crate) fn catalog() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| Catalog::new(&commands::all()))
}

/// Runs one seed.
pub fn run(seed: u64, shards: u16, options: Options) -> Outcome {
    let mut random = Random::new(seed.wrapping_mul(64).wrapping_add(u64::from(shards)));
    let plan = Plan::new(&mut random, shards, options.house_bug);
    let mut trace = Trace::new(options.trace);
    trace.note(|| format!("{plan:?}"));
    let mut world = World::new(plan, random, catalog(), trace);
    #[cfg(feature = "planted")]
    world.nodes.iter_mut().for_each(|node| node.shard.plant = options.shard_bug);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        world.load()?;
        world.finish()
    }));
    let ended =
        ended.unwrap_or_else(|_| Err(PANIC.with_borrow_mut(Option::take).unwrap_or_else(|| "panic".into())));
    let outcome = Outcome {
        seed,
        shards,
        failure: ended.as_ref().err().cloned(),
        marks: world.marks(),
        requests: world.requests,
        unknown: ended.unwrap_or(false),
        trace: world.trace.text(),
    };
    if outcome.failure.is_some() {
        // A shard that panicked may be in no state to be taken apart.
        std::mem::forget(world);
    }
    outcome
}
