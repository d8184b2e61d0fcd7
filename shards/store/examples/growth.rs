//! Grows a store to ten million keys of 16 + 16 bytes and prints what it costs: bytes an entry, the
//! worst insert in CPU time, the time of a get. `cargo run --release -p corelane-store --example growth`.

use corelane_store::{Expiry, Hasher, Store};
use std::time::Duration;

const NOW: i64 = 1_700_000_000_000;

/// CPU time of this thread: what the scheduler does meanwhile does not count.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that lives through the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(result, 0, "every Linux has this clock");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has /proc");
    let pages: usize = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("second field");
    pages * 4096
}

fn name(number: u64) -> [u8; 16] {
    let mut name = *b"key:000000000000";
    let mut rest = number;
    for digit in name[4..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    name
}

/// A permutation of the numbers below `count`, by steps of a prime that does not divide it.
fn shuffled(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |number| number * 7_368_787 % count)
}

fn main() {
    let count = std::env::args().nth(1).map_or(10_000_000, |text| text.parse().expect("a number of keys"));
    let mut store = Store::new(Hasher::new([11, 22, 33, 44]), 16);
    println!("empty: {} bytes by own count", store.bytes().total());
    let before = resident_bytes();
    grow(&mut store, count);
    let resident = resident_bytes() - before;
    let usage = store.bytes();
    println!("{usage:?}");
    println!(
        "overhead: {:.2} B an entry resident, {:.2} B by own count (keys and values are 32)",
        resident as f64 / count as f64 - 32.0,
        usage.total() as f64 / count as f64 - 32.0,
    );
    let stats = store.table_stats(0);
    println!("{} segments, depth {}, fullest {}", stats.segments, stats.depth_max, stats.segment_keys_max);
    println!("fill {:?}\nprobes {:?}", stats.fill, stats.probes);
    read(&mut store, count);
    shrink(&mut store, count);
    println!("left: {:?}, {} bytes resident", store.bytes(), resident_bytes().saturating_sub(before));
}

/// Inserts all keys, timing each. The clock itself is taken off by its own cheapest reading.
fn grow(store: &mut Store, count: u64) {
    let floor = (0..1000).map(|_| -(cpu_time().as_nanos() as i64 - cpu_time().as_nanos() as i64)).min();
    let floor = floor.expect("a thousand readings") as u64;
    let mut times = Vec::with_capacity(count as usize);
    for number in shuffled(count) {
        let name = name(number);
        let start = cpu_time();
        let key = store.key(&name);
        store.set_text(0, key, b"a value of 16 B.", Expiry::None);
        times.push(((cpu_time() - start).as_nanos() as u64).saturating_sub(floor) as u32);
    }
    let mean = times.iter().map(|&time| u64::from(time)).sum::<u64>() / count;
    times.sort_unstable();
    let at = |part: f64| times[(part * (count - 1) as f64) as usize];
    println!(
        "insert, CPU ns: mean {mean}, p50 {}, p99.9 {}, p99.99 {}, p99.999 {}, worst five {:?} (clock {floor} taken off)",
        at(0.5),
        at(0.999),
        at(0.9999),
        at(0.99999),
        &times[times.len() - 5..],
    );
}

fn read(store: &mut Store, count: u64) {
    let start = cpu_time();
    let mut bytes = 0;
    for number in shuffled(count) {
        let name = name(number);
        let key = store.key(&name);
        bytes += store.find(0, key, NOW).map_or(0, |entry| entry.len());
    }
    assert_eq!(bytes as u64, count * 16, "every key is found");
    println!("get, one at a time: {} ns", (cpu_time() - start).as_nanos() as u64 / count);

    let start = cpu_time();
    let mut bytes = 0;
    let mut numbers = shuffled(count);
    loop {
        let names: Vec<[u8; 16]> = numbers.by_ref().take(64).map(name).collect();
        if names.is_empty() {
            break;
        }
        let keys: Vec<_> = names.iter().map(|name| store.key(name)).collect();
        keys.iter().for_each(|key| store.prefetch(0, key.hash));
        keys.iter().for_each(|key| store.prefetch_entry(0, key.hash));
        bytes +=
            keys.iter().map(|key| store.find(0, *key, NOW).map_or(0, |entry| entry.len())).sum::<usize>();
    }
    assert_eq!(bytes as u64, count * 16, "every key is found");
    println!("get, prefetched by 64: {} ns", (cpu_time() - start).as_nanos() as u64 / count);
}

fn shrink(store: &mut Store, count: u64) {
    let mut worst = Duration::ZERO;
    let start = cpu_time();
    for number in shuffled(count) {
        let name = name(number);
        let before = cpu_time();
        let key = store.key(&name);
        assert!(store.remove(0, key, NOW), "every key is there");
        worst = worst.max(cpu_time() - before);
    }
    let mean = (cpu_time() - start).as_nanos() as u64 / count;
    println!("remove: {mean} ns with the clock, worst {} ns", worst.as_nanos());
    while store.reclaim(1000) {}
}
