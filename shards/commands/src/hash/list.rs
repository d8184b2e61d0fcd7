//! All of a hash: its fields, its values, or both.

use super::READS;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::{Argument, Flags, Group};

const SIZE: &str = "O(N) where N is the size of the hash.";
const ANY_ORDER: &[&str] = &["nondeterministic_output_order"];

pub(super) static HGETALL: Command = Command::new("HGETALL", Group::Hash, Run::Local(hgetall))
    .arity(2)
    .flags(Flags::READONLY)
    .keys(READS)
    .summary("2.0.0", "Returns all fields and values in a hash.")
    .complexity(SIZE)
    .tips(ANY_ORDER)
    .arguments(&[Argument::key()]);

pub(super) static HKEYS: Command = Command::new("HKEYS", Group::Hash, Run::Local(hkeys))
    .arity(2)
    .flags(Flags::READONLY)
    .keys(READS)
    .summary("2.0.0", "Returns all fields in a hash.")
    .complexity(SIZE)
    .tips(ANY_ORDER)
    .arguments(&[Argument::key()]);

pub(super) static HVALS: Command = Command::new("HVALS", Group::Hash, Run::Local(hvals))
    .arity(2)
    .flags(Flags::READONLY)
    .keys(READS)
    .summary("2.0.0", "Returns all values in a hash.")
    .complexity(SIZE)
    .tips(ANY_ORDER)
    .arguments(&[Argument::key()]);

fn hgetall(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let Ok(hash) = lookup::hash(ctx, key) else { return reply.error(lookup::WRONG_KIND) };
    reply.map(hash.map_or(0, |hash| hash.len()));
    if let Some(hash) = hash {
        hash.each(&mut |field, value| {
            lookup::bulk(field, reply);
            lookup::bulk(value, reply);
        });
    }
}

fn hkeys(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let Ok(hash) = lookup::hash(ctx, key) else { return reply.error(lookup::WRONG_KIND) };
    reply.array(hash.map_or(0, |hash| hash.len()));
    if let Some(hash) = hash {
        hash.each(&mut |field, _| lookup::bulk(field, reply));
    }
}

fn hvals(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let Ok(hash) = lookup::hash(ctx, key) else { return reply.error(lookup::WRONG_KIND) };
    reply.array(hash.map_or(0, |hash| hash.len()));
    if let Some(hash) = hash {
        hash.each(&mut |_, value| lookup::bulk(value, reply));
    }
}
