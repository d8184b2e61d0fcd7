//! Sleeping in the ring, and what ends it. Knows nothing of what woke it.

use crate::datapath::UringPoller;
use crate::sys::Wait;
use crate::token::{Kind, pack_index};
use std::time::Duration;

/// Rounds of submitting and looking before sleep: sends that went short are staged again.
const ROUNDS_MAX: usize = 4;
/// Completions looked at in one round.
const LOOKED_AT_MAX: usize = 1024;

impl UringPoller {
    /// Flushes, then waits for a completion that may mean something.
    pub(crate) fn sleep(&mut self, timeout: Option<Duration>) {
        self.stage_watches();
        for _ in 0..ROUNDS_MAX {
            // Most sends complete as they are submitted, and their completions must not end the sleep:
            // submit them first. Anything else goes along with the wait.
            let sends = !self.outbox.is_empty();
            self.stage();
            if sends || timeout == Some(Duration::ZERO) {
                self.enter(Wait::No);
            }
            if !self.ring.is_empty() {
                self.look();
            }
            if self.has_chores() || timeout == Some(Duration::ZERO) {
                return;
            }
            if self.outbox.is_empty() && !self.todo && self.ring.is_empty() {
                self.enter(Wait::ForOne(timeout));
                return;
            }
        }
    }

    /// Harvests ahead of the next poll.
    fn look(&mut self) {
        let mut events = Vec::new();
        self.harvest(LOOKED_AT_MAX, &mut events);
        self.early.extend(events);
    }

    /// Has the kernel watch what it does not: a watch ends once it has told, so that a descriptor
    /// nobody reads is found readable at the next park too.
    fn stage_watches(&mut self) {
        for index in 0..self.watched.len() {
            let (fd, armed) = self.watched[index];
            if !armed {
                let token = pack_index(Kind::Watch, index);
                self.watched[index].1 = self.with_room(|ring| ring.push_watch(fd, token));
            }
        }
    }

    /// Makes our descriptor readable for what no completion announces.
    pub(crate) fn announce(&mut self) {
        self.with_room(|ring| ring.push_nothing(pack_index(Kind::Nothing, 0)));
        self.enter(Wait::No);
    }
}
