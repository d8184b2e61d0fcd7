//! What the house does where the system denies it something: io_uring under seccomp, locked memory to an
//! unprivileged user, descriptors. It serves by what is left, and says so.

#[allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod support;

/// The one seccomp filter there is in tests.
#[path = "../transports/uring/tests/bring_up/sys.rs"]
mod sys;

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::Duration;
use support::{Reply, Server, binary, drivers, refused_start, until};

/// Calls something on a thread, and by its children, to which io_uring is denied.
fn without_uring<T: Send>(errno: i32, act: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let denied = scope.spawn(move || {
            sys::deny(libc::SYS_io_uring_setup, errno);
            act()
        });
        denied.join().expect("the thread does not panic")
    })
}

fn info(server: &Server, section: &str) -> String {
    server.connect().ask(&[b"INFO", section.as_bytes()]).text()
}

#[test]
fn where_io_uring_is_denied_it_serves_by_epoll_and_says_so() {
    for errno in [libc::EPERM, libc::ENOSYS] {
        let server = without_uring(errno, || Server::start(&["--shards", "2"]));
        let mut client = server.connect();
        for key in 0..20 {
            client.check(&format!("SET key:{key} {key}"), "+OK");
        }
        for key in 0..20 {
            client.check(&format!("GET key:{key}"), &format!("${key}"));
        }
        for (driver, story) in told(&server, 2) {
            assert_eq!(driver, "epoll");
            assert!(story.contains("epoll, since io_uring is denied: io_uring setup: "), "{story}");
            let error = std::io::Error::from_raw_os_error(errno).to_string();
            assert!(story.contains(&error), "{story}: no {error}");
        }
    }
}

/// Driver and story of each shard: the log says them once, INFO and the metric say the same.
#[track_caller]
fn told(server: &Server, shards: usize) -> Vec<(String, String)> {
    let (log, section) = (server.log(), info(server, "corelane"));
    let (_, metrics) = server.page("/metrics");
    let word = |text: &str, before: &str, after: &str| {
        let rest = text.split(before).nth(1).unwrap_or_else(|| panic!("no {before}:\n{text}"));
        rest.split(after).next().expect("a first part").to_owned()
    };
    let started = word(&log, ", driver ", ", poll ");
    let used = word(&info(server, "server"), "\r\nmultiplexing_api:", "\r\n");
    let mut found = Vec::new();
    for shard in 0..shards {
        let mark = format!(" shard {shard}: ");
        let stories: Vec<&str> =
            log.lines().filter_map(|line| line.split_once(&mark).map(|(_, story)| story)).collect();
        let [story] = stories[..] else { panic!("once a shard:\n{log}") };
        assert!(section.contains(&format!("\r\nshard{shard}_driver:{story}\r\n")), "{section}");
        let figures = section.split(&format!("\r\nshard{shard}:driver=")).nth(1).expect("a line a shard");
        let driver = figures.split(',').next().expect("a first word");
        assert!(started.split('+').any(|name| name == driver), "the start-up line: {started}");
        assert_eq!(used, started, "INFO and the start-up line");
        let labels = format!("shard=\"{shard}\",driver=\"{driver}\",story=\"{story}\"");
        assert!(metrics.contains(&format!("corelane_driver_info{{{labels}}} 1\n")), "no {labels}");
        found.push((driver.to_owned(), story.to_owned()));
    }
    found
}

#[test]
fn where_io_uring_is_denied_but_asked_for_it_does_not_start() {
    for errno in [libc::EPERM, libc::ENOSYS] {
        let (code, text) = without_uring(errno, || refused_start(&["--driver", "uring"]));
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains(": driver uring: "), "{text}");
        assert!(!text.contains("panicked") && !text.contains(" is ready: "), "{text}");
        let server = without_uring(errno, || Server::start(&["--driver", "epoll", "--shards", "1"]));
        let (driver, story) = told(&server, 1).remove(0);
        assert!(driver == "epoll" && story.contains("epoll, as asked for"), "{driver}: {story}");
    }
}

/// The server started by a shell that lowers its limits first.
fn limited(command: &mut Command, limits: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{limits}; exec \"$0\" \"$@\""), binary()]);
    *command = shell;
}

#[test]
fn nobody_with_little_locked_memory_is_served_too() {
    let is_root = rustix::process::getuid().is_root();
    if !is_root {
        eprintln!("not root: the limit alone is tested, not the user");
    }
    let server = Server::start_by(
        |command| {
            limited(command, "ulimit -l 64");
            if is_root {
                command.uid(65534).gid(65534);
            }
        },
        &["--shards", "4", "--unixsocket", "FOLDER/socket"],
    );
    let mut client = server.connect();
    let value = vec![b'v'; 1 << 20];
    for key in 0..50u8 {
        assert_eq!(client.ask(&[b"SET", &[b'k', key], &value]).show(), "+OK");
        assert_eq!(server.connect_unix().ask(&[b"GET", &[b'k', key]]), Reply::Bulk(value.clone()));
    }
    let status = std::fs::read_to_string(format!("/proc/{}/limits", server.pid)).expect("it runs");
    let limit = status.lines().find(|line| line.starts_with("Max locked memory")).expect("a limit");
    assert_eq!(limit.split_whitespace().nth(3), Some("65536"), "{limit}");
    for (driver, story) in told(&server, 4) {
        println!("with 64 KiB of locked memory: {story}");
        let wanted = if driver == "uring" { "io_uring (" } else { "epoll, since io_uring is denied: " };
        assert!(story.contains(wanted), "{driver}: {story}");
    }
}

#[test]
fn with_few_descriptors_it_says_how_many_clients_it_serves_and_tells_the_others() {
    for driver in drivers() {
        let server = Server::start_by(
            |command| limited(command, "ulimit -n 150"),
            &["--shards", "2", "--driver", driver],
        );
        let log = server.log();
        let line = log.lines().find(|line| line.contains("the limit of open files is 150"));
        let line = line.unwrap_or_else(|| panic!("not said:\n{log}"));
        let clients = line.split(": ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a number");
        let clients: usize = clients.parse().expect("a number");
        assert!((30..150).contains(&clients), "{line}");
        let mut served: Vec<_> = (0..clients).map(|_| server.connect()).collect();
        served.iter_mut().for_each(|client| client.check("PING", "+PONG"));
        // Whoever comes above that is told, or hung up on; those who are served notice nothing.
        for _ in 0..300 {
            let mut refused = server.connect();
            let _ = refused.try_read().map(|reply| {
                assert_eq!(reply.show(), "-ERR max number of clients reached");
            });
        }
        let crowd: Vec<_> =
            (0..200).map(|_| std::net::TcpStream::connect(("127.0.0.1", server.port))).collect();
        let before = server.process().cpu_seconds();
        thread::sleep(Duration::from_secs(2));
        let spent = server.process().cpu_seconds() - before;
        assert!(spent < 0.5, "{spent} s of 2 s with descriptors at their limit");
        served.iter_mut().for_each(|client| client.check("PING", "+PONG"));
        drop((crowd, served));
        until("new clients are served again", || {
            let mut client = server.connect();
            let _ = std::io::Write::write_all(&mut client.stream, b"PING\r\n");
            client.try_read().is_ok_and(|reply| reply.show() == "+PONG")
        });
    }
}

#[test]
fn too_few_descriptors_for_anything_are_refused_in_words() {
    let mut server = Command::new("sh");
    server.args(["-c", "ulimit -n 60; exec \"$0\" --port 0 --control-port 0 --shards 2", binary()]);
    let output = server.output().expect("the shell starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the limit of open files is 60"), "{text}");
}
