//! What can be wrong with settings at start, and where it was written.

use std::fmt;
use std::path::PathBuf;

/// Where a value was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line of a file, counted from 1.
    Line(PathBuf, usize),
    /// An environment variable.
    Environment(String),
    /// The command line.
    Flag,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(file, line) => write!(f, "{}:{line}", file.display()),
            Place::Environment(variable) => write!(f, "environment variable {variable}"),
            Place::Flag => f.write_str("command line"),
        }
    }
}

/// Why the server does not start.
#[derive(Debug)]
pub enum Trouble {
    /// The command line makes no sense.
    Usage(String),
    /// A value, a name or a file was refused; the text says where and why.
    Refused(String),
}

impl Trouble {
    /// A refusal of what stands at a place.
    pub(super) fn at(place: &Place, reason: impl fmt::Display) -> Self {
        Trouble::Refused(format!("{place}: {reason}"))
    }

    /// The exit code: 2 for usage, 1 for values.
    pub fn exit_code(&self) -> u8 {
        match self {
            Trouble::Usage(_) => 2,
            Trouble::Refused(_) => 1,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Usage(text) | Trouble::Refused(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Trouble {}
