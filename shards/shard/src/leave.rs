//! How clients go: when they have sent their last, and when the house closes. Each goes once its
//! answers are out; what it has not yet asked by then is not run. Knows no wire.

use crate::actor::Shard;
use crate::outbox::{Now, Outbox};
use crate::parcel::ConnId;
use crate::session::Hold;

impl Shard {
    /// A client has sent its last, but may still listen: it is closed once all it asked is answered.
    pub fn ended<O: Outbox>(&mut self, now: Now, conn: ConnId, out: &mut O) {
        self.now = now;
        let Some(mut session) = self.sessions.take(conn) else {
            return;
        };
        session.ended = true;
        if session.hold == Hold::Pause {
            // A pause may last for hours, and who has gone altogether looks just the same.
            session.state.closing = true;
            out.close(conn, true);
        }
        self.go_on(conn, session, out);
    }

    /// The house closes: no client's next command runs.
    pub fn leave<O: Outbox>(&mut self, out: &mut O) {
        for slot in 0..self.sessions.slots() {
            if let Some((conn, session)) = self.sessions.at(slot) {
                session.state.closing = true;
                if session.waiting() == 0 || matches!(session.hold, Hold::Pause | Hold::Choked | Hold::End) {
                    out.close(conn, true);
                }
            }
        }
    }
}
