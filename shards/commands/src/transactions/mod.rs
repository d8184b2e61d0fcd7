//! MULTI, EXEC, DISCARD, WATCH, UNWATCH: their declarations. What they do is the shard's, which holds
//! what is queued and knows where it runs; only watching a key is done here, where the key is.

use crate::command::{Command, Run, Transaction};
use crate::context::{Args, Ctx};
use resp::Reply;
use spec::{Access, Argument, Flags, Group, Keys};

/// Every command of this family.
pub(crate) static ALL: &[&Command] = &[&DISCARD, &EXEC, &MULTI, &UNWATCH, &WATCH];

const COMMON: Flags = Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE);
const QUICK: Flags = COMMON.with(Flags::FAST).with(Flags::ALLOW_BUSY);

const fn part(name: &'static str, what: Transaction) -> Command {
    Command::new(name, Group::Transactions, Run::Transaction(what))
}

static MULTI: Command =
    part("MULTI", Transaction::Multi).flags(QUICK).summary("1.2.0", "Starts a transaction.");

static EXEC: Command = part("EXEC", Transaction::Exec)
    .flags(COMMON.with(Flags::SKIP_SLOWLOG))
    .summary("1.2.0", "Executes all commands in a transaction.")
    .complexity("Depends on commands in the transaction");

static DISCARD: Command = part("DISCARD", Transaction::Discard)
    .flags(QUICK)
    .summary("2.0.0", "Discards a transaction.")
    .complexity("O(N), when N is the number of queued commands");

static UNWATCH: Command = part("UNWATCH", Transaction::Unwatch)
    .flags(QUICK)
    .summary("2.2.0", "Forgets about watched keys of a transaction.");

static WATCH: Command = part("WATCH", Transaction::Watch(watch))
    .arity(-2)
    .flags(QUICK)
    .keys(&[Keys::all(1, Access::RO)])
    .spread(crate::command::Spread::AllOk)
    .summary("2.2.0", "Monitors changes to keys to determine the execution of a transaction.")
    .complexity("O(1) for every key.")
    .arguments(&[Argument::key().multiple()]);

/// A key that has expired is none here: it goes before it is watched.
fn watch(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, caller) = (ctx.db(), ctx.caller);
    for name in args.from(1) {
        let key = ctx.key(name);
        let is_there = ctx.store.find_untouched(db, key, ctx.now).is_some();
        ctx.watched.watch(caller.client, caller.watch_round, caller.db, key, is_there);
    }
    reply.ok();
}
