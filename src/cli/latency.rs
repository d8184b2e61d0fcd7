//! Round trips of PING, measured a hundred times a second.

use super::connection::Lost;
use super::format::show;
use super::options::Output;
use super::session::Session;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Pause between two samples.
const PAUSE: Duration = Duration::from_millis(10);

/// Round trips of one interval, in milliseconds.
#[derive(Default)]
struct Samples {
    min: f64,
    max: f64,
    sum: f64,
    count: u64,
}

impl Samples {
    fn add(&mut self, milliseconds: f64) {
        self.min = if self.count == 0 { milliseconds } else { self.min.min(milliseconds) };
        self.max = self.max.max(milliseconds);
        self.sum += milliseconds;
        self.count += 1;
    }

    fn average(&self) -> f64 {
        self.sum / self.count as f64
    }

    fn text(&self, output: Output) -> String {
        let Samples { min, max, count, .. } = self;
        let average = self.average();
        match output {
            Output::Standard => format!("min: {min:.3}, max: {max:.3}, avg: {average:.3} ({count} samples)"),
            Output::Raw => format!("{min:.3} {max:.3} {average:.3} {count}\n"),
            Output::Csv => format!("{min:.3},{max:.3},{average:.3},{count}\n"),
            Output::Json | Output::QuotedJson => {
                format!(
                    "{{\"min\": {min:.3}, \"max\": {max:.3}, \"avg\": {average:.3}, \"count\": {count}}}\n"
                )
            }
        }
    }
}

/// Measures: for a person without end, for a program one interval. True if nothing went wrong.
pub(super) fn run(session: &mut Session, history: bool) -> bool {
    let output = session.options.output;
    let for_person = output == Output::Standard;
    let interval = session.options.interval.unwrap_or(Duration::from_secs(if history { 15 } else { 1 }));
    let mut samples = Samples::default();
    let mut began = Instant::now();
    loop {
        let start = Instant::now();
        match session.ask(&["PING"]) {
            Ok(_) => samples.add(start.elapsed().as_secs_f64() * 1000.0),
            Err(Lost::Unreachable) => return false,
            Err(lost) => {
                eprintln!("Error: {lost}");
                return false;
            }
        }
        if for_person {
            show(format!("\x1b[0G\x1b[2K{}", samples.text(output)).as_bytes());
        }
        let over = began.elapsed() >= interval;
        if over && history && for_person {
            show(format!(" -- {:.2} seconds range\n", began.elapsed().as_secs_f64()).as_bytes());
            (samples, began) = (Samples::default(), Instant::now());
        } else if over && !for_person {
            show(samples.text(output).as_bytes());
            if !history {
                return true;
            }
            (samples, began) = (Samples::default(), Instant::now());
        }
        sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_summed_up() {
        let mut samples = Samples::default();
        for milliseconds in [0.2, 0.1, 0.6] {
            samples.add(milliseconds);
        }
        assert_eq!(samples.text(Output::Csv), "0.100,0.600,0.300,3\n");
    }
}
