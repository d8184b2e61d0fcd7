//! A few seeds of every number of shards, for the inner loop; campaigns run many.

use corelane_sim::{Campaign, Options, hush_panics};

/// The first is that of the day the simulator came to be; none is special.
const FIRST: u64 = 40_000;

#[test]
fn a_few_seeds_hold_with_one_two_three_and_eight_shards() {
    hush_panics();
    for shards in [1, 2, 3, 8] {
        let campaign =
            Campaign { first: FIRST, seeds: 24, shards, failures_max: 3, options: Options::default() };
        let summary = campaign.run(2);
        let failures: Vec<_> =
            summary.failures.iter().map(|outcome| (outcome.seed, outcome.failure.as_ref())).collect();
        assert!(failures.is_empty(), "with {shards} shards: {failures:#?}");
        assert_eq!(summary.passed, 24);
    }
}

#[test]
fn a_seed_always_comes_to_the_same_end() {
    let once = corelane_sim::run(7, 3, Options { trace: true, ..Options::default() });
    let again = corelane_sim::run(7, 3, Options { trace: true, ..Options::default() });
    assert!(!once.trace.is_empty());
    assert_eq!((once.trace, once.marks, once.requests), (again.trace, again.marks, again.requests));
}
