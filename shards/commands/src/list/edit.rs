//! Lists changed inside: LINSERT, LSET, LREM, LTRIM.

use super::{NO_SUCH_KEY, note_removed, resolved, span, write};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup::{WRONG_KIND, WrongKind};
use crate::number::{self, SYNTAX};
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{Side, Text};

pub(super) static LINSERT: Command = Command::new("LINSERT", Group::List, Run::Local(linsert))
    .arity(5)
    .flags(Flags::WRITE.with(Flags::DENYOOM))
    .keys(&[Keys::one(Access::RW.with(Access::INSERT))])
    .summary("2.2.0", "Inserts an element before or after another element in a list.")
    .complexity(
        "O(N) where N is the number of elements to traverse before seeing the value pivot. This means that \
         inserting somewhere on the left end on the list (head) can be considered O(1) and inserting somewhere \
         on the right end (tail) is O(N).",
    )
    .arguments(&[
        Argument::key(),
        Argument::one_of("where", &[Argument::word("before", "BEFORE"), Argument::word("after", "AFTER")]),
        Argument::new("pivot", ArgumentKind::String),
        Argument::new("element", ArgumentKind::String),
    ]);

pub(super) static LSET: Command = Command::new("LSET", Group::List, Run::Local(lset))
    .arity(4)
    .flags(Flags::WRITE.with(Flags::DENYOOM))
    .keys(&[Keys::one(Access::RW.with(Access::UPDATE))])
    .summary("1.0.0", "Sets the value of an element in a list by its index.")
    .complexity(
        "O(N) where N is the length of the list. Setting either the first or the last element of the list is \
         O(1).",
    )
    .arguments(&[
        Argument::key(),
        Argument::new("index", ArgumentKind::Integer),
        Argument::new("element", ArgumentKind::String),
    ]);

pub(super) static LREM: Command = Command::new("LREM", Group::List, Run::Local(lrem))
    .arity(4)
    .flags(Flags::WRITE)
    .keys(&[Keys::one(Access::RW.with(Access::DELETE))])
    .summary("1.0.0", "Removes elements from a list. Deletes the list if the last element was removed.")
    .complexity("O(N+M) where N is the length of the list and M is the number of elements removed.")
    .arguments(&[
        Argument::key(),
        Argument::new("count", ArgumentKind::Integer),
        Argument::new("element", ArgumentKind::String),
    ]);

pub(super) static LTRIM: Command = Command::new("LTRIM", Group::List, Run::Local(ltrim))
    .arity(4)
    .flags(Flags::WRITE)
    .keys(&[Keys::one(Access::RW.with(Access::DELETE))])
    .summary(
        "1.0.0",
        "Removes elements from both ends a list. Deletes the list if all elements were trimmed.",
    )
    .complexity("O(N) where N is the number of elements to be removed by the operation.")
    .arguments(&[
        Argument::key(),
        Argument::new("start", ArgumentKind::Integer),
        Argument::new("stop", ArgumentKind::Integer),
    ]);

fn linsert(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let behind = args.is(2, "AFTER");
    if !behind && !args.is(2, "BEFORE") {
        return reply.error(SYNTAX);
    }
    let key = ctx.key(args.get(1));
    let mut list = match write(ctx, key) {
        Ok(Some(list)) => list,
        Ok(None) => return reply.integer(0),
        Err(WrongKind) => return reply.error(WRONG_KIND),
    };
    let pivot = Text::of(args.get(3));
    let Some(index) = list.view().rightward(0).position(|text| text == pivot) else {
        return reply.integer(-1);
    };
    list.insert(index + usize::from(behind), args.get(4));
    let length = list.len();
    drop(list);
    ctx.notify(Events::LIST, "linsert", key.bytes);
    ctx.changed(1);
    reply.integer(length as i64);
}

fn lset(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let mut list = match write(ctx, key) {
        Ok(Some(list)) => list,
        Ok(None) => return reply.error(NO_SUCH_KEY),
        Err(WrongKind) => return reply.error(WRONG_KIND),
    };
    let Some(index) = number::integer(args.get(2), reply) else { return };
    let Some(index) = resolved(index, list.len()) else {
        return reply.error("ERR index out of range");
    };
    list.set(index, args.get(3));
    drop(list);
    ctx.notify(Events::LIST, "lset", key.bytes);
    ctx.changed(1);
    reply.ok();
}

fn lrem(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(count) = number::negatable(args.get(2), reply) else { return };
    let key = ctx.key(args.get(1));
    let mut list = match write(ctx, key) {
        Ok(Some(list)) => list,
        Ok(None) => return reply.integer(0),
        Err(WrongKind) => return reply.error(WRONG_KIND),
    };
    let side = if count < 0 { Side::Right } else { Side::Left };
    let most = if count == 0 { usize::MAX } else { count.unsigned_abs() as usize };
    let removed = list.remove_equal(args.get(3), most, side);
    let emptied = list.is_empty();
    drop(list);
    if removed > 0 {
        note_removed(ctx, key.bytes, "lrem", removed, emptied);
    }
    reply.integer(removed as i64);
}

fn ltrim(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(start) = number::integer(args.get(2), reply) else { return };
    let Some(stop) = number::integer(args.get(3), reply) else { return };
    let key = ctx.key(args.get(1));
    let mut list = match write(ctx, key) {
        Ok(Some(list)) => list,
        Ok(None) => return reply.ok(),
        Err(WrongKind) => return reply.error(WRONG_KIND),
    };
    let length = list.len();
    let (first, count) = span(start, stop, length);
    if count == 0 {
        list.clear();
    } else {
        list.remove(first + count, length - first - count);
        list.remove(0, first);
    }
    drop(list);
    note_removed(ctx, key.bytes, "ltrim", length - count, count == 0);
    if !ctx.watched.is_empty() {
        // Who watches the list hears of it even where nothing was cut off.
        ctx.watched.touch(ctx.caller.db, key);
    }
    reply.ok();
}
