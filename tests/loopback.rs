//! The real binary over real sockets: every door, driver and number of shards; pipelines cut anywhere,
//! large values, limits, refusals, half-closed clients, the control port, and the end in order.

#![forbid(unsafe_code)]

#[allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod support;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};
use support::{Client, Dice, Reply, Server, drivers, encode, free_port, free_ports, refused_start, until};

/// Every number of shards with every driver.
fn forms() -> Vec<[&'static str; 4]> {
    let mut forms = Vec::new();
    for driver in drivers() {
        for shards in ["1", "2", "4"] {
            forms.push(["--shards", shards, "--driver", driver]);
        }
    }
    forms
}

#[test]
fn every_door_opens_with_every_driver_and_number_of_shards() {
    for form in forms() {
        let shards: u16 = form[1].parse().expect("a number");
        let base = free_ports(shards);
        let ports = base.to_string();
        let server =
            Server::start(&[&form[..], &["--unixsocket", "FOLDER/socket", "--shard-ports", &ports]].concat());
        let mut tcp = server.connect();
        tcp.check("SET greeting hello", "+OK");
        let mut unix = server.connect_unix();
        unix.check("GET greeting", "$hello");
        for port in base..base + shards {
            let mut own = server.connect_to(port);
            own.check("GET greeting", "$hello");
            own.check("INCR visits", &format!(":{}", port - base + 1));
        }
        speaks_every_protocol(&mut tcp);
        speaks_every_protocol(&mut unix);
        let line = server.log();
        let line = line.lines().find(|line| line.contains(" is ready: ")).expect("it started");
        for word in [
            env!("CARGO_PKG_VERSION"),
            &format!("{shards} shard"),
            &format!("driver {}", form[3]),
            &format!("127.0.0.1:{}", server.port),
            "/socket",
            &format!("http://127.0.0.1:{}/metrics", server.control),
        ] {
            assert!(line.contains(word), "{word} is not in: {line}");
        }
    }
}

fn speaks_every_protocol<S: Read + Write>(client: &mut Client<S>) {
    client.send(b"SET inline \"a b\"\r\nget inline\n\r\nPING\r\n");
    assert_eq!(
        [client.read(), client.read(), client.read()].map(|reply| reply.show()).join(" "),
        "+OK $a b +PONG"
    );
    client.check("GET nothing", "_");
    client.send(b"*2\r\n$3\r\nGET\r\n$7\r\nnothing\r\n");
    assert_eq!(client.read(), Reply::Null);
    let hello = client.says("HELLO 3");
    assert!(hello.starts_with('{') && hello.contains("$proto :3"), "{hello}");
    client.check("GET nothing", "_");
    assert!(matches!(client.ask(&[b"CONFIG", b"GET", b"maxclients"]), Reply::Map(_)));
    let hello = client.says("HELLO 2");
    assert!(hello.starts_with('[') && hello.contains("$proto :2"), "{hello}");
}

/// Keys of all shards; every kind of reply; and the text that must come back.
fn long_pipeline(count: usize, dice: &mut Dice) -> (Vec<u8>, Vec<String>) {
    let (mut bytes, mut wanted) = (Vec::new(), Vec::new());
    let mut values = vec![None; 200];
    for number in 0..count {
        let slot = dice.below(values.len());
        let key = format!("key:{slot}");
        match dice.below(8) {
            0..3 => {
                let value = format!("{number}").repeat(1 + dice.below(30));
                encode(&mut bytes, &[b"SET", key.as_bytes(), value.as_bytes()]);
                values[slot] = Some(value);
                wanted.push("+OK".to_owned());
            }
            3..6 => {
                encode(&mut bytes, &[b"GET", key.as_bytes()]);
                wanted.push(values[slot].as_ref().map_or("_".to_owned(), |value| format!("${value}")));
            }
            6 => {
                bytes.extend_from_slice(format!("STRLEN {key}\r\n").as_bytes());
                wanted.push(format!(":{}", values[slot].as_ref().map_or(0, String::len)));
            }
            _ => {
                encode(&mut bytes, &[b"ECHO", format!("{number}").as_bytes()]);
                wanted.push(format!("${number}"));
            }
        }
    }
    (bytes, wanted)
}

#[test]
fn a_pipeline_of_ten_thousand_cut_anywhere_is_answered_in_order() {
    for (seed, form) in forms().into_iter().enumerate() {
        for order in ["strict", "relaxed"] {
            let server = Server::start(
                &[&form[..], &["--unixsocket", "FOLDER/socket", "--pipeline-order", order]].concat(),
            );
            run_pipeline(seed as u64, server.connect(), |stream| stream.try_clone().expect("a descriptor"));
            server.connect().check("FLUSHALL", "+OK");
            run_pipeline(seed as u64, server.connect_unix(), |stream| {
                stream.try_clone().expect("a descriptor")
            });
        }
    }
}

fn run_pipeline<S>(seed: u64, mut client: Client<S>, twin: impl Fn(&S) -> S)
where
    S: Read + Write + Send + 'static,
{
    let mut dice = Dice(seed);
    let (bytes, wanted) = long_pipeline(10_000, &mut dice);
    let mut output = twin(&client.stream);
    let writer = std::thread::spawn(move || {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let piece = match dice.below(10) {
                0 => 1,
                1..5 => dice.below(40) + 1,
                _ => dice.below(20_000) + 1,
            };
            let piece = piece.min(rest.len());
            output.write_all(&rest[..piece]).expect("the server takes bytes");
            rest = &rest[piece..];
            if dice.below(20) == 0 {
                std::thread::yield_now();
            }
        }
    });
    for (number, wanted) in wanted.iter().enumerate() {
        assert_eq!(&client.read().show(), wanted, "reply {number}");
    }
    writer.join().expect("all was sent");
}

#[test]
fn values_of_64_megabytes_go_in_and_out() {
    let value: Vec<u8> = (0..64u32 << 20).map(|place| (place / 251 + place) as u8).collect();
    for driver in drivers() {
        let server = Server::start(&["--shards", "2", "--driver", driver, "--unixsocket", "FOLDER/socket"]);
        let (mut tcp, mut unix) = (server.connect(), server.connect_unix());
        for key in ["large:1", "large:2", "large:3"] {
            assert_eq!(tcp.ask(&[b"SET", key.as_bytes(), &value]).show(), "+OK");
            let Reply::Bulk(read) = unix.ask(&[b"GET", key.as_bytes()]) else { panic!("a bulk string") };
            assert!(read == value, "{key} came back changed");
            unix.check(&format!("STRLEN {key}"), &format!(":{}", value.len()));
        }
        let Reply::List(read) = tcp.ask(&[b"MGET", b"large:1", b"large:2"]) else { panic!("an array") };
        assert!(read.iter().all(|item| *item == Reply::Bulk(value.clone())), "MGET came back changed");
        assert!(matches!(tcp.ask(&[b"SET", b"other", b"1"]), Reply::Status(_)));
        tcp.check("FLUSHALL", "+OK");
        until("the values' memory is given back", || {
            server.process().resident() < 150 << 20 && server.metric("corelane_chunks_away") == 0.0
        });
    }
}

#[test]
fn clients_above_maxclients_are_told_and_closed() {
    for driver in drivers() {
        let server = Server::start(&["--shards", "2", "--maxclients", "5", "--driver", driver]);
        let mut served: Vec<_> = (0..5).map(|_| server.connect()).collect();
        served.iter_mut().for_each(|client| client.check("PING", "+PONG"));
        for _ in 0..20 {
            let mut refused = server.connect();
            let _ = refused.stream.write_all(b"PING\r\n");
            assert_eq!(refused.read().show(), "-ERR max number of clients reached");
            assert!(refused.try_read().is_err(), "and closed");
        }
        served.pop();
        until("there is room again", || server.connect().says("PING") == "+PONG");
        served[0].check("CONFIG SET maxclients 100", "+OK");
        let mut more: Vec<_> = (0..20).map(|_| server.connect()).collect();
        more.iter_mut().for_each(|client| client.check("PING", "+PONG"));
        assert!(server.connect().says("INFO stats").contains("rejected_connections:2"));
    }
}

/// What strangers and locals are told, one line each. It runs in a network namespace of its own, where an
/// address of the benchmark range stands for the outer world: nothing leaves the namespace.
const STRANGERS: &str = r#"
ip link set lo up && ip address add 198.18.7.1/32 dev lo || exit 77
"$BIN" serve --port 7000 --control-port 0 --shards 2 --bind 0.0.0.0 >/dev/null 2>&1 </dev/null & server=$!
ask() { timeout 5 "$BIN" cli --no-auth-warning -h "$@" 2>&1 | cut -c 1-60; }
for try in $(seq 100); do [ "$(ask 127.0.0.1 -p 7000 PING)" = PONG ] && break; sleep 0.1; done
echo "stranger: $(ask 198.18.7.1 -p 7000 PING)"
echo "local: $(ask 127.0.0.1 -p 7000 PING)"
echo "set: $(ask 127.0.0.1 -p 7000 CONFIG SET requirepass secret)"
echo "stranger: $(ask 198.18.7.1 -p 7000 PING)"
echo "stranger: $(ask 198.18.7.1 -p 7000 -a secret PING)"
echo "open: $(ask 127.0.0.1 -p 7000 -a secret CONFIG SET requirepass '' protected-mode no)"
echo "stranger: $(ask 198.18.7.1 -p 7000 PING)"
kill $server; wait $server; echo "ended: $?"
"#;

#[test]
fn protected_mode_turns_strangers_away() {
    let output = std::process::Command::new("unshare")
        .args(["--net", "bash", "-c", STRANGERS])
        .env("BIN", env!("CARGO_BIN_EXE_corelane"))
        .output();
    let output = match output {
        Ok(output) if !matches!(output.status.code(), Some(1 | 77)) => output,
        _ => return eprintln!("passed by: no network namespace can be made here"),
    };
    let told = String::from_utf8_lossy(&output.stdout);
    let mut lines = told.lines();
    let mut check = |wanted: &str| {
        let line = lines.next().unwrap_or_default();
        assert!(line.starts_with(wanted), "{line:?}, wanted {wanted:?}, of all:\n{told}");
    };
    check("stranger: DENIED Corelane is running in protected mode");
    check("local: PONG");
    check("set: OK");
    check("stranger: NOAUTH");
    check("stranger: PONG");
    check("open: OK");
    check("stranger: PONG");
    check("ended: 0");
}

#[test]
fn a_half_closed_client_gets_all_its_answers() {
    let large = vec![b'x'; 1 << 20];
    for form in forms() {
        for order in ["strict", "relaxed"] {
            let server = Server::start(&[&form[..], &["--pipeline-order", order]].concat());
            server.connect().ask(&[b"SET", b"large", &large]);
            for round in 0..40 {
                let (mut asked, mut wanted) = (Vec::new(), Vec::new());
                for key in 10..10 + round {
                    asked.extend_from_slice(
                        format!("SET k{key} v\r\nGET k{key}\r\nGET z{key}\r\n").as_bytes(),
                    );
                    wanted.extend_from_slice(b"+OK\r\n$1\r\nv\r\n$-1\r\n");
                }
                if round % 10 == 0 {
                    // More than a socket holds: it has to be read before the rest can follow.
                    for _ in 0..5 {
                        asked.extend_from_slice(b"GET large\r\n");
                        wanted.extend_from_slice(&[b"$1048576\r\n", &large[..], b"\r\n"].concat());
                    }
                }
                asked.extend_from_slice(b"MGET z1 z2 z3 z4\r\nGET half");
                wanted.extend_from_slice(b"*4\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n");
                let mut client = server.connect();
                client.send(&asked);
                client.stream.shutdown(Shutdown::Write).expect("it is open");
                let heard = client.rest();
                let same = heard.iter().zip(&wanted).take_while(|(one, other)| one == other).count();
                assert!(
                    heard == wanted,
                    "round {round}: {} bytes of {}, {same} of them right, then {}",
                    heard.len(),
                    wanted.len(),
                    String::from_utf8_lossy(&heard[same..heard.len().min(same + 100)])
                );
            }
            until("all have gone", || server.metric("corelane_connections_open") == 0.0);
        }
    }
}

#[test]
fn sigterm_sends_what_is_due_and_ends_in_order() {
    for form in forms() {
        let mut server = Server::start(
            &[&form[..], &["--unixsocket", "FOLDER/socket", "--pidfile", "FOLDER/pid"]].concat(),
        );
        let pid = std::fs::read_to_string(server.folder.join("pid")).expect("it was written");
        assert_eq!(pid.trim(), server.pid.to_string());
        let mut idle = server.connect();
        idle.check("PING", "+PONG");
        let mut reading = server.connect_unix();
        reading.ask(&[b"SET", b"large", &vec![b'x'; 8 << 20]]);
        let mut bytes = Vec::new();
        for _ in 0..4 {
            encode(&mut bytes, &[b"GET", b"large"]);
        }
        reading.send(&bytes);
        assert_eq!(reading.read(), Reply::Bulk(vec![b'x'; 8 << 20]));
        let reader = std::thread::spawn(move || reading.rest().len());
        let (status, took) = server.terminate();
        assert_eq!(status.code(), Some(0), "{}", server.log());
        assert!(took < Duration::from_secs(15), "{took:?}");
        let rest = reader.join().expect("it reads to the end");
        assert_eq!(rest % ((8 << 20) + 12), 0, "the last reply was cut short: {rest} bytes");
        assert!(idle.try_read().is_err(), "closed");
        for file in ["socket", "pid"] {
            assert!(!server.folder.join(file).exists(), "{file} was left");
        }
        assert!(server.log().contains("SIGTERM"), "{}", server.log());
    }
}

#[test]
fn sigterm_does_not_wait_for_ever_for_a_client_that_does_not_read() {
    let mut server = Server::start(&["--shards", "2"]);
    let mut client = server.connect();
    client.ask(&[b"SET", b"large", &vec![b'x'; 8 << 20]]);
    client.send(&b"GET large\r\n".repeat(20));
    std::thread::sleep(Duration::from_millis(300));
    let (status, took) = server.terminate();
    assert_eq!(status.code(), Some(0), "{}", server.log());
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn shutdown_ends_it_too() {
    let mut server = Server::start(&["--shards", "2"]);
    let mut client = server.connect();
    client.send(b"SHUTDOWN NOSAVE\r\n");
    let (status, _) = server.await_end();
    assert_eq!(status.code(), Some(0));
    assert!(client.rest().is_empty(), "no reply to SHUTDOWN, as Redis has it");
}

#[test]
fn a_port_or_socket_in_use_is_refused_in_words() {
    for shards in ["1", "4"] {
        let server = Server::start(&["--shards", shards, "--unixsocket", "FOLDER/socket"]);
        server.connect().check("SET mine 1", "+OK");
        let port = server.port.to_string();
        for others in ["1", "4"] {
            let (code, text) = refused_start(&["--shards", others, "--port", &port]);
            assert_eq!(code, Some(1), "{text}");
            assert!(text.contains(&format!("cannot listen on 127.0.0.1:{port}: ")), "{text}");
            assert!(text.contains("in use"), "{text}");
        }
        let left = server.folder.join("left");
        let (code, text) = refused_start(&[
            "--control-port",
            &server.control.to_string(),
            "--unixsocket",
            &left.display().to_string(),
            "--pidfile",
            &server.folder.join("left.pid").display().to_string(),
        ]);
        assert_eq!(code, Some(1), "{text}");
        assert!(!left.exists() && !left.with_extension("pid").exists(), "files of a start that failed");
        let socket = server.folder.join("socket").display().to_string();
        let (code, text) = refused_start(&["--unixsocket", &socket]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains(&socket) && text.contains("another server listens"), "{text}");
        let control = server.control.to_string();
        let (code, text) = refused_start(&["--control-port", &control]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("(control-port)") && text.contains("in use"), "{text}");
        server.connect().check("GET mine", "$1");
    }
}

#[test]
fn a_socket_file_left_by_a_killed_server_is_replaced() {
    let folder = std::env::temp_dir().join(format!("corelane-left-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("writable");
    let path = folder.join("socket");
    drop(std::os::unix::net::UnixListener::bind(&path).expect("it is free"));
    assert!(path.exists());
    let mut server = Server::start(&["--unixsocket", &path.display().to_string()]);
    let mut client = Client::new(std::os::unix::net::UnixStream::connect(&path).expect("it listens"));
    client.check("PING", "+PONG");
    server.terminate();
    std::fs::remove_dir(&folder).expect("nothing was left in it");
}

#[test]
fn what_is_wrong_with_a_start_is_said_with_its_own_exit_code() {
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--no-such-setting", "1"], 2, "no-such-setting"),
        (&["--port", "70000"], 1, "port"),
        (&["--shards", "many"], 1, "shards"),
        (&["--maxmemory-policy", "sometimes"], 1, "maxmemory-policy"),
        (&["--driver", "pigeon"], 1, "driver"),
        (&["--bind", "not-an-address"], 1, "bind"),
        (&["--bind", "192.0.2.1"], 1, "cannot listen on 192.0.2.1"),
        (&["--unixsocket", "/nonexistent/folder/socket"], 1, "/nonexistent/folder/socket"),
        (&["--pidfile", "/nonexistent/folder/pid"], 1, "/nonexistent/folder/pid"),
        (&["--cpu", "4000"], 1, "4000"),
        (&["/nonexistent.conf"], 1, "/nonexistent.conf"),
    ];
    let mut faults = Vec::new();
    for (flags, code, word) in cases {
        let (found, text) = refused_start(flags);
        if found != Some(*code) || !text.contains(word) || text.contains("panicked") {
            faults.push(format!("{flags:?}: {found:?} instead of {code}, or no '{word}' in: {text}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_control_port_visits_each_shard_and_counts() {
    for driver in drivers() {
        let server = Server::start(&["--shards", "4", "--driver", driver]);
        let mut client = server.connect();
        for key in 0..1000 {
            client.check(&format!("SET key:{key} v"), "+OK");
        }
        let (status, body) = server.page("/healthz");
        assert!(status.contains("200"), "{status} {body}");
        assert!(server.page("/nothing").0.contains("404"));
        until("all commands are counted", || server.metric("corelane_commands_total") >= 1000.0);
        assert_eq!(server.metric("corelane_connections_open"), 1.0);
        let start = Instant::now();
        let (_, body) = server.page("/metrics");
        assert!(start.elapsed() < Duration::from_secs(10));
        for room in ["queue", "hop", "execute", "flush"] {
            assert!(body.contains(room), "no latency of {room}");
        }
        for shard in 0..4 {
            assert!(body.contains(&format!("shard=\"{shard}\"")), "no shard {shard}");
        }
        assert!(body.contains(&format!("driver=\"{driver}\"")), "no driver {driver}");
    }
}

#[test]
fn a_panic_on_a_shard_ends_the_process_with_a_report() {
    for shards in ["1", "4"] {
        let mut server = Server::start(&["--shards", shards, "--enable-debug-command", "yes"]);
        let mut client = server.connect();
        client.send(b"DEBUG PANIC\r\n");
        let (status, took) = server.await_end();
        assert!(!status.success() && took < Duration::from_secs(20), "{status} after {took:?}");
        let log = server.log();
        assert!(log.contains("BUG REPORT: thread 'shard-"), "{log}");
        assert!(log.contains("the process ends"), "{log}");
        assert!(client.rest().is_empty());
    }
}

#[test]
fn ports_may_be_left_out() {
    let base = free_ports(2).to_string();
    let port = free_port();
    let server = Server::start(&[
        "--port",
        "0",
        "--shards",
        "2",
        "--shard-ports",
        &base,
        "--unixsocket",
        "FOLDER/socket",
    ]);
    server.connect_unix().check("PING", "+PONG");
    server.connect_to(base.parse().expect("a number")).check("PING", "+PONG");
    assert!(TcpStream::connect(("127.0.0.1", server.port)).is_err(), "nobody listens on {port}");
}
