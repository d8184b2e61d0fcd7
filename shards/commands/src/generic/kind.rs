//! TYPE: what a key holds.

use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::{Access, Argument, Categories, Flags, Group, Keys};

pub(super) static TYPE: Command = Command::new("TYPE", Group::Generic, Run::Local(kind))
    .arity(2)
    .flags(Flags::READONLY.with(Flags::FAST))
    .categories(Categories::KEYSPACE)
    .keys(&[Keys::one(Access::RO)])
    .summary("1.0.0", "Determines the type of value stored at a key.")
    .arguments(&[Argument::key()]);

fn kind(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    reply.simple(lookup::peek(ctx, key).map_or("none", |entry| entry.kind().name()));
}
