//! Every bug that can be planted is caught. Only where shards are built for it: `--features planted`.
#![cfg(feature = "planted")]

#[test]
fn every_planted_bug_is_caught() {
    corelane_sim::hush_panics();
    let missed: Vec<_> =
        corelane_sim::planted::hunt_all(2, &[]).filter(|bug| bug.by.is_none()).map(|bug| bug.name).collect();
    assert!(missed.is_empty(), "not caught: {missed:?}");
}
