//! `corelane cli`: a client for the command line in the manner of redis-cli. Knows the protocol and what
//! servers answer; nothing of the server's insides.

mod connection;
mod documents;
mod format;
mod interactive;
mod latency;
mod line;
mod oneshot;
mod options;
mod pipe;
mod sample;
mod scan;
mod session;
mod stat;
mod uri;

pub use options::{Options, command, options};

use options::Mode;
use session::Session;
use std::process::ExitCode;

/// Runs the client.
pub fn run(options: Options) -> ExitCode {
    if options.warn_of_password {
        eprintln!(
            "Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe."
        );
    }
    let mode = options.mode.clone();
    let mut session = Session::new(options);
    let done = match mode {
        Mode::Interactive => interactive::run(&mut session),
        Mode::Command => oneshot::run(&mut session),
        Mode::Pipe { timeout_s } => pipe::run(&mut session, timeout_s),
        Mode::Scan { pattern, count } => scan::run(&mut session, pattern.as_deref(), count),
        Mode::Sample { sought, pattern, count } => {
            sample::run(&mut session, sought, pattern.as_deref(), count)
        }
        Mode::Stat => stat::run(&mut session),
        Mode::Latency { history } => latency::run(&mut session, history),
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
