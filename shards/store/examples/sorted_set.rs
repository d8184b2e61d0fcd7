//! Grows a sorted set to a million members of 16 bytes and prints what it costs: bytes a member, time of
//! the operations, the worst single one in CPU time.
//! `cargo run --release -p corelane-store --example sorted_set -- 1000000`.
//!
//! Growth is the same in every run, noise is not: an operation is charged the least of its times in
//! several runs.

use corelane_store::{BigSortedSet, Edge, Hasher};
use std::hint::black_box;
use std::time::Duration;

/// The server's own allocator.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const RUNS: usize = 4;

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

/// A score that has nothing to do with the member's number.
fn score(number: u64) -> f64 {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24) as f64 / 16.0
}

fn grown(hasher: &Hasher, count: u64) -> BigSortedSet {
    let mut set = BigSortedSet::new();
    for number in shuffled(count) {
        set.set(hasher, &name(number), score(number));
    }
    set
}

fn timed(what: &str, count: u64, mut operation: impl FnMut(u64)) {
    let start = cpu_time();
    shuffled(count).for_each(&mut operation);
    println!("  {what}: {} ns", (cpu_time() - start).as_nanos() as u64 / count);
}

fn times(hasher: &Hasher, count: u64) {
    println!("{count} members");
    timed("names and hashes alone", count, |number| {
        black_box(hasher.hash(&name(number)));
    });
    let mut set = BigSortedSet::new();
    timed("add", count, |number| {
        set.set(hasher, &name(number), score(number));
    });
    timed("score", count, |number| {
        black_box(set.score(hasher, &name(number)));
    });
    timed("rank", count, |number| {
        black_box(set.rank(hasher, &name(number)));
    });
    timed("count before a score", count, |number| {
        black_box(set.count_before(Edge::Score { score: score(number), behind: false }));
    });
    timed("change to a near score", count, |number| {
        set.set(hasher, &name(number), score(number) + 1.0);
    });
    timed("change to a far score", count, |number| {
        set.set(hasher, &name(number), score(number + 1));
    });
    timed("remove", count, |number| {
        set.remove(hasher, &name(number));
    });
}

/// The least time of each insertion over several runs, sorted.
fn worst(hasher: &Hasher, count: u64) {
    let mut least = vec![u32::MAX; count as usize];
    for _ in 0..RUNS {
        let mut set = BigSortedSet::new();
        for (least, number) in least.iter_mut().zip(shuffled(count)) {
            let start = cpu_time();
            set.set(hasher, &name(number), score(number));
            *least = (*least).min((cpu_time() - start).as_nanos() as u32);
        }
    }
    least.sort_unstable();
    let at = |part: f64| least[(part * (least.len() - 1) as f64) as usize];
    println!(
        "one add, CPU ns, least of {RUNS} runs: p50 {}, p99 {}, p99.99 {}, worst five {:?}",
        at(0.5),
        at(0.99),
        at(0.9999),
        &least[least.len().saturating_sub(5)..],
    );
}

fn main() {
    let count = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().expect("a number of members"));
    let hasher = Hasher::new([11, 22, 33, 44]);
    let before = resident_bytes();
    let set = grown(&hasher, count);
    println!(
        "{count} members of 16 bytes: {:.1} bytes each resident, {:.1} by own count",
        (resident_bytes() - before) as f64 / count as f64,
        set.memory_bytes() as f64 / count as f64,
    );
    drop(set);
    for count in [200, 2_000, 20_000, count] {
        times(&hasher, count);
    }
    worst(&hasher, count);
}
