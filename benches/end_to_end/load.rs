//! The load: redis-benchmark pinned to core 1, its CSV read back.
//! It knows workloads by name, not which server answers.

use crate::peer;

/// Keys, fields and members are drawn from this many; values are 16 bytes.
const KEYSPACE: u64 = 100_000;

/// A request: one of redis-benchmark's own, or a command with `__rand_int__` where a number is drawn.
type Request = &'static [&'static str];

/// One line of the table.
#[derive(Clone, Copy)]
pub(crate) struct Workload {
    /// Name in the table.
    pub(crate) name: &'static str,
    request: Request,
    pipeline: u32,
    before: Before,
}

/// What has to be there.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    /// What this request leaves behind when it drew each number about four times.
    Filled(Request),
    /// As many elements as the run takes away.
    Supply(Request),
}

const SET: Request = &["-t", "set"];
const LPUSH: Request = &["-t", "lpush"];
const SADD: Request = &["-t", "sadd"];
const ZADD: Request = &["-t", "zadd"];
const HSET: Request = &["HSET", "hash", "element:__rand_int__", "0123456789abcdef"];

const fn deep(name: &'static str, request: Request, before: Before) -> Workload {
    Workload { name, request, pipeline: 64, before }
}

/// Every workload, in the order of the table.
pub(crate) const ALL: [Workload; 15] = [
    deep("get-64", &["-t", "get"], Before::Filled(SET)),
    deep("set-64", SET, Before::Nothing),
    deep("incr-64", &["-t", "incr"], Before::Nothing),
    deep("mset-64", &["-t", "mset"], Before::Nothing),
    deep("hset-64", HSET, Before::Nothing),
    deep("hget-64", &["HGET", "hash", "element:__rand_int__"], Before::Filled(HSET)),
    deep("lpush-64", LPUSH, Before::Nothing),
    deep("rpop-64", &["-t", "rpop"], Before::Supply(LPUSH)),
    deep("sadd-64", SADD, Before::Nothing),
    deep("sismember-64", &["SISMEMBER", "myset", "element:__rand_int__"], Before::Filled(SADD)),
    deep("zadd-64", ZADD, Before::Nothing),
    deep("zscore-64", &["ZSCORE", "myzset", "element:__rand_int__"], Before::Filled(ZADD)),
    deep("zrange-64", &["ZRANGE", "myzset", "50000", "50015"], Before::Filled(ZADD)),
    Workload { name: "get-1", request: &["-t", "get"], pipeline: 1, before: Before::Filled(SET) },
    Workload { name: "set-1", request: SET, pipeline: 1, before: Before::Nothing },
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
    /// Puts there what a run of so many requests needs.
    pub(crate) fn prepare(&self, port: u16, requests: u64) -> Result<(), String> {
        let (request, count) = match self.before {
            Before::Nothing => return Ok(()),
            Before::Filled(request) => (request, 4 * KEYSPACE),
            Before::Supply(request) => (request, requests),
        };
        benchmark(port, request, 64, count).map(|_| ())
    }

    /// How many requests a first, unmeasured run sends to learn the speed.
    pub(crate) fn probe_requests(&self) -> u64 {
        if self.pipeline > 1 { 400_000 } else { 30_000 }
    }

    /// Sends `requests` over 50 connections.
    pub(crate) fn drive(&self, port: u16, requests: u64) -> Result<Run, String> {
        benchmark(port, self.request, self.pipeline, requests)
    }
}

fn benchmark(port: u16, request: Request, pipeline: u32, requests: u64) -> Result<Run, String> {
    let output = peer::on_core(1, "redis-benchmark".as_ref())
        .args(["-h", "127.0.0.1", "--csv", "-c", "50", "-d", "16"])
        .args(["-p", &port.to_string(), "-P", &pipeline.to_string()])
        .args(["-n", &requests.to_string(), "-r", &KEYSPACE.to_string()])
        .args(request)
        .output()
        .map_err(|error| format!("redis-benchmark does not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    parse(&text, requests).ok_or_else(|| {
        format!("redis-benchmark {request:?} said {text:?} {:?}", String::from_utf8_lossy(&output.stderr))
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
