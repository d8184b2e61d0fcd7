//! A value on cache lines of its own.

use std::ops::Deref;

/// Keeps neighbours off the value's cache lines: 128 bytes, since x86 fetches lines in pairs and some ARM
/// cores have lines that long.
#[repr(align(128))]
#[derive(Default, Debug)]
pub(crate) struct Padded<T>(pub(crate) T);

impl<T> Deref for Padded<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
