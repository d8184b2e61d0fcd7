//! Medians and ratios, as plain text or as markdown for docs/benchmarks.
//! It knows names and samples, not where they came from.

use std::collections::BTreeMap;
use std::fmt::Write;

/// One measured run.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    /// Requests per second of the server's user and system time.
    pub(crate) per_cpu_second: f64,
    /// Requests per second of wall-clock time.
    pub(crate) per_second: f64,
    /// The generator's 99th percentile.
    pub(crate) p99_ms: f64,
}

/// Samples by workload and peer, in the order they first came.
pub(crate) struct Table {
    peers: Vec<&'static str>,
    workloads: Vec<&'static str>,
    samples: BTreeMap<(&'static str, &'static str), Vec<Sample>>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { peers: Vec::new(), workloads: Vec::new(), samples: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, peer: &'static str, workload: &'static str, sample: Sample) {
        if !self.peers.contains(&peer) {
            self.peers.push(peer);
        }
        if !self.workloads.contains(&workload) {
            self.workloads.push(workload);
        }
        self.samples.entry((workload, peer)).or_default().push(sample);
    }

    /// Columns aligned for a terminal.
    pub(crate) fn text(&self) -> String {
        self.render(|cells| {
            let mut line = format!("{:10} {:10}", cells[0], cells[1]);
            for cell in &cells[2..] {
                let _ = write!(line, " {cell:>12}");
            }
            line
        })
    }

    /// A markdown table.
    pub(crate) fn markdown(&self) -> String {
        let rule = "|---|---|---:|---:|---:|---:|---:|\n";
        let lines = self.render(|cells| format!("| {} |", cells.join(" | ")));
        let (head, body) = lines.split_once('\n').expect("a table has a head");
        format!("{head}\n{rule}{body}")
    }

    /// "ours/it" is our requests per CPU second over that server's.
    fn render(&self, line: impl Fn(&[String]) -> String) -> String {
        let head = ["workload", "server", "per cpu s", "spread", "per s", "p99 ms", "ours/it"];
        let mut out = line(&head.map(String::from)) + "\n";
        for workload in &self.workloads {
            let ours = self.median(workload, "corelane", |sample| sample.per_cpu_second);
            for peer in &self.peers {
                let Some(cpu) = self.median(workload, peer, |sample| sample.per_cpu_second) else { continue };
                let wall = self.median(workload, peer, |sample| sample.per_second).unwrap_or_default();
                let p99 = self.median(workload, peer, |sample| sample.p99_ms).unwrap_or_default();
                let ratio = ours.map_or("-".into(), |ours| format!("{:.2}", ours / cpu));
                let cells = [
                    workload.to_string(),
                    peer.to_string(),
                    thousands(cpu),
                    format!("{:.0} %", self.spread_percent(workload, peer)),
                    thousands(wall),
                    format!("{p99:.3}"),
                    ratio,
                ];
                out += &(line(&cells) + "\n");
            }
        }
        out
    }

    fn sorted(&self, workload: &'static str, peer: &'static str, of: impl Fn(&Sample) -> f64) -> Vec<f64> {
        let samples = self.samples.get(&(workload, peer)).map_or(&[][..], Vec::as_slice);
        let mut values: Vec<f64> = samples.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    fn median(&self, workload: &'static str, peer: &'static str, of: impl Fn(&Sample) -> f64) -> Option<f64> {
        let values = self.sorted(workload, peer, of);
        values.get(values.len() / 2).copied()
    }

    /// Distance of the extremes over the median.
    fn spread_percent(&self, workload: &'static str, peer: &'static str) -> f64 {
        let values = self.sorted(workload, peer, |sample| sample.per_cpu_second);
        match (values.first(), values.last()) {
            (Some(low), Some(high)) => 100.0 * (high - low) / values[values.len() / 2],
            _ => 0.0,
        }
    }
}

fn thousands(value: f64) -> String {
    format!("{:.0} k", value / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_ours_over_theirs() {
        let mut table = Table::new();
        let sample = |per_cpu_second| Sample { per_cpu_second, per_second: 1e6, p99_ms: 0.1 };
        table.add("redis", "get-64", sample(1e6));
        table.add("corelane", "get-64", sample(2.5e6));
        let text = table.markdown();
        assert!(text.contains("| get-64 | redis | 1000 k | 0 % | 1000 k | 0.100 | 2.50 |"), "{text}");
    }
}
