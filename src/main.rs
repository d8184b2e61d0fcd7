//! One binary: `corelane serve` (the default), `corelane cli`.

use corelane::{boot, config::Config, report};
use std::process::ExitCode;

/// Per-thread counters, purging, and what Redis users know.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words = match words.first().map(String::as_str) {
        Some("--version" | "-v") => {
            println!("corelane {}", report::VERSION);
            return ExitCode::SUCCESS;
        }
        Some("serve") => &words[1..],
        _ => &words[..],
    };
    tracing_subscriber::fmt().with_ansi(false).with_target(false).init();
    let config = match Config::load(words, std::env::vars_os()) {
        Ok(config) => config,
        Err(trouble) => {
            eprintln!("corelane: {trouble}");
            return ExitCode::from(trouble.exit_code());
        }
    };
    match boot::serve(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("corelane: {error}");
            ExitCode::FAILURE
        }
    }
}
