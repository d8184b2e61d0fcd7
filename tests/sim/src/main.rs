//! Runs campaigns of the simulator, replays one seed, or looks whether planted bugs are caught.

#![forbid(unsafe_code)]

use corelane_sim::{Campaign, Options, Summary, hush_panics, run};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "corelane-sim [--seeds N] [--shards K[,K...]] [--first S]   a campaign
corelane-sim --seed S --shards K                          one seed again, with its trace
corelane-sim --planted [NAME...]                          are planted bugs caught, or those named?";

struct Choice {
    seeds: u64,
    first: u64,
    shards: Vec<u16>,
    seed: Option<u64>,
    planted: bool,
    /// The planted bugs that are looked for; none: all.
    bugs: Vec<String>,
}

fn main() -> ExitCode {
    let choice = match choice() {
        Ok(choice) => choice,
        Err(text) => {
            eprintln!("{text}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    hush_panics();
    let failed = match choice.seed {
        _ if choice.planted => planted(&choice.bugs),
        Some(seed) => replay(seed, &choice.shards),
        None => campaigns(&choice),
    };
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn choice() -> Result<Choice, String> {
    let mut choice =
        Choice { seeds: 100, first: 0, shards: vec![2], seed: None, planted: false, bugs: Vec::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--planted" {
            choice.planted = true;
            continue;
        }
        if choice.planted && !word.starts_with('-') {
            choice.bugs.push(word);
            continue;
        }
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{word}: {value} is no number"));
        match word.as_str() {
            "--seeds" => choice.seeds = number()?,
            "--first" => choice.first = number()?,
            "--seed" => choice.seed = Some(number()?),
            "--shards" => {
                let counts = value.split(',').map(|count| count.parse().ok().filter(|count| *count > 0));
                let counts: Option<Vec<u16>> = counts.collect();
                choice.shards = counts.ok_or_else(|| format!("--shards: {value} is no list of counts"))?;
            }
            _ => return Err(format!("unknown option {word}")),
        }
    }
    Ok(choice)
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn replay(seed: u64, shards: &[u16]) -> usize {
    let mut failed = 0;
    for shards in shards {
        let outcome = run(seed, *shards, Options { trace: true, ..Options::default() });
        if let Some(failure) = outcome.failure {
            println!("{}", outcome.trace);
            println!("seed {seed} with {shards} shards failed: {failure}");
            failed += 1;
        }
    }
    println!("{} passed, {failed} failed", shards.len() - failed);
    failed
}

fn campaigns(choice: &Choice) -> usize {
    let (mut passed, mut failed) = (0, 0);
    for shards in &choice.shards {
        let campaign = Campaign {
            first: choice.first,
            seeds: choice.seeds,
            shards: *shards,
            failures_max: 20,
            options: Options::default(),
        };
        let started = Instant::now();
        let summary = campaign.run(threads());
        let seconds = started.elapsed().as_secs_f64();
        let unreached = summary.unreached(*shards);
        tell(&summary, *shards, seconds);
        if !unreached.is_empty() {
            println!("{shards} shards: never reached: {}", unreached.join(", "));
        }
        passed += summary.passed;
        failed += summary.failures.len() + usize::from(!unreached.is_empty());
    }
    println!("{passed} passed, {failed} failed");
    failed
}

/// Plants every bug, or those named; one that is not caught is a failure.
#[cfg(feature = "planted")]
fn planted(bugs: &[String]) -> usize {
    let (mut caught, mut missed) = (0, 0);
    for bug in corelane_sim::planted::hunt_all(threads(), bugs) {
        match bug.by {
            Some((seed, shards, how)) => {
                caught += 1;
                let how = how.lines().next().unwrap_or_default();
                let how: String = how.chars().take(140).collect();
                println!("caught {}: --seed {seed} --shards {shards}: {how}", bug.name);
            }
            None => {
                missed += 1;
                println!("NOT CAUGHT {}", bug.name);
            }
        }
    }
    println!("{caught} passed, {missed} failed");
    missed
}

/// Bugs can be planted in shards that were built for it: builds them, and runs this again there.
#[cfg(not(feature = "planted"))]
fn planted(bugs: &[String]) -> usize {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let words =
        ["run", "--quiet", "--profile", "quick", "--package", "corelane-sim", "--features", "planted"];
    let mut command = std::process::Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(words).args(["--", "--planted"]).args(bugs);
    match command.status() {
        Ok(status) if status.success() => 0,
        Ok(_) => 1,
        Err(error) => {
            println!("cargo: {error}\n0 passed, 1 failed");
            1
        }
    }
}

fn tell(summary: &Summary, shards: u16, seconds: f64) {
    for outcome in &summary.failures {
        let failure = outcome.failure.as_deref().unwrap_or_default();
        println!("--seed {} --shards {shards}: {failure}", outcome.seed);
    }
    let seeds = summary.passed + summary.failures.len() as u64;
    println!(
        "{shards} shards: {seeds} seeds in {seconds:.1} s ({:.0}/s), {} requests, {} searches given up",
        seeds as f64 / seconds,
        summary.requests,
        summary.unknown
    );
    let marks = summary.marks.each().map(|(name, count)| format!("{name} {count}"));
    println!("{shards} shards: {}", marks.join(", "));
}
