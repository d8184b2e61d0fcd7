//! The one list that names every transport: what a core polls, made from the settings.

use port::Poller;
use port::sockets::{self, SocketOptions};
use spec::Settings;
use spec::setting::Driver;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// The pollers of one core, in their order of priority, and what became of the driver.
pub struct Chosen {
    /// The pollers; the core sleeps in the first.
    pub pollers: Vec<Box<dyn Poller>>,
    /// Such as `uring` or `epoll`.
    pub driver: String,
    /// For the log: how the driver is set up, or why it is not the one that was wished for.
    pub story: String,
}

/// Socket options from the settings.
pub fn socket_options(settings: &Settings, connections: u64) -> SocketOptions {
    let number = |name: &str| settings.value(name).count();
    SocketOptions {
        no_delay: true,
        keepalive_seconds: settings.live.tcp_keepalive_s,
        backlog: number("tcp-backlog") as u32,
        busy_poll_us: number("busy-poll-us") as u32,
        prefer_busy_poll: number("busy-poll-us") > 0,
        napi_busy_poll_us: number("napi-busy-poll-us") as u32,
        chunk_bytes: number("receive-chunk-bytes") as usize,
        send_chunk_bytes: number("send-chunk-bytes") as usize,
        receive_chunks: number("receive-chunks") as usize,
        links_max: connections as usize,
        ..SocketOptions::default()
    }
}

/// Makes a core's pollers on these listeners. To be called on the core's own thread.
///
/// # Errors
/// Where the driver that was asked for cannot be had.
pub fn choose(settings: &Settings, listeners: Vec<OwnedFd>, options: SocketOptions) -> io::Result<Chosen> {
    let busy = sockets::busy_poll_story(&options);
    let wish = Driver::at(settings.value("driver").choice());
    if wish == Driver::Epoll {
        return on_epoll(listeners, options, format!("epoll, as asked for{busy}"));
    }
    let copies: Vec<OwnedFd> =
        listeners.iter().map(|listener| listener.as_fd().try_clone_to_owned()).collect::<io::Result<_>>()?;
    match uring::UringPoller::new(copies, options.clone()) {
        Ok(poller) => {
            let story = format!("{}{busy}", poller.describe());
            Ok(Chosen { pollers: vec![Box::new(poller)], driver: "uring".to_owned(), story })
        }
        Err(denied) if wish == Driver::Uring => Err(io::Error::other(format!("driver uring: {denied}"))),
        Err(denied) => {
            on_epoll(listeners, options, format!("epoll, since io_uring is denied: {denied}{busy}"))
        }
    }
}

fn on_epoll(listeners: Vec<OwnedFd>, options: SocketOptions, story: String) -> io::Result<Chosen> {
    let poller = epoll::EpollPoller::new(listeners, options)?;
    Ok(Chosen { pollers: vec![Box::new(poller)], driver: "epoll".to_owned(), story })
}
