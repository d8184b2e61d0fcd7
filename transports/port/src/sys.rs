//! Foreign calls that the socket helpers need and `rustix` lacks. Knows numbers, not meanings.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Sets one integer socket option at level `SOL_SOCKET`.
pub(crate) fn set_socket_option(
    fd: BorrowedFd<'_>,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `fd` is open for the borrow; the kernel reads `size` bytes of `value`, which outlives the call.
    let result = unsafe {
        libc::setsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, option, std::ptr::from_ref(&value).cast(), size)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Reads one integer socket option at level `SOL_SOCKET`.
#[cfg(test)]
pub(crate) fn socket_option(fd: BorrowedFd<'_>, option: libc::c_int) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut size = size_of::<libc::c_int>() as libc::socklen_t;
    let into = std::ptr::from_mut(&mut value).cast();
    // SAFETY: `fd` is open for the borrow; the kernel writes at most `size` bytes to `value`.
    let result = unsafe { libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, option, into, &raw mut size) };
    if result == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_known_option_is_taken_and_an_unknown_one_refused() {
        let (one, _other) = std::os::unix::net::UnixStream::pair().expect("a socket pair");
        set_socket_option(one.as_fd(), libc::SO_SNDBUF, 65536).expect("SO_SNDBUF is known");
        assert!(set_socket_option(one.as_fd(), 9999, 1).is_err());
    }
}
