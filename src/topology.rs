//! Which processors there are to use: the affinity mask and the control group's quota, physical cores
//! first. Reads /sys and /proc; pins nothing.

use std::collections::BTreeSet;
use std::fs;

/// A processor and where it sits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cpu {
    /// Its number.
    pub number: usize,
    /// Its NUMA node.
    pub node: usize,
    /// The first of the hardware threads that share its core.
    pub core: usize,
}

/// The processors this process may use.
#[derive(Clone, PartialEq, Debug)]
pub struct Topology {
    /// One of each physical core first, then their siblings; each group by number.
    pub cpus: Vec<Cpu>,
    /// Physical cores among them.
    pub cores: usize,
    /// Processors' worth of time that the control group grants, if it sets a limit.
    pub quota: Option<f64>,
}

impl Topology {
    /// Looks at the machine. `only` (if not empty) restricts and orders what may be used.
    ///
    /// # Errors
    /// A text, where `only` names a processor that may not be used.
    pub fn read(only: &[usize]) -> Result<Topology, String> {
        let allowed = affinity::get_thread_affinity().unwrap_or_else(|_| vec![0]);
        let chosen = if only.is_empty() { allowed.clone() } else { only.to_vec() };
        if let Some(missing) = chosen.iter().find(|cpu| !allowed.contains(cpu)) {
            return Err(format!("CPU {missing} may not be used by this process (allowed: {allowed:?})"));
        }
        let cpus: Vec<Cpu> =
            chosen.iter().map(|cpu| Cpu { number: *cpu, node: node_of(*cpu), core: core_of(*cpu) }).collect();
        Ok(Topology { cores: count_cores(&cpus), cpus: order(cpus, only.is_empty()), quota: quota() })
    }

    /// How many shards `auto` means: one a physical core, within the quota.
    pub fn shards(&self) -> usize {
        let granted = self.quota.map_or(usize::MAX, |quota| (quota.ceil() as usize).max(1));
        self.cores.min(granted).clamp(1, 256)
    }

    /// Whether `shards` shards leave something to the rest of the machine, so that spinning takes time
    /// from nobody: more than two processors, no quota, and not more shards than cores.
    pub fn may_spin(&self, shards: usize) -> bool {
        self.cpus.len() > 2 && self.quota.is_none() && shards <= self.cores
    }
}

/// Physical cores first, unless the order was given.
fn order(cpus: Vec<Cpu>, sort: bool) -> Vec<Cpu> {
    if !sort {
        return cpus;
    }
    let mut seen = BTreeSet::new();
    let (mut first, second): (Vec<Cpu>, Vec<Cpu>) = cpus.into_iter().partition(|cpu| seen.insert(cpu.core));
    first.extend(second);
    first
}

fn count_cores(cpus: &[Cpu]) -> usize {
    cpus.iter().map(|cpu| cpu.core).collect::<BTreeSet<_>>().len()
}

/// The first number of a list such as `0,64` or `0-1`.
fn first_of(list: &str) -> Option<usize> {
    list.trim().split([',', '-']).next()?.parse().ok()
}

fn core_of(cpu: usize) -> usize {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    fs::read_to_string(path).ok().and_then(|list| first_of(&list)).unwrap_or(cpu)
}

fn node_of(cpu: usize) -> usize {
    let Ok(entries) = fs::read_dir(format!("/sys/devices/system/cpu/cpu{cpu}")) else {
        return 0;
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("node")?.parse().ok())
        .next()
        .unwrap_or(0)
}

/// The tightest `cpu.max` from this process's control group up (cgroup v2), or cgroup v1's quota.
fn quota() -> Option<f64> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let path = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/").trim().to_owned();
    let mut tightest: Option<f64> = None;
    let mut at = path.trim_end_matches('/').to_owned();
    loop {
        if let Some(grant) =
            fs::read_to_string(format!("/sys/fs/cgroup{at}/cpu.max")).ok().and_then(|text| cpu_max(&text))
        {
            tightest = Some(tightest.map_or(grant, |other| other.min(grant)));
        }
        match at.rfind('/') {
            Some(slash) => at.truncate(slash),
            None => break,
        }
    }
    tightest.or_else(|| {
        let read = |name: &str| {
            fs::read_to_string(format!("/sys/fs/cgroup/cpu/{name}")).ok()?.trim().parse::<f64>().ok()
        };
        let (quota, period) = (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?);
        (quota > 0.0 && period > 0.0).then_some(quota / period)
    })
}

/// `max 100000` or `150000 100000`, as processors.
fn cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
    (period > 0.0).then_some(quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_come_after_all_physical_cores() {
        let cpu = |number, core| Cpu { number, node: 0, core };
        let cpus = vec![cpu(0, 0), cpu(1, 0), cpu(2, 2), cpu(3, 2)];
        let numbers: Vec<usize> = order(cpus.clone(), true).iter().map(|cpu| cpu.number).collect();
        assert_eq!(numbers, [0, 2, 1, 3]);
        assert_eq!(count_cores(&cpus), 2);
    }

    #[test]
    fn a_quota_bounds_the_shards() {
        assert_eq!(cpu_max("max 100000\n"), None);
        assert_eq!(cpu_max("150000 100000\n"), Some(1.5));
        let cpus: Vec<Cpu> = (0..8).map(|number| Cpu { number, node: 0, core: number }).collect();
        let mut topology = Topology { cpus, cores: 8, quota: None };
        assert_eq!(topology.shards(), 8);
        assert!(topology.may_spin(8));
        topology.quota = Some(1.5);
        assert_eq!(topology.shards(), 2);
        assert!(!topology.may_spin(2));
    }

    #[test]
    fn this_machine_can_be_read() {
        let topology = Topology::read(&[]).expect("no wish, no refusal");
        assert!(!topology.cpus.is_empty() && topology.shards() >= 1);
        assert!(Topology::read(&[100_000]).is_err());
    }
}
