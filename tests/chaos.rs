//! Clients that are killed, cut their bytes anywhere, send garbage, stop reading or come in storms, beside
//! clients that behave: these lose nothing and notice nothing, and in the end everything was given back.
//! `CORELANE_CHAOS_SECONDS` makes the campaign longer.

#![forbid(unsafe_code)]

#[allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod support;

use rustix::net::sockopt::set_socket_linger;
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use support::{Client, Dice, Reply, Server, binary, encode, until};

/// Without a wish of the caller.
const SECONDS: u64 = 20;
const LARGE_BYTES: usize = 64 << 20;
/// Troublemakers at a time.
const TROUBLEMAKERS: u64 = 6;
/// However noisy the machine, a client that behaves waits no longer for 99 of 100 answers.
const P99_MAX: Duration = Duration::from_millis(250);

fn campaign() -> Duration {
    let wish = std::env::var("CORELANE_CHAOS_SECONDS").ok();
    Duration::from_secs(wish.map_or(SECONDS, |text| text.parse().expect("a number of seconds")))
}

/// What a troublemaker needs.
struct Trouble<'a> {
    server: &'a Server,
    dice: Dice,
    large: &'a [u8],
    counts: &'a [AtomicU64],
}

/// Something a troublemaker does, by name.
type Act = (&'static str, fn(&mut Trouble));

/// All of it.
const ACTS: &[Act] = &[
    ("half a frame, then a reset", |trouble| trouble.half_frame(true)),
    ("half a frame, then a close", |trouble| trouble.half_frame(false)),
    ("garbage", |trouble| trouble.garbage()),
    ("a storm of connections", |trouble| trouble.storm()),
    ("a pipeline nobody reads", |trouble| trouble.unread_pipeline()),
    ("a pipeline over several keys, then a reset", |trouble| trouble.many_keys()),
    ("a large value in, cut or whole", |trouble| trouble.large_in()),
    ("a large value out, cut or whole", |trouble| trouble.large_out()),
    ("a slow reader", |trouble| trouble.slow_reader()),
    ("a stuck client that is killed", |trouble| trouble.killed_while_stuck()),
    ("a process that is killed", |trouble| trouble.killed_process()),
];

impl Trouble<'_> {
    fn act(&mut self) {
        let number = self.dice.below(ACTS.len());
        ACTS[number].1(self);
        self.counts[number].fetch_add(1, Ordering::Relaxed);
    }

    /// The server may be slow to accept; it may not refuse.
    fn stream(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.server.port)).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout above zero");
        stream.set_write_timeout(Some(Duration::from_secs(30))).expect("a timeout above zero");
        stream
    }

    fn key(&mut self) -> String {
        format!("chaos:{}", self.dice.below(500))
    }

    fn end(&mut self, stream: TcpStream) {
        if self.dice.below(2) == 0 {
            reset(stream);
        }
    }

    fn half_frame(&mut self, resets: bool) {
        let mut stream = self.stream();
        let mut bytes = Vec::new();
        for _ in 0..1 + self.dice.below(20) {
            let value = vec![b'v'; self.dice.below(3000)];
            encode(&mut bytes, &[b"SET", self.key().as_bytes(), &value]);
            encode(&mut bytes, &[b"GET", self.key().as_bytes()]);
        }
        let cut = 1 + self.dice.below(bytes.len() - 1);
        let _ = stream.write_all(&bytes[..cut]);
        if self.dice.below(2) == 0 {
            let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
            let _ = stream.read(&mut [0; 4096]);
        }
        if resets {
            reset(stream);
        }
    }

    fn garbage(&mut self) {
        let mut stream = self.stream();
        let starts: [&[u8]; 6] =
            [b"", b"*3\r\n$", b"*-1\r\n", b"*1000000000\r\n", b"$5\r\nhello\r\n", b"GET \"open\r\n"];
        let mut bytes = starts[self.dice.below(starts.len())].to_vec();
        let more = self.dice.below(5000);
        bytes.extend((0..more).map(|_| self.dice.roll() as u8));
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }

    fn storm(&mut self) {
        let mut streams: Vec<TcpStream> = (0..100).map(|_| self.stream()).collect();
        for stream in &mut streams {
            match self.dice.below(3) {
                0 => drop(stream.write_all(b"PING\r\n")),
                1 => drop(stream.write_all(b"*1\r\n$4\r\nPI")),
                _ => {}
            }
        }
        for stream in streams {
            self.end(stream);
        }
    }

    fn unread_pipeline(&mut self) {
        let mut stream = self.stream();
        let value = vec![b'x'; 1 + self.dice.below(2000)];
        let mut bytes = Vec::new();
        for _ in 0..2000 {
            let key = self.key();
            encode(&mut bytes, &[b"SET", key.as_bytes(), &value]);
            encode(&mut bytes, &[b"GET", key.as_bytes()]);
        }
        stream.set_nonblocking(true).expect("a socket");
        let (start, mut sent) = (Instant::now(), 0);
        while start.elapsed() < Duration::from_millis(500) && sent < 64 << 20 {
            match stream.write(&bytes[sent % bytes.len()..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    thread::sleep(Duration::from_millis(1))
                }
                Err(_) => return,
            }
        }
        self.end(stream);
    }

    fn many_keys(&mut self) {
        let mut stream = self.stream();
        let mut bytes = Vec::new();
        for _ in 0..1 + self.dice.below(100) {
            let keys: Vec<String> = (0..6).map(|_| self.key()).collect();
            let mut words: Vec<&[u8]> = Vec::new();
            match self.dice.below(4) {
                0 => words.push(b"DEL"),
                1 => words.push(b"MGET"),
                2 => words.push(b"EXISTS"),
                _ => words.push(b"MSET"),
            }
            words.extend(keys.iter().map(|key| key.as_bytes()));
            encode(&mut bytes, &words);
            encode(&mut bytes, &[b"RENAME", keys[0].as_bytes(), keys[1].as_bytes()]);
        }
        let _ = stream.write_all(&bytes);
        if self.dice.below(3) == 0 {
            let _ = stream.read(&mut [0; 1000]);
        }
        reset(stream);
    }

    fn large_in(&mut self) {
        let mut stream = self.stream();
        let key = format!("large:{}", self.dice.below(2));
        let head = format!("*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n${LARGE_BYTES}\r\n", key.len());
        let cut = if self.dice.below(2) == 0 { self.dice.below(LARGE_BYTES) } else { LARGE_BYTES };
        let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&self.large[..cut]));
        if sent.is_ok() && cut == LARGE_BYTES {
            let _ = stream.write_all(b"\r\n");
            let mut reply = [0; 5];
            let heard = stream.read_exact(&mut reply);
            assert!(heard.is_ok() && reply == *b"+OK\r\n", "a large value was not taken: {heard:?}");
            return;
        }
        self.end(stream);
    }

    fn large_out(&mut self) {
        let mut client = Client::new(self.stream());
        let whole = self.dice.below(2) == 0;
        client.send(format!("GET large:{}\r\n", self.dice.below(2)).as_bytes());
        if whole {
            match client.read() {
                Reply::Null => {}
                Reply::Bulk(bytes) => assert!(bytes == self.large, "a large value came out changed"),
                other => panic!("{}", other.show()),
            }
        } else {
            let _ = client.stream.read(&mut [0; 100_000]);
        }
        self.end(client.stream);
    }

    fn slow_reader(&mut self) {
        let mut stream = self.stream();
        let _ = stream.write_all(format!("GET large:{}\r\n", self.dice.below(2)).repeat(3).as_bytes());
        let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
        for _ in 0..self.dice.below(50) {
            let mut buffer = vec![0; 1 + self.dice.below(50_000)];
            if !stream.read(&mut buffer).is_ok_and(|count| count > 0) {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        thread::sleep(Duration::from_millis(300));
        self.end(stream);
    }

    fn killed_while_stuck(&mut self) {
        let mut stuck = Client::new(self.stream());
        let Reply::Integer(id) = stuck.ask(&[b"CLIENT", b"ID"]) else { panic!("CLIENT ID is a number") };
        stuck.send(&b"GET large:0\r\n".repeat(5));
        thread::sleep(Duration::from_millis(50));
        let killed = Client::new(self.stream()).ask(&[b"CLIENT", b"KILL", b"ID", id.to_string().as_bytes()]);
        assert_eq!(killed.show(), ":1");
        let _ = stuck.rest();
    }

    fn killed_process(&mut self) {
        let mut client = Command::new(binary())
            .args(["cli", "-p", &self.server.port.to_string(), "-r", "1000000", "SET", "chaos:process", "v"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the client starts");
        thread::sleep(Duration::from_millis(self.dice.below(200) as u64));
        let _ = client.kill();
        let _ = client.wait();
    }
}

/// Ends without order, as a killed process may.
fn reset(stream: TcpStream) {
    let _ = set_socket_linger(&stream, Some(Duration::ZERO));
}

/// A client that behaves: writes and reads back, one at a time. Returns how long each answer took.
fn behave<S: Read + Write>(
    mut client: Client<S>,
    name: &str,
    over: &AtomicBool,
) -> (Vec<Duration>, HashMap<String, String>) {
    let (mut times, mut written) = (Vec::new(), HashMap::new());
    let mut step = 0u64;
    while !over.load(Ordering::Relaxed) {
        step += 1;
        let (key, value) = (format!("{name}:{}", step % 1000), step.to_string());
        let start = Instant::now();
        assert_eq!(client.ask(&[b"SET", key.as_bytes(), value.as_bytes()]).show(), "+OK");
        times.push(start.elapsed());
        let start = Instant::now();
        assert_eq!(client.ask(&[b"GET", key.as_bytes()]).show(), format!("${value}"));
        times.push(start.elapsed());
        written.insert(key, value);
        thread::sleep(Duration::from_micros(500));
    }
    (times, written)
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}

fn wreak_havoc(shards: &str, driver: &str, time: Duration) {
    let flags =
        ["--shards", shards, "--driver", driver, "--unixsocket", "FOLDER/socket", "--tcp-backlog", "4096"];
    let (server, calm) = (Server::start(&flags), Server::start(&flags));
    let large: Vec<u8> = (0..LARGE_BYTES).map(|place| (place / 253 + place) as u8).collect();
    let counts: Vec<AtomicU64> = ACTS.iter().map(|_| AtomicU64::new(0)).collect();
    server.connect().check("PING", "+PONG");
    until("the first client has gone", || server.metric("corelane_connections_open") == 0.0);
    let (descriptors, resident) = (server.process().descriptors(), server.process().resident());
    let (over, start) = (AtomicBool::new(false), Instant::now());
    let (mut near, mut far, written) = thread::scope(|scope| {
        let by_tcp = scope.spawn(|| behave(server.connect(), "tcp", &over));
        let by_unix = scope.spawn(|| behave(server.connect_unix(), "unix", &over));
        let undisturbed = scope.spawn(|| behave(calm.connect(), "tcp", &over));
        let troublemakers: Vec<_> = (0..TROUBLEMAKERS)
            .map(|seed| {
                let (server, large, counts) = (&server, &large[..], &counts[..]);
                scope.spawn(move || {
                    let mut trouble = Trouble { server, dice: Dice(seed), large, counts };
                    while start.elapsed() < time {
                        trouble.act();
                    }
                })
            })
            .collect();
        let ends: Vec<_> = troublemakers.into_iter().map(|thread| thread.join()).collect();
        over.store(true, Ordering::Relaxed);
        assert!(ends.iter().all(Result::is_ok), "a troublemaker was surprised");
        let (near, written) = by_tcp.join().expect("it was served");
        let (more, written_too) = by_unix.join().expect("it was served");
        let (far, _) = undisturbed.join().expect("it was served");
        ([near, more].concat(), far, [written, written_too])
    });
    let done: Vec<String> = ACTS
        .iter()
        .zip(&counts)
        .map(|((name, _), count)| format!("{} x {name}", count.load(Ordering::Relaxed)))
        .collect();
    let mut client = server.connect();
    for (key, value) in written.iter().flatten() {
        client.check(&format!("GET {key}"), &format!("${value}"));
    }
    let peak = server.process().resident();
    client.check("FLUSHALL", "+OK");
    drop(client);
    check_all_is_returned(&server, descriptors, resident);
    let (p99, calm_p99) = (percentile(&mut near, 99), percentile(&mut far, 99));
    println!(
        "{driver}, {shards} shards, {:.0} s: {}\n  p50 {:?} p99 {p99:?} max {:?} beside, p50 {:?} p99 {calm_p99:?} \
         max {:?} on a server of its own ({} answers); descriptors {descriptors}, memory {} MiB at first, {} at \
         the end of it, {} after FLUSHALL",
        start.elapsed().as_secs_f64(),
        done.join(", "),
        percentile(&mut near, 50),
        percentile(&mut near, 100),
        percentile(&mut far, 50),
        percentile(&mut far, 100),
        near.len(),
        resident >> 20,
        peak >> 20,
        server.process().resident() >> 20,
    );
    assert!(p99 < P99_MAX.max(20 * calm_p99), "p99 {p99:?} beside troublemakers, {calm_p99:?} without");
}

fn check_all_is_returned(server: &Server, descriptors: usize, resident: u64) {
    let start = Instant::now();
    while server.metric("corelane_connections_open") > 0.0 {
        if start.elapsed() > support::PATIENCE / 2 {
            panic!("clients that have not gone: {}", server.connect().ask(&[b"CLIENT", b"LIST"]).text());
        }
        thread::sleep(Duration::from_millis(20));
    }
    until("all descriptors are closed", || server.process().descriptors() <= descriptors);
    until("all chunks are home", || server.metric("corelane_chunks_away") == 0.0);
    until("the store is empty", || server.metric("corelane_keys") == 0.0);
    until("memory is given back", || server.process().resident() < resident + (100 << 20));
    let (status, body) = server.page("/healthz");
    assert!(status.contains("200"), "{status} {body}");
    let log = server.log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
}

#[test]
fn clients_killed_at_random_cost_nobody_else_anything() {
    let drivers = support::drivers();
    let time = campaign() / 2;
    wreak_havoc("1", drivers[0], time / 2);
    wreak_havoc("4", drivers[0], time);
    wreak_havoc("4", "epoll", time / 2);
}
