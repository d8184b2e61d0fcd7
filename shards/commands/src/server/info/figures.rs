//! What sections are made of: the numbers of all shards added up, and how a line is written.

use crate::home::{AllocatorFigures, House};
use std::fmt::{Display, Write};
use telemetry::Snapshot;

/// Numbers gathered once for all sections.
pub(in crate::server) struct Figures {
    /// All shards since the last CONFIG RESETSTAT; gauges as they are now.
    pub totals: Snapshot,
    /// Changes to the data since the start: CONFIG RESETSTAT does not forget them.
    pub changes: u64,
    /// Bytes accounted for.
    pub used: u64,
    /// The most that there ever were.
    pub peak: u64,
    /// Bytes of memory that the process really has.
    pub resident: u64,
    /// What the allocator says.
    pub allocator: AllocatorFigures,
}

impl Figures {
    pub(in crate::server) fn gather(house: &mut dyn House) -> Figures {
        let totals = house.totals();
        let changes = house.blocks().iter().map(|block| block.changes.read()).sum();
        let used = totals.counters.memory_total();
        let resident = house.facts().resident_bytes.map_or(0, |ask| ask());
        let peak = totals.counters.memory_peak.read().max(used);
        // Without its figures, shards account for what they ask of it, and the process has the rest.
        let unknown = || AllocatorFigures { allocated: used, active: used, resident };
        let allocator = house.facts().allocator_tools.map_or_else(unknown, |tools| (tools.figures)());
        Figures { totals, changes, used, peak, resident, allocator }
    }
}

/// Writes `name:value`.
pub(super) fn line(text: &mut String, name: &str, value: impl Display) {
    // Writing to a String cannot fail.
    let _ = write!(text, "{name}:{value}\r\n");
}

/// Writes several lines with one value.
pub(super) fn lines(text: &mut String, names: &[&str], value: impl Display) {
    names.iter().for_each(|name| line(text, name, &value));
}

/// Writes bytes as a number, and with a unit under `name_human`.
pub(super) fn bytes(text: &mut String, name: &str, bytes: u64) {
    line(text, name, bytes);
    line(text, &format!("{name}_human"), human(bytes));
}

/// Bytes with a unit and two decimals: `1.50K`.
pub(in crate::server) fn human(bytes: u64) -> String {
    const UNITS: [char; 5] = ['K', 'M', 'G', 'T', 'P'];
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.2}{}", UNITS[unit])
}

/// A quotient with two decimals; 0 where there is nothing to divide by.
pub(super) fn ratio(part: u64, whole: u64) -> String {
    let quotient = if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    format!("{quotient:.2}")
}

/// A share in percent with two decimals.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    format!("{share:.2}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_get_the_unit_that_fits() {
        let shown = [0, 1023, 1024, 916_512, 12_124_160, 25_276_510_208].map(human);
        assert_eq!(shown, ["0B", "1023B", "1.00K", "895.03K", "11.56M", "23.54G"]);
    }

    #[test]
    fn nothing_divides_to_nothing() {
        assert_eq!((ratio(1, 0), percent(1, 0)), ("0.00".into(), "0.00%".into()));
        assert_eq!((ratio(3, 2), percent(1, 3)), ("1.50".into(), "33.33%".into()));
    }
}
