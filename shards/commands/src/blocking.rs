//! What commands that wait have in common: their time, their keys, and what is not theirs to take. It does
//! not know how a client is held.

use crate::command::{ActFn, Order, Piece};
use crate::context::{Args, Ctx, Key};
use resp::{LongDouble, Reply};
use spec::{Access, Argument, ArgumentKind, Extent, Flags, Keys, Start};

/// Flags of all that wait.
pub(crate) const WAITS: Flags = Flags::WRITE.with(Flags::BLOCKING);

/// Seconds to wait.
pub(crate) const TIMEOUT: Argument = Argument::new("timeout", ArgumentKind::Double);

/// Arguments of those that pop one element from any of several keys.
pub(crate) const KEYS_AND_TIMEOUT: &[Argument] = &[Argument::key().multiple(), TIMEOUT];

/// Keys from argument 1 to the last but one, of which one is popped.
pub(crate) const KEYS_BEFORE_TIMEOUT: &[Keys] = &[Keys::new(
    Start::Index(1),
    Extent::Range { last: -2, step: 1, limit: 0 },
    Access::RW.with(Access::ACCESS).with(Access::DELETE),
)];

/// Reads a timeout of seconds: when it is over, in unix milliseconds. `None` once it is refused.
pub(crate) fn until(now: i64, argument: &[u8], reply: &mut Reply<'_>) -> Option<i64> {
    let Some(seconds) = LongDouble::parse(argument) else {
        reply.error("ERR timeout is not a float or out of range");
        return None;
    };
    let Some(wait) = seconds.thousandfold_up() else {
        // Redis takes a number below its range for one, and one above it for none.
        let below = argument.first() == Some(&b'-');
        reply.error(if below { "ERR timeout is negative" } else { "ERR timeout is out of range" });
        return None;
    };
    match wait {
        ..0 => reply.error("ERR timeout is negative"),
        0 => return Some(i64::MAX),
        _ => match now.checked_add(wait) {
            Some(until) => return Some(until),
            None => reply.error("ERR timeout is out of range"),
        },
    }
    None
}

/// Reads the timeout behind all other arguments.
pub(crate) fn until_last(now: i64, args: Args<'_>, reply: &mut Reply<'_>) -> Option<i64> {
    until(now, args.get(args.len() - 1), reply)
}

/// Whether a key is spoken for: who waited before is being served with what is there.
pub(crate) fn is_spoken_for(ctx: &Ctx<'_>, key: Key<'_>) -> bool {
    let awaited = ctx.watched.awaited();
    !awaited.is_empty() && awaited.is_promised_to_another(ctx.caller.db, key, ctx.caller.client)
}

/// The first of a plan's keys that has something, or is of another kind.
pub(crate) fn first_found(pieces: &[Piece]) -> Option<usize> {
    pieces.iter().position(|piece| matches!(piece, Piece::WrongKind | Piece::Value(Some(_))))
}

/// Has that key carry out an order, and the others nothing.
pub(crate) fn orders(pieces: &[Piece], first: usize, act: ActFn) -> Vec<Order> {
    let order = |ordinal| if ordinal == first { Order::Act(act, None) } else { Order::Nothing };
    (0..pieces.len()).map(order).collect()
}
