//! What the kernel says of this process, from /proc/self. Fields that cannot be read are left out.

use std::fs;

/// Ticks per second in /proc/self/stat: USER_HZ, 100 on every architecture we run on (proc(5)).
const TICKS_PER_SECOND: f64 = 100.0;

/// One look at the process.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Process {
    /// Processor time, user and system, in seconds.
    pub(super) cpu_seconds: Option<f64>,
    /// Bytes resident.
    pub(super) resident_bytes: Option<u64>,
    /// Bytes mapped.
    pub(super) virtual_bytes: Option<u64>,
    /// Threads.
    pub(super) threads: Option<u64>,
    /// Descriptors open.
    pub(super) open_fds: Option<u64>,
    /// The most descriptors allowed.
    pub(super) max_fds: Option<u64>,
}

impl Process {
    /// Reads it all.
    pub(super) fn look() -> Process {
        let read = |file: &str| fs::read_to_string(format!("/proc/self/{file}")).unwrap_or_default();
        let status = read("status");
        let kib = |name| status_kib(&status, name).map(|kib| kib * 1024);
        Process {
            cpu_seconds: cpu_ticks(&read("stat")).map(|ticks| ticks as f64 / TICKS_PER_SECOND),
            resident_bytes: kib("VmRSS:"),
            virtual_bytes: kib("VmSize:"),
            threads: status_kib(&status, "Threads:"),
            open_fds: open_fds(),
            max_fds: max_fds(&read("limits")),
        }
    }
}

/// `utime` and `stime`, fields 14 and 15 of proc(5); counted from the end of the name, which may hold
/// blanks and brackets itself.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// The number in the line of that name.
fn status_kib(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Since Linux 6.2 the size of the directory is the number of descriptors; before, they are counted.
fn open_fds() -> Option<u64> {
    match fs::metadata("/proc/self/fd").ok()?.len() {
        0 => Some(fs::read_dir("/proc/self/fd").ok()?.count() as u64),
        size => Some(size),
    }
}

/// The soft limit, where there is one.
fn max_fds(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The kernel's name and release, as INFO's `os` has it.
pub(super) fn operating_system() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {} {}", release.trim(), std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        let stat = "7 (a) b) (c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0";
        assert_eq!(cpu_ticks(stat), Some(300));
        assert_eq!(cpu_ticks(""), None);
    }

    #[test]
    fn this_process_is_alive() {
        let process = Process::look();
        assert!(process.resident_bytes.is_some_and(|bytes| bytes > 100_000), "{process:?}");
        assert!(process.virtual_bytes >= process.resident_bytes);
        assert!(process.open_fds.is_some_and(|count| count >= 3) && process.threads >= Some(1));
        assert!(process.cpu_seconds.is_some_and(|seconds| seconds < 1e6));
        assert!(operating_system().starts_with("Linux "));
    }

    #[test]
    fn an_unlimited_limit_is_left_out() {
        assert_eq!(max_fds("Max open files            1024      4096      files\n"), Some(1024));
        assert_eq!(max_fds("Max open files            unlimited unlimited files\n"), None);
    }
}
