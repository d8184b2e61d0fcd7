//! One shard's slice of the keyspace: values under keys in numbered databases, with expiry, a scan
//! that survives growth, and exact accounting of memory. No clock, no input or output: the time is an
//! argument, and so is every random number. It does not know commands, clients or other shards.
//!
//! A [`Store`] keeps entries in cells of an arena, and for each database a table of 32-bit handles to
//! them. All work is bounded: tables grow and shrink a segment at a time, a flushed database is freed
//! in slices by [`Store::reclaim`], expired keys go when they are met or by [`Store::expire_slice`].

#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "carves cells from raw pages: decision 0010")]
mod arena;
#[allow(unsafe_code, reason = "loads twelve tags at once: decision 0010")]
mod bucket;
#[allow(unsafe_code, reason = "lays entries out in raw cells: decision 0010")]
mod cells;
#[allow(unsafe_code, reason = "shares a segment between leads: decision 0010")]
mod directory;
#[allow(unsafe_code, reason = "a hint to the processor: decision 0010")]
mod prefetch;
#[allow(unsafe_code, reason = "copies a few bytes without a call: decision 0010")]
mod short;
#[allow(unsafe_code, reason = "reads entries in raw cells: decision 0010")]
mod view;

mod draft;
mod entry;
mod expire;
mod frequency;
mod graves;
mod hash;
mod header;
mod reclaim;
mod room;
mod scan;
mod segment;
mod shared;
mod store;
mod strings;
mod table;
mod text;
mod travel;
mod types;
mod usage;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests;

pub use entry::Entry;
pub use expire::{ExpireReport, Happened, Noted, Notes};
pub use frequency::UseNote;
pub use hash::{HashFunction, Hasher, Key};
pub use header::Kind;
pub use shared::{SHARED_BYTES_MIN, SharedText};
pub use store::{Expiry, Store};
pub use strings::IncrementFault;
pub use table::Buckets;
pub use text::{Content, Text, canonical_int};
pub use travel::Detached;
pub use types::hash::{BigHash, HashLimits, HashMut, HashRef};
pub use types::list::{Leftward, ListMut, ListRef, Rightward, Side};
pub use types::set::{BigSet, SetDraft, SetLimits, SetMut, SetRef};
pub use types::sorted_set::{BigSortedSet, Edge, SortedSetIter, SortedSetLimits, SortedSetMut, SortedSetRef};
pub use types::{Item, WrongKind};
pub use usage::{Counters, TableStats, Usage};
