//! Room in the rings for staged commands: who of them may go in a tick, and what is kept for those that
//! could not, so that a flood of other parcels does not starve them. It knows no command.

use crate::outbox::Outbox;
use crate::txn::Home;

/// Staged commands for which room is kept at once.
const FAVOURED_MAX: usize = 32;

impl Home {
    /// How many parcels of a ring's room are kept for staged commands.
    #[inline]
    pub(crate) fn kept(&self, to: u16) -> usize {
        self.kept[to as usize]
    }

    /// Keeps room for the first of the staged that are behind the first `going`: without it a ring for
    /// which other parcels always wait would never have any. To be called when those had their turn.
    pub(super) fn keep_room(&mut self, going: usize) {
        self.favoured = (self.staged.len() - going).min(FAVOURED_MAX);
        for name in self.staged.iter().skip(going).take(self.favoured) {
            let entry = self.works[(name & 0xFFFF_FFFF) as usize].1.as_ref().expect("staged work lives");
            for part in entry.parts.iter().filter(|part| part.shard != self.index) {
                self.kept[part.shard as usize] += 1;
            }
        }
    }

    /// How many of the staged commands have room in all their rings, and whether one was refused. A ring
    /// that is `full` has older parcels waiting, which only favoured commands may pass.
    pub(super) fn claim<O: Outbox>(&mut self, out: &mut O, full: impl Fn(u16) -> bool) -> (usize, bool) {
        self.claims.fill(0);
        for count in 0..self.staged.len() {
            let name = self.staged[count];
            let index = self.index;
            let entry = self.works[(name & 0xFFFF_FFFF) as usize].1.as_ref().expect("staged work lives");
            let others = || entry.parts.iter().map(|part| part.shard).filter(|to| *to != index);
            let passes = count < self.favoured;
            if others().any(|to| full(to) && !passes || out.room(to) <= self.claims[to as usize]) {
                return (count, true);
            }
            for to in others() {
                self.claims[to as usize] += 1;
            }
        }
        (self.staged.len(), false)
    }
}
