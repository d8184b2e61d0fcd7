//! What every core tells all others: which transactions it may still have in its hands. It holds
//! numbers only; what a transaction is, and the rings it travels by, are not known here.
//!
//! The promise. Transactions have ids, drawn from one counter. A core that draws some tells their shards by
//! messages on rings. `settled_below` returns a number s such that every message for an id below s was
//! published before the call returned. A shard that calls it and then drains its inboxes has them all: nothing
//! with an id below s can reach it later for the first time.
//!
//! The protocol. To draw, a core first marks its seat with a number that is not above the ids it will get
//! (the counter as it was), then takes the ids with an atomic add. After it has published the messages it sets the
//! seat to `IDLE`. A reader loads the counter c, then every seat, and returns the least of them all.
//!
//! Why it holds. Say a reader returns s, and core k drew an id i < s by the add A.
//! 1. i < s <= c, so the load of the counter read A's value or a later one. All later values were written by
//!    atomic adds too, which continue the release sequence that A heads; the load acquires, so A happens before it.
//! 2. k's mark m <= i was stored before A. So that store happens before the reader's load of k's seat, which
//!    therefore reads m or something k stored later. Had it read m, then s <= m <= i: a contradiction.
//! 3. What k stores in its seat after m it stores after publishing i: first IDLE, and then perhaps other marks.
//!    Each such store releases and the reader's load acquires. So the publication happens before the load, and
//!    a later look at the ring's tail sees it.
//!
//! The order within the reader matters: the counter first. With the seats first, a core could mark, draw and be
//! counted between the two. No sequentially consistent access is needed, and none is made.

use crate::padded::Padded;
use crate::sync::{Arc, AtomicU64, Ordering, peek};

/// In a seat: nothing is staged.
const IDLE: u64 = u64::MAX;

/// `open` of a core that has no open transaction.
pub const NONE_OPEN: u64 = u64::MAX;

/// Written by its core alone, read by all.
#[derive(Debug)]
struct Seat {
    /// No id drawn and not yet published is below it.
    staging: AtomicU64,
    /// No transaction of the core with an id below it is unfinished.
    open: AtomicU64,
}

/// One seat per core, and the counter that ids are drawn from. Ids start at 1.
///
/// A seat belongs to one thread: `draw`, `published` and `set_open` are for the core that is named.
#[derive(Debug)]
pub struct Board {
    /// The next id.
    next: Padded<AtomicU64>,
    seats: Box<[Padded<Seat>]>,
}

impl Board {
    /// A board for `cores` cores.
    pub fn new(cores: usize) -> Arc<Board> {
        let seat = || Padded(Seat { staging: AtomicU64::new(IDLE), open: AtomicU64::new(NONE_OPEN) });
        Arc::new(Board { next: Padded(AtomicU64::new(1)), seats: (0..cores).map(|_| seat()).collect() })
    }

    /// Draws `count` ids for `core`; returns the first. Until `published` nobody takes them for settled.
    #[inline]
    pub fn draw(&self, core: usize, count: u64) -> u64 {
        let seat = &self.seats[core];
        if peek(&seat.staging) == IDLE {
            // Not above what the add will return: both are of this thread, on one atomic.
            let mark = peek(&self.next);
            // Release, for step 3: a reader of this mark sees what was published before it.
            seat.staging.store(mark, Ordering::Release);
        }
        // Release, for step 1: a reader that counts these ids sees the mark.
        self.next.fetch_add(count, Ordering::Release)
    }

    /// All messages for ids that `core` drew are published. Call after `Sender::publish`.
    #[inline]
    pub fn published(&self, core: usize) {
        let staging = &self.seats[core].staging;
        if peek(staging) != IDLE {
            staging.store(IDLE, Ordering::Release);
        }
    }

    /// Messages for every id below this were published by their cores before this call returned: drain the
    /// inboxes after it, and they are all there. Of its own ids `reader` knows better: its own seat is not
    /// looked at.
    #[inline]
    pub fn settled_below(&self, reader: usize) -> u64 {
        let counted = self.next.load(Ordering::Acquire);
        let seats = self.seats.iter().enumerate().filter(|(core, _)| *core != reader);
        seats.fold(counted, |least, (_, seat)| least.min(seat.staging.load(Ordering::Acquire)))
    }

    /// The lowest id of `core` that is not finished everywhere, or `NONE_OPEN`. Lower it before the messages
    /// of a new transaction are published: who has such a message must not read an older value.
    #[inline]
    pub fn set_open(&self, core: usize, lowest_open: u64) {
        self.seats[core].open.store(lowest_open, Ordering::Release);
    }

    /// Transactions of `core` below this id are finished everywhere, among those the caller has heard of.
    #[inline]
    pub fn open(&self, core: usize) -> u64 {
        self.seats[core].open.load(Ordering::Acquire)
    }

    /// How many cores have a seat.
    pub fn cores(&self) -> usize {
        self.seats.len()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Receiver, Sender, ring};
    use std::sync::atomic::AtomicBool;

    #[test]
    fn ids_start_at_one_and_are_drawn_in_runs() {
        let board = Board::new(2);
        assert_eq!(board.settled_below(0), 1);
        assert_eq!((board.draw(0, 1), board.draw(1, 3), board.draw(0, 1)), (1, 2, 5));
        assert_eq!(board.cores(), 2);
    }

    #[test]
    fn drawn_ids_are_settled_once_they_are_published() {
        let board = Board::new(3);
        assert_eq!(board.draw(0, 1), 1);
        assert_eq!(board.draw(1, 1), 2);
        assert_eq!((board.settled_below(2), board.settled_below(0), board.settled_below(1)), (1, 2, 1));
        board.published(0);
        assert_eq!(board.settled_below(2), 2);
        assert_eq!(board.draw(1, 1), 3, "a second draw keeps the lower mark");
        assert_eq!(board.settled_below(2), 2);
        board.published(1);
        assert_eq!(board.settled_below(2), 4);
    }

    #[test]
    fn open_transactions_are_shown_per_core() {
        let board = Board::new(2);
        assert_eq!((board.open(0), board.open(1)), (NONE_OPEN, NONE_OPEN));
        board.set_open(1, 7);
        assert_eq!((board.open(0), board.open(1)), (NONE_OPEN, 7));
    }

    fn draw_and_send(board: &Board, core: usize, sender: &mut Sender<u64>, rounds: u64) {
        for round in 0..rounds {
            let count = round % 3 + 1;
            let first = board.draw(core, count);
            for mut id in first..first + count {
                while let Err(back) = sender.stage(id) {
                    id = back;
                    sender.publish();
                    std::thread::yield_now();
                }
            }
            if round % 4 != 0 {
                sender.publish();
                board.published(core);
            }
        }
        sender.publish();
        board.published(core);
    }

    /// Ids below `settled`, less one, are all there once the inboxes are drained.
    fn read_until(board: &Board, inboxes: &mut [Receiver<u64>], done: &AtomicBool) -> u64 {
        let (mut seen, mut below) = (std::collections::BTreeSet::new(), 1);
        loop {
            let last = done.load(std::sync::atomic::Ordering::Acquire);
            let settled = board.settled_below(usize::MAX);
            for inbox in inboxes.iter_mut() {
                seen.extend(std::iter::from_fn(|| inbox.pop()));
            }
            while below < settled {
                assert!(seen.remove(&below), "id {below} is below {settled} and did not arrive");
                below += 1;
            }
            if last {
                assert!(seen.is_empty());
                return below - 1;
            }
        }
    }

    #[test]
    fn a_reader_has_everything_below_what_is_settled() {
        const ROUNDS: u64 = 30_000;
        let (board, done) = (Board::new(2), AtomicBool::new(false));
        let (senders, mut inboxes): (Vec<_>, Vec<_>) = (0..2).map(|_| ring(128)).unzip();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| read_until(&board, &mut inboxes, &done));
            let writers: Vec<_> = (senders.into_iter().enumerate())
                .map(|(core, mut sender)| {
                    let board = &board;
                    scope.spawn(move || draw_and_send(board, core, &mut sender, ROUNDS))
                })
                .collect();
            writers.into_iter().for_each(|writer| writer.join().expect("a writer does not panic"));
            done.store(true, std::sync::atomic::Ordering::Release);
            let count = reader.join().expect("the reader does not panic");
            assert_eq!(count, 2 * 2 * ROUNDS);
        });
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::{Receiver, Sender, ring};
    use loom::thread;

    fn send(sender: &mut Sender<u64>, ids: std::ops::Range<u64>) {
        for id in ids {
            sender.stage(id).expect("the ring is large enough");
        }
    }

    /// Reads the board, then the inboxes: every id below what is settled must be there.
    fn check(board: &Board, inboxes: &mut [Receiver<u64>]) -> u64 {
        let settled = board.settled_below(usize::MAX);
        let mut seen = Vec::new();
        for inbox in inboxes.iter_mut() {
            seen.extend(std::iter::from_fn(|| inbox.pop()));
        }
        for id in 1..settled {
            assert!(seen.contains(&id), "id {id} is below {settled}, seen {seen:?}");
        }
        settled
    }

    /// Cores draw and publish as told while a reader looks once.
    ///
    /// One core: every interleaving. With more there are too many to try in seconds: `switches` bounds how often a
    /// thread is interrupted in one of them.
    fn model<const CORES: usize>(acts: [fn(&Board, &mut Sender<u64>); CORES], switches: Option<usize>) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = switches.or(builder.preemption_bound);
        builder.check(move || {
            let board = Board::new(CORES);
            let (senders, mut inboxes): (Vec<_>, Vec<_>) = (0..CORES).map(|_| ring(4)).unzip();
            let writers: Vec<_> = (senders.into_iter().zip(acts))
                .map(|(mut sender, act)| {
                    let board = board.clone();
                    thread::spawn(move || act(&board, &mut sender))
                })
                .collect();
            check(&board, &mut inboxes);
            writers.into_iter().for_each(|writer| writer.join().expect("a writer does not panic"));
        });
    }

    fn once<const CORE: usize>(board: &Board, sender: &mut Sender<u64>) {
        let id = board.draw(CORE, 1);
        send(sender, id..id + 1);
        sender.publish();
        board.published(CORE);
    }

    fn twice<const CORE: usize>(board: &Board, sender: &mut Sender<u64>) {
        once::<CORE>(board, sender);
        once::<CORE>(board, sender);
    }

    fn two_draws_in_one<const CORE: usize>(board: &Board, sender: &mut Sender<u64>) {
        let id = board.draw(CORE, 1);
        send(sender, id..id + 1);
        let id = board.draw(CORE, 2);
        send(sender, id..id + 2);
        sender.publish();
        board.published(CORE);
    }

    #[test]
    fn loom_a_reader_has_everything_below_what_is_settled() {
        model([once::<0>], None);
    }

    #[test]
    fn loom_a_second_round_of_a_core_is_no_exception() {
        model([twice::<0>], None);
    }

    #[test]
    fn loom_a_second_draw_before_publishing_is_no_exception() {
        model([two_draws_in_one::<0>], None);
    }

    #[test]
    fn loom_a_second_core_is_no_exception() {
        model([once::<0>, once::<1>], Some(2));
    }

    #[test]
    fn loom_everything_is_settled_once_all_is_quiet() {
        loom::model(|| {
            let board = Board::new(3);
            let (mut sender, inbox) = ring(4);
            let writer = thread::spawn({
                let board = board.clone();
                move || twice::<0>(&board, &mut sender)
            });
            writer.join().expect("the writer does not panic");
            assert_eq!(check(&board, &mut [inbox]), 3);
        });
    }
}
