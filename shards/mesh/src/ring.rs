//! A bounded ring from one core to another: one writer, one reader, no locks, no waiting.
//!
//! Messages are staged, which writes them to slots nobody looks at, and published by one store for all of
//! them. The reader takes what is published and gives slots back in batches. Each side keeps a copy of the
//! other's index and looks at the shared one only when the copy says full or empty; so a batch costs each side
//! about one transfer of a cache line, besides the slots.
//!
//! Indices grow without end and are masked on use: `head <= released reads <= tail`, `tail - head <= capacity`.
#![allow(unsafe_code)]

use crate::padded::Padded;
use crate::sync::{Arc, AtomicUsize, Ordering, UnsafeCell};
use std::fmt;
use std::mem::MaybeUninit;

struct Shared<T> {
    /// Messages below it are published. Written by the sender alone.
    tail: Padded<AtomicUsize>,
    /// Slots of messages below it are free again. Written by the receiver alone.
    head: Padded<AtomicUsize>,
    /// A power of two of them.
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

// SAFETY: a slot is touched by one side at a time: by the sender from the `head` it acquired up to the `tail` it
// will store, by the receiver from there up to the `tail` it acquired. The stores are releases, so whoever
// touches a slot next sees what the other did. Values cross threads, so T must be Send.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: as above; nothing in it is tied to a thread.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    #[inline(always)]
    fn slot(&self, index: usize) -> &UnsafeCell<MaybeUninit<T>> {
        &self.slots[index & (self.slots.len() - 1)]
    }

    /// Moves the message out of its slot.
    ///
    /// # Safety
    /// The caller alone may touch this slot now, it holds a message, and the caller takes care that nobody
    /// reads it again.
    #[inline(always)]
    unsafe fn take(&self, index: usize) -> T {
        // SAFETY: the caller's promise: no other access, and the slot was written.
        self.slot(index).with(|slot| unsafe { (*slot).assume_init_read() })
    }

    /// Drops the messages of `range`, under the promise of `take`.
    ///
    /// # Safety
    /// As for `take`, for every index of the range.
    unsafe fn drop_range(&self, from: usize, to: usize) {
        let mut index = from;
        while index != to {
            // SAFETY: the caller's promise.
            drop(unsafe { self.take(index) });
            index = index.wrapping_add(1);
        }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Both ends are gone (they released what they had read and dropped what they had not published), and
        // dropping the last `Arc` has made their stores visible here.
        let (head, tail) = (self.head.load(Ordering::Relaxed), self.tail.load(Ordering::Relaxed));
        // SAFETY: no one else is left, and what lies from head to tail was published and not read.
        unsafe { self.drop_range(head, tail) };
    }
}

/// Makes a ring of `capacity_pow2` slots, a power of two.
pub fn ring<T: Send>(capacity_pow2: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity_pow2.is_power_of_two(), "a ring's capacity is a power of two");
    assert!(capacity_pow2 <= 1 << 31, "a ring's capacity is at most 2^31");
    let shared = Arc::new(Shared {
        tail: Padded(AtomicUsize::new(0)),
        head: Padded(AtomicUsize::new(0)),
        slots: (0..capacity_pow2).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect(),
    });
    let sender = Sender { shared: shared.clone(), tail: 0, published: 0, head_seen: 0 };
    let release_batch = (capacity_pow2 / 4).max(1);
    (sender, Receiver { shared, head: 0, released: 0, tail_seen: 0, release_batch })
}

/// The writing end.
pub struct Sender<T: Send> {
    shared: Arc<Shared<T>>,
    /// Where the next message goes.
    tail: usize,
    /// What `shared.tail` says: messages from here to `tail` are staged.
    published: usize,
    /// `shared.head` when last looked at; it may have grown since.
    head_seen: usize,
}

impl<T: Send> Sender<T> {
    /// Writes a message that stays invisible until `publish`. A full ring gives it back: back-pressure.
    #[inline]
    pub fn stage(&mut self, message: T) -> Result<(), T> {
        if self.tail.wrapping_sub(self.head_seen) == self.capacity() && self.look() == 0 {
            return Err(message);
        }
        // SAFETY: the slot is at or above the published tail, so the receiver does not touch it, and less than
        // the capacity above a head that was acquired, so the receiver is done with what was there.
        self.shared.slot(self.tail).with_mut(|slot| unsafe { (*slot).write(message) });
        self.tail = self.tail.wrapping_add(1);
        Ok(())
    }

    /// Makes all staged messages visible with one store; returns how many they were.
    #[inline]
    pub fn publish(&mut self) -> usize {
        let staged = self.staged();
        if staged > 0 {
            // Release: whoever acquires this tail sees the slots below it.
            self.shared.tail.store(self.tail, Ordering::Release);
            self.published = self.tail;
        }
        staged
    }

    /// How many messages are staged.
    #[inline]
    pub fn staged(&self) -> usize {
        self.tail.wrapping_sub(self.published)
    }

    /// At least how many more can be staged now. Looks at the reader's progress only where the last look
    /// says fewer than `wanted`.
    #[inline]
    pub fn room_for(&mut self, wanted: usize) -> usize {
        let room = self.capacity() - self.tail.wrapping_sub(self.head_seen);
        if room >= wanted { room } else { self.look() }
    }

    /// Whether anything can be staged now, and at least how much. Looks at the reader's progress only where the
    /// last look says nothing can.
    #[inline]
    pub fn room(&mut self) -> usize {
        self.room_for(1)
    }

    /// Number of slots.
    #[inline(always)]
    pub fn capacity(&self) -> usize {
        self.shared.slots.len()
    }

    /// Looks how far the reader is; returns the room there is.
    #[cold]
    fn look(&mut self) -> usize {
        // Acquire: the reader has moved out of the slots below it.
        self.head_seen = self.shared.head.load(Ordering::Acquire);
        self.capacity() - self.tail.wrapping_sub(self.head_seen)
    }
}

impl<T: Send> Drop for Sender<T> {
    /// Drops what is staged; what is published stays for the reader.
    fn drop(&mut self) {
        // SAFETY: staged slots are the sender's, each holds a message, and none will be published.
        unsafe { self.shared.drop_range(self.published, self.tail) };
    }
}

impl<T: Send> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sender({} staged, capacity {})", self.staged(), self.capacity())
    }
}

/// The reading end.
pub struct Receiver<T: Send> {
    shared: Arc<Shared<T>>,
    /// The next message to take.
    head: usize,
    /// What `shared.head` says: slots from here to `head` are taken and not yet given back.
    released: usize,
    /// `shared.tail` when last looked at; it may have grown since.
    tail_seen: usize,
    /// Give slots back after so many, so that a long drain does not starve the writer.
    release_batch: usize,
}

impl<T: Send> Receiver<T> {
    /// Takes the next published message. Slots go back to the writer in batches, and all of them when this
    /// says `None`.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.head == self.tail_seen && self.visible() == 0 {
            self.release();
            return None;
        }
        // SAFETY: the slot lies below a tail that was acquired, so it holds a message and the sender stays away
        // until `release`; `head` moves on, so it is taken once.
        let message = unsafe { self.shared.take(self.head) };
        self.head = self.head.wrapping_add(1);
        if self.head.wrapping_sub(self.released) >= self.release_batch {
            self.release();
        }
        Some(message)
    }

    /// How many messages can be taken now. Whoever read `Board::settled_below` before this call finds
    /// everything it spoke of among them.
    #[inline]
    pub fn visible(&mut self) -> usize {
        // Acquire: the slots below it were written.
        self.tail_seen = self.shared.tail.load(Ordering::Acquire);
        self.tail_seen.wrapping_sub(self.head)
    }

    /// Gives the slots of all messages taken back to the writer.
    #[inline]
    pub fn release(&mut self) {
        if self.released != self.head {
            // Release: the messages were moved out before.
            self.shared.head.store(self.head, Ordering::Release);
            self.released = self.head;
        }
    }
}

impl<T: Send> Drop for Receiver<T> {
    /// Leaves what was not taken to be dropped with the ring.
    fn drop(&mut self) {
        self.release();
    }
}

impl<T: Send> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Receiver({} taken and kept)", self.head.wrapping_sub(self.released))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::sync::Arc as Counted;

    #[test]
    fn staged_messages_are_invisible_until_published() {
        let (mut sender, mut receiver) = ring(4);
        assert_eq!((sender.stage(1), sender.stage(2)), (Ok(()), Ok(())));
        assert_eq!((receiver.visible(), receiver.pop()), (0, None));
        assert_eq!((sender.staged(), sender.publish(), sender.staged()), (2, 2, 0));
        assert_eq!(receiver.visible(), 2);
        assert_eq!((receiver.pop(), receiver.pop(), receiver.pop()), (Some(1), Some(2), None));
        assert_eq!(sender.publish(), 0);
    }

    #[test]
    fn a_full_ring_gives_the_message_back() {
        let (mut sender, mut receiver) = ring(2);
        assert_eq!((sender.stage('a'), sender.stage('b'), sender.stage('c')), (Ok(()), Ok(()), Err('c')));
        assert_eq!(sender.room(), 0);
        sender.publish();
        assert_eq!(receiver.pop(), Some('a'));
        assert_eq!(sender.room(), 1);
        assert_eq!((sender.stage('c'), sender.stage('d')), (Ok(()), Err('d')));
        assert_eq!(sender.publish(), 1);
        assert_eq!((receiver.pop(), receiver.pop(), receiver.pop()), (Some('b'), Some('c'), None));
    }

    #[test]
    fn slots_come_back_in_batches_and_when_the_ring_is_drained() {
        let (mut sender, mut receiver) = ring(16);
        (0..16).for_each(|number| assert_eq!(sender.stage(number), Ok(())));
        sender.publish();
        (0..3).for_each(|number| assert_eq!(receiver.pop(), Some(number)));
        assert_eq!(sender.room(), 0, "three slots are kept");
        assert_eq!(receiver.pop(), Some(3));
        assert_eq!(sender.room(), 4, "a quarter of the ring goes back at once");
        assert_eq!(receiver.pop(), Some(4));
        assert_eq!(sender.room_for(5), 4);
        receiver.release();
        assert_eq!((sender.room(), sender.room_for(5)), (4, 5), "room looks again only where it has to");
        while receiver.pop().is_some() {}
        assert_eq!(sender.room_for(16), 16);
    }

    #[test]
    fn each_message_is_dropped_once_wherever_it_is() {
        let counted = Counted::new(());
        let (mut sender, mut receiver) = ring(8);
        for _ in 0..5 {
            assert!(sender.stage(counted.clone()).is_ok());
        }
        sender.publish();
        assert!(sender.stage(counted.clone()).is_ok() && sender.stage(counted.clone()).is_ok());
        let taken = receiver.pop();
        drop(receiver.pop());
        assert_eq!(Counted::strong_count(&counted), 7);
        drop(sender);
        assert_eq!(Counted::strong_count(&counted), 5, "the two staged ones are gone");
        assert!(receiver.pop().is_some(), "published messages outlive the sender");
        drop(receiver);
        assert_eq!(Counted::strong_count(&counted), 2);
        drop(taken);
        assert_eq!(Counted::strong_count(&counted), 1);
    }

    #[test]
    fn the_sender_may_outlive_the_receiver() {
        let counted = Counted::new(());
        let (mut sender, mut receiver) = ring(2);
        assert!(sender.stage(counted.clone()).is_ok() && sender.publish() == 1);
        drop(receiver.pop());
        drop(receiver);
        assert!(sender.stage(counted.clone()).is_ok() && sender.stage(counted.clone()).is_ok());
        assert!(sender.stage(counted.clone()).is_err());
        sender.publish();
        drop(sender);
        assert_eq!(Counted::strong_count(&counted), 1);
    }

    #[test]
    fn any_order_of_calls_does_what_a_queue_does() {
        let mut seed = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % below
        };
        for capacity in [1, 2, 4, 64] {
            let (mut sender, mut receiver) = ring(capacity);
            let (mut staged, mut published, mut next) = (VecDeque::new(), VecDeque::new(), 0u64);
            for _ in 0..20_000 {
                match random(5) {
                    0 | 1 => match sender.stage(Box::new(next)) {
                        Ok(()) => {
                            staged.push_back(next);
                            next += 1;
                        }
                        Err(message) => assert_eq!(*message, next),
                    },
                    2 => {
                        assert_eq!(sender.publish(), staged.len());
                        published.append(&mut staged);
                    }
                    3 => assert_eq!(receiver.pop().map(|message| *message), published.pop_front()),
                    _ => {
                        receiver.release();
                        let room = capacity - staged.len() - published.len();
                        assert_eq!(sender.room_for(capacity), room);
                        assert_eq!(receiver.visible(), published.len());
                    }
                }
            }
        }
    }

    #[test]
    fn two_threads_lose_nothing_and_keep_the_order() {
        let (mut sender, mut receiver) = ring(64);
        const MESSAGES: u64 = 300_000;
        let writer = std::thread::spawn(move || {
            for number in 0..MESSAGES {
                let mut message = Box::new([number; 3]);
                while let Err(back) = sender.stage(message) {
                    message = back;
                    sender.publish();
                    std::thread::yield_now();
                }
                if number % 7 == 0 {
                    sender.publish();
                }
            }
            sender.publish();
        });
        let mut expected = 0;
        while expected < MESSAGES {
            match receiver.pop() {
                Some(message) => {
                    assert_eq!(*message, [expected; 3]);
                    expected += 1;
                }
                None => std::thread::yield_now(),
            }
        }
        assert_eq!(receiver.pop(), None);
        writer.join().expect("the writer does not panic");
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::thread;
    use std::sync::Arc as Counted;

    /// Takes the next message, giving way while there is none.
    fn take<T: Send>(receiver: &mut Receiver<T>) -> T {
        loop {
            match receiver.pop() {
                Some(message) => return message,
                None => thread::yield_now(),
            }
        }
    }

    #[test]
    fn loom_messages_arrive_once_and_in_order_through_a_ring_that_fills() {
        loom::model(|| {
            let (mut sender, mut receiver) = ring(2);
            let writer = thread::spawn(move || {
                for number in 0..4 {
                    let mut message = Box::new(number);
                    while let Err(back) = sender.stage(message) {
                        message = back;
                        sender.publish();
                        thread::yield_now();
                    }
                }
                sender.publish();
            });
            for number in 0..4 {
                assert_eq!(*take(&mut receiver), number);
            }
            writer.join().expect("the writer does not panic");
            assert_eq!(receiver.pop(), None);
        });
    }

    #[test]
    fn loom_what_is_published_together_is_seen_together() {
        loom::model(|| {
            let (mut sender, mut receiver) = ring(4);
            let writer = thread::spawn(move || {
                for number in 0..3 {
                    assert_eq!(sender.stage(number), Ok(()));
                }
                assert_eq!(sender.publish(), 3);
            });
            match receiver.visible() {
                0 => {}
                visible => assert_eq!((visible, receiver.pop(), receiver.pop()), (3, Some(0), Some(1))),
            }
            writer.join().expect("the writer does not panic");
        });
    }

    #[test]
    fn loom_every_message_is_dropped_once_however_the_ends_go() {
        loom::model(|| {
            let counted = Counted::new(());
            // Large enough that a message taken is not given back at once.
            let (mut sender, mut receiver) = ring(8);
            let message = counted.clone();
            let writer = thread::spawn(move || {
                assert!(sender.stage(message.clone()).is_ok());
                sender.publish();
                assert!(sender.stage(message).is_ok());
                drop(sender);
            });
            drop(receiver.pop());
            drop(receiver);
            writer.join().expect("the writer does not panic");
            assert_eq!(Counted::strong_count(&counted), 1);
        });
    }
}
