//! Copies of blocks, added up over shards: what INFO, /metrics and `top` are made of. Whoever reads
//! pays; the shards notice nothing.

use crate::{Block, CATALOG, CommandSnapshot, Counters, HistogramSnapshot, Kind};
use std::collections::BTreeMap;

/// The four rooms' histograms.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct RoomsSnapshot {
    rooms: [HistogramSnapshot; 4],
}

impl RoomsSnapshot {
    /// The rooms by name, in the order a request walks them.
    pub fn each(&self) -> [(&'static str, &HistogramSnapshot); 4] {
        let [queue, hop, execute, flush] = &self.rooms;
        [("queue", queue), ("hop", hop), ("execute", execute), ("flush", flush)]
    }

    /// Adds what a block's rooms hold now.
    pub fn absorb(&mut self, block: &Block) {
        for (mine, (_, live)) in self.rooms.iter_mut().zip(block.rooms.each()) {
            mine.absorb(live);
        }
    }
}

/// Everything blocks hold, copied and added up.
///
/// Counters in a block are never reset, so that Prometheus sees them grow; CONFIG RESETSTAT keeps a
/// snapshot instead, and INFO shows what came `since`.
#[derive(Default, Debug)]
pub struct Snapshot {
    /// The plain numbers, in a private copy.
    pub counters: Counters,
    /// Latency, room by room.
    pub rooms: RoomsSnapshot,
    /// By command number.
    pub commands: Vec<CommandSnapshot>,
    /// Error replies by first word.
    pub errors: BTreeMap<String, u64>,
}

impl Snapshot {
    /// The sum over some blocks; all of them must have the same catalog of commands.
    pub fn of<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> Snapshot {
        let mut sum = Snapshot::default();
        for block in blocks {
            sum.absorb(block);
        }
        sum
    }

    /// Adds one more block.
    pub fn absorb(&mut self, block: &Block) {
        self.counters.merge(block.counters());
        self.rooms.absorb(block);
        self.commands.resize_with(block.per_command.rows().len().max(self.commands.len()), Default::default);
        for (mine, row) in self.commands.iter_mut().zip(block.per_command.rows()) {
            mine.absorb(row);
        }
        for (word, count) in block.errors.snapshot() {
            *self.errors.entry(word).or_default() += count;
        }
    }

    /// What happened after `base` was taken: counters, calls and errors part; gauges stay as they are.
    pub fn since(&self, base: &Snapshot) -> Snapshot {
        let nothing = CommandSnapshot::default();
        let before = base.commands.iter().chain(std::iter::repeat(&nothing));
        let rooms = std::array::from_fn(|room| self.rooms.rooms[room].since(&base.rooms.rooms[room]));
        let parted = |(word, count): (&String, &u64)| {
            let rest = count.saturating_sub(base.errors.get(word).copied().unwrap_or(0));
            (rest > 0).then(|| (word.clone(), rest))
        };
        Snapshot {
            counters: self.counters.since(&base.counters),
            rooms: RoomsSnapshot { rooms },
            commands: self.commands.iter().zip(before).map(|(now, then)| now.since(then)).collect(),
            errors: self.errors.iter().filter_map(parted).collect(),
        }
    }
}

impl Counters {
    /// Adds the numbers of `other`, field by field. For copies; a live block is its shard's alone.
    pub fn merge(&self, other: &Counters) {
        self.combine(other, |mine, theirs, _| mine + theirs);
    }

    /// A copy whose counters are those after `base`; gauges are as they are now.
    pub fn since(&self, base: &Counters) -> Counters {
        let rest = Counters::default();
        rest.merge(self);
        rest.combine(base, |now, then, kind| match kind {
            Kind::Counter => now.saturating_sub(then),
            Kind::Gauge => now,
        });
        rest
    }

    /// Walks both through the catalog, which knows every field: nothing can be forgotten here.
    fn combine(&self, other: &Counters, rule: impl Fn(u64, u64, Kind) -> u64) {
        for metric in CATALOG {
            let mut theirs = Vec::with_capacity(crate::DATABASES);
            metric.each(other, |_, counter| theirs.push(counter.read()));
            let mut theirs = theirs.into_iter();
            metric.each(self, |_, mine| {
                let other = theirs.next().expect("a metric has the same series in every block");
                mine.set(rule(mine.read(), other, metric.kind));
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(seed: u64) -> Block {
        let block = Block::new(2);
        block.commands.add(seed);
        block.connections_open.set(seed);
        block.keys[3].set(seed);
        block.rooms.hop.record(seed * 1_000);
        block.per_command.row(1).ran(seed, seed);
        block.errors.count(if seed > 1 { b"OOM" } else { b"ERR" });
        block
    }

    #[test]
    fn shards_add_up() {
        let blocks = [block(1), block(2), block(4)];
        let sum = Snapshot::of(&blocks);
        assert_eq!(sum.counters.commands.read(), 7);
        assert_eq!(sum.counters.keys_total(), 7);
        assert_eq!(sum.commands[1].calls, 7);
        assert_eq!(sum.errors, BTreeMap::from([("ERR".to_owned(), 1), ("OOM".to_owned(), 2)]));
        let [(_, queue), (name, hop), ..] = sum.rooms.each();
        assert_eq!((name, hop.count(), hop.max(), queue.count()), ("hop", 3, 4_000, 0));
    }

    #[test]
    fn resetting_is_remembering() {
        let live = block(5);
        let base = Snapshot::of([&live]);
        live.commands.add(2);
        live.connections_open.set(1);
        live.per_command.row(0).rejected_calls.add(1);
        live.errors.count(b"ERR");
        let rest = Snapshot::of([&live]).since(&base);
        assert_eq!(rest.counters.commands.read(), 2);
        assert_eq!(rest.counters.connections_open.read(), 1, "a gauge stays");
        assert!(rest.commands[1].is_empty());
        assert_eq!(rest.commands[0].rejected_calls, 1);
        assert_eq!(rest.errors, BTreeMap::from([("ERR".to_owned(), 1)]));
    }

    #[test]
    fn a_base_from_before_the_first_block_takes_nothing_off() {
        let now = Snapshot::of([&block(3)]);
        assert_eq!(now.since(&Snapshot::default()).commands[1].calls, 3);
    }
}
