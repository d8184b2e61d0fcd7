//! The control port from outside: real sockets over loopback, a house of fake shards behind.
#![allow(clippy::unwrap_used)]

use super::metrics::Metrics;
use super::{AdminConfig, AdminHandle, House, HouseInfo, start};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, mpsc};
use std::time::{Duration, Instant};
use telemetry::Block;

/// As many commands as Redis has, subcommands included, about.
static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let filler = (3..360).map(|number| &*format!("filler{number}").leak());
    ["get", "set", "config|get"].into_iter().chain(filler).collect()
});

/// What a visit to a fake shard meets.
#[derive(Clone, Copy)]
enum Mood {
    Answers,
    TakesItsTime(Duration),
    Silent,
    /// Does not even keep the time-out.
    Hangs,
    Panics,
}

struct FakeHouse {
    blocks: Vec<Arc<Block>>,
    moods: Vec<Mood>,
    info: HouseInfo,
    visits: AtomicUsize,
}

impl House for FakeHouse {
    fn shards(&self) -> usize {
        self.blocks.len()
    }

    fn block(&self, shard: usize) -> Arc<Block> {
        Arc::clone(&self.blocks[shard])
    }

    fn command_names(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn visit(&self, shard: usize, timeout: Duration) -> bool {
        self.visits.fetch_add(1, Ordering::SeqCst);
        match self.moods[shard] {
            Mood::Answers => true,
            Mood::TakesItsTime(time) => {
                std::thread::sleep(time);
                true
            }
            Mood::Silent => {
                std::thread::sleep(timeout);
                false
            }
            Mood::Hangs => {
                std::thread::sleep(Duration::from_secs(6));
                true
            }
            // Past the panic hook, whose report would only be noise here.
            Mood::Panics => std::panic::resume_unwind(Box::new("a visit that panics")),
        }
    }

    fn info(&self) -> HouseInfo {
        self.info.clone()
    }
}

fn house(moods: &[Mood]) -> Arc<FakeHouse> {
    let info = HouseInfo {
        version: "0.1.0".into(),
        redis_version: "7.0.15".into(),
        redis_mode: "standalone".into(),
        role: "master".into(),
        started_unix: 1_700_000_000,
        total_system_memory: 8 << 30,
        maxmemory_policy: "noeviction".into(),
        ..HouseInfo::default()
    };
    let blocks = moods.iter().enumerate().map(|(shard, _)| Arc::new(block(shard as u64))).collect();
    Arc::new(FakeHouse { blocks, moods: moods.to_vec(), info, visits: AtomicUsize::new(0) })
}

/// A block in which something was counted everywhere the tests look.
fn block(shard: u64) -> Block {
    let block = Block::new(NAMES.len());
    block.name_driver("uring", "io_uring (plain)");
    block.commands.add(100 + shard);
    block.keys[0].set(10);
    block.volatile_keys[0].set(4);
    block.memory_entries.set(1_000);
    block.ticks.add(10);
    block.useful_ticks.add(5);
    for nanoseconds in [300, 4_000, 90_000] {
        block.rooms.queue.record(nanoseconds);
        block.rooms.execute.record(nanoseconds);
    }
    block.per_command.row(1).ran(2, 5_000);
    block.per_command.row(1).track(2_500);
    block.errors.count(b"WRONGTYPE");
    block
}

fn serve(house: &Arc<FakeHouse>) -> AdminHandle {
    let bind = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    start(AdminConfig { bind }, Arc::clone(house) as Arc<dyn House>).expect("loopback has a free port")
}

/// Sends `request` as it stands and reads to the end.
fn talk(address: SocketAddr, request: &[u8]) -> String {
    say(TcpStream::connect(address).unwrap(), request)
}

/// The same over a connection that is there.
fn say(mut stream: TcpStream, request: &[u8]) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    // The far end may refuse and close before it has read all.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

fn get(address: SocketAddr, path: &str) -> (u16, String, String) {
    let answer = talk(address, format!("GET {path} HTTP/1.1\r\nHost: corelane\r\n\r\n").as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).expect("a status line").parse().unwrap();
    (status, head.to_ascii_lowercase(), body.to_owned())
}

#[test]
fn pages_are_found_and_other_things_refused() {
    let admin = serve(&house(&[Mood::Answers]));
    let (status, head, body) = get(admin.address(), "/");
    assert_eq!(status, 200);
    assert!(head.contains("content-type: text/html; charset=utf-8"), "{head}");
    assert!(body.contains("/healthz") && body.contains("/metrics"));
    assert_eq!(get(admin.address(), "/nothing").0, 404);
    let refused =
        talk(admin.address(), b"POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nvariables");
    assert!(
        refused.starts_with("HTTP/1.1 405 ") && refused.to_ascii_lowercase().contains("allow: get, head")
    );
    let head = talk(admin.address(), b"HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
}

#[test]
fn health_is_told_shard_by_shard() {
    let admin = serve(&house(&[Mood::Answers, Mood::Answers]));
    let (status, head, body) = get(admin.address(), "/healthz");
    assert_eq!(status, 200, "{body}");
    assert!(head.contains("content-type: application/json"), "{head}");
    assert!(
        body.starts_with(r#"{"status":"ok","silent":[],"shards":[{"shard":0,"ok":true,"micros":"#),
        "{body}"
    );
}

#[test]
fn silent_shards_are_named_in_bounded_time() {
    let house = house(&[Mood::Answers, Mood::Silent, Mood::Answers, Mood::Hangs, Mood::Panics]);
    let admin = serve(&house);
    let start = Instant::now();
    let (status, _, body) = get(admin.address(), "/healthz");
    let took = start.elapsed();
    assert_eq!(status, 503);
    assert!(body.starts_with(r#"{"status":"silent","silent":[1,3,4],"#), "{body}");
    assert!(body.contains(r#"{"shard":1,"ok":false,"micros":null}"#), "{body}");
    assert!(took < Duration::from_secs(3), "{took:?}");
    // The shard that hangs is not visited again while a visitor is still there.
    let before = house.visits.load(Ordering::SeqCst);
    assert!(get(admin.address(), "/healthz").2.contains(r#""silent":[1,3,4]"#));
    assert_eq!(house.visits.load(Ordering::SeqCst) - before, 4);
}

#[test]
fn shards_are_visited_side_by_side() {
    let admin = serve(&house(&[Mood::TakesItsTime(Duration::from_millis(100)); 32]));
    let start = Instant::now();
    assert_eq!(get(admin.address(), "/healthz").0, 200);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn a_crowd_of_askers_shares_a_round() {
    let house = house(&[Mood::TakesItsTime(Duration::from_millis(200))]);
    let admin = serve(&house);
    std::thread::scope(|scope| {
        let asks = [(); 20].map(|()| scope.spawn(|| get(admin.address(), "/healthz").0));
        asks.into_iter().for_each(|ask| assert_eq!(ask.join().unwrap(), 200));
    });
    assert!(house.visits.load(Ordering::SeqCst) < 10, "{} visits", house.visits.load(Ordering::SeqCst));
}

#[test]
fn metrics_carry_shards_totals_and_latency() {
    let house = house(&[Mood::Answers, Mood::Answers]);
    let admin = serve(&house);
    let (status, head, body) = get(admin.address(), "/metrics");
    assert_eq!(status, 200);
    assert!(head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
    for line in [
        "corelane_commands_total{shard=\"0\"} 100",
        "corelane_commands_total{shard=\"1\"} 101",
        "corelane_keys{shard=\"1\",db=\"db0\"} 10",
        "corelane_memory_bytes{shard=\"0\",part=\"entries\"} 1000",
        "corelane_useful_work_ratio{shard=\"0\"} 0.5",
        "corelane_driver_info{shard=\"1\",driver=\"uring\",story=\"io_uring (plain)\"} 1",
        "corelane_latency_seconds_bucket{shard=\"1\",room=\"queue\",le=\"0.000008192\"} 2",
        "corelane_latency_seconds_count{shard=\"1\",room=\"execute\"} 3",
        "corelane_shards 2",
        "redis_up 1",
        "redis_commands_processed_total 201",
        "redis_db_keys{db=\"db0\"} 20",
        "redis_db_keys_expiring{db=\"db0\"} 8",
        "redis_memory_used_bytes 2000",
        "redis_memory_max_bytes 8589934592",
        "redis_commands_total{cmd=\"set\"} 4",
        "redis_commands_duration_seconds_total{cmd=\"set\"} 0.00001",
        "redis_latency_percentiles_usec_count{cmd=\"set\"} 2",
        "redis_errors_total{err=\"WRONGTYPE\"} 2",
    ] {
        assert!(body.lines().any(|found| found == line), "no line {line} in\n{body}");
    }
    assert!(body.contains("redis_instance_info{role=\"master\",redis_version=\"7.0.15\","), "{body}");
    assert!(!body.contains("cmd=\"get\""), "a command never called has no series");
    assert!(body.contains("\nprocess_resident_memory_bytes "), "{body}");

    house.blocks[0].commands.add(5);
    house.blocks[0].per_command.row(0).ran(1, 700);
    let again = get(admin.address(), "/metrics").2;
    for line in ["redis_commands_processed_total 206", "redis_commands_total{cmd=\"get\"} 1"] {
        assert!(again.lines().any(|found| found == line), "no line {line}");
    }
}

/// Every name the public dashboards for Redis read is there (those of replicas apart).
#[test]
fn dashboards_made_for_redis_find_their_names() {
    let body = get(serve(&house(&[Mood::Answers])).address(), "/metrics").2;
    for name in [
        "blocked_clients",
        "commands_duration_seconds_total",
        "commands_total",
        "connected_clients",
        "db_keys",
        "db_keys_expiring",
        "evicted_keys_total",
        "expired_keys_total",
        "keyspace_hits_total",
        "keyspace_misses_total",
        "memory_max_bytes",
        "memory_used_bytes",
        "net_input_bytes_total",
        "net_output_bytes_total",
        "up",
        "uptime_in_seconds",
        "commands_processed_total",
        "connected_slaves",
        "mem_fragmentation_ratio",
        "memory_used_rss_bytes",
        "total_system_memory_bytes",
        "connections_received_total",
        "rejected_connections_total",
        "rdb_last_save_timestamp_seconds",
        "instance_info",
        "slowlog_length",
        "latency_percentiles_usec",
        "errors_total",
    ] {
        let found = body.lines().any(|line| {
            line.strip_prefix("redis_")
                .and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| rest.starts_with(['{', ' ']))
        });
        assert!(found, "redis_{name} is missing");
    }
}

/// promtool's verdict on the format. Its lints are met by our own names; those made for Redis are as
/// they are.
#[test]
fn promtool_accepts_the_text() {
    let body = get(serve(&house(&[Mood::Answers, Mood::Answers])).address(), "/metrics").2;
    let promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut promtool = match promtool {
        Ok(promtool) => promtool,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: promtool is not installed (Debian package prometheus)");
            return;
        }
        Err(error) => panic!("promtool does not start: {error}"),
    };
    promtool.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    let verdict = promtool.wait_with_output().unwrap();
    let lints = String::from_utf8_lossy(&verdict.stderr).into_owned();
    // 0: all well; 3: parsed, with lints.
    assert!(matches!(verdict.status.code(), Some(0 | 3)), "{lints}");
    let ours: Vec<_> = lints.lines().filter(|line| !line.starts_with("redis_")).collect();
    assert!(ours.is_empty(), "{ours:?}");
}

/// The target for 64 shards is 20 ms. Counted in this thread's own processor time (whose clock may lag
/// a scheduler tick, hence ten at once), best of several: other work shares the machine.
#[test]
fn a_scrape_of_64_shards_takes_at_most_20_ms() {
    let house = house(&[Mood::Answers; 64]);
    for block in &house.blocks {
        (3..63).for_each(|number| block.per_command.row(number).track(1_000));
        (3..63).for_each(|number| block.per_command.row(number).ran(1, 1_000));
    }
    let mut metrics = Metrics::new(house as Arc<dyn House>);
    let (mut best, mut bytes) = (Duration::MAX, 0);
    for _ in 0..5 {
        let start = processor_time();
        for _ in 0..10 {
            let text = metrics.scrape();
            assert!(text.contains("corelane_commands_total{shard=\"63\"} 163\n"));
            bytes = text.len();
        }
        best = best.min((processor_time() - start) / 10);
    }
    println!("best scrape of 64 shards: {best:?} for {bytes} bytes");
    assert!(best <= Duration::from_millis(20), "{best:?}");
}

/// Of this thread: the first field of schedstat, in nanoseconds (kernel, sched-stats.rst).
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn a_head_without_end_is_refused() {
    let admin = serve(&house(&[Mood::Answers]));
    let mut request = b"GET / HTTP/1.1\r\nHost: a\r\nX: ".to_vec();
    request.resize(1 << 20, b'x');
    let answer = talk(admin.address(), &request);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(get(admin.address(), "/").0, 200);
}

#[test]
fn clients_that_say_nothing_give_their_places_back() {
    let admin = serve(&house(&[Mood::Answers]));
    let idle: Vec<_> = (0..80).map(|_| TcpStream::connect(admin.address()).unwrap()).collect();
    let start = Instant::now();
    assert_eq!(get(admin.address(), "/").0, 200);
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    drop(idle);
}

#[test]
fn a_client_that_sends_half_a_request_is_cut_off() {
    let admin = serve(&house(&[Mood::Answers]));
    let mut stream = TcpStream::connect(admin.address()).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("closed, not left open");
    assert!(!answer.starts_with(b"HTTP/1.1 200"));
}

#[test]
fn stopping_ends_the_thread_and_frees_the_port() {
    let house = house(&[Mood::Hangs]);
    let admin = serve(&house);
    let address = admin.address();
    let (told, heard) = mpsc::channel();
    let asker = std::thread::spawn(move || {
        let stream = TcpStream::connect(address).unwrap();
        told.send(()).unwrap();
        say(stream, b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
    });
    heard.recv().unwrap();
    let start_of_stop = Instant::now();
    admin.stop();
    assert!(start_of_stop.elapsed() < Duration::from_secs(4));
    asker.join().unwrap();
    let again = start(AdminConfig { bind: address }, house as Arc<dyn House>);
    assert!(again.is_ok(), "{again:?}");
}

#[test]
fn a_port_in_use_is_an_error_at_once() {
    let house = house(&[Mood::Answers]);
    let admin = serve(&house);
    let second = start(AdminConfig { bind: admin.address() }, house as Arc<dyn House>);
    assert_eq!(second.map(|_| ()).unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
}
