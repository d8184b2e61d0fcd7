//! Where a shard puts what it has to say. The house carries it out; the shard never sees a wire.

use crate::parcel::{ConnId, Parcel, Ticket};
use commands::Job;
use resp::Shared;

/// What the house does for a shard.
pub trait Outbox {
    /// Bytes for a client, in order.
    fn write(&mut self, conn: ConnId, bytes: &[u8]);
    /// The same for so many bytes that it is better to keep them than to copy them.
    fn write_large(&mut self, conn: ConnId, bytes: Vec<u8>) {
        self.write(conn, &bytes);
    }
    /// The same for bytes of a buffer that others hold too.
    fn write_shared(&mut self, conn: ConnId, shared: &Shared) {
        self.write(conn, shared.as_slice());
    }
    /// Stages a parcel for another shard; a full ring gives it back.
    ///
    /// # Errors
    /// The parcel, when the ring is full.
    fn send(&mut self, to: u16, parcel: Parcel) -> Result<(), Parcel>;
    /// How many more parcels could be staged for that shard now.
    fn room(&mut self, to: u16) -> usize;
    /// Closes a connection: with what was written sent first, or at once.
    fn close(&mut self, conn: ConnId, drain: bool);
    /// A client listens to messages from now on, or no longer: other limits hold for what it has not read.
    fn listens(&mut self, _conn: ConnId, _listens: bool) {}
    /// Stops or resumes reading from a connection.
    fn throttle(&mut self, conn: ConnId, stop: bool);
    /// Hands a job to the house; with a ticket its outcome comes back by `Shard::job_done`.
    fn order(&mut self, job: Job, ticket: Option<Ticket>);
}

/// The time, as the house reads it once a tick.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Now {
    /// Unix time in microseconds.
    pub unix_us: i64,
    /// Divided once a tick, not once a command.
    unix_ms: i64,
    /// Monotonic time in nanoseconds.
    pub mono_ns: u64,
}

impl Now {
    /// A time on both clocks: unix in microseconds, monotonic in nanoseconds.
    #[inline]
    pub fn new(unix_us: i64, mono_ns: u64) -> Now {
        Now { unix_us, unix_ms: unix_us / 1000, mono_ns }
    }

    /// Unix time in milliseconds.
    #[inline]
    pub fn ms(self) -> i64 {
        self.unix_ms
    }
}
