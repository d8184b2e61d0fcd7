//! Spin, back off, sleep: when a core that found nothing to do goes to sleep, and how it is woken.
//! What it sleeps on belongs to its first poller.

use mesh::Bell;
use rustix::event::{EventfdFlags, eventfd};
use spec::setting::Poll;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

/// Wakes one core: a flag that says whether it sleeps, and the descriptor it sleeps on.
#[derive(Clone)]
pub struct Waker {
    bell: Arc<Bell>,
    descriptor: Arc<OwnedFd>,
}

impl Waker {
    /// The waker of a core that is awake.
    ///
    /// # Errors
    /// Where the system has no descriptor left.
    pub fn new() -> io::Result<Waker> {
        let descriptor = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Waker { bell: Arc::new(Bell::new()), descriptor: Arc::new(descriptor) })
    }

    /// Wakes the core if it sleeps; call after publishing. Returns whether it slept.
    #[inline]
    pub fn wake(&self) -> bool {
        let slept = self.bell.ring();
        if slept {
            self.alarm();
        }
        slept
    }

    /// The same under a fence made before, for a publisher to many.
    #[inline]
    pub fn wake_after(&self, published: &mesh::Published) -> bool {
        let slept = self.bell.ring_after(published);
        if slept {
            self.alarm();
        }
        slept
    }

    fn alarm(&self) {
        // A full counter is readable already: the sleeper wakes either way.
        let _ = rustix::io::write(&*self.descriptor, &1u64.to_ne_bytes());
    }

    /// Owner: takes back alarms that were rung.
    pub fn hush(&self) {
        let _ = rustix::io::read(&*self.descriptor, &mut [0u8; 8]);
    }

    /// The owner's flag.
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    /// What the owner sleeps on.
    pub fn descriptor(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

/// When a core sleeps.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    poll: Poll,
    /// Spinning takes time from nobody.
    alone: bool,
    spin_ns: u64,
    idle_since_ns: Option<u64>,
}

impl Idle {
    /// A policy; `alone`: the core has a physical core to itself, and no quota; `spin_us`: how long an
    /// adaptive core then spins before it sleeps.
    pub fn new(poll: Poll, alone: bool, spin_us: u64) -> Idle {
        Idle { poll, alone, spin_ns: spin_us * 1000, idle_since_ns: None }
    }

    /// Changes the policy.
    pub fn set(&mut self, poll: Poll) {
        self.poll = poll;
    }

    /// After a tick: whether to sleep now.
    #[inline]
    pub fn sleeps(&mut self, useful: bool, now_ns: u64) -> bool {
        match self.poll {
            Poll::Busy => false,
            Poll::Sleep => true,
            Poll::Adaptive if !self.alone => true,
            Poll::Adaptive => {
                if useful {
                    self.idle_since_ns = None;
                    return false;
                }
                let since = *self.idle_since_ns.get_or_insert(now_ns);
                now_ns.saturating_sub(since) >= self.spin_ns
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_alone_spins_first_and_others_do_not() {
        let mut alone = Idle::new(Poll::Adaptive, true, 50);
        assert!(!alone.sleeps(true, 0));
        assert!(!alone.sleeps(false, 1_000));
        assert!(alone.sleeps(false, 51_000));
        assert!(!alone.sleeps(true, 100_000), "work starts the spin anew");
        assert!(!alone.sleeps(false, 110_000));
        assert!(Idle::new(Poll::Adaptive, false, 50).sleeps(true, 0));
        assert!(!Idle::new(Poll::Busy, false, 50).sleeps(false, u64::MAX));
    }

    #[test]
    fn an_alarm_is_rung_once_for_a_sleeper() {
        let waker = Waker::new().expect("a descriptor");
        assert!(!waker.wake());
        waker.bell().intend();
        assert!(waker.wake());
        assert!(!waker.wake());
        waker.hush();
    }
}
