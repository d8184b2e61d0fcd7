//! Looking keys up, as Redis counts and touches them, and the one error about kinds.
//! It does not know what a command does with what it finds.

use crate::context::{Ctx, Key, count_look};
use resp::{Reply, Shared};
pub(crate) use store::WrongKind;
use store::{Content, Entry, HashRef, SHARED_BYTES_MIN, SetRef, SharedText, Text};

/// The key holds a value of another type.
pub(crate) const WRONG_KIND: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

/// A key that is read: a hit or a miss is counted, the access clock set (unless the client said
/// CLIENT NO-TOUCH). Always inlined, as GET is.
#[inline(always)]
pub(crate) fn read<'s>(ctx: &'s mut Ctx<'_>, key: Key<'_>) -> Option<Entry<'s>> {
    if ctx.caller.no_touch {
        return peek(ctx, key);
    }
    let db = ctx.db();
    let found = ctx.store.find(db, key, ctx.now);
    count_look(ctx.effects, ctx.live, ctx.caller.db, key.bytes, found.is_some());
    found
}

/// A key that is looked at without being used: a hit or a miss is counted, no more.
#[inline]
pub(crate) fn peek<'s>(ctx: &'s mut Ctx<'_>, key: Key<'_>) -> Option<Entry<'s>> {
    let db = ctx.db();
    let found = ctx.store.find_untouched(db, key, ctx.now);
    count_look(ctx.effects, ctx.live, ctx.caller.db, key.bytes, found.is_some());
    found
}

/// A key that is about to be changed: nothing is counted.
#[inline]
pub(crate) fn write<'s>(ctx: &'s mut Ctx<'_>, key: Key<'_>) -> Option<Entry<'s>> {
    let db = ctx.db();
    if ctx.caller.no_touch {
        ctx.store.find_untouched(db, key, ctx.now)
    } else {
        ctx.store.find(db, key, ctx.now)
    }
}

/// The hash of a key that is read, counted and touched as [`read`] does.
#[inline]
pub(crate) fn hash<'s>(ctx: &'s mut Ctx<'_>, key: Key<'_>) -> Result<Option<HashRef<'s>>, WrongKind> {
    let (db, touch) = (ctx.db(), !ctx.caller.no_touch);
    let found = ctx.store.read_hash(db, key, ctx.now, touch);
    count_look(ctx.effects, ctx.live, ctx.caller.db, key.bytes, !matches!(found, Ok(None)));
    found
}

/// The set of a key that is read, counted and touched as [`read`] does.
#[inline]
pub(crate) fn set<'s>(ctx: &'s mut Ctx<'_>, key: Key<'_>) -> Result<Option<SetRef<'s>>, WrongKind> {
    let (db, touch) = (ctx.db(), !ctx.caller.no_touch);
    let found = ctx.store.read_set(db, key, ctx.now, touch);
    count_look(ctx.effects, ctx.live, ctx.caller.db, key.bytes, !matches!(found, Ok(None)));
    found
}

/// The text of an entry, if there is one and it is a string.
#[inline]
pub(crate) fn text(entry: Option<Entry<'_>>) -> Result<Option<Text<'_>>, WrongKind> {
    match entry {
        None => Ok(None),
        Some(entry) => entry.text().map(Some).ok_or(WrongKind),
    }
}

/// What the string of an entry holds, if there is one and it is a string.
#[inline]
pub(crate) fn content(entry: Option<Entry<'_>>) -> Result<Option<Content<'_>>, WrongKind> {
    match entry {
        None => Ok(None),
        Some(entry) => entry.content().map(Some).ok_or(WrongKind),
    }
}

/// Replies with what a string holds.
#[inline(always)]
pub(crate) fn bulk_content(content: Content<'_>, reply: &mut Reply<'_>) {
    match content {
        Content::Int(number) => reply.bulk_integer(number),
        Content::Bytes(bytes) => reply.bulk(bytes),
        Content::Shared(text) => bulk_of_shared(text, text.as_slice(), reply),
    }
}

/// Replies with a piece of a large text: refers to it, if it is large too.
#[cold]
#[inline(never)]
pub(crate) fn bulk_of_shared(text: &SharedText, piece: &[u8], reply: &mut Reply<'_>) {
    match text.range_of(piece).filter(|_| piece.len() >= SHARED_BYTES_MIN) {
        Some(place) => reply.bulk_shared(Shared::new(text.buffer().clone(), place)),
        None => reply.bulk(piece),
    }
}

/// Replies with a text.
#[inline]
pub(crate) fn bulk(text: Text<'_>, reply: &mut Reply<'_>) {
    match text {
        Text::Int(number) => reply.bulk_integer(number),
        Text::Bytes(bytes) => reply.bulk(bytes),
    }
}
