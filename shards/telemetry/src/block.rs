//! The block of one shard: every number it keeps, as named fields. The names that the outside
//! world sees are in `catalog`.

use crate::{CommandTable, Counter, ErrorTable, Histogram};
use std::ops::Deref;
use std::sync::OnceLock;

/// Databases of a shard that are counted one by one.
pub const DATABASES: usize = 16;

/// The plain numbers of a shard. The same type serves as the live block and as a copy of it.
///
/// `repr(C)` keeps the order: what each request touches comes first and shares two cache lines.
/// A new field needs a line in the catalog; a test fails until it has one.
#[derive(Default, Debug)]
#[repr(C)]
pub struct Counters {
    /// Commands processed, wherever their keys were; each counted once, by the session's shard.
    pub commands: Counter,
    /// Key look-ups that found a live key.
    pub keyspace_hits: Counter,
    /// Key look-ups that found none.
    pub keyspace_misses: Counter,
    /// Commands whose keys were all on the session's own shard.
    pub local_commands: Counter,
    /// Requests sent on to another shard.
    pub hops: Counter,
    /// Parcels published to other shards.
    pub parcels_sent: Counter,
    /// Parcels taken from other shards.
    pub parcels_received: Counter,
    /// Bytes received from clients.
    pub bytes_in: Counter,
    /// Bytes sent to clients.
    pub bytes_out: Counter,
    /// Chunks of bytes harvested.
    pub reads: Counter,
    /// Chunks of bytes submitted.
    pub writes: Counter,
    /// Passes of the tick.
    pub ticks: Counter,
    /// Ticks that found something to do.
    pub useful_ticks: Counter,
    /// Times the core went to sleep.
    pub parks: Counter,
    /// Wake-ups sent to sleeping cores.
    pub wakeups_sent: Counter,
    /// System calls made by the transports.
    pub syscalls: Counter,

    /// Connections accepted.
    pub connections_received: Counter,
    /// Connections open now.
    pub connections_open: Counter,
    /// Connections turned away: `maxclients`, protected mode.
    pub connections_rejected: Counter,
    /// Connections closed because their output passed its limit.
    pub output_limit_closes: Counter,
    /// Connections closed because their query passed its limit.
    pub query_limit_closes: Counter,
    /// Clients that wait in a blocking command, or for a pause to end.
    pub blocked_clients: Counter,
    /// Keys for which clients wait in blocking commands.
    pub blocking_keys: Counter,
    /// Requests that broke the protocol.
    pub protocol_errors: Counter,
    /// Error replies sent.
    pub error_replies: Counter,
    /// Authentications refused.
    pub auth_failures: Counter,

    /// Keys held, per database.
    pub keys: [Counter; DATABASES],
    /// Keys with a time to live, per database.
    pub volatile_keys: [Counter; DATABASES],
    /// Keys removed because their time was over.
    pub expired_keys: Counter,
    /// Fields of hashes removed because their time was over.
    pub expired_fields: Counter,
    /// Keys removed to make room.
    pub evicted_keys: Counter,
    /// Changes to the data set, as INFO's rdb_changes_since_last_save counts them.
    pub changes: Counter,
    /// Keys whose memory was freed after they were gone (FLUSHALL and the like).
    pub lazily_freed_keys: Counter,
    /// Keys that are gone and whose memory is still to be freed.
    pub lazily_pending_keys: Counter,
    /// Slices of active expiry run.
    pub expire_slices: Counter,
    /// Slices of active expiry that ended at their bound with work left.
    pub expire_slices_full: Counter,

    /// Bytes of keys and values.
    pub memory_entries: Counter,
    /// Bytes of hash tables.
    pub memory_tables: Counter,
    /// 1 where the room for keys and small values comes to its end, else 0.
    pub room_short: Counter,
    /// The most that all shards together have accounted for, as the first shard saw it.
    pub memory_peak: Counter,
    /// Bytes of client, parcel and transport buffers.
    pub memory_buffers: Counter,

    /// Commands a second, over the last second or so.
    pub commands_per_second: Counter,
    /// Bytes received a second, over the last second or so.
    pub bytes_in_per_second: Counter,
    /// Bytes sent a second, over the last second or so.
    pub bytes_out_per_second: Counter,

    /// Commands over several shards that took one parcel per shard.
    pub transactions_single_hop: Counter,
    /// Commands over several shards that took more.
    pub transactions_multi_hop: Counter,
    /// Parts that waited for a transaction in front of them.
    pub transactions_waited: Counter,
    /// EXECs that ran at once on their client's shard.
    pub exec_local: Counter,
    /// EXECs that took one parcel per shard.
    pub exec_one_hop: Counter,
    /// EXECs that took more.
    pub exec_stages: Counter,
    /// EXECs that found a watched key changed.
    pub exec_nulls: Counter,
    /// EXECs refused because a queued command had been.
    pub exec_aborts: Counter,
    /// Requests that waited for a transaction in front of them.
    pub sealed_waits: Counter,
    /// Reservations refused because a later one was there first.
    pub reservations_refused: Counter,
    /// Transactions tried again after a refusal.
    pub reservations_retried: Counter,
    /// Parcels a full ring gave back.
    pub ring_full: Counter,
    /// Parcels published after their ring had been full.
    pub ring_retries: Counter,

    /// Messages published by clients.
    pub published: Counter,
    /// Messages handed to clients who listen.
    pub messages_heard: Counter,
    /// Messages about keys that were lost because a shard was too far behind.
    pub events_lost: Counter,
    /// Clients that listen to a channel or pattern.
    pub listening_clients: Counter,

    /// Leases refused by a transport: back-pressure.
    pub leases_refused: Counter,
    /// Chunks away from their pools now.
    pub chunks_away: Counter,
    /// Commands that ran longer than the stall threshold.
    pub stalls: Counter,
}

impl Counters {
    /// Keys over all databases.
    pub fn keys_total(&self) -> u64 {
        self.keys.iter().map(Counter::read).sum()
    }

    /// Keys with a time to live over all databases.
    pub fn volatile_keys_total(&self) -> u64 {
        self.volatile_keys.iter().map(Counter::read).sum()
    }

    /// All bytes accounted for.
    pub fn memory_total(&self) -> u64 {
        self.memory_entries.read() + self.memory_tables.read() + self.memory_buffers.read()
    }

    /// Share of ticks that found work, 0.0 to 1.0; 0.0 before the first tick.
    pub fn useful_ratio(&self) -> f64 {
        match self.ticks.read() {
            0 => 0.0,
            ticks => (self.useful_ticks.read() as f64 / ticks as f64).min(1.0),
        }
    }
}

/// Where the time of a request goes, in nanoseconds. The four rooms add up to its stay.
#[derive(Default, Debug)]
pub struct Rooms {
    /// From harvest to the start of execution.
    pub queue: Histogram,
    /// From a parcel's departure to its answer's arrival.
    pub hop: Histogram,
    /// Inside the command.
    pub execute: Histogram,
    /// From the reply's last byte to the doorbell.
    pub flush: Histogram,
}

impl Rooms {
    /// The rooms by name, in the order a request walks them.
    pub fn each(&self) -> [(&'static str, &Histogram); 4] {
        [("queue", &self.queue), ("hop", &self.hop), ("execute", &self.execute), ("flush", &self.flush)]
    }
}

/// All that one shard counts. Derefs to its `Counters`, so that the hot path reads
/// `block.commands.add(1)`.
///
/// Aligned to two cache lines: the prefetcher fetches in pairs, and no two blocks may share one.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Block {
    counters: Counters,
    /// Latency, room by room.
    pub rooms: Rooms,
    /// Calls and time per command, by the command's number.
    pub per_command: CommandTable,
    /// Error replies by their first word.
    pub errors: ErrorTable,
    driver: OnceLock<Driver>,
}

/// What a shard said of its transports.
#[derive(Debug)]
struct Driver {
    name: String,
    story: String,
}

impl Block {
    /// A block for a catalog of `commands` commands (subcommands included).
    pub fn new(commands: usize) -> Block {
        Block {
            counters: Counters::default(),
            rooms: Rooms::default(),
            per_command: CommandTable::new(commands),
            errors: ErrorTable::default(),
            driver: OnceLock::new(),
        }
    }

    /// Says once which transports the shard runs on, such as `uring` or `epoll+shm`, and how they are set
    /// up or why they are not the ones that were wished for. Later calls change nothing.
    pub fn name_driver(&self, driver: &str, story: &str) {
        self.driver.get_or_init(|| Driver { name: driver.to_owned(), story: story.to_owned() });
    }

    /// The transports the shard runs on; empty before it has said so.
    pub fn driver(&self) -> &str {
        self.driver.get().map_or("", |driver| &driver.name)
    }

    /// How the transports are set up, or why they are these; one line for an operator.
    pub fn driver_story(&self) -> &str {
        self.driver.get().map_or("", |driver| &driver.story)
    }

    /// The plain numbers, as one value.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

impl Deref for Block {
    type Target = Counters;

    #[inline(always)]
    fn deref(&self) -> &Counters {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_counts_through_named_fields() {
        let block = Block::new(3);
        block.commands.add(2);
        block.keys[0].set(5);
        block.keys[15].set(6);
        block.memory_tables.add(7);
        assert_eq!((block.commands.read(), block.keys_total(), block.memory_total()), (2, 11, 7));
    }

    #[test]
    fn the_ratio_is_that_of_useful_ticks() {
        let block = Block::new(0);
        assert_eq!(block.useful_ratio(), 0.0);
        block.ticks.add(8);
        block.useful_ticks.add(2);
        assert_eq!(block.useful_ratio(), 0.25);
    }

    #[test]
    fn a_driver_is_named_once() {
        let block = Block::new(0);
        assert_eq!(block.driver(), "");
        block.name_driver("epoll", "as asked for");
        block.name_driver("uring", "");
        assert_eq!((block.driver(), block.driver_story()), ("epoll", "as asked for"));
    }

    #[test]
    fn blocks_share_no_cache_line() {
        assert_eq!(std::mem::align_of::<Block>(), 128);
        assert_eq!(std::mem::size_of::<Block>() % 128, 0);
    }
}
