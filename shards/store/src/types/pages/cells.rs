//! Where pages lie: cells of a few dozen sizes, those of a size densely one behind the other in chunks.
//! A cell that is freed is filled with the last one of its size, so that nothing is left unused however
//! pages grow and shrink; each cell names its owner, who is told where it is now. It does not know what
//! else is in a page.

/// Bytes of a class's first chunk, at most: it grows, so as to be no larger than it has to be.
const FIRST_BYTES: usize = 14 * 1024;
/// Bytes of the others, which are made at once and touched as they fill. The allocator spends a memory
/// page on each.
const CHUNK_BYTES: usize = 128 * 1024;
/// Where a cell says who owns it: four bytes.
pub(super) const OWNER_AT: usize = 8;
/// Larger pages, of which there are few, have a chunk each.
const LARGE_BYTES: usize = 4096;
const LARGE: u8 = 29;

/// The size class of so many bytes: steps of 64 up to 512, of 128 up to 2 KiB, of 256 up to 4. Finer ones
/// would save a byte an entry, and have pages move twice as often.
#[inline]
fn class_of(bytes: usize) -> u8 {
    let class = match bytes {
        0..=512 => bytes.div_ceil(64),
        513..=2048 => 8 + (bytes - 512).div_ceil(128),
        2049..=LARGE_BYTES => 20 + (bytes - 2048).div_ceil(256),
        _ => return LARGE,
    };
    class as u8
}

#[inline]
fn size_of_class(class: u8) -> usize {
    match class {
        0..=8 => usize::from(class) * 64,
        9..=20 => 512 + usize::from(class - 8) * 128,
        _ => 2048 + usize::from(class - 20) * 256,
    }
}

/// Names a cell; the default names none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Cell {
    class: u8,
    place: u16,
    chunk: u32,
}

impl Cell {
    #[inline]
    pub(super) fn is_none(self) -> bool {
        self.class == 0
    }
}

/// All cells of one table.
#[derive(Default)]
pub(super) struct Cells {
    /// The chunks of each class; all but the last of a class are full.
    classes: Vec<Vec<Vec<u8>>>,
    bytes: usize,
}

impl Cells {
    /// Bytes of all chunks and of their lists.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.classes.len() * size_of::<Vec<Vec<u8>>>()
    }

    /// What is in a cell; nothing, where it is none.
    #[inline]
    pub(super) fn get(&self, cell: Cell) -> &[u8] {
        if cell.is_none() {
            return &[];
        }
        let chunk = &self.classes[usize::from(cell.class)][cell.chunk as usize];
        if cell.class == LARGE {
            return chunk;
        }
        let size = size_of_class(cell.class);
        &chunk[usize::from(cell.place) * size..][..size]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, cell: Cell) -> &mut [u8] {
        if cell.is_none() {
            return &mut [];
        }
        let chunk = &mut self.classes[usize::from(cell.class)][cell.chunk as usize];
        if cell.class == LARGE {
            return chunk;
        }
        let size = size_of_class(cell.class);
        &mut chunk[usize::from(cell.place) * size..][..size]
    }

    /// Whether a cell is the right one for so many bytes: large enough, and no larger than it has to be.
    #[inline]
    pub(super) fn fits(&self, cell: Cell, bytes: usize) -> bool {
        cell.class == class_of(bytes) && (cell.class != LARGE || self.large_fits(cell, bytes))
    }

    fn large_fits(&self, cell: Cell, bytes: usize) -> bool {
        (bytes..=2 * bytes).contains(&self.get(cell).len())
    }

    /// A cell for so many bytes: zeros, but for its owner.
    pub(super) fn allocate(&mut self, bytes: usize, owner: u32) -> Cell {
        let class = class_of(bytes);
        if usize::from(class) >= self.classes.len() {
            self.classes.reserve_exact(usize::from(class) + 1 - self.classes.len());
            self.classes.resize_with(usize::from(class) + 1, Vec::new);
        }
        let chunks = &mut self.classes[usize::from(class)];
        let size = if class == LARGE { bytes + bytes / 4 } else { size_of_class(class) };
        let full = |chunk: usize| if chunk == 0 { FIRST_BYTES } else { CHUNK_BYTES } / size * size;
        if class == LARGE || chunks.last().is_none_or(|last| last.len() == full(chunks.len() - 1)) {
            let capacity = if chunks.is_empty() || class == LARGE { size } else { full(1) };
            chunks.push(Vec::with_capacity(capacity));
            self.bytes += counted(class, chunks.len() - 1, &chunks[chunks.len() - 1]);
        }
        let chunk = chunks.len() - 1;
        let last = &mut chunks[chunk];
        self.bytes -= counted(class, chunk, last);
        let at = last.len();
        if at + size > last.capacity() {
            // Only the first chunk of a class grows.
            let capacity = (at + at / 4).next_multiple_of(size).max(at + size).min(full(0));
            last.reserve_exact(capacity - at);
        }
        last.resize(at + size, 0);
        self.bytes += counted(class, chunk, last);
        last[at + OWNER_AT..at + OWNER_AT + 4].copy_from_slice(&owner.to_le_bytes());
        Cell { class, place: (at / size) as u16, chunk: chunk as u32 }
    }

    /// Copies the first bytes of a cell to another one, of which the owner stays.
    pub(super) fn copy(&mut self, from: Cell, to: Cell, bytes: usize) {
        if from.class == to.class {
            // Large ones: rare enough for a copy of the copy.
            let copy = self.get(from)[..bytes].to_vec();
            return self.get_mut(to)[..bytes].copy_from_slice(&copy);
        }
        let classes = [usize::from(from.class), usize::from(to.class)];
        let [source, target] = self.classes.get_disjoint_mut(classes).expect("two classes that there are");
        let start = |cell: Cell| match cell.class {
            LARGE => 0,
            class => usize::from(cell.place) * size_of_class(class),
        };
        let source = &source[from.chunk as usize][start(from)..][..bytes];
        target[to.chunk as usize][start(to)..][..bytes].copy_from_slice(source);
    }

    /// Frees a cell. If another one takes its place: the owner of that.
    pub(super) fn free(&mut self, cell: Cell) -> Option<u32> {
        let chunks = &mut self.classes[usize::from(cell.class)];
        if cell.class == LARGE {
            let chunk = chunks.swap_remove(cell.chunk as usize);
            self.bytes -= counted(LARGE, 0, &chunk);
        } else {
            let size = size_of_class(cell.class);
            let start = usize::from(cell.place) * size;
            let (last, others) = chunks.split_last_mut().expect("the cell is in one");
            let chunk = others.len();
            self.bytes -= counted(cell.class, chunk, last);
            let end = last.len() - size;
            match others.get_mut(cell.chunk as usize) {
                Some(chunk) => chunk[start..start + size].copy_from_slice(&last[end..]),
                None => last.copy_within(end.., start),
            }
            last.truncate(end);
            if chunk == 0 && last.capacity() > end + end / 4 + 2 * size {
                last.shrink_to(end + size);
            }
            if end == 0 {
                chunks.pop();
            } else {
                self.bytes += counted(cell.class, chunk, last);
            }
        }
        let moved = self.classes[usize::from(cell.class)].get(cell.chunk as usize)?;
        let start = if cell.class == LARGE { 0 } else { usize::from(cell.place) * size_of_class(cell.class) };
        let owner = moved.get(start + OWNER_AT..start + OWNER_AT + 4)?;
        Some(u32::from_le_bytes(owner.try_into().expect("four bytes")))
    }
}

/// What a chunk counts for: what is touched of it.
#[inline]
fn counted(class: u8, number: usize, chunk: &Vec<u8>) -> usize {
    let whole = class == LARGE || number == 0;
    size_of::<Vec<u8>>() + if whole { chunk.capacity() } else { chunk.len() }
}

impl Clone for Cells {
    fn clone(&self) -> Cells {
        let classes = self.classes.clone();
        let mut bytes = 0;
        for (class, chunks) in classes.iter().enumerate() {
            for (number, chunk) in chunks.iter().enumerate() {
                bytes += counted(class as u8, number, chunk);
            }
        }
        Cells { classes, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_the_smallest_class_that_holds_it() {
        for bytes in 1..=LARGE_BYTES {
            let class = class_of(bytes);
            assert!(size_of_class(class) >= bytes && (class == 1 || size_of_class(class - 1) < bytes));
        }
        assert_eq!(class_of(LARGE_BYTES + 1), LARGE);
    }

    #[test]
    fn cells_stay_dense_and_owners_are_told() {
        let (mut cells, mut owned, mut state) = (Cells::default(), vec![Cell::default(); 300], 1u64);
        let mut sizes = vec![0; 300];
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let owner = (state >> 33) as usize % owned.len();
            if owned[owner].is_none() {
                sizes[owner] = 16 + (state >> 50) as usize % 5000;
                owned[owner] = cells.allocate(sizes[owner], owner as u32);
                cells.get_mut(owned[owner])[12..].fill(owner as u8);
            } else {
                let hole = std::mem::take(&mut owned[owner]);
                if let Some(moved) = cells.free(hole) {
                    owned[moved as usize] = hole;
                }
            }
            let other = (state >> 20) as usize % owned.len();
            assert!(cells.get(owned[other]).iter().skip(12).all(|byte| *byte == other as u8));
            assert!(owned[other].is_none() || cells.fits(owned[other], sizes[other]));
        }
        let copy = cells.clone();
        assert!(owned.iter().all(|cell| copy.get(*cell) == cells.get(*cell)));
        for owner in 0..owned.len() {
            if !owned[owner].is_none() {
                let hole = std::mem::take(&mut owned[owner]);
                if let Some(moved) = cells.free(hole) {
                    owned[moved as usize] = hole;
                }
            }
        }
        assert_eq!(cells.bytes, 0);
    }
}
