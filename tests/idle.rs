//! What the house costs while nothing happens, and that a busy pipelined connection costs no system call
//! per request. Knows only what /proc and the metrics tell.

#![forbid(unsafe_code)]

#[allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod support;

use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use support::{Client, Process, Server, drivers, encode, free_ports, until};

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

/// A pipeline, and how often it is sent. A count and not a time: a slow machine makes the test slow, and
/// the figures stay what they are.
const PIPELINE: u64 = 64;
const ROUNDS: u64 = 2000;
/// System calls a request in a pipeline of 64 where its keys are the client's own shard's: to be woken, to
/// receive, to send, and a margin.
const CALLS_HERE_MAX: f64 = 0.08;
/// The same where they are another shard's, and cores sleep between hops since they share processors: two
/// hops a pipeline, each with its wake-ups.
const CALLS_AWAY_MAX: f64 = 0.3;

/// Sends the pipeline again and again, over keys of shard 0.
fn keep_busy(client: &mut Client<TcpStream>) {
    let mut bytes = Vec::new();
    for key in 0..PIPELINE / 2 {
        let key = format!("{{{TAG}}}:{key}");
        encode(&mut bytes, &[b"SET", key.as_bytes(), b"value"]);
        encode(&mut bytes, &[b"GET", key.as_bytes()]);
    }
    for _ in 0..ROUNDS {
        client.send(&bytes);
        (0..PIPELINE).for_each(|_| drop(client.read()));
    }
}

/// A tag whose slot is in the lower half, and so shard 0's.
const TAG: &str = "idle";

#[test]
fn a_busy_pipelined_connection_costs_no_system_call_per_request() {
    assert_eq!(spec::owner_of(spec::slot_of(TAG.as_bytes()), 2), 0);
    for driver in drivers() {
        for (shards, shard, most) in
            [("1", 0, CALLS_HERE_MAX), ("2", 0, CALLS_HERE_MAX), ("2", 1, CALLS_AWAY_MAX)]
        {
            let ports = free_ports(2);
            let flags = ["--shards", shards, "--driver", driver, "--shard-ports", &ports.to_string()];
            let server = Server::start(&flags);
            let mut client = server.connect_to(ports + shard);
            let before = server.metric("corelane_syscalls_total");
            keep_busy(&mut client);
            let own = server.metric("corelane_syscalls_total") - before;
            let traced = traced(&server, || keep_busy(&mut client));
            let requests = (ROUNDS * PIPELINE) as f64;
            let counts = [("its own count", Some(own)), ("strace", traced.map(|calls| calls as f64))];
            for (by, calls) in counts {
                let Some(calls) = calls else { continue };
                let ratio = calls / requests;
                println!(
                    "{driver}, {shards} shards, client of shard {shard}: {ratio:.4} calls a request by {by}"
                );
                assert!(ratio < most, "{ratio} system calls a request by {by}");
            }
        }
    }
}

/// System calls that strace counts while something is done; `None` where strace is not to be had.
fn traced(server: &Server, act: impl FnOnce()) -> Option<u64> {
    let path = server.folder.join("strace");
    let mut strace = Command::new("strace")
        .args(["-c", "-f", "-o"])
        .arg(&path)
        .args(["-p", &server.pid.to_string()])
        .stderr(Stdio::null())
        .spawn()
        .inspect_err(|error| eprintln!("strace does not start, the server's own count must do: {error}"))
        .ok()?;
    until("strace holds every thread, or has given up", || {
        is_traced(server.pid) || strace.try_wait().is_ok_and(|ended| ended.is_some())
    });
    act();
    if let Ok(Some(status)) = strace.try_wait() {
        eprintln!("strace may not trace here ({status}), the server's own count must do");
        return None;
    }
    Process(strace.id()).interrupt();
    strace.wait().expect("it is our child");
    let text = std::fs::read_to_string(path).expect("strace has written its table");
    let total = text.lines().find(|line| line.ends_with(" total")).expect("a line of totals");
    let calls = total.split_whitespace().nth(3).and_then(|field| field.parse().ok()).expect("a count");
    assert!(calls > 0, "a server that was served from makes some:\n{text}");
    Some(calls)
}

/// Every thread of a process has a tracer.
fn is_traced(pid: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
    threads.flatten().all(|thread| {
        let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("TracerPid:").is_some_and(|pid| pid.trim() != "0"))
    })
}
