//! The listening sockets of one poller: bounded accepting, and what to do when the process runs out
//! of descriptors. Knows sockets, not links.

use crate::setup::Token;
use port::Address;
use port::sockets::local_address;
use rustix::event::epoll::{self, EventFlags};
use rustix::fs::{self, Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::net::{SocketFlags, accept_with};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Links accepted of one listener in one round.
const ACCEPTS_MAX: usize = 64;

/// How long the doors stay shut when the kernel has no descriptor or memory left.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
struct Door {
    listener: OwnedFd,
    accepts_max: usize,
}

/// What one knock brought.
pub(crate) enum Knock {
    /// A socket, non-blocking.
    Link(OwnedFd),
    /// A client that could not be taken was let in and shown out, so that it does not wait in vain.
    Shed,
    /// Nobody waits (any more).
    Nobody,
}

#[derive(Debug)]
pub(crate) struct Doors {
    /// By number; a door that was walled up leaves its place empty.
    doors: Vec<Option<Door>>,
    addresses: Vec<Address>,
    /// A descriptor kept to be given up when none is left: with it one client can be let in and out.
    reserve: Option<OwnedFd>,
    shut_until: Option<Instant>,
}

impl Doors {
    /// Takes over listening sockets; their places are their numbers.
    pub(crate) fn new(epoll: BorrowedFd<'_>, listeners: Vec<OwnedFd>) -> std::io::Result<Doors> {
        let mut new = Doors { doors: Vec::new(), addresses: Vec::new(), reserve: None, shut_until: None };
        new.reserve = Some(spare_descriptor()?);
        for listener in listeners {
            new.add(epoll, listener)?;
        }
        Ok(new)
    }

    /// Takes over one more listening socket.
    pub(crate) fn add(&mut self, epoll: BorrowedFd<'_>, listener: OwnedFd) -> std::io::Result<()> {
        rustix::io::ioctl_fionbio(&listener, true)?;
        let address = local_address(&listener)?;
        // A Unix listener may be shared by all shards: each takes one at a time, so that they spread.
        let accepts_max = if matches!(address, Address::Unix(_)) { 1 } else { ACCEPTS_MAX };
        let door = Door { listener, accepts_max };
        if self.shut_until.is_none() {
            knock_at(epoll, self.doors.len(), &door)?;
        }
        self.addresses.push(address);
        self.doors.push(Some(door));
        Ok(())
    }

    /// Lets go of the sockets bound to an address.
    pub(crate) fn remove(&mut self, epoll: BorrowedFd<'_>, address: &Address) {
        for (door, at) in self.doors.iter_mut().zip(&self.addresses) {
            if at == address
                && let Some(door) = door.take()
            {
                // Nothing to take back where the doors are shut.
                let _ = epoll::delete(epoll, &door.listener);
            }
        }
    }

    pub(crate) fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    fn open(&mut self, epoll: BorrowedFd<'_>) -> Result<()> {
        for (number, door) in self.doors.iter().enumerate() {
            if let Some(door) = door {
                knock_at(epoll, number, door)?;
            }
        }
        Ok(())
    }

    fn shut(&mut self, epoll: BorrowedFd<'_>) {
        for door in self.doors.iter().flatten() {
            // Explicit: a duplicate held elsewhere would keep the registration of a closed descriptor.
            let _ = epoll::delete(epoll, &door.listener);
        }
    }

    /// Nobody is served any more.
    pub(crate) fn close(&mut self, epoll: BorrowedFd<'_>) {
        if self.shut_until.take().is_none() {
            self.shut(epoll);
        }
        self.doors.clear();
    }

    /// How long a sleep may last at most: the doors must be opened again in time.
    pub(crate) fn sleep_max(&self) -> Option<Duration> {
        self.shut_until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// Opens the doors again when their time has come.
    pub(crate) fn reopen(&mut self, epoll: BorrowedFd<'_>) {
        if let Some(until) = self.shut_until
            && Instant::now() >= until
        {
            if self.reserve.is_none() {
                self.reserve = spare_descriptor().ok();
            }
            self.shut_until = if self.reserve.is_some() && self.open(epoll).is_ok() {
                None
            } else {
                self.shut(epoll);
                Some(Instant::now() + PAUSE)
            };
        }
    }

    pub(crate) fn accepts_max(&self, door: usize) -> usize {
        self.door(door).map_or(0, |door| door.accepts_max)
    }

    fn door(&self, number: usize) -> Option<&Door> {
        self.doors.get(number)?.as_ref()
    }

    /// Accepts one client.
    pub(crate) fn accept(&mut self, epoll: BorrowedFd<'_>, door: usize) -> Knock {
        let Some(found) = self.door(door) else { return Knock::Nobody };
        if self.shut_until.is_some() {
            return Knock::Nobody;
        }
        loop {
            return match accept_with(&found.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(fd) => Knock::Link(fd),
                Err(Errno::AGAIN) => Knock::Nobody,
                // The client went while it waited: the next one is due.
                Err(Errno::INTR | Errno::CONNABORTED | Errno::PROTO) => continue,
                Err(Errno::MFILE | Errno::NFILE) => self.shed(epoll, door),
                Err(_) => self.pause(epoll),
            };
        }
    }

    /// No descriptor is left. Left alone the listener would stay readable and the core would spin; so
    /// the spare one is given up for a moment, and the client is let in and hung up on.
    fn shed(&mut self, epoll: BorrowedFd<'_>, door: usize) -> Knock {
        let Some(reserve) = self.reserve.take() else { return self.pause(epoll) };
        drop(reserve);
        let Some(found) = self.door(door) else { return Knock::Nobody };
        let shed = accept_with(found.listener.as_fd(), SocketFlags::CLOEXEC).map(drop);
        self.reserve = spare_descriptor().ok();
        match shed {
            Ok(()) if self.reserve.is_some() => Knock::Shed,
            Err(Errno::AGAIN) if self.reserve.is_some() => Knock::Nobody,
            // Another thread took the spare one meanwhile.
            _ => self.pause(epoll),
        }
    }

    fn pause(&mut self, epoll: BorrowedFd<'_>) -> Knock {
        self.shut(epoll);
        self.shut_until = Some(Instant::now() + PAUSE);
        Knock::Nobody
    }
}

/// Hears of those who knock.
fn knock_at(epoll: BorrowedFd<'_>, number: usize, door: &Door) -> Result<()> {
    // Exclusive: of several shards on one listener the kernel wakes one.
    let flags = EventFlags::IN | EventFlags::EXCLUSIVE;
    epoll::add(epoll, &door.listener, Token::Door(number).pack(), flags)
}

fn spare_descriptor() -> Result<OwnedFd> {
    fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use port::sockets::{ListenOn, SocketOptions, listen};
    use rustix::event::epoll::CreateFlags;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    #[test]
    fn without_even_the_spare_descriptor_the_doors_are_shut_a_while() {
        let on = ListenOn::Tcp { address: ([127, 0, 0, 1], 0).into(), reuse_port: false };
        let listener = listen(&on, &SocketOptions::default()).expect("loopback listens");
        let epoll = epoll::create(CreateFlags::CLOEXEC).expect("epoll is there");
        let mut doors = Doors::new(epoll.as_fd(), vec![listener]).expect("it listens");
        let Address::Inet(address) = doors.addresses()[0] else { panic!("an internet address") };
        let _client = std::net::TcpStream::connect(address).expect("a backlog");
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..limit }).expect("a lower limit is allowed");
        doors.reserve = None;
        let taken: Vec<_> = std::iter::from_fn(|| rustix::io::dup(&epoll).ok()).collect();
        let is_knocked_at = || {
            let (mut ready, now) = (Vec::with_capacity(4), rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 });
            epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut ready), Some(&now)).expect("it waits") > 0
        };
        assert!(is_knocked_at());
        assert!(matches!(doors.accept(epoll.as_fd(), 0), Knock::Nobody));
        assert!(!is_knocked_at(), "shut: a level-triggered core would spin on it");
        assert!(doors.sleep_max().is_some_and(|bound| bound <= PAUSE));
        std::thread::sleep(PAUSE);
        doors.reopen(epoll.as_fd());
        assert!(!is_knocked_at() && doors.sleep_max().is_some(), "nothing has changed: shut again");
        drop(taken);
        std::thread::sleep(PAUSE);
        doors.reopen(epoll.as_fd());
        assert!(is_knocked_at() && doors.sleep_max().is_none() && doors.reserve.is_some());
        assert!(matches!(doors.accept(epoll.as_fd(), 0), Knock::Link(_)));
    }
}
