//! What the driver itself costs: an echo server on one thread, pipelining clients on another, over
//! loopback. `echo [LINKS] [PIPELINE] [SECONDS]`; prints requests of 14 bytes per second, per second of
//! the server's CPU time, and system calls per request.

use corelane_epoll::EpollPoller;
use port::sockets::{ListenOn, SocketOptions, listen};
use port::{Address, Close, Event, Poller};
use rustix::time::{ClockId, clock_gettime};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const REQUEST: &[u8] = b"*1\r\n$4\r\nPING\r\n";

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).map_while(|word| word.parse().ok()).collect();
    let number = |place: usize, default| numbers.get(place).copied().unwrap_or(default);
    let (links, pipeline, seconds) = (number(0, 50), number(1, 64), number(2, 3));
    let on = ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false };
    let options = SocketOptions::default();
    let listener = listen(&on, &options).expect("loopback listens");
    let mut poller = EpollPoller::new(vec![listener], options).expect("epoll is there");
    let Address::Inet(address) = poller.local_addresses()[0] else { panic!("an internet address") };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            ask(address, links, pipeline, Duration::from_secs(seconds as u64));
            over.store(true, Ordering::Relaxed);
        });
        let (start, cpu) = (Instant::now(), cpu_seconds());
        serve(&mut poller, &over);
        let (wall, cpu, stats) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu, poller.stats());
        let requests = stats.bytes_in as f64 / REQUEST.len() as f64;
        println!(
            "{links} links, pipeline {pipeline}: {:.0}/s, {:.0} per CPU second, {:.3} system calls each",
            requests / wall,
            requests / cpu,
            stats.syscalls as f64 / requests,
        );
    });
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn serve(poller: &mut EpollPoller, over: &AtomicBool) {
    let mut events = Vec::new();
    while !over.load(Ordering::Relaxed) {
        poller.poll(256, &mut events);
        if events.is_empty() {
            poller.park(Some(Duration::from_millis(100)));
            continue;
        }
        for event in events.drain(..) {
            if let Event::Bytes(link, chunk) = event {
                // A client here never has more under way than a link may have unsent.
                let mut answer = poller.lease(link, chunk.filled().len()).expect("a chunk is left");
                answer.fill(chunk.filled());
                poller.submit(link, answer);
                poller.recycle(chunk);
            } else if let Event::Ended(link) = event {
                poller.close(link, Close::Drain);
            }
        }
        poller.flush();
    }
}

fn ask(address: SocketAddr, links: usize, pipeline: usize, time: Duration) {
    let mut streams: Vec<_> = (0..links)
        .map(|_| {
            let stream = TcpStream::connect(address).expect("it listens");
            stream.set_nodelay(true).expect("a TCP socket");
            stream
        })
        .collect();
    let (asked, start) = (REQUEST.repeat(pipeline), Instant::now());
    let mut answered = vec![0; asked.len()];
    while start.elapsed() < time {
        for stream in &mut streams {
            stream.write_all(&asked).expect("the server is there");
        }
        for stream in &mut streams {
            stream.read_exact(&mut answered).expect("the server answers");
        }
    }
    assert_eq!(answered, asked);
}
