//! What happens a second: a ring of samples, as INFO's instantaneous_* figures are made. It reads
//! counters and sets gauges; it knows nothing of what they count.

use telemetry::Block;

/// Samples that are averaged: 1.6 seconds at ten a second, as in Redis.
const SAMPLES: usize = 16;

/// Commands, bytes in, bytes out: totals or a second.
type Figures = [u64; 3];

/// Rates of the last samples.
#[derive(Default, Debug)]
pub(crate) struct Rates {
    ring: [Figures; SAMPLES],
    next: usize,
    /// Totals when the last sample was taken, and when that was.
    before: Figures,
    before_ns: u64,
    moving: bool,
}

impl Rates {
    /// Takes a sample and shows the mean of the ring.
    pub(crate) fn sample(&mut self, now_ns: u64, block: &Block) {
        let totals = [block.commands.read(), block.bytes_in.read(), block.bytes_out.read()];
        let elapsed_ns = u128::from(now_ns.saturating_sub(self.before_ns).max(1));
        let rate = |place: usize| {
            let change = totals[place].saturating_sub(self.before[place]);
            (u128::from(change) * 1_000_000_000 / elapsed_ns) as u64
        };
        self.ring[self.next] = [rate(0), rate(1), rate(2)];
        self.next = (self.next + 1) % SAMPLES;
        self.before = totals;
        self.before_ns = now_ns;
        let mean =
            |place: usize| self.ring.iter().map(|figures| figures[place]).sum::<u64>() / SAMPLES as u64;
        block.commands_per_second.set(mean(0));
        block.bytes_in_per_second.set(mean(1));
        block.bytes_out_per_second.set(mean(2));
        self.moving = self.ring.iter().flatten().any(|figure| *figure > 0);
    }

    /// A rate is not zero: samples are due even if nothing happens.
    pub(crate) fn is_moving(&self) -> bool {
        self.moving
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_rise_with_traffic_and_fall_to_zero_without() {
        let (mut rates, block) = (Rates::default(), Block::new(0));
        for tenth in 1..=16 {
            block.commands.add(100);
            block.bytes_in.add(7);
            rates.sample(tenth * 100_000_000, &block);
        }
        assert_eq!((block.commands_per_second.read(), block.bytes_in_per_second.read()), (1000, 70));
        assert!(rates.is_moving());
        (17..=32).for_each(|tenth| rates.sample(tenth * 100_000_000, &block));
        assert_eq!(block.commands_per_second.read(), 0);
        assert!(!rates.is_moving());
    }

    #[test]
    fn a_late_sample_counts_for_the_time_it_stands_for() {
        let (mut rates, block) = (Rates::default(), Block::new(0));
        block.bytes_out.add(1600);
        rates.sample(1_000_000_000, &block);
        assert_eq!(block.bytes_out_per_second.read(), 100);
    }
}
