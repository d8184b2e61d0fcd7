//! LMOVE and RPOPLPUSH: an element goes from one list to another, also when they live on different shards.

use super::pop::{bytes_of, copy_of_end};
use super::{SIDES, note_popped, note_pushed, side, write, write_or_new};
use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup::{self, WRONG_KIND, WrongKind};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{Detached, Side};

pub(super) const KEYS: &[Keys] = &[
    Keys::at(1, Access::RW.with(Access::ACCESS).with(Access::DELETE)),
    Keys::at(2, Access::RW.with(Access::INSERT)),
];

pub(super) static LMOVE: Command = Command::new(
    "LMOVE",
    Group::List,
    Run::Plan(&Plan { together: lmove, gather, decide }),
)
.arity(5)
.flags(Flags::WRITE.with(Flags::DENYOOM))
.keys(KEYS)
.check(check)
.summary(
    "6.2.0",
    "Returns an element after popping it from one list and pushing it to another. Deletes the list if \
             the last element was moved.",
)
.arguments(&[
    Argument::new("source", ArgumentKind::Key),
    Argument::new("destination", ArgumentKind::Key),
    Argument::one_of("wherefrom", SIDES),
    Argument::one_of("whereto", SIDES),
]);

pub(super) static RPOPLPUSH: Command =
    Command::new("RPOPLPUSH", Group::List, Run::Plan(&Plan { together: lmove, gather, decide }))
        .arity(3)
        .flags(Flags::WRITE.with(Flags::DENYOOM))
        .keys(KEYS)
        .summary(
            "1.2.0",
            "Returns the last element of a list after removing and pushing it to another list. Deletes the \
             list if the last element was popped.",
        )
        .deprecated("6.2.0", "`LMOVE` with the `RIGHT` and `LEFT` arguments")
        .arguments(&[
            Argument::new("source", ArgumentKind::Key),
            Argument::new("destination", ArgumentKind::Key),
        ]);

/// Which end an element is taken from, and which it is put to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ends {
    pub(crate) from: Side,
    pub(crate) to: Side,
}

impl Ends {
    /// Those of LMOVE's arguments, or of RPOPLPUSH, which says none; `None` once they are refused.
    pub(super) fn read(args: Args<'_>, reply: &mut Reply<'_>) -> Option<Ends> {
        if args.len() < 5 {
            return Some(Ends { from: Side::Right, to: Side::Left });
        }
        Some(Ends { from: side(args, 3, reply)?, to: side(args, 4, reply)? })
    }

    /// The same of arguments that were checked before.
    pub(super) fn again(args: Args<'_>) -> Ends {
        let mut unread = resp::Output::default();
        let mut reply = Reply::new(&mut unread, resp::Version::Resp2);
        Ends::read(args, &mut reply).expect("the arguments were checked")
    }
}

fn check(_: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    Ends::read(args, reply).is_some()
}

fn lmove(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(ends) = Ends::read(args, reply) else { return };
    let (source, destination) = (ctx.key(args.get(1)), ctx.key(args.get(2)));
    match move_element(ctx, source, destination, ends) {
        Ok(Some(element)) => reply.bulk(&element),
        Ok(None) => reply.null(),
        Err(WrongKind) => reply.error(WRONG_KIND),
    }
}

/// Moves an element between two keys of this shard, counts and tells it; answers the element. `None`
/// where the source is not there.
pub(crate) fn move_element(
    ctx: &mut Ctx<'_>,
    source: Key<'_>,
    destination: Key<'_>,
    ends: Ends,
) -> Result<Option<Vec<u8>>, WrongKind> {
    let same = source.bytes == destination.bytes;
    let Some(list) = write(ctx, source)? else { return Ok(None) };
    let element = list.view().from_side(ends.from).next().map(|text| bytes_of(text).into_owned());
    let Some(element) = element else { return Ok(None) };
    drop(list);
    if same {
        let mut list = write(ctx, source)?.expect("it was there just now");
        list.remove_from(ends.from, 1);
        list.push(ends.to, &element);
        drop(list);
        note_pushed(ctx, source.bytes, ends.to, 0);
        note_popped(ctx, source.bytes, ends.from, 1, false);
        return Ok(Some(element));
    }
    push_one(ctx, destination, ends.to, &element)?;
    pop_one(ctx, source, ends.from);
    Ok(Some(element))
}

/// The push is part of a move, which counts as one change: the pop's.
fn push_one(ctx: &mut Ctx<'_>, key: Key<'_>, side: Side, element: &[u8]) -> Result<(), WrongKind> {
    let mut list = write_or_new(ctx, key)?;
    list.push(side, element);
    drop(list);
    note_pushed(ctx, key.bytes, side, 0);
    Ok(())
}

fn pop_one(ctx: &mut Ctx<'_>, key: Key<'_>, side: Side) {
    let list = write(ctx, key).expect("it was a list when it was looked at");
    let mut list = list.expect("it was there when it was looked at");
    list.remove_from(side, 1);
    let emptied = list.is_empty();
    drop(list);
    note_popped(ctx, key.bytes, side, 1, emptied);
}

/// A copy of the element; of the destination, whether it may take it.
pub(super) fn gather(ctx: &mut Ctx<'_>, args: Args<'_>, ordinal: usize, key: Key<'_>) -> Piece {
    if ordinal == 0 {
        return copy_of_end(ctx, key, Ends::again(args).from, 1);
    }
    match lookup::write(ctx, key).map(|entry| entry.list()) {
        Some(Err(WrongKind)) => Piece::WrongKind,
        list => Piece::Exists(list.is_some()),
    }
}

pub(super) fn decide(
    _: &Check,
    _: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let wrong = matches!(pieces.get(1), Some(Piece::WrongKind));
    match pieces.first_mut() {
        Some(Piece::WrongKind) => reply.error(WRONG_KIND),
        Some(Piece::Value(Some(_))) if wrong => reply.error(WRONG_KIND),
        Some(Piece::Value(Some(value))) => {
            let list = value.list().expect("it was made as one");
            lookup::bulk(list.get(0).expect("it was made of one element"), reply);
            return Some(vec![Order::Act(act_pop, None), Order::Act(act_push, Some(value.clone()))]);
        }
        _ => reply.null(),
    }
    None
}

fn act_pop(ctx: &mut Ctx<'_>, args: Args<'_>, key: Key<'_>, _: Option<Detached>) {
    pop_one(ctx, key, Ends::again(args).from);
}

fn act_push(ctx: &mut Ctx<'_>, args: Args<'_>, key: Key<'_>, value: Option<Detached>) {
    let value = value.expect("the element came along");
    let list = value.list().expect("it was made as one");
    let element = bytes_of(list.get(0).expect("it was made of one element"));
    push_one(ctx, key, Ends::again(args).to, &element).expect("it was a list in the first hop");
}
