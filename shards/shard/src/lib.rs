//! The actor: one core's sessions and keyspace slice. Bytes, parcels and the time go in; bytes,
//! parcels and closes come out through an [`Outbox`]. No input or output, no clock, no waiting.
#![forbid(unsafe_code)]

mod actor;
mod batch;
mod blocking;
mod execute;
mod feed;
mod gates;
mod house;
mod journey;
mod large;
mod leave;
mod marks;
mod outbox;
mod parcel;
mod pause;
mod planted;
mod pubsub;
mod rates;
mod room;
mod route;
mod runs;
mod session;
mod turn;
mod txn;

pub use actor::{Bounds, Make, Peer, Shard};
pub use marks::Marks;
pub use outbox::{Now, Outbox};
pub use parcel::{Anew, Chore, ConnId, Hop, Offer, Parcel, Part, PartKey, Run, Share, Step, Task, Ticket};
pub use planted::Bug;
