//! What the compiler cannot check: descriptors that others own.

use std::os::fd::{BorrowedFd, RawFd};

/// Borrows a descriptor somebody else keeps open, for one system call.
pub(crate) fn borrow<'fd>(fd: RawFd) -> BorrowedFd<'fd> {
    assert!(fd >= 0, "a descriptor");
    // SAFETY: `fd` is not -1. Whoever hands a descriptor to `Poller::watch` keeps it open as long as the
    // poller; were it closed, the kernel would answer EBADF and no memory is touched.
    unsafe { BorrowedFd::borrow_raw(fd) }
}
