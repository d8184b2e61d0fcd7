//! Peers that hang up right behind their last bytes are always noticed.

use corelane_uring::UringPoller;
use port::sockets::{ListenOn, SocketOptions, listen, local_address};
use port::{Address, Close, Event, Poller};
use rustix::net::sockopt::set_socket_linger;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);

/// Serves until `count` links have come and gone; returns how many bytes came.
fn serve(poller: &mut UringPoller, count: usize) -> usize {
    let (mut events, mut closed, mut received, mut news) = (Vec::new(), 0, 0, Instant::now());
    while closed < count {
        poller.poll(256, &mut events);
        for event in events.drain(..) {
            news = Instant::now();
            match event {
                Event::Bytes(_, chunk) => {
                    received += chunk.filled().len();
                    poller.recycle(chunk);
                }
                Event::Ended(link) => poller.close(link, Close::Drain),
                Event::Closed(..) => closed += 1,
                Event::Opened(..) | Event::Writable(_) => {}
            }
        }
        poller.flush();
        assert!(news.elapsed() < PATIENCE, "{} links of {count} never end", poller.links());
    }
    assert_eq!(poller.links(), 0);
    received
}

/// Writes until nothing more fits in the buffers of the two sockets.
fn fill(stream: &mut TcpStream) -> usize {
    stream.set_nonblocking(true).expect("a socket");
    let (bytes, mut sent) = (vec![b'x'; 100_000], 0);
    while let Ok(count) = stream.write(&bytes) {
        sent += count;
    }
    sent
}

fn over_tcp(end: fn(TcpStream)) {
    let on = ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false };
    let fd = listen(&on, &SocketOptions::default()).expect("loopback listens");
    let Address::Inet(address) = local_address(&fd).expect("it is bound") else { panic!("an address") };
    // The kernel receives at most 32 times in a row: what comes behind is what it may forget.
    let options = SocketOptions { chunk_bytes: 1024, ..SocketOptions::default() };
    let mut poller = UringPoller::new(vec![fd], options).expect("io_uring is allowed here");
    for round in 0..20 {
        let mut stream = TcpStream::connect(address).expect("it listens");
        let sent = fill(&mut stream);
        end(stream);
        let received = serve(&mut poller, 1);
        assert!(received > 64 * 1024 && received <= sent, "round {round}: {received} of {sent} bytes");
    }
}

#[test]
fn a_peer_that_has_sent_much_and_resets_before_it_is_read_is_noticed() {
    over_tcp(|stream| set_socket_linger(&stream, Some(Duration::ZERO)).expect("a socket"));
}

#[test]
fn a_peer_that_has_sent_much_and_closes_before_it_is_read_is_noticed() {
    over_tcp(drop);
}

#[test]
fn a_peer_that_closes_right_behind_its_bytes_is_noticed_over_a_unix_socket() {
    let path = std::env::temp_dir().join(format!("corelane-hang-up-{}.sock", std::process::id()));
    let on = ListenOn::Unix { path: path.clone(), mode: None };
    let fd = listen(&on, &SocketOptions::default()).expect("a folder for sockets");
    let mut poller = UringPoller::new(vec![fd], SocketOptions::default()).expect("io_uring is allowed here");
    let client = thread::spawn({
        let path = path.clone();
        move || {
            for _ in 0..1000 {
                let mut stream = UnixStream::connect(&path).expect("it listens");
                stream.write_all(&[b'x'; 123]).expect("it reads");
                stream.shutdown(Shutdown::Write).expect("it is connected");
            }
        }
    });
    assert_eq!(serve(&mut poller, 1000), 123_000);
    client.join().expect("the client was served");
    let _ = std::fs::remove_file(path);
}
