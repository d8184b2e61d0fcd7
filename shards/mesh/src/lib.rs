//! Between cores: a ring that carries messages one way, a board that tells how far every core has got, and
//! a bell that wakes a sleeper. It does not know what a message means, and it never waits.
//!
//! Only `ring.rs` has unsafe code. All three are checked under loom:
//! `RUSTFLAGS="--cfg loom" cargo test -p corelane-mesh --release --lib loom`. They were not run under miri,
//! which needs a nightly toolchain; loom's cells check the same accesses for races.

#![deny(unsafe_code)]

mod bell;
mod board;
mod padded;
mod ring;
mod sync;

pub use bell::{Bell, Published};
pub use board::{Board, NONE_OPEN};
pub use ring::{Receiver, Sender, ring};
