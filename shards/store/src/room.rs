//! How much room the buffers of strings get as they grow and shrink. It knows no cells.

/// Above this, a growing buffer gets a quarter more than it needs, not twice.
const DOUBLING_BYTES_MAX: usize = 1024 * 1024;

/// A buffer of zeros: fresh memory from the allocator is zero already, so long ones cost little.
pub(crate) fn zeros(length: usize) -> Vec<u8> {
    vec![0; length]
}

/// Makes room for `length` bytes and a little more, and gives back what is far too much.
pub(crate) fn fit(buffer: &mut Vec<u8>, length: usize) {
    let wanted = length + length / 8;
    if length > buffer.capacity() {
        buffer.reserve_exact(wanted - buffer.len());
    } else if wanted < buffer.capacity() / 2 {
        buffer.shrink_to(wanted);
    }
}

/// Makes room for `length` bytes and some more, so that appends are cheap on average.
pub(crate) fn grow(buffer: &mut Vec<u8>, length: usize) {
    if length <= buffer.capacity() {
        return;
    }
    let spare = if length < DOUBLING_BYTES_MAX { length } else { length / 4 };
    buffer.reserve_exact(length + spare - buffer.len());
}
