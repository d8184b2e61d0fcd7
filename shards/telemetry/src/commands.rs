//! Calls and time per command, by the command's dense number. Knows no names: whoever reads has
//! the list that the numbers index.

use crate::{Counter, Histogram, HistogramSnapshot};
use std::sync::OnceLock;

/// What one shard knows of one command.
#[derive(Default, Debug)]
pub struct CommandRow {
    /// Calls that ran.
    pub calls: Counter,
    /// Time inside the command, in nanoseconds.
    pub nanoseconds: Counter,
    /// Calls refused before they ran: arity, ACL, memory.
    pub rejected_calls: Counter,
    /// Calls that ran and answered with an error.
    pub failed_calls: Counter,
    /// Made at the first timed call: most commands are never called.
    latency: OnceLock<Box<Histogram>>,
}

impl CommandRow {
    /// `calls` calls ran in `nanoseconds` together.
    #[inline]
    pub fn ran(&self, calls: u64, nanoseconds: u64) {
        self.calls.add(calls);
        self.nanoseconds.add(nanoseconds);
    }

    /// Counts the duration of one call in this command's own histogram (`latency-tracking`). The
    /// first call allocates it: once per command and process.
    #[inline]
    pub fn track(&self, nanoseconds: u64) {
        self.latency.get_or_init(Box::default).record(nanoseconds);
    }

    /// A copy.
    pub fn snapshot(&self) -> CommandSnapshot {
        let mut copy = CommandSnapshot::default();
        copy.absorb(self);
        copy
    }
}

/// One row for each command.
#[derive(Debug)]
pub struct CommandTable {
    rows: Box<[CommandRow]>,
}

impl CommandTable {
    /// Rows for the numbers 0 to `commands` - 1.
    pub fn new(commands: usize) -> CommandTable {
        assert!(commands <= usize::from(u16::MAX) + 1, "a command's number is a u16");
        CommandTable { rows: (0..commands).map(|_| CommandRow::default()).collect() }
    }

    /// The row of a command. Panics where the number is not one of the catalog.
    #[inline]
    pub fn row(&self, number: u16) -> &CommandRow {
        &self.rows[usize::from(number)]
    }

    /// All rows; the position is the command's number.
    pub fn rows(&self) -> &[CommandRow] {
        &self.rows
    }
}

/// A copy of a row, or of the same row of several shards added up.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct CommandSnapshot {
    /// Calls that ran.
    pub calls: u64,
    /// Time inside the command, in nanoseconds.
    pub nanoseconds: u64,
    /// Calls refused before they ran.
    pub rejected_calls: u64,
    /// Calls that ran and answered with an error.
    pub failed_calls: u64,
    /// Durations of calls, where they were tracked.
    pub latency: Option<HistogramSnapshot>,
}

impl CommandSnapshot {
    /// The command was never seen.
    pub fn is_empty(&self) -> bool {
        self.calls == 0 && self.rejected_calls == 0 && self.failed_calls == 0
    }

    /// Adds what the live row of one more shard holds now.
    pub fn absorb(&mut self, row: &CommandRow) {
        self.calls += row.calls.read();
        self.nanoseconds = self.nanoseconds.wrapping_add(row.nanoseconds.read());
        self.rejected_calls += row.rejected_calls.read();
        self.failed_calls += row.failed_calls.read();
        if let Some(live) = row.latency.get() {
            self.latency.get_or_insert_default().absorb(live);
        }
    }

    /// What happened after `base` was taken.
    pub fn since(&self, base: &CommandSnapshot) -> CommandSnapshot {
        let latency = match (&self.latency, &base.latency) {
            (Some(now), Some(then)) => Some(now.since(then)).filter(|rest| rest.count() > 0),
            (now, _) => now.clone(),
        };
        CommandSnapshot {
            calls: self.calls.saturating_sub(base.calls),
            nanoseconds: self.nanoseconds.wrapping_sub(base.nanoseconds),
            rejected_calls: self.rejected_calls.saturating_sub(base.rejected_calls),
            failed_calls: self.failed_calls.saturating_sub(base.failed_calls),
            latency,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up_and_part_again() {
        let table = CommandTable::new(2);
        table.row(1).ran(3, 900);
        table.row(1).track(300);
        let base = table.row(1).snapshot();
        table.row(1).ran(1, 100);
        table.row(1).failed_calls.add(1);
        table.row(1).track(100);
        let rest = table.row(1).snapshot().since(&base);
        assert_eq!((rest.calls, rest.nanoseconds, rest.failed_calls), (1, 100, 1));
        assert_eq!(rest.latency.as_ref().map(HistogramSnapshot::count), Some(1));
        let mut twice = table.row(1).snapshot();
        twice.absorb(table.row(1));
        assert_eq!((twice.calls, twice.nanoseconds), (8, 2_000));
        assert_eq!(twice.latency.map(|histogram| histogram.count()), Some(4));
        assert!(table.row(0).snapshot().is_empty());
    }

    #[test]
    fn a_histogram_is_made_only_when_a_call_is_tracked() {
        let table = CommandTable::new(1);
        table.row(0).ran(1, 1);
        assert_eq!(table.row(0).snapshot().latency, None);
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_number_outside_the_catalog_is_a_bug() {
        CommandTable::new(1).row(1).ran(1, 1);
    }
}
