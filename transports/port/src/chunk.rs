//! Chunks: owned pieces of memory that bytes travel in, and the pool they come home to.

/// A buffer lent by a poller. `filled()` is what it carries; `spare()` is where more may be written.
/// Dropping one frees its memory, but costs its pool a buffer: hand it back with `recycle` or `submit`.
pub struct Chunk {
    memory: Box<[u8]>,
    start: u32,
    end: u32,
    /// The poller's own mark, such as a buffer id.
    pub tag: u32,
}

impl std::fmt::Debug for Chunk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Chunk({} of {} bytes, tag {})", self.filled().len(), self.memory.len(), self.tag)
    }
}

impl Chunk {
    /// An empty chunk of `capacity` bytes.
    pub fn with_capacity(capacity: usize, tag: u32) -> Chunk {
        assert!(u32::try_from(capacity).is_ok(), "a chunk is smaller than 4 GiB");
        Chunk { memory: vec![0; capacity].into_boxed_slice(), start: 0, end: 0, tag }
    }

    /// Wraps memory of which the first `filled` bytes carry data.
    pub fn from_memory(memory: Box<[u8]>, filled: usize, tag: u32) -> Chunk {
        assert!(filled <= memory.len() && u32::try_from(memory.len()).is_ok(), "filled lies inside memory");
        Chunk { memory, start: 0, end: filled as u32, tag }
    }

    /// The memory itself, for a pool or a buffer ring.
    pub fn into_memory(self) -> Box<[u8]> {
        self.memory
    }

    /// The bytes carried and not yet consumed.
    #[inline]
    pub fn filled(&self) -> &[u8] {
        &self.memory[self.start as usize..self.end as usize]
    }

    /// Room behind the bytes carried.
    #[inline]
    pub fn spare(&mut self) -> &mut [u8] {
        &mut self.memory[self.end as usize..]
    }

    /// Says that `count` bytes of `spare()` were written.
    #[inline]
    pub fn extend(&mut self, count: usize) {
        assert!(count <= self.memory.len() - self.end as usize, "written inside the spare room");
        self.end += count as u32;
    }

    /// Says that `count` bytes at the front are done with.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        assert!(count <= (self.end - self.start) as usize, "consumed what was carried");
        self.start += count as u32;
    }

    /// Appends as much of `bytes` as fits; returns how much did.
    #[inline]
    pub fn fill(&mut self, bytes: &[u8]) -> usize {
        let spare = self.spare();
        let count = spare.len().min(bytes.len());
        spare[..count].copy_from_slice(&bytes[..count]);
        self.extend(count);
        count
    }

    /// Total size of the memory.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.memory.len()
    }

    /// Forgets what it carries.
    #[inline]
    pub fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }
}

/// A bounded pool of chunks of one size. Chunks are made on first use, up to `limit`, and counted,
/// so that a test can see that every one came home.
#[derive(Debug)]
pub struct ChunkPool {
    free: Vec<Chunk>,
    size: usize,
    limit: usize,
    away: usize,
}

impl ChunkPool {
    /// A pool of at most `limit` chunks of `size` bytes.
    pub fn new(size: usize, limit: usize) -> ChunkPool {
        ChunkPool { free: Vec::new(), size, limit, away: 0 }
    }

    /// An empty chunk, or `None` when all are away: back-pressure.
    pub fn take(&mut self) -> Option<Chunk> {
        if self.away >= self.limit {
            return None;
        }
        self.away += 1;
        Some(self.free.pop().unwrap_or_else(|| Chunk::with_capacity(self.size, 0)))
    }

    /// An empty chunk though all may be away: the caller has a bound of its own.
    pub fn take_beyond(&mut self) -> Chunk {
        self.away += 1;
        self.free.pop().unwrap_or_else(|| Chunk::with_capacity(self.size, 0))
    }

    /// A chunk comes home. What was taken beyond the limit is not kept.
    pub fn give(&mut self, mut chunk: Chunk) {
        debug_assert_eq!(chunk.capacity(), self.size, "a chunk of this pool");
        self.away = self.away.saturating_sub(1);
        if self.away + self.free.len() < self.limit {
            chunk.clear();
            self.free.push(chunk);
        }
    }

    /// How many chunks are away.
    pub fn away(&self) -> usize {
        self.away
    }

    /// How many more may be taken.
    pub fn available(&self) -> usize {
        self.limit.saturating_sub(self.away)
    }

    /// The size of each chunk in bytes.
    pub fn size(&self) -> usize {
        self.size
    }
}
