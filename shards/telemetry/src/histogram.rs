//! A histogram of nanoseconds with one writer: log-linear buckets, eight to each power of two, so
//! that a value is known to one part in eight and a record costs about two nanoseconds.

use crate::Counter;

/// Number of buckets: eight for each of 31 octaves, and eight below 64 ns.
pub const BUCKETS: usize = 256;

/// Longer times than this (137 s) are counted as this.
pub const MAX_NANOSECONDS: u64 = (1 << 37) - 1;

/// Each power of two is cut into `1 << SUB_BITS` buckets of equal width.
const SUB_BITS: u32 = 3;

/// Below 64 ns the buckets are 8 ns wide: finer than any clock read on the path.
const FIRST_OCTAVE: u32 = 6;

/// By how much the smallest values are shifted: their buckets are 8 ns wide.
const SMALLEST_SHIFT: u32 = FIRST_OCTAVE - SUB_BITS;

/// 1,024 ns stand for a microsecond where powers of two are asked for.
const MICROSECOND_POWER: u32 = 10;

/// The bucket of a value. With `exponent` the position of its top bit (at least 6), its top four bits
/// are `value >> (exponent - 3)`, of which the leading one is worth 8: eight buckets per exponent.
#[inline(always)]
fn bucket_of(nanoseconds: u64) -> usize {
    let shift = (nanoseconds | (1 << FIRST_OCTAVE)).ilog2() - SUB_BITS;
    let index = (nanoseconds >> shift) + (u64::from(shift - SMALLEST_SHIFT) << SUB_BITS);
    (index as usize).min(BUCKETS - 1)
}

/// The least value that bucket `index` holds; the bucket ends where the next one begins.
fn bucket_start(index: usize) -> u64 {
    let index = index as u64;
    let subs = 1 << SUB_BITS;
    if index < 2 * subs {
        return index << SMALLEST_SHIFT;
    }
    let octave = index / subs - 1;
    (subs + index % subs) << (octave + u64::from(SMALLEST_SHIFT))
}

/// The live histogram: one owner records, anyone takes a snapshot.
#[derive(Debug)]
pub struct Histogram {
    buckets: [Counter; BUCKETS],
    sum: Counter,
    max: Counter,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: [const { Counter::new() }; BUCKETS], sum: Counter::new(), max: Counter::new() }
    }
}

impl Histogram {
    /// Counts one duration. Owner only.
    #[inline(always)]
    pub fn record(&self, nanoseconds: u64) {
        self.buckets[bucket_of(nanoseconds)].add(1);
        self.sum.add(nanoseconds);
        self.max.raise(nanoseconds);
    }

    /// Counts `times` equal durations, such as those of a batch that shared one clock read. Owner only.
    #[inline]
    pub fn record_many(&self, nanoseconds: u64, times: u64) {
        if times == 0 {
            return;
        }
        self.buckets[bucket_of(nanoseconds)].add(times);
        self.sum.add(nanoseconds.saturating_mul(times));
        self.max.raise(nanoseconds);
    }

    /// A copy. A record made meanwhile may be in part of it: it is off by one, never wrong for long.
    pub fn snapshot(&self) -> HistogramSnapshot {
        let mut copy = HistogramSnapshot::default();
        copy.absorb(self);
        copy
    }
}

/// A copy of a histogram, or of several added up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HistogramSnapshot {
    buckets: Box<[u64; BUCKETS]>,
    sum: u64,
    max: u64,
}

impl Default for HistogramSnapshot {
    fn default() -> Self {
        Self { buckets: Box::new([0; BUCKETS]), sum: 0, max: 0 }
    }
}

impl HistogramSnapshot {
    /// Adds what a live histogram holds now.
    pub fn absorb(&mut self, live: &Histogram) {
        for (to, from) in self.buckets.iter_mut().zip(&live.buckets) {
            *to += from.read();
        }
        self.sum = self.sum.wrapping_add(live.sum.read());
        self.max = self.max.max(live.max.read());
    }

    /// Adds another shard's.
    pub fn merge(&mut self, other: &HistogramSnapshot) {
        for (to, from) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *to += from;
        }
        self.sum = self.sum.wrapping_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// What was recorded after `base` was taken. The greatest value is then known to its bucket only.
    pub fn since(&self, base: &HistogramSnapshot) -> HistogramSnapshot {
        let mut rest = self.clone();
        for (to, from) in rest.buckets.iter_mut().zip(base.buckets.iter()) {
            *to = to.saturating_sub(*from);
        }
        rest.sum = self.sum.wrapping_sub(base.sum);
        let top = rest.buckets.iter().rposition(|&count| count > 0);
        rest.max = top.map_or(0, |index| (bucket_start(index + 1) - 1).min(self.max));
        rest
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Their sum in nanoseconds.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The longest in nanoseconds; 0 where there is none.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The mean in nanoseconds; 0 where there is none.
    pub fn mean(&self) -> u64 {
        self.sum.checked_div(self.count()).unwrap_or(0)
    }

    /// The value in nanoseconds that `percent` percent (0.0 to 100.0) of the records do not exceed:
    /// the middle of its bucket, so at most one sixteenth (or 4 ns) off. 0 where there are no records.
    pub fn percentile(&self, percent: f64) -> u64 {
        let count = self.count();
        let rank = ((percent / 100.0 * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut seen = 0;
        for (index, &held) in self.buckets.iter().enumerate() {
            seen += held;
            if seen >= rank {
                let (start, end) = (bucket_start(index), bucket_start(index + 1));
                return (start + (end - start) / 2).min(self.max);
            }
        }
        0
    }

    /// How many records are below `1 << exponent` nanoseconds: exact, since every power of two from
    /// 64 ns on is an edge between buckets. Makes the cumulative buckets of Prometheus.
    pub fn count_below_power(&self, exponent: u32) -> u64 {
        assert!(exponent >= FIRST_OCTAVE, "powers of two below 64 ns are no edge");
        let octaves = (exponent - FIRST_OCTAVE + 1) as usize;
        self.buckets[..(octaves << SUB_BITS).min(BUCKETS)].iter().sum()
    }

    /// The same at each doubling, for LATENCY HISTOGRAM: pairs of (microseconds, records so far), from
    /// 1 us (1,024 ns) on; steps that add nothing are left out, and it ends once all are counted.
    pub fn doublings_us(&self) -> Vec<(u64, u64)> {
        let mut pairs = Vec::new();
        let mut last = 0;
        for step in 0..=(MAX_NANOSECONDS.ilog2() - MICROSECOND_POWER + 1) {
            let below = self.count_below_power(MICROSECOND_POWER + step);
            if below > last {
                pairs.push((1 << step, below));
                last = below;
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_line_without_gaps() {
        assert_eq!(bucket_start(0), 0);
        assert_eq!(bucket_start(BUCKETS), MAX_NANOSECONDS + 1);
        for index in 0..BUCKETS {
            let (start, end) = (bucket_start(index), bucket_start(index + 1));
            assert!(start < end);
            assert_eq!(bucket_of(start), index);
            assert_eq!(bucket_of(end - 1), index);
            assert!(end - start <= (start / 8).max(8), "width of bucket {index}");
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn powers_of_two_are_exact_edges() {
        let histogram = Histogram::default();
        for power in 6..37 {
            histogram.record((1 << power) - 1);
            histogram.record(1 << power);
        }
        let copy = histogram.snapshot();
        for power in 6..37 {
            assert_eq!(copy.count_below_power(power), 2 * (u64::from(power) - 6) + 1, "below 2^{power}");
        }
        assert_eq!(copy.count_below_power(60), copy.count());
    }

    #[test]
    fn many_equals_one_many_times() {
        let (one, many) = (Histogram::default(), Histogram::default());
        for value in [0, 63, 64, 1_000, 5_000_000] {
            (0..7).for_each(|_| one.record(value));
            many.record_many(value, 7);
        }
        many.record_many(u64::MAX, 0);
        assert_eq!(one.snapshot(), many.snapshot());
        assert_eq!(one.snapshot().mean(), (63 + 64 + 1_000 + 5_000_000) / 5);
    }

    #[test]
    fn an_empty_one_says_zero() {
        let copy = Histogram::default().snapshot();
        assert_eq!((copy.percentile(50.0), copy.percentile(100.0), copy.max(), copy.mean()), (0, 0, 0, 0));
        assert!(copy.doublings_us().is_empty());
    }

    #[test]
    fn since_takes_off_what_was_there_before() {
        let histogram = Histogram::default();
        histogram.record(9_000_000);
        let base = histogram.snapshot();
        assert_eq!(base.since(&base).max(), 0);
        histogram.record_many(500, 4);
        let rest = histogram.snapshot().since(&base);
        assert_eq!((rest.count(), rest.sum()), (4, 2_000));
        assert!((500..576).contains(&rest.max()), "{}", rest.max());
    }

    #[test]
    fn doublings_count_up_to_all() {
        let histogram = Histogram::default();
        histogram.record_many(300, 2);
        histogram.record_many(3_000, 3);
        histogram.record(130_000_000_000);
        assert_eq!(histogram.snapshot().doublings_us(), [(1, 2), (4, 5), (1 << 27, 6)]);
    }
}
