//! Events held back: in order per slot, so that a slot's old name is closed before its new one opens;
//! in any order between slots. Knows nothing of why they are late.

use crate::rng::Rng;
use port::{Chunk, Event, LinkId};
use std::collections::VecDeque;

/// How a living link stands, as the wrapper sees it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Standing {
    #[default]
    Fine,
    /// The house wants no bytes for now.
    Throttled,
    /// Closed by the house.
    Closing,
    /// Closed by chance.
    Dropped,
}

#[derive(Debug, Default)]
struct Slot {
    events: VecDeque<Event>,
    /// The number of the poll from which on its next event may be told.
    due: u64,
    /// It is on the list of slots that hold events.
    listed: bool,
    /// The link that lives in the transport, between its `Opened` and `Closed`.
    link: Option<LinkId>,
    standing: Standing,
    /// How many of its events are bytes.
    bytes: usize,
}

/// All events held back.
#[derive(Debug, Default)]
pub(crate) struct Held {
    slots: Vec<Slot>,
    listed: VecDeque<u32>,
    count: usize,
    polls: u64,
}

fn link_of(event: &Event) -> LinkId {
    match event {
        Event::Opened(link, _)
        | Event::Bytes(link, _)
        | Event::Writable(link)
        | Event::Ended(link)
        | Event::Closed(link, _) => *link,
    }
}

impl Held {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    fn find(&mut self, link: LinkId) -> Option<&mut Slot> {
        self.slots.get_mut(link.slot as usize).filter(|slot| slot.link == Some(link))
    }

    fn standing(&self, link: LinkId) -> Option<Standing> {
        let slot = self.slots.get(link.slot as usize)?;
        (slot.link == Some(link)).then_some(slot.standing)
    }

    pub(crate) fn lives(&self, link: LinkId) -> bool {
        matches!(self.standing(link), Some(Standing::Fine | Standing::Throttled))
    }

    pub(crate) fn is_doomed(&self, link: LinkId) -> bool {
        matches!(self.standing(link), Some(Standing::Closing | Standing::Dropped))
    }

    pub(crate) fn was_dropped(&self, link: LinkId) -> bool {
        self.standing(link) == Some(Standing::Dropped)
    }

    /// Adds an event behind those of its slot.
    pub(crate) fn push(&mut self, event: Event) {
        let link = link_of(&event);
        let place = link.slot as usize;
        if self.slots.len() <= place {
            self.slots.resize_with(place + 1, Slot::default);
        }
        let slot = &mut self.slots[place];
        match event {
            Event::Opened(..) => (slot.link, slot.standing) = (Some(link), Standing::Fine),
            Event::Closed(..) => slot.link = None,
            Event::Bytes(..) => slot.bytes += 1,
            Event::Writable(..) | Event::Ended(..) => {}
        }
        slot.events.push_back(event);
        self.count += 1;
        if !slot.listed {
            slot.listed = true;
            self.listed.push_back(link.slot);
        }
    }

    /// Marks a link as dropped by chance; takes out its chunks.
    pub(crate) fn drop_by_chance(&mut self, link: LinkId) -> Vec<Chunk> {
        self.end(link, Standing::Dropped)
    }

    /// Marks a link as closed by the house; takes out its chunks.
    pub(crate) fn close(&mut self, link: LinkId) -> Vec<Chunk> {
        self.end(link, Standing::Closing)
    }

    fn end(&mut self, link: LinkId, standing: Standing) -> Vec<Chunk> {
        if let Some(slot) = self.find(link) {
            slot.standing = standing;
        }
        let Some(slot) = self.slots.get_mut(link.slot as usize) else { return Vec::new() };
        let mut chunks = Vec::new();
        for event in std::mem::take(&mut slot.events) {
            match event {
                Event::Bytes(of, chunk) if of == link => chunks.push(chunk),
                Event::Writable(of) | Event::Ended(of) if of == link => self.count -= 1,
                other => slot.events.push_back(other),
            }
        }
        slot.bytes -= chunks.len();
        self.count -= chunks.len();
        chunks
    }

    /// Whether the transport inside should bring no more bytes of a link: some are held already.
    pub(crate) fn wants_no_bytes(&mut self, link: LinkId) -> bool {
        self.find(link).is_some_and(|slot| slot.bytes > 0 || slot.standing == Standing::Throttled)
    }

    pub(crate) fn throttle(&mut self, link: LinkId, stop: bool) {
        if let Some(slot) = self.find(link)
            && matches!(slot.standing, Standing::Fine | Standing::Throttled)
        {
            slot.standing = if stop { Standing::Throttled } else { Standing::Fine };
        }
    }

    /// Time alone will bring an event out.
    pub(crate) fn can_release(&self) -> bool {
        self.listed.iter().any(|number| self.slots[*number as usize].next().is_some())
    }

    /// Tells at most `budget` events whose time has come, and makes the next ones late by chance.
    pub(crate) fn release(&mut self, budget: usize, delay_max: u32, rng: &mut Rng, events: &mut Vec<Event>) {
        self.polls += 1;
        let mut left = budget;
        for _ in 0..self.listed.len() {
            let Some(number) = self.listed.pop_front() else { break };
            let slot = &mut self.slots[number as usize];
            while left > 0
                && slot.due <= self.polls
                && let Some(place) = slot.next()
            {
                let event = slot.events.remove(place).expect("its place was just found");
                slot.bytes -= usize::from(matches!(event, Event::Bytes(..)));
                events.push(event);
                slot.due = self.polls + rng.below(u64::from(delay_max) + 1);
                self.count -= 1;
                left -= 1;
            }
            slot.listed = !slot.events.is_empty();
            if slot.listed {
                self.listed.push_back(number);
            }
        }
    }
}

impl Slot {
    /// The place of the event to tell next. A throttled link is told nothing but `Writable`, which may
    /// overtake its bytes: it may be what the house waits for before it takes more.
    fn next(&self) -> Option<usize> {
        let throttled = self.standing == Standing::Throttled;
        match self.events.front()? {
            Event::Bytes(link, _) if throttled && self.link == Some(*link) => {
                self.events.iter().position(|event| matches!(event, Event::Writable(_)))
            }
            _ => Some(0),
        }
    }
}
