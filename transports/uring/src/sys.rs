//! Foreign calls and memory shared with the kernel: the ring, the ring of receive buffers, vectors of
//! a send. Knows nothing of links.

use io_uring::types::{BufRingEntry, Fd, Timespec};
use io_uring::{CompletionStatus, IoUring, opcode, squeue};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

// Numbers of include/uapi/linux/io_uring.h that the crate keeps to itself.
const ENTER_GETEVENTS: u32 = 1 << 0;
const ENTER_EXT_ARG: u32 = 1 << 3;
const ENTER_REGISTERED_RING: u32 = 1 << 4;
const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;

/// `struct io_uring_rsrc_update`.
#[repr(C)]
struct ResourceUpdate {
    offset: u32,
    reserved: u32,
    data: u64,
}

/// `struct __kernel_timespec`.
#[repr(C)]
struct KernelTime {
    seconds: i64,
    nanoseconds: i64,
}

/// `struct io_uring_getevents_arg`.
#[repr(C)]
struct WaitArguments {
    signal_mask: u64,
    signal_mask_bytes: u32,
    min_wait_us: u32,
    timeout: u64,
}

/// How far an enter waits.
#[derive(Clone, Copy)]
pub(crate) enum Wait {
    /// Not at all.
    No,
    /// For `completions` of them, at most `gather_us`; after that for one, at most until `timeout`.
    For { completions: u32, gather_us: u32, timeout: Option<Duration> },
}

impl Wait {
    /// For one completion, at most this long.
    pub(crate) fn for_one(timeout: Option<Duration>) -> Wait {
        Wait::For { completions: 1, gather_us: 0, timeout }
    }
}

/// A completion, copied out of the ring.
#[derive(Clone, Copy)]
pub(crate) struct Completion {
    pub(crate) token: u64,
    pub(crate) result: i32,
    pub(crate) flags: u32,
}

/// The ring, with what the crate leaves to its user: entering by registered index, counting.
pub(crate) struct Ring {
    ring: IoUring,
    status: CompletionStatus,
    /// Index the ring is registered under for this thread, if it is.
    index: Option<u32>,
    /// Entries pushed that the kernel has not consumed.
    staged: u32,
    /// Enters made.
    pub(crate) enters: u64,
    /// An enter may wait for several completions for a bounded time (Linux 6.12).
    pub(crate) gathers: bool,
}

impl Ring {
    pub(crate) fn new(mut ring: IoUring) -> Ring {
        // SAFETY: `status` lives beside the ring it came from and is dropped with it.
        let status = unsafe { ring.completion().status() };
        let index = register_ring_fd(ring.as_raw_fd()).ok();
        let gathers = ring.params().is_feature_min_timeout();
        Ring { ring, status, index, staged: 0, enters: 0, gathers }
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.ring.as_raw_fd()
    }

    pub(crate) fn inner(&self) -> &IoUring {
        &self.ring
    }

    /// No completion is visible.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.status.is_empty()
    }

    /// The kernel has completions that only an enter makes visible: deferred work or an overflow.
    #[inline]
    pub(crate) fn wants_enter(&mut self) -> bool {
        let queue = self.ring.submission();
        queue.taskrun() || queue.cq_overflow()
    }

    /// Entries wait to be submitted.
    #[inline]
    pub(crate) fn has_staged(&self) -> bool {
        self.staged > 0
    }

    /// Adds an entry; `false` when the queue is full.
    ///
    /// # Safety
    /// All memory the entry names must stay valid until its final completion was harvested.
    #[inline]
    pub(crate) unsafe fn push(&mut self, entry: &squeue::Entry) -> bool {
        // SAFETY: handed on to the caller.
        let pushed = unsafe { self.ring.submission().push(entry) }.is_ok();
        self.staged += u32::from(pushed);
        pushed
    }

    /// Adds an entry that names no memory of ours.
    #[inline]
    fn push_plain(&mut self, entry: squeue::Entry, token: u64) -> bool {
        // SAFETY: the entry names no memory, or memory that lives as long as the program.
        unsafe { self.push(&entry.user_data(token)) }
    }

    /// Accepts on `listener` again and again. Like the other pushes: `false` when the queue is full.
    pub(crate) fn push_accept(&mut self, listener: RawFd, token: u64) -> bool {
        self.push_plain(opcode::AcceptMulti::new(Fd(listener)).flags(libc::SOCK_CLOEXEC).build(), token)
    }

    /// Receives from `fd` again and again, into buffers of `group`.
    pub(crate) fn push_receive(&mut self, fd: RawFd, group: u16, multishot: bool, token: u64) -> bool {
        if multishot {
            return self.push_plain(opcode::RecvMulti::new(Fd(fd), group).build(), token);
        }
        let once = opcode::Recv::new(Fd(fd), std::ptr::null_mut(), 0).buf_group(group).build();
        self.push_plain(once.flags(squeue::Flags::BUFFER_SELECT), token)
    }

    /// Asks the operation `target` back.
    pub(crate) fn push_cancel(&mut self, target: u64, token: u64) -> bool {
        self.push_plain(opcode::AsyncCancel::new(target).build(), token)
    }

    /// Asks everything back.
    pub(crate) fn push_cancel_all(&mut self, token: u64) -> bool {
        let all = io_uring::types::CancelBuilder::any().all();
        self.push_plain(opcode::AsyncCancel2::new(all).build(), token)
    }

    /// Completes once `fd` is readable, at once where it is so already.
    pub(crate) fn push_watch(&mut self, fd: RawFd, token: u64) -> bool {
        self.push_plain(opcode::PollAdd::new(Fd(fd), libc::POLLIN as u32).build(), token)
    }

    /// Completes once the peer of `fd` has sent its last or is gone, at once where it is so already.
    pub(crate) fn push_hang_up(&mut self, fd: RawFd, token: u64) -> bool {
        self.push_plain(opcode::PollAdd::new(Fd(fd), libc::POLLRDHUP as u32).build(), token)
    }

    /// Completes after a while.
    pub(crate) fn push_pause(&mut self, time: &'static Timespec, token: u64) -> bool {
        self.push_plain(opcode::Timeout::new(time).build(), token)
    }

    /// Completes at once.
    pub(crate) fn push_nothing(&mut self, token: u64) -> bool {
        self.push_plain(opcode::Nop::new().build(), token)
    }

    /// Submits what is staged, runs deferred work, and waits as told. Interrupts, timeouts and a
    /// kernel short of memory or of completion room are back-pressure, not errors: the staged entries
    /// stay and the caller harvests, then comes again.
    ///
    /// # Errors
    /// Anything else means the ring is unusable.
    pub(crate) fn enter(&mut self, wait: Wait) -> io::Result<()> {
        self.enters += 1;
        let mut flags = ENTER_GETEVENTS;
        let mut time = KernelTime { seconds: 0, nanoseconds: 0 };
        let mut arguments =
            WaitArguments { signal_mask: 0, signal_mask_bytes: 0, min_wait_us: 0, timeout: 0 };
        let mut extended = (std::ptr::null(), 0);
        let at_least = match wait {
            Wait::No => 0,
            Wait::For { completions, gather_us, timeout } => {
                if let Some(timeout) = timeout {
                    time.seconds = i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX);
                    time.nanoseconds = i64::from(timeout.subsec_nanos());
                    arguments.timeout = (&raw const time) as u64;
                }
                arguments.min_wait_us = gather_us;
                if timeout.is_some() || gather_us > 0 {
                    flags |= ENTER_EXT_ARG;
                    extended = (&raw const arguments, size_of::<WaitArguments>());
                }
                completions
            }
        };
        let fd = match self.index {
            Some(index) => {
                flags |= ENTER_REGISTERED_RING;
                index as RawFd
            }
            None => self.ring.as_raw_fd(),
        };
        // SAFETY: the ring is ours; `arguments` and `time` outlive the call; the entries submitted name
        // memory that outlives them, as promised to `push`.
        let consumed = unsafe {
            libc::syscall(libc::SYS_io_uring_enter, fd, self.staged, at_least, flags, extended.0, extended.1)
        };
        if consumed >= 0 {
            self.staged -= consumed as u32;
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR | libc::ETIME) => {
                // Entries were consumed before the wait began, though the result does not say so.
                self.staged = self.ring.submission().len() as u32;
                Ok(())
            }
            Some(libc::EBUSY | libc::EAGAIN) => Ok(()),
            _ => Err(error),
        }
    }

    /// Copies out at most `most` completions.
    pub(crate) fn harvest(&mut self, most: usize, into: &mut Vec<Completion>) {
        into.extend(self.ring.completion().take(most).map(|entry| Completion {
            token: entry.user_data(),
            result: entry.result(),
            flags: entry.flags(),
        }));
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if let Some(index) = self.index {
            // A registration left behind would keep the ring alive until the thread ends.
            let mut update = ResourceUpdate { offset: index, reserved: 0, data: 0 };
            let _ = register(self.ring.as_raw_fd(), UNREGISTER_RING_FDS, &mut update);
        }
    }
}

fn register_ring_fd(fd: RawFd) -> io::Result<u32> {
    let mut update = ResourceUpdate { offset: u32::MAX, reserved: 0, data: fd as u64 };
    register(fd, REGISTER_RING_FDS, &mut update)?;
    Ok(update.offset)
}

fn register(fd: RawFd, operation: u32, update: &mut ResourceUpdate) -> io::Result<()> {
    // SAFETY: `update` is a valid `io_uring_rsrc_update` that outlives the call.
    let done =
        unsafe { libc::syscall(libc::SYS_io_uring_register, fd, operation, std::ptr::from_mut(update), 1) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Takes over a descriptor that a completion handed to us.
pub(crate) fn own(fd: RawFd) -> OwnedFd {
    // SAFETY: the kernel has just installed this descriptor for us and nobody else knows its number.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Where a receive buffer is.
enum Place {
    /// Not made yet.
    Unmade,
    /// Here, unused.
    Home(Box<[u8]>),
    /// With the kernel, which may write to it at any time: a raw pointer, for a `Box` would claim that
    /// nobody else does.
    Kernel(NonNull<[u8]>),
    /// Lent to the house inside a chunk.
    Away,
}

/// Receive buffers and the ring through which the kernel takes them. Only a working set is with the
/// kernel, so that few connections touch little memory; it grows when the kernel runs dry.
pub(crate) struct Buffers {
    entries: NonNull<BufRingEntry>,
    layout: Layout,
    mask: u16,
    tail: u16,
    places: Vec<Place>,
    /// Ids of buffers that are home or unmade; the last one used comes first.
    idle: Vec<u16>,
    bytes: usize,
    with_kernel: usize,
    away: usize,
    /// How many buffers the kernel is to have.
    working_set: usize,
    /// The kernel may read the table and write to the buffers it names.
    shared: bool,
}

/// The kernel takes buffers in the order given, so each buffer with it is memory in circulation.
const WORKING_SET_AT_START: usize = 64;

impl Buffers {
    /// At most `count` buffers of `bytes` each; nothing is with the kernel yet.
    pub(crate) fn new(count: usize, bytes: usize) -> Buffers {
        let slots = count.next_power_of_two().clamp(1, 1 << 15);
        let count = count.clamp(1, slots);
        let layout = Layout::from_size_align(slots * size_of::<BufRingEntry>(), 4096)
            .expect("a page-aligned table of at most 512 KiB");
        // SAFETY: the layout is not empty.
        let entries = unsafe { alloc_zeroed(layout) };
        let Some(entries) = NonNull::new(entries.cast::<BufRingEntry>()) else { handle_alloc_error(layout) };
        Buffers {
            entries,
            layout,
            mask: (slots - 1) as u16,
            tail: 0,
            places: (0..count).map(|_| Place::Unmade).collect(),
            idle: (0..count as u16).rev().collect(),
            bytes,
            with_kernel: 0,
            away: 0,
            working_set: WORKING_SET_AT_START.min(count),
            shared: false,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn away(&self) -> usize {
        self.away
    }

    pub(crate) fn with_kernel(&self) -> usize {
        self.with_kernel
    }

    /// Tells the kernel of this ring of buffers.
    ///
    /// # Errors
    /// Where the kernel knows no buffer rings or memory may not be locked.
    pub(crate) fn register(&mut self, ring: &Ring, group: u16) -> io::Result<()> {
        let slots = self.mask + 1;
        // SAFETY: the table is page-aligned and has `slots` zeroed entries; once shared it is freed only
        // after `unregister`.
        unsafe {
            ring.inner().submitter().register_buf_ring_with_flags(
                self.entries.as_ptr() as u64,
                slots,
                group,
                0,
            )?
        };
        self.shared = true;
        Ok(())
    }

    /// Takes the ring of buffers back from the kernel. Without it all that the kernel had is leaked.
    ///
    /// # Safety
    /// No receive may be in flight: one that already holds a buffer would write to freed memory.
    pub(crate) unsafe fn unregister(&mut self, ring: &Ring, group: u16) {
        if ring.inner().submitter().unregister_buf_ring(group).is_err() {
            return;
        }
        self.shared = false;
        for place in &mut self.places {
            if let Place::Kernel(memory) = *place {
                // SAFETY: as in `take`; the kernel has let go of all of them.
                *place = Place::Home(unsafe { Box::from_raw(memory.as_ptr()) });
            }
        }
    }

    /// The kernel ran dry: let it have twice as many.
    pub(crate) fn grow(&mut self) {
        self.working_set = (self.working_set * 2).min(self.places.len());
    }

    /// Buffers are home that the kernel should have.
    #[inline]
    pub(crate) fn can_replenish(&self) -> bool {
        self.with_kernel < self.working_set && !self.idle.is_empty()
    }

    /// Gives the kernel buffers until it has its working set; one store publishes them all.
    pub(crate) fn replenish(&mut self) {
        if !self.can_replenish() {
            return;
        }
        while self.with_kernel < self.working_set {
            let Some(id) = self.idle.pop() else { break };
            let place = &mut self.places[usize::from(id)];
            let memory = match std::mem::replace(place, Place::Away) {
                Place::Home(memory) => memory,
                Place::Unmade => vec![0; self.bytes].into_boxed_slice(),
                Place::Kernel(_) | Place::Away => unreachable!("an idle buffer is home"),
            };
            let memory = NonNull::from(Box::leak(memory));
            *place = Place::Kernel(memory);
            let index = usize::from(self.tail & self.mask);
            // SAFETY: `index` lies inside the table; the kernel does not read this entry before the
            // tail is published below, since at most `mask + 1` buffers exist.
            let entry = unsafe { &mut *self.entries.as_ptr().add(index) };
            entry.set_addr(memory.cast::<u8>().as_ptr() as u64);
            entry.set_len(self.bytes as u32);
            entry.set_bid(id);
            self.tail = self.tail.wrapping_add(1);
            self.with_kernel += 1;
        }
        // SAFETY: the tail is a 16-bit word inside the table's first entry that the kernel reads with
        // acquire; it is aligned, and only this thread writes it.
        unsafe {
            let tail = BufRingEntry::tail(self.entries.as_ptr());
            AtomicU16::from_ptr(tail.cast_mut()).store(self.tail, Ordering::Release);
        }
    }

    /// The kernel has filled buffer `id` and let go of it.
    #[inline]
    pub(crate) fn take(&mut self, id: u16) -> Option<Box<[u8]>> {
        let place = self.places.get_mut(usize::from(id))?;
        let Place::Kernel(memory) = *place else { return None };
        *place = Place::Away;
        self.with_kernel -= 1;
        self.away += 1;
        // SAFETY: the pointer came from a box in `replenish` and was not turned back since; the
        // completion that names `id` says that the kernel is done with it.
        Some(unsafe { Box::from_raw(memory.as_ptr()) })
    }

    /// Buffer `id` comes home from the house. Memory that is not its own is freed.
    #[inline]
    pub(crate) fn give(&mut self, id: u16, memory: Box<[u8]>) {
        match self.places.get_mut(usize::from(id)) {
            Some(place @ Place::Away) if memory.len() == self.bytes => {
                *place = Place::Home(memory);
                self.away -= 1;
                self.idle.push(id);
            }
            _ => debug_assert!(false, "a chunk of this poller"),
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if !self.shared {
            // SAFETY: allocated in `new` with this layout, and the kernel no longer knows of it.
            unsafe { dealloc(self.entries.as_ptr().cast(), self.layout) };
        }
    }
}

/// Parts of one send: at 16 KiB each, half a megabyte.
pub(crate) const MESSAGE_PARTS_MAX: usize = 32;

/// The vector of a send with several parts. Boxed: it must not move while the kernel reads it.
pub(crate) struct Message {
    header: libc::msghdr,
    parts: [libc::iovec; MESSAGE_PARTS_MAX],
}

impl Message {
    pub(crate) fn new() -> Box<Message> {
        // SAFETY: both are plain C structs for which all-zero bytes are valid.
        let header = unsafe { std::mem::zeroed() };
        let empty = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        Box::new(Message { header, parts: [empty; MESSAGE_PARTS_MAX] })
    }

    /// Names `parts`, as many as fit, and returns how many bytes that is.
    pub(crate) fn fill<'a>(&mut self, parts: impl Iterator<Item = &'a [u8]>) -> usize {
        let (mut count, mut bytes) = (0, 0);
        for (slot, part) in self.parts.iter_mut().zip(parts) {
            *slot = libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() };
            count += 1;
            bytes += part.len();
        }
        self.header.msg_iov = self.parts.as_mut_ptr();
        self.header.msg_iovlen = count;
        bytes
    }

    pub(crate) fn header(&self) -> *const libc::msghdr {
        &raw const self.header
    }
}
