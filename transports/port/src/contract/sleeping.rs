//! How a core sleeps in a poller: what wakes it, and what must not keep it from sleeping.
//! A transport that cannot sleep says so, and passes these by.

use super::house::{House, Manner, check_same};
use super::{Heard, Rig};
use crate::{Close, Poller};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Far longer than any wake-up takes; a park that lasts it has lost its wake-up.
const LONG: Duration = Duration::from_secs(10);
const LOST: Duration = Duration::from_secs(5);

fn sleeps<R: Rig>(house: &mut House<R>) -> bool {
    house.linger();
    house.poller.park(Some(Duration::ZERO))
}

/// Parks and ticks until something holds; panics where a wake-up was lost.
fn parked_until<R: Rig>(house: &mut House<R>, what: &str, mut holds: impl FnMut(&mut House<R>) -> bool) {
    let start = Instant::now();
    while !holds(house) {
        house.poller.park(Some(LONG));
        assert!(start.elapsed() < LOST, "no wake-up for {what}");
        house.tick();
    }
}

/// Nothing can move: parks for 60 ms in all must take that long, in few returns.
fn sleeps_quietly<R: Rig>(house: &mut House<R>, what: &str) {
    house.linger();
    let (start, mut returns) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_millis(60) {
        house.poller.park(Some(Duration::from_millis(20)));
        house.tick();
        returns += 1;
    }
    assert!(returns <= 200, "it spun with {what}: {returns} returns in 60 ms");
}

/// Bytes of a peer end the sleep.
pub fn park_wakes_for_bytes<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, mut wire) = house.connect();
    if sleeps(&mut house) {
        for round in 1..=5 {
            assert_eq!(wire.send(b"wake"), 4);
            parked_until(&mut house, "bytes", |house| house.guests[&link].received.len() == 4 * round);
        }
        drop(wire);
        parked_until(&mut house, "the peer's end", |house| house.ended.contains_key(&link));
    }
    house.finish();
}

/// A new link ends the sleep.
pub fn park_wakes_for_a_new_link<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    if sleeps(&mut house) {
        let _wire = rig.dial(&mut house.poller).expect("it listens");
        parked_until(&mut house, "a new link", |house| house.guests.len() == 1);
    }
    house.finish();
}

/// A watched descriptor ends the sleep: rung before, rung during, and every time until it is read.
pub fn park_wakes_for_a_watched_descriptor<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    if !sleeps(&mut house) {
        return house.finish();
    }
    let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).expect("an eventfd");
    let ring = || rustix::io::write(&bell, &1u64.to_ne_bytes()).expect("an eventfd takes a count");
    assert!(house.poller.watch(bell.as_raw_fd()), "what can sleep can watch");
    let wakes = |house: &mut House<R>| {
        let start = Instant::now();
        while start.elapsed() < LOST {
            house.poller.park(Some(LONG));
            house.tick();
            let mut polled = [PollFd::new(&bell, PollFlags::IN)];
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            if rustix::event::poll(&mut polled, Some(&zero)).expect("an eventfd polls") == 1 {
                return;
            }
        }
        panic!("no wake-up for a watched descriptor");
    };
    for round in 0..5 {
        ring();
        wakes(&mut house);
        if round % 2 == 0 {
            wakes(&mut house);
        }
        let _ = rustix::io::read(&bell, &mut [0u8; 8]).expect("it was rung");
        sleeps_quietly(&mut house, "a watched descriptor that was read");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(10));
                ring();
            });
            wakes(&mut house);
        });
        let _ = rustix::io::read(&bell, &mut [0u8; 8]).expect("it was rung");
    }
    house.finish();
}

/// The clock ends the sleep, below a millisecond too, and not before its time again and again.
pub fn park_wakes_for_the_clock<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (_link, _wire) = house.connect();
    if sleeps(&mut house) {
        for us in [0, 1, 200, 1500, 20_000] {
            let start = Instant::now();
            house.poller.park(Some(Duration::from_micros(us)));
            assert!(start.elapsed() < LOST, "a park of {us} us took {:?}", start.elapsed());
        }
        sleeps_quietly(&mut house, "an idle link");
    }
    house.finish();
}

/// `park` does what `flush` does, first; also where the transport cannot sleep.
pub fn park_flushes_first<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, mut wire) = house.connect();
    house.until("a lease is granted", |house| {
        let Some(mut chunk) = house.poller.lease(link, 8) else { return false };
        chunk.fill(b"at once");
        house.poller.submit(link, chunk);
        true
    });
    house.poller.park(Some(Duration::ZERO));
    let mut heard = Vec::new();
    let start = Instant::now();
    // No tick and no flush: only what `park` sent can come.
    while wire.receive(&mut heard) == Heard::Nothing && start.elapsed() < LOST {
        house.poller.park(Some(Duration::from_millis(1)));
    }
    check_same(&heard, b"at once");
    house.finish();
}

/// A `Closed` that is due, or a `Writable`, ends the sleep like anything from outside.
pub fn park_never_sleeps_on_a_close<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    if sleeps(&mut house) {
        for how in [Close::Abort, Close::Drain] {
            let (link, _wire) = house.connect();
            house.linger();
            house.poller.close(link, how);
            parked_until(&mut house, "our own close", |house| house.ended.contains_key(&link));
        }
        let (greedy, _wire) = house.connect();
        let (modest, mut wire) = house.connect();
        let mut held: Vec<_> = std::iter::from_fn(|| house.poller.lease(greedy, 1)).collect();
        house.say(modest, b"after you");
        house.linger();
        held.drain(..).for_each(|chunk| house.poller.recycle(chunk));
        let mut heard = Vec::new();
        parked_until(&mut house, "a lease come free", |_| {
            wire.receive(&mut heard);
            heard.len() == 9
        });
    }
    house.finish();
}

/// With sends blocked, room in the wire ends the sleep.
pub fn park_wakes_when_a_slow_peer_reads<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, mut wire) = house.connect();
    if sleeps(&mut house) {
        let said = house.stuff(link, 20);
        let mut heard = Vec::new();
        let start = Instant::now();
        while heard.len() < said.len() {
            while let Heard::Bytes(_) = wire.receive(&mut heard) {}
            house.poller.park(Some(Duration::from_millis(100)));
            assert!(start.elapsed() < LOST, "{} of {} bytes came", heard.len(), said.len());
            house.tick();
        }
        check_same(&heard, &said);
    }
    house.finish();
}

/// A peer that does not listen, a throttled one with bytes waiting, and throttled ones that went:
/// none of them keeps a core awake.
pub fn park_does_not_spin_on_what_cannot_move<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    if sleeps(&mut house) {
        let (slow, _slow_wire) = house.connect();
        house.stuff(slow, 21);
        sleeps_quietly(&mut house, "a peer that does not listen");
        let mut wires: Vec<_> = (0..4).map(|_| house.connect()).collect();
        for (link, wire) in &mut wires {
            house.poller.throttle(*link, true);
            house.linger();
            wire.send(&[1; 5000]);
        }
        sleeps_quietly(&mut house, "throttled links with bytes waiting");
        wires[0].1.shutdown_write();
        drop(wires.pop());
        wires.pop().expect("three are left").1.reset();
        sleeps_quietly(&mut house, "throttled links whose peers went");
    }
    house.finish();
}

/// The descriptor another poller would watch turns readable when there is something to harvest.
pub fn sleep_on_turns_readable<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, mut wire) = house.connect();
    house.linger();
    if let Some(fd) = house.poller.sleep_on() {
        let readable = |within: Duration| {
            // SAFETY: `sleep_on` names a descriptor that lives as long as the poller does.
            let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
            let mut polled = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
            let timeout = Timespec::try_from(within).expect("a small duration");
            rustix::event::poll(&mut polled, Some(&timeout)).expect("it polls") == 1
        };
        assert!(!readable(Duration::from_millis(1)), "nothing has happened");
        assert_eq!(wire.send(b"wake"), 4);
        assert!(readable(LOST), "bytes are there");
        house.until_received(link, 4);
        house.linger();
        house.poller.close(link, Close::Abort);
        house.poller.flush();
        assert!(readable(LOST), "a Closed is due");
        house.until_closed(link);
        house.linger();
        assert!(!readable(Duration::from_millis(1)), "all was harvested");
    }
    house.finish();
}
