//! How clients go: when they have sent their last, and when the house closes. Each goes once its
//! answers are out; what it has not yet asked by then is not run. Knows no wire.

use crate::actor::Shard;
use crate::outbox::{Now, Outbox};
use crate::parcel::ConnId;
use crate::session::{Hold, Session};

impl Shard {
    /// A client has sent its last, but may still listen: it is closed once all it asked is answered.
    pub fn ended<O: Outbox>(&mut self, now: Now, conn: ConnId, out: &mut O) {
        self.now = now;
        let Some(mut session) = self.sessions.take(conn) else {
            return;
        };
        session.ended = true;
        match session.hold {
            Hold::Answers => self.marks.ended_while_away += 1,
            Hold::Pause => self.marks.ended_while_paused += 1,
            Hold::Choked => self.marks.ended_while_choked += 1,
            Hold::Turn => self.marks.ended_in_turn += 1,
            Hold::Blocked => {
                self.marks.ended_while_blocked += 1;
                // Who has gone looks just the same: it waits for nothing.
                self.give_up_waiting(conn, &mut session);
            }
            Hold::None | Hold::End => {}
        }
        self.go_on(conn, session, out);
    }

    /// The house closes: no client's next command runs.
    pub fn leave<O: Outbox>(&mut self, out: &mut O) {
        for slot in 0..self.sessions.slots() {
            if let Some((conn, session)) = self.sessions.at(slot) {
                session.state.closing = true;
                // SHUTDOWN is answered by the end. Others are closed when the last answer is home.
                let waits = session.blocked.as_ref().is_some_and(|blocked| blocked.is_waiting());
                if session.waiting() == 0 || session.hold == Hold::End || waits {
                    out.close(conn, true);
                }
            }
        }
    }

    /// Nothing more will be said to this client: it has been answered, and nothing more of it runs.
    pub(crate) fn is_over(session: &Session) -> bool {
        if session.waiting() > 0 {
            return false;
        }
        let held = !matches!(session.hold, Hold::None | Hold::Pause);
        // Where nothing more runs, it does not matter for what it waits. Who has sent its last goes when
        // all has run; not behind a pause: it may last for hours, and who has gone looks just the same.
        session.state.closing || session.ended && !held
    }
}
