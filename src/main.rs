//! One binary: `corelane serve` (the default), `corelane cli`.

#![forbid(unsafe_code)]

use corelane::args::{self, Order, Stop};
use corelane::{boot, cli, config::Config, log};
use std::process::ExitCode;

/// Per-thread counters, purging, and what Redis users know.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let words = match args::parse(std::env::args_os().skip(1)) {
        Ok(Order::Serve(words)) => words,
        Ok(Order::Cli(options)) => return cli::run(*options),
        Err(stop) => return end(&stop),
    };
    let config = match Config::load(&words, std::env::vars_os()) {
        Ok(config) => config,
        Err(trouble) => return end(&Stop::from(trouble)),
    };
    match log::begin(&config.settings).and_then(|log| boot::serve(config, log)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("corelane: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Says why nothing runs.
fn end(stop: &Stop) -> ExitCode {
    stop.print();
    ExitCode::from(stop.exit_code)
}
