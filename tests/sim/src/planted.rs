//! Bugs planted on purpose: each must be caught by the oracles within so many seeds. It knows which
//! numbers of shards a bug shows with, and nothing of how it is made.

use crate::campaign::Campaign;
use crate::plan::HouseBug;
use crate::run::Options;
use shard::Bug;

/// Seeds within which a planted bug must be caught.
pub const SEEDS_MAX: u64 = 1_000;

/// Numbers of shards that are tried in turn.
const SHARDS: [u16; 3] = [2, 3, 8];

/// Bugs of the house around the shards.
const OF_HOUSE: [HouseBug; 4] =
    [HouseBug::SettledAfterDrain, HouseBug::PublishedEarly, HouseBug::DrainBudget, HouseBug::ChokesBackwards];

/// What became of a planted bug.
#[derive(Clone, Debug)]
pub struct Caught {
    /// Its name.
    pub name: String,
    /// The first seed that caught it, with how many shards and how.
    pub by: Option<(u64, u16, String)>,
}

/// Plants each bug, or those named, in turn and looks for a seed that catches it.
pub fn hunt_all(threads: usize, bugs: &[String]) -> impl Iterator<Item = Caught> {
    let of_shards = Bug::ALL
        .iter()
        .map(|bug| (format!("{bug:?}"), Options { shard_bug: Some(*bug), ..Options::default() }));
    let of_house = OF_HOUSE
        .iter()
        .map(|bug| (format!("{bug:?} (house)"), Options { house_bug: Some(*bug), ..Options::default() }));
    let wanted = |bug: &(String, Options)| bugs.is_empty() || bugs.contains(&bug.0);
    of_shards
        .chain(of_house)
        .filter(wanted)
        .map(move |(name, options)| Caught { name, by: hunt(options, threads) })
}

fn hunt(options: Options, threads: usize) -> Option<(u64, u16, String)> {
    const STRIDE: u64 = 20;
    for first in (0..SEEDS_MAX).step_by(STRIDE as usize) {
        for shards in SHARDS {
            let campaign = Campaign { first, seeds: STRIDE, shards, failures_max: 1, options };
            if let Some(outcome) = campaign.run(threads).failures.into_iter().next() {
                return Some((outcome.seed, shards, outcome.failure.unwrap_or_default()));
            }
        }
    }
    None
}
