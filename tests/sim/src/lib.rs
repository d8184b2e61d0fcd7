//! The deterministic simulator: real shards in one thread, driven from a seed: who ticks next and how
//! far, how bytes are cut, how time jumps, which clients vanish. Oracles look at every reply and at what
//! is left in the end. It imports shards alone: no house, no wire.
#![forbid(unsafe_code)]

mod build;
mod calls;
mod campaign;
mod carriers;
mod chaos;
mod client;
mod crowd;
mod declared;
mod finish;
mod held;
mod history;
mod hot;
mod linear;
mod model;
mod node;
mod plan;
#[cfg(feature = "planted")]
pub mod planted;
mod queues;
mod random;
mod request;
mod roles;
mod run;
mod talk;
mod trace;
mod voices;
mod watchers;
mod weather;
mod wires;
mod world;

pub use campaign::{Campaign, Summary};
pub use plan::HouseBug;
pub use run::{Options, Outcome, hush_panics, run};
pub use talk::{Talk, Told};
