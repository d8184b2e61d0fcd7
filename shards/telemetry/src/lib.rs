//! What a shard counts. One block per shard: the shard alone writes it, with plain loads and
//! stores; any thread may read it. Knows nothing of HTTP, of Prometheus' wire or of clocks.
#![forbid(unsafe_code)]

mod block;
mod catalog;
mod commands;
mod counter;
mod errors;
mod histogram;
mod snapshot;

pub use block::{Block, Counters, DATABASES, Rooms};
pub use catalog::{CATALOG, Field, Kind, Label, Metric, Series};
pub use commands::{CommandRow, CommandSnapshot, CommandTable};
pub use counter::Counter;
pub use errors::{ERROR_KINDS, ErrorTable, OTHER_ERRORS};
pub use histogram::{BUCKETS, Histogram, HistogramSnapshot, MAX_NANOSECONDS};
pub use snapshot::{RoomsSnapshot, Snapshot};
