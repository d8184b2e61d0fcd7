//! Every plain metric, declared once: its name outside, its help, its kind and where it lives in a
//! block. Prometheus text, copies, merges and docs derive from this table. Knows no format.

use crate::{Counter, Counters, DATABASES};

/// Whether a number only grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Grows from the start of the process; never reset.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// Finds one number in a block.
pub type Field = fn(&Counters) -> &Counter;

/// The series a metric has within one shard.
#[derive(Clone, Copy, Debug)]
pub enum Series {
    /// One number.
    One(Field),
    /// One number for each value of a label.
    Labelled(&'static str, &'static [(&'static str, Field)]),
    /// One number for each database, label `db`, values `db0` to `db15`.
    PerDatabase(fn(&Counters) -> &[Counter; DATABASES]),
}

/// A label and its value.
pub type Label = (&'static str, &'static str);

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Full name, with prefix `corelane_`, and `_total` where it is a counter.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Counter or gauge.
    pub kind: Kind,
    /// Where its numbers are.
    pub series: Series,
}

const DATABASE_NAMES: [&str; DATABASES] = [
    "db0", "db1", "db2", "db3", "db4", "db5", "db6", "db7", "db8", "db9", "db10", "db11", "db12", "db13",
    "db14", "db15",
];

impl Metric {
    const fn counter(name: &'static str, help: &'static str, field: Field) -> Metric {
        Metric { name, help, kind: Kind::Counter, series: Series::One(field) }
    }

    const fn gauge(name: &'static str, help: &'static str, field: Field) -> Metric {
        Metric { name, help, kind: Kind::Gauge, series: Series::One(field) }
    }

    const fn with(name: &'static str, help: &'static str, kind: Kind, series: Series) -> Metric {
        Metric { name, help, kind, series }
    }

    /// Visits every number of this metric, with its label where it has one; always in one order.
    pub fn each<'a>(&self, counters: &'a Counters, mut visit: impl FnMut(Option<Label>, &'a Counter)) {
        match self.series {
            Series::One(field) => visit(None, field(counters)),
            Series::Labelled(label, fields) => {
                for &(value, field) in fields {
                    visit(Some((label, value)), field(counters));
                }
            }
            Series::PerDatabase(fields) => {
                for (counter, name) in fields(counters).iter().zip(DATABASE_NAMES) {
                    visit(Some(("db", name)), counter);
                }
            }
        }
    }
}

/// All metrics, in the order they are shown.
pub static CATALOG: &[Metric] = &[
    Metric::counter("corelane_commands_total", "Commands processed.", |c| &c.commands),
    Metric::counter("corelane_keyspace_hits_total", "Look-ups that found a key.", |c| &c.keyspace_hits),
    Metric::counter("corelane_keyspace_misses_total", "Look-ups that found no key.", |c| &c.keyspace_misses),
    Metric::counter(
        "corelane_local_commands_total",
        "Commands whose keys were on the session's own shard.",
        |c| &c.local_commands,
    ),
    Metric::counter("corelane_hops_total", "Requests sent on to another shard.", |c| &c.hops),
    Metric::counter("corelane_parcels_sent_total", "Parcels published to other shards.", |c| &c.parcels_sent),
    Metric::counter("corelane_parcels_received_total", "Parcels taken from other shards.", |c| {
        &c.parcels_received
    }),
    Metric::counter("corelane_input_bytes_total", "Bytes received from clients.", |c| &c.bytes_in),
    Metric::counter("corelane_output_bytes_total", "Bytes sent to clients.", |c| &c.bytes_out),
    Metric::counter("corelane_reads_total", "Chunks of bytes harvested.", |c| &c.reads),
    Metric::counter("corelane_writes_total", "Chunks of bytes submitted.", |c| &c.writes),
    Metric::counter("corelane_ticks_total", "Passes of the tick.", |c| &c.ticks),
    Metric::counter("corelane_useful_ticks_total", "Ticks that found something to do.", |c| &c.useful_ticks),
    Metric::counter("corelane_parks_total", "Times the core went to sleep.", |c| &c.parks),
    Metric::counter("corelane_wakeups_sent_total", "Wake-ups sent to sleeping cores.", |c| &c.wakeups_sent),
    Metric::counter("corelane_syscalls_total", "System calls made by the transports.", |c| &c.syscalls),
    Metric::counter("corelane_connections_received_total", "Connections accepted.", |c| {
        &c.connections_received
    }),
    Metric::gauge("corelane_connections_open", "Connections open now.", |c| &c.connections_open),
    Metric::counter("corelane_connections_rejected_total", "Connections turned away.", |c| {
        &c.connections_rejected
    }),
    Metric::with(
        "corelane_limit_closes_total",
        "Connections closed because a buffer passed its limit.",
        Kind::Counter,
        Series::Labelled(
            "buffer",
            &[("output", |c| &c.output_limit_closes), ("query", |c| &c.query_limit_closes)],
        ),
    ),
    Metric::gauge(
        "corelane_blocked_clients",
        "Clients that wait in a blocking command, or for a pause to end.",
        |c| &c.blocked_clients,
    ),
    Metric::gauge("corelane_blocking_keys", "Keys for which clients wait in blocking commands.", |c| {
        &c.blocking_keys
    }),
    Metric::counter("corelane_protocol_errors_total", "Requests that broke the protocol.", |c| {
        &c.protocol_errors
    }),
    Metric::counter("corelane_error_replies_total", "Error replies sent.", |c| &c.error_replies),
    Metric::counter("corelane_auth_failures_total", "Authentications refused.", |c| &c.auth_failures),
    Metric::with("corelane_keys", "Keys held.", Kind::Gauge, Series::PerDatabase(|c| &c.keys)),
    Metric::with(
        "corelane_volatile_keys",
        "Keys with a time to live.",
        Kind::Gauge,
        Series::PerDatabase(|c| &c.volatile_keys),
    ),
    Metric::counter("corelane_expired_keys_total", "Keys removed because their time was over.", |c| {
        &c.expired_keys
    }),
    Metric::counter(
        "corelane_expired_fields_total",
        "Fields of hashes removed because their time was over.",
        |c| &c.expired_fields,
    ),
    Metric::counter("corelane_evicted_keys_total", "Keys removed to make room.", |c| &c.evicted_keys),
    Metric::counter("corelane_changes_total", "Changes to the data set.", |c| &c.changes),
    Metric::counter("corelane_lazily_freed_keys_total", "Keys freed after they were gone.", |c| {
        &c.lazily_freed_keys
    }),
    Metric::gauge("corelane_lazily_pending_keys", "Keys that are gone and still to be freed.", |c| {
        &c.lazily_pending_keys
    }),
    Metric::counter("corelane_expire_slices_total", "Slices of active expiry run.", |c| &c.expire_slices),
    Metric::counter(
        "corelane_expire_slices_full_total",
        "Slices of active expiry that ended at their bound with work left.",
        |c| &c.expire_slices_full,
    ),
    Metric::with(
        "corelane_memory_bytes",
        "Bytes accounted for, by what holds them.",
        Kind::Gauge,
        Series::Labelled(
            "part",
            &[
                ("entries", |c| &c.memory_entries),
                ("tables", |c| &c.memory_tables),
                ("buffers", |c| &c.memory_buffers),
            ],
        ),
    ),
    Metric::gauge(
        "corelane_room_short",
        "1 where the room for keys and small values comes to its end.",
        |c| &c.room_short,
    ),
    Metric::gauge("corelane_memory_peak_bytes", "Most bytes of all shards, as the first one saw it.", |c| {
        &c.memory_peak
    }),
    Metric::gauge("corelane_commands_per_second", "Commands a second, over the last second or so.", |c| {
        &c.commands_per_second
    }),
    Metric::gauge(
        "corelane_input_bytes_per_second",
        "Bytes received a second, over the last one or so.",
        |c| &c.bytes_in_per_second,
    ),
    Metric::gauge("corelane_output_bytes_per_second", "Bytes sent a second, over the last one or so.", |c| {
        &c.bytes_out_per_second
    }),
    Metric::with(
        "corelane_transactions_total",
        "Commands over several shards, by the number of rounds they took.",
        Kind::Counter,
        Series::Labelled(
            "hops",
            &[("single", |c| &c.transactions_single_hop), ("multi", |c| &c.transactions_multi_hop)],
        ),
    ),
    Metric::counter(
        "corelane_transactions_waited_total",
        "Parts of commands over several shards that waited for one before them.",
        |c| &c.transactions_waited,
    ),
    Metric::with(
        "corelane_exec_total",
        "EXECs, by the path they took.",
        Kind::Counter,
        Series::Labelled(
            "path",
            &[
                ("local", |c| &c.exec_local),
                ("one_hop", |c| &c.exec_one_hop),
                ("stages", |c| &c.exec_stages),
                ("null", |c| &c.exec_nulls),
                ("aborted", |c| &c.exec_aborts),
            ],
        ),
    ),
    Metric::counter(
        "corelane_sealed_waits_total",
        "Requests that waited for a transaction before them.",
        |c| &c.sealed_waits,
    ),
    Metric::counter("corelane_reservations_refused_total", "Reservations refused as too late.", |c| {
        &c.reservations_refused
    }),
    Metric::counter(
        "corelane_reservations_retried_total",
        "Transactions tried again after a refusal.",
        |c| &c.reservations_retried,
    ),
    Metric::counter("corelane_ring_full_total", "Parcels a full ring gave back.", |c| &c.ring_full),
    Metric::counter(
        "corelane_ring_retries_total",
        "Parcels published after their ring had been full.",
        |c| &c.ring_retries,
    ),
    Metric::counter("corelane_published_total", "Messages published by clients.", |c| &c.published),
    Metric::counter("corelane_messages_heard_total", "Messages handed to clients who listen.", |c| {
        &c.messages_heard
    }),
    Metric::counter(
        "corelane_events_lost_total",
        "Messages about keys lost because a shard was too far behind.",
        |c| &c.events_lost,
    ),
    Metric::gauge("corelane_listening_clients", "Clients that listen to a channel or pattern.", |c| {
        &c.listening_clients
    }),
    Metric::counter("corelane_leases_refused_total", "Leases refused by a transport.", |c| &c.leases_refused),
    Metric::gauge("corelane_chunks_away", "Chunks away from their pools now.", |c| &c.chunks_away),
    Metric::counter("corelane_stalls_total", "Commands that ran longer than the stall threshold.", |c| {
        &c.stalls
    }),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_field_of_a_block_has_exactly_one_line() {
        let counters = Counters::default();
        let mut offsets = BTreeSet::new();
        let base = std::ptr::from_ref(&counters).addr();
        for metric in CATALOG {
            metric.each(&counters, |_, counter| {
                let offset = std::ptr::from_ref(counter).addr() - base;
                assert!(offsets.insert(offset), "{} shows a field that another shows", metric.name);
            });
        }
        let all: BTreeSet<usize> =
            (0..std::mem::size_of::<Counters>()).step_by(size_of::<Counter>()).collect();
        assert_eq!(offsets, all, "offsets of fields without a line in the catalog");
    }

    #[test]
    fn names_follow_the_custom() {
        let mut names = BTreeSet::new();
        for metric in CATALOG {
            assert!(names.insert(metric.name), "{} is declared once", metric.name);
            assert!(metric.name.starts_with("corelane_"), "{}", metric.name);
            assert_eq!(metric.kind == Kind::Counter, metric.name.ends_with("_total"), "{}", metric.name);
            assert!(
                metric.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
                "{}",
                metric.name
            );
            assert!(metric.help.ends_with('.'), "{}", metric.name);
        }
    }
}
