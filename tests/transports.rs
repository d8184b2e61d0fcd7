//! Every transport against the contract of `port::contract`, with roomy sizes and with tight ones.
//! Knows how each driver is built and dialled, and nothing else.

use epoll::EpollPoller;
use faulty::{Faults, Faulty};
use memory::{MemoryConfig, MemoryPoller};
use port::contract::{Rig, SocketWire, Wire};
use port::sockets::{ListenOn, SocketOptions, listen, local_address};
use port::{Address, Close, Event, Poller, Why};
use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use uring::UringPoller;

port::contract_tests!(memory_roomy, MemoryRig(MemoryConfig::default()));
port::contract_tests!(memory_tight, MemoryRig(tight_memory()));
port::contract_tests!(faulty_memory_roomy, FaultyRig(MemoryRig(MemoryConfig::default())));
port::contract_tests!(faulty_memory_tight, FaultyRig(MemoryRig(tight_memory())));

port::contract_tests!(epoll_tcp, EpollRig(Sockets::roomy(Over::Tcp)));
port::contract_tests!(epoll_tcp_tight, EpollRig(Sockets::tight(Over::Tcp)));
port::contract_tests!(epoll_unix, EpollRig(Sockets::roomy(Over::Unix)));
port::contract_tests!(epoll_unix_tight, EpollRig(Sockets::tight(Over::Unix)));
port::contract_tests!(faulty_epoll_tcp, FaultyRig(EpollRig(Sockets::roomy(Over::Tcp))));
port::contract_tests!(faulty_epoll_unix_tight, FaultyRig(EpollRig(Sockets::tight(Over::Unix))));
port::contract_tests!(uring_tcp, UringRig(Sockets::roomy(Over::Tcp)), uring_is_allowed());
port::contract_tests!(uring_tcp_tight, UringRig(Sockets::tight(Over::Tcp)), uring_is_allowed());
port::contract_tests!(uring_unix, UringRig(Sockets::roomy(Over::Unix)), uring_is_allowed());
port::contract_tests!(uring_unix_tight, UringRig(Sockets::tight(Over::Unix)), uring_is_allowed());
port::contract_tests!(faulty_uring_tcp, FaultyRig(UringRig(Sockets::roomy(Over::Tcp))), uring_is_allowed());
port::contract_tests!(
    faulty_uring_unix_tight,
    FaultyRig(UringRig(Sockets::tight(Over::Unix))),
    uring_is_allowed()
);

struct MemoryRig(MemoryConfig);

/// Sizes at which every bound is met all the time.
fn tight_memory() -> MemoryConfig {
    MemoryConfig {
        chunk_bytes: 700,
        receive_chunks: 3,
        send_chunks: 5,
        send_chunks_per_link: 2,
        wire_bytes: 5000,
        ..MemoryConfig::default()
    }
}

impl Rig for MemoryRig {
    type Poller = MemoryPoller;

    fn build(&self) -> MemoryPoller {
        MemoryPoller::new(self.0.clone())
    }

    fn dial(&self, poller: &mut MemoryPoller) -> io::Result<Box<dyn Wire>> {
        Ok(Box::new(poller.connector().dial()?))
    }
}

struct FaultyRig<R>(R);

impl<R: Rig> Rig for FaultyRig<R> {
    type Poller = Faulty<R::Poller>;

    fn build(&self) -> Self::Poller {
        Faulty::new(self.0.build(), Faults { seed: 7, ..Faults::default() })
    }

    fn dial(&self, poller: &mut Self::Poller) -> io::Result<Box<dyn Wire>> {
        self.0.dial(poller.inner_mut())
    }
}

/// Which family of sockets a rig listens on.
#[derive(Clone, Copy)]
enum Over {
    Tcp,
    Unix,
}

/// Listeners on this machine; the socket files go with it.
struct Sockets {
    over: Over,
    options: SocketOptions,
    latest: RefCell<Option<Address>>,
    files: RefCell<Vec<PathBuf>>,
}

impl Sockets {
    fn new(over: Over, options: SocketOptions) -> Sockets {
        Sockets { over, options, latest: RefCell::default(), files: RefCell::default() }
    }

    fn roomy(over: Over) -> Sockets {
        Sockets::new(over, SocketOptions::default())
    }

    /// Sizes at which every bound but the kernel's is met all the time.
    fn tight(over: Over) -> Sockets {
        let options = SocketOptions {
            chunk_bytes: 700,
            send_chunk_bytes: 700,
            receive_chunks: 3,
            send_chunks: 5,
            send_chunks_per_link: 2,
            ..SocketOptions::default()
        };
        Sockets::new(over, options)
    }

    fn listen(&self) -> OwnedFd {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let on = match self.over {
            Over::Tcp => ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false },
            Over::Unix => {
                let number = NEXT.fetch_add(1, Ordering::Relaxed);
                let name = format!("corelane-transports-{}-{number}.sock", std::process::id());
                let path = std::env::temp_dir().join(name);
                self.files.borrow_mut().push(path.clone());
                ListenOn::Unix { path, mode: None }
            }
        };
        let fd = listen(&on, &self.options).expect("this machine listens to itself");
        *self.latest.borrow_mut() = Some(local_address(&fd).expect("it is bound"));
        fd
    }

    /// Dials the latest listener: a test builds one poller after the other.
    fn dial(&self) -> io::Result<Box<dyn Wire>> {
        SocketWire::dial(self.latest.borrow().as_ref().expect("a poller was built"))
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        for file in self.files.borrow().iter() {
            let _ = std::fs::remove_file(file);
        }
    }
}

struct EpollRig(Sockets);

impl Rig for EpollRig {
    type Poller = EpollPoller;

    fn build(&self) -> EpollPoller {
        EpollPoller::new(vec![self.0.listen()], self.0.options.clone()).expect("epoll is always there")
    }

    fn dial(&self, _poller: &mut EpollPoller) -> io::Result<Box<dyn Wire>> {
        self.0.dial()
    }
}

struct UringRig(Sockets);

impl Rig for UringRig {
    type Poller = UringPoller;

    fn build(&self) -> UringPoller {
        UringPoller::new(vec![self.0.listen()], self.0.options.clone()).expect("io_uring was just allowed")
    }

    fn dial(&self, _poller: &mut UringPoller) -> io::Result<Box<dyn Wire>> {
        self.0.dial()
    }
}

fn uring_is_allowed() -> bool {
    UringPoller::new(Vec::new(), SocketOptions::default()).is_ok()
}

/// Links dropped by chance: each ends once, said to be reset, and the others lose nothing.
#[test]
fn faulty_drops_links_by_chance_and_keeps_its_books() {
    let inner = MemoryPoller::new(MemoryConfig::default());
    let connector = inner.connector();
    let mut poller = Faulty::new(inner, Faults { seed: 3, drop_one_in: 20, ..Faults::default() });
    let (mut opened, mut reset, mut whole, mut events) = (0, 0, 0, Vec::new());
    for _ in 0..200 {
        let mut wire = connector.dial().expect("it listens");
        for word in [b"one", b"two", b"six"] {
            assert_eq!(wire.send(word), 3);
        }
        wire.shutdown_write();
        let (mut received, mut open) = (Vec::new(), true);
        while open {
            poller.poll(8, &mut events);
            for event in events.drain(..) {
                match event {
                    Event::Opened(..) => opened += 1,
                    Event::Writable(_) => {}
                    Event::Ended(link) => poller.close(link, Close::Drain),
                    Event::Bytes(_, chunk) => {
                        received.extend_from_slice(chunk.filled());
                        poller.recycle(chunk);
                    }
                    Event::Closed(_, why) => {
                        open = false;
                        match why {
                            Why::Error(104) => reset += 1,
                            _ => whole += usize::from(received == b"onetwosix"),
                        }
                    }
                }
            }
            poller.flush();
        }
    }
    assert_eq!((opened, reset + whole), (200, 200));
    assert!(reset > 2 && whole > 100, "{reset} dropped, {whole} whole");
    assert_eq!(poller.stats().chunks_away, 0);
}

/// The same seed over the same calls brings the same events.
#[test]
fn faulty_repeats_itself() {
    let run = |seed| {
        let inner = MemoryPoller::new(MemoryConfig::default());
        let mut wires: Vec<_> = (0..5).map(|_| inner.connector().dial().expect("it listens")).collect();
        let mut poller = Faulty::new(inner, Faults { seed, ..Faults::default() });
        let (mut events, mut told) = (Vec::new(), String::new());
        for round in 0..100u8 {
            for wire in &mut wires {
                wire.send(&[round; 50]);
            }
            poller.poll(16, &mut events);
            for event in events.drain(..) {
                told.push_str(&format!("{event:?};"));
                if let Event::Bytes(_, chunk) = event {
                    poller.recycle(chunk);
                }
            }
        }
        told
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
