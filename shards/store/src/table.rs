//! The table of one database: an extendible hash table ordered by hash prefix, so that it grows and
//! shrinks a segment at a time and a scan can go on whatever happens meanwhile. It holds handles and
//! reads keys through [`Keys`]; it does not know values.

use crate::arena::Handle;
use crate::cells::Cells;
use crate::directory::{DEPTH_MAX, Directory, Segments, sibling};
use crate::hash::{Hasher, Key};
use crate::segment::{CAPACITY, Found, HOME_BITS, Place, Probe, Segment};

/// Siblings are merged when both together would fill a segment to this part: far from where the
/// merged one would split again.
const MERGE_LEN_MAX: usize = CAPACITY / 3;
/// A merge is considered once in so many removals from a segment.
const MERGE_STEP: usize = if cfg!(test) { 1 } else { 8 };
/// A full segment is split only while the table has at least this many entries for each segment that
/// its depth implies. Colliding hashes would otherwise deepen the directory without end.
const SPLIT_LEN_MIN: usize = if cfg!(test) { 1 } else { CAPACITY / 64 };
/// A split loads entries this far ahead of their use.
const PREFETCH_AHEAD: usize = 12;

/// How to get from a handle to its hash.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    pub(crate) cells: &'a Cells,
    pub(crate) hasher: &'a Hasher,
}

impl Keys<'_> {
    #[inline]
    pub(crate) fn hash_of(&self, handle: Handle) -> u64 {
        self.hasher.hash(self.cells.view(handle).key())
    }

    #[inline]
    fn is_volatile(&self, handle: Handle) -> bool {
        self.cells.view(handle).header().has_expiry()
    }
}

#[derive(Default)]
pub(crate) struct Table {
    /// None until the first entry comes.
    directory: Option<Directory>,
    len: usize,
    volatile: usize,
    segments_bytes: usize,
    /// Segments by depth.
    depths: Depths,
}

/// The buckets of a database, if it has any.
#[derive(Clone, Copy)]
pub struct Buckets<'a>(Option<&'a Directory>);

impl Buckets<'_> {
    /// Starts loading the bucket of a hash.
    #[inline]
    pub fn prefetch(self, hash: u64) {
        if let Some(directory) = self.0 {
            let (segment, depth) = directory.find(hash);
            segment.prefetch(hash, depth);
        }
    }
}

struct Depths([u32; DEPTH_MAX as usize + 1]);

impl Default for Depths {
    fn default() -> Depths {
        Depths([0; DEPTH_MAX as usize + 1])
    }
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Entries with an expiry.
    pub(crate) fn volatile(&self) -> usize {
        self.volatile
    }

    /// Bytes of segments and directory.
    pub(crate) fn bytes(&self) -> usize {
        self.segments_bytes + self.directory.as_ref().map_or(0, Directory::bytes)
    }

    #[cfg(test)]
    pub(crate) fn directory_bytes(&self) -> usize {
        self.directory.as_ref().map_or(0, Directory::bytes)
    }

    #[inline]
    pub(crate) fn buckets(&self) -> Buckets<'_> {
        Buckets(self.directory.as_ref())
    }

    #[inline]
    pub(crate) fn prefetch_entry(&self, hash: u64, keys: &Keys<'_>) {
        if let Some(directory) = &self.directory {
            let (segment, depth) = directory.find(hash);
            segment.prefetch_entry(hash, depth, keys);
        }
    }

    // Always: the callers go on with the address and header that are in registers by then.
    #[inline(always)]
    pub(crate) fn find(&self, key: Key<'_>, cells: &Cells) -> Option<Found> {
        let (segment, depth) = self.directory.as_ref()?.find(key.hash);
        segment.find(key, depth, cells)
    }

    /// A first look for a key.
    #[inline(always)]
    pub(crate) fn probe(&self, key: Key<'_>, cells: &Cells) -> Probe {
        let Some(directory) = &self.directory else { return Probe::Nowhere };
        let (segment, depth) = directory.find(key.hash);
        segment.probe(key, depth, cells)
    }

    /// Finds where a handle is that the table surely has.
    pub(crate) fn find_handle(&self, hash: u64, handle: Handle) -> Found {
        let directory = self.directory.as_ref().expect("the table has this handle");
        let (segment, depth) = directory.find(hash);
        segment.find_by(hash, depth, |other| other == handle).expect("the table has this handle")
    }

    /// Adds an entry that is not there yet.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, handle: Handle, volatile: bool, keys: &Keys<'_>) {
        self.len += 1;
        self.volatile += usize::from(volatile);
        if let Some(directory) = &mut self.directory
            && directory.find_mut(hash).place(hash, handle, volatile)
        {
            return;
        }
        self.insert_slowly(hash, handle, volatile, keys);
    }

    #[cold]
    fn insert_slowly(&mut self, hash: u64, handle: Handle, volatile: bool, keys: &Keys<'_>) {
        if self.directory.is_none() {
            self.segments_bytes = size_of::<Segment>();
            self.directory = Some(Directory::new(Segment::new(0, 0)));
            self.depths.0[0] = 1;
        }
        loop {
            let segment = self.directory.as_mut().expect("made above").find_mut(hash);
            if segment.place(hash, handle, volatile) {
                return;
            }
            if !self.split(hash, keys) {
                break;
            }
        }
        let segment = self.directory.as_mut().expect("made above").find_mut(hash);
        self.segments_bytes -= segment.bytes();
        segment.chain(hash, handle, volatile);
        self.segments_bytes += segment.bytes();
    }

    /// Divides the segment of `hash`, unless that would go too deep.
    fn split(&mut self, hash: u64, keys: &Keys<'_>) -> bool {
        let directory = self.directory.as_mut().expect("a segment is full");
        let low = directory.find_mut(hash);
        let (prefix, depth) = (low.prefix(), low.depth());
        if depth == DEPTH_MAX || SPLIT_LEN_MIN << depth > self.len {
            return false;
        }
        let bit = 1 << (63 - depth);
        let old = low.reset(prefix, depth + 1);
        let mut high = Segment::new(prefix | bit, depth + 1);
        for_each_hashed(&old, keys, |hash, handle, volatile| {
            let half = if hash & bit == 0 { &mut *low } else { &mut *high };
            half.place_or_chain(hash, handle, volatile);
        });
        self.segments_bytes = self.segments_bytes + low.bytes() + high.bytes() - old.bytes();
        directory.split(hash, high);
        self.depths.0[depth as usize] -= 1;
        self.depths.0[depth as usize + 1] += 2;
        true
    }

    /// Puts another handle in the place of one.
    pub(crate) fn set_handle(&mut self, hash: u64, place: Place, handle: Handle) {
        self.segment_mut(hash).set_handle(place, handle);
    }

    /// Notes that an entry got an expiry, or lost it.
    pub(crate) fn count_volatile(&mut self, hash: u64, volatile: bool) {
        self.volatile = if volatile { self.volatile + 1 } else { self.volatile - 1 };
        self.segment_mut(hash).count_volatile(volatile);
    }

    /// Takes an entry out. The cell must still be readable.
    pub(crate) fn remove(&mut self, hash: u64, place: Place, volatile: bool, keys: &Keys<'_>) {
        self.len -= 1;
        self.volatile -= usize::from(volatile);
        let segment = self.directory.as_mut().expect("the entry was found").find_mut(hash);
        let before = segment.bytes();
        segment.remove(place, hash, volatile, keys);
        self.segments_bytes -= before - segment.bytes();
        let len = segment.len();
        if len <= MERGE_LEN_MAX && len.is_multiple_of(MERGE_STEP) {
            // Two steps at most: bounded work, and more is undone than the removals before did.
            if self.merge(hash, keys) {
                self.merge(hash, keys);
            }
        }
    }

    /// Joins the segment of `hash` with its sibling, if both are mostly empty.
    fn merge(&mut self, hash: u64, keys: &Keys<'_>) -> bool {
        let directory = self.directory.as_mut().expect("the caller has a segment");
        let (segment, depth) = directory.find(hash);
        if depth == 0 {
            return false;
        }
        let (other, other_depth) = directory.find(sibling(hash, depth));
        if other_depth != depth || segment.len() + other.len() > MERGE_LEN_MAX {
            return false;
        }
        let prefix = segment.prefix().min(other.prefix());
        let before = segment.bytes() + other.bytes();
        let low = directory.find_mut(prefix).reset(prefix, depth - 1);
        let high = directory.merge(prefix);
        let both = directory.find_mut(prefix);
        for old in [&low, &high] {
            for_each_hashed(old, keys, |hash, handle, volatile| both.place_or_chain(hash, handle, volatile));
        }
        self.segments_bytes = self.segments_bytes + both.bytes() - before;
        self.depths.0[depth as usize] -= 2;
        self.depths.0[depth as usize - 1] += 1;
        true
    }

    fn segment_mut(&mut self, hash: u64) -> &mut Segment {
        self.directory.as_mut().expect("an entry was found").find_mut(hash)
    }

    /// Lists the bucket of `hash` (see [`Segment::bucket`]); returns the first hash behind it, 0 at
    /// the end. An empty segment is one bucket.
    pub(crate) fn bucket(&self, hash: u64, keys: &Keys<'_>, handles: &mut Vec<Handle>) -> u64 {
        let Some(directory) = &self.directory else { return 0 };
        let (segment, _) = directory.find(hash);
        if segment.len() == 0 { segment.end() } else { segment.bucket(hash, keys, handles) }
    }

    /// Whether `hash` is the first of its bucket: then all of the bucket is behind it.
    pub(crate) fn begins_bucket(&self, hash: u64) -> bool {
        let Some(directory) = &self.directory else { return true };
        let (_, depth) = directory.find(hash);
        hash << depth << HOME_BITS == 0
    }

    /// The end of the segment of `hash` if nothing in it can expire.
    pub(crate) fn nothing_volatile_until(&self, hash: u64) -> Option<u64> {
        let Some(directory) = &self.directory else { return Some(0) };
        let (segment, _) = directory.find(hash);
        (segment.volatile() == 0).then(|| segment.end())
    }

    /// The depth of the deepest segment.
    pub(crate) fn depth_max(&self) -> u32 {
        self.depths.0.iter().rposition(|&count| count > 0).unwrap_or(0) as u32
    }

    /// The segment of a hash, to sample.
    pub(crate) fn segment(&self, hash: u64) -> Option<&Segment> {
        self.directory.as_ref().map(|directory| directory.find(hash).0)
    }

    /// Takes all segments out, one by one as the caller asks for them.
    pub(crate) fn into_segments(self) -> Option<Segments> {
        self.directory.map(Directory::into_segments)
    }
}

/// Calls for every entry of a segment with its hash, loading entries ahead of their use.
fn for_each_hashed(segment: &Segment, keys: &Keys<'_>, mut call: impl FnMut(u64, Handle, bool)) {
    let mut ahead = [None; PREFETCH_AHEAD];
    let mut number = 0;
    let mut next = |entry: Option<(Handle, Option<u64>)>| {
        let due = std::mem::replace(&mut ahead[number % PREFETCH_AHEAD], entry);
        number += 1;
        if let Some((handle, hash)) = due {
            let hash = hash.unwrap_or_else(|| keys.hash_of(handle));
            call(hash, handle, keys.is_volatile(handle));
        }
    };
    segment.for_each(|handle, hash| {
        keys.cells.prefetch(handle);
        next(Some((handle, hash)));
    });
    (0..PREFETCH_AHEAD).for_each(|_| next(None));
}
