//! The last steps of a run in words, kept only while one is replayed.

use std::collections::VecDeque;

/// Lines kept.
const LINES_MAX: usize = 4_000;

/// What happened, line by line.
#[derive(Default, Debug)]
pub(crate) struct Trace {
    on: bool,
    lines: VecDeque<String>,
}

impl Trace {
    pub(crate) fn new(on: bool) -> Trace {
        Trace { on, lines: VecDeque::new() }
    }

    /// Adds a line, which is made only if somebody wants it.
    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
        if self.on {
            if self.lines.len() == LINES_MAX {
                self.lines.pop_front();
            }
            self.lines.push_back(line());
        }
    }

    pub(crate) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}
