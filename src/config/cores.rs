//! Settings of cores, shards and the keyspace.

use super::cpus;
use spec::setting::{Change, HashFunction, Kind, PipelineOrder, Poll, Priority, Setting};

/// How work is laid over the machine.
pub(super) const GROUP: &[Setting] = &[
    Setting::new(
        "shards",
        Kind::Auto { max: 256 },
        "auto",
        "Number of shards; auto takes one a physical core",
    )
    .change(Change::Restart),
    Setting::new(
        "cpu",
        Kind::Text,
        "",
        "CPUs to pin shards to, such as 0-3,8 or 0-15:2; empty for all allowed ones",
    )
    .change(Change::Restart)
    .check(cpus::check),
    Setting::new("pin", Kind::Bool, "yes", "Pin each shard to its CPU").change(Change::Restart),
    Setting::new(
        "poll",
        Kind::Choice(Poll::NAMES),
        "adaptive",
        "How a core waits: spin, spin then sleep, or sleep",
    )
    .live(|live, value| live.poll = Poll::at(value.choice())),
    Setting::new(
        "poll-spin-us",
        Kind::Integer { min: 0, max: 1_000_000 },
        "50",
        "Microseconds that an adaptive core spins before it sleeps",
    )
    .change(Change::Restart),
    Setting::new(
        "priority",
        Kind::Choice(Priority::NAMES),
        "fair",
        "Divide a core among transports in rotation, or strictly in the order they are named",
    )
    .live(|live, value| live.priority = Priority::at(value.choice())),
    Setting::new(
        "pipeline-order",
        Kind::Choice(PipelineOrder::NAMES),
        "strict",
        "Requests of one connection take effect in order across shards, or may overlap",
    )
    .live(|live, value| live.pipeline_order = PipelineOrder::at(value.choice())),
    Setting::new(
        "hash-function",
        Kind::Choice(HashFunction::NAMES),
        "ahash",
        "Keyed hash of the key table; siphash where clients are hostile",
    )
    .change(Change::Restart),
    Setting::new("databases", Kind::Integer { min: 1, max: 16_384 }, "16", "Databases that SELECT knows")
        .apply(|live, value| live.databases = value.count32()),
    // Timers have deadlines of their own here; INFO shows it.
    Setting::new("hz", Kind::Clamped { min: 1, max: 500 }, "10", "Timer ticks a second")
        .pending()
        .live(|live, value| live.hz = value.count32()),
    Setting::new("dynamic-hz", Kind::Bool, "yes", "Tick more often with many clients").accepted(),
    Setting::new(
        "cluster-redirect",
        Kind::Bool,
        "no",
        "On a shard's own port, answer MOVED for keys of other shards instead of fetching them",
    )
    .pending()
    .live(|live, value| live.cluster_redirect = value.flag()),
];
