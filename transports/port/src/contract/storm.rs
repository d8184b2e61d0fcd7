//! A storm: links that do everything at random, from a fixed seed. The house checks each event; here
//! it is checked that whatever part of the bytes arrived is the right part.

use super::house::{Dice, House, Manner, check_same, pattern};
use super::{Rig, Wire};
use crate::{Close, LinkId, Poller};

struct Traveller {
    link: LinkId,
    wire: Option<Box<dyn Wire>>,
    said: Vec<u8>,
    sent: usize,
    half_closed: bool,
    heard: Vec<u8>,
    told: Vec<u8>,
}

impl Traveller {
    fn act<R: Rig>(&mut self, house: &mut House<R>, dice: &mut Dice) {
        let choice = dice.below(100);
        let lives = house.guests.contains_key(&self.link);
        match choice {
            0..30 => {
                let end = self.said.len().min(self.sent + dice.below(20_000));
                if let (Some(wire), false) = (&mut self.wire, self.half_closed) {
                    self.sent += wire.send(&self.said[self.sent..end]);
                }
            }
            30..60 => {
                if let Some(wire) = &mut self.wire {
                    wire.receive(&mut self.heard);
                }
            }
            60..85 if lives => {
                let word = pattern(dice.roll(), dice.below(30_000));
                self.told.extend_from_slice(&word);
                house.say(self.link, &word);
            }
            85..92 => house.poller.throttle(self.link, dice.below(2) == 0),
            92..94 => {
                if let Some(wire) = &mut self.wire {
                    wire.shutdown_write();
                    self.half_closed = true;
                }
            }
            94 => self.wire = None,
            95 => {
                if let Some(wire) = self.wire.take() {
                    wire.reset();
                }
            }
            96 => house.poller.close(self.link, Close::Abort),
            97 => house.poller.close(self.link, Close::Drain),
            98 => house.hoard.drain(..).for_each(|chunk| house.poller.recycle(chunk)),
            _ => house.manner = if dice.below(4) == 0 { Manner::Hoard } else { Manner::Collect },
        }
    }
}

/// A thousand random links in a random order of everything: the events keep their promises, what
/// arrives is a prefix of what was sent, and all chunks come home.
pub fn a_storm_of_random_links_keeps_every_promise<R: Rig>(rig: &R) {
    for seed in 0..4 {
        let mut dice = Dice(seed);
        let mut house = House::new(rig, Manner::Collect);
        house.budget = 1 + dice.below(20);
        let mut travellers: Vec<Traveller> = Vec::new();
        let mut all = 0;
        for _ in 0..6000 {
            if travellers.len() < 16 && dice.below(10) == 0 {
                let (link, wire) = house.connect();
                let said = pattern(dice.roll(), 300_000);
                let (sent, half_closed, heard, told) = (0, false, Vec::new(), Vec::new());
                travellers.push(Traveller { link, wire: Some(wire), said, sent, half_closed, heard, told });
                all += 1;
            }
            if !travellers.is_empty() {
                let place = dice.below(travellers.len());
                travellers[place].act(&mut house, &mut dice);
            }
            house.tick();
            travellers.retain(|traveller| match house.ended.get(&traveller.link) {
                None => true,
                Some((_, guest)) => {
                    let known = traveller.said.len().min(guest.received.len());
                    check_same(&guest.received, &traveller.said[..known]);
                    let known = traveller.told.len().min(traveller.heard.len());
                    check_same(&traveller.heard, &traveller.told[..known]);
                    false
                }
            });
        }
        assert!(all > 50, "the storm had {all} links");
        house.finish();
    }
}
