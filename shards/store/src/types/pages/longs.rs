//! Long texts, each on the heap by itself, under numbers that are used again. It does not know who
//! keeps the numbers.

/// Places are made this many at a time, so that no growth copies more than a list of chunks.
const CHUNK: usize = 64;
const NONE: u32 = u32::MAX;

enum Place {
    Text(Box<[u8]>),
    /// The next free place, or `NONE`.
    Free(u32),
}

/// The long texts of one collection.
pub(super) struct Longs {
    chunks: Vec<Box<[Place]>>,
    free: u32,
    live: usize,
    bytes: usize,
}

impl Longs {
    pub(super) const fn new() -> Longs {
        Longs { chunks: Vec::new(), free: NONE, live: 0, bytes: 0 }
    }

    /// Bytes of all texts and their places.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.chunks.len() * CHUNK * size_of::<Place>()
    }

    pub(super) fn text(&self, number: u32) -> &[u8] {
        match &self.chunks[number as usize / CHUNK][number as usize % CHUNK] {
            Place::Text(text) => text,
            Place::Free(_) => unreachable!("numbers are given back with their entry"),
        }
    }

    pub(super) fn add(&mut self, text: &[u8]) -> u32 {
        if self.free == NONE {
            let first = (self.chunks.len() * CHUNK) as u32;
            let next = |place: u32| if place + 1 == CHUNK as u32 { NONE } else { first + place + 1 };
            self.chunks.push((0..CHUNK as u32).map(|place| Place::Free(next(place))).collect());
            self.free = first;
        }
        let number = self.free;
        let place = &mut self.chunks[number as usize / CHUNK][number as usize % CHUNK];
        let Place::Free(next) = *place else { unreachable!("the list names free places") };
        *place = Place::Text(text.into());
        self.free = next;
        self.live += 1;
        self.bytes += text.len();
        number
    }

    pub(super) fn remove(&mut self, number: u32) {
        let place = &mut self.chunks[number as usize / CHUNK][number as usize % CHUNK];
        let before = std::mem::replace(place, Place::Free(self.free));
        let Place::Text(text) = before else { unreachable!("numbers are given back once") };
        self.free = number;
        self.live -= 1;
        self.bytes -= text.len();
        if self.live == 0 {
            *self = Longs::new();
        }
    }
}

impl Clone for Longs {
    fn clone(&self) -> Longs {
        let place = |place: &Place| match place {
            Place::Text(text) => Place::Text(text.clone()),
            Place::Free(next) => Place::Free(*next),
        };
        let chunks = self.chunks.iter().map(|chunk| chunk.iter().map(place).collect()).collect();
        Longs { chunks, free: self.free, live: self.live, bytes: self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again_and_nothing_stays_behind() {
        let mut longs = Longs::new();
        let numbers: Vec<u32> = (0..200u8).map(|byte| longs.add(&[byte; 300])).collect();
        numbers.iter().step_by(2).for_each(|number| longs.remove(*number));
        let again: Vec<u32> = (0..100u8).map(|byte| longs.add(&[byte; 301])).collect();
        assert!(again.iter().all(|number| numbers.contains(number)));
        assert_eq!(longs.clone().text(numbers[3]), [3; 300]);
        assert_eq!(longs.bytes(), 100 * 300 + 100 * 301 + 4 * CHUNK * 16);
        again.iter().chain(numbers.iter().skip(1).step_by(2)).for_each(|number| longs.remove(*number));
        assert_eq!(longs.bytes(), 0);
    }
}
