//! BITOP: strings of any shards combined bit by bit, and kept under a key.

use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::{lookup, number};
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Extent, Flags, Group, Keys, Start};
use store::{Detached, Text};

pub(super) static BITOP: Command =
    Command::new("BITOP", Group::Bitmap, Run::Plan(&Plan { together: bitop, gather, decide }))
        .arity(-4)
        .flags(Flags::WRITE.with(Flags::DENYOOM))
        .keys(&[
            Keys::at(2, Access::OW.with(Access::UPDATE)),
            Keys::new(
                Start::Index(3),
                Extent::Range { last: -1, step: 1, limit: 0 },
                Access::RO.with(Access::ACCESS),
            ),
        ])
        .check(check)
        .summary("2.6.0", "Performs bitwise operations on multiple strings, and stores the result.")
        .complexity("O(N)")
        .arguments(&[
            Argument::one_of(
                "operation",
                &[
                    Argument::word("and", "AND"),
                    Argument::word("or", "OR"),
                    Argument::word("xor", "XOR"),
                    Argument::word("not", "NOT"),
                ],
            ),
            Argument::new("destkey", ArgumentKind::Key),
            Argument::key().multiple(),
        ]);

const ONE_SOURCE: &str = "ERR BITOP NOT must be called with a single source key.";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    And,
    Or,
    Xor,
    Not,
}

impl Operation {
    /// `None` once it is refused.
    fn read(args: Args<'_>, reply: &mut Reply<'_>) -> Option<Operation> {
        let operation = match () {
            () if args.is(1, "AND") => Operation::And,
            () if args.is(1, "OR") => Operation::Or,
            () if args.is(1, "XOR") => Operation::Xor,
            () if args.is(1, "NOT") => Operation::Not,
            () => {
                reply.error(number::SYNTAX);
                return None;
            }
        };
        if operation == Operation::Not && args.len() != 4 {
            reply.error(ONE_SOURCE);
            return None;
        }
        Some(operation)
    }

    /// Combines one string more. Shorter ones go on with zeros.
    fn fold(self, outcome: Option<Vec<u8>>, text: Option<Text<'_>>) -> Vec<u8> {
        let Some(mut outcome) = outcome else {
            let mut first = text.map_or_else(Vec::new, Text::to_vec);
            if self == Operation::Not {
                first.iter_mut().for_each(|byte| *byte = !*byte);
            }
            return first;
        };
        super::with_bytes(text, |bytes| {
            if outcome.len() < bytes.len() {
                outcome.resize(bytes.len(), 0);
            }
            let (shared, rest) = outcome.split_at_mut(bytes.len());
            let pairs = shared.iter_mut().zip(bytes);
            match self {
                Operation::And => {
                    pairs.for_each(|(into, byte)| *into &= byte);
                    rest.fill(0);
                }
                Operation::Or => pairs.for_each(|(into, byte)| *into |= byte),
                Operation::Xor => pairs.for_each(|(into, byte)| *into ^= byte),
                Operation::Not => unreachable!("it has one source"),
            }
        });
        outcome
    }
}

fn check(_: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    Operation::read(args, reply).is_some()
}

fn bitop(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(operation) = Operation::read(args, reply) else { return };
    let mut outcome = None;
    for name in args.from(3) {
        let key = ctx.key(name);
        let Ok(text) = lookup::text(lookup::read(ctx, key)) else {
            return reply.error(lookup::WRONG_KIND);
        };
        outcome = Some(operation.fold(outcome, text));
    }
    let outcome = outcome.unwrap_or_default();
    reply.integer(outcome.len() as i64);
    let key = ctx.key(args.get(2));
    put(ctx, args, key, kept(outcome));
}

/// An empty string is no outcome.
fn kept(outcome: Vec<u8>) -> Option<Detached> {
    (!outcome.is_empty()).then(|| Detached::text_of(outcome))
}

/// Puts the outcome in place of whatever is under the key.
fn put(ctx: &mut Ctx<'_>, _: Args<'_>, key: Key<'_>, outcome: Option<Detached>) {
    let db = ctx.db();
    match outcome {
        Some(outcome) => {
            ctx.store.attach(db, key, outcome);
            ctx.changed(1);
            ctx.notify(Events::STRING, "set", key.bytes);
        }
        None => {
            if ctx.store.remove(db, key, ctx.now) {
                ctx.changed(1);
                ctx.notify(Events::GENERIC, "del", key.bytes);
            }
        }
    }
}

fn gather(ctx: &mut Ctx<'_>, _: Args<'_>, ordinal: usize, key: Key<'_>) -> Piece {
    if ordinal == 0 {
        return Piece::Nothing;
    }
    if lookup::text(lookup::read(ctx, key)).is_err() {
        return Piece::WrongKind;
    }
    let db = ctx.db();
    Piece::Value(ctx.store.copy_out(db, key, ctx.now))
}

fn decide(_: &Check, args: Args<'_>, pieces: &mut [Piece], reply: &mut Reply<'_>) -> Option<Vec<Order>> {
    let operation = Operation::read(args, reply)?;
    let mut outcome = None;
    for piece in &pieces[1..] {
        let text = match piece {
            Piece::WrongKind => {
                reply.error(lookup::WRONG_KIND);
                return None;
            }
            Piece::Value(value) => value.as_ref().and_then(Detached::text),
            Piece::Nothing | Piece::Exists(_) => None,
        };
        outcome = Some(operation.fold(outcome, text));
    }
    let outcome = outcome.unwrap_or_default();
    reply.integer(outcome.len() as i64);
    let mut orders = vec![Order::Act(put, kept(outcome))];
    orders.resize_with(pieces.len(), || Order::Nothing);
    Some(orders)
}
