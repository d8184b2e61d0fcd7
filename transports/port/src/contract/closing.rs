//! How links end: by us, by the peer, in order or not, idle or busy; and that chunks come home.

use super::house::{House, Manner, check_same, pattern};
use super::{Heard, Rig};
use crate::{Close, Poller, Why};

/// `Close::Drain` sends all that was submitted, however slowly the peer listens, then ends.
pub fn drain_sends_everything<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, mut wire) = house.connect();
    let said = house.stuff(link, 10);
    // Submitted is what the transport took; the rest was never its business.
    let submitted = said.len() - house.guests[&link].outgoing.len();
    house.guests.get_mut(&link).expect("a living link").outgoing.clear();
    house.poller.close(link, Close::Drain);
    house.linger();
    assert!(house.guests.contains_key(&link), "it drains while the peer does not listen");
    let mut heard = Vec::new();
    assert_eq!(house.hear(&mut *wire, &mut heard, usize::MAX), Heard::End);
    check_same(&heard, &said[..submitted]);
    assert_eq!(house.until_closed(link), Why::Ours);
    house.finish();
}

/// `Close::Drain` in the same tick as the submit, with peer bytes unread: the answer still arrives,
/// as an error reply before a hang-up must.
pub fn drain_before_flush_sends_everything<R: Rig>(rig: &R) {
    for unread in [0, 3000] {
        let mut house = House::new(rig, Manner::Collect);
        let (link, mut wire) = house.connect();
        house.have_sent(&mut *wire, &pattern(11, unread));
        house.say(link, b"-ERR goodbye\r\n");
        house.until("all is submitted", |house| house.guests[&link].outgoing.is_empty());
        house.poller.close(link, Close::Drain);
        let mut heard = Vec::new();
        house.hear(&mut *wire, &mut heard, usize::MAX);
        check_same(&heard, b"-ERR goodbye\r\n");
        assert_eq!(house.until_closed(link), Why::Ours);
        house.finish();
    }
}

/// `Close::Abort` with sends blocked: ends at once, the peer hears at most a part, chunks come home.
pub fn abort_drops_the_rest<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, mut wire) = house.connect();
    let said = house.stuff(link, 12);
    house.poller.close(link, Close::Abort);
    house.poller.close(link, Close::Abort);
    assert!(house.poller.lease(link, 1).is_none(), "a closing link takes nothing more");
    assert_eq!(house.until_closed(link), Why::Ours);
    let mut heard = Vec::new();
    assert_eq!(house.hear(&mut *wire, &mut heard, usize::MAX), Heard::End);
    assert!(heard.len() < said.len());
    check_same(&heard, &said[..heard.len()]);
    house.finish();
}

/// A drain that takes too long can be cut short.
pub fn abort_cuts_a_drain_short<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, _wire) = house.connect();
    house.stuff(link, 13);
    house.poller.close(link, Close::Drain);
    house.poller.close(link, Close::Drain);
    house.linger();
    assert!(house.guests.contains_key(&link));
    house.poller.close(link, Close::Abort);
    assert_eq!(house.until_closed(link), Why::Ours);
    house.finish();
}

/// Closing while bytes stream in, with some harvested and held: safe, and nothing comes after `Closed`.
pub fn close_while_receiving_is_safe<R: Rig>(rig: &R) {
    for how in [Close::Abort, Close::Drain] {
        let mut house = House::new(rig, Manner::Hoard);
        for round in 0..20 {
            let (link, mut wire) = house.connect();
            let flood = pattern(round, 50_000);
            for _ in 0..round {
                wire.send(&flood);
                house.tick();
            }
            wire.send(&flood);
            house.poller.close(link, how);
            wire.send(&flood);
            assert_eq!(house.until_closed(link), Why::Ours);
            for chunk in house.hoard.drain(..) {
                house.poller.recycle(chunk);
            }
        }
        house.finish();
    }
}

/// A peer that sends and then says it is done: every byte is delivered, then `Closed(Peer)`.
pub fn a_half_close_delivers_the_bytes_first<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, mut wire) = house.connect();
    let said = pattern(14, 1 << 20);
    house.have_sent(&mut *wire, &said);
    wire.shutdown_write();
    assert_eq!(house.until_closed(link), Why::Peer);
    check_same(&house.ended[&link].1.received, &said);
    let (link, mut wire) = house.connect();
    house.have_sent(&mut *wire, &said[..5000]);
    drop(wire);
    house.until_closed(link);
    check_same(&house.ended[&link].1.received, &said[..5000]);
    house.finish();
}

/// `printf ... | nc`: a peer that only stopped sending gets all answers, those that come much later too.
pub fn a_half_closed_peer_hears_the_answers<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Echo);
    let (link, mut wire) = house.connect();
    assert_eq!(wire.send(b"PING"), 4);
    wire.shutdown_write();
    let mut heard = Vec::new();
    assert_eq!(house.hear(&mut *wire, &mut heard, usize::MAX), Heard::End);
    assert_eq!(house.until_closed(link), Why::Peer);
    check_same(&heard, b"PING");

    let (link, mut wire) = house.connect();
    let said = house.stuff(link, 15);
    wire.shutdown_write();
    house.linger();
    let mut heard = Vec::new();
    assert_eq!(house.hear(&mut *wire, &mut heard, usize::MAX), Heard::End);
    check_same(&heard, &said);
    assert_eq!(house.until_closed(link), Why::Peer);

    // The answer comes home from another core, long after the end was harvested.
    house.detains = true;
    house.manner = Manner::Collect;
    let (link, mut wire) = house.connect();
    house.have_sent(&mut *wire, b"GET");
    wire.shutdown_write();
    house.linger();
    assert!(house.guests.contains_key(&link), "the house closes the link, nobody else");
    house.say(link, b"late");
    house.linger();
    house.say(link, b"r");
    house.detains = false;
    let mut heard = Vec::new();
    assert_eq!(house.hear(&mut *wire, &mut heard, usize::MAX), Heard::End);
    check_same(&heard, b"later");
    assert_eq!(house.until_closed(link), Why::Peer);
    house.finish();
}

/// A peer that has sent its last and then goes altogether, while its answers are away: the link ends
/// with the first answer, or when the house closes it.
pub fn a_half_closed_peer_may_go_altogether<R: Rig>(rig: &R) {
    for said in [&b""[..], b"too late"] {
        for resets in [false, true] {
            let mut house = House::new(rig, Manner::Collect);
            house.detains = true;
            let (link, mut wire) = house.connect();
            house.have_sent(&mut *wire, b"GET");
            wire.shutdown_write();
            house.until_received(link, 3);
            house.linger();
            if resets {
                wire.reset();
            } else {
                drop(wire);
            }
            house.linger();
            if house.guests.contains_key(&link) {
                house.say(link, said);
            }
            house.linger();
            house.detains = false;
            house.until_closed(link);
            house.finish();
        }
    }
}

/// Many peers say they are done at once, and a small budget makes their ends wait for their turn. What
/// the house submits until it closes them is sent, and chunks come home.
pub fn ends_that_wait_for_their_turn_are_safe<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let said = pattern(18, 100_000);
    let mut peers: Vec<_> = (0..30).map(|_| house.connect()).collect();
    for (_, wire) in &mut peers {
        wire.shutdown_write();
    }
    house.budget = 1;
    let mut heard = vec![Vec::new(); peers.len()];
    let mut told = 0;
    house.until("all are closed", |house| {
        let piece = &said[told..said.len().min(told + 100)];
        told += piece.len();
        for ((link, wire), heard) in peers.iter_mut().zip(&mut heard) {
            if house.guests.contains_key(link) {
                house.say(*link, piece);
            }
            wire.receive(heard);
        }
        house.guests.is_empty()
    });
    for ((link, wire), heard) in peers.iter_mut().zip(&mut heard) {
        assert_eq!(house.ended[link].0, Why::Peer);
        house.hear(&mut **wire, heard, usize::MAX);
        check_same(heard, &said[..heard.len()]);
    }
    house.finish();
}

/// A peer that is killed, idle or with sends blocked: one `Closed`, and chunks come home.
pub fn a_peer_that_resets_is_reported_once<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    let (link, wire) = house.connect();
    wire.reset();
    assert_ne!(house.until_closed(link), Why::Ours);
    let (link, wire) = house.connect();
    house.stuff(link, 16);
    wire.reset();
    assert_ne!(house.until_closed(link), Why::Ours);
    let (link, wire) = house.connect();
    house.stuff(link, 17);
    house.poller.close(link, Close::Drain);
    wire.reset();
    house.until_closed(link);
    house.finish();
}

/// A peer that goes while throttled: its bytes are still there on resume, then its end.
pub fn a_peer_that_goes_while_throttled_is_found_on_resume<R: Rig>(rig: &R) {
    let mut house = House::new(rig, Manner::Collect);
    for half in [true, false] {
        let (link, mut wire) = house.connect();
        house.poller.throttle(link, true);
        house.linger();
        house.have_sent(&mut *wire, b"last words");
        wire.shutdown_write();
        if !half {
            drop(wire);
        }
        house.linger();
        assert!(house.guests.contains_key(&link), "its bytes are not yet delivered");
        house.poller.throttle(link, false);
        house.until_closed(link);
        check_same(&house.ended[&link].1.received, b"last words");
    }
    let (link, wire) = house.connect();
    house.poller.throttle(link, true);
    house.linger();
    wire.reset();
    house.linger();
    house.poller.close(link, Close::Abort);
    house.until_closed(link);
    house.finish();
}

/// In whatever state a link ends, every chunk comes home (checked by `finish`).
pub fn every_chunk_comes_home<R: Rig>(rig: &R) {
    for how in [Close::Abort, Close::Drain] {
        let mut house = House::new(rig, Manner::Hoard);
        // Leased and not submitted; submitted and not flushed; received and held; all over the close.
        let (link, mut wire) = house.connect();
        house.have_sent(&mut *wire, b"held");
        house.until_received(link, 4);
        let leases: Vec<_> = (0..3).filter_map(|_| house.poller.lease(link, 10)).collect();
        house.say(link, b"unflushed");
        house.poller.close(link, how);
        house.until_closed(link);
        for (place, mut chunk) in leases.into_iter().enumerate() {
            chunk.fill(b"late");
            if place == 0 {
                house.poller.recycle(chunk);
            } else {
                house.poller.submit(link, chunk);
            }
        }
        // Sent in full and closed in the next breath.
        let (link, _wire) = house.connect();
        house.say(link, b"flushed");
        house.tick();
        house.poller.close(link, how);
        house.until_closed(link);
        // The peer went first.
        let (link, wire) = house.connect();
        house.say(link, b"to nobody");
        drop(wire);
        house.until_closed(link);
        house.finish();
    }
}
