//! Grows a big set and a big hash to a million entries and prints what they cost: resident bytes an
//! entry, the worst insert in CPU time, the time of each operation; then both at a size that fits the
//! caches. `cargo run --release -p corelane-store --example pages [entries]`, with the server's allocator.

use corelane_store::{BigHash, BigSet, Hasher};
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

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

fn name<const N: usize>(number: u64) -> [u8; N] {
    let mut name = [b'e'; N];
    let mut rest = number;
    for digit in name[N - 12..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    name
}

/// A permutation of the numbers below `count`, by steps of a prime that does not divide it.
fn shuffled(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |number| number * 7_368_787 % count)
}

fn hasher() -> Hasher {
    Hasher::new([11, 22, 33, 44])
}

/// Nanoseconds of CPU time that `run` takes, for each of `count`.
fn each(count: u64, run: impl FnOnce()) -> u64 {
    let start = cpu_time();
    run();
    (cpu_time() - start).as_nanos() as u64 / count
}

/// What a collection of either kind can do here.
trait Collection {
    fn put(&mut self, number: u64, hasher: &Hasher);
    fn has(&self, number: u64, hasher: &Hasher) -> bool;
    fn take(&mut self, number: u64, hasher: &Hasher) -> bool;
    fn memory(&self) -> usize;
}

impl Collection for BigSet {
    fn put(&mut self, number: u64, hasher: &Hasher) {
        self.insert(&name::<16>(number), hasher);
    }
    fn has(&self, number: u64, hasher: &Hasher) -> bool {
        self.contains(&name::<16>(number), hasher)
    }
    fn take(&mut self, number: u64, hasher: &Hasher) -> bool {
        self.remove(&name::<16>(number), hasher)
    }
    fn memory(&self) -> usize {
        self.memory_bytes()
    }
}

impl Collection for BigHash {
    fn put(&mut self, number: u64, hasher: &Hasher) {
        self.set(&name::<18>(number), &name::<16>(number), false, hasher, 0);
    }
    fn has(&self, number: u64, hasher: &Hasher) -> bool {
        self.get(&name::<18>(number), hasher, 0).is_some()
    }
    fn take(&mut self, number: u64, hasher: &Hasher) -> bool {
        self.remove(&name::<18>(number), hasher, 0)
    }
    fn memory(&self) -> usize {
        self.memory_bytes()
    }
}

fn report(what: &str, mut collection: impl Collection, count: u64) {
    let (hasher, before) = (hasher(), resident_bytes());
    let put = each(count, || shuffled(count).for_each(|number| collection.put(number, &hasher)));
    let resident = resident_bytes().saturating_sub(before) as f64 / count as f64;
    let counted = collection.memory() as f64 / count as f64;
    let has = each(count, || assert!(shuffled(count).all(|number| collection.has(number, &hasher))));
    let misses =
        each(count, || assert!(!shuffled(count).any(|number| collection.has(number + count, &hasher))));
    let put_again = each(count, || shuffled(count).for_each(|number| collection.put(number, &hasher)));
    let take = each(count, || assert!(shuffled(count).all(|number| collection.take(number, &hasher))));
    println!("{what} of {count}: {resident:.2} bytes each resident, {counted:.2} by own count");
    println!("  ns: put {put}, has {has}, has not {misses}, put again {put_again}, take {take}");
    println!("  left {} bytes", collection.memory());
}

/// The worst inserts, each charged the least of its times in some runs: what is noise differs.
fn worst<C: Collection>(what: &str, new: impl Fn() -> C, count: u64) {
    let hasher = hasher();
    let mut least = vec![u32::MAX; count as usize];
    for _ in 0..4 {
        let mut collection = new();
        for (number, least) in shuffled(count).zip(&mut least) {
            let start = cpu_time();
            collection.put(number, &hasher);
            *least = (*least).min((cpu_time() - start).as_nanos() as u32);
        }
    }
    least.sort_unstable();
    println!("{what}: worst inserts {:?} ns", &least[least.len() - 5..]);
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().map_or(1_000_000, |text| text.parse().expect("a number"));
    match arguments.next().as_deref() {
        Some("set") => report("set, 16 bytes", BigSet::new(), count),
        Some("hash") => report("hash, 18+16 bytes", BigHash::new(), count),
        _ => all(count),
    }
}

fn all(count: u64) {
    // What is resident is true of a process that had nothing else before.
    for kind in ["set", "hash"] {
        for part in [count, count * 3 / 4, count * 5 / 8] {
            let program = std::env::current_exe().expect("Linux says");
            let mut command = std::process::Command::new(program);
            let status = command.args([&part.to_string(), kind]).status().expect("it runs already");
            assert!(status.success());
        }
    }
    for _ in 0..2 {
        report("set, 16 bytes", BigSet::new(), 1009);
        report("hash, 18+16 bytes", BigHash::new(), 1009);
    }
    worst("set", BigSet::new, count);
    worst("hash", BigHash::new, count);
}
