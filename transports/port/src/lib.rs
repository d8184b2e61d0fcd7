//! The seam between shards and wires. A transport turns a wire into links and bytes; it never
//! knows what the bytes mean. One poller belongs to one core: nothing here is `Send` or locked.

mod chunk;
mod link;
mod poller;

pub mod contract;

pub use chunk::{Chunk, ChunkPool};
pub use link::{Address, Close, Event, LinkId, Links, Peer, Why};
pub use poller::{Poller, PollerStats};
