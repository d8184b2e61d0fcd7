//! INFO's sections Stats and Keyspace.

use super::figures::{Figures, line, lines};
use crate::home::House;
use crate::pubsub::TopicKind;

/// What is listened to.
const PUBSUB: [(&str, TopicKind); 3] = [
    ("pubsub_channels", TopicKind::Channel),
    ("pubsub_patterns", TopicKind::Pattern),
    ("pubsubshard_channels", TopicKind::Shard),
];

pub(super) fn stats(house: &mut dyn House, figures: &Figures, text: &mut String) {
    let counters = &figures.totals.counters;
    line(text, "total_connections_received", counters.connections_received.read());
    line(text, "total_commands_processed", counters.commands.read());
    line(text, "instantaneous_ops_per_sec", counters.commands_per_second.read());
    line(text, "total_net_input_bytes", counters.bytes_in.read());
    line(text, "total_net_output_bytes", counters.bytes_out.read());
    lines(text, &["total_net_repl_input_bytes", "total_net_repl_output_bytes"], 0);
    line(text, "instantaneous_input_kbps", kilobytes(counters.bytes_in_per_second.read()));
    line(text, "instantaneous_output_kbps", kilobytes(counters.bytes_out_per_second.read()));
    lines(text, &["instantaneous_input_repl_kbps", "instantaneous_output_repl_kbps"], "0.00");
    line(text, "rejected_connections", counters.connections_rejected.read());
    lines(text, &["sync_full", "sync_partial_ok", "sync_partial_err"], 0);
    line(text, "expired_keys", counters.expired_keys.read());
    line(text, "expired_subkeys", counters.expired_fields.read());
    line(text, "expired_stale_perc", "0.00");
    line(text, "expired_time_cap_reached_count", counters.expire_slices_full.read());
    line(text, "expire_cycle_cpu_milliseconds", 0);
    line(text, "evicted_keys", counters.evicted_keys.read());
    line(text, "evicted_clients", 0);
    lines(text, &["total_eviction_exceeded_time", "current_eviction_exceeded_time"], 0);
    line(text, "keyspace_hits", counters.keyspace_hits.read());
    line(text, "keyspace_misses", counters.keyspace_misses.read());
    for (name, kind) in PUBSUB {
        line(text, name, house.topics().count(kind));
    }
    lines(text, &["latest_fork_usec", "total_forks", "migrate_cached_sockets"], 0);
    line(text, "slave_expires_tracked_keys", 0);
    lines(text, &["active_defrag_hits", "active_defrag_misses"], 0);
    lines(text, &["active_defrag_key_hits", "active_defrag_key_misses"], 0);
    lines(text, &["total_active_defrag_time", "current_active_defrag_time"], 0);
    lines(text, &["tracking_total_keys", "tracking_total_items", "tracking_total_prefixes"], 0);
    line(text, "unexpected_error_replies", 0);
    line(text, "total_error_replies", counters.error_replies.read());
    line(text, "dump_payload_sanitizations", 0);
    line(text, "total_reads_processed", counters.reads.read());
    line(text, "total_writes_processed", counters.writes.read());
    lines(text, &["io_threaded_reads_processed", "io_threaded_writes_processed"], 0);
    lines(text, &["reply_buffer_shrinks", "reply_buffer_expands"], 0);
}

fn kilobytes(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / 1024.0)
}

/// Databases that hold something. Nobody keeps the mean time to live: 0 is Redis's word for unknown.
pub(super) fn keyspace(_: &mut dyn House, figures: &Figures, text: &mut String) {
    let counters = &figures.totals.counters;
    for (db, (keys, volatile)) in counters.keys.iter().zip(&counters.volatile_keys).enumerate() {
        let (keys, volatile) = (keys.read(), volatile.read());
        if keys > 0 {
            line(text, &format!("db{db}"), format_args!("keys={keys},expires={volatile},avg_ttl=0"));
        }
    }
}
