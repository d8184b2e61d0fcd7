//! The words commands and settings are declared in: flags, groups, key shapes, arguments, slots.
//! Nothing here knows a handler, a store or a session.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod argument;
pub mod glob;
mod keys;
pub mod setting;
mod slot;
mod words;

pub use argument::{Argument, ArgumentKind};
pub use glob::glob_match;
pub use keys::{Access, BadKeys, Extent, Keys, LastOption, Start};
pub use setting::{Live, Setting, Settings};
pub use slot::{SLOTS, crc16, hash_tag, owner_of, slot_of, slots_of};
pub use words::{Categories, Flags, Group};
