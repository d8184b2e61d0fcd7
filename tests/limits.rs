//! What bounds a client: output that nobody reads, input without end, idleness, pauses; and that nobody
//! else notices. Over real sockets.

#![forbid(unsafe_code)]

#[allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod support;

use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};
use support::{Client, Reply, Server, drivers, until};

const MEGABYTE: usize = 1 << 20;

fn with_a_megabyte(flags: &[&str]) -> Server {
    let server = Server::start(flags);
    assert_eq!(server.connect().ask(&[b"SET", b"large", &vec![b'x'; MEGABYTE]]).show(), "+OK");
    server
}

/// A client that asks for so many megabytes and reads none.
fn stuck(server: &Server, megabytes: usize) -> Client<TcpStream> {
    let mut client = server.connect();
    client.send(&b"GET large\r\n".repeat(megabytes));
    client
}

#[test]
fn clients_that_do_not_read_keep_nobody_waiting() {
    for driver in drivers() {
        let server = with_a_megabyte(&["--shards", "1", "--driver", driver]);
        // Each holds all the chunks it may have; together they would hold every chunk there is.
        let crowd: Vec<_> = (0..150).map(|_| stuck(&server, 12)).collect();
        thread::sleep(Duration::from_millis(500));
        let mut client = server.connect();
        let start = Instant::now();
        for _ in 0..20 {
            client.check("PING", "+PONG");
            assert_eq!(client.ask(&[b"GET", b"large"]), Reply::Bulk(vec![b'x'; MEGABYTE]));
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{:?} for 20 MB", start.elapsed());
        drop(crowd);
        drop(client);
        until("all have gone", || server.metric("corelane_connections_open") == 0.0);
        until("all chunks are home", || server.metric("corelane_chunks_away") == 0.0);
    }
}

#[test]
fn a_client_that_does_not_read_gets_all_once_it_does() {
    for shards in ["1", "4"] {
        let server = with_a_megabyte(&["--shards", shards]);
        // More than a core keeps for such clients together.
        let mut clients: Vec<_> = (0..6).map(|_| stuck(&server, 150)).collect();
        thread::sleep(Duration::from_secs(1));
        let held = server.process().resident() >> 20;
        println!("{shards} shards hold {held} MiB for 900 MiB of replies");
        for client in &mut clients {
            for _ in 0..150 {
                let Reply::Bulk(bytes) = client.read() else { panic!("a bulk string") };
                assert_eq!(bytes.len(), MEGABYTE);
            }
            client.check("PING", "+PONG");
        }
        assert!(shards != "1" || held < 600, "{held} MiB: clients that do not read are held back");
    }
}

#[test]
fn all_commands_may_be_sent_before_the_first_reply_is_read() {
    for shards in ["1", "4"] {
        let server = with_a_megabyte(&["--shards", shards]);
        let mut client = server.connect();
        // More replies, and more commands, than sockets hold.
        client.send(&b"GET large\r\nGET nothing\r\n".repeat(100));
        client.send(&format!("SET some {}\r\n", "v".repeat(200)).repeat(100_000).into_bytes());
        for _ in 0..100 {
            let Reply::Bulk(bytes) = client.read() else { panic!("a bulk string") };
            assert_eq!(bytes.len(), MEGABYTE);
            assert_eq!(client.read(), Reply::Null);
        }
        (0..100_000).for_each(|_| assert!(client.read().show() == "+OK"));
    }
}

#[test]
fn output_limits_close_those_who_do_not_read() {
    for (limit, patience) in [("normal 2mb 0 0", 20), ("normal 0 1mb 1", 20)] {
        for shards in ["1", "4"] {
            let server = with_a_megabyte(&["--shards", shards, "--client-output-buffer-limit", limit]);
            let mut patient = server.connect();
            assert_eq!(patient.ask(&[b"GET", b"large"]), Reply::Bulk(vec![b'x'; MEGABYTE]));
            let mut greedy = stuck(&server, 60);
            let start = Instant::now();
            until("a limit is met", || server.metric("corelane_limit_closes_total") >= 1.0);
            until("it is closed", || server.metric("corelane_connections_open") == 1.0);
            assert!(start.elapsed() < Duration::from_secs(patience), "{:?}", start.elapsed());
            assert!(greedy.rest().len() < 60 * MEGABYTE, "it was not sent all");
            patient.check("PING", "+PONG");
        }
    }
}

#[test]
fn a_stuck_client_is_killed_at_once() {
    for driver in drivers() {
        let server = with_a_megabyte(&["--shards", "2", "--driver", driver]);
        for _ in 0..10 {
            let mut victim = server.connect();
            let Reply::Integer(id) = victim.ask(&[b"CLIENT", b"ID"]) else { panic!("a number") };
            victim.send(&b"GET large\r\n".repeat(100));
            thread::sleep(Duration::from_millis(50));
            server.connect().check(&format!("CLIENT KILL ID {id}"), ":1");
            until("it has gone", || server.metric("corelane_connections_open") == 0.0);
            assert!(victim.rest().len() < 100 * MEGABYTE);
        }
    }
}

#[test]
fn input_without_end_closes_that_client_alone() {
    for shards in ["1", "4"] {
        let server = Server::start(&["--shards", shards, "--client-query-buffer-limit", "1mb"]);
        let mut other = server.connect();
        let mut endless = server.connect();
        endless.send(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000000\r\n");
        let sent = (0..100)
            .take_while(|_| std::io::Write::write_all(&mut endless.stream, &vec![b'x'; MEGABYTE]).is_ok());
        assert!(sent.count() < 100, "it was let go on");
        assert!(endless.rest().is_empty());
        assert!(server.metric("corelane_limit_closes_total") >= 1.0);
        other.check("GET k", "_");
        // A pipeline that has to wait is no such input: it is not read any further.
        other.check("CLIENT PAUSE 300 ALL", "+OK");
        let mut patient = server.connect();
        patient.send(&b"SET p 1\r\n".repeat(500_000));
        (0..500_000).for_each(|_| assert_eq!(patient.read().show(), "+OK"));
    }
}

#[test]
fn who_is_idle_too_long_is_closed_and_others_are_not() {
    for shards in ["1", "4"] {
        let server = Server::start(&["--shards", shards, "--timeout", "1"]);
        let mut idle: Vec<_> = (0..200).map(|_| server.connect()).collect();
        idle.iter_mut().for_each(|client| client.check("PING", "+PONG"));
        let mut active = server.connect();
        until("the idle ones are closed", || {
            active.check("PING", "+PONG");
            server.metric("corelane_connections_open") == 1.0
        });
        assert!(idle.iter_mut().all(|client| client.rest().is_empty()));
        active.check("PING", "+PONG");
    }
}

#[test]
fn what_waits_for_a_pause_runs_after_it_in_order() {
    for shards in ["1", "4"] {
        let server = Server::start(&["--shards", shards]);
        let mut host = server.connect();
        host.check("SET before 1", "+OK");
        host.check("CLIENT PAUSE 60000 WRITE", "+OK");
        let mut waiting: Vec<_> = (0..20).map(|_| server.connect()).collect();
        for (number, client) in waiting.iter_mut().enumerate() {
            client.send(format!("SET k{number} {number}\r\nGET k{number}\r\n").as_bytes());
        }
        let mut flusher = server.connect();
        flusher.send(b"FLUSHALL\r\n");
        until("all wait", || host.says("INFO clients").contains("blocked_clients:21"));
        host.check("GET before", "$1");
        host.check("MGET before k1", "[$1 _]");
        host.check("CLIENT UNPAUSE", "+OK");
        for (number, client) in waiting.iter_mut().enumerate() {
            assert_eq!(client.read().show(), "+OK");
            // FLUSHALL may come between.
            assert!([format!("${number}"), "_".to_owned()].contains(&client.read().show()));
        }
        assert_eq!(flusher.read().show(), "+OK");
        host.check("GET before", "_");
    }
}

#[test]
fn who_goes_during_a_pause_leaves_nothing_behind() {
    for shards in ["1", "4"] {
        for half in [true, false] {
            let server = Server::start(&["--shards", shards]);
            let mut host = server.connect();
            host.check("CLIENT PAUSE 60000 ALL", "+OK");
            let leaving: Vec<_> = (0..50).map(|_| server.connect()).collect();
            for mut client in leaving {
                client.send(b"SET k v\r\nGET k\r\n");
                if half {
                    let _ = client.stream.shutdown(Shutdown::Write);
                    assert!(client.rest().is_empty());
                }
            }
            until("all have gone", || server.metric("corelane_connections_open") == 1.0);
            host.check("CLIENT UNPAUSE", "+OK");
            host.check("SET k mine", "+OK");
            host.check("GET k", "$mine");
        }
    }
}

#[test]
fn sigterm_ends_a_paused_and_crowded_server_too() {
    let mut server = with_a_megabyte(&["--shards", "4"]);
    let mut host = server.connect();
    let crowd: Vec<_> = (0..50).map(|_| stuck(&server, 40)).collect();
    host.check("CLIENT PAUSE 60000 ALL", "+OK");
    let mut waiting = server.connect();
    waiting.send(b"SET k v\r\n");
    let (status, took) = server.terminate();
    assert_eq!(status.code(), Some(0), "{}", server.log());
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(waiting.rest().is_empty());
    drop(crowd);
}
