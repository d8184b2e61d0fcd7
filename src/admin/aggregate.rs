//! The whole server under the names that dashboards made for Redis read: `redis_*`, without a shard
//! label, since one would break panels that ask for the bare series.

use super::HouseInfo;
use super::metrics::{counter, gauge};
use super::process::{Process, operating_system};
use super::text::Text;
use ::metrics::{Counter, Gauge, Label, Recorder};
use std::collections::BTreeMap;
use telemetry::{CommandSnapshot, Counters, DATABASES, Snapshot};

/// What a total is computed from.
pub(super) struct Totals<'a> {
    pub(super) sum: &'a Snapshot,
    pub(super) info: &'a HouseInfo,
    pub(super) process: &'a Process,
    /// Seconds of Unix time.
    pub(super) now: u64,
}

impl Totals<'_> {
    fn resident(&self) -> f64 {
        self.process.resident_bytes.unwrap_or(0) as f64
    }

    fn used(&self) -> f64 {
        self.sum.counters.memory_total() as f64
    }
}

type CounterRow = (&'static str, &'static str, fn(&Counters) -> u64);
type GaugeRow = (&'static str, &'static str, fn(&Totals<'_>) -> f64);

static COUNTERS: &[CounterRow] = &[
    ("redis_commands_processed_total", "Commands processed.", |c| c.commands.read()),
    ("redis_connections_received_total", "Connections accepted.", |c| c.connections_received.read()),
    ("redis_rejected_connections_total", "Connections turned away.", |c| c.connections_rejected.read()),
    ("redis_net_input_bytes_total", "Bytes received.", |c| c.bytes_in.read()),
    ("redis_net_output_bytes_total", "Bytes sent.", |c| c.bytes_out.read()),
    ("redis_keyspace_hits_total", "Look-ups that found a key.", |c| c.keyspace_hits.read()),
    ("redis_keyspace_misses_total", "Look-ups that found no key.", |c| c.keyspace_misses.read()),
    ("redis_expired_keys_total", "Keys removed because their time was over.", |c| c.expired_keys.read()),
    ("redis_evicted_keys_total", "Keys removed to make room.", |c| c.evicted_keys.read()),
];

static GAUGES: &[GaugeRow] = &[
    ("redis_up", "The server answers.", |_| 1.0),
    ("redis_uptime_in_seconds", "Seconds since the start.", |t| {
        t.now.saturating_sub(t.info.started_unix) as f64
    }),
    ("redis_start_time_seconds", "Start in Unix time.", |t| t.info.started_unix as f64),
    ("redis_blocked_clients", "Clients in a blocking command.", |t| {
        t.sum.counters.blocked_clients.read() as f64
    }),
    ("redis_connected_clients", "Clients connected.", |t| t.sum.counters.connections_open.read() as f64),
    ("redis_config_maxclients", "The most clients allowed.", |t| t.info.maxclients as f64),
    ("redis_connected_slaves", "Replicas connected.", |t| t.info.connected_replicas as f64),
    ("redis_memory_used_bytes", "Bytes accounted for.", |t| t.used()),
    ("redis_memory_used_rss_bytes", "Bytes resident.", |t| t.resident()),
    ("redis_memory_max_bytes", "The memory limit, or all memory where none is set.", |t| {
        match t.info.maxmemory {
            0 => t.info.total_system_memory as f64,
            limit => limit as f64,
        }
    }),
    ("redis_mem_fragmentation_ratio", "Bytes resident for each byte accounted for.", |t| {
        t.resident() / t.used().max(1.0)
    }),
    ("redis_total_system_memory_bytes", "Memory of the machine.", |t| t.info.total_system_memory as f64),
    ("redis_rdb_last_save_timestamp_seconds", "Time of the last snapshot.", |t| t.info.last_save_unix as f64),
    ("redis_slowlog_length", "Entries in the slow log.", |t| t.info.slowlog_length as f64),
    ("redis_cluster_enabled", "Whether clients see a cluster.", |t| f64::from(u8::from(is_cluster(t.info)))),
];

fn is_cluster(info: &HouseInfo) -> bool {
    info.redis_mode == "cluster"
}

/// The places of one command.
struct CommandSeries {
    calls: Counter,
    rejected: Counter,
    failed: Counter,
}

/// The places of all totals in the recorder.
pub(super) struct Aggregate {
    counters: Vec<Counter>,
    gauges: Vec<Gauge>,
    keys: [Gauge; DATABASES],
    keys_expiring: [Gauge; DATABASES],
    commands: BTreeMap<usize, CommandSeries>,
    errors: BTreeMap<String, Counter>,
}

fn per_database(recorder: &dyn Recorder, name: &'static str) -> [Gauge; DATABASES] {
    std::array::from_fn(|number| gauge(recorder, name, vec![Label::new("db", format!("db{number}"))]))
}

impl Aggregate {
    pub(super) fn new(recorder: &dyn Recorder) -> Aggregate {
        for &(name, help, _) in COUNTERS {
            recorder.describe_counter(name.into(), None, help.into());
        }
        for &(name, help, _) in GAUGES {
            recorder.describe_gauge(name.into(), None, help.into());
        }
        for (name, help) in [
            ("redis_commands_total", "Calls, per command."),
            ("redis_commands_rejected_calls_total", "Calls refused before they ran, per command."),
            ("redis_commands_failed_calls_total", "Calls that answered with an error, per command."),
            ("redis_errors_total", "Error replies, by their first word."),
        ] {
            recorder.describe_counter(name.into(), None, help.into());
        }
        for (name, help) in [
            ("redis_db_keys", "Keys, per database."),
            ("redis_db_keys_expiring", "Keys with a time to live, per database."),
        ] {
            recorder.describe_gauge(name.into(), None, help.into());
        }
        Aggregate {
            counters: COUNTERS.iter().map(|row| counter(recorder, row.0, vec![])).collect(),
            gauges: GAUGES.iter().map(|row| gauge(recorder, row.0, vec![])).collect(),
            keys: per_database(recorder, "redis_db_keys"),
            keys_expiring: per_database(recorder, "redis_db_keys_expiring"),
            commands: BTreeMap::new(),
            errors: BTreeMap::new(),
        }
    }

    /// Copies the totals into the recorder.
    pub(super) fn copy(&mut self, recorder: &dyn Recorder, totals: &Totals<'_>, names: &[&'static str]) {
        for (handle, row) in self.counters.iter().zip(COUNTERS) {
            handle.absolute(row.2(&totals.sum.counters));
        }
        for (handle, row) in self.gauges.iter().zip(GAUGES) {
            handle.set(row.2(totals));
        }
        for database in 0..DATABASES {
            self.keys[database].set(totals.sum.counters.keys[database].read() as f64);
            self.keys_expiring[database].set(totals.sum.counters.volatile_keys[database].read() as f64);
        }
        self.copy_commands(recorder, &totals.sum.commands, names);
        for (word, &count) in &totals.sum.errors {
            let make = || counter(recorder, "redis_errors_total", vec![Label::new("err", word.clone())]);
            self.errors.entry(word.clone()).or_insert_with(make).absolute(count);
        }
    }

    /// Commands never seen have no series: most of the catalog is never called.
    fn copy_commands(
        &mut self,
        recorder: &dyn Recorder,
        commands: &[CommandSnapshot],
        names: &[&'static str],
    ) {
        for (number, (row, &name)) in
            commands.iter().zip(names).enumerate().filter(|(_, (row, _))| !row.is_empty())
        {
            let labels = || vec![Label::from_static_parts("cmd", name)];
            let series = self.commands.entry(number).or_insert_with(|| CommandSeries {
                calls: counter(recorder, "redis_commands_total", labels()),
                rejected: counter(recorder, "redis_commands_rejected_calls_total", labels()),
                failed: counter(recorder, "redis_commands_failed_calls_total", labels()),
            });
            series.calls.absolute(row.calls);
            series.rejected.absolute(row.rejected_calls);
            series.failed.absolute(row.failed_calls);
        }
    }
}

/// What this instance is. Written by hand: its labels may change while it runs (role, policy), and a
/// recorder would go on showing the old ones.
pub(super) fn write_instance(text: &mut Text, info: &HouseInfo) {
    let (port, process) = (info.tcp_port.to_string(), std::process::id().to_string());
    let labels = [
        ("role", info.role.as_str()),
        ("redis_version", &info.redis_version),
        ("redis_mode", &info.redis_mode),
        ("os", &operating_system()),
        ("maxmemory_policy", &info.maxmemory_policy),
        ("tcp_port", &port),
        ("run_id", &info.run_id),
        ("process_id", &process),
    ];
    text.family("redis_instance_info", "gauge", "What this instance is.");
    text.sample("redis_instance_info", &labels, 1);
    if is_cluster(info) {
        text.family("redis_cluster_state", "gauge", "1 where all slots are served.");
        text.sample("redis_cluster_state", &[], 1);
        text.family("redis_cluster_slots_fail", "gauge", "Slots that are not served.");
        text.sample("redis_cluster_slots_fail", &[], 0);
    }
}

/// Time and percentiles per command, which the recorder's whole-number counters cannot hold.
pub(super) fn write_commands(text: &mut Text, commands: &[CommandSnapshot], names: &[&'static str]) {
    const MICROSECOND: f64 = 1e3;
    let seen = || names.iter().zip(commands).filter(|(_, row)| !row.is_empty());
    let name = "redis_commands_duration_seconds_total";
    text.family(name, "counter", "Time inside commands, per command.");
    for (cmd, row) in seen() {
        text.sample(name, &[("cmd", cmd)], row.nanoseconds as f64 / 1e9);
    }
    let name = "redis_latency_percentiles_usec";
    text.family(name, "summary", "Percentiles of calls in microseconds, per command.");
    for (cmd, latency) in seen().filter_map(|(cmd, row)| Some((cmd, row.latency.as_ref()?))) {
        for (label, percent) in [("50", 50.0), ("99", 99.0), ("99.9", 99.9)] {
            let value = latency.percentile(percent) as f64 / MICROSECOND;
            text.sample(name, &[("cmd", cmd), ("quantile", label)], value);
        }
        text.sample(
            "redis_latency_percentiles_usec_sum",
            &[("cmd", cmd)],
            latency.sum() as f64 / MICROSECOND,
        );
        text.sample("redis_latency_percentiles_usec_count", &[("cmd", cmd)], latency.count());
    }
}
