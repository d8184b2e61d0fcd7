//! The control port: /healthz and /metrics over HTTP, on a thread of its own, off the data cores.
//! It reads the shards' blocks and asks the house for the rest; it never touches a key or a client.

mod aggregate;
mod health;
mod latency;
mod metrics;
mod process;
mod series;
mod server;
#[cfg(test)]
mod tests;
mod text;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use telemetry::Block;

/// How the control port is set up.
#[derive(Clone, Debug)]
pub struct AdminConfig {
    /// Where it listens. It asks for no password: an address that others can reach is the operator's
    /// explicit choice. Port 0 takes a free one.
    pub bind: SocketAddr,
}

/// What the control port must know of the house it serves.
pub trait House: Send + Sync + 'static {
    /// How many shards there are; the same for as long as the house stands.
    fn shards(&self) -> usize;

    /// The block of a shard, numbered from 0; always the same one.
    fn block(&self, shard: usize) -> Arc<Block>;

    /// Names of the commands by their number, such as `get` or `config|get`.
    fn command_names(&self) -> &'static [&'static str];

    /// Sends a message through that shard's tick and waits for it to come back, for at most `timeout`:
    /// whether it did. Called from a thread that may block, at most once at a time per shard.
    fn visit(&self, shard: usize, timeout: Duration) -> bool;

    /// What is the same for all shards. Called at each scrape.
    fn info(&self) -> HouseInfo;
}

/// Facts about the whole process.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct HouseInfo {
    /// Version of Corelane.
    pub version: String,
    /// Version of Redis it answers as.
    pub redis_version: String,
    /// `standalone` or `cluster`.
    pub redis_mode: String,
    /// `master` or `slave`.
    pub role: String,
    /// Identifies this run: 40 hexadecimal digits.
    pub run_id: String,
    /// The common port; 0 where there is none.
    pub tcp_port: u16,
    /// When the process started, in seconds of Unix time.
    pub started_unix: u64,
    /// Memory the machine (or its control group) has, in bytes.
    pub total_system_memory: u64,
    /// The limit in bytes; 0 for none.
    pub maxmemory: u64,
    /// What happens at the limit, such as `noeviction`.
    pub maxmemory_policy: String,
    /// The most clients allowed at once.
    pub maxclients: u64,
    /// Entries in the slow log.
    pub slowlog_length: u64,
    /// When the last snapshot was finished, in seconds of Unix time.
    pub last_save_unix: u64,
    /// Replicas connected.
    pub connected_replicas: u64,
}

/// The running control port. Dropping it stops it.
#[derive(Debug)]
pub struct AdminHandle {
    address: SocketAddr,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Binds the control port and serves it on a thread of its own. Errors are those of binding and of
/// making the thread.
pub fn start(config: AdminConfig, house: Arc<dyn House>) -> io::Result<AdminHandle> {
    let listener = TcpListener::bind(config.bind)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let runtime = server::runtime(house.shards())?;
    let thread = std::thread::Builder::new()
        .name("corelane-admin".to_owned())
        .spawn(move || server::run(runtime, listener, house, stopped))?;
    Ok(AdminHandle { address, stop: Some(stop), thread: Some(thread) })
}

impl AdminHandle {
    /// Where it listens, with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops listening, drops requests in flight and waits for the thread to end.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for AdminHandle {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was reported by the panic hook; there is nothing left to stop.
            let _ = thread.join();
        }
    }
}
