//! Bringing an epoll poller up: the tables, the tokens, the descriptors. The hot path is elsewhere.

use crate::doors::Doors;
use crate::sys;
use port::sockets::SocketOptions;
use port::{Address, ChunkPool, Lender, LinkId, Links, PollerStats, SendQueue, Why};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Ready descriptors harvested with one system call.
pub(crate) const READY_MAX: usize = 256;

/// What a link is on its way to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Course {
    /// Living.
    Open,
    /// The peer has sent its last; it may still listen.
    Ended,
    /// `Close::Drain`: ends when all is sent. `true`: the peer had ended before.
    Draining(bool),
}

#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) fd: OwnedFd,
    pub(crate) queue: SendQueue,
    pub(crate) course: Course,
    pub(crate) throttled: bool,
    /// The kernel took less than was offered: wait for EPOLLOUT.
    pub(crate) blocked: bool,
    /// What epoll reports of it now; `None`: it is not registered, see `datapath::detach`.
    pub(crate) interest: Option<EventFlags>,
    /// It is on the list for the next flush.
    pub(crate) outgoing: bool,
    /// It is on the list of links whose interest may have changed.
    pub(crate) restless: bool,
}

impl Link {
    /// It was closed in order: it takes nothing more.
    pub(crate) fn is_draining(&self) -> bool {
        matches!(self.course, Course::Draining(_))
    }
}

/// Kernel sockets over epoll.
pub struct EpollPoller {
    pub(crate) epoll: OwnedFd,
    pub(crate) doors: Doors,
    pub(crate) options: SocketOptions,
    pub(crate) links: Links<Link>,
    pub(crate) receiving: ChunkPool,
    pub(crate) lender: Lender,
    /// What epoll reported and was not yet looked at: from `looked_at` on.
    pub(crate) ready: Vec<Event>,
    pub(crate) looked_at: usize,
    pub(crate) outgoing: Vec<LinkId>,
    pub(crate) restless: Vec<LinkId>,
    pub(crate) closed: VecDeque<(LinkId, Why)>,
    pub(crate) stats: PollerStats,
    /// Rung for events that no socket shows, where another poller sleeps on this one.
    pub(crate) bell: OwnedFd,
    pub(crate) bell_rung: bool,
    pub(crate) slept_on: Cell<bool>,
    /// `epoll_pwait2` is denied: timeouts are rounded up to milliseconds.
    pub(crate) coarse_clock: bool,
}

/// What a ready descriptor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    Link(LinkId),
    Door(usize),
    Watched,
    Bell,
}

/// Slots from here on are no links.
const DOOR: u32 = u32::MAX;
const WATCHED: u32 = u32::MAX - 1;
const BELL: u32 = u32::MAX - 2;

impl Token {
    pub(crate) fn pack(self) -> EventData {
        let (slot, number) = match self {
            Token::Link(link) => (link.slot, link.generation),
            Token::Door(door) => (DOOR, door as u32),
            Token::Watched => (WATCHED, 0),
            Token::Bell => (BELL, 0),
        };
        EventData::new_u64(u64::from(number) << 32 | u64::from(slot))
    }

    pub(crate) fn unpack(data: EventData) -> Token {
        let (slot, number) = (data.u64() as u32, (data.u64() >> 32) as u32);
        match slot {
            DOOR => Token::Door(number as usize),
            WATCHED => Token::Watched,
            BELL => Token::Bell,
            _ => Token::Link(LinkId { slot, generation: number }),
        }
    }
}

impl EpollPoller {
    /// A poller that accepts on `listeners` (see `port::sockets::listen`).
    ///
    /// # Errors
    /// Where the process has no descriptor left, or one given does not listen.
    pub fn new(listeners: Vec<OwnedFd>, options: SocketOptions) -> io::Result<EpollPoller> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        if options.busy_poll_us > 0 {
            // Without it (an older kernel) the sockets' own option acts where `net.core.busy_poll` is set.
            let _ = sys::busy_poll(epoll.as_fd(), options.busy_poll_us);
        }
        let doors = Doors::new(epoll.as_fd(), listeners)?;
        let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        epoll::add(&epoll, &bell, Token::Bell.pack(), EventFlags::IN)?;
        Ok(EpollPoller {
            epoll,
            doors,
            links: Links::default(),
            receiving: ChunkPool::new(options.chunk_bytes, options.receive_chunks.max(1)),
            lender: Lender::new(options.send_chunk_bytes, options.send_chunks, options.send_chunks_per_link),
            options,
            ready: Vec::with_capacity(READY_MAX),
            looked_at: 0,
            outgoing: Vec::new(),
            restless: Vec::new(),
            closed: VecDeque::new(),
            stats: PollerStats::default(),
            bell,
            bell_rung: false,
            slept_on: Cell::new(false),
            coarse_clock: false,
        })
    }

    /// What the listeners are bound to, in the order they were given.
    pub fn local_addresses(&self) -> &[Address] {
        self.doors.addresses()
    }
}

impl std::fmt::Debug for EpollPoller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (links, stats) = (self.links.len(), &self.stats);
        f.debug_struct("EpollPoller")
            .field("doors", &self.doors)
            .field("links", &links)
            .field("stats", stats)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_as_it_went() {
        let link = LinkId { slot: 77, generation: u32::MAX };
        for token in [Token::Link(link), Token::Door(3), Token::Watched, Token::Bell] {
            assert_eq!(Token::unpack(token.pack()), token);
        }
    }
}
