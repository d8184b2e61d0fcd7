//! ZRANGESTORE: a range of one sorted set becomes another, wherever the two live.

use super::interval::{Form, Interval};
use super::{Pool, limits, read, store_value};
use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup;
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{Detached, WrongKind};

pub(super) static ZRANGESTORE: Command =
    Command::new("ZRANGESTORE", Group::SortedSet, Run::Plan(&Plan { together: zrangestore, gather, decide }))
        .arity(-5)
        .flags(Flags::WRITE.with(Flags::DENYOOM))
        .keys(&[Keys::one(Access::OW.with(Access::UPDATE)), Keys::at(2, Access::RO.with(Access::ACCESS))])
        .check(check)
        .summary("6.2.0", "Stores a range of members from sorted set in a key.")
        .complexity(
            "O(log(N)+M) with N being the number of elements in the sorted set and M the number of \
         elements stored into the destination key.",
        )
        .arguments(&[
            Argument::new("dst", ArgumentKind::Key),
            Argument::new("src", ArgumentKind::Key),
            Argument::new("min", ArgumentKind::String),
            Argument::new("max", ArgumentKind::String),
            Argument::one_of(
                "sortby",
                &[Argument::word("byscore", "BYSCORE"), Argument::word("bylex", "BYLEX")],
            )
            .optional(),
            Argument::word("rev", "REV").optional(),
            Argument::block(
                "limit",
                &[
                    Argument::new("offset", ArgumentKind::Integer),
                    Argument::new("count", ArgumentKind::Integer),
                ],
            )
            .token("LIMIT")
            .optional(),
        ]);

const FORM: Form = Form { first: 3, by: None, reverse: None, shows_scores: false };

fn check(_: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    Interval::read(args, FORM, reply).is_some()
}

/// The range as a value, and how many members it has.
fn cut(ctx: &mut Ctx<'_>, key: Key<'_>, interval: &Interval<'_>) -> Result<(Pool, usize), WrongKind> {
    let mut pool = Pool::default();
    if let Some(set) = read(ctx, key)? {
        interval.walk(set).1.for_each(|(member, score)| pool.push(member, score, 0));
        // The result is in order whichever way the range was walked.
        pool.sort();
    }
    let count = pool.len();
    Ok((pool, count))
}

fn value_of(ctx: &Ctx<'_>, pool: &Pool) -> Option<Detached> {
    (!pool.is_empty()).then(|| Detached::sorted_set(pool.iter(), limits(ctx), ctx.store.hasher()))
}

fn zrangestore(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(interval) = Interval::read(args, FORM, reply) else { return };
    let (to, from) = (ctx.key(args.get(1)), ctx.key(args.get(2)));
    let Ok((pool, count)) = cut(ctx, from, &interval) else {
        return reply.error(lookup::WRONG_KIND);
    };
    let value = value_of(ctx, &pool);
    store_value(ctx, to, value, "zrangestore");
    reply.integer(count as i64);
}

fn gather(ctx: &mut Ctx<'_>, args: Args<'_>, ordinal: usize, key: Key<'_>) -> Piece {
    if ordinal == 0 {
        return Piece::Nothing;
    }
    let mut unread = resp::Output::default();
    let mut unsaid = Reply::new(&mut unread, resp::Version::Resp2);
    let interval = Interval::read(args, FORM, &mut unsaid).expect("the arguments were checked");
    match cut(ctx, key, &interval) {
        Ok((pool, _)) => Piece::Value(value_of(ctx, &pool)),
        Err(WrongKind) => Piece::WrongKind,
    }
}

fn decide(_: &Check, _: Args<'_>, pieces: &mut [Piece], reply: &mut Reply<'_>) -> Option<Vec<Order>> {
    let value = match pieces.get_mut(1) {
        Some(Piece::Value(value)) => value.take(),
        _ => {
            reply.error(lookup::WRONG_KIND);
            return None;
        }
    };
    let mut count = 0;
    if let Some(value) = &value {
        value.each_item(&mut |_| count += 1);
    }
    reply.integer(count);
    Some(vec![Order::Act(act, value), Order::Nothing])
}

fn act(ctx: &mut Ctx<'_>, _: Args<'_>, key: Key<'_>, value: Option<Detached>) {
    store_value(ctx, key, value, "zrangestore");
}
