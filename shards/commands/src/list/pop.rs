//! LPOP, RPOP and LMPOP: elements taken from an end, of one key or of the first that has any.

use super::{SIDES, note_popped, side, write};
use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup::{self, WRONG_KIND, WrongKind};
use crate::number::{self, SYNTAX};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{Detached, ListRef, Side, Text};

const KEYS: &[Keys] = &[Keys::one(Access::RW.with(Access::ACCESS).with(Access::DELETE))];
const ARGUMENTS: &[Argument] =
    &[Argument::key(), Argument::new("count", ArgumentKind::Integer).since("6.2.0").optional()];

const fn pop(name: &'static str, run: Run) -> Command {
    Command::new(name, Group::List, run)
        .arity(-2)
        .flags(Flags::WRITE.with(Flags::FAST))
        .keys(KEYS)
        .complexity("O(N) where N is the number of elements returned")
        .arguments(ARGUMENTS)
}

pub(super) static LPOP: Command = pop("LPOP", Run::Local(lpop)).summary(
    "1.0.0",
    "Returns the first elements in a list after removing it. Deletes the list if the last element was popped.",
);

pub(super) static RPOP: Command = pop("RPOP", Run::Local(rpop)).summary(
    "1.0.0",
    "Returns and removes the last elements of a list. Deletes the list if the last element was popped.",
);

pub(super) static LMPOP: Command = Command::new(
    "LMPOP",
    Group::List,
    Run::Plan(&Plan { together: lmpop, gather: gather_lmpop, decide: decide_lmpop }),
)
.arity(-4)
.flags(Flags::WRITE.with(Flags::MOVABLEKEYS))
.keys(&[Keys::counted(1, Access::RW.with(Access::ACCESS).with(Access::DELETE))])
.check(check_lmpop)
.summary(
    "7.0.0",
    "Returns multiple elements from a list after removing them. Deletes the list if the last element was \
     popped.",
)
.complexity("O(N+M) where N is the number of provided keys and M is the number of elements returned.")
.arguments(&[
    Argument::new("numkeys", ArgumentKind::Integer),
    Argument::key().multiple(),
    Argument::one_of("where", SIDES),
    Argument::new("count", ArgumentKind::Integer).token("COUNT").optional(),
]);

const NOT_POSITIVE: &str = "ERR value is out of range, must be positive";

fn lpop(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    pop_of("lpop", ctx, args, Side::Left, reply);
}

fn rpop(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    pop_of("rpop", ctx, args, Side::Right, reply);
}

fn pop_of(name: &str, ctx: &mut Ctx<'_>, args: Args<'_>, side: Side, reply: &mut Reply<'_>) {
    if args.len() > 3 {
        return number::wrong_arity(name, reply);
    }
    let count = match args.len() {
        2 => None,
        _ => match resp::parse_i64(args.get(2)).and_then(|count| usize::try_from(count).ok()) {
            None => return reply.error(NOT_POSITIVE),
            count => count,
        },
    };
    let key = ctx.key(args.get(1));
    let taken = take(ctx, key, side, count.unwrap_or(1), |list, taken| match count {
        None => list.from_side(side).take(1).for_each(|text| lookup::bulk(text, reply)),
        Some(_) => elements(list, side, taken, reply),
    });
    match (taken, count) {
        (Ok(Some(_)), _) => {}
        (Ok(None), None) => reply.null(),
        (Ok(None), Some(_)) => reply.null_array(),
        (Err(WrongKind), _) => reply.error(WRONG_KIND),
    }
}

/// Replies with `count` elements as a pop would take them.
pub(super) fn elements(list: ListRef<'_>, side: Side, count: usize, reply: &mut Reply<'_>) {
    reply.array(count);
    list.from_side(side).take(count).for_each(|text| lookup::bulk(text, reply));
}

/// Takes up to `count` elements from an end of a key's list, counts and tells it; `show` is given the list
/// before, and how many will go. `None` where the key is not there.
pub(crate) fn take(
    ctx: &mut Ctx<'_>,
    key: Key<'_>,
    side: Side,
    count: usize,
    show: impl FnOnce(ListRef<'_>, usize),
) -> Result<Option<usize>, WrongKind> {
    let Some(mut list) = write(ctx, key)? else { return Ok(None) };
    let length = list.len();
    let taken = count.min(length);
    show(list.view(), taken);
    list.remove_from(side, taken);
    drop(list);
    if taken > 0 {
        note_popped(ctx, key.bytes, side, taken, taken == length);
    }
    Ok(Some(taken))
}

/// What LMPOP is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// How many keys, from behind their number on.
    pub(crate) keys: usize,
    /// The end to take from.
    pub(crate) side: Side,
    /// How many elements at most.
    pub(crate) count: usize,
}

impl Wanted {
    /// Reads the arguments from the number of keys on; `None` once they are refused.
    pub(crate) fn read(args: Args<'_>, number_at: usize, reply: &mut Reply<'_>) -> Option<Wanted> {
        let positive = |index: usize, error: &str, reply: &mut Reply<'_>| {
            let number = resp::parse_i64(args.get(index)).filter(|number| *number > 0);
            if number.is_none() {
                reply.error(error);
            }
            number.map(|number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let keys = positive(number_at, "ERR numkeys should be greater than 0", reply)?;
        let side_at = keys.saturating_add(number_at + 1);
        if side_at >= args.len() {
            reply.error(SYNTAX);
            return None;
        }
        let side = side(args, side_at, reply)?;
        let mut count = None;
        let mut at = side_at + 1;
        while at < args.len() {
            if count.is_some() || !args.is(at, "COUNT") || at + 1 >= args.len() {
                reply.error(SYNTAX);
                return None;
            }
            count = Some(positive(at + 1, "ERR count should be greater than 0", reply)?);
            at += 2;
        }
        Some(Wanted { keys, side, count: count.unwrap_or(1) })
    }

    /// The same of arguments that were checked before.
    pub(crate) fn again(args: Args<'_>, number_at: usize) -> Wanted {
        let mut unread = resp::Output::default();
        let mut reply = Reply::new(&mut unread, resp::Version::Resp2);
        Wanted::read(args, number_at, &mut reply).expect("the arguments were checked")
    }
}

fn check_lmpop(_: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    Wanted::read(args, 1, reply).is_some()
}

fn lmpop(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(wanted) = Wanted::read(args, 1, reply) else { return };
    for name in args.from(2).take(wanted.keys) {
        let key = ctx.key(name);
        let taken = take(ctx, key, wanted.side, wanted.count, |list, taken| {
            reply.array(2);
            reply.bulk(name);
            elements(list, wanted.side, taken, reply);
        });
        match taken {
            Ok(None) => {}
            Ok(Some(_)) => return,
            Err(WrongKind) => return reply.error(WRONG_KIND),
        }
    }
    reply.null_array();
}

/// A copy of the elements that would be taken from this key.
fn gather_lmpop(ctx: &mut Ctx<'_>, args: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    let wanted = Wanted::again(args, 1);
    copy_of_end(ctx, key, wanted.side, wanted.count)
}

/// A copy of up to `count` elements from an end on, as a list in the order in which they would be taken.
pub(super) fn copy_of_end(ctx: &mut Ctx<'_>, key: Key<'_>, side: Side, count: usize) -> Piece {
    let size = ctx.live.encodings.list_max_listpack_size;
    match lookup::write(ctx, key).map(|entry| entry.list()) {
        None => Piece::Value(None),
        Some(Err(WrongKind)) => Piece::WrongKind,
        Some(Ok(list)) => Piece::Value(Some(Detached::list_of(list.from_side(side).take(count), size))),
    }
}

fn decide_lmpop(
    _: &Check,
    args: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    for (ordinal, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::WrongKind => {
                reply.error(WRONG_KIND);
                return None;
            }
            Piece::Value(Some(value)) => {
                let list = value.list().expect("it was made as one");
                reply.array(2);
                reply.bulk(args.get(2 + ordinal));
                elements(list, Side::Left, list.len(), reply);
                let mut orders: Vec<Order> = pieces.iter().map(|_| Order::Nothing).collect();
                orders[ordinal] = Order::Act(act_lmpop, None);
                return Some(orders);
            }
            _ => {}
        }
    }
    reply.null_array();
    None
}

/// Takes what was shown: under the locks nothing has changed since.
fn act_lmpop(ctx: &mut Ctx<'_>, args: Args<'_>, key: Key<'_>, _: Option<Detached>) {
    let wanted = Wanted::again(args, 1);
    take(ctx, key, wanted.side, wanted.count, |_, _| {}).expect("it was a list in the first hop");
}

/// The bytes of an element.
pub(super) fn bytes_of(text: Text<'_>) -> std::borrow::Cow<'_, [u8]> {
    match text {
        Text::Bytes(bytes) => bytes.into(),
        Text::Int(number) => resp::IntegerText::new(number).as_bytes().to_vec().into(),
    }
}
