//! INFO's sections by command and by error: Commandstats, Errorstats, Latencystats.

use super::figures::{Figures, line};
use crate::catalog::Entry;
use crate::home::House;
use telemetry::{CommandSnapshot, HistogramSnapshot};

/// Commands that were seen, with their numbers. Subcommands that COMMAND keeps quiet about count as
/// calls of their command.
fn seen<'a>(house: &dyn House, figures: &'a Figures) -> Vec<(&'static Entry, CommandRow<'a>)> {
    let catalog = house.catalog();
    let commands = &figures.totals.commands;
    let row = |number: u16| commands.get(usize::from(number));
    let mut found = Vec::new();
    for entry in catalog.entries().iter().filter(|entry| !catalog.is_hidden(entry)) {
        let mut rows: Vec<&CommandSnapshot> = row(entry.number).into_iter().collect();
        if entry.command.hidden_subcommands {
            rows.extend(entry.subcommands.iter().filter_map(|number| row(*number)));
        }
        if rows.iter().any(|row| !row.is_empty()) {
            found.push((entry, CommandRow { rows }));
        }
    }
    found
}

/// The numbers of a command, and of what counts as one with it.
struct CommandRow<'a> {
    rows: Vec<&'a CommandSnapshot>,
}

impl CommandRow<'_> {
    fn sum(&self, number: fn(&CommandSnapshot) -> u64) -> u64 {
        self.rows.iter().map(|row| number(row)).sum()
    }

    fn latency(&self) -> Option<HistogramSnapshot> {
        let mut all = self.rows.iter().filter_map(|row| row.latency.as_ref());
        let mut sum = all.next()?.clone();
        all.for_each(|other| sum.merge(other));
        Some(sum)
    }
}

pub(super) fn commandstats(house: &mut dyn House, figures: &Figures, text: &mut String) {
    for (entry, row) in seen(house, figures) {
        let calls = row.sum(|row| row.calls);
        let nanoseconds = row.sum(|row| row.nanoseconds);
        let usec = nanoseconds / 1000;
        let per_call = if calls == 0 { 0.0 } else { nanoseconds as f64 / 1000.0 / calls as f64 };
        let rejected = row.sum(|row| row.rejected_calls);
        let failed = row.sum(|row| row.failed_calls);
        line(
            text,
            &format!("cmdstat_{}", entry.full_name),
            format_args!(
                "calls={calls},usec={usec},usec_per_call={per_call:.2},rejected_calls={rejected},failed_calls={failed}"
            ),
        );
    }
}

pub(super) fn errorstats(_: &mut dyn House, figures: &Figures, text: &mut String) {
    for (word, count) in &figures.totals.errors {
        line(text, &format!("errorstat_{word}"), format_args!("count={count}"));
    }
}

pub(super) fn latencystats(house: &mut dyn House, figures: &Figures, text: &mut String) {
    let percentiles = house.settings().live.latency_percentiles.clone();
    if !house.settings().live.latency_tracking || percentiles.is_empty() {
        return;
    }
    for (entry, row) in seen(house, figures) {
        let Some(latency) = row.latency() else { continue };
        let shown: Vec<String> = percentiles
            .iter()
            .map(|percent| format!("p{percent}={:.3}", latency.percentile(*percent) as f64 / 1000.0))
            .collect();
        line(text, &format!("latency_percentiles_usec_{}", entry.full_name), shown.join(","));
    }
}
