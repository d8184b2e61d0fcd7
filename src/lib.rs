//! Corelane.
pub mod admin;
