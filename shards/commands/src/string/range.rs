//! Parts of strings: their length, a piece read, a piece written, an end added.

use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::{IntegerText, Reply};
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{Content, Text};

pub(super) static APPEND: Command = Command::new("APPEND", Group::String, Run::Local(append))
    .arity(3)
    .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::INSERT))])
    .summary("2.0.0", "Appends a string to the value of a key. Creates the key if it doesn't exist.")
    .complexity(
        "O(1). The amortized time complexity is O(1) assuming the appended value is small and the already \
         present value is of any size, since the dynamic string library used by Redis will double the free \
         space available on every reallocation.",
    )
    .arguments(&[Argument::key(), Argument::new("value", ArgumentKind::String)]);

const PIECE: &str = "O(N) where N is the length of the returned string. The complexity is ultimately \
                     determined by the returned length, but because creating a substring from an existing \
                     string is very cheap, it can be considered O(1) for small strings.";

pub(super) static GETRANGE: Command = Command::new("GETRANGE", Group::String, Run::Local(getrange))
    .arity(4)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("2.4.0", "Returns a substring of the string stored at a key.")
    .complexity(PIECE)
    .arguments(&[
        Argument::key(),
        Argument::new("start", ArgumentKind::Integer),
        Argument::new("end", ArgumentKind::Integer),
    ]);

pub(super) static SUBSTR: Command = Command::new("SUBSTR", Group::String, Run::Local(getrange))
    .arity(4)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("1.0.0", "Returns a substring from a string value.")
    .deprecated("2.0.0", "`GETRANGE`")
    .complexity(PIECE)
    .arguments(&[
        Argument::key(),
        Argument::new("start", ArgumentKind::Integer),
        Argument::new("end", ArgumentKind::Integer),
    ]);

pub(super) static SETRANGE: Command = Command::new("SETRANGE", Group::String, Run::Local(setrange))
    .arity(4)
    .flags(Flags::WRITE.with(Flags::DENYOOM))
    .keys(&[Keys::one(Access::RW.with(Access::UPDATE))])
    .summary(
        "2.2.0",
        "Overwrites a part of a string value with another by an offset. Creates the key if it doesn't exist.",
    )
    .complexity(
        "O(1), not counting the time taken to copy the new string in place. Usually, this string is very \
         small so the amortized complexity is O(1). Otherwise, complexity is O(M) with M being the length of \
         the value argument.",
    )
    .arguments(&[
        Argument::key(),
        Argument::new("offset", ArgumentKind::Integer),
        Argument::new("value", ArgumentKind::String),
    ]);

pub(super) static STRLEN: Command = Command::new("STRLEN", Group::String, Run::Local(strlen))
    .arity(2)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO)])
    .summary("2.2.0", "Returns the length of a string value.")
    .arguments(&[Argument::key()]);

/// A string would grow beyond the limit.
const TOO_LONG: &str = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

fn strlen(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    match lookup::text(lookup::read(ctx, key)) {
        Ok(text) => reply.integer(text.map_or(0, |text| text.len() as i64)),
        Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
    }
}

fn append(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key, tail) = (ctx.db(), ctx.key(args.get(1)), args.get(2));
    let before = match lookup::text(lookup::write(ctx, key)) {
        Ok(text) => text.map_or(0, Text::len),
        Err(lookup::WrongKind) => return reply.error(lookup::WRONG_KIND),
    };
    // A new value is an argument, and those have the same limit.
    if before > 0 && !fits(ctx, before as u64, tail) {
        return reply.error(TOO_LONG);
    }
    let length = ctx.store.append(db, key, tail);
    ctx.notify(Events::STRING, "append", key.bytes);
    ctx.changed(1);
    reply.integer(length as i64);
}

fn setrange(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(offset) = number::integer(args.get(2), reply) else { return };
    let Ok(offset) = u64::try_from(offset) else {
        return reply.error("ERR offset is out of range");
    };
    let (db, key, piece) = (ctx.db(), ctx.key(args.get(1)), args.get(3));
    let before = match lookup::text(lookup::write(ctx, key)) {
        Ok(text) => text.map_or(0, Text::len),
        Err(lookup::WrongKind) => return reply.error(lookup::WRONG_KIND),
    };
    if piece.is_empty() {
        return reply.integer(before as i64);
    }
    if !fits(ctx, offset, piece) {
        return reply.error(TOO_LONG);
    }
    let length = ctx.store.write_range(db, key, offset as usize, piece);
    ctx.notify(Events::STRING, "setrange", key.bytes);
    ctx.changed(1);
    reply.integer(length as i64);
}

/// Whether a string may have `piece` behind its first `offset` bytes.
fn fits(ctx: &Ctx<'_>, offset: u64, piece: &[u8]) -> bool {
    offset.checked_add(piece.len() as u64).is_some_and(|length| length <= ctx.live.proto_max_bulk_len)
}

fn getrange(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(start) = number::integer(args.get(2), reply) else { return };
    let Some(end) = number::integer(args.get(3), reply) else { return };
    let key = ctx.key(args.get(1));
    match lookup::content(lookup::read(ctx, key)) {
        Ok(None) => reply.bulk(&[]),
        Ok(Some(Content::Bytes(bytes))) => reply.bulk(piece(bytes, start, end)),
        Ok(Some(Content::Int(number))) => {
            reply.bulk(piece(IntegerText::new(number).as_bytes(), start, end));
        }
        Ok(Some(Content::Shared(text))) => {
            lookup::bulk_of_shared(text, piece(text.as_slice(), start, end), reply);
        }
        Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
    }
}

/// The bytes from `start` to `end`, both included; negative ones count from the end.
fn piece(bytes: &[u8], start: i64, end: i64) -> &[u8] {
    let length = bytes.len() as i64;
    let from_front = |index: i64| if index < 0 { index.saturating_add(length).max(0) } else { index };
    if (start < 0 && end < 0 && start > end) || bytes.is_empty() {
        return &[];
    }
    let (start, end) = (from_front(start), from_front(end).min(length - 1));
    if start > end { &[] } else { &bytes[start as usize..=end as usize] }
}
