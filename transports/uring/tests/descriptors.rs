//! Out of descriptors: the driver rests instead of spinning, and serves the waiting client once one is
//! free. Alone in its binary, for the limit holds for the whole process.

use corelane_uring::UringPoller;
use port::sockets::{ListenOn, SocketOptions, listen, local_address};
use port::{Address, Close, Event, Poller};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn opened(poller: &mut UringPoller, events: &mut Vec<Event>, within: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < within {
        poller.park(Some(Duration::from_millis(20)));
        poller.poll(16, events);
        poller.flush();
        if events.iter().any(|event| matches!(event, Event::Opened(..))) {
            return true;
        }
    }
    false
}

#[test]
fn an_accept_without_descriptors_rests_and_comes_back() {
    // The kernel notes the limit when the accept is armed.
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: before.maximum })
        .expect("a lower limit is always allowed");
    let on = ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false };
    let fd = listen(&on, &SocketOptions::default()).expect("loopback listens");
    let Address::Inet(address) = local_address(&fd).expect("it is bound") else { panic!("an address") };
    let mut poller = UringPoller::new(vec![fd], SocketOptions::default()).expect("io_uring is allowed here");
    let mut events = Vec::new();
    let first = TcpStream::connect(address).expect("it listens");
    assert!(opened(&mut poller, &mut events, Duration::from_secs(5)));
    let Some(Event::Opened(link, _)) = events.pop() else { panic!("the first event of a link") };
    events.clear();

    let waiting = TcpStream::connect(address).expect("the backlog takes it");
    let hogs: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    let enters = poller.stats().syscalls;
    assert!(!opened(&mut poller, &mut events, Duration::from_millis(350)), "no descriptor is left");
    let spent = poller.stats().syscalls - enters;
    assert!(spent < 100, "it rests: {spent} system calls in a third of a second");

    drop(first);
    poller.close(link, Close::Abort);
    assert!(opened(&mut poller, &mut events, Duration::from_secs(5)), "the waiting client is served");
    drop((waiting, hogs));
    setrlimit(Resource::Nofile, before).expect("back to what it was");
}
