//! From how often each value stands in the registers to how many elements they have seen: Otmar Ertl, "New
//! cardinality estimation algorithms for HyperLogLog sketches", 2017 (arXiv:1702.01284), algorithm 6.

use super::REGISTERS;
use super::dense::VALUE_MAX;
use super::hash::ZERO_BITS;

/// How many values a register may have.
pub(super) const VALUES: usize = VALUE_MAX as usize + 1;

/// 1 / (2 ln 2).
const ALPHA: f64 = 0.721_347_520_444_481_7;

/// About how many elements, by how many registers have each value.
pub(super) fn count(histogram: &[u32; VALUES]) -> u64 {
    let registers = REGISTERS as f64;
    let full = histogram[ZERO_BITS as usize + 1];
    let mut sum = registers * tau((registers - f64::from(full)) / registers);
    for value in (1..=ZERO_BITS as usize).rev() {
        sum = 0.5 * (sum + f64::from(histogram[value]));
    }
    sum += registers * sigma(f64::from(histogram[0]) / registers);
    // Of empty ones the sum is infinite, and this 0. What no elements can have made saturates.
    (ALPHA * registers * registers / sum).round() as u64
}

/// x + the sum over k >= 1 of x^(2^k) 2^(k-1).
fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut sum, mut weight) = (x, 1.0);
    loop {
        x *= x;
        let before = sum;
        sum += x * weight;
        weight += weight;
        if sum == before {
            return sum;
        }
    }
}

/// (1 - x - the sum over k >= 1 of (1 - x^(2^-k))^2 2^-k) / 3.
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut sum, mut weight) = (1.0 - x, 1.0);
    loop {
        x = x.sqrt();
        let before = sum;
        weight *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * weight;
        if sum == before {
            return sum / 3.0;
        }
    }
}
