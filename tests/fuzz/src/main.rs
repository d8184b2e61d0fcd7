//! Drives every fuzz target from seeds, for a share of the time each, on any toolchain.
//! A failing input is printed with the seed that makes it again; the targets know nothing of this.

#![forbid(unsafe_code)]

use corelane_fuzz::{Random, TARGETS, Target};
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "corelane-fuzz [--seconds N] [--target NAME] [--seed S]
  --seconds N   for all targets together (60)
  --target NAME only this one
  --seed S      first seed (from the clock); with --seconds 0 only that input is run";

struct Options {
    seconds: f64,
    target: Option<String>,
    seed: u64,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let chosen: Vec<&Target> = TARGETS
        .iter()
        .filter(|target| options.target.as_ref().is_none_or(|name| name == target.name))
        .collect();
    if chosen.is_empty() {
        eprintln!(
            "no such target; there are: {}",
            TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(" ")
        );
        return ExitCode::from(2);
    }
    let share = Duration::from_secs_f64(options.seconds / chosen.len() as f64);
    let failed = chosen.iter().filter(|target| !drive(target, options.seed, share)).count();
    println!("fuzz targets: {} passed, {failed} failed", chosen.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options() -> Result<Options, String> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let mut options = Options { seconds: 60.0, target: None, seed: now.as_nanos() as u64 };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or(format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--seconds" => options.seconds = value.parse().map_err(|_| "--seconds: not a number")?,
            "--target" => options.target = Some(value),
            "--seed" => options.seed = value.parse().map_err(|_| "--seed: not a number")?,
            _ => return Err(format!("unknown option {flag}")),
        }
    }
    Ok(options)
}

/// Runs seeds upwards from the first until the time is over or an input fails; true if none did.
fn drive(target: &Target, first: u64, time: Duration) -> bool {
    let started = Instant::now();
    let mut seed = first;
    loop {
        let mut random = Random::new(seed);
        let mut input = (target.make)(&mut random);
        if random.one_in(8) {
            random.mutate(&mut input);
        }
        if catch_unwind(|| (target.run)(&input)).is_err() {
            println!("{}: FAILED with --seed {seed} --seconds 0: {}", target.name, input.escape_ascii());
            return false;
        }
        seed = seed.wrapping_add(1);
        if started.elapsed() >= time {
            break;
        }
    }
    println!("{}: {} inputs from seed {first}", target.name, seed.wrapping_sub(first));
    true
}
