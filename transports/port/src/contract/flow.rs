//! How bytes flow: order, back-pressure both ways, throttling, budgets, names of links.

use super::house::{Dice, House, Manner, check_same, pattern};
use super::{Heard, Rig, Wire};
use crate::{Close, LinkId, Poller};
use std::collections::HashSet;

/// A link carries megabytes both ways at once, in pieces of every size, whole and in order.
pub fn bytes_arrive_whole_and_in_order<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Echo);
    let (link, mut wire) = house.connect();
    let said = pattern(1, 3 << 20);
    let (mut sent, mut heard, mut dice) = (0, Vec::new(), Dice(2));
    house.until("all is echoed", |_| {
        let piece = 1 + dice.below(40_000);
        sent += wire.send(&said[sent..said.len().min(sent + piece)]);
        wire.receive(&mut heard);
        heard.len() >= said.len()
    });
    check_same(&heard, &said);
    check_same(&house.guests[&link].received, &said);
    let stats = house.poller.stats();
    assert_eq!((stats.bytes_in, stats.bytes_out), (said.len() as u64, said.len() as u64));
    house.finish();
}

/// Many links at once: no byte strays to another, and all get on.
pub fn many_links_keep_their_bytes_apart<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Echo);
    let mut peers: Vec<_> = (0..40u64)
        .map(|seed| {
            let (link, wire) = house.connect();
            (link, wire, pattern(seed, 30_000), 0, Vec::new())
        })
        .collect();
    assert_eq!(house.poller.links(), 40);
    let mut dice = Dice(3);
    house.until("every peer heard its own bytes", |_| {
        for (_, wire, said, sent, heard) in &mut peers {
            let piece = dice.below(3000);
            *sent += wire.send(&said[*sent..said.len().min(*sent + piece)]);
            wire.receive(heard);
        }
        peers.iter().all(|(_, _, said, _, heard)| heard.len() >= said.len())
    });
    for (link, _, said, _, heard) in &peers {
        check_same(heard, said);
        check_same(&house.guests[link].received, said);
    }
    house.finish();
}

/// A peer that does not listen: leases are refused. When it listens: `Writable`, and every byte comes.
pub fn a_slow_peer_meets_back_pressure_and_loses_nothing<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, mut wire) = house.connect();
    let said = house.stuff(link, 4);
    assert!(house.guests[&link].refused && house.poller.stats().leases_refused > 0);
    let mut heard = Vec::new();
    house.hear(&mut *wire, &mut heard, said.len());
    check_same(&heard, &said);
    assert!(house.writables > 0, "Writable told of every way out");
    house.finish();
}

/// A house that keeps chunks to itself, as one with much to do: the peer is held back, and when the
/// chunks are given back every byte comes.
pub fn a_slow_house_meets_back_pressure_and_loses_nothing<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Hoard);
    let (link, mut wire) = house.connect();
    let (said, sent) = house.flood(&mut *wire, 5);
    house.linger();
    house.manner = Manner::Collect;
    for chunk in house.hoard.drain(..) {
        house.poller.recycle(chunk);
    }
    house.have_sent(&mut *wire, &said[sent..]);
    house.until_received(link, said.len());
    check_same(&house.guests[&link].received, &said);
    house.finish();
}

/// The pool of leases is shared: what one link holds another waits for, and is told when it comes back.
pub fn a_refused_lease_is_followed_by_writable_when_another_link_gives_back<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (greedy, _greedy_wire) = house.connect();
    let (modest, mut wire) = house.connect();
    let mut held = Vec::new();
    while held.len() < 1 << 16 {
        match house.poller.lease(greedy, 1) {
            Some(chunk) => held.push(chunk),
            None => break,
        }
    }
    assert!(held.len() < 1 << 16, "a pool has a bound");
    house.say(modest, b"after you");
    house.linger();
    for chunk in held {
        house.poller.recycle(chunk);
    }
    let mut heard = Vec::new();
    house.hear(&mut *wire, &mut heard, 9);
    check_same(&heard, b"after you");
    house.finish();
}

/// `throttle` stops bytes after a few chunks, holds the peer back, and resuming brings every byte.
pub fn throttle_stops_harvesting_and_resume_loses_nothing<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, mut wire) = house.connect();
    let (other, mut other_wire) = house.connect();
    house.have_sent(&mut *wire, &pattern(6, 10_000));
    house.until_received(link, 10_000);
    house.poller.throttle(link, true);
    house.linger();
    let (said, sent) = house.flood(&mut *wire, 7);
    let slipped = house.guests[&link].received.len() - 10_000;
    assert!(slipped <= 16 * house.poller.chunk_size(), "{slipped} bytes slipped through");
    house.have_sent(&mut *other_wire, b"not I");
    house.until_received(other, 5);
    house.poller.throttle(link, false);
    house.have_sent(&mut *wire, &said[sent..]);
    house.until_received(link, 10_000 + said.len());
    check_same(&house.guests[&link].received[10_000..], &said);
    // Back and forth within a tick must end as said last.
    house.poller.throttle(link, true);
    house.poller.throttle(link, false);
    house.have_sent(&mut *wire, b"last");
    house.until_received(link, 10_004 + said.len());
    house.finish();
}

/// A poll keeps to its budget however much is there (the house checks each), and a flood on some
/// links does not keep the word of another waiting.
pub fn poll_respects_its_budget_and_starves_nobody<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let mut floods: Vec<_> = (0..6).map(|_| house.connect()).collect();
    let (quiet, mut wire) = house.connect();
    house.budget = 2;
    let pour = |floods: &mut Vec<(LinkId, Box<dyn Wire>)>| {
        for (_, flooding) in floods {
            flooding.send(&[7; 60_000]);
        }
    };
    for _ in 0..200 {
        pour(&mut floods);
        house.tick();
    }
    assert_eq!(wire.send(b"a word"), 6);
    let mut ticks = 0;
    house.until("the word is heard", |house| {
        pour(&mut floods);
        ticks += 1;
        house.guests[&quiet].received.len() == 6
    });
    assert!(ticks < 2000, "the word waited {ticks} ticks");
    house.finish();
}

/// An unused lease may be submitted empty or recycled: neither sends anything.
pub fn an_empty_submit_sends_nothing<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, mut wire) = house.connect();
    let lease = |house: &mut House<R>| {
        let mut found = None;
        house.until("a lease is granted", |house| {
            found = house.poller.lease(link, 100);
            found.is_some()
        });
        found.expect("just waited for")
    };
    let empty = lease(&mut house);
    house.poller.submit(link, empty);
    let unused = lease(&mut house);
    house.poller.recycle(unused);
    house.linger();
    assert_eq!(wire.receive(&mut Vec::new()), Heard::Nothing);
    house.say(link, b"something");
    let mut heard = Vec::new();
    house.hear(&mut *wire, &mut heard, 9);
    check_same(&heard, b"something");
    house.finish();
}

/// Every method takes the name of a link that is gone, or never was, and does nothing; the link that
/// now lives in its slot feels nothing. A chunk submitted to it goes home.
pub fn stale_links_are_harmless<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Echo);
    let (gone, _gone_wire) = house.connect();
    house.poller.close(gone, Close::Abort);
    house.until_closed(gone);
    let (lives, mut wire) = house.connect();
    let never = LinkId { slot: 1 << 20, generation: 3 };
    let later = LinkId { slot: lives.slot, generation: lives.generation.wrapping_add(1) };
    for stale in [gone, never, later] {
        assert!(house.poller.lease(stale, 100).is_none());
        let mut chunk = None;
        house.until("a lease is granted", |house| {
            chunk = house.poller.lease(lives, 100);
            chunk.is_some()
        });
        let mut chunk = chunk.expect("just waited for");
        chunk.fill(b"astray");
        house.poller.submit(stale, chunk);
        house.poller.throttle(stale, true);
        house.poller.close(stale, Close::Drain);
        house.poller.close(stale, Close::Abort);
        house.linger();
    }
    house.have_sent(&mut *wire, b"still here");
    let mut heard = Vec::new();
    house.hear(&mut *wire, &mut heard, 10);
    check_same(&heard, b"still here");
    house.finish();
}

/// Links come and go: slots are reused, names never.
pub fn slots_are_reused_under_new_names<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Echo);
    let mut names = HashSet::new();
    for round in 0..150u32 {
        let (link, mut wire) = house.connect();
        assert!(names.insert(link), "{link:?} named two links");
        assert!(link.slot < 8, "slot {} although one link lives at a time", link.slot);
        house.have_sent(&mut *wire, &round.to_le_bytes());
        let mut heard = Vec::new();
        house.hear(&mut *wire, &mut heard, 4);
        check_same(&heard, &round.to_le_bytes());
        match round % 3 {
            0 => house.poller.close(link, Close::Abort),
            1 => house.poller.close(link, Close::Drain),
            _ => drop(wire),
        }
        house.until_closed(link);
    }
    house.finish();
}

/// After `stop_accepting` nothing opens any more, and what lives lives on.
pub fn stop_accepting_leaves_links_alone<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Echo);
    let (_link, mut wire) = house.connect();
    house.poller.stop_accepting();
    house.poller.stop_accepting();
    house.linger();
    // A dialler may be refused or left waiting, but never served.
    let late: Option<Box<dyn Wire>> = rig.dial(&mut house.poller).ok();
    house.linger();
    assert_eq!((house.guests.len(), house.poller.links()), (1, 1));
    drop(late);
    house.have_sent(&mut *wire, b"still open");
    let mut heard = Vec::new();
    house.hear(&mut *wire, &mut heard, 10);
    check_same(&heard, b"still open");
    house.finish();
}
