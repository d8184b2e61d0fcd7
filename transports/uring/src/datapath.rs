//! The hot path: harvesting completions, staging sends, one enter for all of it.
//! Knows nothing of listeners (`accept`), endings (`ending`) or sleep (`park`).

use crate::accept::Listener;
use crate::link::{Link, Receive};
use crate::park::Gathering;
use crate::setup::{self, BUFFER_GROUP, BroughtUp, UringDenied};
use crate::sys::{Buffers, Completion, Message, Ring, Wait};
use crate::token::{Kind, pack, unpack};
use io_uring::opcode;
use io_uring::types::Fd;
use port::sockets::SocketOptions;
use port::{Address, Chunk, Close, Event, Lender, LinkId, Links, Poller, PollerStats, Why};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// Enters one `poll` may make when deferred work completes without anything for us.
const ENTERS_PER_POLL_MAX: usize = 8;
/// Completions handled between two looks at the budget.
const HARVEST_MAX: usize = 256;
/// No SIGPIPE, and the kernel itself goes on with a short send.
const SEND_FLAGS: i32 = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;

/// A poller over io_uring. Made on the thread that uses it, and bound to it.
pub struct UringPoller {
    pub(crate) ring: Ring,
    /// Where received bytes travel: chunks whose tag is the buffer's id.
    pub(crate) buffers: Buffers,
    /// Where replies travel.
    pub(crate) lender: Lender,
    pub(crate) links: Links<Link>,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) options: SocketOptions,
    description: String,
    pub(crate) stats: PollerStats,
    /// Links whose receive is to be armed.
    pub(crate) arming: Vec<LinkId>,
    /// Links whose receive found no buffer, first come first armed.
    pub(crate) starved: VecDeque<LinkId>,
    /// Links whose hang-up nobody watches for yet.
    pub(crate) unwatched: Vec<LinkId>,
    /// Links with something to send and no send in flight.
    pub(crate) outbox: Vec<LinkId>,
    /// Operations to be asked back.
    pub(crate) cancels: Vec<(Kind, LinkId)>,
    /// Links that are over: `Closed` is due.
    pub(crate) finished: Vec<LinkId>,
    /// What `park` harvested and the next `poll` tells.
    pub(crate) early: VecDeque<Event>,
    /// Descriptors whose readability ends `park`, and whether the kernel watches them now.
    pub(crate) watched: Vec<(RawFd, bool)>,
    pub(crate) gathering: Gathering,
    /// Another poller was given our descriptor.
    slept_on: Cell<bool>,
    /// Something other than sends waits to be staged.
    pub(crate) todo: bool,
    /// An accept pauses until its timer.
    pub(crate) pausing: bool,
    /// Vectors of sends, reused.
    #[expect(clippy::vec_box, reason = "the kernel reads a message where it lies: it must not move")]
    messages: Vec<Box<Message>>,
    scratch: Vec<Completion>,
}

impl std::fmt::Debug for UringPoller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UringPoller({}, {} links)", self.description, self.links.len())
    }
}

impl UringPoller {
    /// A poller that accepts on `listeners` (see `port::sockets::listen`). Call it on the thread that
    /// will poll: the kernel binds the ring to it.
    ///
    /// # Errors
    /// Why io_uring cannot be used here.
    pub fn new(listeners: Vec<OwnedFd>, options: SocketOptions) -> Result<UringPoller, UringDenied> {
        Ok(UringPoller::over(setup::bring_up(&options)?, listeners, options))
    }

    /// A poller over a ring that was brought up.
    pub(crate) fn over(found: BroughtUp, listeners: Vec<OwnedFd>, options: SocketOptions) -> UringPoller {
        let BroughtUp { ring, buffers, description } = found;
        let lender = Lender::new(options.send_chunk_bytes, options.send_chunks, options.send_chunks_per_link);
        UringPoller {
            ring,
            buffers,
            lender,
            links: Links::default(),
            todo: !listeners.is_empty(),
            listeners: listeners.into_iter().map(Listener::new).collect(),
            options,
            description,
            stats: PollerStats::default(),
            arming: Vec::new(),
            starved: VecDeque::new(),
            unwatched: Vec::new(),
            outbox: Vec::new(),
            cancels: Vec::new(),
            finished: Vec::new(),
            early: VecDeque::new(),
            watched: Vec::new(),
            gathering: Gathering::default(),
            slept_on: Cell::new(false),
            pausing: false,
            messages: Vec::new(),
            scratch: Vec::with_capacity(HARVEST_MAX),
        }
    }

    /// Which ring was brought up, such as `io_uring (defer-taskrun, 1024/4096, 256x16KiB buffers)`.
    pub fn describe(&self) -> &str {
        &self.description
    }

    /// Events are due that no completion will announce.
    #[inline]
    pub(crate) fn has_chores(&self) -> bool {
        !self.early.is_empty() || !self.finished.is_empty() || self.lender.tellable() > 0
    }

    /// One enter: submits what is staged and runs deferred work.
    pub(crate) fn enter(&mut self, wait: Wait) {
        if let Err(error) = self.ring.enter(wait) {
            panic!("the ring of a living core works: {error}");
        }
    }

    /// Makes deferred completions visible, a bounded number of times.
    fn enter_until_visible(&mut self) {
        for _ in 0..ENTERS_PER_POLL_MAX {
            self.stage();
            self.enter(Wait::No);
            if !self.ring.is_empty() || !(self.todo || self.ring.wants_enter()) {
                return;
            }
        }
    }

    /// Turns chores and completions into at most about `budget` events.
    pub(crate) fn harvest(&mut self, budget: usize, events: &mut Vec<Event>) {
        let before = events.len();
        if self.has_chores() {
            self.do_chores(budget, events);
        }
        let mut ran_dry = false;
        let mut completions = std::mem::take(&mut self.scratch);
        loop {
            let left = budget.saturating_sub(events.len() - before);
            completions.clear();
            self.ring.harvest(left.min(HARVEST_MAX), &mut completions);
            if completions.is_empty() {
                break;
            }
            for completion in &completions {
                ran_dry |= completion.result == -libc::ENOBUFS;
                self.complete(completion, events);
            }
        }
        self.scratch = completions;
        if ran_dry {
            // Once per harvest, however many links were turned away.
            self.buffers.grow();
        }
    }

    fn do_chores(&mut self, budget: usize, events: &mut Vec<Event>) {
        let most = budget.min(self.early.len());
        events.extend(self.early.drain(..most));
        for _ in 0..budget.saturating_sub(most) {
            let Some(id) = self.finished.pop() else { break };
            self.bury(id, events);
        }
        for _ in 0..self.lender.tellable().min(budget) {
            let Some(turn) = self.lender.next_to_tell() else { break };
            if let Some(link) = self.links.find(turn.link).filter(|link| link.is_open())
                && link.queue.take_turn(turn)
            {
                events.push(Event::Writable(turn.link));
            }
        }
    }

    pub(crate) fn complete(&mut self, completion: &Completion, events: &mut Vec<Event>) {
        let (kind, id) = unpack(completion.token);
        match kind {
            Kind::Receive => self.received(id, completion, events),
            Kind::Send => self.sent(id, completion.result),
            Kind::Accept => self.accepted(id.slot as usize, completion, events),
            Kind::HangUp => self.hung_up(id, completion.result),
            Kind::CancelReceive | Kind::CancelSend | Kind::CancelHangUp => {
                self.cancelled(kind, id, completion.result);
            }
            Kind::Watch => {
                self.watched[id.slot as usize].1 = false;
                self.gathering.forget();
            }
            Kind::Pause => self.resume_accepting(),
            Kind::CancelAccept | Kind::Nothing => {}
        }
    }

    fn sent(&mut self, id: LinkId, result: i32) {
        let link = self.links.find(id).expect("a link outlives its send");
        let count = usize::try_from(result).unwrap_or(0);
        // All of it was counted when it was staged.
        self.stats.bytes_out -= (link.sending - count) as u64;
        link.sending = 0;
        link.send_cancelled = false;
        self.messages.extend(link.message.take());
        self.lender.sent(id, &mut link.queue, count);
        let again = matches!(-result, libc::EAGAIN | libc::EINTR | libc::ECANCELED);
        let aborted = link.ending.is_some_and(|ending| ending.how == Close::Abort);
        if aborted || result < 0 && !again {
            self.end(id, Why::Error(-result), Close::Abort);
            return;
        }
        if link.is_finished() {
            self.settle(id);
            return;
        }
        if !link.queue.is_empty() && !link.queued {
            link.queued = true;
            self.outbox.push(id);
            self.todo = true;
        }
    }

    /// Turns every list of wishes into entries; what finds no room waits for the next time.
    pub(crate) fn stage(&mut self) {
        self.buffers.replenish();
        if self.todo {
            self.todo = false;
            self.stage_cancels();
            self.stage_accepts();
            self.stage_receives();
            self.stage_watches_for_hang_up();
        }
        if !self.outbox.is_empty() {
            self.stage_sends();
        }
    }

    fn stage_sends(&mut self) {
        let mut outbox = std::mem::take(&mut self.outbox);
        let mut staged = 0;
        for &id in &outbox {
            if !self.stage_send(id) {
                self.todo = true;
                break;
            }
            staged += 1;
        }
        outbox.drain(..staged);
        self.outbox = outbox;
    }

    /// Stages the one send of a link; `false` when there is no room.
    fn stage_send(&mut self, id: LinkId) -> bool {
        let Some(link) = self.links.find(id) else { return true };
        if link.sending > 0 || link.queue.is_empty() {
            link.queued = false;
            return true;
        }
        let fd = Fd(link.fd.as_raw_fd());
        let mut pieces = link.queue.pieces();
        let (entry, bytes) = if pieces.len() == 1 {
            let piece = pieces.next().expect("just counted");
            let send = opcode::Send::new(fd, piece.as_ptr(), piece.len() as u32).flags(SEND_FLAGS);
            (send.build(), piece.len())
        } else {
            let mut message = self.messages.pop().unwrap_or_else(Message::new);
            let bytes = message.fill(pieces);
            let send = opcode::SendMsg::new(fd, message.header()).flags(SEND_FLAGS as u32);
            link.message = Some(message);
            (send.build(), bytes)
        };
        let entry = entry.user_data(pack(Kind::Send, id));
        let ring = &mut self.ring;
        // SAFETY: the chunks stay in the link's queue, their memory unmoved and unwritten, and the
        // message in its box, until `sent` harvests the completion; a dropped poller leaks them rather
        // than free what is in flight.
        let mut pushed = unsafe { ring.push(&entry) };
        if !pushed {
            ring.enter(Wait::No).expect("the ring of a living core works");
            // SAFETY: as above.
            pushed = unsafe { ring.push(&entry) };
        }
        if pushed {
            self.stats.bytes_out += bytes as u64;
            link.sending = bytes;
            link.queued = false;
        } else {
            self.messages.extend(link.message.take());
        }
        pushed
    }

    /// Pushes, after an enter where the queue was full.
    pub(crate) fn with_room(&mut self, push: impl Fn(&mut Ring) -> bool) -> bool {
        if push(&mut self.ring) {
            return true;
        }
        self.enter(Wait::No);
        push(&mut self.ring)
    }
}

impl Poller for UringPoller {
    fn name(&self) -> &'static str {
        "uring"
    }

    fn poll(&mut self, budget: usize, events: &mut Vec<Event>) {
        if self.ring.is_empty() && !self.has_chores() {
            if !self.todo && !self.ring.wants_enter() {
                return;
            }
            self.enter_until_visible();
        }
        self.harvest(budget, events);
    }

    fn lease(&mut self, link: LinkId, _at_least: usize) -> Option<Chunk> {
        let state = self.links.find(link).filter(|state| state.is_open())?;
        self.lender.lease(link, &mut state.queue)
    }

    fn submit(&mut self, link: LinkId, chunk: Chunk) {
        match self.links.find(link) {
            Some(state) if state.is_open() && !chunk.filled().is_empty() => {
                debug_assert_eq!(chunk.tag, Lender::TAG, "what is submitted was leased");
                state.queue.push(chunk);
                if !state.queued && state.sending == 0 {
                    state.queued = true;
                    self.outbox.push(link);
                }
            }
            _ => self.recycle(chunk),
        }
    }

    fn recycle(&mut self, chunk: Chunk) {
        if chunk.tag == Lender::TAG {
            self.lender.give(chunk);
        } else {
            self.buffers.give(chunk.tag as u16, chunk.into_memory());
            self.todo |= !self.starved.is_empty();
        }
    }

    fn flush(&mut self) {
        self.stage();
        if self.ring.has_staged() {
            self.enter(Wait::No);
        }
        if self.slept_on.get() && self.has_chores() && self.ring.is_empty() {
            // Someone sleeps on our descriptor: what is due must show on it.
            self.announce();
        }
    }

    fn close(&mut self, link: LinkId, how: Close) {
        let ended = self.links.find(link).is_some_and(|state| state.ended);
        self.end(link, if ended && how == Close::Drain { Why::Peer } else { Why::Ours }, how);
    }

    fn throttle(&mut self, link: LinkId, stop: bool) {
        let Some(state) = self.links.find(link) else { return };
        state.throttled = stop;
        match (stop, state.receive) {
            (true, Receive::Armed) => {
                state.receive = Receive::Cancelling;
                self.cancels.push((Kind::CancelReceive, link));
                self.todo = true;
            }
            (true, Receive::Queued | Receive::Starved) => state.receive = Receive::Idle,
            (false, _) => self.want_receive(link),
            (true, _) => {}
        }
    }

    fn chunk_size(&self) -> usize {
        self.options.send_chunk_bytes
    }

    fn keep_alive(&mut self, seconds: u32) {
        self.options.keepalive_seconds = seconds;
    }

    fn stop_accepting(&mut self) {
        self.close_listeners();
    }

    fn listen(&mut self, listener: OwnedFd) -> io::Result<()> {
        self.add_listener(listener);
        Ok(())
    }

    fn stop_listening(&mut self, address: &Address) {
        self.remove_listener(address);
    }

    fn links(&self) -> usize {
        self.links.len()
    }

    fn stats(&self) -> PollerStats {
        PollerStats {
            syscalls: self.stats.syscalls + self.ring.enters,
            leases_refused: self.lender.refused(),
            chunks_away: (self.lender.away() + self.buffers.away()) as u64,
            ..self.stats
        }
    }

    fn sleep_on(&self) -> Option<RawFd> {
        self.slept_on.set(true);
        Some(self.ring.fd())
    }

    fn watch(&mut self, fd: RawFd) -> bool {
        self.watched.push((fd, false));
        true
    }

    fn park(&mut self, timeout: Option<Duration>) -> bool {
        self.sleep(timeout);
        true
    }
}

impl Drop for UringPoller {
    fn drop(&mut self) {
        let quiet = self.quiesce();
        if quiet {
            // SAFETY: `quiesce` has harvested the end of every receive.
            unsafe { self.buffers.unregister(&self.ring, BUFFER_GROUP) };
        }
    }
}
