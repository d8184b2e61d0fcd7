//! A transport without a wire: links are pairs of byte queues in this thread. Tests and benches dial
//! it through a `Connector`. It knows no socket and no clock; once its queues have grown it allocates
//! nothing.

#![forbid(unsafe_code)]

mod hub;
mod poller;

pub use hub::{Connector, MemoryWire};
pub use poller::MemoryPoller;

/// Sizes of a memory transport.
#[derive(Clone, Debug)]
pub struct MemoryConfig {
    /// Bytes per chunk.
    pub chunk_bytes: usize,
    /// Chunks that received bytes travel in.
    pub receive_chunks: usize,
    /// Chunks that replies travel in.
    pub send_chunks: usize,
    /// Chunks one link may have submitted and unsent.
    pub send_chunks_per_link: usize,
    /// Bytes each direction of a link holds: what a kernel's socket buffers are to a socket.
    pub wire_bytes: usize,
    /// Links that may wait to be accepted.
    pub backlog: usize,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            chunk_bytes: 16 * 1024,
            receive_chunks: 256,
            send_chunks: 1024,
            send_chunks_per_link: 16,
            wire_bytes: 256 * 1024,
            backlog: 65_536,
        }
    }
}
