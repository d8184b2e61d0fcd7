//! Keys removed, and keys counted: DEL, UNLINK, EXISTS, TOUCH. Each takes any number of keys, and the
//! counts of several shards add up.

use crate::command::{Command, Run, Spread};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, Categories, Flags, Group, Keys};

const SUMMED: &[&str] = &["request_policy:multi_shard", "response_policy:agg_sum"];

pub(super) static DEL: Command = Command::new("DEL", Group::Generic, Run::Local(del))
    .arity(-2)
    .flags(Flags::WRITE)
    .categories(Categories::KEYSPACE)
    .keys(&[Keys::all(1, Access::RM.with(Access::DELETE))])
    .spread(Spread::Sum)
    .summary("1.0.0", "Deletes one or more keys.")
    .complexity(
        "O(N) where N is the number of keys that will be removed. When a key to remove holds a value other \
         than a string, the individual complexity for this key is O(M) where M is the number of elements in \
         the list, set, sorted set or hash. Removing a single key that holds a string value is O(1).",
    )
    .tips(SUMMED)
    .arguments(&[Argument::key().multiple()]);

pub(super) static UNLINK: Command = Command::new("UNLINK", Group::Generic, Run::Local(del))
    .arity(-2)
    .flags(Flags::WRITE.with(Flags::FAST))
    .categories(Categories::KEYSPACE)
    .keys(&[Keys::all(1, Access::RM.with(Access::DELETE))])
    .spread(Spread::Sum)
    .summary("4.0.0", "Asynchronously deletes one or more keys.")
    .complexity(
        "O(1) for each key removed regardless of its size. Then the command does O(N) work in a different \
         thread in order to reclaim memory, where N is the number of allocations the deleted objects where \
         composed of.",
    )
    .tips(SUMMED)
    .arguments(&[Argument::key().multiple()]);

pub(super) static EXISTS: Command = Command::new("EXISTS", Group::Generic, Run::Local(exists))
    .arity(-2)
    .flags(Flags::READONLY.with(Flags::FAST))
    .categories(Categories::KEYSPACE)
    .keys(&[Keys::all(1, Access::RO)])
    .spread(Spread::Sum)
    .summary("1.0.0", "Determines whether one or more keys exist.")
    .complexity("O(N) where N is the number of keys to check.")
    .tips(SUMMED)
    .arguments(&[Argument::key().multiple()]);

pub(super) static TOUCH: Command = Command::new("TOUCH", Group::Generic, Run::Local(touch))
    .arity(-2)
    .flags(Flags::READONLY.with(Flags::FAST))
    .categories(Categories::KEYSPACE)
    .keys(&[Keys::all(1, Access::RO)])
    .spread(Spread::Sum)
    .summary(
        "3.2.1",
        "Returns the number of existing keys out of those specified after updating the time they were last \
         accessed.",
    )
    .complexity("O(N) where N is the number of keys that will be touched.")
    .tips(SUMMED)
    .arguments(&[Argument::key().multiple()]);

/// Large values are freed in slices by the store, so DEL is as quick as UNLINK.
fn del(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, now) = (ctx.db(), ctx.now);
    let mut removed = 0;
    for name in args.from(1) {
        let key = ctx.key(name);
        if ctx.store.remove(db, key, now) {
            removed += 1;
            ctx.notify(Events::GENERIC, "del", name);
        }
    }
    ctx.changed(removed);
    reply.integer(removed as i64);
}

fn exists(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let mut found = 0;
    for name in args.from(1) {
        let key = ctx.key(name);
        found += i64::from(lookup::peek(ctx, key).is_some());
    }
    reply.integer(found);
}

/// Touches also for a client that said CLIENT NO-TOUCH: it asks for it.
fn touch(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, now) = (ctx.db(), ctx.now);
    let mut touched = 0;
    for name in args.from(1) {
        let key = ctx.key(name);
        let found = ctx.store.find(db, key, now).is_some();
        ctx.looked_up(found, name);
        touched += i64::from(found);
    }
    reply.integer(touched);
}
