//! Sleeping in the ring, and what ends it. Knows nothing of what woke it.

use crate::datapath::UringPoller;
use crate::sys::Wait;
use crate::token::{Kind, pack_index};
use std::time::Duration;

/// How long, from the moment it parks, a busy core lets requests gather before it wakes for the first.
/// A wake-up costs the CPU time of two requests or more (5 to 10 us in a virtual machine), and 50
/// connections in turn send one every 5 to 10 us.
const GATHER_US: u32 = 50;
/// Never waits for more requests than this.
const GATHER_MAX: u32 = 32;
/// Below this many it is not worth a timer.
const GATHER_MIN: u32 = 4;

/// How many requests came between sleeps, lately. A core that found many each time waits for half as
/// many before it wakes; one that found few, as with a single client, wakes for the first.
#[derive(Default)]
pub(crate) struct Gathering {
    /// Receives since the last sleep.
    pub(crate) received: u32,
    /// Running mean of that, in sixteenths.
    mean: u32,
}

impl Gathering {
    /// Before a sleep: how many completions to wait for.
    fn next(&mut self) -> u32 {
        self.mean = (self.mean * 3 + self.received.min(1024) * 16) / 4;
        self.received = 0;
        let half = self.mean / 32;
        if half < GATHER_MIN { 1 } else { half.min(GATHER_MAX) }
    }

    /// Another core waits for us: wake for everything.
    pub(crate) fn forget(&mut self) {
        *self = Gathering::default();
    }
}

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
            // A watch that told while we looked has ended, and what it told of is for our caller.
            let told = self.watched.iter().any(|(_, armed)| !armed);
            if told || self.has_chores() || timeout == Some(Duration::ZERO) {
                return;
            }
            if self.outbox.is_empty() && !self.todo && self.ring.is_empty() {
                let completions = if self.ring.gathers { self.gathering.next() } else { 1 };
                let gather_us = if completions > 1 { GATHER_US } else { 0 };
                self.enter(Wait::For { completions, gather_us, timeout });
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

#[cfg(test)]
mod tests {
    use super::*;

    fn after(gathering: &mut Gathering, received: u32) -> u32 {
        gathering.received = received;
        gathering.next()
    }

    #[test]
    fn a_few_requests_at_a_time_wake_for_the_first() {
        let mut gathering = Gathering::default();
        assert!((0..100).all(|_| after(&mut gathering, 7) == 1));
    }

    #[test]
    fn many_at_a_time_gather_by_half_within_bounds() {
        let mut gathering = Gathering::default();
        assert!(
            (0..50).map(|_| after(&mut gathering, 20)).last().is_some_and(|last| (9..=10).contains(&last))
        );
        assert!((0..50).map(|_| after(&mut gathering, u32::MAX)).last() == Some(GATHER_MAX));
    }

    #[test]
    fn quiet_or_another_core_ends_it() {
        let mut gathering = Gathering::default();
        (0..50).for_each(|_| assert!(after(&mut gathering, 40) <= 20));
        assert!((0..8).map(|_| after(&mut gathering, 1)).last() == Some(1));
        (0..50).for_each(|_| assert!(after(&mut gathering, 40) <= 20));
        gathering.forget();
        assert_eq!(after(&mut gathering, 1), 1);
    }
}
