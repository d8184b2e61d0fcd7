//! Every command of Corelane, declared once, with its handler. It knows the words (spec), the bytes
//! of replies (resp) and one shard's keyspace (store); it does not know how a shard carries commands
//! out, or that there are wires.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod catalog;
mod command;
mod connection;
mod context;
mod generic;
mod help;
mod home;
mod lookup;
mod number;
mod server;
mod string;
#[cfg(test)]
mod testing;

pub use catalog::{Catalog, Entry};
pub use command::{
    Check, CheckFn, Command, DecideFn, Everywhere, Go, HomeFn, LocalFn, Lock, Order, Piece, Plan, Run, Spread,
};
pub use context::{Args, Caller, Ctx, Effects, Hashed, Key, Random};
pub use home::{After, Call, Facts, Home, House, Job, PauseMode, ReplyMode, SessionState};

/// Every command, family by family.
pub fn all() -> Vec<&'static Command> {
    [string::ALL, generic::ALL, connection::ALL, server::ALL].concat()
}
