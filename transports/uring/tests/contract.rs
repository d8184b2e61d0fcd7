//! The transports' contract over io_uring, on both socket families, and on rings with few buffers.
//! Where io_uring is denied there is nothing to test here: the tests say so and pass.

use corelane_uring::UringPoller;
use port::contract::{Rig, SocketWire, Wire};
use port::sockets::{ListenOn, SocketOptions, listen, local_address};
use port::{Address, Chunk, Close, Event, LinkId, Poller, PollerStats};
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A poller that remembers where it listens.
struct Listening {
    poller: UringPoller,
    address: Address,
    socket_file: Option<PathBuf>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(path) = &self.socket_file {
            let _ = std::fs::remove_file(path);
        }
    }
}

struct Sockets {
    unix: bool,
    options: SocketOptions,
}

impl Sockets {
    fn tcp() -> Sockets {
        Sockets { unix: false, options: SocketOptions::default() }
    }

    fn unix() -> Sockets {
        Sockets { unix: true, options: SocketOptions::default() }
    }

    /// So little of everything that every bound is met.
    fn tiny(unix: bool) -> Sockets {
        let options = SocketOptions {
            chunk_bytes: 512,
            receive_chunks: 2,
            send_chunks: 5,
            send_chunks_per_link: 3,
            ..SocketOptions::default()
        };
        Sockets { unix, options }
    }
}

impl Rig for Sockets {
    type Poller = Listening;

    fn build(&self) -> Listening {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("corelane-uring-{}-{number}.sock", std::process::id());
        let path = std::env::temp_dir().join(name);
        let on = if self.unix {
            ListenOn::Unix { path: path.clone(), mode: None }
        } else {
            ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false }
        };
        let fd = listen(&on, &self.options).expect("loopback listens");
        let address = local_address(&fd).expect("it is bound");
        let poller = UringPoller::new(vec![fd], self.options.clone()).expect("io_uring is allowed here");
        Listening { poller, address, socket_file: self.unix.then_some(path) }
    }

    fn dial(&self, poller: &mut Listening) -> std::io::Result<Box<dyn Wire>> {
        SocketWire::dial(&poller.address)
    }
}

impl Poller for Listening {
    fn name(&self) -> &'static str {
        self.poller.name()
    }
    fn poll(&mut self, budget: usize, events: &mut Vec<Event>) {
        self.poller.poll(budget, events);
    }
    fn lease(&mut self, link: LinkId, at_least: usize) -> Option<Chunk> {
        self.poller.lease(link, at_least)
    }
    fn submit(&mut self, link: LinkId, chunk: Chunk) {
        self.poller.submit(link, chunk);
    }
    fn recycle(&mut self, chunk: Chunk) {
        self.poller.recycle(chunk);
    }
    fn flush(&mut self) {
        self.poller.flush();
    }
    fn close(&mut self, link: LinkId, how: Close) {
        self.poller.close(link, how);
    }
    fn throttle(&mut self, link: LinkId, stop: bool) {
        self.poller.throttle(link, stop);
    }
    fn chunk_size(&self) -> usize {
        self.poller.chunk_size()
    }
    fn stop_accepting(&mut self) {
        self.poller.stop_accepting();
    }
    fn links(&self) -> usize {
        self.poller.links()
    }
    fn stats(&self) -> PollerStats {
        self.poller.stats()
    }
    fn sleep_on(&self) -> Option<RawFd> {
        self.poller.sleep_on()
    }
    fn watch(&mut self, fd: RawFd) -> bool {
        self.poller.watch(fd)
    }
    fn park(&mut self, timeout: Option<Duration>) -> bool {
        self.poller.park(timeout)
    }
}

port::contract_tests!(tcp, Sockets::tcp());
port::contract_tests!(unix, Sockets::unix());
port::contract_tests!(tiny_tcp, Sockets::tiny(false));
port::contract_tests!(tiny_unix, Sockets::tiny(true));
