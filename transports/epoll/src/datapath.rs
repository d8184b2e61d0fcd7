//! The hot path: harvest, read, gather and write, sleep. Set-up and accepting are elsewhere.

use crate::doors::Knock;
use crate::setup::{Course, EpollPoller, Link, Token};
use crate::sys;
use port::sockets::{dress, peer_of};
use port::{Address, Chunk, Close, Event, Lender, LinkId, Poller, PollerStats, SendQueue, Why};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// Chunks gathered into one write.
const GATHER_MAX: usize = 32;

/// A nap while every receive chunk is with the house: bytes wait, epoll would report them at once.
const NAP: Duration = Duration::from_micros(500);

impl EpollPoller {
    /// Asks epoll what is ready, for at most `timeout`; `None` waits until something is.
    fn wait(&mut self, timeout: Option<Duration>) {
        self.ready.clear();
        self.looked_at = 0;
        let mut timeout = timeout.and_then(|bound| Timespec::try_from(bound).ok());
        if self.coarse_clock {
            timeout = timeout.map(in_milliseconds);
        }
        self.stats.syscalls += 1;
        match epoll::wait(&self.epoll, spare_capacity(&mut self.ready), timeout.as_ref()) {
            // A signal is a reason to wake.
            Ok(_) | Err(Errno::INTR) => {}
            // Only `epoll_pwait2` can be missing or denied; without it the core sleeps by milliseconds.
            Err(Errno::NOSYS | Errno::PERM) if !self.coarse_clock => self.coarse_clock = true,
            Err(error) => panic!("epoll_wait on our own descriptor: {error}"),
        }
    }

    fn tell_closed(&mut self, budget: usize, events: &mut Vec<Event>) {
        while events.len() < budget
            && let Some((link, why)) = self.closed.pop_front()
        {
            self.stats.closed += 1;
            events.push(Event::Closed(link, why));
        }
    }

    fn tell_writable(&mut self, budget: usize, events: &mut Vec<Event>) {
        for _ in 0..self.lender.tellable().min(budget.saturating_sub(events.len())) {
            let turn = self.lender.next_to_tell().expect("it was counted");
            if let Some(link) = self.links.find(turn.link)
                && !link.is_draining()
                && link.queue.take_turn(turn)
            {
                events.push(Event::Writable(turn.link));
            }
        }
    }

    fn accept(&mut self, door: usize, budget: usize, events: &mut Vec<Event>) {
        for _ in 0..self.doors.accepts_max(door) {
            // A slot may be named anew only after its last name was told closed.
            self.tell_closed(budget, events);
            if events.len() >= budget {
                return;
            }
            self.stats.syscalls += 1;
            match self.doors.accept(self.epoll.as_fd(), door) {
                Knock::Link(fd) => self.welcome(fd, events),
                Knock::Shed => {}
                Knock::Nobody => return,
            }
        }
    }

    fn welcome(&mut self, fd: OwnedFd, events: &mut Vec<Event>) {
        dress(&fd, &self.options);
        let peer = peer_of(&fd);
        let id = self.links.insert(Link {
            fd,
            queue: SendQueue::default(),
            course: Course::Open,
            throttled: false,
            blocked: false,
            interest: None,
            outgoing: false,
            restless: false,
        });
        self.stats.opened += 1;
        events.push(Event::Opened(id, peer));
        self.settle(id);
    }

    /// Looks after a ready link: at most one chunk is read, so that all get their turn.
    fn serve(&mut self, id: LinkId, flags: EventFlags, events: &mut Vec<Event>) {
        let Some(link) = self.links.find(id) else { return };
        let failed = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        if link.blocked && (failed || flags.contains(EventFlags::OUT)) {
            link.blocked = false;
            enlist(&mut self.outgoing, &mut link.outgoing, id);
            enlist(&mut self.restless, &mut link.restless, id);
        } else if failed && !reads(link) && link.queue.is_empty() {
            detach(&self.epoll, link);
            self.stats.syscalls += 1;
        }
        // The end of the stream and errors come by reading, after the last bytes: no flag tells more.
        if reads(link) && (failed || flags.contains(EventFlags::IN)) {
            self.read(id, events);
        }
    }

    fn read(&mut self, id: LinkId, events: &mut Vec<Event>) {
        let Some(link) = self.links.find(id) else { return };
        // None left: epoll reports the link again, when chunks have come home.
        let Some(mut chunk) = self.receiving.take() else { return };
        self.stats.syscalls += 1;
        match recv(&link.fd, chunk.spare(), RecvFlags::empty()).map(|(count, _)| count) {
            Ok(0) => {
                self.receiving.give(chunk);
                link.course = Course::Ended;
                enlist(&mut self.restless, &mut link.restless, id);
                events.push(Event::Ended(id));
            }
            Ok(count) => {
                chunk.extend(count);
                self.stats.bytes_in += count as u64;
                events.push(Event::Bytes(id, chunk));
            }
            Err(Errno::AGAIN | Errno::INTR) => self.receiving.give(chunk),
            Err(error) => {
                self.receiving.give(chunk);
                self.end(id, Why::Error(error.raw_os_error()));
            }
        }
    }

    /// Writes what a link has submitted, as far as the kernel takes it.
    fn send(&mut self, id: LinkId) {
        let Some(link) = self.links.find(id) else { return };
        link.outgoing = false;
        while !link.queue.is_empty() && !link.blocked {
            self.stats.syscalls += 1;
            match gather(link) {
                Ok((count, offered)) => {
                    self.stats.bytes_out += count as u64;
                    self.lender.sent(id, &mut link.queue, count);
                    link.blocked = count < offered;
                }
                Err(Errno::AGAIN) => link.blocked = true,
                Err(Errno::INTR) => {}
                Err(error) => return self.end(id, Why::Error(error.raw_os_error())),
            }
        }
        if link.queue.is_empty() {
            match link.course {
                Course::Open | Course::Ended => {}
                Course::Draining(false) => self.end_in_order(id),
                Course::Draining(true) => self.end(id, Why::Peer),
            }
        } else {
            enlist(&mut self.restless, &mut link.restless, id);
        }
    }

    /// Tells epoll what a link waits for now, where that has changed.
    fn settle(&mut self, id: LinkId) {
        let Some(link) = self.links.find(id) else { return };
        link.restless = false;
        let mut wanted = EventFlags::empty();
        wanted.set(EventFlags::IN, reads(link));
        wanted.set(EventFlags::OUT, link.blocked);
        if link.interest == Some(wanted) || (link.interest.is_none() && wanted.is_empty()) {
            return;
        }
        self.stats.syscalls += 1;
        let token = Token::Link(id).pack();
        let settled = match link.interest {
            Some(_) => epoll::modify(&self.epoll, &link.fd, token, wanted),
            None => epoll::add(&self.epoll, &link.fd, token, wanted),
        };
        link.interest = Some(wanted);
        // The kernel is out of memory or of watches: a link nobody would look after must not linger.
        if let Err(error) = settled {
            self.end(id, Why::Error(error.raw_os_error()));
        }
    }

    fn end(&mut self, id: LinkId, why: Why) {
        if let Some(mut link) = self.links.remove(id) {
            self.lender.clear(&mut link.queue);
            self.closed.push_back((id, why));
            // Dropping the only descriptor of a socket takes it out of epoll too.
            self.stats.syscalls += 1;
        }
    }

    /// All is sent. Bytes of the peer left unread would turn our FIN into a reset, which may overtake
    /// the last reply: a bounded part of them is read away.
    fn end_in_order(&mut self, id: LinkId) {
        let Some(link) = self.links.find(id) else { return };
        let mut sink = [0u8; 4096];
        for _ in 0..16 {
            self.stats.syscalls += 1;
            match recv(&link.fd, &mut sink[..], RecvFlags::empty()) {
                Ok((count, _)) if count > 0 => {}
                _ => break,
            }
        }
        self.end(id, Why::Ours);
    }

    fn has_news(&self) -> bool {
        !self.closed.is_empty() || self.lender.tellable() > 0
    }
}

/// Whether the house wants bytes of a link.
fn reads(link: &Link) -> bool {
    link.course == Course::Open && !link.throttled
}

fn enlist(list: &mut Vec<LinkId>, listed: &mut bool, id: LinkId) {
    if !*listed {
        *listed = true;
        list.push(id);
    }
}

/// A peer has gone while its link was throttled: epoll reports that always, asked or not, and would
/// keep the core awake. So the link is taken out until it is resumed; then reading tells the end.
fn detach(epoll: &OwnedFd, link: &mut Link) {
    if link.interest.take().is_some() {
        let _ = epoll::delete(epoll, &link.fd);
    }
}

/// One write for the queue, or its first chunks; returns how much was taken of how much.
fn gather(link: &Link) -> Result<(usize, usize), Errno> {
    // No SIGPIPE: a program that links this crate may not have it ignored.
    if link.queue.len() == 1 {
        let piece = link.queue.front().expect("there is one");
        return Ok((send(&link.fd, piece, SendFlags::NOSIGNAL)?, piece.len()));
    }
    let mut slices = [IoSlice::new(&[]); GATHER_MAX];
    let (mut used, mut offered) = (0, 0);
    for (slice, piece) in slices.iter_mut().zip(link.queue.pieces()) {
        *slice = IoSlice::new(piece);
        (used, offered) = (used + 1, offered + piece.len());
    }
    let mut no_rights = SendAncillaryBuffer::default();
    Ok((sendmsg(&link.fd, &slices[..used], &mut no_rights, SendFlags::NOSIGNAL)?, offered))
}

/// Rounded up, so that a core does not wake before its time and spin until then.
fn in_milliseconds(time: Timespec) -> Timespec {
    let ms = time.tv_nsec.div_euclid(1_000_000) + i64::from(time.tv_nsec % 1_000_000 != 0);
    match ms {
        1000 => Timespec { tv_sec: time.tv_sec.saturating_add(1), tv_nsec: 0 },
        _ => Timespec { tv_sec: time.tv_sec, tv_nsec: ms * 1_000_000 },
    }
}

impl Poller for EpollPoller {
    fn name(&self) -> &'static str {
        "epoll"
    }

    fn poll(&mut self, budget: usize, events: &mut Vec<Event>) {
        let budget = events.len() + budget.max(1);
        self.tell_closed(budget, events);
        self.tell_writable(budget, events);
        if events.len() >= budget {
            return;
        }
        self.doors.reopen(self.epoll.as_fd());
        // What is left of the last round comes first: everyone's turn comes once a round.
        if self.looked_at == self.ready.len() {
            self.wait(Some(Duration::ZERO));
        }
        while events.len() < budget && self.looked_at < self.ready.len() {
            let ready = self.ready[self.looked_at];
            self.looked_at += 1;
            match Token::unpack(ready.data) {
                Token::Link(id) => self.serve(id, ready.flags, events),
                Token::Door(door) => self.accept(door, budget, events),
                Token::Watched => {}
                Token::Bell => {
                    self.bell_rung = false;
                    let _ = rustix::io::read(&self.bell, &mut [0u8; 8]);
                }
            }
        }
        self.tell_closed(budget, events);
    }

    fn lease(&mut self, link: LinkId, _at_least: usize) -> Option<Chunk> {
        let found = self.links.find(link)?;
        if found.is_draining() {
            return None;
        }
        self.lender.lease(link, &mut found.queue)
    }

    fn submit(&mut self, link: LinkId, chunk: Chunk) {
        match self.links.find(link) {
            Some(found) if !found.is_draining() && !chunk.filled().is_empty() => {
                found.queue.push(chunk);
                // A blocked link is not tried in vain: EPOLLOUT puts it on the list.
                if !found.blocked {
                    enlist(&mut self.outgoing, &mut found.outgoing, link);
                }
            }
            _ => self.recycle(chunk),
        }
    }

    fn recycle(&mut self, chunk: Chunk) {
        if chunk.tag == Lender::TAG {
            self.lender.give(chunk);
        } else {
            self.receiving.give(chunk);
        }
    }

    fn flush(&mut self) {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        for id in outgoing.drain(..) {
            self.send(id);
        }
        self.outgoing = outgoing;
        let mut restless = std::mem::take(&mut self.restless);
        for id in restless.drain(..) {
            self.settle(id);
        }
        self.restless = restless;
        if self.slept_on.get() && self.has_news() && !self.bell_rung {
            self.bell_rung = true;
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        }
    }

    fn close(&mut self, link: LinkId, how: Close) {
        let Some(found) = self.links.find(link) else { return };
        match (how, found.course) {
            (Close::Abort, _) => self.end(link, Why::Ours),
            (Close::Drain, Course::Draining(_)) => {}
            (Close::Drain, course) => {
                let ended = course == Course::Ended;
                found.course = Course::Draining(ended);
                match (found.queue.is_empty(), ended) {
                    (false, _) => enlist(&mut self.restless, &mut found.restless, link),
                    (true, false) => self.end_in_order(link),
                    (true, true) => self.end(link, Why::Peer),
                }
            }
        }
    }

    fn throttle(&mut self, link: LinkId, stop: bool) {
        let Some(found) = self.links.find(link) else { return };
        found.throttled = stop;
        enlist(&mut self.restless, &mut found.restless, link);
    }

    fn chunk_size(&self) -> usize {
        self.lender.chunk_bytes()
    }

    fn keep_alive(&mut self, seconds: u32) {
        self.options.keepalive_seconds = seconds;
    }

    fn stop_accepting(&mut self) {
        self.doors.close(self.epoll.as_fd());
    }

    fn listen(&mut self, listener: OwnedFd) -> io::Result<()> {
        self.doors.add(self.epoll.as_fd(), listener)
    }

    fn stop_listening(&mut self, address: &Address) {
        self.doors.remove(self.epoll.as_fd(), address);
    }

    fn links(&self) -> usize {
        self.links.len()
    }

    fn stats(&self) -> PollerStats {
        PollerStats {
            leases_refused: self.lender.refused(),
            chunks_away: (self.lender.away() + self.receiving.away()) as u64,
            ..self.stats
        }
    }

    fn sleep_on(&self) -> Option<RawFd> {
        self.slept_on.set(true);
        Some(self.epoll.as_raw_fd())
    }

    fn watch(&mut self, fd: RawFd) -> bool {
        let added = epoll::add(&self.epoll, sys::borrow(fd), Token::Watched.pack(), EventFlags::IN);
        matches!(added, Ok(()) | Err(Errno::EXIST))
    }

    fn park(&mut self, timeout: Option<Duration>) -> bool {
        self.flush();
        if self.has_news() || self.looked_at < self.ready.len() {
            return true;
        }
        if self.receiving.available() == 0 {
            std::thread::sleep(timeout.map_or(NAP, |bound| bound.min(NAP)));
            return true;
        }
        let bounds = [timeout, self.doors.sleep_max()];
        self.wait(bounds.into_iter().flatten().min());
        true
    }
}
