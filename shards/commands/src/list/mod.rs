//! Commands on lists. What several of them need is here: finding the list of a key, indices that count
//! from either end, and what is told when elements have gone.

mod blocking;
mod edit;
#[cfg(test)]
mod model_tests;
mod moving;
mod pop;
mod position;
mod push;
mod range;
#[cfg(test)]
mod tests;

use crate::command::Command;
use crate::context::{Args, Ctx, Key};
use crate::lookup::{self, WrongKind};
use crate::number::SYNTAX;
use resp::Reply;
use spec::Argument;
use spec::setting::Events;
use store::{ListMut, ListRef, Side};

/// All of them.
pub(crate) static ALL: &[&Command] = &[
    &blocking::BLMOVE,
    &blocking::BLMPOP,
    &blocking::BLPOP,
    &blocking::BRPOP,
    &blocking::BRPOPLPUSH,
    &range::LINDEX,
    &edit::LINSERT,
    &range::LLEN,
    &moving::LMOVE,
    &pop::LMPOP,
    &pop::LPOP,
    &position::LPOS,
    &push::LPUSH,
    &push::LPUSHX,
    &range::LRANGE,
    &edit::LREM,
    &edit::LSET,
    &edit::LTRIM,
    &pop::RPOP,
    &moving::RPOPLPUSH,
    &push::RPUSH,
    &push::RPUSHX,
];

const NO_SUCH_KEY: &str = "ERR no such key";

/// LEFT or RIGHT, for COMMAND DOCS.
const SIDES: &[Argument] = &[Argument::word("left", "LEFT"), Argument::word("right", "RIGHT")];

/// The list of a key that is read: a hit or a miss is counted.
fn read<'s>(ctx: &'s mut Ctx<'_>, name: &[u8]) -> Result<Option<ListRef<'s>>, WrongKind> {
    let key = ctx.key(name);
    lookup::read(ctx, key).map(|entry| entry.list()).transpose()
}

/// The list of a key that is about to be changed.
fn write<'s>(ctx: &'s mut Ctx<'_>, key: Key<'s>) -> Result<Option<ListMut<'s>>, WrongKind> {
    let (db, size) = (ctx.db(), ctx.live.encodings.list_max_listpack_size);
    ctx.store.list_mut(db, key, ctx.now, size)
}

/// The same; an empty one, where the key is not there.
fn write_or_new<'s>(ctx: &'s mut Ctx<'_>, key: Key<'s>) -> Result<ListMut<'s>, WrongKind> {
    let (db, size) = (ctx.db(), ctx.live.encodings.list_max_listpack_size);
    ctx.store.list_or_new(db, key, ctx.now, size)
}

/// LEFT or RIGHT; `None` once it is refused.
fn side(args: Args<'_>, index: usize, reply: &mut Reply<'_>) -> Option<Side> {
    if args.is(index, "LEFT") {
        return Some(Side::Left);
    }
    if args.is(index, "RIGHT") {
        return Some(Side::Right);
    }
    reply.error(SYNTAX);
    None
}

/// An index that counts from the end where it is negative, if it is in the list.
fn resolved(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add(length as i64)? } else { index };
    usize::try_from(index).ok().filter(|index| *index < length)
}

/// The first index and the number of elements from `start` to `stop`, each of which counts from the end
/// where it is negative.
fn span(start: i64, stop: i64, length: usize) -> (usize, usize) {
    let length = length as i64;
    let from_end = |index: i64| if index < 0 { index.saturating_add(length).max(0) } else { index };
    let first = from_end(start);
    if stop < -length || first >= length {
        return (0, 0);
    }
    let last = from_end(stop).min(length - 1);
    (first as usize, (last + 1 - first).max(0) as usize)
}

/// Elements were added at an end.
fn note_pushed(ctx: &mut Ctx<'_>, key: &[u8], side: Side, count: usize) {
    let event = if side == Side::Left { "lpush" } else { "rpush" };
    ctx.notify(Events::LIST, event, key);
    ctx.changed(count as u64);
}

/// Elements were taken from an end, and perhaps no others are left.
fn note_popped(ctx: &mut Ctx<'_>, key: &[u8], side: Side, count: usize, emptied: bool) {
    let event = if side == Side::Left { "lpop" } else { "rpop" };
    note_removed(ctx, key, event, count, emptied);
}

/// Elements were removed, and perhaps no others are left.
fn note_removed(ctx: &mut Ctx<'_>, key: &[u8], event: &'static str, count: usize, emptied: bool) {
    ctx.notify(Events::LIST, event, key);
    if emptied {
        ctx.notify(Events::GENERIC, "del", key);
    }
    ctx.changed(count as u64);
}
