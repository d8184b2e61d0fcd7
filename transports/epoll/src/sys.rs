//! What the compiler cannot check: descriptors that others own, and a request that `rustix` lacks.

use std::os::fd::{BorrowedFd, RawFd};

/// Borrows a descriptor somebody else keeps open, for one system call.
pub(crate) fn borrow<'fd>(fd: RawFd) -> BorrowedFd<'fd> {
    assert!(fd >= 0, "a descriptor");
    // SAFETY: `fd` is not -1. Whoever hands a descriptor to `Poller::watch` keeps it open as long as the
    // poller; were it closed, the kernel would answer EBADF and no memory is touched.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// `struct epoll_params` of include/uapi/linux/eventpoll.h.
#[repr(C)]
struct BusyPolling {
    us: u32,
    packets: u16,
    prefer: u8,
    padding: u8,
}

/// `EPIOCSPARAMS`.
const SET_BUSY_POLLING: rustix::ioctl::Opcode = rustix::ioctl::opcode::write::<BusyPolling>(0x8A, 1);

/// Packets that one busy poll takes at most; more than 64 is a privilege.
const PACKETS_A_POLL: u16 = 8;

/// Lets waits on this epoll instance poll the devices of its sockets for so many microseconds.
///
/// # Errors
/// ENOTTY before Linux 6.9.
pub(crate) fn busy_poll(epoll: BorrowedFd<'_>, us: u32) -> rustix::io::Result<()> {
    let wanted = BusyPolling { us, packets: PACKETS_A_POLL, prefer: 1, padding: 0 };
    // SAFETY: the opcode is the kernel's for this struct, which it reads during the call.
    let request = unsafe { rustix::ioctl::Setter::<SET_BUSY_POLLING, BusyPolling>::new(wanted) };
    // SAFETY: the request changes how this epoll instance waits, and no memory of ours.
    unsafe { rustix::ioctl::ioctl(epoll, request) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::epoll::{CreateFlags, create};
    use std::os::fd::AsFd;

    #[test]
    fn an_epoll_instance_takes_a_time_to_poll_devices_and_a_file_does_not() {
        // Another test of this process uses up all descriptors for a while.
        let epoll =
            std::iter::repeat_with(|| create(CreateFlags::CLOEXEC)).find_map(Result::ok).expect("endless");
        match busy_poll(epoll.as_fd(), 50) {
            Ok(()) => {}
            Err(old) => assert_eq!(old, rustix::io::Errno::NOTTY, "a kernel before 6.9"),
        }
        let file = std::iter::repeat_with(|| std::fs::File::open("/dev/null")).find_map(Result::ok);
        let file = file.expect("endless");
        assert_eq!(busy_poll(file.as_fd(), 50), Err(rustix::io::Errno::NOTTY));
    }
}
