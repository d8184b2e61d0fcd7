//! Graves: large values that were removed and wait to be freed a slice at a time, so that no command
//! pays for them. They do not know where the values were.

use crate::types::Big;

/// Freeing a buffer of this size takes longer than a command should: it is buried, not dropped.
const BURY_BYTES: usize = 256 * 1024;
/// As large a collection goes at once.
const BURY_ELEMENTS: usize = 64;
/// How much of a buried buffer goes at a time.
const DIG_BYTES: usize = 1024 * 1024;
/// How many elements of a buried collection go at a time.
const DIG_ELEMENTS: usize = 64;

enum Grave {
    Buffer(Vec<u8>),
    Big(Box<Big>),
}

/// What was removed and is still in memory.
#[derive(Default)]
pub(crate) struct Graves {
    graves: Vec<Grave>,
    /// Values that are freed by now.
    emptied: u64,
    /// Slices that were freed while more was left.
    slices: u64,
}

impl Graves {
    pub(crate) fn len(&self) -> usize {
        self.graves.len()
    }

    /// Values that have been freed here since the last call.
    pub(crate) fn take_emptied(&mut self) -> u64 {
        std::mem::take(&mut self.emptied)
    }

    /// Slices that have been freed here since the last call while more was left.
    pub(crate) fn take_slices(&mut self) -> u64 {
        std::mem::take(&mut self.slices)
    }

    /// Frees a buffer, now or later; answers the bytes that are free now.
    pub(crate) fn bury_buffer(&mut self, buffer: Vec<u8>) -> usize {
        let bytes = buffer.capacity();
        if bytes >= BURY_BYTES {
            self.graves.push(Grave::Buffer(buffer));
            return 0;
        }
        bytes
    }

    /// Frees a collection, now or later; answers the bytes that are free now.
    pub(crate) fn bury_big(&mut self, big: Box<Big>) -> usize {
        if big.len() > BURY_ELEMENTS {
            self.graves.push(Grave::Big(big));
            return 0;
        }
        big.memory_bytes()
    }

    /// Frees one slice of what is buried, if something is; answers the bytes freed.
    pub(crate) fn dig(&mut self) -> Option<usize> {
        let freed = match self.graves.last_mut()? {
            Grave::Buffer(buffer) => {
                let before = buffer.capacity();
                if before <= 2 * DIG_BYTES {
                    self.drop_last();
                    return Some(before);
                }
                self.slices += 1;
                buffer.clear();
                buffer.shrink_to(before - DIG_BYTES);
                before - buffer.capacity()
            }
            Grave::Big(big) => {
                let before = big.memory_bytes();
                if big.len() <= DIG_ELEMENTS {
                    self.drop_last();
                    return Some(before);
                }
                self.slices += 1;
                big.free_some(DIG_ELEMENTS);
                before - big.memory_bytes()
            }
        };
        Some(freed)
    }

    fn drop_last(&mut self) {
        self.graves.pop();
        self.emptied += 1;
    }
}
