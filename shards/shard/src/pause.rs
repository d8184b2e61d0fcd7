//! CLIENT PAUSE: sessions whose next command may not run yet, and the promise that nothing is written
//! once it has been answered. It does not know who pauses, or why.

use crate::actor::Shard;
use crate::outbox::Outbox;
use crate::parcel::Part;
use crate::planted::Bug;
use crate::session::Hold;
use commands::PauseMode;
use spec::Flags;

/// Commands that no pause lets pass.
pub(crate) const PAUSED_WRITES: Flags = Flags::WRITE.with(Flags::MAY_REPLICATE);

impl Shard {
    /// Whether a pause holds a command back.
    pub(crate) fn is_paused(&self, flags: Flags) -> bool {
        match self.pause {
            Some((until, mode)) if self.now.ms() < until => match mode {
                // A client must be able to end the pause, and to ask how things are.
                PauseMode::All => !flags.has(Flags::ADMIN) || flags.any(Flags::WRITE),
                PauseMode::Write => flags.any(PAUSED_WRITES),
            },
            _ => false,
        }
    }

    /// A part of a command that locks nothing has run. That of CLIENT PAUSE is done once the writes that
    /// passed the gate here before it are home again: every shard says so of its own, so that nothing is
    /// written anywhere once the client has its answer.
    pub(crate) fn part_ran<O: Outbox>(&mut self, part: Box<Part>, out: &mut O) {
        let began = std::mem::take(&mut self.pause_began);
        if began && self.has_writes_away() && !self.planted(Bug::PauseAnswersEarly) {
            self.marks.pause_waited += 1;
            self.pausing.push(part);
        } else {
            self.part_done(part, out);
        }
    }

    fn has_writes_away(&self) -> bool {
        // Who waits for what is there already takes it before that, too.
        self.writes_away > 0 || self.home.has_writes(self.catalog) || !self.waits.is_settled()
    }

    /// Lets sessions go on whose pause is over, and CLIENT PAUSE itself when nothing is written any more.
    pub(crate) fn end_pause<O: Outbox>(&mut self, out: &mut O) {
        if self.pause.is_some_and(|(until, _)| self.now.ms() >= until) {
            self.pause = None;
        }
        // A pause that is over promises nothing: its client must not wait for ever-new writes.
        if !self.pausing.is_empty() && (self.pause.is_none() || !self.has_writes_away()) {
            for part in std::mem::take(&mut self.pausing) {
                self.part_done(part, out);
            }
        }
        if self.pause.is_some() || self.paused.is_empty() {
            return;
        }
        for conn in std::mem::take(&mut self.paused) {
            if let Some(mut session) = self.sessions.take(conn) {
                if session.hold == Hold::Pause {
                    session.hold = Hold::None;
                }
                self.go_on(conn, session, out);
            }
        }
    }
}
