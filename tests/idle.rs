//! What the house costs while nothing happens, and that a busy pipelined connection costs no system call
//! per request. Knows only what /proc and the metrics tell.

#![forbid(unsafe_code)]

#[allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod support;

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use support::{Process, Server, drivers, encode, until};

/// Share of one processor that an idle server may take.
const IDLE_SHARE_MAX: f64 = 0.01;
const WATCHED: Duration = Duration::from_secs(4);

fn cpu_seconds(servers: &[Server]) -> Vec<f64> {
    servers.iter().map(|server| server.process().cpu_seconds()).collect()
}

/// Waits until all servers have come to rest, then watches them.
fn idle_shares(servers: &[Server]) -> Vec<f64> {
    let mut last = cpu_seconds(servers);
    until("they come to rest", || {
        thread::sleep(Duration::from_millis(500));
        let now = cpu_seconds(servers);
        let rested = now.iter().zip(&last).all(|(now, last)| now - last <= 0.02);
        last = now;
        rested
    });
    let (start, before) = (Instant::now(), cpu_seconds(servers));
    thread::sleep(WATCHED);
    let seconds = start.elapsed().as_secs_f64();
    cpu_seconds(servers).iter().zip(before).map(|(now, before)| (now - before) / seconds).collect()
}

#[test]
fn an_idle_server_costs_next_to_nothing() {
    let mut forms = Vec::new();
    for driver in drivers() {
        forms.extend([["--shards", "1", "--driver", driver], ["--shards", "4", "--driver", driver]]);
    }
    let servers: Vec<Server> = forms.iter().map(|form| Server::start(form)).collect();
    let mut shares = vec![("fresh", idle_shares(&servers))];
    let mut clients: Vec<Vec<_>> =
        servers.iter().map(|server| (0..1000).map(|_| server.connect()).collect()).collect();
    for client in clients.iter_mut().flatten() {
        client.check("PING", "+PONG");
    }
    shares.push(("with 1000 clients", idle_shares(&servers)));
    for clients in &mut clients {
        for (key, client) in clients.iter_mut().enumerate() {
            client.check(&format!("SET key:{key} v EX 1000"), "+OK");
        }
    }
    shares.push(("with volatile keys too", idle_shares(&servers)));
    for clients in &mut clients {
        clients[0].check("CONFIG SET timeout 1000", "+OK");
    }
    shares.push(("with timeouts too", idle_shares(&servers)));
    for (state, shares) in &shares {
        for (form, share) in forms.iter().zip(shares) {
            println!("{}, {} shards, {state}: {:.2} % of a core", form[3], form[1], share * 100.0);
        }
    }
    assert!(shares.iter().flat_map(|(_, shares)| shares).all(|share| *share <= IDLE_SHARE_MAX), "{shares:?}");
}

/// Rounds of a pipeline of 64 over keys of one shard; returns how many requests they were.
fn keep_busy(server: &Server, time: Duration) -> u64 {
    let (mut client, mut requests, start) = (server.connect(), 0, Instant::now());
    let mut bytes = Vec::new();
    for key in 0..32 {
        let key = format!("{{busy}}:{key}");
        encode(&mut bytes, &[b"SET", key.as_bytes(), b"value"]);
        encode(&mut bytes, &[b"GET", key.as_bytes()]);
    }
    while start.elapsed() < time {
        client.send(&bytes);
        (0..64).for_each(|_| drop(client.read()));
        requests += 64;
    }
    requests
}

#[test]
fn a_busy_pipelined_connection_costs_no_system_call_per_request() {
    for driver in drivers() {
        for shards in ["1", "2"] {
            let server = Server::start(&["--shards", shards, "--driver", driver]);
            keep_busy(&server, Duration::from_millis(200));
            let before = server.metric("corelane_syscalls_total");
            let requests = keep_busy(&server, Duration::from_secs(2));
            let own = (server.metric("corelane_syscalls_total") - before) / requests as f64;
            println!("{driver}, {shards} shards: {own:.4} system calls a request by its own count");
            assert!(own < 0.1, "{own} system calls a request");
            if let Some((calls, requests)) = traced(&server) {
                let ratio = calls as f64 / requests as f64;
                println!(
                    "{driver}, {shards} shards: {calls} calls for {requests} requests by strace: {ratio:.4}"
                );
                // Where cores share processors, a hop wakes a core that sleeps.
                let most = if shards == "1" { 0.1 } else { 0.6 };
                assert!(ratio < most, "{ratio} system calls a request");
            }
        }
    }
}

/// System calls by strace's count, and requests; `None` where strace is not to be had.
fn traced(server: &Server) -> Option<(u64, u64)> {
    let path = server.folder.join("strace");
    let mut strace = Command::new("strace")
        .args(["-c", "-f", "-o"])
        .arg(&path)
        .args(["-p", &server.pid.to_string()])
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    thread::sleep(Duration::from_millis(500));
    let requests = keep_busy(server, Duration::from_secs(2));
    Process(strace.id()).interrupt();
    let _ = strace.wait();
    let text = std::fs::read_to_string(path).ok()?;
    let total = text.lines().find(|line| line.ends_with(" total"))?;
    let calls = total.split_whitespace().nth(3)?.parse().ok()?;
    Some((calls, requests))
}
