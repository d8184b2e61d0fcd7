//! How often an entry is used, kept where else its access clock is: 16 bits of minutes and 8 of a counter
//! that grows with the logarithm of uses and is lost with time, as Redis's LFU policies have it. It knows
//! neither entries nor policies.

use crate::header::ACCESS_MASK;

/// What is noted of the uses of entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UseNote {
    /// When the last one was.
    Time,
    /// How many there are.
    Frequency {
        /// How slowly the counter grows: it takes about 100 times so many uses to saturate it.
        log_factor: u32,
        /// Minutes in which one is lost; 0: none is.
        decay_minutes: u32,
    },
}

/// A new entry counts as used so often.
const FIRST: u32 = 5;
const MOST: u32 = 0xff;
/// Set in a clock, above the bits that are kept: no entry's access clock is equal to such a clock, so that
/// each use is noted, and that of times pays nothing for it.
const BY_FREQUENCY: u32 = ACCESS_MASK + 1;

/// The clock of new entries at a time in milliseconds.
pub(crate) fn clock(now: i64) -> u32 {
    BY_FREQUENCY | minutes(now) << 8 | FIRST
}

/// Whether a clock is one for frequencies.
#[inline]
pub(crate) fn is_clock(clock: u32) -> bool {
    clock > ACCESS_MASK
}

/// The counter in an access clock, as of a time in milliseconds.
pub(crate) fn counter(access: u32, now: i64, decay_minutes: u32) -> u32 {
    decayed(access, minutes(now), decay_minutes)
}

fn minutes(now: i64) -> u32 {
    u32::from((now / 60_000) as u16)
}

fn decayed(access: u32, minutes: u32, decay_minutes: u32) -> u32 {
    let elapsed = u32::from((minutes as u16).wrapping_sub((access >> 8) as u16));
    (access & MOST).saturating_sub(elapsed.checked_div(decay_minutes).unwrap_or(0))
}

/// Counts uses.
pub(crate) struct Frequency {
    log_factor: u32,
    decay_minutes: u32,
    random: u64,
}

impl Frequency {
    pub(crate) fn new(seed: u64) -> Frequency {
        Frequency { log_factor: 0, decay_minutes: 0, random: seed | 1 }
    }

    pub(crate) fn set(&mut self, log_factor: u32, decay_minutes: u32) {
        (self.log_factor, self.decay_minutes) = (log_factor, decay_minutes);
    }

    /// The access clock of an entry that is used once more.
    pub(crate) fn used(&mut self, access: u32, clock: u32) -> u32 {
        let minutes = clock >> 8 & 0xffff;
        let counter = decayed(access, minutes, self.decay_minutes);
        let odds = u64::from(counter.saturating_sub(FIRST)) * u64::from(self.log_factor) + 1;
        let grows = counter < MOST && self.below(odds) == 0;
        minutes << 8 | (counter + u32::from(grows))
    }

    /// A number below `bound`: Marsaglia's xorshift, 2003, and a multiplication.
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((u128::from(self.random) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn after(uses: u32, log_factor: u32) -> u32 {
        let mut frequency = Frequency::new(0x9E37_79B9_7F4A_7C15);
        frequency.set(log_factor, 1);
        let access = (0..uses).fold(clock(0), |access, _| frequency.used(access, clock(0)));
        counter(access, 0, 1)
    }

    /// Redis's own table of counters by factor and uses, give or take what chance does.
    #[test]
    fn counters_grow_with_the_logarithm_of_uses() {
        for (log_factor, uses, counter) in [(0, 100, 104), (1, 100, 18), (10, 100, 10), (100, 100, 8)] {
            assert!(
                after(uses, log_factor).abs_diff(counter) <= 4,
                "{log_factor} {}",
                after(uses, log_factor)
            );
        }
        for (log_factor, uses, counter) in [(0, 1000, 255), (1, 1000, 49), (10, 1000, 18), (100, 1000, 11)] {
            assert!(
                after(uses, log_factor).abs_diff(counter) <= 8,
                "{log_factor} {}",
                after(uses, log_factor)
            );
        }
        assert_eq!(after(1_000_000, 10), MOST);
    }

    #[test]
    fn counters_are_lost_with_time() {
        let access = 100 << 8 | 9;
        assert_eq!([0, 1, 3, 20].map(|passed| counter(access, (100 + passed) * MINUTE, 1)), [9, 8, 6, 0]);
        assert_eq!([0, 1, 3, 20].map(|passed| counter(access, (100 + passed) * MINUTE, 10)), [9, 9, 9, 7]);
        assert_eq!(counter(access, 70_000 * MINUTE, 0), 9);
        let mut frequency = Frequency::new(0x9E37_79B9_7F4A_7C15);
        frequency.set(1_000_000, 1);
        assert_eq!(frequency.used(access, clock(103 * MINUTE)), 103 << 8 | 6);
    }
}
