//! RESP2, RESP3 and inline commands: frames to argument spans in place, replies to bytes.
//! It does not know what a command is, where bytes come from, or where they go.

#![forbid(unsafe_code)]

mod decimal;
mod fault;
mod inline;
mod long_double;
mod natural;
mod number;
mod output;
mod parser;
mod reply;

pub mod client;

pub use decimal::{DOUBLE_BYTES_MAX, DoubleText, format_double, parse_f64};
pub use fault::Fault;
pub use long_double::LongDouble;
pub use number::{IntegerText, parse_i64, parse_u64};
pub use output::{NOTHING, Output, Piece, Shared};
pub use parser::{Limits, Parsed, Parser, Span};
pub use reply::{Deferred, Reply, Version};
