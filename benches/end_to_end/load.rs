//! The load: redis-benchmark pinned to core 1, its CSV read back.
//! It knows workloads by name, not which server answers.

use crate::peer;

/// Keys are drawn from this many; values are 16 bytes.
const KEYSPACE: u64 = 100_000;

/// One line of the table.
#[derive(Clone, Copy)]
pub(crate) struct Workload {
    /// Name in the table.
    pub(crate) name: &'static str,
    test: &'static str,
    pipeline: u32,
}

/// Every workload, in the order of the table.
pub(crate) const ALL: [Workload; 6] = [
    Workload { name: "get-64", test: "get", pipeline: 64 },
    Workload { name: "set-64", test: "set", pipeline: 64 },
    Workload { name: "incr-64", test: "incr", pipeline: 64 },
    Workload { name: "mset-64", test: "mset", pipeline: 64 },
    Workload { name: "get-1", test: "get", pipeline: 1 },
    Workload { name: "set-1", test: "set", pipeline: 1 },
];

/// What one run of redis-benchmark said.
pub(crate) struct Run {
    pub(crate) requests: u64,
    pub(crate) requests_per_second: f64,
    pub(crate) p99_ms: f64,
}

/// The workload of that name.
pub(crate) fn named(name: &str) -> Result<Workload, String> {
    let found = ALL.into_iter().find(|workload| workload.name == name);
    found.ok_or_else(|| format!("no workload is called {name}"))
}

impl Workload {
    /// Fills the keyspace where the workload reads it.
    pub(crate) fn prepare(&self, port: u16) -> Result<(), String> {
        if self.test == "get" {
            benchmark(port, "set", 64, 4 * KEYSPACE)?;
        }
        Ok(())
    }

    /// How many requests a first, unmeasured run sends to learn the speed.
    pub(crate) fn probe_requests(&self) -> u64 {
        if self.pipeline > 1 { 400_000 } else { 30_000 }
    }

    /// Sends `requests` over 50 connections.
    pub(crate) fn drive(&self, port: u16, requests: u64) -> Result<Run, String> {
        benchmark(port, self.test, self.pipeline, requests)
    }
}

fn benchmark(port: u16, test: &str, pipeline: u32, requests: u64) -> Result<Run, String> {
    let output = peer::on_core(1, "redis-benchmark".as_ref())
        .args(["-h", "127.0.0.1", "--csv", "-c", "50", "-d", "16"])
        .args(["-p", &port.to_string(), "-P", &pipeline.to_string(), "-t", test])
        .args(["-n", &requests.to_string(), "-r", &KEYSPACE.to_string()])
        .output()
        .map_err(|error| format!("redis-benchmark does not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    parse(&text, requests).ok_or_else(|| {
        format!("redis-benchmark {test} said {text:?} {:?}", String::from_utf8_lossy(&output.stderr))
    })
}

/// Columns: test, rps, average, min, p50, p95, p99, max latency in ms.
fn parse(text: &str, requests: u64) -> Option<Run> {
    let line = text.lines().rfind(|line| line.starts_with('"') && !line.starts_with("\"test\""))?;
    let mut fields = line.rsplitn(8, ',').map(|field| field.trim_matches('"').parse::<f64>());
    let _max = fields.next()?.ok()?;
    let p99_ms = fields.next()?.ok()?;
    let requests_per_second = fields.nth(4)?.ok()?;
    Some(Run { requests, requests_per_second, p99_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_csv_gives_rate_and_p99() {
        let text = "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\",\
                    \"p99_latency_ms\",\"max_latency_ms\"\n\
                    \"MSET (10 keys)\",\"1000.50\",\"0.1\",\"0.2\",\"0.3\",\"0.4\",\"0.5\",\"0.6\"\n";
        let run = parse(text, 7).expect("a whole table");
        assert_eq!((run.requests, run.requests_per_second, run.p99_ms), (7, 1000.5, 0.5));
    }

    #[test]
    fn an_error_is_not_a_run() {
        assert!(parse("ERROR: no\n", 7).is_none());
    }
}
