//! What an operator does to a server that runs: turn up its log, stop it while clients do not read, kill it
//! and start it anew. Knows flags, signals and the log.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod support;

use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;
use support::{Client, Server, binary, drivers, free_port, until};

#[test]
fn the_level_of_the_log_is_changed_while_it_runs() {
    let server = Server::start(&["--shards", "2", "--enable-debug-command", "yes"]);
    let mut client = server.connect();
    client.check("DEBUG LOG first", "+OK");
    until("a warning is logged", || server.log().contains("DEBUG LOG: first"));
    client.check("CONFIG SET loglevel warning", "+OK");
    client.check("CONFIG SET shutdown-timeout 7", "+OK");
    client.check("DEBUG LOG second", "+OK");
    until("a warning is logged", || server.log().contains("DEBUG LOG: second"));
    assert!(!server.log().contains("shutdown-timeout is now 7"), "{}", server.log());
    client.check("CONFIG SET loglevel notice", "+OK");
    client.check("CONFIG SET shutdown-timeout 8", "+OK");
    until("a note is logged", || server.log().contains("shutdown-timeout is now 8"));
}

/// A client that asks for more than sockets hold, and does not read.
fn deaf(server: &Server) -> Client<TcpStream> {
    let mut client = server.connect();
    client.ask(&[b"SET", b"large", &vec![b'x'; 8 << 20]]);
    client.send(&b"GET large\r\n".repeat(20));
    until("replies wait for it", || server.metric("corelane_commands_total") >= 21.0);
    client
}

#[test]
fn a_client_that_does_not_read_delays_the_end_by_shutdown_timeout() {
    for driver in drivers() {
        let mut server = Server::start(&["--shards", "2", "--driver", driver, "--shutdown-timeout", "40"]);
        let _deaf = deaf(&server);
        server.connect().check("CONFIG SET shutdown-timeout 2", "+OK");
        until("the house has heard of it", || server.log().contains("shutdown-timeout is now 2"));
        let (status, took) = server.terminate();
        assert_eq!(status.code(), Some(0), "{}", server.log());
        assert!((Duration::from_secs(1)..Duration::from_secs(30)).contains(&took), "{took:?}");
    }
}

#[test]
fn shutdown_now_waits_for_nobody() {
    let mut server = Server::start(&["--shards", "2", "--shutdown-timeout", "100"]);
    let _deaf = deaf(&server);
    server.connect().send(b"SHUTDOWN NOSAVE NOW\r\n");
    let (status, took) = server.await_end();
    assert_eq!(status.code(), Some(0), "{}", server.log());
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn a_server_that_was_killed_is_started_anew_at_once() {
    let port = free_port();
    for driver in drivers() {
        for shards in ["1", "2", "4", "1"] {
            let mut command = Command::new(binary());
            command.args(["--port", &port.to_string(), "--control-port", "0"]);
            command.args(["--shards", shards, "--driver", driver]).stdout(Stdio::null());
            let mut child = command.spawn().expect("the binary starts");
            until("it serves", || {
                let ended = child.try_wait().expect("it is our child");
                assert!(ended.is_none(), "it was refused: {ended:?}");
                TcpStream::connect(("127.0.0.1", port)).is_ok()
            });
            child.kill().expect("it runs");
            child.wait().expect("it is our child");
        }
    }
}
