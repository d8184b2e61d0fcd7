//! Grows a store to ten million keys of 16 + 16 bytes and prints what it costs: bytes an entry, the
//! worst insert in CPU time, the time of a get. `cargo run --release -p corelane-store --example growth`.
//!
//! Growth is the same in every run, noise (interrupts, neighbours on the host) is not. So it is run
//! several times, each in a process of its own with fresh memory, and an insert is charged the least of
//! its times. The worst raw time is printed too, and that of a loop of fixed work beside it.

use corelane_store::{Expiry, Hasher, Key, Store};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

const NOW: i64 = 1_700_000_000_000;
const RUNS: usize = 4;

/// CPU time of this thread: what the scheduler does meanwhile does not count.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that lives through the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(result, 0, "every Linux has this clock");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn elapsed_ns(start: Duration) -> u32 {
    (cpu_time() - start).as_nanos() as u32
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

fn new_store() -> Store {
    Store::new(Hasher::new([11, 22, 33, 44]), 16)
}

fn insert(store: &mut Store, number: u64) {
    let name = name(number);
    let key = store.key(&name);
    store.set_text(0, key, b"a value of 16 B.", Expiry::None);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.first().map_or(10_000_000, |text| text.parse().expect("a number of keys"));
    if arguments.len() > 1 {
        return time_inserts(count);
    }
    let before = resident_bytes();
    let mut store = new_store();
    shuffled(count).for_each(|number| insert(&mut store, number));
    let overhead = |bytes: usize| bytes as f64 / count as f64 - 32.0;
    println!(
        "overhead over the 32 bytes: {:.2} resident, {:.2} by own count: {:?}",
        overhead(resident_bytes() - before),
        overhead(store.bytes().total()),
        store.bytes(),
    );
    let stats = store.table_stats(0);
    println!("{} segments, depth {}, fullest {}", stats.segments, stats.depth_max, stats.segment_keys_max);
    println!("fill {:?}, probes {:?}", stats.fill, stats.probes);
    read(&mut store, count);
    shrink(&mut store, count);
    drop(store);
    report_inserts(count);
}

/// One run, in a process of its own: writes the time of each insert, and of the fixed work after it.
fn time_inserts(count: u64) {
    let mut store = new_store();
    let mut times = vec![1u32; count as usize];
    let mut controls = vec![1u32; count as usize];
    let mut sum = 0u64;
    for (index, number) in shuffled(count).enumerate() {
        let start = cpu_time();
        insert(&mut store, number);
        times[index] = elapsed_ns(start);
        let start = cpu_time();
        for step in 0..400 {
            sum = std::hint::black_box(sum.wrapping_mul(31) + step);
        }
        controls[index] = elapsed_ns(start);
    }
    let mut out = std::io::stdout().lock();
    for time in times.iter().chain(&controls) {
        out.write_all(&time.to_le_bytes()).expect("the parent reads all");
    }
}

fn report_inserts(count: u64) {
    let mut least = vec![u32::MAX; 2 * count as usize];
    let (mut worst, mut worst_control) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let program = std::env::current_exe().expect("Linux says");
        let mut child = Command::new(program);
        child.args([&count.to_string(), "times"]).stdout(Stdio::piped());
        let mut child = child.spawn().expect("it runs already");
        let mut bytes = Vec::with_capacity(8 * count as usize);
        child.stdout.take().expect("piped").read_to_end(&mut bytes).expect("a pipe");
        assert!(child.wait().expect("our child").success());
        let times: Vec<u32> =
            bytes.chunks_exact(4).map(|time| u32::from_le_bytes(time.try_into().expect("4 bytes"))).collect();
        least.iter_mut().zip(&times).for_each(|(least, &time)| *least = (*least).min(time));
        let (inserts, controls) = times.split_at(count as usize);
        worst.push(inserts.iter().max().copied().unwrap_or(0));
        worst_control.push(controls.iter().max().copied().unwrap_or(0));
    }
    let (inserts, controls) = least.split_at_mut(count as usize);
    print_times("insert, CPU ns, least of its runs", inserts);
    print_times("fixed work, the same way", controls);
    println!("worst of each run: inserts {worst:?}, fixed work {worst_control:?}");
}

fn print_times(what: &str, times: &mut [u32]) {
    times.sort_unstable();
    let at = |part: f64| times[(part * (times.len() - 1) as f64) as usize];
    let mean = times.iter().map(|&time| u64::from(time)).sum::<u64>() / times.len() as u64;
    println!(
        "{what}: mean {mean}, p50 {}, p99 {}, p99.9 {}, p99.99 {}, worst five {:?}",
        at(0.5),
        at(0.99),
        at(0.999),
        at(0.9999),
        &times[times.len().saturating_sub(5)..],
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
        let keys: Vec<Key<'_>> = names.iter().map(|name| store.key(name)).collect();
        keys.iter().for_each(|key| store.buckets(0).prefetch(key.hash));
        keys.iter().for_each(|key| store.prefetch_entry(0, key.hash));
        bytes +=
            keys.iter().map(|key| store.find(0, *key, NOW).map_or(0, |entry| entry.len())).sum::<usize>();
    }
    assert_eq!(bytes as u64, count * 16, "every key is found");
    println!("get, prefetched by 64: {} ns", (cpu_time() - start).as_nanos() as u64 / count);
}

fn shrink(store: &mut Store, count: u64) {
    let start = cpu_time();
    for number in shuffled(count) {
        let name = name(number);
        let key = store.key(&name);
        assert!(store.remove(0, key, NOW), "every key is there");
    }
    println!("remove: {} ns", (cpu_time() - start).as_nanos() as u64 / count);
    while store.reclaim(1000) {}
    println!("left: {:?}", store.bytes());
}
