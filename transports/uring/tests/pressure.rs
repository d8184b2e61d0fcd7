//! Many links on few buffers, bulk, idleness, and pollers dropped in the middle of everything.

use corelane_uring::UringPoller;
use port::sockets::{ListenOn, SocketOptions, listen, local_address};
use port::{Address, Close, Event, LinkId, Poller};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

fn build(options: &SocketOptions) -> (UringPoller, SocketAddr) {
    let on = ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false };
    let fd = listen(&on, options).expect("loopback listens");
    let Address::Inet(address) = local_address(&fd).expect("it is bound") else { panic!("an address") };
    (UringPoller::new(vec![fd], options.clone()).expect("io_uring is allowed here"), address)
}

/// An echoing house: what could not be leased yet, by link.
#[derive(Default)]
struct Echo {
    events: Vec<Event>,
    unsent: HashMap<LinkId, Vec<u8>>,
    received: usize,
    opened: usize,
    closed: usize,
}

impl Echo {
    fn tick(&mut self, poller: &mut UringPoller) {
        poller.poll(256, &mut self.events);
        let mut touched = Vec::new();
        for event in self.events.drain(..) {
            match event {
                Event::Opened(..) => self.opened += 1,
                Event::Bytes(link, chunk) => {
                    self.received += chunk.filled().len();
                    self.unsent.entry(link).or_default().extend_from_slice(chunk.filled());
                    poller.recycle(chunk);
                    touched.push(link);
                }
                Event::Writable(link) => touched.push(link),
                Event::Ended(link) => poller.close(link, Close::Drain),
                Event::Closed(link, _) => {
                    self.closed += 1;
                    self.unsent.remove(&link);
                }
            }
        }
        for link in touched {
            let Some(unsent) = self.unsent.get_mut(&link) else { continue };
            while !unsent.is_empty() {
                let Some(mut lease) = poller.lease(link, unsent.len()) else { break };
                let filled = lease.fill(unsent);
                unsent.drain(..filled);
                poller.submit(link, lease);
            }
        }
        poller.flush();
    }

    fn until(&mut self, poller: &mut UringPoller, what: &str, holds: impl Fn(&Echo) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            self.tick(poller);
            assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        }
    }
}

#[test]
fn five_hundred_links_at_once_share_four_buffers() {
    let options = SocketOptions {
        chunk_bytes: 512,
        send_chunk_bytes: 512,
        receive_chunks: 4,
        send_chunks: 64,
        ..SocketOptions::default()
    };
    let (mut poller, address) = build(&options);
    let mut echo = Echo::default();
    let mut clients = Vec::new();
    for number in 0..500u32 {
        let mut client = TcpStream::connect(address).expect("it listens");
        client.write_all(&number.to_le_bytes().repeat(500)).expect("the kernel buffers 2000 bytes");
        clients.push((number, client));
        if number % 100 == 99 {
            // The backlog holds no more; from here on they all speak at once.
            echo.until(&mut poller, "they are accepted", |echo| echo.opened == clients.len());
        }
    }
    echo.until(&mut poller, "all is received", |echo| echo.received == 500 * 2000);
    echo.until(&mut poller, "all is leased", |echo| echo.unsent.values().all(Vec::is_empty));
    for (number, client) in &mut clients {
        let mut heard = vec![0; 2000];
        client.read_exact(&mut heard).expect("it is echoed");
        assert_eq!(heard, number.to_le_bytes().repeat(500));
    }
    drop(clients);
    echo.until(&mut poller, "all are closed", |echo| echo.closed == 500);
    let stats = poller.stats();
    assert_eq!((poller.links(), stats.chunks_away), (0, 0));
    println!("{} system calls for 500 links and {} chunks of 512 bytes", stats.syscalls, 500 * 4);
}

#[test]
fn an_idle_poll_makes_no_system_call() {
    let (mut poller, address) = build(&SocketOptions::default());
    let mut echo = Echo::default();
    let clients: Vec<_> = (0..20).map(|_| TcpStream::connect(address).expect("it listens")).collect();
    echo.until(&mut poller, "they are accepted", |echo| echo.opened == 20);
    (0..10).for_each(|_| echo.tick(&mut poller));
    let before = poller.stats().syscalls;
    let start = Instant::now();
    for _ in 0..1_000_000 {
        poller.poll(256, &mut echo.events);
    }
    println!("an idle poll takes {:.1} ns", start.elapsed().as_nanos() as f64 / 1e6);
    assert!(echo.events.is_empty());
    assert_eq!(poller.stats().syscalls, before);
    drop(clients);
}

#[test]
fn bulk_takes_few_system_calls() {
    let (mut poller, address) = build(&SocketOptions::default());
    let client = std::thread::spawn(move || {
        let mut client = TcpStream::connect(address).expect("it listens");
        let piece = vec![7; 1 << 20];
        (0..64).for_each(|_| client.write_all(&piece).expect("it is taken"));
        client
    });
    let (mut events, mut received) = (Vec::new(), 0);
    let start = Instant::now();
    while received < 64 << 20 {
        poller.poll(256, &mut events);
        for event in events.drain(..) {
            if let Event::Bytes(_, chunk) = event {
                received += chunk.filled().len();
                poller.recycle(chunk);
            }
        }
        poller.flush();
        assert!(start.elapsed() < PATIENCE, "{received} bytes came");
    }
    let calls = poller.stats().syscalls;
    println!("64 MiB in {:?} with {calls} system calls", start.elapsed());
    assert!(calls < 16 * 1024, "{calls} system calls for 4096 chunks of 16 KiB");
    drop(client.join().expect("the client sent it all"));
}

#[test]
fn bulk_fills_few_chunks_at_a_time() {
    let (mut poller, address) = build(&SocketOptions::default());
    let client = std::thread::spawn(move || {
        let mut client = TcpStream::connect(address).expect("it listens");
        let piece = vec![7; 1 << 20];
        (0..32).for_each(|_| client.write_all(&piece).expect("it is taken"));
        client
    });
    let (mut events, mut received, mut polls, mut crowded) = (Vec::new(), 0, 0, 0);
    let start = Instant::now();
    while received < 32 << 20 {
        poller.poll(256, &mut events);
        // Until it is known as bulk, and what the kernel has by then.
        if received > 12 << 20 {
            polls += usize::from(!events.is_empty());
            crowded += usize::from(events.len() > 4);
        }
        for event in events.drain(..) {
            if let Event::Bytes(_, chunk) = event {
                received += chunk.filled().len();
                poller.recycle(chunk);
            }
        }
        poller.flush();
        assert!(start.elapsed() < PATIENCE, "{received} bytes came");
    }
    // A sender that falls behind for a while is no bulk any more.
    assert!(crowded * 20 <= polls && polls > 100, "{crowded} of {polls} polls brought more than four chunks");
    drop(client.join().expect("the client sent it all"));
}

#[test]
fn a_poller_dropped_in_the_middle_of_everything_hangs_up_on_all() {
    for round in 0..20 {
        let (mut poller, address) = build(&SocketOptions::default());
        let mut echo = Echo::default();
        let mut clients = Vec::new();
        for _ in 0..30 {
            let client = TcpStream::connect(address).expect("it listens");
            client.set_nonblocking(true).expect("it is a socket");
            clients.push(client);
        }
        echo.until(&mut poller, "they are accepted", |echo| echo.opened == 30);
        // Clients that send and never read: sends block, receives are armed, chunks are lent.
        for _ in 0..round * 3 {
            for client in &mut clients {
                let _ = client.write(&[5; 50_000]);
            }
            echo.tick(&mut poller);
        }
        let held = std::mem::take(&mut echo.events);
        let start = Instant::now();
        drop(poller);
        assert!(start.elapsed() < Duration::from_secs(2), "it took {:?} to drop", start.elapsed());
        drop(held);
        for mut client in clients {
            client.set_nonblocking(false).expect("it is a socket");
            client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
            let mut heard = vec![0; 1 << 20];
            loop {
                match client.read(&mut heard) {
                    Ok(0) => break,
                    Ok(count) => assert!(heard[..count].iter().all(|byte| *byte == 5), "only what was sent"),
                    Err(error) => {
                        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "it hangs up");
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn a_core_that_gathers_still_wakes_for_one() {
    let (mut poller, address) = build(&SocketOptions::default());
    let mut echo = Echo::default();
    let mut clients: Vec<_> = (0..40).map(|_| TcpStream::connect(address).expect("it listens")).collect();
    echo.until(&mut poller, "they are accepted", |echo| echo.opened == 40);
    let bell = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).expect("an eventfd");
    assert!(poller.watch(bell.as_raw_fd()));
    for round in 1..=50 {
        clients.iter_mut().for_each(|client| client.write_all(&[1; 10]).expect("it is taken"));
        while echo.received < round * 400 {
            poller.park(Some(Duration::from_secs(1)));
            echo.tick(&mut poller);
        }
        // One word and no bound on the sleep; a bell rings in case it would never end.
        std::thread::scope(|scope| {
            let (asleep, woken) = std::sync::mpsc::channel::<()>();
            let bell = &bell;
            scope.spawn(move || {
                if woken.recv_timeout(Duration::from_secs(5)).is_err() {
                    let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
                }
            });
            let start = Instant::now();
            clients[0].write_all(&[1; 10]).expect("it is taken");
            let before = echo.received;
            while echo.received == before {
                poller.park(None);
                echo.tick(&mut poller);
            }
            assert!(start.elapsed() < Duration::from_secs(3), "woken by the bell, not by the word");
            asleep.send(()).expect("the ringer listens");
        });
        echo.received -= 10;
    }
}
