//! Help while typing: completion of command names and hints of their arguments.

use super::documents::Documents;
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use std::borrow::Cow;

/// What the line editor asks.
pub(super) struct LineHelper {
    /// What the server says of its commands; empty if it says nothing.
    pub(super) documents: Documents,
    /// Show hints.
    pub(super) hints: bool,
}

impl LineHelper {
    pub(super) fn new(documents: Documents) -> Self {
        LineHelper { documents, hints: true }
    }
}

impl Completer for LineHelper {
    type Candidate = String;

    /// Completes the whole line up to the cursor: command names hold spaces.
    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((0, self.documents.completions(&line[..pos])))
    }
}

impl Hinter for LineHelper {
    type Hint = String;

    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<String> {
        if !self.hints || pos < line.len() {
            return None;
        }
        self.documents.hint(line)
    }
}

impl Highlighter for LineHelper {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[90m{hint}\x1b[0m"))
    }
}

impl Validator for LineHelper {}

impl Helper for LineHelper {}
