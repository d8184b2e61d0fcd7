//! Listeners that come and go while links live, on every driver of kernel sockets: what CONFIG SET port
//! and bind ask of a transport. Knows no commands.
#![forbid(unsafe_code)]

use port::sockets::{ListenOn, SocketOptions, listen, local_address};
use port::{Address, Event, Poller};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

fn listener() -> (SocketAddr, OwnedFd) {
    let on = ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false };
    let socket = listen(&on, &SocketOptions::default()).expect("loopback listens");
    let Ok(Address::Inet(address)) = local_address(&socket) else { panic!("an internet address") };
    (address, socket)
}

/// Polls until an event is wanted, or for a while; echoes what comes meanwhile.
fn until(poller: &mut dyn Poller, wanted: impl Fn(&Event) -> bool, patience: Duration) -> bool {
    let (start, mut events, mut found) = (Instant::now(), Vec::new(), false);
    while !found && start.elapsed() < patience {
        poller.poll(64, &mut events);
        for event in events.drain(..) {
            found |= wanted(&event);
            if let Event::Bytes(link, chunk) = event {
                let mut answer = poller.lease(link, chunk.filled().len()).expect("nothing is on its way");
                answer.fill(chunk.filled());
                poller.submit(link, answer);
                poller.recycle(chunk);
            }
        }
        poller.flush();
        std::thread::sleep(Duration::from_millis(1));
    }
    found
}

const LONG: Duration = Duration::from_secs(10);

fn doors_come_and_go(mut poller: Box<dyn Poller>, old: SocketAddr) {
    let opened = |event: &Event| matches!(event, Event::Opened(..));
    let mut first = TcpStream::connect(old).expect("it listens");
    assert!(until(&mut *poller, opened, LONG));

    let (new, socket) = listener();
    poller.listen(socket).expect("the driver takes sockets");
    let _second = TcpStream::connect(new).expect("it listens here too");
    assert!(until(&mut *poller, opened, LONG));
    let _third = TcpStream::connect(old).expect("and there still");
    assert!(until(&mut *poller, opened, LONG));

    poller.stop_listening(&Address::Inet(old));
    let start = Instant::now();
    while TcpStream::connect(old).is_ok() {
        until(&mut *poller, |_| false, Duration::from_millis(5));
        assert!(start.elapsed() < LONG, "the old address is still listened on");
    }
    let _fourth = TcpStream::connect(new).expect("the new address is not");
    assert!(until(&mut *poller, opened, LONG));

    first.write_all(b"still here").expect("the link lives");
    assert!(until(&mut *poller, |event| matches!(event, Event::Bytes(..)), LONG));
    first.set_read_timeout(Some(LONG)).expect("a timeout");
    let mut heard = [0; 10];
    first.read_exact(&mut heard).expect("an answer");
    assert_eq!(&heard, b"still here");
}

#[test]
fn over_epoll() {
    let (address, socket) = listener();
    let poller = epoll::EpollPoller::new(vec![socket], SocketOptions::default()).expect("epoll is there");
    doors_come_and_go(Box::new(poller), address);
}

#[test]
fn over_io_uring() {
    let (address, socket) = listener();
    match uring::UringPoller::new(vec![socket], SocketOptions::default()) {
        Ok(poller) => doors_come_and_go(Box::new(poller), address),
        Err(denied) => eprintln!("not run: {denied}"),
    }
}
