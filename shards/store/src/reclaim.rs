//! Freeing in slices: flushed tables and large values go a piece at a time.

use crate::directory::Segments;
use crate::segment::Segment;
use crate::store::Store;
use std::sync::Arc;

/// Entries that a slice of a large buffer counts as.
const DIG_ENTRIES: usize = 64;

/// A flushed table on its way out.
pub(crate) struct Ruin {
    segments: Segments,
    current: Option<Box<Segment>>,
    /// Bytes of what is left of the table.
    bytes: usize,
    /// Entries that are left.
    entries: usize,
}

impl Ruin {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Store {
    /// Empties a database at once. Its memory is freed by and by, in [`Store::reclaim`].
    pub fn flush(&mut self, db: usize) {
        self.note_resized(db);
        let table = std::mem::take(&mut self.tables[db]);
        self.flush_due(db);
        let (bytes, entries) = (table.bytes(), table.len());
        if let Some(segments) = table.into_segments() {
            self.ruins.push(Ruin { segments, current: None, bytes, entries });
        }
    }

    /// Whether [`Store::reclaim`] has something to do.
    #[inline]
    pub fn has_ruins(&self) -> bool {
        let arena = self.cells.arena();
        self.has_leftovers() || arena.used() == 0 && arena.reserved() > 0
    }

    /// Something was flushed or removed whose memory is still to be freed.
    #[inline]
    fn has_leftovers(&self) -> bool {
        !self.ruins.is_empty() || !self.due_ruins.is_empty() || self.cells.has_buried()
    }

    /// Frees what was flushed, and large buffers that were removed: about `budget_entries` entries at
    /// a time. Whether something is left.
    pub fn reclaim(&mut self, budget_entries: usize) -> bool {
        let slices = budget_entries.div_ceil(DIG_ENTRIES);
        let mut budget = budget_entries.saturating_sub((slices - self.cells.dig(slices)) * DIG_ENTRIES);
        self.counters.lazily_freed += self.cells.graves().take_emptied();
        self.counters.freed_slices += self.cells.graves().take_slices();
        budget = self.reclaim_due(budget);
        while budget > 0 {
            let Some(ruin) = self.ruins.last_mut() else { break };
            let Some(mut segment) = ruin.current.take().or_else(|| ruin.segments.next()) else {
                self.ruins.pop();
                continue;
            };
            let before = segment.bytes();
            let freed = segment.drain(budget, |handle| self.cells.free(handle));
            budget -= freed;
            ruin.entries -= freed;
            self.counters.lazily_freed += freed as u64;
            if segment.len() > 0 {
                ruin.current = Some(segment);
            } else {
                ruin.bytes -= before;
                // An empty segment costs something too.
                budget = budget.saturating_sub(1);
            }
        }
        if self.ruins.is_empty() && self.cells.arena().used() == 0 {
            self.trim();
        }
        self.has_leftovers()
    }

    /// Frees a large buffer by and by if nobody else has it: one that was lent for a reply, or came from a
    /// client.
    pub fn bury(&mut self, buffer: impl Into<Arc<Vec<u8>>>) {
        if let Some(buffer) = Arc::into_inner(buffer.into()) {
            self.cells.bury_spent(buffer);
        }
    }

    /// Keys that were flushed or removed, and whose memory is still to be freed.
    pub fn pending_keys(&self) -> usize {
        self.ruins.iter().map(|ruin| ruin.entries).sum::<usize>() + self.cells.buried()
    }

    /// An empty store gives back what it keeps for its next entry.
    fn trim(&mut self) {
        if self.cells.arena().reserved() > 0 {
            (0..self.tables.len()).for_each(|db| self.tables[db] = Default::default());
            self.cells.arena_mut().trim();
        }
    }
}
