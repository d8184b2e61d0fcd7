//! What the process says of itself: facts for INFO and the control port, and its last words.

use crate::admin::HouseInfo;
use crate::allocator;
use crate::boot::House;
use crate::config::Config;
use commands::{AllocatorTools, Facts};
use spec::Settings;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// Version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The allocator of the binary, with the version of jemalloc that tikv-jemallocator 0.7 builds.
const ALLOCATOR: &str = "jemalloc-5.3.1";

/// Facts for INFO.
pub fn facts(config: &Config, tcp_port: u16, run_id: String) -> Facts {
    let uname = rustix::system::uname();
    let word = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    Facts {
        corelane_version: VERSION.to_owned(),
        run_id,
        tcp_port,
        process_id: std::process::id(),
        os: format!("{} {} {}", word(uname.sysname()), word(uname.release()), word(uname.machine())),
        started_ms: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64),
        executable: std::env::current_exe().map_or(String::new(), |path| path.display().to_string()),
        config_file: config.file.as_ref().map_or(String::new(), |path| path.display().to_string()),
        compiler: concat!("rustc-", env!("CARGO_PKG_RUST_VERSION")).to_owned(),
        total_system_memory: total_memory(),
        allocator: ALLOCATOR.to_owned(),
        resident_bytes: Some(resident_bytes),
        allocator_tools: Some(AllocatorTools { figures: allocator::figures, report: allocator::report }),
        cpu_seconds: Some(cpu_seconds),
    }
}

/// Memory of the machine in bytes.
fn total_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kib| kib * 1024)
}

/// Resident memory of this process in bytes.
fn resident_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

/// CPU seconds of this process: system, user, and those of its children.
fn cpu_seconds() -> [f64; 4] {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in brackets may hold spaces; fields are counted behind it.
    let fields: Vec<f64> = text
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .skip(11)
        .take(4)
        .map(|field| field.parse::<f64>().unwrap_or(0.0) / rustix::param::clock_ticks_per_second() as f64)
        .collect();
    match fields[..] {
        [user, system, child_user, child_system] => [system, user, child_system, child_user],
        _ => [0.0; 4],
    }
}

/// Facts for the control port.
pub fn house_info(house: &House, settings: &Settings) -> HouseInfo {
    HouseInfo {
        version: VERSION.to_owned(),
        redis_version: settings.value("redis-version").text().to_owned(),
        redis_mode: "standalone".to_owned(),
        role: "master".to_owned(),
        run_id: house.facts.run_id.clone(),
        tcp_port: house.facts.tcp_port,
        started_unix: (house.facts.started_ms / 1000) as u64,
        total_system_memory: house.facts.total_system_memory,
        maxmemory: settings.live.maxmemory,
        maxmemory_policy: settings.live.maxmemory_policy.name().to_owned(),
        ..HouseInfo::default()
    }
}

/// A panic anywhere ends the process, loudly: a shard that is gone must not look alive.
pub fn hook_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("?").to_owned();
        eprintln!("=== CORELANE {VERSION} BUG REPORT: thread '{name}' panicked ===");
        before(info);
        eprintln!("{}", std::backtrace::Backtrace::force_capture());
        eprintln!("=== the process ends; nothing is served by a part of it ===");
        std::process::abort();
    }));
}
