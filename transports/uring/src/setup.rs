//! Bring-up: finds the best ring this kernel and these limits allow, proves it with one operation, or
//! says why there is none. Knows nothing of links.

use crate::sys::{Buffers, Ring, Wait};
use crate::token::{Kind, pack_index};
use io_uring::{IoUring, Probe, opcode, types};
use port::sockets::SocketOptions;
use std::fmt;
use std::io;
use std::time::Duration;

/// The one group of receive buffers.
pub(crate) const BUFFER_GROUP: u16 = 0;

/// Submission entries asked for at first, then halved while memory may not be locked.
const ENTRIES: [u32; 6] = [1024, 512, 256, 128, 64, 32];

/// Completion entries per submission entry: links in flight outnumber submissions.
const COMPLETIONS_PER_ENTRY: u32 = 4;

/// Why io_uring cannot be used here; the house then takes the epoll driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UringDenied {
    /// What the kernel said.
    pub errno: i32,
    /// What was tried and what that errno usually means there.
    pub what: String,
}

impl fmt::Display for UringDenied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.what, io::Error::from_raw_os_error(self.errno))
    }
}

impl std::error::Error for UringDenied {}

impl UringDenied {
    fn from(error: &io::Error, step: &str) -> UringDenied {
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        let cause = match errno {
            libc::EPERM | libc::EACCES => "denied by a seccomp filter or by kernel.io_uring_disabled",
            libc::ENOSYS => "this kernel or sandbox has no io_uring",
            libc::ENOMEM => "RLIMIT_MEMLOCK is too low for even a small ring",
            libc::EMFILE | libc::ENFILE => "no descriptor is left for the ring",
            libc::EINVAL | libc::EOPNOTSUPP => "this kernel is too old: Linux 6.0 is needed",
            _ => "unexpected",
        };
        UringDenied { errno, what: format!("io_uring {step}: {cause}") }
    }
}

/// Kinds of rings, best first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Completions are worked out when this thread asks, and a flag says that it should.
    Defer { submission_array: bool },
    /// Completions are worked out at any system call, and a flag says that one is due.
    Cooperative,
    /// Completions interrupt this thread.
    Plain,
}

impl Mode {
    const ALL: [Mode; 4] = [
        Mode::Defer { submission_array: false },
        Mode::Defer { submission_array: true },
        Mode::Cooperative,
        Mode::Plain,
    ];

    fn build(self, entries: u32) -> io::Result<IoUring> {
        let mut builder = IoUring::builder();
        builder.setup_cqsize(entries * COMPLETIONS_PER_ENTRY).setup_clamp().setup_submit_all().dontfork();
        match self {
            Mode::Defer { submission_array } => {
                builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag();
                if !submission_array {
                    builder.setup_no_sqarray();
                }
            }
            Mode::Cooperative => {
                builder.setup_coop_taskrun().setup_taskrun_flag();
            }
            Mode::Plain => {}
        }
        builder.build(entries)
    }

    fn name(self) -> &'static str {
        match self {
            Mode::Defer { submission_array: false } => "defer-taskrun",
            Mode::Defer { submission_array: true } => "defer-taskrun with submission array",
            Mode::Cooperative => "coop-taskrun",
            Mode::Plain => "plain",
        }
    }
}

/// A ring that has been proven, its buffers, and what they are.
pub(crate) struct BroughtUp {
    pub(crate) ring: Ring,
    pub(crate) buffers: Buffers,
    pub(crate) description: String,
}

/// Finds the best ring. Must run on the thread that will use it.
///
/// # Errors
/// Why there is none.
pub(crate) fn bring_up(options: &SocketOptions) -> Result<BroughtUp, UringDenied> {
    let mut denied = None;
    for mode in Mode::ALL {
        for entries in ENTRIES {
            match try_ring(mode, entries, options) {
                Ok(found) => return Ok(found),
                Err((error, step)) => {
                    let errno = error.raw_os_error();
                    denied = Some(UringDenied::from(&error, step));
                    match errno {
                        // Only a smaller ring can help.
                        Some(libc::ENOMEM) => {}
                        // Nothing will help.
                        Some(libc::EPERM | libc::EACCES | libc::ENOSYS | libc::EMFILE | libc::ENFILE) => {
                            return Err(denied.expect("just set"));
                        }
                        // A plainer ring may help.
                        _ => break,
                    }
                }
            }
        }
    }
    Err(denied.expect("at least one ring was tried"))
}

pub(crate) fn try_ring(
    mode: Mode,
    entries: u32,
    options: &SocketOptions,
) -> Result<BroughtUp, (io::Error, &'static str)> {
    let ring = mode.build(entries).map_err(|error| (error, "setup"))?;
    let size = (ring.params().sq_entries(), ring.params().cq_entries());
    let mut ring = Ring::new(ring);
    check_operations(&ring).map_err(|error| (error, "operations"))?;
    let mut buffers = Buffers::new(options.receive_chunks, options.chunk_bytes);
    buffers.register(&ring, BUFFER_GROUP).map_err(|error| (error, "buffer ring"))?;
    prove(&mut ring).map_err(|error| (error, "first operation"))?;
    buffers.replenish();
    let napi = register_napi(&ring, options);
    let description = format!(
        "io_uring ({}, {}/{}, {}x{} buffers{napi})",
        mode.name(),
        size.0,
        size.1,
        buffers.count(),
        bytes_text(options.chunk_bytes),
    );
    Ok(BroughtUp { ring, buffers, description })
}

fn bytes_text(bytes: usize) -> String {
    if bytes.is_multiple_of(1024) { format!("{}KiB", bytes / 1024) } else { format!("{bytes}B") }
}

/// Multishot receive itself cannot be asked for; it came with the same kernel as zero-copy send.
fn check_operations(ring: &Ring) -> io::Result<()> {
    let mut probe = Probe::new();
    ring.inner().submitter().register_probe(&mut probe)?;
    let needed = [
        opcode::RecvMulti::CODE,
        opcode::AcceptMulti::CODE,
        opcode::Send::CODE,
        opcode::SendMsg::CODE,
        opcode::AsyncCancel::CODE,
        opcode::PollAdd::CODE,
        opcode::SendZc::CODE,
    ];
    if needed.into_iter().all(|code| probe.is_supported(code)) {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
    }
}

/// One operation through the whole ring: a filter may let the ring be made and deny its use.
fn prove(ring: &mut Ring) -> io::Result<()> {
    assert!(ring.push_nothing(pack_index(Kind::Nothing, 0)), "a new ring has room");
    let mut found = Vec::with_capacity(1);
    for _ in 0..10 {
        ring.enter(Wait::for_one(Some(Duration::from_millis(100))))?;
        ring.harvest(1, &mut found);
        if !found.is_empty() {
            return Ok(());
        }
    }
    Err(io::Error::from_raw_os_error(libc::ETIME))
}

/// Asks for NAPI busy polling; a kernel or device without it only costs the wish.
fn register_napi(ring: &Ring, options: &SocketOptions) -> String {
    let us = options.napi_busy_poll_us;
    if us == 0 {
        return String::new();
    }
    let mut napi =
        types::Napi::new().set_busy_poll_timeout(us).set_prefer_busy_poll(options.prefer_busy_poll);
    match ring.inner().submitter().register_napi(&mut napi) {
        Ok(()) => format!(", napi {us} us"),
        Err(error) => format!(", no napi: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn napi_is_registered_with_the_time_asked_for_or_its_refusal_is_told() {
        let with = |napi_busy_poll_us| {
            let options = SocketOptions { napi_busy_poll_us, ..SocketOptions::default() };
            bring_up(&options)
        };
        let (Ok(without), Ok(with)) = (with(0), with(73)) else {
            eprintln!("skipped: io_uring is not allowed here");
            return;
        };
        assert!(!without.description.contains("napi"), "{}", without.description);
        let mut held = types::Napi::new();
        let taken = with.ring.inner().submitter().unregister_napi(&mut held);
        match with.description {
            text if text.contains(", napi 73 us)") => {
                taken.expect("it was registered");
                assert_eq!(held.busy_poll_timeout(), 73, "what the kernel held until now");
            }
            text => assert!(text.contains(", no napi: "), "{text}"),
        }
    }

    #[test]
    fn each_errno_is_explained() {
        for (errno, word) in [
            (libc::EPERM, "seccomp"),
            (libc::ENOSYS, "no io_uring"),
            (libc::ENOMEM, "RLIMIT_MEMLOCK"),
            (libc::EINVAL, "too old"),
            (libc::EMFILE, "descriptor"),
        ] {
            let denied = UringDenied::from(&io::Error::from_raw_os_error(errno), "setup");
            assert_eq!(denied.errno, errno);
            assert!(denied.to_string().contains(word), "{denied}");
        }
    }
}
