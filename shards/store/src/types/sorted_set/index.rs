//! Which leaf holds a member: pairs of a hash and a leaf, in a table that grows and shrinks one bucket
//! at a time (linear hashing, Litwin 1980). It knows neither members nor leaves; equal pairs may come
//! twice.

/// Pairs a bucket holds on average before another bucket is added.
const FULL: usize = 32;
/// Pairs a bucket holds on average before the last bucket is given up.
const SPARSE: usize = 10;
/// Buckets lie in chunks of this many, so that no array of all is ever moved.
const CHUNK_BITS: usize = 8;
/// A bucket's room grows by this many pairs: half a cache line.
const STEP: usize = 4;

/// Pairs of (hash, leaf), as hash in the low half and leaf in the high one.
type Bucket = Vec<u64>;

/// A multiset of (hash, leaf).
#[derive(Default, Debug)]
pub(super) struct Index {
    chunks: Vec<Vec<Bucket>>,
    buckets: usize,
    len: usize,
    /// Pairs that all buckets have room for.
    room: usize,
}

impl Clone for Index {
    fn clone(&self) -> Index {
        let copy = |chunk: &Vec<Bucket>| {
            let mut copy = Vec::with_capacity(chunk.capacity());
            copy.extend_from_slice(chunk);
            copy
        };
        let chunks: Vec<Vec<Bucket>> = self.chunks.iter().map(copy).collect();
        // Buckets of a copy have no more room than they need.
        let room = chunks.iter().flatten().map(Vec::capacity).sum();
        Index { chunks, room, ..*self }
    }
}

#[inline]
fn pair(hash: u32, leaf: u32) -> u64 {
    u64::from(hash) | u64::from(leaf) << 32
}

impl Index {
    /// The bucket of a hash: as many of its low bits as make a number below the number of buckets.
    #[inline]
    fn place(&self, hash: u32) -> usize {
        let level = self.buckets.next_power_of_two();
        let place = hash as usize & (level - 1);
        if place < self.buckets { place } else { place & (level / 2 - 1) }
    }

    #[inline]
    fn bucket(&self, place: usize) -> &Bucket {
        &self.chunks[place >> CHUNK_BITS][place & ((1 << CHUNK_BITS) - 1)]
    }

    #[inline]
    fn bucket_mut(&mut self, place: usize) -> &mut Bucket {
        &mut self.chunks[place >> CHUNK_BITS][place & ((1 << CHUNK_BITS) - 1)]
    }

    /// Calls `visit` with each leaf under a hash until it answers something.
    #[inline]
    pub(super) fn find<T>(&self, hash: u32, mut visit: impl FnMut(u32) -> Option<T>) -> Option<T> {
        if self.buckets == 0 {
            return None;
        }
        let bucket = self.bucket(self.place(hash));
        let (blocks, rest) = bucket.as_chunks::<8>();
        for block in blocks {
            // Eight at a time, without a branch between them.
            let equal = block.iter().fold(false, |any, pair| any | (*pair as u32 == hash));
            if equal {
                let mut hits = block.iter().filter(|pair| **pair as u32 == hash);
                if let Some(found) = hits.find_map(|pair| visit((pair >> 32) as u32)) {
                    return Some(found);
                }
            }
        }
        rest.iter().filter(|pair| **pair as u32 == hash).find_map(|pair| visit((pair >> 32) as u32))
    }

    /// Adds a pair.
    pub(super) fn insert(&mut self, hash: u32, leaf: u32) {
        self.len += 1;
        if self.len > self.buckets * FULL {
            self.split();
        }
        let place = self.place(hash);
        self.push(place, pair(hash, leaf));
    }

    fn push(&mut self, place: usize, pair: u64) {
        let bucket = self.bucket_mut(place);
        let before = bucket.capacity();
        if bucket.len() == before {
            bucket.reserve_exact(STEP);
        }
        bucket.push(pair);
        let more = bucket.capacity() - before;
        self.room += more;
    }

    /// Says of a pair that it is on another leaf now.
    #[inline]
    pub(super) fn repoint(&mut self, hash: u32, from: u32, to: u32) {
        let place = self.place(hash);
        let old = pair(hash, from);
        let found = self.bucket_mut(place).iter_mut().find(|pair| **pair == old);
        *found.expect("every entry of a leaf is in the index") = pair(hash, to);
    }

    /// Takes a pair out.
    pub(super) fn remove(&mut self, hash: u32, leaf: u32) {
        let place = self.place(hash);
        let bucket = self.bucket_mut(place);
        let old = pair(hash, leaf);
        let at = bucket.iter().position(|pair| *pair == old);
        bucket.swap_remove(at.expect("every entry of a leaf is in the index"));
        self.len -= 1;
        self.shrink_bucket(place);
        if self.buckets > 1 && self.len < self.buckets * SPARSE {
            self.merge();
        }
    }

    fn shrink_bucket(&mut self, place: usize) {
        let bucket = self.bucket_mut(place);
        let before = bucket.capacity();
        if before < bucket.len() + 3 * STEP && !bucket.is_empty() {
            return;
        }
        let len = bucket.len();
        bucket.shrink_to(len.next_multiple_of(STEP));
        let after = bucket.capacity();
        self.room -= before - after;
    }

    /// Adds a bucket: it takes its part of the one that had its hashes.
    fn split(&mut self) {
        let new = self.buckets;
        if new.is_multiple_of(1 << CHUNK_BITS) {
            let room = if new == 0 { 4 } else { 1 << CHUNK_BITS };
            self.chunks.push(Vec::with_capacity(room));
        }
        self.chunks.last_mut().expect("pushed where there was none").push(Vec::new());
        self.buckets += 1;
        if new == 0 {
            return;
        }
        let level = self.buckets.next_power_of_two();
        let old = new & (level / 2 - 1);
        let pairs = std::mem::take(self.bucket_mut(old));
        self.room -= pairs.capacity();
        let (mut stay, mut go) = (Vec::new(), Vec::new());
        let goes = |pair: &&u64| **pair as usize & (level - 1) == new;
        let going = pairs.iter().filter(goes).count();
        stay.reserve_exact((pairs.len() - going).next_multiple_of(STEP));
        go.reserve_exact(going.next_multiple_of(STEP));
        for pair in &pairs {
            if goes(&pair) {
                go.push(*pair);
            } else {
                stay.push(*pair);
            }
        }
        self.room += stay.capacity() + go.capacity();
        *self.bucket_mut(old) = stay;
        *self.bucket_mut(new) = go;
    }

    /// Gives the last bucket up: its pairs go back to where they came from.
    fn merge(&mut self) {
        let last = self.buckets - 1;
        let level = self.buckets.next_power_of_two();
        let chunk = self.chunks.last_mut().expect("there are buckets");
        let pairs = chunk.pop().expect("a chunk is not empty");
        if chunk.is_empty() {
            self.chunks.pop();
        }
        self.room -= pairs.capacity();
        self.buckets = last;
        let old = last & (level / 2 - 1);
        pairs.iter().for_each(|pair| self.push(old, *pair));
    }

    /// How many pairs there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Collects the pairs of the bucket that a place falls in, from that place on, in the order of hashes
    /// by their bits in reverse; answers where the next bucket begins, 0 where none does.
    pub(super) fn bucket_at(&self, place: u32, pairs: &mut Vec<(u32, u32)>) -> u32 {
        if self.buckets == 0 {
            return 0;
        }
        let number = self.place(place.reverse_bits());
        for pair in self.bucket(number) {
            let hash = *pair as u32;
            if hash.reverse_bits() >= place {
                pairs.push((hash, (pair >> 32) as u32));
            }
        }
        // The bucket is all hashes with some low bits: one more than others, where it was split already.
        let level = self.buckets.next_power_of_two();
        let halved = number + level / 2 < self.buckets || number >= level / 2;
        let bits = if halved { level.trailing_zeros() } else { level.trailing_zeros().saturating_sub(1) };
        let end = u64::from((number as u32).reverse_bits()) + (1 << (32 - bits));
        u32::try_from(end).unwrap_or(0)
    }

    /// Frees the last bucket; answers how many pairs it had.
    pub(super) fn pop(&mut self) -> Option<usize> {
        let chunk = self.chunks.last_mut()?;
        let bucket = chunk.pop();
        if chunk.is_empty() {
            self.chunks.pop();
        }
        let bucket = bucket.unwrap_or_default();
        self.buckets = self.buckets.saturating_sub(1);
        self.room -= bucket.capacity();
        self.len -= bucket.len();
        Some(bucket.len())
    }

    /// Bytes it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        let first = self.chunks.first().map_or(0, Vec::capacity);
        let rest = self.chunks.len().saturating_sub(1) << CHUNK_BITS;
        (first + rest) * size_of::<Bucket>()
            + self.room * size_of::<u64>()
            + self.chunks.capacity() * size_of::<Vec<Bucket>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn pairs_are_found_while_buckets_split_and_merge() {
        let mut index = Index::default();
        let mut model: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut seed = 5u64;
        let mut draw = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 32) as u32
        };
        for phase in 0..6 {
            for _ in 0..20_000 {
                // Few hashes, so that some come twice.
                let (hash, leaf) = (draw() % 20_000 * 77_777, draw() % 5);
                let leaves = model.entry(hash).or_default();
                if phase % 2 == 0 {
                    index.insert(hash, leaf);
                    leaves.push(leaf);
                } else if let Some(leaf) = leaves.pop() {
                    index.remove(hash, leaf);
                }
            }
            let room: usize = index.chunks.iter().flatten().map(Vec::capacity).sum();
            let len: usize = index.chunks.iter().flatten().map(Vec::len).sum();
            assert_eq!((room, len), (index.room, index.len));
            for (hash, leaves) in &model {
                let mut found = Vec::new();
                index.find(*hash, |leaf| {
                    found.push(leaf);
                    None::<()>
                });
                let mut leaves = leaves.clone();
                leaves.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, leaves);
            }
        }
        while index.pop().is_some() {}
        assert_eq!((index.len, index.room, index.buckets), (0, 0, 0));
    }
}
