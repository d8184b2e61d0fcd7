//! The seam between shards and wires. A transport turns a wire into links and bytes; it never
//! knows what the bytes mean. One poller belongs to one core: nothing here is `Send` or locked.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod chunk;
mod lender;
mod link;
mod poller;
mod sys;

pub mod contract;
pub mod sockets;

pub use chunk::{Chunk, ChunkPool};
pub use lender::{Lender, SendQueue, Turn};
pub use link::{Address, Close, Event, LinkId, Links, Peer, Why};
pub use poller::{Poller, PollerStats};
