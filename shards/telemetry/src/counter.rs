//! One number with one writer. Knows neither its name nor whether it is a counter or a gauge:
//! the catalog says so.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that one shard writes and anyone reads.
///
/// Writing is a load and a store, never a locked read-modify-write. A second writer would lose
/// counts (and nothing worse): each block has one owner. Relaxed order is enough, since no reader
/// concludes anything about other memory from it.
#[derive(Default, Debug)]
#[repr(transparent)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Zero.
    pub const fn new() -> Counter {
        Counter(AtomicU64::new(0))
    }

    /// Adds `amount`. Owner only.
    #[inline(always)]
    pub fn add(&self, amount: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// Takes `amount` off, not below zero: for gauges. Owner only.
    #[inline(always)]
    pub fn sub(&self, amount: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).saturating_sub(amount), Ordering::Relaxed);
    }

    /// Says the whole value: for gauges, and for totals that somebody else keeps. Owner only.
    #[inline(always)]
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Raises the value to `value` if that is more. Owner only.
    #[inline(always)]
    pub fn raise(&self, value: u64) {
        if value > self.0.load(Ordering::Relaxed) {
            self.0.store(value, Ordering::Relaxed);
        }
    }

    /// The value. Anyone.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_adds_takes_off_and_never_falls_below_zero() {
        let counter = Counter::new();
        counter.add(5);
        counter.sub(2);
        assert_eq!(counter.read(), 3);
        counter.sub(9);
        assert_eq!(counter.read(), 0);
        counter.set(7);
        counter.raise(6);
        assert_eq!(counter.read(), 7);
        counter.raise(8);
        assert_eq!(counter.read(), 8);
    }
}
