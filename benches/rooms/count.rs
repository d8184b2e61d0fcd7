//! Counts what a step costs: instructions by running this program under valgrind, allocations here.
//! It does not know what the steps do.

use std::process::{Command, Stdio};

/// Steps of the shorter and the longer run.
const STEPS: [u64; 2] = [4_096, 20_480];
/// Steps before allocations are counted: whatever grows has grown.
const STEPS_OF_WARMTH: u64 = 20_480;
const STEPS_COUNTED: u64 = 4_096;

/// Instructions of one step of the room of that name.
pub(crate) fn instructions(name: &str) -> Result<f64, String> {
    let [short, long] = [run(name, STEPS[0])?, run(name, STEPS[1])?];
    Ok((long - short) as f64 / (STEPS[1] - STEPS[0]) as f64)
}

/// Allocations of one step, once warm.
pub(crate) fn allocations(mut steps: Box<dyn FnMut(u64)>) -> f64 {
    steps(STEPS_OF_WARMTH);
    let info = allocation_counter::measure(|| steps(STEPS_COUNTED));
    info.count_total as f64 / STEPS_COUNTED as f64
}

/// All instructions of a run, as cachegrind counts them.
fn run(name: &str, steps: u64) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args([name, "steps", &steps.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("valgrind does not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    total(&text).filter(|_| output.status.success()).ok_or_else(|| format!("{name}: valgrind said: {text}"))
}

/// From `==7== I   refs:      1,234,567`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("refs:"))?;
    let (_, number) = line.split_once("refs:")?;
    number.trim().replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_what_valgrind_says() {
        assert_eq!(total("==7== \n==7== I   refs:      1,234,567\n"), Some(1_234_567));
        assert_eq!(total("==7== nothing\n"), None);
    }
}
