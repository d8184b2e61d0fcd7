//! Every transport against the contract of `port::contract`, with roomy sizes and with tight ones.
//! Knows how each driver is built and dialled, and nothing else.

use epoll::EpollPoller;
use faulty::{Faults, Faulty};
use memory::{MemoryConfig, MemoryPoller};
use port::contract::{Rig, SocketWire, Wire};
use port::sockets::{ListenOn, SocketOptions, listen};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

port::contract_tests!(memory_roomy, MemoryRig(MemoryConfig::default()));
port::contract_tests!(memory_tight, MemoryRig(tight_memory()));
port::contract_tests!(faulty_memory_roomy, FaultyRig(MemoryRig(MemoryConfig::default())));
port::contract_tests!(faulty_memory_tight, FaultyRig(MemoryRig(tight_memory())));

port::contract_tests!(epoll_tcp, EpollRig(Over::Tcp, SocketOptions::default()));
port::contract_tests!(epoll_tcp_tight, EpollRig(Over::Tcp, tight_sockets()));
port::contract_tests!(epoll_unix, EpollRig(Over::Unix, SocketOptions::default()));
port::contract_tests!(epoll_unix_tight, EpollRig(Over::Unix, tight_sockets()));
port::contract_tests!(faulty_epoll_tcp, FaultyRig(EpollRig(Over::Tcp, SocketOptions::default())));
port::contract_tests!(faulty_epoll_unix_tight, FaultyRig(EpollRig(Over::Unix, tight_sockets())));

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

/// A fresh listener on this machine.
fn listener(over: Over, options: &SocketOptions) -> OwnedFd {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let on = match over {
        Over::Tcp => ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false },
        Over::Unix => {
            let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            ListenOn::Unix { path: socket_file(process, number), mode: None }
        }
    };
    listen(&on, options).expect("a listener on this machine")
}

fn socket_file(process: u32, number: u32) -> PathBuf {
    std::env::temp_dir().join(format!("corelane-transports-{process}-{number}.sock"))
}

/// Sizes at which every bound but the kernel's is met all the time.
fn tight_sockets() -> SocketOptions {
    SocketOptions {
        chunk_bytes: 700,
        receive_chunks: 3,
        send_chunks: 5,
        send_chunks_per_link: 2,
        ..SocketOptions::default()
    }
}

struct EpollRig(Over, SocketOptions);

impl Rig for EpollRig {
    type Poller = EpollPoller;

    fn build(&self) -> EpollPoller {
        EpollPoller::new(vec![listener(self.0, &self.1)], self.1.clone()).expect("epoll is always there")
    }

    fn dial(&self, poller: &mut EpollPoller) -> io::Result<Box<dyn Wire>> {
        SocketWire::dial(&poller.local_addresses()[0])
    }
}
