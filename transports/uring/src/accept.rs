//! Listeners: accepting, pausing when descriptors run out, and stopping.
//! Knows nothing of what a link does once it is open.

use crate::datapath::UringPoller;
use crate::link::Link;
use crate::sys::{self, Completion};
use crate::token::{Kind, pack_index};
use io_uring::cqueue;
use io_uring::types::Timespec;
use port::sockets::{dress, local_address, peer_of};
use port::{Address, Event, LinkId};
use std::os::fd::{AsRawFd, OwnedFd};

/// How long an accept rests after the process ran out of descriptors or the kernel out of memory.
/// Long enough not to spin, short enough for a waiting client.
static PAUSE: Timespec = Timespec::new().nsec(100_000_000);

/// System calls spent to dress and name a new connection: five options, two names.
const SYSCALLS_PER_ACCEPT: u64 = 7;

/// A listening socket.
pub(crate) struct Listener {
    fd: Option<OwnedFd>,
    armed: bool,
    /// Waits for the pause to end.
    paused: bool,
    stopping: bool,
}

impl Listener {
    pub(crate) fn new(fd: OwnedFd) -> Listener {
        Listener { fd: Some(fd), armed: false, paused: false, stopping: false }
    }
}

impl UringPoller {
    /// Arms every listener that is not with the kernel.
    pub(crate) fn stage_accepts(&mut self) {
        for index in 0..self.listeners.len() {
            let listener = &self.listeners[index];
            let Some(fd) = listener.fd.as_ref().map(AsRawFd::as_raw_fd) else { continue };
            if listener.armed || listener.paused || listener.stopping {
                continue;
            }
            if self.with_room(|ring| ring.push_accept(fd, pack_index(Kind::Accept, index))) {
                self.listeners[index].armed = true;
            } else {
                self.todo = true;
            }
        }
        if !self.pausing && self.listeners.iter().any(|listener| listener.paused) {
            self.pausing = self.with_room(|ring| ring.push_pause(&PAUSE, pack_index(Kind::Pause, 0)));
            self.todo |= !self.pausing;
        }
    }

    pub(crate) fn accepted(&mut self, index: usize, completion: &Completion, events: &mut Vec<Event>) {
        if completion.result >= 0 {
            let fd = sys::own(completion.result);
            if !self.listeners[index].stopping {
                self.open(fd, events);
            }
        }
        if cqueue::more(completion.flags) {
            return;
        }
        let listener = &mut self.listeners[index];
        listener.armed = false;
        if listener.stopping {
            listener.fd = None;
            return;
        }
        // Out of descriptors or memory: rest. A client that gave up while queued, or any other
        // failure of one connection, is no reason to.
        listener.paused =
            matches!(-completion.result, libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::ENOBUFS);
        self.todo = true;
    }

    fn open(&mut self, fd: OwnedFd, events: &mut Vec<Event>) {
        dress(&fd, &self.options);
        let peer = peer_of(&fd);
        self.stats.syscalls += SYSCALLS_PER_ACCEPT;
        self.stats.opened += 1;
        let id = self.links.insert(Link::new(fd));
        events.push(Event::Opened(id, peer));
        self.want_receive(id);
        self.unwatched.push(id);
    }

    /// The pause is over.
    pub(crate) fn resume_accepting(&mut self) {
        self.pausing = false;
        self.listeners.iter_mut().for_each(|listener| listener.paused = false);
        self.todo = true;
    }

    pub(crate) fn close_listeners(&mut self) {
        (0..self.listeners.len()).for_each(|index| self.close_listener(index));
    }

    fn close_listener(&mut self, index: usize) {
        let listener = &mut self.listeners[index];
        if listener.stopping {
            return;
        }
        listener.stopping = true;
        listener.paused = false;
        if listener.armed {
            let id = LinkId { slot: index as u32, generation: 0 };
            self.cancels.push((Kind::CancelAccept, id));
            self.todo = true;
        } else {
            listener.fd = None;
        }
    }

    pub(crate) fn add_listener(&mut self, fd: OwnedFd) {
        self.listeners.push(Listener::new(fd));
        self.todo = true;
    }

    /// Closes the listeners bound to an address.
    pub(crate) fn remove_listener(&mut self, address: &Address) {
        for index in 0..self.listeners.len() {
            let bound = self.listeners[index].fd.as_ref().and_then(|fd| local_address(fd).ok());
            if bound.as_ref() == Some(address) {
                self.close_listener(index);
            }
        }
    }
}
