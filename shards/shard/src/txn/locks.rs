//! Locks by key: an open table, as small as what is locked now, so that it stays in the nearest cache. It
//! knows neither transactions nor what a lock is for.

/// Slots that a table begins with, and shrinks to.
const SLOTS_MIN: usize = 64;
/// A larger table is given back when it is empty.
const SLOTS_KEPT: usize = 16 * 1024;

/// Values by keys that are random already (hashes): no second hashing. Linear probing; what is removed leaves
/// no mark, since those behind it move up.
#[derive(Debug)]
pub(super) struct Locks<T> {
    /// A power of two of them.
    slots: Vec<Option<(u64, T)>>,
    used: usize,
}

impl<T> Default for Locks<T> {
    fn default() -> Locks<T> {
        Locks { slots: empty(SLOTS_MIN), used: 0 }
    }
}

fn empty<T>(count: usize) -> Vec<Option<T>> {
    std::iter::repeat_with(|| None).take(count).collect()
}

impl<T> Locks<T> {
    #[inline]
    fn mask(&self) -> usize {
        self.slots.len() - 1
    }

    /// Where that key is, or where it would go.
    #[inline]
    pub(super) fn place(&self, key: u64) -> Result<usize, usize> {
        let mut place = key as usize & self.mask();
        loop {
            match &self.slots[place] {
                None => return Err(place),
                Some((other, _)) if *other == key => return Ok(place),
                Some(_) => place = (place + 1) & self.mask(),
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<&T> {
        self.slots[self.place(key).ok()?].as_ref().map(|(_, value)| value)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        let place = self.place(key).ok()?;
        Some(self.at(place))
    }

    /// What is at a place that `place` found.
    #[inline]
    pub(super) fn at(&mut self, place: usize) -> &mut T {
        &mut self.slots[place].as_mut().expect("it was found there").1
    }

    /// Adds a key at the place where `place` missed it.
    #[inline]
    pub(super) fn insert(&mut self, place: usize, key: u64, value: T) {
        self.slots[place] = Some((key, value));
        self.used += 1;
        if 2 * self.used > self.slots.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = empty(2 * self.slots.len());
        for (key, value) in std::mem::replace(&mut self.slots, larger).into_iter().flatten() {
            let place = self.place(key).expect_err("each key is there once");
            self.slots[place] = Some((key, value));
        }
    }

    /// Takes away what is at a place.
    #[inline]
    pub(super) fn remove(&mut self, mut place: usize) {
        self.slots[place] = None;
        self.used -= 1;
        let mut next = (place + 1) & self.mask();
        while let Some((key, _)) = &self.slots[next] {
            // It moves up unless it would come before its own place.
            let home = *key as usize & self.mask();
            if next.wrapping_sub(home) & self.mask() >= next.wrapping_sub(place) & self.mask() {
                self.slots.swap(place, next);
                place = next;
            }
            next = (next + 1) & self.mask();
        }
        if self.used == 0 && self.slots.len() > SLOTS_KEPT {
            self.slots = empty(SLOTS_MIN);
        }
    }

    #[cfg(test)]
    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten().map(|(_, value)| value)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.used == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn it_holds_what_a_map_holds() {
        let (mut locks, mut model) = (Locks::default(), HashMap::new());
        let mut random = 1u64;
        for step in 0..200_000u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Few homes, among them the last slot: long rows, round the end.
            let key = (random >> 33) % 40 * 7 + (random >> 60 << 32) + (random >> 50) % 3 * 0xFFFF;
            let grows = step / 20_000 % 2 == 0;
            match locks.place(key) {
                Ok(place) if !grows || random >> 40 & 3 == 0 => {
                    assert_eq!(model.remove(&key), Some(*locks.at(place)));
                    locks.remove(place);
                }
                Ok(_) => assert_eq!(locks.get(key), model.get(&key)),
                Err(place) => {
                    assert_eq!(model.get(&key), None);
                    if grows || random >> 40 & 7 == 0 {
                        model.insert(key, step);
                        locks.insert(place, key, step);
                    }
                }
            }
            assert_eq!(locks.used, model.len());
        }
        assert_eq!(locks.values().count(), model.len());
    }

    #[test]
    fn a_large_table_shrinks_when_it_is_empty() {
        let mut locks = Locks::default();
        for key in 0..100_000u64 {
            let place = locks.place(key).expect_err("it is new");
            locks.insert(place, key, ());
        }
        for key in 0..100_000u64 {
            let place = locks.place(key).expect("it is there");
            locks.remove(place);
        }
        assert!(locks.is_empty());
        assert_eq!(locks.slots.len(), SLOTS_MIN);
    }
}
