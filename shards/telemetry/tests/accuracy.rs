//! The histogram's promise, against exact percentiles of the same data: at most one sixteenth or
//! 4 ns off, for data of several shapes.

use corelane_telemetry::{Histogram, HistogramSnapshot};

/// SplitMix64 (Steele, Lea, Flood 2014): enough for test data.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn exact(sorted: &[u64], percent: f64) -> u64 {
    let rank = (percent / 100.0 * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted[rank - 1]
}

fn check(name: &str, mut values: Vec<u64>) {
    let histogram = Histogram::default();
    values.iter().for_each(|&value| histogram.record(value));
    let copy = histogram.snapshot();
    values.sort_unstable();
    for percent in [0.0, 1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0] {
        let (found, truth) = (copy.percentile(percent), exact(&values, percent));
        let bound = (truth / 16).max(4);
        assert!(found.abs_diff(truth) <= bound, "{name}, p{percent}: {found} for {truth}");
    }
    assert_eq!(copy.count(), values.len() as u64, "{name}");
    assert_eq!(copy.sum(), values.iter().sum::<u64>(), "{name}");
    assert_eq!(copy.max(), values[values.len() - 1], "{name}");
}

#[test]
fn percentiles_are_within_a_sixteenth() {
    let mut numbers = Numbers(7);
    check("one value", vec![12_345]);
    check("nothing but zero", vec![0; 10]);
    check("even", (0..50_000).map(|_| numbers.next() % 1_000_000).collect());
    check(
        "each octave alike",
        (0..50_000).map(|_| (1 << (numbers.next() % 36)) + numbers.next() % 64).collect(),
    );
    check("short", (0..50_000).map(|_| numbers.next() % 100).collect());
    let tailed = |n: u64| if n.is_multiple_of(500) { 3_000_000 + n % 1_000_000 } else { 800 + n % 300 };
    check("a fast path with a tail", (0..50_000).map(|_| tailed(numbers.next())).collect());
}

#[test]
fn merged_shards_equal_one_that_saw_all() {
    let mut numbers = Numbers(11);
    let (all, parts) = (Histogram::default(), [(); 5].map(|()| Histogram::default()));
    for number in 0..20_000 {
        let value = numbers.next() % 10_000_000;
        all.record(value);
        parts[number % 5].record(value);
    }
    let mut merged = HistogramSnapshot::default();
    parts.iter().for_each(|part| merged.merge(&part.snapshot()));
    assert_eq!(merged, all.snapshot());
}
