//! Which hashes have fields that expire, and when the first of them does: so that active expiry finds
//! them without a walk over all keys. A hash notes under which time it is listed; what is listed in
//! vain (its key was overwritten) is dropped when its time comes.

use super::BigHash;
use crate::arena::Handle;
use crate::expire::Happened;
use crate::header::Form;
use crate::store::Store;
use crate::types::Big;
use std::collections::BTreeSet;

/// The hashes of one database.
#[derive(Default)]
pub(crate) struct DueHashes {
    order: BTreeSet<(i64, Box<[u8]>)>,
}

impl DueHashes {
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Drops at most `budget` of them; says how many.
    pub(crate) fn forget_some(&mut self, budget: usize) -> usize {
        (0..budget).take_while(|_| self.order.pop_first().is_some()).count()
    }
}

/// Expired fields that a step removes from one hash, before others have their turn.
const FIELDS_A_TURN: usize = 16;

impl Store {
    /// Whether fields of hashes in a database expire.
    pub fn has_field_times(&self, db: usize) -> bool {
        !self.due[db].is_empty()
    }

    /// Removes at most about `budget` fields that have expired, of all hashes; says how many.
    pub(crate) fn expire_fields(&mut self, now: i64, budget: usize, spared: &impl Fn(u64) -> bool) -> usize {
        let mut expired = 0;
        for db in 0..self.due.len() {
            while expired < budget
                && let Some((time, name)) = self.due[db].order.first()
                && *time <= now
                && !spared(self.hasher.hash(name))
                && let Some((_, name)) = self.due[db].order.pop_first()
            {
                // What finds nothing costs something too.
                expired += self.expire_fields_of(db, &name, now).max(1);
            }
        }
        expired
    }

    fn expire_fields_of(&mut self, db: usize, name: &[u8], now: i64) -> usize {
        let key = self.key(name);
        let Some(found) = self.alive(db, key, now) else { return 0 };
        let Some((hash, before)) = self.timed_hash(found.handle) else { return 0 };
        hash.listed = None;
        if hash.first_expiry().is_none() {
            // The fields that had a time have lost it, or are gone.
            return 0;
        }
        let hasher = self.hasher.clone();
        let (hash, _) = self.timed_hash(found.handle).expect("seen just now");
        let expired = hash.expire_some(now, FIELDS_A_TURN, &hasher);
        let empty = hash.is_empty();
        self.resize_big(found.handle, before);
        self.counters.expired_fields += expired as u64;
        if expired > 0 && self.expire.notes.fields {
            self.note(Happened::FieldsExpired, db, found.handle);
        }
        if empty {
            if self.expire.notes.emptied {
                self.note(Happened::Emptied, db, found.handle);
            }
            self.remove_expired(db, key.hash, found);
        } else {
            self.list_due(db, found.handle);
        }
        expired
    }

    /// The big hash in a cell, if it is one with times, and its bytes.
    fn timed_hash(&mut self, handle: Handle) -> Option<(&mut BigHash, usize)> {
        if self.cells.view(handle).header().form() != Form::Big {
            return None;
        }
        let big = self.cells.big_mut(handle);
        let bytes = big.memory_bytes();
        match big {
            Big::Hash(hash) if hash.first_expiry().is_some() || hash.listed.is_some() => Some((hash, bytes)),
            _ => None,
        }
    }

    fn resize_big(&mut self, handle: Handle, before: usize) {
        let after = self.cells.big_mut(handle).memory_bytes();
        self.cells.resized(before, after);
    }

    /// Lists the value of a cell, if it is a hash with fields that expire, by the time of the first one:
    /// unless it is listed by an earlier one, which will do.
    #[inline]
    pub(crate) fn list_due(&mut self, db: usize, handle: Handle) {
        if self.cells.view(handle).header().form() == Form::Big {
            self.list_due_slowly(db, handle);
        }
    }

    #[cold]
    fn list_due_slowly(&mut self, db: usize, handle: Handle) {
        let Some((hash, _)) = self.timed_hash(handle) else { return };
        let (first, listed) = (hash.first_expiry(), hash.listed);
        let Some(first) = first.filter(|first| listed.is_none_or(|listed| *first < listed)) else { return };
        hash.listed = Some(first);
        let name: Box<[u8]> = self.cells.view(handle).key().into();
        if let Some(listed) = listed {
            self.due[db].order.remove(&(listed, name.clone()));
        }
        self.due[db].order.insert((first, name));
    }

    /// The value of a cell leaves its key: it is listed no more.
    #[inline]
    pub(crate) fn unlist_due(&mut self, db: usize, handle: Handle) {
        if self.cells.view(handle).header().form() == Form::Big {
            self.unlist_due_slowly(db, handle);
        }
    }

    #[cold]
    fn unlist_due_slowly(&mut self, db: usize, handle: Handle) {
        let Some((hash, _)) = self.timed_hash(handle) else { return };
        if let Some(listed) = hash.listed.take() {
            let name: Box<[u8]> = self.cells.view(handle).key().into();
            self.due[db].order.remove(&(listed, name));
        }
    }

    /// All of a database are to be forgotten, by and by.
    pub(crate) fn flush_due(&mut self, db: usize) {
        let due = std::mem::take(&mut self.due[db]);
        if !due.is_empty() {
            self.due_ruins.push(due);
        }
    }

    /// Forgets at most `budget` of flushed databases; says how many of the budget are left.
    pub(crate) fn reclaim_due(&mut self, mut budget: usize) -> usize {
        while budget > 0
            && let Some(due) = self.due_ruins.last_mut()
        {
            match due.forget_some(budget) {
                0 => drop(self.due_ruins.pop()),
                forgotten => budget -= forgotten,
            }
        }
        budget
    }
}

impl DueHashes {
    /// How many are listed.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }
}
