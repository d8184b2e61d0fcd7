//! Corelane: a Redis-compatible server in which every core is a server of its own. This crate wires
//! transports to shards: it alone knows both.
#![forbid(unsafe_code)]

pub mod admin;
mod allocator;
mod apply;
pub mod args;
mod backlog;
pub mod boot;
pub mod cli;
pub mod config;
pub mod core;
pub mod idle;
mod keeper;
pub mod limits;
pub mod listeners;
pub mod log;
pub mod report;
pub mod topology;
pub mod transports;
mod wires;
