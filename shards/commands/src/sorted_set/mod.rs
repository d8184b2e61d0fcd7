//! Commands on sorted sets. They know what a client may say and what it is answered; how entries are kept
//! the store knows.

mod add;
mod blocking;
mod combine;
mod interval;
#[cfg(test)]
mod model_tests;
mod operation;
mod pool;
mod pop;
mod pop_many;
mod random;
mod range;
mod range_store;
mod remove;
mod scan;
mod score;
mod span;
#[cfg(test)]
mod tests;

use crate::command::Command;
use crate::context::{Ctx, Key, count_look};
use crate::lookup;
use resp::{Reply, Version};
use spec::setting::Events;
use store::{Detached, SortedSetLimits, SortedSetRef, Text, WrongKind};

pub(crate) use add::{AddOptions, add_pairs};
pub(crate) use pool::Pool;

/// All of them.
pub(crate) static ALL: &[&Command] = &[
    &add::ZADD,
    &add::ZINCRBY,
    &blocking::BZMPOP,
    &blocking::BZPOPMAX,
    &blocking::BZPOPMIN,
    &combine::ZDIFF,
    &combine::ZDIFFSTORE,
    &combine::ZINTER,
    &combine::ZINTERCARD,
    &combine::ZINTERSTORE,
    &combine::ZUNION,
    &combine::ZUNIONSTORE,
    &pop::ZPOPMAX,
    &pop::ZPOPMIN,
    &pop_many::ZMPOP,
    &random::ZRANDMEMBER,
    &range::ZRANGE,
    &range::ZRANGEBYLEX,
    &range::ZRANGEBYSCORE,
    &range::ZREVRANGE,
    &range::ZREVRANGEBYLEX,
    &range::ZREVRANGEBYSCORE,
    &range_store::ZRANGESTORE,
    &remove::ZREM,
    &remove::ZREMRANGEBYLEX,
    &remove::ZREMRANGEBYRANK,
    &remove::ZREMRANGEBYSCORE,
    &scan::ZSCAN,
    &score::ZCARD,
    &score::ZCOUNT,
    &score::ZLEXCOUNT,
    &score::ZMSCORE,
    &score::ZRANK,
    &score::ZREVRANK,
    &score::ZSCORE,
];

/// A number that is no number.
pub(crate) const NOT_A_FLOAT: &str = "ERR value is not a valid float";

/// Up to which size sorted sets are kept small.
#[inline]
pub(crate) fn limits(ctx: &Ctx<'_>) -> SortedSetLimits {
    let encodings = &ctx.live.encodings;
    SortedSetLimits {
        entries: encodings.zset_max_listpack_entries,
        member_bytes: encodings.zset_max_listpack_value,
    }
}

/// The sorted set of a key that is read: a hit or a miss is counted, the access clock set.
#[inline]
pub(crate) fn read<'s>(ctx: &'s mut Ctx<'_>, key: Key<'_>) -> Result<Option<SortedSetRef<'s>>, WrongKind> {
    let (db, touch) = (ctx.db(), !ctx.caller.no_touch);
    let found = ctx.store.sorted_set(db, key, ctx.now, touch);
    let is_there = !matches!(found, Ok(None));
    count_look(ctx.effects, ctx.live, ctx.caller.db, key.bytes, is_there);
    found
}

/// The same; `None` once another kind is refused, `Some(None)` where there is no key.
#[inline]
pub(crate) fn read_or_refuse<'s>(
    ctx: &'s mut Ctx<'_>,
    key: Key<'_>,
    reply: &mut Reply<'_>,
) -> Option<Option<SortedSetRef<'s>>> {
    let found = read(ctx, key);
    if found.is_err() {
        reply.error(lookup::WRONG_KIND);
    }
    found.ok()
}

/// A header for `count` members with or without scores, as [`entry`] writes them.
pub(crate) fn entries_header(reply: &mut Reply<'_>, count: usize, scores: bool) {
    let flat = scores && reply.version() == Version::Resp2;
    reply.array(if flat { 2 * count } else { count });
}

/// A member, with its score where wanted: in RESP3 the two are a pair of their own.
#[inline]
pub(crate) fn entry(reply: &mut Reply<'_>, member: Text<'_>, score: f64, scores: bool) {
    if scores && reply.version() == Version::Resp3 {
        reply.array(2);
    }
    lookup::bulk(member, reply);
    if scores {
        reply.double(score);
    }
}

/// Stores what a command has worked out, or removes the key where that is nothing.
pub(crate) fn store_result(ctx: &mut Ctx<'_>, key: Key<'_>, result: &Pool, event: &'static str) {
    let value =
        (!result.is_empty()).then(|| Detached::sorted_set(result.iter(), limits(ctx), ctx.store.hasher()));
    store_value(ctx, key, value, event);
}

/// The same of a value made already.
pub(crate) fn store_value(ctx: &mut Ctx<'_>, key: Key<'_>, value: Option<Detached>, event: &'static str) {
    let db = ctx.db();
    match value {
        Some(value) => {
            ctx.store.attach(db, key, value);
            ctx.notify(Events::ZSET, event, key.bytes);
            ctx.changed(1);
        }
        None if ctx.store.remove(db, key, ctx.now) => {
            ctx.notify(Events::GENERIC, "del", key.bytes);
            ctx.changed(1);
        }
        None => {}
    }
}

/// Says that a command has taken members out, and that the key went with the last one.
pub(crate) fn tell_removed(ctx: &mut Ctx<'_>, key: Key<'_>, event: &'static str, gone: bool) {
    ctx.notify(Events::ZSET, event, key.bytes);
    if gone {
        ctx.notify(Events::GENERIC, "del", key.bytes);
    }
}
