//! Watching for peers that hang up. A multishot receive may miss it: where bytes and the end are both there
//! when the kernel looks, it reads the bytes and then waits for a wake-up that came already
//! (<https://github.com/axboe/liburing/issues/1549> has one such case). So the end is watched for apart, and
//! what is left behind it is read by single receives. Knows nothing of bytes.

use crate::datapath::UringPoller;
use crate::link::{Receive, Watch};
use crate::token::{Kind, pack};
use port::{Close, LinkId, Why};
use std::os::fd::AsRawFd;

impl UringPoller {
    pub(crate) fn stage_watches_for_hang_up(&mut self) {
        while let Some(id) = self.unwatched.pop() {
            let Some(link) = self.links.find(id) else { continue };
            if link.watch != Watch::Queued {
                continue;
            }
            let fd = link.fd.as_raw_fd();
            if !self.with_room(|ring| ring.push_hang_up(fd, pack(Kind::HangUp, id))) {
                self.unwatched.push(id);
                self.todo = true;
                return;
            }
            self.links.find(id).expect("just seen").watch = Watch::Armed;
        }
    }

    /// The peer has sent its last, or is gone: the receive is armed anew, as a single one.
    pub(crate) fn hung_up(&mut self, id: LinkId, result: i32) {
        let link = self.links.find(id).expect("a link outlives its watch");
        link.watch = Watch::Over;
        link.hung_up = result > 0;
        if link.ending.is_some() {
            self.settle(id);
        } else if link.receive == Receive::Armed {
            link.receive = Receive::Cancelling;
            self.cancels.push((Kind::CancelReceive, id));
            self.todo = true;
        } else if result > 0 && result as u32 & libc::POLLERR as u32 != 0 && link.receive == Receive::Idle {
            // It was reset while nobody reads from it.
            self.end(id, Why::Error(libc::ECONNRESET), Close::Abort);
        }
    }
}
