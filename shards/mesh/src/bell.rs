//! How a sleeping core is woken, and only a sleeping one. What it sleeps on (a descriptor) and what it looks for
//! (its inboxes) belong to the caller.
//!
//! Two threads meet. The owner: says "asleep", fences, looks at its inboxes, sleeps if they are empty. The
//! producer: publishes, fences, looks whether the owner is asleep, wakes it if so. The fences are ordered one
//! before the other. If the owner's is first, the producer sees "asleep"; if the producer's is first, the owner sees
//! the message. Either way no message waits for a sleeper that nobody wakes.
//!
//! Every write is a swap, though the owner's could be stores: sleeping is rare, and so each write is ordered
//! right behind the one it read, by the letter of the memory model and also in loom, which does not put a swap
//! right behind what it read where plain stores compete with it.

use crate::sync::{AtomicU32, Ordering, fence};

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;

/// One per core.
#[derive(Debug)]
pub struct Bell {
    state: crate::padded::Padded<AtomicU32>,
}

impl Default for Bell {
    fn default() -> Bell {
        Bell::new()
    }
}

/// The producer's fence: everything this thread published before it was made is covered. One serves
/// for the bells of many cores.
#[derive(Debug)]
pub struct Published(());

impl Published {
    /// Fences. On x86 this costs about as much as an atomic read-modify-write, so once per tick is right.
    #[inline]
    pub fn now() -> Published {
        fence(Ordering::SeqCst);
        Published(())
    }
}

impl Bell {
    /// The bell of a core that is awake.
    pub fn new() -> Bell {
        Bell { state: crate::padded::Padded(AtomicU32::new(AWAKE)) }
    }

    /// Owner: I am about to sleep. Look at all inboxes after this; if one has something, or after sleeping, call
    /// `awake`.
    #[inline]
    pub fn intend(&self) {
        self.state.swap(ASLEEP, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Owner: I am not asleep (any more). A producer may have rung in between; its wake-up then comes for
    /// nothing, at the latest at the next sleep.
    #[inline]
    pub fn awake(&self) {
        self.state.swap(AWAKE, Ordering::Relaxed);
    }

    /// Producer, after publishing: `true` means that the owner sleeps and the caller must wake it. Of all
    /// producers one is told so per sleep.
    #[inline]
    pub fn ring(&self) -> bool {
        self.ring_after(&Published::now())
    }

    /// `ring`, with a fence made before: publish to all peers, fence once, then ring each.
    #[inline]
    pub fn ring_after(&self, _published: &Published) -> bool {
        // Awake is the usual case and costs one load of a line that rarely changes.
        self.state.load(Ordering::Relaxed) == ASLEEP && self.state.swap(AWAKE, Ordering::Relaxed) == ASLEEP
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::ring;
    use std::sync::{Condvar, Mutex};

    #[test]
    fn a_core_that_is_awake_is_not_rung() {
        let bell = Bell::new();
        assert!(!bell.ring());
        bell.intend();
        bell.awake();
        assert!(!bell.ring());
    }

    #[test]
    fn one_producer_wakes_a_sleeper() {
        let bell = Bell::default();
        bell.intend();
        let published = Published::now();
        assert!(bell.ring_after(&published));
        assert!(!bell.ring_after(&published) && !bell.ring());
        bell.intend();
        assert!(bell.ring());
    }

    /// Stands for an eventfd.
    #[derive(Default)]
    struct Alarm(Mutex<bool>, Condvar);

    impl Alarm {
        fn raise(&self) {
            *self.0.lock().expect("nobody panics with it") = true;
            self.1.notify_one();
        }

        /// `false`: nobody raised it in ten seconds.
        fn wait(&self) -> bool {
            let raised = self.0.lock().expect("nobody panics with it");
            let limit = std::time::Duration::from_secs(10);
            let result = self.1.wait_timeout_while(raised, limit, |raised| !*raised);
            let (mut raised, timeout) = result.expect("nobody panics with it");
            *raised = false;
            !timeout.timed_out()
        }
    }

    #[test]
    fn no_message_waits_for_a_sleeper() {
        const MESSAGES: u32 = 20_000;
        let (bell, alarm) = (Bell::new(), Alarm::default());
        let (mut sender, mut receiver) = ring(4);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for mut number in 0..MESSAGES {
                    while let Err(back) = sender.stage(number) {
                        number = back;
                        std::thread::yield_now();
                    }
                    sender.publish();
                    if bell.ring() {
                        alarm.raise();
                    }
                }
            });
            let mut expected = 0;
            while expected < MESSAGES {
                bell.intend();
                if receiver.visible() == 0 {
                    assert!(alarm.wait(), "message {expected} was slept over");
                }
                bell.awake();
                while let Some(number) = receiver.pop() {
                    assert_eq!(number, expected);
                    expected += 1;
                }
            }
        });
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::{Receiver, ring};
    use loom::sync::{Arc, Condvar, Mutex, atomic::AtomicUsize};
    use loom::thread;

    /// Stands for an eventfd: a wait that nobody ends is a deadlock, which loom reports.
    struct Alarm(Mutex<bool>, Condvar);

    impl Alarm {
        fn raise(&self) {
            *self.0.lock().expect("nobody panics with it") = true;
            self.1.notify_one();
        }

        fn wait(&self) {
            let mut raised = self.0.lock().expect("nobody panics with it");
            while !*raised {
                raised = self.1.wait(raised).expect("nobody panics with it");
            }
            *raised = false;
        }
    }

    struct Core {
        bell: Bell,
        alarm: Alarm,
        rung: AtomicUsize,
    }

    impl Core {
        fn new() -> Arc<Core> {
            let alarm = Alarm(Mutex::new(false), Condvar::new());
            Arc::new(Core { bell: Bell::new(), alarm, rung: AtomicUsize::new(0) })
        }

        fn wake(&self) {
            if self.bell.ring() {
                self.rung.fetch_add(1, Ordering::Relaxed);
                self.alarm.raise();
            }
        }

        /// One sleep at most; returns how many messages there were after it.
        fn rest(&self, inboxes: &mut [Receiver<u32>]) -> usize {
            self.bell.intend();
            if inboxes.iter_mut().all(|inbox| inbox.visible() == 0) {
                self.alarm.wait();
            }
            self.bell.awake();
            inboxes.iter_mut().flat_map(|inbox| std::iter::from_fn(|| inbox.pop())).count()
        }
    }

    /// Producers publish so many messages each and wake after each; the owner rests until it has them all.
    ///
    /// With three threads there are too many interleavings to try them all in seconds: `switches` bounds how often
    /// a thread is interrupted in one of them.
    fn model(messages: &'static [u32], switches: Option<usize>) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = switches.or(builder.preemption_bound);
        builder.check(move || {
            let core = Core::new();
            let (senders, mut inboxes): (Vec<_>, Vec<_>) = messages.iter().map(|_| ring(2)).unzip();
            let producers: Vec<_> = (senders.into_iter().zip(messages))
                .map(|(mut sender, count)| {
                    let core = core.clone();
                    thread::spawn(move || {
                        for number in 0..*count {
                            sender.stage(number).expect("the ring is large enough");
                            sender.publish();
                            core.wake();
                        }
                    })
                })
                .collect();
            let (mut seen, mut rests) = (0, 0);
            while seen < messages.iter().sum::<u32>() as usize {
                seen += core.rest(&mut inboxes);
                rests += 1;
            }
            producers.into_iter().for_each(|producer| producer.join().expect("a producer does not panic"));
            assert!(core.rung.load(Ordering::Relaxed) <= rests, "at most one producer wakes per rest");
        });
    }

    #[test]
    fn loom_no_message_waits_for_a_sleeper() {
        model(&[1], None);
    }

    #[test]
    fn loom_no_message_waits_for_a_sleeper_that_sleeps_again() {
        model(&[2], None);
    }

    #[test]
    fn loom_one_of_two_producers_wakes_a_sleeper() {
        model(&[1, 1], Some(2));
    }
}
