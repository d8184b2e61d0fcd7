//! What the contract leaves to each driver: two pollers as two shards on one Unix listener, a house
//! that keeps every chunk, hanging up in order on a client that is still talking.

use corelane_epoll::EpollPoller;
use port::sockets::{ListenOn, SocketOptions, listen};
use port::{Address, Chunk, Close, Event, Poller};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn socket_file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("corelane-epoll-{}-{name}.sock", std::process::id()))
}

fn count_opened(poller: &mut EpollPoller) -> usize {
    let mut events = Vec::new();
    poller.poll(64, &mut events);
    events.iter().filter(|event| matches!(event, Event::Opened(..))).count()
}

#[test]
fn shards_share_a_unix_listener_and_one_may_leave() {
    let path = socket_file("shared");
    let options = SocketOptions::default();
    let own = listen(&ListenOn::Unix { path: path.clone(), mode: None }, &options).expect("it listens");
    let dup = own.try_clone().expect("a descriptor is left");
    let other = listen(&ListenOn::Inherited(dup), &options).expect("it listens already");
    let mut shards =
        [own, other].map(|fd| EpollPoller::new(vec![fd], options.clone()).expect("epoll is there"));
    let clients: Vec<_> = (0..40).map(|_| UnixStream::connect(&path).expect("it listens")).collect();
    let mut opened = [0, 0];
    let start = Instant::now();
    while opened[0] + opened[1] < clients.len() {
        for (shard, opened) in shards.iter_mut().zip(&mut opened) {
            *opened += count_opened(shard);
        }
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    assert!(opened[0] >= 10 && opened[1] >= 10, "busy shards share the clients: {opened:?}");

    // The listener lives on in the other shard; the one that left must not be woken by it.
    shards[0].stop_accepting();
    let _late = UnixStream::connect(&path).expect("it still listens");
    let start = Instant::now();
    shards[0].park(Some(Duration::from_millis(100)));
    assert_eq!(count_opened(&mut shards[0]), 0);
    assert!(start.elapsed() >= Duration::from_millis(90), "it slept");
    assert_eq!(count_opened(&mut shards[1]), 1);
    std::fs::remove_file(&path).expect("the socket file is there");
}

#[test]
fn with_every_chunk_at_the_house_the_core_naps_and_loses_nothing() {
    let path = socket_file("hoard");
    let options = SocketOptions {
        chunk_bytes: 100,
        send_chunk_bytes: 100,
        receive_chunks: 2,
        ..SocketOptions::default()
    };
    let listener = listen(&ListenOn::Unix { path: path.clone(), mode: None }, &options).expect("it listens");
    let mut poller = EpollPoller::new(vec![listener], options).expect("epoll is there");
    let mut client = UnixStream::connect(&path).expect("it listens");
    client.write_all(&[5; 1000]).expect("the kernel holds 1000 bytes");
    let (mut events, mut hoard): (_, Vec<Chunk>) = (Vec::new(), Vec::new());
    let (start, mut returns) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_millis(100) {
        poller.park(Some(Duration::from_millis(50)));
        poller.poll(16, &mut events);
        hoard.extend(events.drain(..).filter_map(|event| match event {
            Event::Bytes(_, chunk) => Some(chunk),
            _ => None,
        }));
        returns += 1;
    }
    assert_eq!(hoard.len(), 2, "it had no more");
    assert!(returns < 400, "{returns} returns in 100 ms");
    let mut received = 0;
    while received < 1000 {
        for chunk in hoard.drain(..) {
            received += chunk.filled().len();
            poller.recycle(chunk);
        }
        poller.poll(16, &mut events);
        hoard.extend(events.drain(..).filter_map(|event| match event {
            Event::Bytes(_, chunk) => Some(chunk),
            _ => None,
        }));
        assert!(start.elapsed() < Duration::from_secs(10), "{received} of 1000 bytes");
    }
    std::fs::remove_file(&path).expect("the socket file is there");
}

#[test]
fn a_client_hung_up_on_while_it_talks_sees_the_reply_and_an_orderly_end() {
    let on = ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false };
    let options = SocketOptions { chunk_bytes: 100, send_chunk_bytes: 100, ..SocketOptions::default() };
    let listener = listen(&on, &options).expect("loopback listens");
    let mut poller = EpollPoller::new(vec![listener], options).expect("epoll is there");
    let Address::Inet(address) = poller.local_addresses()[0] else { panic!("an internet address") };
    let mut client = TcpStream::connect(address).expect("it listens");
    client.write_all(&[b'*'; 10_000]).expect("the kernel holds 10000 bytes");
    let (mut events, mut open) = (Vec::new(), true);
    let start = Instant::now();
    while open {
        poller.poll(16, &mut events);
        for event in events.drain(..) {
            match event {
                Event::Bytes(link, chunk) => {
                    poller.recycle(chunk);
                    let mut reply = poller.lease(link, 20).expect("a chunk is left");
                    reply.fill(b"-ERR not a request\r\n");
                    poller.submit(link, reply);
                    poller.close(link, Close::Drain);
                }
                Event::Closed(..) => open = false,
                Event::Opened(..) | Event::Writable(_) | Event::Ended(_) => {}
            }
        }
        poller.flush();
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    let mut heard = String::new();
    client.read_to_string(&mut heard).expect("an end in order, not a reset");
    assert_eq!(heard, "-ERR not a request\r\n");
}
