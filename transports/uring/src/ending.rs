//! How links end: asked back, waited for, then closed; and how the whole poller does.
//! Knows nothing of bytes.

use crate::datapath::UringPoller;
use crate::link::{Ending, Receive, Watch};
use crate::sys::Wait;
use crate::token::{Kind, pack, pack_index, unpack};
use io_uring::cqueue;
use port::{Close, Event, LinkId, Why};
use std::time::Duration;

/// How long a dropped poller waits in all for what it asked back.
const LAST_ENTERS_MAX: usize = 100;
const LAST_ENTER: Duration = Duration::from_millis(10);

impl UringPoller {
    /// Begins the end of a link, or makes it harsher. `Closed` follows once nothing is in flight.
    pub(crate) fn end(&mut self, id: LinkId, why: Why, how: Close) {
        let Some(link) = self.links.find(id) else { return };
        match &mut link.ending {
            None => link.ending = Some(Ending { why, how }),
            Some(ending) if ending.how == Close::Abort => {}
            Some(ending) => ending.how = how,
        }
        if how == Close::Abort {
            if link.sending == 0 {
                self.lender.clear(&mut link.queue);
            } else if !link.send_cancelled {
                link.send_cancelled = true;
                self.cancels.push((Kind::CancelSend, id));
                self.todo = true;
            }
        }
        match link.receive {
            Receive::Armed => {
                link.receive = Receive::Cancelling;
                self.cancels.push((Kind::CancelReceive, id));
                self.todo = true;
            }
            Receive::Queued | Receive::Starved => link.receive = Receive::Idle,
            Receive::Idle | Receive::Cancelling => {}
        }
        match link.watch {
            Watch::Armed => {
                link.watch = Watch::Cancelling;
                self.cancels.push((Kind::CancelHangUp, id));
                self.todo = true;
            }
            Watch::Queued => link.watch = Watch::Over,
            Watch::Over | Watch::Cancelling => {}
        }
        self.settle(id);
    }

    /// Marks a link as over if nothing is in flight or owed.
    pub(crate) fn settle(&mut self, id: LinkId) {
        if let Some(link) = self.links.find(id)
            && link.is_finished()
            && !link.buried
        {
            link.buried = true;
            self.finished.push(id);
        }
    }

    /// Closes the descriptor and tells of it.
    pub(crate) fn bury(&mut self, id: LinkId, events: &mut Vec<Event>) {
        let Some(link) = self.links.remove(id) else { return };
        assert!(!link.is_busy(), "the kernel is done with a finished link");
        let why = link.ending.map_or(Why::Ours, |ending| ending.why);
        drop(link);
        self.stats.syscalls += 1;
        self.stats.closed += 1;
        events.push(Event::Closed(id, why));
    }

    /// Stages what is to be asked back.
    pub(crate) fn stage_cancels(&mut self) {
        while let Some((kind, id)) = self.cancels.pop() {
            let target = match kind {
                Kind::CancelSend => Kind::Send,
                Kind::CancelAccept => Kind::Accept,
                Kind::CancelHangUp => Kind::HangUp,
                _ => Kind::Receive,
            };
            if kind != Kind::CancelAccept && !self.is_cancelling(kind, id) {
                continue;
            }
            if !self.with_room(|ring| ring.push_cancel(pack(target, id), pack(kind, id))) {
                self.cancels.push((kind, id));
                self.todo = true;
                return;
            }
        }
    }

    /// A cancel has run. It may have missed an operation that was just being worked on: ask again.
    pub(crate) fn cancelled(&mut self, kind: Kind, id: LinkId, result: i32) {
        if !matches!(-result, libc::ENOENT | libc::EALREADY) {
            return;
        }
        if self.is_cancelling(kind, id) {
            self.cancels.push((kind, id));
            self.todo = true;
        }
    }

    /// What a cancel is to ask back is still with the kernel.
    fn is_cancelling(&mut self, kind: Kind, id: LinkId) -> bool {
        self.links.find(id).is_some_and(|link| match kind {
            Kind::CancelReceive => link.receive == Receive::Cancelling,
            Kind::CancelHangUp => link.watch == Watch::Cancelling,
            _ => link.send_cancelled,
        })
    }

    /// Asks everything back and waits for it, within bounds. `false`: the kernel may still use chunks,
    /// which are then leaked.
    pub(crate) fn quiesce(&mut self) -> bool {
        let ids: Vec<LinkId> = self.links.ids().collect();
        let mut busy = self.count_busy(&ids);
        let mut completions = Vec::new();
        for _ in 0..LAST_ENTERS_MAX {
            if busy == 0 {
                break;
            }
            // Again each time: a cancel misses what is just being worked on.
            self.ring.push_cancel_all(pack_index(Kind::Nothing, 0));
            if self.ring.enter(Wait::for_one(Some(LAST_ENTER))).is_err() {
                break;
            }
            completions.clear();
            self.ring.harvest(usize::MAX, &mut completions);
            for completion in &completions {
                let (kind, id) = unpack(completion.token);
                if let Some(buffer) = cqueue::buffer_select(completion.flags) {
                    self.buffers.take(buffer);
                }
                let Some(link) = self.links.find(id) else { continue };
                match kind {
                    Kind::Receive if !cqueue::more(completion.flags) => link.receive = Receive::Idle,
                    Kind::Send => link.sending = 0,
                    Kind::HangUp => link.watch = Watch::Over,
                    _ => {}
                }
            }
            busy = self.count_busy(&ids);
        }
        for id in ids {
            if let Some(mut link) = self.links.remove(id)
                && link.sending > 0
            {
                std::mem::forget(std::mem::take(&mut link.queue));
                std::mem::forget(link.message.take());
            }
        }
        busy == 0
    }

    fn count_busy(&mut self, ids: &[LinkId]) -> usize {
        ids.iter().filter(|id| self.links.find(**id).is_some_and(|link| link.is_busy())).count()
    }
}
