//! MEMORY STATS and DOCTOR: what all shards use, in numbers and in words. It does not know how a store
//! keeps entries.

use super::info::figures::{Figures, human};
use crate::command::{Command, Everywhere, Lock, Run};
use crate::context::Args;
use crate::home::{After, Call, Home, House};
use resp::Reply;
use spec::Group;
use std::fmt::Write;

const TIPS: &[&str] = &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"];

pub(super) static DOCTOR: Command = Command::new(
    "DOCTOR",
    Group::Server,
    Run::Everywhere(&Everywhere { lock: Lock::Nothing, prepare: None, part, fold: doctor }),
)
.arity(2)
.summary("4.0.0", "Outputs a memory problems report.")
.tips(TIPS);

pub(super) static STATS: Command = Command::new(
    "STATS",
    Group::Server,
    Run::Everywhere(&Everywhere { lock: Lock::Nothing, prepare: None, part, fold: stats }),
)
.arity(2)
.summary("4.0.0", "Returns details about memory usage.")
.tips(TIPS);

/// What one shard uses, as its part of a reply.
struct Share {
    used: u64,
    /// Its room for keys and small values comes to its end.
    is_short: bool,
    /// By database: keys, and bytes of their table.
    databases: Vec<(u64, u64)>,
}

impl Share {
    fn of(house: &mut dyn House) -> Share {
        let store = house.store();
        let tables = (0..store.databases()).map(|db| (store.len(db) as u64, store.table_bytes(db) as u64));
        let databases = tables.collect();
        Share { used: store.bytes().used() as u64, is_short: !store.is_ample(), databases }
    }

    /// Numbers of eight bytes, the lowest first.
    fn write(&self, out: &mut Vec<u8>) {
        let mut number = |number: u64| out.extend_from_slice(&number.to_le_bytes());
        number(self.used);
        number(u64::from(self.is_short));
        for (keys, bytes) in &self.databases {
            number(*keys);
            number(*bytes);
        }
    }

    fn read(part: &[u8]) -> Share {
        let (numbers, _) = part.as_chunks::<8>();
        let number = |at: usize| numbers.get(at).map_or(0, |number| u64::from_le_bytes(*number));
        let databases = (2..numbers.len()).step_by(2).map(|at| (number(at), number(at + 1)));
        Share { used: number(0), is_short: number(1) != 0, databases: databases.collect() }
    }
}

fn part(house: &mut dyn House, _: &Call, _: Args<'_>, out: &mut Vec<u8>) {
    Share::of(house).write(out);
}

fn quotient(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The databases that have keys, summed over shards.
fn databases(shares: &[Share]) -> Vec<(usize, u64, u64)> {
    let count = shares.iter().map(|share| share.databases.len()).max().unwrap_or(0);
    let sum = |db: usize| {
        let shares = shares.iter().filter_map(|share| share.databases.get(db));
        shares.fold((db, 0, 0), |(db, keys, bytes), share| (db, keys + share.0, bytes + share.1))
    };
    (0..count).map(sum).filter(|(_, keys, _)| *keys > 0).collect()
}

fn stats(home: &mut Home<'_>, _: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    let figures = Figures::gather(home.house);
    let shares: Vec<Share> = parts.iter().map(|part| Share::read(part)).collect();
    let (databases, heap) = (databases(&shares), figures.allocator);
    let data = figures.totals.counters.memory_entries.read();
    let keys: u64 = databases.iter().map(|(_, keys, _)| keys).sum();
    reply.map(27 + databases.len());
    let integer = |name: &str, value: i64, reply: &mut Reply<'_>| {
        reply.bulk_text(name);
        reply.integer(value);
    };
    integer("peak.allocated", figures.peak as i64, reply);
    integer("total.allocated", figures.used as i64, reply);
    for nothing in ["startup.allocated", "replication.backlog", "clients.slaves"] {
        integer(nothing, 0, reply);
    }
    integer("clients.normal", figures.totals.counters.memory_buffers.read() as i64, reply);
    for nothing in ["cluster.links", "aof.buffer", "lua.caches", "functions.caches"] {
        integer(nothing, 0, reply);
    }
    for (db, _, bytes) in databases {
        reply.bulk_text(&format!("db.{db}"));
        reply.map(3);
        integer("overhead.hashtable.main", bytes as i64, reply);
        // Times to live are in the entries, and slots in the order of shards.
        integer("overhead.hashtable.expires", 0, reply);
        integer("overhead.hashtable.slot-to-keys", 0, reply);
    }
    integer("overhead.total", (figures.used - data) as i64, reply);
    integer("keys.count", keys as i64, reply);
    integer("keys.bytes-per-key", figures.used.checked_div(keys).unwrap_or(0) as i64, reply);
    integer("dataset.bytes", data as i64, reply);
    let double = |name: &str, value: f64, reply: &mut Reply<'_>| {
        reply.bulk_text(name);
        reply.double(value);
    };
    double("dataset.percentage", 100.0 * quotient(data, figures.used), reply);
    double("peak.percentage", 100.0 * quotient(figures.used, figures.peak), reply);
    integer("allocator.allocated", heap.allocated as i64, reply);
    integer("allocator.active", heap.active as i64, reply);
    integer("allocator.resident", heap.resident as i64, reply);
    let mut pair = |name: &str, part: u64, whole: u64, bytes: &str| {
        double(name, quotient(part, whole), reply);
        integer(bytes, part as i64 - whole as i64, reply);
    };
    pair("allocator-fragmentation.ratio", heap.active, heap.allocated, "allocator-fragmentation.bytes");
    pair("allocator-rss.ratio", heap.resident, heap.active, "allocator-rss.bytes");
    pair("rss-overhead.ratio", figures.resident, heap.resident, "rss-overhead.bytes");
    pair("fragmentation", figures.resident, figures.used, "fragmentation.bytes");
    After::Done
}

/// With less in use, nothing can be told from proportions.
const TELLING_BYTES: u64 = 5 << 20;
/// Less waste than this is none, whatever its proportion.
const WASTE_BYTES: u64 = 10 << 20;
/// More buffers a client than this are worth a word.
const CLIENT_BYTES: u64 = 200 << 10;

fn doctor(home: &mut Home<'_>, _: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    let figures = Figures::gather(home.house);
    let shares: Vec<Share> = parts.iter().map(|part| Share::read(part)).collect();
    let mut findings = Vec::new();
    if figures.used < TELLING_BYTES {
        let text = format!("Only {} are in use: too little to tell anything from.\n", human(figures.used));
        reply.verbatim("txt", text.as_bytes());
        return After::Done;
    }
    whole(&figures, &mut findings);
    of_shards(&shares, &mut findings);
    let mut text = match findings.len() {
        0 => "No trouble was found with the memory of this server.\n".to_owned(),
        1 => "One thing was found:\n".to_owned(),
        count => format!("{count} things were found:\n"),
    };
    for finding in findings {
        let _ = write!(text, "\n * {finding}\n");
    }
    reply.verbatim("txt", text.as_bytes());
    After::Done
}

/// What strikes in the process.
fn whole(figures: &Figures, findings: &mut Vec<String>) {
    let heap = figures.allocator;
    if figures.peak > figures.used / 2 * 3 {
        findings.push(format!(
            "Peak: at most {} were in use, now {} are. Resident memory may stay larger than the data for a \
             while; MEMORY PURGE asks the allocator to give back what it can.",
            human(figures.peak),
            human(figures.used)
        ));
    }
    let wastes = |part: u64, whole: u64| part > whole / 10 * 11 && part - whole > WASTE_BYTES;
    if wastes(heap.active, heap.allocated) {
        findings.push(format!(
            "Fragmentation: pages of {} hold {} that are allocated. It is usual after values of other sizes \
             were deleted, and goes as new ones come.",
            human(heap.active),
            human(heap.allocated)
        ));
    }
    if wastes(heap.resident, heap.active) {
        findings.push(format!(
            "Allocator: {} are resident for {} in use. MEMORY PURGE gives unused pages back.",
            human(heap.resident),
            human(heap.active)
        ));
    }
    if wastes(figures.resident, heap.resident) {
        findings.push(format!(
            "Process: {} are resident, {} of them the allocator's. The rest belongs to the rings of the \
             wires, to stacks and to the program itself.",
            human(figures.resident),
            human(heap.resident)
        ));
    }
    let (buffers, clients) =
        (&figures.totals.counters.memory_buffers, &figures.totals.counters.connections_open);
    let each = buffers.read().checked_div(clients.read()).unwrap_or(0);
    if each > CLIENT_BYTES {
        findings.push(format!(
            "Clients: each has {} of buffers on average. CLIENT LIST (omem, qbuf) tells who does not read, \
             or sends much at once.",
            human(each)
        ));
    }
}

/// What strikes in single shards.
fn of_shards(shares: &[Share], findings: &mut Vec<String>) {
    for (shard, _) in shares.iter().enumerate().filter(|(_, share)| share.is_short) {
        findings.push(format!(
            "Shard {shard}: its room for keys and small values comes to its end (32 GiB). More shards have \
             more room."
        ));
    }
    let average = shares.iter().map(|share| share.used).sum::<u64>() / shares.len().max(1) as u64;
    let crowded = |share: &&(usize, &Share)| share.1.used > average * 2 && share.1.used > WASTE_BYTES;
    for (shard, share) in shares.iter().enumerate().filter(|it| crowded(&it)) {
        findings.push(format!(
            "Shard {shard}: it has {}, where shards have {} on average. Keys with one hash tag are on one \
             shard, and so is each large value: corelane cli --memkeys finds them.",
            human(share.used),
            human(average)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AllocatorFigures;
    use telemetry::Snapshot;

    const MIB: u64 = 1 << 20;

    fn found(change: impl Fn(&mut Figures)) -> Vec<String> {
        let allocator = AllocatorFigures { allocated: 100 * MIB, active: 102 * MIB, resident: 104 * MIB };
        let mut figures = Figures {
            totals: Snapshot::default(),
            changes: 0,
            used: 100 * MIB,
            peak: 110 * MIB,
            resident: 106 * MIB,
            allocator,
        };
        change(&mut figures);
        let mut findings = Vec::new();
        whole(&figures, &mut findings);
        findings.iter().map(|text| text.split(':').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn what_is_out_of_proportion_is_found() {
        assert_eq!(found(|_| ()), Vec::<String>::new());
        assert_eq!(found(|it| it.peak = 200 * MIB), ["Peak"]);
        assert_eq!(found(|it| it.allocator.allocated = 80 * MIB), ["Fragmentation"]);
        assert_eq!(found(|it| it.allocator.active = 50 * MIB), ["Allocator"]);
        assert_eq!(found(|it| it.resident = 200 * MIB), ["Process"]);
        let crowd = |it: &mut Figures| {
            it.totals.counters.memory_buffers.add(10 * MIB);
            it.totals.counters.connections_open.add(5);
        };
        assert_eq!(found(crowd), ["Clients"]);
    }

    #[test]
    fn shards_that_stand_out_are_found() {
        let share = |mib: u64, is_short| Share { used: mib * MIB, is_short, databases: Vec::new() };
        let told = |shares: &[Share]| {
            let mut findings = Vec::new();
            of_shards(shares, &mut findings);
            findings.len()
        };
        assert_eq!(told(&[share(50, false), share(60, false), share(40, false)]), 0);
        assert_eq!(told(&[share(500, false), share(60, false), share(40, false)]), 1);
        assert_eq!(told(&[share(9, false), share(0, false), share(0, false)]), 0);
        assert_eq!(told(&[share(50, true)]), 1);
    }
}
