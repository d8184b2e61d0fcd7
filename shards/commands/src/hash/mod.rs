//! Hashes: fields with values under a key. Every command of Redis's hash family, declared beside its
//! handler, and those that let fields expire.

mod count;
mod expire;
mod fields;
mod get;
mod list;
#[cfg(test)]
mod model_tests;
mod random;
mod scan;
mod set;
#[cfg(test)]
mod tests;
mod timed;
mod ttl;

use crate::command::Command;
use crate::context::{Ctx, Key};
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Keys};
use store::{HashLimits, HashMut};

/// All of them.
pub(crate) static ALL: &[&Command] = &[
    &set::HDEL,
    &get::HEXISTS,
    &expire::HEXPIRE,
    &expire::HEXPIREAT,
    &ttl::HEXPIRETIME,
    &get::HGET,
    &list::HGETALL,
    &timed::HGETDEL,
    &timed::HGETEX,
    &count::HINCRBY,
    &count::HINCRBYFLOAT,
    &list::HKEYS,
    &get::HLEN,
    &get::HMGET,
    &set::HMSET,
    &ttl::HPERSIST,
    &expire::HPEXPIRE,
    &expire::HPEXPIREAT,
    &ttl::HPEXPIRETIME,
    &ttl::HPTTL,
    &random::HRANDFIELD,
    &scan::HSCAN,
    &set::HSET,
    &timed::HSETEX,
    &set::HSETNX,
    &get::HSTRLEN,
    &ttl::HTTL,
    &list::HVALS,
];

const FIELD: Argument = Argument::new("field", ArgumentKind::String);
const VALUE: Argument = Argument::new("value", ArgumentKind::String);
/// The key of a command that reads what a hash holds.
const READS: &[Keys] = &[Keys::one(Access::RO.with(Access::ACCESS))];
/// The key of a command that only looks.
const LOOKS: &[Keys] = &[Keys::one(Access::RO)];
/// The key of a command that changes what a hash holds.
const UPDATES: &[Keys] = &[Keys::one(Access::RW.with(Access::UPDATE))];

/// How far a hash stays small.
fn limits(ctx: &Ctx<'_>) -> HashLimits {
    let bounds = &ctx.live.encodings;
    HashLimits {
        fields: usize::try_from(bounds.hash_max_listpack_entries).unwrap_or(usize::MAX),
        bytes: usize::try_from(bounds.hash_max_listpack_value).unwrap_or(usize::MAX),
    }
}

/// What became of a hash that was changed.
#[derive(Clone, Copy)]
struct Outcome {
    /// Fields that turned out to have expired.
    expired: usize,
    /// It has no field left.
    gone: bool,
}

impl Outcome {
    fn of(hash: &HashMut<'_>) -> Outcome {
        Outcome { expired: hash.expired(), gone: hash.is_empty() }
    }

    /// Tells those who listen: `did` names what was done, if something was.
    fn tell(self, ctx: &mut Ctx<'_>, did: Option<&'static str>, key: Key<'_>) {
        if self.expired > 0 {
            ctx.notify(Events::HASH, "hexpired", key.bytes);
        }
        if let Some(name) = did {
            ctx.notify(Events::HASH, name, key.bytes);
        }
        if self.gone && (self.expired > 0 || did.is_some()) {
            ctx.notify(Events::GENERIC, "del", key.bytes);
        }
    }
}
