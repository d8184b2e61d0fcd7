//! LPUSH, RPUSH and their forms that want the list to be there.

use super::{note_pushed, write_or_new};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup::{WRONG_KIND, WrongKind};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::Side;

const COMPLEXITY: &str = "O(1) for each element added, so O(N) to add N elements when the command is called with \
                          multiple arguments.";

const KEYS: &[Keys] = &[Keys::one(Access::RW.with(Access::INSERT))];
const ARGUMENTS: &[Argument] = &[Argument::key(), Argument::new("element", ArgumentKind::String).multiple()];

const fn push(name: &'static str, run: Run) -> Command {
    Command::new(name, Group::List, run)
        .arity(-3)
        .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST))
        .keys(KEYS)
        .complexity(COMPLEXITY)
        .arguments(ARGUMENTS)
}

pub(super) static LPUSH: Command = push("LPUSH", Run::Local(lpush))
    .summary("1.0.0", "Prepends one or more elements to a list. Creates the key if it doesn't exist.");

pub(super) static RPUSH: Command = push("RPUSH", Run::Local(rpush))
    .summary("1.0.0", "Appends one or more elements to a list. Creates the key if it doesn't exist.");

pub(super) static LPUSHX: Command = push("LPUSHX", Run::Local(lpushx))
    .summary("2.2.0", "Prepends one or more elements to a list only when the list exists.");

pub(super) static RPUSHX: Command = push("RPUSHX", Run::Local(rpushx))
    .summary("2.2.0", "Appends an element to a list only when the list exists.");

fn lpush(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    push_all(ctx, args, Side::Left, false, reply);
}

fn rpush(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    push_all(ctx, args, Side::Right, false, reply);
}

fn lpushx(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    push_all(ctx, args, Side::Left, true, reply);
}

fn rpushx(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    push_all(ctx, args, Side::Right, true, reply);
}

fn push_all(ctx: &mut Ctx<'_>, args: Args<'_>, side: Side, must_exist: bool, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let mut list = match write_or_new(ctx, key) {
        Ok(list) => list,
        Err(WrongKind) => return reply.error(WRONG_KIND),
    };
    if must_exist && list.is_empty() {
        return reply.integer(0);
    }
    args.from(2).for_each(|element| list.push(side, element));
    let length = list.len();
    drop(list);
    note_pushed(ctx, key.bytes, side, args.len() - 2);
    reply.integer(length as i64);
}
