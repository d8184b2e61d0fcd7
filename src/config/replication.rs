//! Settings of replication and cluster. Neither is built yet: what clients read and write back is
//! accepted, what would promise a copy of the data is refused.

use super::{COUNT, COUNT32, MAX, SECONDS};
use spec::setting::{Effect, Kind, Setting};

const PORT: Kind = Kind::Integer { min: 0, max: 65_535 };
const COUNTED: Kind = Kind::Integer { min: 0, max: COUNT32 };

/// Replicas and cluster nodes.
pub(super) const GROUP: &[Setting] = &[
    Setting::new("replicaof", Kind::Words { max: 2 }, "", "Host and port of a server to copy")
        .alias("slaveof")
        .default_only(),
    Setting::new("masterauth", Kind::Text, "", "Password for the server to copy").accepted().sensitive(),
    Setting::new("masteruser", Kind::Text, "", "User name for the server to copy").accepted().sensitive(),
    Setting::new("min-replicas-to-write", COUNTED, "0", "Replicas without which writes are refused")
        .alias("min-slaves-to-write")
        .accepted(),
    Setting::new("min-replicas-max-lag", COUNTED, "10", "Seconds after which a replica counts as lost")
        .alias("min-slaves-max-lag")
        .accepted(),
    Setting::new(
        "repl-backlog-size",
        Kind::Memory { min: 1, max: MAX },
        "1mb",
        "Bytes kept for replicas that return",
    )
    .accepted(),
    Setting::new(
        "repl-backlog-ttl",
        Kind::Integer { min: 0, max: COUNT },
        "3600",
        "Seconds the backlog is kept",
    )
    .accepted(),
    Setting::new("repl-disable-tcp-nodelay", Kind::Bool, "no", "Let the kernel gather output to replicas")
        .accepted(),
    Setting::new(
        "repl-diskless-load",
        Kind::Choice(&["disabled", "on-empty-db", "swapdb"]),
        "disabled",
        "Load a copy without a file",
    )
    .accepted(),
    Setting::new("repl-diskless-sync", Kind::Bool, "yes", "Send a copy without a file").accepted(),
    Setting::new("repl-diskless-sync-delay", SECONDS, "5", "Seconds to wait for more replicas").accepted(),
    Setting::new("repl-diskless-sync-max-replicas", COUNTED, "0", "Replicas that are enough to start")
        .accepted(),
    Setting::new(
        "repl-ping-replica-period",
        Kind::Integer { min: 1, max: COUNT32 },
        "10",
        "Seconds between pings to replicas",
    )
    .alias("repl-ping-slave-period")
    .accepted(),
    Setting::new(
        "repl-timeout",
        Kind::Integer { min: 1, max: COUNT32 },
        "60",
        "Seconds until a link counts as lost",
    )
    .accepted(),
    Setting::new("replica-announce-ip", Kind::Text, "", "Address that a replica tells")
        .alias("slave-announce-ip")
        .accepted(),
    Setting::new("replica-announce-port", PORT, "0", "Port that a replica tells")
        .alias("slave-announce-port")
        .accepted(),
    Setting::new("replica-announced", Kind::Bool, "yes", "Show this replica to Sentinel").accepted(),
    Setting::new("replica-ignore-disk-write-errors", Kind::Bool, "no", "Go on where a replica cannot write")
        .accepted(),
    Setting::new("replica-ignore-maxmemory", Kind::Bool, "yes", "A replica leaves eviction to its master")
        .alias("slave-ignore-maxmemory")
        .accepted(),
    Setting::new("replica-lazy-flush", Kind::Bool, "no", "A replica frees its old data in slices")
        .alias("slave-lazy-flush")
        .accepted(),
    Setting::new("replica-priority", COUNTED, "100", "Rank for promotion; 0 for never")
        .alias("slave-priority")
        .accepted(),
    Setting::new("replica-read-only", Kind::Bool, "yes", "A replica refuses writes")
        .alias("slave-read-only")
        .accepted(),
    Setting::new("replica-serve-stale-data", Kind::Bool, "yes", "A replica without its master still serves")
        .alias("slave-serve-stale-data")
        .accepted(),
    Setting::new(
        "propagation-error-behavior",
        Kind::Choice(&["ignore", "panic", "panic-on-replicas"]),
        "ignore",
        "What an error in the replication stream does",
    )
    .accepted(),
    Setting::new("cluster-enabled", Kind::Bool, "no", "Join other servers in a cluster").default_only(),
    Setting::new("cluster-config-file", Kind::Text, "nodes.conf", "File of the cluster's nodes")
        .effect(Effect::AcceptedOnly),
    Setting::new("cluster-port", PORT, "0", "Port of the cluster bus").effect(Effect::AcceptedOnly),
    Setting::new(
        "cluster-node-timeout",
        Kind::Integer { min: 0, max: COUNT },
        "15000",
        "Milliseconds until a node is lost",
    )
    .accepted(),
    Setting::new("cluster-announce-ip", Kind::Text, "", "Address that cluster clients are told").accepted(),
    Setting::new("cluster-announce-hostname", Kind::Text, "", "Host name that cluster clients are told")
        .accepted(),
    Setting::new("cluster-announce-human-nodename", Kind::Text, "", "Name of this node for humans")
        .accepted(),
    Setting::new("cluster-announce-port", PORT, "0", "Port that cluster clients are told").accepted(),
    Setting::new("cluster-announce-bus-port", PORT, "0", "Bus port that nodes are told").accepted(),
    Setting::new("cluster-announce-tls-port", PORT, "0", "TLS port that cluster clients are told").accepted(),
    Setting::new(
        "cluster-preferred-endpoint-type",
        Kind::Choice(&["ip", "hostname", "unknown-endpoint"]),
        "ip",
        "How nodes are named to clients",
    )
    .accepted(),
    Setting::new(
        "cluster-require-full-coverage",
        Kind::Bool,
        "yes",
        "Refuse all keys while a slot has no node",
    )
    .accepted(),
    Setting::new("cluster-allow-reads-when-down", Kind::Bool, "no", "Serve reads while the cluster is down")
        .accepted(),
    Setting::new(
        "cluster-allow-pubsubshard-when-down",
        Kind::Bool,
        "yes",
        "Serve sharded pub/sub while it is down",
    )
    .accepted(),
    Setting::new(
        "cluster-allow-replica-migration",
        Kind::Bool,
        "yes",
        "Let replicas move to masters without",
    )
    .accepted(),
    Setting::new("cluster-migration-barrier", COUNTED, "1", "Replicas a master keeps").accepted(),
    Setting::new(
        "cluster-link-sendbuf-limit",
        Kind::Memory { min: 0, max: MAX },
        "0",
        "Bytes unsent on a bus link",
    )
    .accepted(),
    Setting::new("cluster-replica-no-failover", Kind::Bool, "no", "A replica is never promoted")
        .alias("cluster-slave-no-failover")
        .accepted(),
    Setting::new(
        "cluster-replica-validity-factor",
        COUNTED,
        "10",
        "Staleness up to which a replica is promoted",
    )
    .alias("cluster-slave-validity-factor")
    .accepted(),
];
