//! Out of descriptors: a process of its own, since the limit is the process's. Clients that cannot be
//! taken are hung up on, the core does not spin, and all is well when descriptors are back.

use corelane_epoll::EpollPoller;
use port::sockets::{ListenOn, SocketOptions, listen};
use port::{Address, Event, Poller};
use rustix::net::{AddressFamily, RecvFlags, SocketType, connect, recv, socket};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

struct Server {
    poller: EpollPoller,
    address: SocketAddr,
    events: Vec<Event>,
    opened: usize,
}

impl Server {
    fn new() -> Server {
        let on = ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false };
        let options = SocketOptions::default();
        let listener = listen(&on, &options).expect("loopback listens");
        let poller = EpollPoller::new(vec![listener], options).expect("epoll is there");
        let Address::Inet(address) = poller.local_addresses()[0] else { panic!("an internet address") };
        Server { poller, address, events: Vec::new(), opened: 0 }
    }

    fn tick(&mut self) {
        self.poller.poll(64, &mut self.events);
        for event in self.events.drain(..) {
            self.opened += usize::from(matches!(event, Event::Opened(..)));
        }
        self.poller.flush();
    }

    /// How often a park returns in 300 ms.
    fn restlessness(&mut self) -> usize {
        let (start, mut returns) = (Instant::now(), 0);
        while start.elapsed() < Duration::from_millis(300) {
            self.poller.park(Some(Duration::from_millis(50)));
            self.tick();
            returns += 1;
        }
        returns
    }
}

/// Sockets made before none is left; connecting takes no descriptor more.
fn clients(count: usize) -> Vec<OwnedFd> {
    (0..count).map(|_| socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket")).collect()
}

/// Takes every descriptor there is.
fn fill_the_table() -> Vec<OwnedFd> {
    std::iter::from_fn(|| rustix::io::dup(rustix::stdio::stdin()).ok()).collect()
}

fn was_hung_up_on(client: &OwnedFd) -> bool {
    // End of stream, or a reset: what matters is that the client does not wait for ever.
    !matches!(recv(client, &mut [0u8; 1][..], RecvFlags::DONTWAIT), Err(rustix::io::Errno::AGAIN))
}

#[test]
fn without_descriptors_clients_are_let_in_and_out_and_the_core_sleeps() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(256), ..limit }).expect("a lower limit is allowed");
    let mut server = Server::new();
    let (early, crowd, greedy, late) = (clients(1), clients(40), clients(40), clients(5));
    connect(&early[0], &server.address).expect("a backlog");
    server.tick();
    assert_eq!(server.opened, 1);

    let taken = fill_the_table();
    for client in &crowd {
        connect(client, &server.address).expect("a backlog");
    }
    assert!(server.restlessness() < 60, "it slept");
    assert_eq!(server.opened, 1, "none could be taken");
    assert!(crowd.iter().all(was_hung_up_on), "and none was left waiting");
    assert!(!was_hung_up_on(&early[0]), "who was in stays in");

    // Another thread snatches the spare descriptor whenever it is given up: the doors are shut a while.
    let (stop, snatched) = (AtomicBool::new(false), std::sync::Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                snatched.lock().expect("no panic").extend(fill_the_table());
            }
        });
        for client in &greedy {
            connect(client, &server.address).expect("a backlog");
        }
        let returns = server.restlessness();
        stop.store(true, Ordering::Relaxed);
        assert!(returns < 100, "it slept, but for {returns} returns");
    });
    assert_eq!(server.opened, 1);

    drop((taken, snatched, crowd, greedy));
    for client in &late {
        connect(client, &server.address).expect("a backlog");
    }
    let start = Instant::now();
    while server.opened < 1 + late.len() {
        assert!(start.elapsed() < Duration::from_secs(10), "{} links opened", server.opened);
        server.poller.park(Some(Duration::from_secs(10)));
        server.tick();
    }
    assert!(!late.iter().any(was_hung_up_on), "with descriptors back, clients are served");
}
