//! The directory: from the top bits of a hash to a segment, in two steps, so that its growth never
//! copies more than a few KiB. It does not know what segments hold.
//!
//! The root is indexed by the first `root_bits` of a hash and leads to a leaf. A leaf covers a prefix
//! of `depth` bits, is indexed by the next few, and leads to segments. Entries repeat where a leaf or
//! a segment covers more than one of them.

use crate::segment::Segment;
use std::ptr::NonNull;

/// A leaf has at most 2^9 entries of 8 bytes: 4 KiB.
const LEAF_BITS_MAX: u32 = if cfg!(test) { 2 } else { 9 };
/// Segments are aligned to 64 bytes, so the low bits of their address can hold a depth.
const DEPTH_MASK: usize = 63;
/// No segment lies deeper.
pub(crate) const DEPTH_MAX: u32 = 40;

/// Leads to a segment; its depth comes along, so that the segment's own line need not be touched.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Lead(NonNull<u8>);

impl Lead {
    fn new(segment: Box<Segment>) -> Lead {
        Lead(NonNull::from(Box::leak(segment)).cast()).with_its_depth()
    }

    /// The same lead, after its segment's depth was changed.
    fn with_its_depth(self) -> Lead {
        let segment = self.segment();
        // SAFETY: the caller's directory owns the segment; the allocation is longer than
        // `DEPTH_MASK`, so the sum stays within it.
        Lead(unsafe { segment.cast().add(segment.as_ref().depth() as usize) })
    }

    #[inline]
    fn depth(self) -> u32 {
        (self.0.as_ptr().addr() & DEPTH_MASK) as u32
    }

    #[inline]
    fn segment(self) -> NonNull<Segment> {
        // SAFETY: `new` added the depth to an address with these bits clear.
        unsafe { self.0.sub(self.0.as_ptr().addr() & DEPTH_MASK) }.cast()
    }

    /// Takes the segment back.
    ///
    /// # Safety
    /// It is done once, and no entry of a directory leads there any more (or none is followed again).
    unsafe fn into_segment(self) -> Box<Segment> {
        // SAFETY: `new` leaked a box, and by the caller's word we are the only one to take it back.
        unsafe { Box::from_raw(self.segment().as_ptr()) }
    }
}

/// A root entry: where a leaf is, and how to index it.
#[derive(Clone, Copy)]
struct Leaf {
    leads: NonNull<Lead>,
    /// How far down the index bits are in a hash, and how many leads there are, less one.
    shift: u8,
    mask: u16,
    /// Bits of the prefix it covers.
    depth: u8,
}

impl Leaf {
    fn new(leads: Vec<Lead>, depth: u32) -> Leaf {
        debug_assert!(leads.len().is_power_of_two());
        // With no bits at all any shift will do, as the mask then leaves nothing.
        let shift = (64 - depth - leads.len().ilog2()).min(63) as u8;
        let mask = (leads.len() - 1) as u16;
        let leads = NonNull::from(Box::leak(leads.into_boxed_slice())).cast();
        Leaf { leads, shift, mask, depth: depth as u8 }
    }

    fn depth(self) -> u32 {
        u32::from(self.depth)
    }

    fn bits(self) -> u32 {
        u32::from(self.mask).count_ones()
    }

    #[inline]
    fn index(self, hash: u64) -> usize {
        ((hash >> self.shift) & u64::from(self.mask)) as usize
    }

    fn leads(self) -> NonNull<[Lead]> {
        NonNull::slice_from_raw_parts(self.leads, usize::from(self.mask) + 1)
    }
}

/// Owns all segments of a table.
pub(crate) struct Directory {
    root: Vec<Leaf>,
    root_bits: u32,
    /// Bytes of all leads.
    leads_bytes: usize,
}

// SAFETY: the directory owns its leaves and segments alone; nothing is tied to a thread.
unsafe impl Send for Directory {}

impl Directory {
    /// Everything leads to this segment, which has depth 0.
    pub(crate) fn new(segment: Box<Segment>) -> Directory {
        debug_assert_eq!(segment.depth(), 0);
        let mut directory = Directory { root: Vec::new(), root_bits: 0, leads_bytes: 0 };
        let leaf = directory.leaf(vec![Lead::new(segment)], 0);
        directory.root.push(leaf);
        directory
    }

    /// Bytes of the directory, without segments.
    pub(crate) fn bytes(&self) -> usize {
        self.root.capacity() * size_of::<Leaf>() + self.leads_bytes
    }

    /// The segment of a hash, and its depth.
    #[inline]
    pub(crate) fn find(&self, hash: u64) -> (&Segment, u32) {
        let lead = self.lead(hash);
        // SAFETY: leads of a directory are to segments that it owns; it is borrowed.
        (unsafe { lead.segment().as_ref() }, lead.depth())
    }

    /// The segment of a hash, to change.
    #[inline]
    pub(crate) fn find_mut(&mut self, hash: u64) -> &mut Segment {
        // SAFETY: as in `find`; `&mut self` makes us alone.
        unsafe { self.lead(hash).segment().as_mut() }
    }

    #[inline]
    fn lead(&self, hash: u64) -> Lead {
        let leaf = self.root[self.root_index(hash)];
        // SAFETY: `index` is below 2^bits, the number of leads, all of them initialised.
        unsafe { leaf.leads.add(leaf.index(hash)).read() }
    }

    #[inline]
    fn root_index(&self, hash: u64) -> usize {
        // Two shifts, since one by 64 is none.
        (hash >> 1 >> (63 - self.root_bits)) as usize
    }

    /// Adds the upper half of the segment of `hash`, which has become the lower half of itself.
    pub(crate) fn split(&mut self, hash: u64, high: Box<Segment>) {
        let old = self.lead(hash);
        debug_assert!(high.depth() == old.depth() + 1 && self.find(hash).0.depth() == high.depth());
        loop {
            let leaf = self.root[self.root_index(hash)];
            if leaf.depth() + leaf.bits() > old.depth() {
                break;
            }
            if leaf.bits() < LEAF_BITS_MAX { self.double_leaf(hash) } else { self.split_leaf(hash) }
        }
        self.cover(old.with_its_depth());
        self.cover(Lead::new(high));
    }

    /// Takes out the upper sibling of the segment of `hash`, which is the lower one and has become
    /// the whole of both.
    pub(crate) fn merge(&mut self, hash: u64) -> Box<Segment> {
        let low = self.lead(hash);
        let high = self.lead(sibling(hash, low.depth()));
        debug_assert!(high.depth() == low.depth() && high != low);
        debug_assert!(self.find(hash).0.depth() == low.depth() - 1);
        if self.root[self.root_index(hash)].depth() == low.depth() {
            self.merge_leaf(hash);
        }
        self.cover(low.with_its_depth());
        // Deeper leads are no longer needed where they come in pairs.
        while self.halve_leaf(hash) {}
        // SAFETY: the leads to it now lead to the lower one.
        unsafe { high.into_segment() }
    }

    /// Ends the directory and hands out its segments.
    pub(crate) fn into_segments(mut self) -> Segments {
        self.take_segments()
    }

    fn take_segments(&mut self) -> Segments {
        Segments {
            leaves: std::mem::take(&mut self.root).into_iter(),
            leads: Vec::new().into_iter(),
            last_leaf: None,
            last_lead: None,
        }
    }

    /// Makes all leads within its segment's prefix be this one.
    fn cover(&mut self, lead: Lead) {
        // SAFETY: as in `find`.
        let (prefix, depth) = unsafe { (lead.segment().as_ref().prefix(), lead.depth()) };
        let leaf = self.root[self.root_index(prefix)];
        debug_assert!(leaf.depth() <= depth && depth <= leaf.depth() + leaf.bits(), "a leaf has it whole");
        let (start, count) = (leaf.index(prefix), 1 << (leaf.depth() + leaf.bits() - depth));
        self.leads_mut(leaf)[start..start + count].fill(lead);
    }

    fn leads_mut(&mut self, leaf: Leaf) -> &mut [Lead] {
        // SAFETY: a leaf of the root owns its leads; `&mut self` makes us alone.
        unsafe { leaf.leads().as_mut() }
    }

    /// Makes a leaf, counted.
    fn leaf(&mut self, leads: Vec<Lead>, depth: u32) -> Leaf {
        self.leads_bytes += size_of_val(&leads[..]);
        Leaf::new(leads, depth)
    }

    /// Frees the leads of a leaf that the root no longer has.
    fn free_leaf(&mut self, leaf: Leaf) -> Vec<Lead> {
        // SAFETY: `Leaf::new` leaked this box, and the caller has taken the leaf out of the root.
        let leads = unsafe { Box::from_raw(leaf.leads().as_ptr()) };
        self.leads_bytes -= size_of_val(&leads[..]);
        leads.into_vec()
    }

    /// Gives the leaf of `hash` another index bit.
    fn double_leaf(&mut self, hash: u64) {
        let old = self.root[self.root_index(hash)];
        let leads = self.leads_mut(old).iter().flat_map(|&lead| [lead, lead]).collect();
        let new = self.leaf(leads, old.depth());
        self.cover_root(hash, new);
        self.free_leaf(old);
    }

    /// Takes an index bit from the leaf of `hash` if none of its segments needs it.
    fn halve_leaf(&mut self, hash: u64) -> bool {
        let old = self.root[self.root_index(hash)];
        if old.bits() == 0 || self.leads_mut(old).iter().any(|lead| lead.depth() == old.depth() + old.bits())
        {
            return false;
        }
        let leads = self.leads_mut(old).iter().step_by(2).copied().collect();
        let new = self.leaf(leads, old.depth());
        self.cover_root(hash, new);
        self.free_leaf(old);
        true
    }

    /// Divides the leaf of `hash` in two that cover a bit more of the prefix, each with an index bit
    /// less.
    fn split_leaf(&mut self, hash: u64) {
        let old = self.root[self.root_index(hash)];
        if old.depth() == self.root_bits {
            self.root = self.root.iter().flat_map(|&leaf| [leaf, leaf]).collect();
            self.root_bits += 1;
        }
        let low: Vec<Lead> = self.leads_mut(old)[..1 << (old.bits() - 1)].to_vec();
        let high: Vec<Lead> = self.leads_mut(old)[1 << (old.bits() - 1)..].to_vec();
        let bit = 1 << (63 - old.depth());
        let low = self.leaf(low, old.depth() + 1);
        let high = self.leaf(high, old.depth() + 1);
        self.cover_root(hash & !bit, low);
        self.cover_root(hash | bit, high);
        self.free_leaf(old);
    }

    /// Joins the leaf of `hash` and its sibling, each of which has a single segment.
    fn merge_leaf(&mut self, hash: u64) {
        let other = sibling(hash, self.root[self.root_index(hash)].depth());
        while self.halve_leaf(hash) || self.halve_leaf(other) {}
        let (low, high) = (hash.min(other), hash.max(other));
        let (low, high) = (self.root[self.root_index(low)], self.root[self.root_index(high)]);
        debug_assert!(low.bits() == 0 && high.bits() == 0 && low.depth() == high.depth());
        let leads = vec![self.leads_mut(low)[0], self.leads_mut(high)[0]];
        let both = self.leaf(leads, low.depth() - 1);
        self.cover_root(hash, both);
        self.free_leaf(low);
        self.free_leaf(high);
        while self.root_bits > 0 && self.root.iter().all(|leaf| leaf.depth() < self.root_bits) {
            self.root = self.root.iter().step_by(2).copied().collect();
            self.root_bits -= 1;
        }
    }

    /// Makes all root entries within the leaf's prefix, that of `hash`, lead to it.
    fn cover_root(&mut self, hash: u64, leaf: Leaf) {
        let width = self.root_bits - leaf.depth();
        let start = self.root_index(hash) >> width << width;
        self.root[start..start + (1 << width)].fill(leaf);
    }
}

/// A hash in the other half of what the prefix of `depth - 1` bits covers.
#[inline]
pub(crate) fn sibling(hash: u64, depth: u32) -> u64 {
    hash ^ 1 << (64 - depth)
}

impl Drop for Directory {
    fn drop(&mut self) {
        drop(self.take_segments());
    }
}

/// The segments of a directory that is going away, each owned; what is not asked for is freed when
/// this is dropped.
pub(crate) struct Segments {
    leaves: std::vec::IntoIter<Leaf>,
    leads: std::vec::IntoIter<Lead>,
    last_leaf: Option<NonNull<Lead>>,
    last_lead: Option<Lead>,
}

// SAFETY: as for `Directory`: it owns the leaves and segments that are left.
unsafe impl Send for Segments {}

impl Iterator for Segments {
    type Item = Box<Segment>;

    fn next(&mut self) -> Option<Box<Segment>> {
        loop {
            if let Some(lead) = self.leads.next() {
                // Equal leads lie side by side.
                if self.last_lead.replace(lead) != Some(lead) {
                    // SAFETY: each segment is met once, and its directory is no more.
                    return Some(unsafe { lead.into_segment() });
                }
            } else {
                let leaf = self.leaves.next()?;
                if self.last_leaf.replace(leaf.leads) != Some(leaf.leads) {
                    // SAFETY: each leaf is met once; `Leaf::new` leaked this box.
                    let leads = unsafe { Box::from_raw(leaf.leads().as_ptr()) };
                    self.leads = leads.into_vec().into_iter();
                }
            }
        }
    }
}

impl Drop for Segments {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}
