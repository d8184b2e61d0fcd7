//! The atomics, cells and counted pointers in use: std's, or loom's where interleavings are searched.

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
};

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};

/// std's cell with the two functions by which loom sees an access.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// A relaxed load by a thread that will store to the same atomic.
///
/// Searching interleavings, loom 0.7 remembers one access per atomic: a thread's own load hides another
/// thread's earlier load from the store that follows, and then the two are never tried the other way round. An
/// add of nothing reads the same and hides nothing.
#[inline(always)]
pub(crate) fn peek(atomic: &AtomicU64) -> u64 {
    #[cfg(loom)]
    return atomic.fetch_add(0, Ordering::Relaxed);
    #[cfg(not(loom))]
    atomic.load(Ordering::Relaxed)
}
