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
    /// Buffers that came from elsewhere.
    spent: Vec<Vec<u8>>,
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
        if big.text().is_some() {
            return self.bury_text(*big);
        }
        if big.len() > BURY_ELEMENTS {
            self.graves.push(Grave::Big(big));
            return 0;
        }
        big.memory_bytes()
    }

    /// Frees a large text. Others may have it too: then the last of them frees it.
    fn bury_text(&mut self, big: Big) -> usize {
        let bytes = big.memory_bytes();
        match big {
            Big::Text(text) => text
                .into_buffer()
                .map_or(bytes, |buffer| bytes - buffer.capacity() + self.bury_buffer(buffer)),
            _ => unreachable!("the caller looked"),
        }
    }

    /// Takes a buffer that was no value of ours, to free it; answers the bytes that are not free yet.
    pub(crate) fn bury_spent(&mut self, buffer: Vec<u8>) -> usize {
        let bytes = buffer.capacity();
        if bytes < BURY_BYTES {
            return 0;
        }
        self.spent.push(buffer);
        bytes
    }

    /// Nothing waits to be freed.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.graves.is_empty() && self.spent.is_empty()
    }

    /// Frees one slice of what is buried, if something is; answers the bytes freed.
    pub(crate) fn dig(&mut self) -> Option<usize> {
        if let Some(buffer) = self.spent.last_mut() {
            let before = buffer.capacity();
            if before <= 2 * DIG_BYTES {
                self.spent.pop();
                return Some(before);
            }
            return Some(cut(buffer));
        }
        let freed = match self.graves.last_mut()? {
            Grave::Buffer(buffer) => {
                let before = buffer.capacity();
                if before <= 2 * DIG_BYTES {
                    self.drop_last();
                    return Some(before);
                }
                self.slices += 1;
                cut(buffer)
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

/// Frees a slice of a buffer; answers its bytes.
fn cut(buffer: &mut Vec<u8>) -> usize {
    let before = buffer.capacity();
    buffer.clear();
    buffer.shrink_to(before - DIG_BYTES);
    before - buffer.capacity()
}
