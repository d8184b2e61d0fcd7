//! Requests per second of the server's CPU time, ours against others, interleaved in one run.
//! It knows servers as command lines and the load as redis-benchmark; it knows no protocol.

#![forbid(unsafe_code)]

mod floor;
mod load;
mod peer;
mod report;

use load::Workload;
use peer::Peer;
use report::{Sample, Table};
use std::process::ExitCode;

const USAGE: &str = "end_to_end [--rounds N] [--seconds S] [--peers a,b,..] [--workloads a,b,..] [--markdown]
  peers: redis valkey kevy corelane (those found on this machine unless named)
  workloads: get set incr mset hset hget lpush rpop sadd sismember zadd zscore zrange, each with -64 behind it,
  get-1 set-1 (all unless named)
  environment: CORELANE_BINARY, CORELANE_ARGS, CORELANE_TESTS_CACHE";

struct Options {
    rounds: usize,
    seconds: f64,
    peers: Vec<Peer>,
    workloads: Vec<Workload>,
    markdown: bool,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("end_to_end: {message}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        rounds: 5,
        seconds: 1.5,
        peers: Vec::new(),
        workloads: load::ALL.to_vec(),
        markdown: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{flag} needs a value\n{USAGE}"));
        match flag.as_str() {
            "--rounds" => options.rounds = value()?.parse().map_err(|_| "--rounds: not a number")?,
            "--seconds" => options.seconds = value()?.parse().map_err(|_| "--seconds: not a number")?,
            "--peers" => options.peers = value()?.split(',').map(peer::named).collect::<Result<_, _>>()?,
            "--workloads" => {
                options.workloads = value()?.split(',').map(load::named).collect::<Result<_, _>>()?;
            }
            "--markdown" => options.markdown = true,
            _ => return Err(format!("unknown option {flag}\n{USAGE}")),
        }
    }
    if options.rounds == 0 {
        return Err(format!("nothing to measure\n{USAGE}"));
    }
    if options.peers.is_empty() {
        options.peers = peer::found_here()?;
    }
    Ok(options)
}

/// Every round visits every peer once, each in a fresh process, so that a change of the machine's mood
/// falls on all of them alike.
fn run(options: &Options) -> Result<(), String> {
    let mut table = Table::new();
    println!("server on core 0, redis-benchmark on core 1, {} rounds", options.rounds);
    for round in 1..=options.rounds {
        println!("round {round}: ping-pong floor {} ns", floor::ping_pong_ns());
        for peer in &options.peers {
            let server = peer.start()?;
            for workload in &options.workloads {
                workload.prepare(server.port(), workload.probe_requests())?;
                let probe = workload.drive(server.port(), workload.probe_requests())?;
                let requests = ((probe.requests_per_second * options.seconds) as u64).max(1_000);
                workload.prepare(server.port(), requests)?;
                let before = server.cpu_seconds()?;
                let run = workload.drive(server.port(), requests)?;
                let cpu = server.cpu_seconds()? - before;
                table.add(
                    peer.name,
                    workload.name,
                    Sample {
                        per_cpu_second: run.requests as f64 / cpu.max(1e-3),
                        per_second: run.requests_per_second,
                        p99_ms: run.p99_ms,
                    },
                );
            }
        }
    }
    println!("ping-pong floor at the end {} ns", floor::ping_pong_ns());
    print!("{}", if options.markdown { table.markdown() } else { table.text() });
    Ok(())
}
