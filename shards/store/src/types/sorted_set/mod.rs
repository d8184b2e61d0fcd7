//! Sorted sets: small ones packed, big ones in a counted tree; and the views that hide which it is.

mod edge;
mod grow;
mod index;
mod inner;
mod leaf;
mod range;
mod shrink;
mod slab;
mod small;
mod tree;
mod view;

#[cfg(test)]
mod tests;

pub use edge::Edge;
pub use tree::BigSortedSet;
pub use view::{SortedSetIter, SortedSetLimits, SortedSetMut, SortedSetRef};
