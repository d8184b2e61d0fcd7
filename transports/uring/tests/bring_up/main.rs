//! Where io_uring is denied, or memory may not be locked, the driver says so or makes do; it never
//! panics. Filters and user ids are set on one thread each, so that the other tests feel nothing.

mod sys;

use corelane_uring::{UringDenied, UringPoller};
use port::sockets::{ListenOn, SocketOptions, listen, local_address};
use port::{Address, Event, Poller};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::set_thread_uid;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

fn listener() -> OwnedFd {
    let on = ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false };
    listen(&on, &SocketOptions::default()).expect("loopback listens")
}

fn denied_by(first: i64, errno: i32) -> UringDenied {
    std::thread::spawn(move || {
        sys::deny(first, errno);
        UringPoller::new(vec![listener()], SocketOptions::default()).expect_err("it is denied")
    })
    .join()
    .expect("denied, not panicked")
}

#[test]
fn a_filter_that_denies_every_call_is_named() {
    let denied = denied_by(libc::SYS_io_uring_setup, libc::EPERM);
    assert_eq!(denied.errno, libc::EPERM);
    assert!(denied.to_string().contains("seccomp"), "{denied}");
    let denied = denied_by(libc::SYS_io_uring_setup, libc::ENOSYS);
    assert_eq!(denied.errno, libc::ENOSYS);
    assert!(denied.to_string().contains("no io_uring"), "{denied}");
}

#[test]
fn a_filter_that_lets_the_ring_be_made_and_denies_its_use_is_found_at_start() {
    for first in [libc::SYS_io_uring_enter, libc::SYS_io_uring_register] {
        for errno in [libc::EPERM, libc::ENOSYS] {
            assert_eq!(denied_by(first, errno).errno, errno);
        }
    }
}

/// A client's word comes back from a poller that echoes.
fn check_serves(mut poller: UringPoller, address: &Address) {
    let Address::Inet(address) = address else { panic!("an internet address") };
    let mut client = TcpStream::connect(address).expect("it listens");
    client.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    client.write_all(b"word").expect("it is sent");
    let start = Instant::now();
    let mut events = Vec::new();
    let mut answered = false;
    while !answered && start.elapsed() < Duration::from_secs(10) {
        poller.poll(16, &mut events);
        for event in events.drain(..) {
            if let Event::Bytes(link, chunk) = event {
                let mut lease = poller.lease(link, 4).expect("a fresh pool lends");
                lease.fill(chunk.filled());
                poller.submit(link, lease);
                poller.recycle(chunk);
                answered = true;
            }
        }
        poller.flush();
    }
    let mut heard = [0; 4];
    client.read_exact(&mut heard).expect("it is answered");
    assert_eq!(&heard, b"word");
}

/// As an unprivileged user with ever less memory to lock: a smaller ring, or a clear refusal.
/// Only root can become such a user, so others skip it.
#[test]
fn little_lockable_memory_gives_a_small_ring_or_a_clear_refusal() {
    if !rustix::process::getuid().is_root() {
        eprintln!("skipped: only root can drop its privileges");
        return;
    }
    let before = getrlimit(Resource::Memlock);
    let mut rings = Vec::new();
    for kib in [8192, 512, 128, 96, 64, 32, 16, 0u64] {
        setrlimit(Resource::Memlock, Rlimit { current: Some(kib * 1024), maximum: before.maximum })
            .expect("root sets limits");
        let said = std::thread::spawn(move || {
            set_thread_uid(rustix::process::Uid::from_raw(65534)).expect("root becomes anyone");
            let fd = listener();
            let address = local_address(&fd).expect("it is bound");
            match UringPoller::new(vec![fd], SocketOptions::default()) {
                Ok(poller) => {
                    let description = poller.describe().to_owned();
                    check_serves(poller, &address);
                    description
                }
                Err(denied) => {
                    assert_eq!(denied.errno, libc::ENOMEM, "{denied}");
                    assert!(denied.what.contains("RLIMIT_MEMLOCK"), "{denied}");
                    denied.to_string()
                }
            }
        })
        .join()
        .expect("a small ring or a refusal, no panic");
        println!("{kib} KiB: {said}");
        rings.push(said);
        // A closed ring is uncharged a little later.
        std::thread::sleep(Duration::from_millis(50));
    }
    setrlimit(Resource::Memlock, before).expect("root sets limits");
    assert!(rings[0].contains("1024/4096"), "8 MiB, Debian's default, is room enough: {}", rings[0]);
    assert!(rings.last().expect("eight were tried").contains("RLIMIT_MEMLOCK"), "nothing fits in nothing");
}
