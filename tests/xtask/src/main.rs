//! The project's chores: `cargo xtask check | sim | fuzz | judges | bench | docs`.
//! It knows which command does a chore and counts what passed; it knows nothing of what is tested.

#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

const USAGE: &str = "cargo xtask CHORE
  check                        format, lints, tests (tidy among them) and documentation: the inner loop
  sim --seeds N --shards 1,2   a simulator campaign; --seed S --shards K replays one seed
  sim --planted                are the planted bugs caught?
  sim --sharing ...            the same with texts of a thousand bytes shared, as large ones are
  fuzz [--seconds N]           every fuzz target for its share of N seconds (60)
  judges [--shards 1,4]        public suites against our server
  bench [--update]             instructions and allocations of each room against their baselines
  bench end_to_end [...]       our server against others, by requests per CPU second
  docs                         the documentation of every crate, warnings refused";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let chore = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let steps = match chore.as_str() {
        "check" => check(),
        "sim" => vec![sim(rest)],
        "fuzz" => vec![run_binary("corelane-fuzz", "corelane-fuzz", rest)],
        "judges" => judges(&rest),
        "bench" => bench(rest),
        "docs" => vec![docs()],
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    run(steps)
}

/// One command of a chore.
struct Step {
    program: &'static str,
    arguments: Vec<String>,
    environment: Vec<(&'static str, &'static str)>,
}

impl Step {
    fn new(program: &'static str, arguments: &[&str]) -> Self {
        Self {
            program,
            arguments: arguments.iter().map(ToString::to_string).collect(),
            environment: Vec::new(),
        }
    }

    fn with(mut self, arguments: Vec<String>) -> Self {
        self.arguments.extend(arguments);
        self
    }

    fn line(&self) -> String {
        format!("{} {}", self.program, self.arguments.join(" "))
    }
}

/// Runs every step, also after one failed, and closes with a count.
fn run(steps: Vec<Step>) -> ExitCode {
    let (mut passed, mut failed) = (0, Vec::new());
    let alone = steps.len() == 1;
    for step in steps {
        let started = Instant::now();
        eprintln!("xtask: {}", step.line());
        let status = Command::new(step.program)
            .args(&step.arguments)
            .envs(step.environment.iter().copied())
            .current_dir(root())
            .status();
        match status {
            Ok(status) if status.success() => passed += 1,
            Ok(status) => failed.push(format!("{}: {status}", step.line())),
            Err(error) => failed.push(format!("{}: {error}", step.line())),
        }
        eprintln!("xtask: {:.1} s", started.elapsed().as_secs_f64());
    }
    for failure in &failed {
        eprintln!("xtask: failed: {failure}");
    }
    if !alone {
        println!("steps: {passed} passed, {} failed", failed.len());
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The repository: chores run there from wherever they are called.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this crate lies two folders below the root").to_path_buf()
}

fn check() -> Vec<Step> {
    vec![
        Step::new("cargo", &["fmt", "--all", "--check"]),
        Step::new(
            "cargo",
            &["clippy", "--quiet", "--workspace", "--all-targets", "--", "--deny", "warnings"],
        ),
        Step::new("cargo", &["test", "--quiet", "--workspace"]),
        docs(),
    ]
}

fn docs() -> Step {
    let mut step = Step::new("cargo", &["doc", "--quiet", "--workspace", "--no-deps"]);
    step.environment.push(("RUSTDOCFLAGS", "--deny warnings"));
    step
}

/// Optimised, but without the wait for link-time optimisation.
fn run_binary(package: &str, binary: &str, arguments: Vec<String>) -> Step {
    Step::new("cargo", &["run", "--quiet", "--profile", "quick", "--package", package, "--bin", binary, "--"])
        .with(arguments)
}

/// Planted bugs and small texts that count as large are compiled in only where they are looked for.
fn sim(mut arguments: Vec<String>) -> Step {
    let mut features = Vec::new();
    if arguments.iter().any(|argument| argument == "--planted") {
        features.push("planted");
    }
    if let Some(at) = arguments.iter().position(|argument| argument == "--sharing") {
        arguments.remove(at);
        features.push("sharing");
    }
    let mut step = run_binary("corelane-sim", "corelane-sim", arguments);
    if !features.is_empty() {
        let at =
            step.arguments.iter().position(|argument| argument == "--").expect("run_binary puts it there");
        step.arguments.splice(at..at, ["--features".into(), features.join(",")]);
    }
    step
}

fn judges(arguments: &[String]) -> Vec<Step> {
    let mut arguments = arguments.to_vec();
    let counts = take_list(&mut arguments, "--shards").unwrap_or(vec!["1".into(), "4".into()]);
    let mut steps = vec![
        Step::new("bash", &["tests/judges/setup.sh", "debian", "tcl", "python"]),
        Step::new("cargo", &["build", "--quiet", "--profile", "quick", "--package", "corelane"]),
    ];
    let judge = |count: String| {
        Step::new("bash", &["tests/judges/tcl.sh", "--shards", &count]).with(arguments.clone())
    };
    steps.extend(counts.iter().cloned().map(judge));
    // Units are the Tcl suite's.
    if arguments.is_empty() {
        let suites = ["fakeredis-quick", "redis-py-resp2-quick", "redis-py-resp3-quick"];
        let clients = |count: &String| {
            Step::new("bash", &["tests/judges/python.sh", "--shards", count])
                .with(suites.map(String::from).to_vec())
        };
        steps.extend(counts.iter().map(clients));
    }
    steps
}

fn bench(mut arguments: Vec<String>) -> Vec<Step> {
    if arguments.first().is_some_and(|first| first == "end_to_end") {
        arguments.remove(0);
        return vec![
            Step::new("bash", &["tests/judges/setup.sh", "debian", "valkey", "kevy"]),
            Step::new("cargo", &["build", "--quiet", "--release", "--package", "corelane"]),
            run_binary("corelane-benches", "end_to_end", arguments),
        ];
    }
    let rooms = ["run", "--quiet", "--release", "--package", "corelane-benches", "--bin", "rooms", "--"];
    vec![Step::new("cargo", &rooms).with(arguments)]
}

/// Removes `flag LIST` and gives the parts of the list.
fn take_list(arguments: &mut Vec<String>, flag: &str) -> Option<Vec<String>> {
    let at = arguments.iter().position(|argument| argument == flag)?;
    if at + 1 == arguments.len() {
        return None;
    }
    let list = arguments.remove(at + 1);
    arguments.remove(at);
    Some(list.split(',').map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn planted_bugs_are_compiled_in_where_they_are_looked_for() {
        assert!(sim(words("--seeds 9")).line().ends_with("corelane-sim -- --seeds 9"));
        assert!(sim(words("--planted")).line().ends_with("--features planted -- --planted"));
        assert!(sim(words("--sharing --seeds 9")).line().ends_with("--features sharing -- --seeds 9"));
    }

    #[test]
    fn a_list_is_taken_out_of_the_arguments() {
        let mut arguments = words("--a --shards 1,8 --b");
        assert_eq!(take_list(&mut arguments, "--shards"), Some(vec!["1".into(), "8".into()]));
        assert_eq!(arguments, words("--a --b"));
    }

    #[test]
    fn a_flag_without_its_list_is_left_alone() {
        let mut arguments = words("--shards");
        assert_eq!(take_list(&mut arguments, "--shards"), None);
    }
}
