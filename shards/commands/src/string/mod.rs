//! Strings: texts and integers under keys. Every command of Redis's string family, declared beside its
//! handler. Bitmaps and HyperLogLogs, which are strings too, are families of their own.

mod count;
mod expiry;
mod get;
mod getex;
mod lcs;
#[cfg(test)]
mod lcs_tests;
mod many;
mod range;
mod set;
#[cfg(test)]
mod tests;

use crate::command::Command;

/// All of them.
pub(crate) static ALL: &[&Command] = &[
    &range::APPEND,
    &count::DECR,
    &count::DECRBY,
    &get::GET,
    &get::GETDEL,
    &getex::GETEX,
    &range::GETRANGE,
    &get::GETSET,
    &count::INCR,
    &count::INCRBY,
    &count::INCRBYFLOAT,
    &lcs::LCS,
    &many::MGET,
    &many::MSET,
    &many::MSETNX,
    &set::PSETEX,
    &set::SET,
    &set::SETEX,
    &set::SETNX,
    &range::SETRANGE,
    &range::STRLEN,
    &range::SUBSTR,
];
