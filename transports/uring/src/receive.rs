//! Receiving: what arrives, and when a receive is armed, starved of buffers, or armed again.
//! Knows nothing of sends.

use crate::datapath::UringPoller;
use crate::link::Receive;
use crate::setup::BUFFER_GROUP;
use crate::sys::Completion;
use crate::token::{Kind, pack};
use io_uring::cqueue;
use port::{Chunk, Close, Event, LinkId, Why};
use std::os::fd::AsRawFd;

impl UringPoller {
    pub(crate) fn received(&mut self, id: LinkId, completion: &Completion, events: &mut Vec<Event>) {
        let mut link = self.links.find(id);
        if let Some(buffer) = cqueue::buffer_select(completion.flags) {
            let memory = self.buffers.take(buffer).expect("the kernel fills buffers it was given");
            let heard = link.as_ref().is_some_and(|link| link.ending.is_none());
            if heard && completion.result > 0 {
                let count = completion.result as usize;
                self.stats.bytes_in += count as u64;
                self.gathering.received += 1;
                if let Some(link) = &mut link
                    && link.note_chunk(count == self.options.chunk_bytes)
                    && link.receive == Receive::Armed
                {
                    // From now on it gets one chunk an enter, as each of the others does.
                    link.receive = Receive::Cancelling;
                    self.cancels.push((Kind::CancelReceive, id));
                    self.todo = true;
                }
                events.push(Event::Bytes(id, Chunk::from_memory(memory, count, u32::from(buffer))));
            } else {
                self.buffers.give(buffer, memory);
            }
        }
        if cqueue::more(completion.flags) {
            return;
        }
        let link = link.expect("a link outlives its receive");
        link.receive = Receive::Idle;
        if link.ending.is_some() {
            self.settle(id);
            return;
        }
        match -completion.result {
            libc::ENOBUFS if !link.throttled => {
                link.receive = Receive::Starved;
                self.starved.push_back(id);
                self.todo = true;
            }
            // Multishot may end at any time, with bytes or without.
            ..0 | libc::ENOBUFS | libc::ECANCELED | libc::EINTR | libc::EAGAIN => self.want_receive(id),
            0 => {
                link.ended = true;
                events.push(Event::Ended(id));
            }
            errno => self.end(id, Why::Error(errno), Close::Abort),
        }
    }

    /// Has a link's receive armed at the next enter, unless it is throttled or ending.
    pub(crate) fn want_receive(&mut self, id: LinkId) {
        if let Some(link) = self.links.find(id)
            && link.receive == Receive::Idle
            && !link.throttled
            && !link.ended
            && link.ending.is_none()
        {
            link.receive = Receive::Queued;
            self.arming.push(id);
            self.todo = true;
        }
    }

    pub(crate) fn stage_receives(&mut self) {
        // A link that found no buffer takes many at once: few links at a time, and only as buffers come.
        let share = self.buffers.with_kernel().div_ceil(4);
        for _ in 0..share {
            let Some(id) = self.starved.pop_front() else { break };
            if let Some(link) = self.links.find(id)
                && link.receive == Receive::Starved
            {
                link.receive = Receive::Queued;
                self.arming.push(id);
            }
        }
        while let Some(id) = self.arming.pop() {
            let Some(link) = self.links.find(id) else { continue };
            if link.receive != Receive::Queued {
                continue;
            }
            let (fd, multishot) = (link.fd.as_raw_fd(), !link.hung_up && !link.is_bulk());
            let token = pack(Kind::Receive, id);
            if !self.with_room(|ring| ring.push_receive(fd, BUFFER_GROUP, multishot, token)) {
                self.arming.push(id);
                self.todo = true;
                return;
            }
            self.links.find(id).expect("just seen").receive = Receive::Armed;
        }
        self.todo |= !self.starved.is_empty() && self.buffers.with_kernel() > 0;
    }
}
