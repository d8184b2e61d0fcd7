//! Lists read: LLEN, LINDEX, LRANGE.

use super::{read, resolved, span};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup::{self, WRONG_KIND, WrongKind};
use crate::number;
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static LLEN: Command = Command::new("LLEN", Group::List, Run::Local(llen))
    .arity(2)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO)])
    .summary("1.0.0", "Returns the length of a list.")
    .arguments(&[Argument::key()]);

pub(super) static LINDEX: Command = Command::new("LINDEX", Group::List, Run::Local(lindex))
    .arity(3)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("1.0.0", "Returns an element from a list by its index.")
    .complexity(
        "O(N) where N is the number of elements to traverse to get to the element at index. This makes asking \
         for the first or the last element of the list O(1).",
    )
    .arguments(&[Argument::key(), Argument::new("index", ArgumentKind::Integer)]);

pub(super) static LRANGE: Command = Command::new("LRANGE", Group::List, Run::Local(lrange))
    .arity(4)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("1.0.0", "Returns a range of elements from a list.")
    .complexity(
        "O(S+N) where S is the distance of start offset from HEAD for small lists, from nearest end (HEAD or \
         TAIL) for large lists; and N is the number of elements in the specified range.",
    )
    .arguments(&[
        Argument::key(),
        Argument::new("start", ArgumentKind::Integer),
        Argument::new("stop", ArgumentKind::Integer),
    ]);

fn llen(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    match read(ctx, args.get(1)) {
        Ok(list) => reply.integer(list.map_or(0, |list| list.len()) as i64),
        Err(WrongKind) => reply.error(WRONG_KIND),
    }
}

fn lindex(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let list = match read(ctx, args.get(1)) {
        Ok(Some(list)) => list,
        Ok(None) => return reply.null(),
        Err(WrongKind) => return reply.error(WRONG_KIND),
    };
    let Some(index) = number::integer(args.get(2), reply) else { return };
    match resolved(index, list.len()).and_then(|index| list.get(index)) {
        Some(text) => lookup::bulk(text, reply),
        None => reply.null(),
    }
}

fn lrange(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(start) = number::integer(args.get(2), reply) else { return };
    let Some(stop) = number::integer(args.get(3), reply) else { return };
    match read(ctx, args.get(1)) {
        Ok(Some(list)) => {
            let (first, count) = span(start, stop, list.len());
            reply.array(count);
            list.rightward(first).take(count).for_each(|text| lookup::bulk(text, reply));
        }
        Ok(None) => reply.array(0),
        Err(WrongKind) => reply.error(WRONG_KIND),
    }
}
