//! CONFIG GET and CONFIG SET beside Debian's redis-server: the same names, defaults, printed values and
//! refusals. Where redis-server is absent, says so and passes.

use corelane::config::SETTINGS;
use resp::client::{Value, decode, encode_command};
use spec::Settings;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A redis-server of the test's own, ended with it.
struct Redis {
    child: Child,
    stream: UnixStream,
    path: PathBuf,
}

impl Redis {
    fn start() -> Option<Redis> {
        // A socket file of its own: a port that was free might be another test's by now.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("corelane-redis-{}-{number}", std::process::id()));
        let child = Command::new("redis-server")
            .args(["--port", "0", "--dir", "/tmp", "--unixsocket"])
            .arg(&path)
            .stdout(Stdio::null())
            .spawn();
        let Ok(child) = child else {
            eprintln!("skipped: redis-server is not installed");
            return None;
        };
        let start = Instant::now();
        loop {
            if let Ok(stream) = UnixStream::connect(&path) {
                return Some(Redis { child, stream, path });
            }
            assert!(start.elapsed() < Duration::from_secs(20), "redis-server does not come up");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn ask(&mut self, words: &[&str]) -> Value {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let mut bytes = Vec::new();
        encode_command(&words, &mut bytes);
        self.stream.write_all(&bytes).expect("redis-server listens");
        let mut received = Vec::new();
        loop {
            let mut buffer = [0; 4096];
            let read = self.stream.read(&mut buffer).expect("redis-server answers");
            assert!(read > 0, "redis-server hung up");
            received.extend_from_slice(&buffer[..read]);
            if let Some((value, _)) = decode(&received).expect("a reply") {
                return value;
            }
        }
    }

    /// Names and values, sorted.
    fn get(&mut self, pattern: &str) -> Vec<(String, String)> {
        let Value::Array(items) = self.ask(&["CONFIG", "GET", pattern]) else { panic!("an array is due") };
        let text = |value: &Value| match value {
            Value::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => panic!("{other:?} is no string"),
        };
        let mut pairs: Vec<_> = items.chunks(2).map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
        pairs.sort();
        pairs
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Settings whose value is the machine's or the test's, or differs on purpose: loopback by default.
const OWN: &[&str] = &["bind", "dir", "port", "unixsocket"];

#[test]
fn every_name_of_redis_is_known_with_its_default() {
    let Some(mut redis) = Redis::start() else { return };
    let ours = Settings::new(SETTINGS);
    let names = redis.get("*");
    assert!(names.len() > 150);
    for (name, value) in names.into_iter().filter(|(name, _)| !OWN.contains(&name.as_str())) {
        let held = ours.get(&[name.as_bytes()]);
        assert_eq!(held, [(name, value)]);
    }
}

#[test]
fn patterns_find_the_same_names() {
    let Some(mut redis) = Redis::start() else { return };
    let ours = Settings::new(SETTINGS);
    for pattern in [
        "h?",
        "h[z]",
        "hz\\",
        "\\hz*",
        "MaxMem*",
        "slave-*",
        "*ziplist*",
        "LFU-log-factor",
        "nosuch",
        "",
        "[",
    ] {
        let mut held = ours.get(&[pattern.as_bytes()]);
        held.sort();
        assert_eq!(held, redis.get(pattern), "{pattern}");
    }
}

/// Values for every kind; `|` parts a name from a value.
const VALUES: &[&str] = &[
    "foo|bar",
    "maxmemory|abc",
    "maxmemory|-1",
    "maxmemory|1kb",
    "maxmemory|1K",
    "maxmemory|1 kb",
    "maxmemory|1t",
    "maxmemory|1Gb",
    "maxmemory|1b",
    "maxmemory|0",
    "MaxMemory|5m",
    "hz|abc",
    "hz|0",
    "hz|10000",
    "hz|-1",
    "hz|10",
    "timeout|-1",
    "timeout|+1",
    "timeout|01",
    "timeout| 1",
    "timeout|7",
    "timeout|99999999999",
    "databases|10",
    "databases|16",
    "appendfsync|xx",
    "appendfsync|ALWAYS",
    "maxmemory-policy|xx",
    "maxmemory-policy|allkeys-lfu",
    "activerehashing|maybe",
    "activerehashing|NO",
    "save|1",
    "save|1 x",
    "save|0 1",
    "save|",
    "save|60 1 30 2",
    "save|60  1",
    "save|\"60\" 1",
    "save|60 \"1",
    "notify-keyspace-events|KEX",
    "notify-keyspace-events|KEA",
    "notify-keyspace-events|Kg",
    "notify-keyspace-events|KEg$lshzxetd",
    "notify-keyspace-events|",
    "client-output-buffer-limit|foo",
    "client-output-buffer-limit|foo 1 1 1",
    "client-output-buffer-limit|master 1 1 1",
    "client-output-buffer-limit|normal 1 x 1",
    "client-output-buffer-limit|normal 1k 1kb 1 replica 1 1 1",
    "client-output-buffer-limit|",
    "maxmemory-clients|5%",
    "maxmemory-clients|500%",
    "maxmemory-clients|-5",
    "maxmemory-clients|x",
    "maxmemory-clients|1mb",
    "oom-score-adj-values|1 2",
    "oom-score-adj-values|1 2 3000",
    "oom-score-adj-values|1 2 x",
    "latency-tracking-info-percentiles|1 101",
    "latency-tracking-info-percentiles|50 99 99.99",
    "latency-tracking-info-percentiles|x",
    "latency-tracking-info-percentiles|",
    "maxclients|0",
    "port|70000",
    "dir|/tmp",
    "dbfilename|a",
    "unixsocketperm|999",
    "enable-debug-command|yes",
    "proto-max-bulk-len|1",
    "client-query-buffer-limit|1",
    "list-max-ziplist-size|1000000000000",
    "list-max-listpack-size|-3",
    "repl-backlog-size|0",
    "active-expire-effort|11",
    "replicaof|a 1",
    "rename-command|a b",
    "acllog-max-len|-1",
    "slowlog-log-slower-than|-2",
    "slowlog-log-slower-than|-1",
    "slave-priority|7",
    "shutdown-on-sigterm|now force",
    "shutdown-on-sigterm|x",
    "shutdown-on-sigterm|default",
    "shutdown-on-sigterm|",
    "loglevel|x",
    "loglevel|Debug",
    "stream-node-max-bytes|-1",
    "tracking-table-max-keys|-1",
    "socket-mark-id|1",
    "lua-time-limit|100",
    "lua-enable-deprecated-api|yes",
    "hash-max-ziplist-entries|5000000000",
    "io-threads|2",
    "sanitize-dump-payload|maybe",
    "sanitize-dump-payload|clients",
    "repl-diskless-load|swapdb",
    "cluster-preferred-endpoint-type|hostname",
];

#[test]
fn values_are_taken_refused_and_shown_alike() {
    let Some(mut redis) = Redis::start() else { return };
    let mut ours = Settings::new(SETTINGS);
    for case in VALUES {
        let (name, value) = case.split_once('|').expect("two parts");
        let said = match ours.set(&[(name.as_bytes(), value.as_bytes())], false) {
            Ok(_) => Value::Simple("OK".into()),
            Err(refusal) => Value::Error(format!("ERR {refusal}")),
        };
        assert_eq!(said, redis.ask(&["CONFIG", "SET", name, value]), "{case} (ours, Redis's)");
        if !OWN.contains(&name) {
            assert_eq!(ours.get(&[name.as_bytes()]), redis.get(name), "{case} (ours, Redis's)");
        }
    }
    let twice: &[(&[u8], &[u8])] = &[(b"maxmemory", b"1"), (b"MAXMEMORY", b"2")];
    let refusal = ours.set(twice, false).expect_err("a setting stands twice");
    let said = redis.ask(&["CONFIG", "SET", "maxmemory", "1", "MAXMEMORY", "2"]);
    assert_eq!(said, Value::Error(format!("ERR {refusal}")));
}
