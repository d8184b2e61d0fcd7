//! The store: databases of entries, and what can be done to any entry whatever its kind.
//! Strings, scans, expiry, freeing and travel have files of their own.

use crate::arena::Handle;
use crate::cells::Cells;
use crate::entry::{Entry, access_clock};
use crate::expire::{ExpireState, Happened};
use crate::frequency::{self, UseNote};
use crate::hash::{Hasher, Key};
use crate::reclaim::Ruin;
use crate::segment::{Found, Probe};
use crate::table::{Buckets, Keys, Table};
use crate::types::hash::due::DueHashes;
use crate::usage::{Counters, TableStats, Usage};
use std::sync::Arc;

/// What a write does about the time to live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expiry {
    /// The key does not expire, whatever was before.
    None,
    /// As it was; a new key does not expire.
    Keep,
    /// It expires at this time, in milliseconds since 1970.
    At(i64),
}

/// One shard's slice of the keyspace. `now` is always in milliseconds since 1970; a database number
/// out of range is the caller's mistake, and panics.
pub struct Store {
    pub(crate) tables: Vec<Table>,
    pub(crate) cells: Cells,
    pub(crate) hasher: Hasher,
    /// The last time given, and its access clock: in a tick it is the same for all commands.
    now: i64,
    pub(crate) clock: u32,
    pub(crate) expire: ExpireState,
    pub(crate) ruins: Vec<Ruin>,
    /// Hashes with fields that expire, by database, and those of flushed ones.
    pub(crate) due: Vec<DueHashes>,
    pub(crate) due_ruins: Vec<DueHashes>,
    pub(crate) counters: Counters,
    /// Databases whose counts of keys may have changed, a bit each: see [`Store::take_resized`].
    resized: u64,
    /// For scans, so that they do not allocate: the handles of one bucket.
    pub(crate) bucket: Vec<Handle>,
    /// For packing items, so that it does not allocate.
    pub(crate) scratch: Vec<u8>,
    /// The buffer that large texts of the commands of now lie in.
    pub(crate) lender: Option<Arc<Vec<u8>>>,
}

impl Store {
    /// An empty store. Give every shard of a process the same hasher.
    pub fn new(hasher: Hasher, databases: usize) -> Store {
        assert!(databases > 0, "at least one database");
        Store {
            tables: (0..databases).map(|_| Table::default()).collect(),
            cells: Cells::new(hasher.hash(b"uses")),
            hasher,
            now: 0,
            clock: 0,
            expire: ExpireState::default(),
            ruins: Vec::new(),
            due: (0..databases).map(|_| DueHashes::default()).collect(),
            due_ruins: Vec::new(),
            counters: Counters::default(),
            resized: 0,
            bucket: Vec::new(),
            scratch: Vec::new(),
            lender: None,
        }
    }

    /// The hasher of the keys.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// A key with its hash.
    #[inline]
    pub fn key<'a>(&self, bytes: &'a [u8]) -> Key<'a> {
        Key { bytes, hash: self.hasher.hash(bytes) }
    }

    /// How many databases there are.
    pub fn databases(&self) -> usize {
        self.tables.len()
    }

    /// The buckets of a database, to load those of a batch of commands before the first is run.
    #[inline]
    pub fn buckets(&self, db: usize) -> Buckets<'_> {
        self.tables[db].buckets()
    }

    /// Starts loading the entry of a hash, some commands after [`Buckets::prefetch`] for the same.
    #[inline]
    pub fn prefetch_entry(&self, db: usize, hash: u64) {
        let keys = Keys { cells: &self.cells, hasher: &self.hasher };
        self.tables[db].prefetch_entry(hash, &keys);
    }

    /// The entry of a key, noted as used now. An expired one is removed, and is not found.
    #[inline]
    pub fn find(&mut self, db: usize, key: Key<'_>, now: i64) -> Option<Entry<'_>> {
        if self.now != now {
            return self.find_slowly(db, key, now);
        }
        match self.probe(db, key) {
            Probe::Here(found) => {
                self.cells.touch(found.handle, self.clock);
                Some(Entry::new(self.cells.view(found.handle)))
            }
            Probe::Nowhere => None,
            Probe::Unsure => self.find_slowly(db, key, self.now),
        }
    }

    /// A first look for a key, as of the last time given, that does not change anything.
    #[inline(always)]
    fn probe(&self, db: usize, key: Key<'_>) -> Probe {
        let probe = self.tables[db].probe(key, &self.cells);
        match probe {
            Probe::Here(found) if self.cells.view(found.handle).is_expired(self.now) => Probe::Unsure,
            _ => probe,
        }
    }

    #[inline(never)]
    fn find_slowly(&mut self, db: usize, key: Key<'_>, now: i64) -> Option<Entry<'_>> {
        let found = self.present(db, key, now)?;
        self.cells.touch(found.handle, self.clock);
        Some(Entry::new(self.cells.view(found.handle)))
    }

    /// As [`Store::find`], but its access clock stays as it is.
    #[inline(never)]
    pub fn find_untouched(&mut self, db: usize, key: Key<'_>, now: i64) -> Option<Entry<'_>> {
        let found = self.present(db, key, now)?;
        Some(Entry::new(self.cells.view(found.handle)))
    }

    /// Removes a key; whether it was there and not expired.
    pub fn remove(&mut self, db: usize, key: Key<'_>, now: i64) -> bool {
        let found = self.alive(db, key, now);
        if let Some(found) = found {
            self.unlink(db, key.hash, found);
            self.cells.free(found.handle);
        }
        found.is_some()
    }

    /// Sets or clears the time at which a key expires; whether the key is there. The time may be past:
    /// the next look at the key then removes it.
    pub fn set_expiry(&mut self, db: usize, key: Key<'_>, expiry: Option<i64>) -> bool {
        let Some(found) = self.tables[db].find(key, &self.cells) else { return false };
        let before = self.cells.view(found.handle).header().has_expiry();
        let handle = self.cells.set_expiry(found.handle, expiry);
        self.put_back(db, key.hash, found, handle, before);
        true
    }

    /// Keys of a database, expired ones that nobody has met yet included.
    pub fn len(&self, db: usize) -> usize {
        self.tables[db].len()
    }

    /// Whether a database has no key.
    pub fn is_empty(&self, db: usize) -> bool {
        self.len(db) == 0
    }

    /// Bytes of a database's table, without its entries.
    pub fn table_bytes(&self, db: usize) -> usize {
        self.tables[db].bytes()
    }

    /// Keys of a database that have an expiry.
    pub fn volatile(&self, db: usize) -> usize {
        self.tables[db].volatile()
    }

    #[inline]
    pub(crate) fn note_resized(&mut self, db: usize) {
        self.resized |= 1 << db.min(u64::BITS as usize - 1);
    }

    /// The databases whose [`len`](Store::len) or [`volatile`](Store::volatile) may have changed since this was last
    /// asked, a bit each from the lowest; the highest bit stands for all from 63 on.
    #[inline]
    pub fn take_resized(&mut self) -> u64 {
        std::mem::take(&mut self.resized)
    }

    /// Exchanges the contents of two databases.
    pub fn swap(&mut self, a: usize, b: usize) {
        self.note_resized(a);
        self.note_resized(b);
        self.tables.swap(a, b);
        self.due.swap(a, b);
    }

    /// Bytes in use, by purpose. Kept up to date as things change: reading it is cheap.
    pub fn bytes(&self) -> Usage {
        let tables = self.tables.iter().map(Table::bytes).sum::<usize>();
        let ruins = self.ruins.iter().map(Ruin::bytes).sum::<usize>();
        let arena = self.cells.arena();
        Usage {
            entries: arena.used(),
            tables: tables + ruins + arena.overhead(),
            heap_buffers: self.cells.heap_bytes(),
            reserved: arena.reserved(),
        }
    }

    /// Whether `bytes` more of small entries would surely fit: a shard's arena ends at 32 GiB. To be
    /// asked before a write.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.cells.arena().has_room(bytes)
    }

    /// Whether much room is left for small entries: as long as it is, `has_room` need not be asked.
    #[inline]
    pub fn is_ample(&self) -> bool {
        self.cells.arena().is_ample()
    }

    /// Ends the room for small entries earlier, at so many bytes.
    pub fn limit_room(&mut self, bytes: usize) {
        self.cells.arena_mut().limit(bytes);
    }

    /// What happened since the start.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How full the buckets of a database are, and how far its entries are from home. Walks the
    /// whole table: for DEBUG alone.
    pub fn table_stats(&self, db: usize) -> TableStats {
        TableStats::of(&self.tables[db])
    }

    /// Finds an entry, removing it if it has expired.
    #[inline(always)]
    pub(crate) fn alive(&mut self, db: usize, key: Key<'_>, now: i64) -> Option<Found> {
        self.note_time(now);
        let found = self.tables[db].find(key, &self.cells)?;
        match self.cells.view(found.handle).expiry() {
            Some(expiry) if expiry <= now => {
                self.expire_found(db, key.hash, found);
                None
            }
            _ => Some(found),
        }
    }

    /// Finds an entry to read it: one that has expired is not found, and removed unless expired ones are to stay.
    #[inline(always)]
    pub(crate) fn present(&mut self, db: usize, key: Key<'_>, now: i64) -> Option<Found> {
        if self.keeps_expired() {
            self.note_time(now);
            let found = self.tables[db].find(key, &self.cells)?;
            return (!self.cells.view(found.handle).is_expired(now)).then_some(found);
        }
        self.alive(db, key, now)
    }

    /// The last time given.
    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    #[inline]
    pub(crate) fn note_time(&mut self, now: i64) {
        if self.now != now {
            self.now = now;
            self.clock = self.clock_at(now);
        }
    }

    /// The access clock of what is used at a time.
    fn clock_at(&self, now: i64) -> u32 {
        if frequency::is_clock(self.clock) { frequency::clock(now) } else { access_clock(now) }
    }

    /// Says what is noted of the uses of entries. What was noted before is taken for it until they are used
    /// again.
    pub fn note_uses(&mut self, note: UseNote) {
        self.clock = match note {
            UseNote::Time => access_clock(self.now),
            UseNote::Frequency { log_factor, decay_minutes } => {
                self.cells.count_uses(log_factor, decay_minutes);
                frequency::clock(self.now)
            }
        };
    }

    /// Takes an entry out of its table; the cell stays.
    pub(crate) fn unlink(&mut self, db: usize, hash: u64, found: Found) {
        self.note_resized(db);
        self.unlist_due(db, found.handle);
        let volatile = self.cells.view(found.handle).header().has_expiry();
        let keys = Keys { cells: &self.cells, hasher: &self.hasher };
        self.tables[db].remove(hash, found.place, volatile, &keys);
    }

    /// Adds an entry to a table that does not have its key.
    #[inline]
    pub(crate) fn link(&mut self, db: usize, hash: u64, handle: Handle) {
        self.note_resized(db);
        let volatile = self.cells.view(handle).header().has_expiry();
        let keys = Keys { cells: &self.cells, hasher: &self.hasher };
        self.tables[db].insert(hash, handle, volatile, &keys);
        self.list_due(db, handle);
        if self.expire.notes.created {
            self.note(Happened::Created, db, handle);
        }
    }

    /// Puts an entry back that was changed in its place: its handle may be another, and it may have
    /// got or lost an expiry.
    #[inline]
    pub(crate) fn put_back(&mut self, db: usize, hash: u64, found: Found, handle: Handle, volatile: bool) {
        if handle != found.handle {
            self.tables[db].set_handle(hash, found.place, handle);
        }
        let now_volatile = self.cells.view(handle).header().has_expiry();
        if now_volatile != volatile {
            self.note_resized(db);
            self.tables[db].count_volatile(hash, now_volatile);
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Cells are plain memory and go with the arena; only what they own on the heap has to be
        // looked for.
        if self.cells.owners() > 0 {
            (0..self.tables.len()).for_each(|db| self.flush(db));
            while self.reclaim(usize::MAX) {}
        }
    }
}
