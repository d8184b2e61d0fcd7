//! Commands about the server itself: what it can do, how it is set, how it fares; and the empty sets of
//! scripts and functions.

mod command;
mod command_docs;
mod command_info;
mod command_keys;
mod config;
mod debug;
mod function;
mod info;
mod lolwut;
mod memory;
mod memory_report;
mod script;
mod shutdown;
#[cfg(test)]
mod tests;
mod time;

use crate::command::Command;

/// Every command of this family.
pub(crate) static ALL: &[&Command] = &[
    &command::COMMAND,
    &config::CONFIG,
    &debug::DEBUG,
    &function::FUNCTION,
    &info::INFO,
    &lolwut::LOLWUT,
    &memory::MEMORY,
    &script::SCRIPT,
    &shutdown::SHUTDOWN,
    &time::TIME,
];
