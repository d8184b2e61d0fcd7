//! Commands over several shards: all or nothing, seen at one moment, in one parcel a shard.
//!
//! Every such command draws an id when its parcels are published; all shards run them in the order of
//! ids, which the board makes safe (see `mesh::Board`). A shard locks the keys of what it has started,
//! and keeps them sealed until the home shard's `open` word on the board has passed the id: until it
//! is done everywhere. So nobody sees a half of it, nothing is refused halfway, and no third message
//! is needed.

mod exec;
mod fold;
mod home;
mod intents;
mod locks;
mod multi;
mod remote;
mod room;
mod rounds;
mod share;
mod watch;
mod works;

pub(crate) use home::integer_of;
pub(crate) use intents::Want;
pub(crate) use multi::Multi;
pub(crate) use remote::Remote;
pub(crate) use watch::Guard;
pub(crate) use works::{Home, Work, push_argument};
