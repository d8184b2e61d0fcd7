//! Several keys at one moment: MGET, MSET and MSETNX.

use crate::command::{Check, Command, Order, Piece, Plan, Run, Spread};
use crate::context::{Args, Ctx, Key};
use crate::{lookup, number};
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::Expiry;

pub(super) static MGET: Command = Command::new("MGET", Group::String, Run::Local(mget))
    .arity(-2)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::all(1, Access::RO.with(Access::ACCESS))])
    .spread(Spread::InKeyOrder)
    .summary("1.0.0", "Atomically returns the string values of one or more keys.")
    .complexity("O(N) where N is the number of keys to retrieve.")
    .tips(&["request_policy:multi_shard"])
    .arguments(&[Argument::key().multiple()]);

const PAIRS: &[Argument] =
    &[Argument::block("data", &[Argument::key(), Argument::new("value", ArgumentKind::String)]).multiple()];

pub(super) static MSET: Command = Command::new("MSET", Group::String, Run::Local(mset))
    .arity(-3)
    .flags(Flags::WRITE.with(Flags::DENYOOM))
    .keys(&[Keys::all(2, Access::OW.with(Access::UPDATE))])
    .spread(Spread::AllOk)
    .check(check_mset)
    .summary("1.0.1", "Atomically creates or modifies the string values of one or more keys.")
    .complexity("O(N) where N is the number of keys to set.")
    .tips(&["request_policy:multi_shard", "response_policy:all_succeeded"])
    .arguments(PAIRS);

pub(super) static MSETNX: Command = Command::new(
    "MSETNX",
    Group::String,
    Run::Plan(&Plan { together: msetnx, gather: gather_msetnx, decide: decide_msetnx }),
)
.arity(-3)
.flags(Flags::WRITE.with(Flags::DENYOOM))
.keys(&[Keys::all(2, Access::OW.with(Access::INSERT))])
.check(check_msetnx)
.summary("1.0.1", "Atomically modifies the string values of one or more keys only when all keys don't exist.")
.complexity("O(N) where N is the number of keys to set.")
.tips(&["request_policy:multi_shard", "response_policy:agg_min"])
.arguments(PAIRS);

fn mget(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    reply.array(args.len() - 1);
    for name in args.from(1) {
        let key = ctx.key(name);
        // A value of another kind is no value here, and no error.
        match lookup::content(lookup::read(ctx, key)) {
            Ok(Some(content)) => lookup::bulk_content(content, reply),
            Ok(None) | Err(lookup::WrongKind) => reply.null(),
        }
    }
}

fn check_mset(_: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    are_pairs("mset", args, reply)
}

fn check_msetnx(_: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    are_pairs("msetnx", args, reply)
}

fn are_pairs(name: &str, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    let pairs = args.len() % 2 == 1;
    if !pairs {
        number::wrong_arity(name, reply);
    }
    pairs
}

fn mset(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if are_pairs("mset", args, reply) {
        set_all(ctx, args);
        reply.ok();
    }
}

fn set_all(ctx: &mut Ctx<'_>, args: Args<'_>) {
    let db = ctx.db();
    // One look tells for all keys that nobody listens, as is usual.
    let told = !ctx.live.notify_events.is_empty();
    let mut index = 1;
    while index + 1 < args.len() {
        let key = ctx.key(args.get(index));
        if told {
            ctx.overwrites(key);
        }
        ctx.store.set_text(db, key, args.get(index + 1), Expiry::None);
        if told {
            ctx.notify(Events::STRING, "set", key.bytes);
        }
        index += 2;
    }
    ctx.changed(args.len() as u64 / 2);
}

fn msetnx(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if !are_pairs("msetnx", args, reply) {
        return;
    }
    let free = (1..args.len()).step_by(2).all(|index| {
        let key = ctx.key(args.get(index));
        lookup::write(ctx, key).is_none()
    });
    if free {
        set_all(ctx, args);
    }
    reply.integer(i64::from(free));
}

/// Makes the value where its key lives: set and taken out again, under the lock of the key, so that
/// nobody sees it until all are known to be free.
fn gather_msetnx(ctx: &mut Ctx<'_>, args: Args<'_>, ordinal: usize, key: Key<'_>) -> Piece {
    if lookup::write(ctx, key).is_some() {
        return Piece::Exists(true);
    }
    let db = ctx.db();
    Piece::Value(ctx.store.make_text(db, key, args.get(2 * ordinal + 2), ctx.now))
}

fn decide_msetnx(
    check: &Check,
    _: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let put = |piece: &mut Piece| match piece {
        Piece::Value(value) => {
            Some(Order::Put { db: check.db, value: value.take()?, event: (Events::STRING, "set") })
        }
        Piece::Nothing | Piece::Exists(_) | Piece::WrongKind => None,
    };
    let orders: Option<Vec<Order>> = pieces.iter_mut().map(put).collect();
    reply.integer(i64::from(orders.is_some()));
    orders
}
