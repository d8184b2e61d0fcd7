//! Expiry: keys go when their time has come, when met by a command or in slices of their own.

use crate::arena::Handle;
use crate::segment::Found;
use crate::store::Store;
use crate::table::Keys;

/// What became of a key by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happened {
    /// Its time was over: it was removed.
    Expired,
    /// The time of fields of its hash was over: they were removed by active expiry.
    FieldsExpired,
    /// Its last field went so: it was removed.
    Emptied,
    /// It was not there, and is.
    Created,
}

/// A key to which something happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Noted {
    /// What.
    pub what: Happened,
    /// Its database.
    pub db: usize,
    /// The key.
    pub key: Box<[u8]>,
}

/// What of it is noted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    /// [`Happened::Expired`].
    pub expired: bool,
    /// [`Happened::FieldsExpired`].
    pub fields: bool,
    /// [`Happened::Emptied`].
    pub emptied: bool,
    /// [`Happened::Created`].
    pub created: bool,
}

/// What a slice of active expiry did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExpireReport {
    /// Buckets looked into.
    pub buckets: usize,
    /// Keys and fields of hashes with an expiry that were met.
    pub met: usize,
    /// How many of those were removed.
    pub expired: usize,
    /// The walk came to its end in this slice: all databases were seen since it began.
    pub finished: bool,
}

/// Where active expiry goes on, and the log of what happens to keys.
#[derive(Default)]
pub(crate) struct ExpireState {
    db: usize,
    hash: u64,
    pub(crate) notes: Notes,
    noted: Vec<Noted>,
    /// Look-ups for reading leave expired entries where they are.
    keeps: bool,
}

impl Store {
    /// Removes expired fields of hashes, at most one a bucket, and expired keys, going on where the last slice ended, over all databases; looks into at
    /// most `budget_buckets` buckets, passing by segments in which nothing can expire.
    pub fn expire_slice(&mut self, now: i64, budget_buckets: usize) -> ExpireReport {
        self.expire_slice_but(now, budget_buckets, |_| false)
    }

    /// The same, but keys of hashes for which `spared` says so stay for now.
    pub fn expire_slice_but(
        &mut self,
        now: i64,
        budget_buckets: usize,
        spared: impl Fn(u64) -> bool,
    ) -> ExpireReport {
        self.note_time(now);
        let mut report = ExpireReport::default();
        let fields = self.expire_fields(now, budget_buckets, &spared);
        (report.met, report.expired) = (fields, fields);
        // A segment passed by costs a cache line, as a bucket does, if a little less.
        let mut passed = 0;
        let mut handles = std::mem::take(&mut self.bucket);
        while report.buckets + passed / 4 < budget_buckets {
            let (db, hash) = (self.expire.db, self.expire.hash);
            let next = if self.tables[db].volatile() == 0 {
                0
            } else if let Some(end) = self.tables[db].nothing_volatile_until(hash) {
                passed += 1;
                end
            } else {
                handles.clear();
                let keys = Keys { cells: &self.cells, hasher: &self.hasher };
                let next = self.tables[db].bucket(hash, &keys, &mut handles);
                handles.iter().for_each(|&handle| self.cells.prefetch(handle));
                report.buckets += 1;
                for &handle in &handles {
                    if let Some(expiry) = self.cells.view(handle).expiry() {
                        report.met += 1;
                        if expiry <= now && !spared(self.hasher.hash(self.cells.view(handle).key())) {
                            report.expired += 1;
                            self.expire_handle(db, handle);
                        }
                    }
                }
                next
            };
            self.expire.hash = next;
            if next == 0 {
                self.expire.db = (db + 1) % self.tables.len();
                if self.expire.db == 0 {
                    report.finished = true;
                    break;
                }
            }
        }
        self.bucket = handles;
        report
    }

    /// Whether expired keys that are looked up stay where they are, unseen, instead of being removed. To be set for
    /// commands that only read: what writes needs them gone.
    #[inline]
    pub fn keep_expired(&mut self, keeps: bool) {
        self.expire.keeps = keeps;
    }

    /// Whether they stay.
    #[inline]
    pub(crate) fn keeps_expired(&self) -> bool {
        self.expire.keeps
    }

    /// What of that which becomes of keys by itself is to be noted. Nothing at first.
    pub fn note_keys(&mut self, notes: Notes) {
        self.expire.notes = notes;
    }

    /// Whether something has happened to keys since this was last taken.
    #[inline]
    pub fn has_noted(&self) -> bool {
        !self.expire.noted.is_empty()
    }

    /// What has happened to keys since this was last asked, oldest first. To be asked after every batch of
    /// commands and every slice while it is logged: the log has no other bound.
    pub fn take_noted(&mut self) -> Vec<Noted> {
        std::mem::take(&mut self.expire.noted)
    }

    /// Notes what became of an entry.
    #[cold]
    pub(crate) fn note(&mut self, what: Happened, db: usize, handle: Handle) {
        let key = self.cells.view(handle).key().into();
        self.expire.noted.push(Noted { what, db, key });
    }

    /// Removes an entry because its time has come.
    #[cold]
    pub(crate) fn expire_found(&mut self, db: usize, hash: u64, found: Found) {
        if self.expire.notes.expired {
            self.note(Happened::Expired, db, found.handle);
        }
        self.remove_expired(db, hash, found);
    }

    /// Removes an entry and counts that as its expiry.
    pub(crate) fn remove_expired(&mut self, db: usize, hash: u64, found: Found) {
        self.unlink(db, hash, found);
        self.cells.free(found.handle);
        self.counters.expired += 1;
    }
}
