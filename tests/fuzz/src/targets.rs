//! One file per room that is fuzzed. They know that room's promises and no other.

pub mod commands;
pub mod frames;
pub mod keys;
pub mod numbers;
pub mod replies;
pub mod text;
