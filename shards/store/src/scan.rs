//! Scans and samples. A cursor is the top 48 bits of a hash: the table is ordered by hash prefix, so
//! whatever splits and merges happen between two calls, keys below it have been visited and keys at
//! or above it have not.

use crate::arena::Handle;
use crate::entry::Entry;
use crate::segment::CAPACITY;
use crate::store::Store;
use crate::table::Keys;

/// Bits of a hash that a cursor leaves out: no bucket boundary lies that deep.
const CURSOR_SHIFT: u32 = 16;
/// Buckets a scan may look at for each key it was asked for: Redis's own factor.
const BUCKETS_PER_KEY: usize = 10;
/// Tries of `random` before it takes what it has: by then one fair draw is near certain.
const DRAWS_MAX: usize = 256;

impl Store {
    /// Visits about `count` keys from a cursor on and returns the next one; 0 both starts and ends.
    ///
    /// Every key that is there from the first call to the last is visited at least once, whatever
    /// else is added or removed meanwhile; one that stays is not visited twice. A bucket is never
    /// cut, so a few more than `count` may come; a sparse table may give fewer. Expired keys are
    /// removed, not visited. Cursors are below 2^48.
    pub fn scan(
        &mut self,
        db: usize,
        cursor: u64,
        count: usize,
        now: i64,
        visit: &mut dyn FnMut(&[u8], &Entry<'_>),
    ) -> u64 {
        self.note_time(now);
        let mut hash = cursor << CURSOR_SHIFT;
        let mut visited = 0;
        let mut buckets = count.max(1).saturating_mul(BUCKETS_PER_KEY);
        let mut handles = std::mem::take(&mut self.bucket);
        loop {
            handles.clear();
            let keys = Keys { cells: &self.cells, hasher: &self.hasher };
            // A merge may have made buckets coarser than the one the cursor ended behind: then the
            // part below the cursor has been visited.
            let whole = self.tables[db].begins_bucket(hash);
            let next = self.tables[db].bucket(hash, &keys, &mut handles);
            handles.iter().for_each(|&handle| self.cells.prefetch(handle));
            for &handle in &handles {
                let view = self.cells.view(handle);
                if !whole && self.hasher.hash(view.key()) < hash {
                    continue;
                }
                if view.is_expired(now) {
                    if !self.keeps_expired() {
                        self.expire_handle(db, handle);
                    }
                } else {
                    visit(view.key(), &Entry::new(view));
                    visited += 1;
                }
            }
            hash = next;
            buckets -= 1;
            if hash == 0 || visited >= count || buckets == 0 {
                break;
            }
        }
        self.bucket = handles;
        hash >> CURSOR_SHIFT
    }

    /// A key drawn evenly from a database; `None` if it has none. Expired keys that are drawn are
    /// removed, unless they are to stay. Work is bounded: after many unlucky draws a key is taken that may not be quite fair.
    pub fn random(&mut self, db: usize, rng: &mut dyn FnMut() -> u64, now: i64) -> Option<&[u8]> {
        self.note_time(now);
        for draw in 0..DRAWS_MAX {
            if self.tables[db].len() == 0 {
                return None;
            }
            let fair = draw < DRAWS_MAX / 2;
            let Some(handle) = self.draw(db, rng, fair) else { continue };
            let expired = self.cells.view(handle).expiry().is_some_and(|expiry| expiry <= now);
            if !expired {
                return Some(self.cells.view(handle).key());
            }
            if !self.keeps_expired() {
                self.expire_handle(db, handle);
            }
        }
        None
    }

    /// One draw: `None` when it is rejected, or (not `fair`) when the place it fell on is empty.
    ///
    /// A random hash meets a segment the likelier the shallower it is, so shallow ones are rejected
    /// the more; within one, an entry is as likely as any of the places an entry could have.
    fn draw(&self, db: usize, rng: &mut dyn FnMut() -> u64, fair: bool) -> Option<Handle> {
        let mut hash = rng();
        let table = &self.tables[db];
        let mut segment = table.segment(hash)?;
        if fair {
            let deepest = table.depth_max();
            if rng().checked_shr(64 - (deepest - segment.depth())).unwrap_or(0) > 0 {
                return None;
            }
            let places = if deepest == 0 { segment.len() } else { CAPACITY };
            let number = ((u128::from(rng()) * places.max(segment.len()) as u128) >> 64) as usize;
            return segment.nth(number);
        }
        // Bounded too: merging keeps empty segments few.
        for _ in 0..DRAWS_MAX {
            if segment.len() > 0 {
                return segment.nth((rng() % segment.len() as u64) as usize);
            }
            hash = segment.end();
            segment = table.segment(hash)?;
        }
        None
    }

    /// Removes an expired entry of which only the handle is known.
    pub(crate) fn expire_handle(&mut self, db: usize, handle: Handle) {
        let hash = self.hasher.hash(self.cells.view(handle).key());
        let found = self.tables[db].find_handle(hash, handle);
        self.expire_found(db, hash, found);
    }
}
