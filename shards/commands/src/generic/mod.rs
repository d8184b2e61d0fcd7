//! Commands on keys whatever they hold: their names, their times to live, whole databases. They look at
//! a value's kind at most.

mod copy;
mod delete;
mod expire;
mod keys;
mod keyspace;
mod kind;
#[cfg(test)]
mod model_tests;
mod object;
mod rename;
mod scan;
mod sort;
#[cfg(test)]
mod tests;
mod ttl;

use crate::command::Command;
pub(crate) use object::{references, use_note};

/// All of them.
pub(crate) static ALL: &[&Command] = &[
    &copy::COPY,
    &delete::DEL,
    &delete::EXISTS,
    &expire::EXPIRE,
    &expire::EXPIREAT,
    &ttl::EXPIRETIME,
    &keys::KEYS,
    &copy::MOVE,
    &object::OBJECT,
    &expire::PERSIST,
    &expire::PEXPIRE,
    &expire::PEXPIREAT,
    &ttl::PEXPIRETIME,
    &ttl::PTTL,
    &keys::RANDOMKEY,
    &rename::RENAME,
    &rename::RENAMENX,
    &scan::SCAN,
    &sort::SORT,
    &sort::SORT_RO,
    &delete::TOUCH,
    &ttl::TTL,
    &kind::TYPE,
    &delete::UNLINK,
    &keyspace::DBSIZE,
    &keyspace::FLUSHALL,
    &keyspace::FLUSHDB,
    &keyspace::SWAPDB,
];
