//! Sections on the process and its clients: Server, Clients, Replication, CPU, Cluster.

use super::figures::{Figures, line, lines};
use crate::home::House;

/// Redis shows its LRU clock as it keeps it: seconds, 24 bits.
const LRU_CLOCK_MASK: i64 = 0x00FF_FFFF;

pub(super) fn server(house: &mut dyn House, _: &Figures, text: &mut String) {
    let (now_us, now_ms) = (house.now_us(), house.now_ms());
    let (settings, facts) = (house.settings(), house.facts());
    let uptime_s = (now_ms - facts.started_ms).max(0) / 1000;
    let hz = settings.live.hz;
    line(text, "redis_version", &settings.live.redis_version);
    lines(text, &["redis_git_sha1", "redis_git_dirty"], 0);
    line(text, "redis_build_id", &facts.corelane_version);
    line(text, "redis_mode", "standalone");
    line(text, "os", &facts.os);
    line(text, "arch_bits", usize::BITS);
    line(text, "monotonic_clock", "POSIX clock_gettime");
    line(text, "multiplexing_api", drivers(house));
    line(text, "atomicvar_api", "c11-builtin");
    // Redis's words for "not compiled by gcc".
    line(text, "gcc_version", "0.0.0");
    line(text, "process_id", facts.process_id);
    line(text, "process_supervised", "no");
    line(text, "run_id", &facts.run_id);
    let port = number(house, "port");
    line(text, "tcp_port", if port > 0 { port } else { facts.tcp_port.into() });
    line(text, "server_time_usec", now_us);
    line(text, "uptime_in_seconds", uptime_s);
    line(text, "uptime_in_days", uptime_s / 86_400);
    lines(text, &["hz", "configured_hz"], hz);
    line(text, "lru_clock", (now_ms / 1000) & LRU_CLOCK_MASK);
    line(text, "executable", &facts.executable);
    line(text, "config_file", &facts.config_file);
    line(text, "io_threads_active", 0);
}

/// The drivers that are in use, each once.
fn drivers(house: &dyn House) -> String {
    let mut names: Vec<&str> = house.blocks().iter().map(|block| block.driver()).collect();
    names.sort_unstable();
    names.dedup();
    names.join("+")
}

pub(super) fn clients(house: &mut dyn House, figures: &Figures, text: &mut String) {
    let counters = &figures.totals.counters;
    line(text, "connected_clients", counters.connections_open.read());
    line(text, "cluster_connections", 0);
    line(text, "maxclients", house.settings().live.maxclients);
    let (input, output) = largest_buffers(house);
    line(text, "client_recent_max_input_buffer", input);
    line(text, "client_recent_max_output_buffer", output);
    line(text, "blocked_clients", counters.blocked_clients.read());
    lines(text, &["tracking_clients", "clients_in_timeout_table"], 0);
    line(text, "total_blocking_keys", counters.blocking_keys.read());
    line(text, "total_blocking_keys_on_nokey", 0);
}

/// The largest input and output held for a client of this shard.
fn largest_buffers(house: &mut dyn House) -> (usize, usize) {
    let mut largest = (0, 0);
    house.sessions(&mut |session| {
        largest = (largest.0.max(session.query_bytes), largest.1.max(session.output_bytes));
    });
    largest
}

pub(super) fn replication(house: &mut dyn House, _: &Figures, text: &mut String) {
    // A history of its own for each run; the run's id says who runs, so the two differ.
    let history: String = house.facts().run_id.chars().rev().collect();
    line(text, "role", "master");
    line(text, "connected_slaves", 0);
    line(text, "master_failover_state", "no-failover");
    line(text, "master_replid", history);
    line(text, "master_replid2", "0".repeat(40));
    line(text, "master_repl_offset", 0);
    line(text, "second_repl_offset", -1);
    line(text, "repl_backlog_active", 0);
    line(text, "repl_backlog_size", number(house, "repl-backlog-size"));
    lines(text, &["repl_backlog_first_byte_offset", "repl_backlog_histlen"], 0);
}

/// The number that a setting holds, where the table has it.
fn number(house: &dyn House, name: &str) -> u64 {
    let settings = house.settings();
    settings.find(name).map_or(0, |_| settings.value(name).count())
}

pub(super) fn cpu(house: &mut dyn House, _: &Figures, text: &mut String) {
    let [system, user, children_system, children_user] =
        house.facts().cpu_seconds.map_or([0.0; 4], |ask| ask());
    let mut seconds = |name: &str, seconds: f64| line(text, name, format_args!("{seconds:.6}"));
    seconds("used_cpu_sys", system);
    seconds("used_cpu_user", user);
    seconds("used_cpu_sys_children", children_system);
    seconds("used_cpu_user_children", children_user);
    // No thread is the main one: all of them together.
    seconds("used_cpu_sys_main_thread", system);
    seconds("used_cpu_user_main_thread", user);
}

pub(super) fn cluster(_: &mut dyn House, _: &Figures, text: &mut String) {
    line(text, "cluster_enabled", 0);
}
