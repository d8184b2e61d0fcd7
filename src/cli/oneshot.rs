//! One command from the command line, run once or again and again.

use super::connection::Lost;
use super::session::{Answer, Session};
use std::thread::sleep;

/// Runs the command of the options; true if the program is to end well.
pub(super) fn run(session: &mut Session) -> bool {
    let words = session.options.command.clone();
    run_repeatedly(session, &words, session.options.repeat)
}

/// Runs a command `times` times (below 0: for ever), with the interval between.
pub(super) fn run_repeatedly(session: &mut Session, words: &[Vec<u8>], times: i64) -> bool {
    let mut left = times;
    while left != 0 {
        match session.run(words) {
            Ok(Answer::Fine) => {}
            Ok(Answer::Error) if session.options.fail_on_error => return false,
            Ok(Answer::Error) => {}
            Err(Lost::Interrupted | Lost::Unreachable) => return false,
            Err(lost) => {
                eprintln!("Error: {lost}");
                return false;
            }
        }
        if left > 0 {
            left -= 1;
        }
        if let Some(interval) = session.options.interval {
            sleep(interval);
        }
        if session.take_interrupt() {
            return false;
        }
    }
    true
}
