//! A server of one thread, to measure what the driver itself costs: it echoes, or answers `+PONG` to
//! every 14 bytes, which is what `redis-benchmark -t ping_mbulk` sends. Loopback only.
//!
//! `echo uring|epoll|blocking PORT [pong] [spin]`: io_uring, a plain level-triggered epoll loop, or
//! reads on one connection. Prints its CPU time and system calls as each last client leaves.
//! `echo dial PORT`: sends 64 bytes at a time from a spinning client and prints the round trip.

use corelane_uring::UringPoller;
use port::sockets::{ListenOn, SocketOptions, listen};
use port::{Close, Event, Poller};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

const PONG: &[u8] = b"+PONG\r\n";
const PING_BYTES: usize = 14;

/// What is answered to the bytes of one read.
fn answer<'a>(pong: bool, heard: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    if !pong {
        return heard;
    }
    scratch.clear();
    for _ in 0..heard.len() / PING_BYTES {
        scratch.extend_from_slice(PONG);
    }
    scratch
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn over_uring(listener: OwnedFd, pong: bool, spin: bool) {
    let mut poller = UringPoller::new(vec![listener], SocketOptions::default()).expect("io_uring is allowed");
    println!("{}", poller.describe());
    let (mut events, mut scratch) = (Vec::new(), Vec::new());
    loop {
        poller.poll(256, &mut events);
        if events.is_empty() {
            if !spin {
                poller.park(Some(Duration::from_secs(1)));
            }
            continue;
        }
        for event in events.drain(..) {
            match event {
                Event::Bytes(link, chunk) => {
                    let mut left = answer(pong, chunk.filled(), &mut scratch);
                    while !left.is_empty() {
                        let Some(mut lease) = poller.lease(link, left.len()) else { break };
                        let filled = lease.fill(left);
                        left = &left[filled..];
                        poller.submit(link, lease);
                    }
                    poller.recycle(chunk);
                }
                Event::Closed(..) if poller.links() == 0 => {
                    println!("cpu {:.3} s, {} system calls", cpu_seconds(), poller.stats().syscalls);
                }
                Event::Ended(link) => poller.close(link, Close::Drain),
                Event::Opened(..) | Event::Closed(..) | Event::Writable(_) => {}
            }
        }
        poller.flush();
    }
}

fn over_epoll(listener: TcpListener, pong: bool, spin: bool) -> std::io::Result<()> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut streams: HashMap<u64, TcpStream> = HashMap::new();
    let mut ready: Vec<epoll::Event> = Vec::with_capacity(256);
    let (mut heard, mut scratch) = (vec![0; 16 * 1024], Vec::new());
    epoll::add(&epoll, &listener, EventData::new_u64(0), EventFlags::IN)?;
    let zero = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
    loop {
        ready.clear();
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut ready), spin.then_some(&zero))?;
        for event in &ready {
            let key = event.data.u64();
            if key == 0 {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                let key = stream.as_raw_fd() as u64;
                epoll::add(&epoll, &stream, EventData::new_u64(key), EventFlags::IN)?;
                streams.insert(key, stream);
                continue;
            }
            let stream = streams.get_mut(&key).expect("a registered stream");
            match stream.read(&mut heard) {
                Ok(count @ 1..) => {
                    let _ = stream.write(answer(pong, &heard[..count], &mut scratch));
                }
                _ => {
                    streams.remove(&key);
                    if streams.is_empty() {
                        println!("cpu {:.3} s", cpu_seconds());
                    }
                }
            }
        }
    }
}

fn blocking(listener: &TcpListener, pong: bool, spin: bool) -> std::io::Result<()> {
    let (mut heard, mut scratch) = (vec![0; 16 * 1024], Vec::new());
    loop {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(spin)?;
        loop {
            match stream.read(&mut heard) {
                Ok(count @ 1..) => stream.write_all(answer(pong, &heard[..count], &mut scratch))?,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                _ => break,
            }
        }
        println!("cpu {:.3} s", cpu_seconds());
    }
}

fn dial(address: SocketAddr) -> std::io::Result<()> {
    const ROUNDS: usize = 50_000;
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    let mut trips = Vec::with_capacity(ROUNDS);
    let mut heard = [0; 64];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let _ = stream.write(&[7; 64])?;
        while stream.read(&mut heard).is_err() {}
        trips.push(start.elapsed().as_nanos());
    }
    trips.sort_unstable();
    let at = |share: f64| trips[(ROUNDS as f64 * share) as usize] as f64 / 1e3;
    println!("p50 {:.2} us, p99 {:.2} us", at(0.5), at(0.99));
    Ok(())
}

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|other| other == word);
    let port: u16 = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(7777);
    let address = ([127, 0, 0, 1], port).into();
    match words.first().map_or("uring", String::as_str) {
        "epoll" => over_epoll(TcpListener::bind::<SocketAddr>(address)?, has("pong"), has("spin")),
        "blocking" => blocking(&TcpListener::bind::<SocketAddr>(address)?, has("pong"), has("spin")),
        "dial" => dial(address),
        _ => {
            let on = ListenOn::Tcp { address, reuse_port: false };
            over_uring(listen(&on, &SocketOptions::default())?, has("pong"), has("spin"));
            Ok(())
        }
    }
}
