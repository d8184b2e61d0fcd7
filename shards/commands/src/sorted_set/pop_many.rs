//! ZMPOP: pops from the first of several keys that has something, wherever they live.

use super::pop::{End, pop};
use super::read;
use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::{lookup, number};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{Detached, Item, WrongKind};

pub(super) static ZMPOP: Command =
    Command::new("ZMPOP", Group::SortedSet, Run::Plan(&Plan { together: zmpop, gather, decide }))
        .arity(-4)
        .flags(Flags::WRITE.with(Flags::MOVABLEKEYS))
        .keys(&[Keys::counted(1, Access::RW.with(Access::ACCESS).with(Access::DELETE))])
        .check(check)
        .summary(
            "7.0.0",
            "Returns the highest- or lowest-scoring members from one or more sorted sets after \
         removing them. Deletes the sorted set if the last member was popped.",
        )
        .complexity(
            "O(K) + O(M*log(N)) where K is the number of provided keys, N being the number of \
         elements in the sorted set, and M being the number of elements popped.",
        )
        .arguments(&[
            Argument::new("numkeys", ArgumentKind::Integer),
            Argument::key().multiple(),
            Argument::one_of("where", &[Argument::word("min", "MIN"), Argument::word("max", "MAX")]),
            Argument::new("count", ArgumentKind::Integer).token("COUNT").optional(),
        ]);

/// What is to be popped, from which keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pops {
    /// How many keys there are, from the argument behind their number on.
    pub(crate) keys: usize,
    /// Which end.
    pub(crate) end: End,
    /// How many entries at most.
    pub(crate) count: u64,
}

impl Pops {
    /// Reads `numkeys key [key ...] MIN|MAX [COUNT count]`, the number being argument `at`; `None` once
    /// they are refused.
    pub(crate) fn read(args: Args<'_>, at: usize, reply: &mut Reply<'_>) -> Option<Pops> {
        let positive = |index| resp::parse_i64(args.get(index)).filter(|number| *number > 0);
        let Some(keys) = positive(at) else {
            reply.error("ERR numkeys should be greater than 0");
            return None;
        };
        let keys = usize::try_from(keys).unwrap_or(usize::MAX);
        let word = keys.saturating_add(at + 1);
        let end = match args.get(word) {
            name if name.eq_ignore_ascii_case(b"MIN") => End::Min,
            name if name.eq_ignore_ascii_case(b"MAX") => End::Max,
            _ => {
                reply.error(number::SYNTAX);
                return None;
            }
        };
        let count = match args.len() - word - 1 {
            0 => 1,
            2 if args.is(word + 1, "COUNT") => {
                let Some(count) = positive(word + 2) else {
                    reply.error("ERR count should be greater than 0");
                    return None;
                };
                count as u64
            }
            _ => {
                reply.error(number::SYNTAX);
                return None;
            }
        };
        Some(Pops { keys, end, count })
    }

    /// The same of arguments that were checked before.
    pub(super) fn again(args: Args<'_>, at: usize) -> Pops {
        let mut unread = resp::Output::default();
        let mut unsaid = Reply::new(&mut unread, resp::Version::Resp2);
        Pops::read(args, at, &mut unsaid).expect("the arguments were checked")
    }
}

fn check(_: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    Pops::read(args, 1, reply).is_some()
}

fn zmpop(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(pops) = Pops::read(args, 1, reply) else { return };
    for name in args.from(2).take(pops.keys) {
        let key = ctx.key(name);
        match pop_into(ctx, key, pops, reply) {
            Err(WrongKind) => return reply.error(lookup::WRONG_KIND),
            Ok(true) => return,
            Ok(false) => {}
        }
    }
    reply.null_array();
}

/// Pops from one key and replies as ZMPOP does; false where there is nothing to pop.
pub(crate) fn pop_into(
    ctx: &mut Ctx<'_>,
    key: Key<'_>,
    pops: Pops,
    reply: &mut Reply<'_>,
) -> Result<bool, WrongKind> {
    let mut body = resp::Output::default();
    let mut entries = Reply::new(&mut body, reply.version());
    let popped = pop(ctx, key, pops.end, pops.count, &mut |_| (), &mut |member, score| {
        entries.array(2);
        lookup::bulk(member, &mut entries);
        entries.double(score);
    })?;
    if popped > 0 {
        reply.array(2);
        reply.bulk(key.bytes);
        reply.array(popped as usize);
        reply.raw(&body);
    }
    Ok(popped > 0)
}

/// What would be popped, were this key the one; `WrongKind` where it is of another.
fn gather(ctx: &mut Ctx<'_>, args: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    copy_of_end(ctx, key, Pops::again(args, 1))
}

/// A copy of the entries that would be popped from a key.
pub(super) fn copy_of_end(ctx: &mut Ctx<'_>, key: Key<'_>, pops: Pops) -> Piece {
    match read(ctx, key) {
        Err(WrongKind) => Piece::WrongKind,
        Ok(None) => Piece::Value(None),
        Ok(Some(set)) => {
            let (len, up) = (set.len(), pops.end == End::Min);
            let first = if up { 0 } else { len - 1 };
            let mut pool = super::Pool::default();
            let count = pops.count.min(len) as usize;
            set.walk(first, up).take(count).for_each(|(member, score)| pool.push(member, score, 0));
            Piece::Value(Some(Detached::small_sorted_set(pool.iter())))
        }
    }
}

fn decide(_: &Check, args: Args<'_>, pieces: &mut [Piece], reply: &mut Reply<'_>) -> Option<Vec<Order>> {
    for at in 0..pieces.len() {
        match &pieces[at] {
            Piece::WrongKind => {
                reply.error(lookup::WRONG_KIND);
                return None;
            }
            Piece::Value(Some(entries)) => {
                answer_with(args.get(2 + at), entries, reply);
                let order = |place| if place == at { Order::Act(act, None) } else { Order::Nothing };
                return Some((0..pieces.len()).map(order).collect());
            }
            Piece::Value(None) | Piece::Nothing | Piece::Exists(_) => {}
        }
    }
    reply.null_array();
    None
}

/// Replies with a key and the entries that it has.
pub(super) fn answer_with(name: &[u8], entries: &Detached, reply: &mut Reply<'_>) {
    reply.array(2);
    reply.bulk(name);
    let mut count = 0;
    entries.each_item(&mut |_| count += 1);
    reply.array(count);
    entries.each_item(&mut |item| {
        if let Item::Scored(member, score) = item {
            reply.array(2);
            lookup::bulk(member, reply);
            reply.double(score);
        }
    });
}

/// Pops what was replied: the key is locked since it was looked at.
fn act(ctx: &mut Ctx<'_>, args: Args<'_>, key: Key<'_>, _: Option<Detached>) {
    let pops = Pops::again(args, 1);
    let popped = pop(ctx, key, pops.end, pops.count, &mut |_| (), &mut |_, _| ());
    debug_assert!(popped.is_ok_and(|popped| popped > 0), "it was there in the first hop");
}
