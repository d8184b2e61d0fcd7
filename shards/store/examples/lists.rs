//! Grows lists and prints what they cost: bytes an element, the time of each operation, the worst push in CPU
//! time. `cargo run --release -p corelane-store --example lists`. The worst push is the least of three runs
//! for each push, since only growth is the same in all of them, and noise is not.

use corelane_store::{Hasher, ListMut, Side, Store};
use std::time::Duration;

const NOW: i64 = 1_700_000_000_000;
const CHUNK_SIZE: i32 = -2;

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

fn element(number: usize) -> [u8; 16] {
    let mut text = *b"el:0000000000000";
    let mut rest = number;
    for digit in text[3..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    text
}

fn new_store() -> Store {
    Store::new(Hasher::new([11, 22, 33, 44]), 1)
}

fn list(store: &mut Store) -> ListMut<'_> {
    let key = store.key(b"list");
    store.list_or_new(0, key, NOW, CHUNK_SIZE).expect("it is a list")
}

fn timed(what: &str, count: usize, mut run: impl FnMut(usize)) {
    let start = cpu_time();
    (0..count).for_each(&mut run);
    println!("{what}: {} ns", (cpu_time() - start).as_nanos() as usize / count);
}

fn main() {
    for (count, side) in
        [(100_000, Side::Right), (100_000, Side::Left), (1_000_000, Side::Right), (1_000_000, Side::Left)]
    {
        let mut store = new_store();
        let before = resident_bytes();
        (0..count).for_each(|number| list(&mut store).push(side, &element(number)));
        let (resident, own) = (resident_bytes().saturating_sub(before), store.bytes().total());
        let key = store.key(b"list");
        let alone = store.find(0, key, NOW).map_or(0, |entry| entry.memory_bytes());
        println!(
            "{count} elements of 16 bytes pushed {side:?}: {:.2} bytes each resident with an empty store's, {:.2} by \
             own count, {:.2} of the key alone",
            resident as f64 / count as f64,
            own as f64 / count as f64,
            alone as f64 / count as f64,
        );
    }
    for length in [30, 1_000, 1_000_000] {
        println!("a list of {length}:");
        operations(length);
    }
    worst_push(1_000_000);
}

fn operations(length: usize) {
    const RUNS: usize = 200_000;
    let mut store = new_store();
    (0..length).for_each(|number| list(&mut store).push(Side::Right, &element(number)));
    let key = store.key(b"list");
    timed("  push and pop, right and left", RUNS, |number| {
        list(&mut store).push(Side::Right, &element(number));
        list(&mut store).remove_from(Side::Left, 1);
    });
    timed("  push and pop, left", RUNS, |number| {
        list(&mut store).push(Side::Left, &element(number));
        list(&mut store).remove_from(Side::Left, 1);
    });
    let mut bytes = 0;
    timed("  get by index", RUNS, |number| {
        let entry = store.find(0, key, NOW).expect("it is there");
        let view = entry.list().expect("it is a list");
        bytes += view.get(number * 7_368_787 % length).map_or(0, |text| text.len());
    });
    assert_eq!(bytes, RUNS * 16);
    timed("  insert and remove in the middle", RUNS, |number| {
        list(&mut store).insert(length / 2, &element(number));
        list(&mut store).remove(length / 2, 1);
    });
    timed("  read an element in order", (RUNS / length).max(1), |_| {
        let entry = store.find(0, key, NOW).expect("it is there");
        bytes += entry.list().expect("it is a list").rightward(0).map(|text| text.len()).sum::<usize>();
    });
    println!("  (of {length} elements each)");
}

fn worst_push(count: usize) {
    let mut least = vec![u128::MAX; count];
    for _ in 0..3 {
        let mut store = new_store();
        for (number, least) in least.iter_mut().enumerate() {
            let side = if number % 2 == 0 { Side::Left } else { Side::Right };
            let start = cpu_time();
            list(&mut store).push(side, &element(number));
            *least = (*least).min((cpu_time() - start).as_nanos());
        }
    }
    least.sort_unstable();
    println!(
        "push while growing to {count}, CPU ns with the clock's own: p50 {}, p99 {}, worst five {:?}",
        least[count / 2],
        least[count * 99 / 100],
        &least[count - 5..]
    );
}
