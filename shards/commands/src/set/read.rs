//! Sets read: whole, or asked about members.

use super::{LOOKS, MEMBER, READS};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::{Argument, Flags, Group};

const READ: Flags = Flags::READONLY.with(Flags::FAST);

pub(super) static SCARD: Command = Command::new("SCARD", Group::Set, Run::Local(scard))
    .arity(2)
    .flags(READ)
    .keys(LOOKS)
    .summary("1.0.0", "Returns the number of members in a set.")
    .arguments(&[Argument::key()]);

pub(super) static SISMEMBER: Command = Command::new("SISMEMBER", Group::Set, Run::Local(sismember))
    .arity(3)
    .flags(READ)
    .keys(LOOKS)
    .summary("1.0.0", "Determines whether a member belongs to a set.")
    .arguments(&[Argument::key(), MEMBER]);

pub(super) static SMISMEMBER: Command = Command::new("SMISMEMBER", Group::Set, Run::Local(smismember))
    .arity(-3)
    .flags(READ)
    .keys(READS)
    .summary("6.2.0", "Determines whether multiple members belong to a set.")
    .complexity("O(N) where N is the number of elements being checked for membership")
    .arguments(&[Argument::key(), MEMBER.multiple()]);

pub(super) static SMEMBERS: Command = Command::new("SMEMBERS", Group::Set, Run::Local(smembers))
    .arity(2)
    .flags(Flags::READONLY)
    .keys(READS)
    .summary("1.0.0", "Returns all members of a set.")
    .complexity("O(N) where N is the set cardinality.")
    .tips(&["nondeterministic_output_order"])
    .arguments(&[Argument::key()]);

fn scard(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    match lookup::set(ctx, key) {
        Ok(set) => reply.integer(set.map_or(0, |set| set.len()) as i64),
        Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
    }
}

fn sismember(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    match lookup::set(ctx, key) {
        Ok(set) => reply.integer(i64::from(set.is_some_and(|set| set.contains(args.get(2))))),
        Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
    }
}

fn smismember(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let Ok(set) = lookup::set(ctx, key) else { return reply.error(lookup::WRONG_KIND) };
    reply.array(args.len() - 2);
    for member in args.from(2) {
        reply.integer(i64::from(set.is_some_and(|set| set.contains(member))));
    }
}

fn smembers(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let Ok(set) = lookup::set(ctx, key) else { return reply.error(lookup::WRONG_KIND) };
    reply.set(set.map_or(0, |set| set.len()));
    if let Some(set) = set {
        set.each(&mut |member| lookup::bulk(member, reply));
    }
}
