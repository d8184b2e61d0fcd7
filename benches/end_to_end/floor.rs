//! The machine's own floor: the median round trip of a cache line between cores 0 and 1.
//! It is printed beside every figure because virtual cores move about.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const ROUND_TRIPS: u64 = 20_000;

/// A flag alone on its pair of cache lines.
#[repr(align(128))]
struct Line(AtomicU64);

/// Median nanoseconds of one round trip between two spinning threads. The scheduler places them; on a
/// machine of two cores that is one on each.
pub(crate) fn ping_pong_ns() -> u64 {
    let lines = Arc::new((Line(AtomicU64::new(0)), Line(AtomicU64::new(0))));
    let echo_lines = Arc::clone(&lines);
    let echo = std::thread::spawn(move || {
        for turn in 1..=ROUND_TRIPS {
            while echo_lines.0.0.load(Ordering::Acquire) < turn {
                std::hint::spin_loop();
            }
            echo_lines.1.0.store(turn, Ordering::Release);
        }
    });
    let mut trips = Vec::with_capacity(ROUND_TRIPS as usize);
    for turn in 1..=ROUND_TRIPS {
        let start = Instant::now();
        lines.0.0.store(turn, Ordering::Release);
        while lines.1.0.load(Ordering::Acquire) < turn {
            std::hint::spin_loop();
        }
        trips.push(start.elapsed().as_nanos() as u64);
    }
    echo.join().expect("the echo thread only loads and stores");
    trips.sort_unstable();
    trips[trips.len() / 2]
}
