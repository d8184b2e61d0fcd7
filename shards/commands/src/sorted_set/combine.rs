//! ZUNION, ZINTER, ZDIFF, ZINTERCARD and the storing ones: over keys that live anywhere, sorted sets or
//! sets.

use super::operation::{Goes, Operation, What, take_in};
use super::pool::Pool;
use super::{entries_header, entry, store_result, store_value};
use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup;
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{Detached, Kind, Text};

pub(super) static ZUNION: Command =
    Command::new("ZUNION", Group::SortedSet, Run::Plan(&plan(together::<0>, decide::<0>)))
        .arity(-3)
        .flags(Flags::READONLY.with(Flags::MOVABLEKEYS))
        .keys(&[Keys::counted(1, Access::RO.with(Access::ACCESS))])
        .check(check::<0>)
        .summary("6.2.0", "Returns the union of multiple sorted sets.")
        .complexity(
            "O(N)+O(M*log(M)) with N being the sum of the sizes of the input sorted sets, and M being \
         the number of elements in the resulting sorted set.",
        )
        .arguments(&[
            Argument::new("numkeys", ArgumentKind::Integer),
            Argument::key().multiple(),
            Argument::new("weight", ArgumentKind::Integer).token("WEIGHTS").multiple().optional(),
            Argument::one_of(
                "aggregate",
                &[Argument::word("sum", "SUM"), Argument::word("min", "MIN"), Argument::word("max", "MAX")],
            )
            .token("AGGREGATE")
            .optional(),
            Argument::word("withscores", "WITHSCORES").optional(),
        ]);

pub(super) static ZINTER: Command =
    Command::new("ZINTER", Group::SortedSet, Run::Plan(&plan(together::<1>, decide::<1>)))
        .arity(-3)
        .flags(Flags::READONLY.with(Flags::MOVABLEKEYS))
        .keys(&[Keys::counted(1, Access::RO.with(Access::ACCESS))])
        .check(check::<1>)
        .summary("6.2.0", "Returns the intersect of multiple sorted sets.")
        .complexity(
            "O(N*K)+O(M*log(M)) worst case with N being the smallest input sorted set, K being the \
         number of input sorted sets and M being the number of elements in the resulting sorted \
         set.",
        )
        .arguments(&[
            Argument::new("numkeys", ArgumentKind::Integer),
            Argument::key().multiple(),
            Argument::new("weight", ArgumentKind::Integer).token("WEIGHTS").multiple().optional(),
            Argument::one_of(
                "aggregate",
                &[Argument::word("sum", "SUM"), Argument::word("min", "MIN"), Argument::word("max", "MAX")],
            )
            .token("AGGREGATE")
            .optional(),
            Argument::word("withscores", "WITHSCORES").optional(),
        ]);

pub(super) static ZDIFF: Command =
    Command::new("ZDIFF", Group::SortedSet, Run::Plan(&plan(together::<2>, decide::<2>)))
        .arity(-3)
        .flags(Flags::READONLY.with(Flags::MOVABLEKEYS))
        .keys(&[Keys::counted(1, Access::RO.with(Access::ACCESS))])
        .check(check::<2>)
        .summary("6.2.0", "Returns the difference between multiple sorted sets.")
        .complexity(
            "O(L + (N-K)log(N)) worst case where L is the total number of elements in all the sets, N \
         is the size of the first set, and K is the size of the result set.",
        )
        .arguments(&[
            Argument::new("numkeys", ArgumentKind::Integer),
            Argument::key().multiple(),
            Argument::word("withscores", "WITHSCORES").optional(),
        ]);

pub(super) static ZUNIONSTORE: Command =
    Command::new("ZUNIONSTORE", Group::SortedSet, Run::Plan(&plan(together::<3>, decide::<3>)))
        .arity(-4)
        .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::MOVABLEKEYS))
        .keys(&[
            Keys::one(Access::OW.with(Access::UPDATE)),
            Keys::counted(2, Access::RO.with(Access::ACCESS)),
        ])
        .check(check::<3>)
        .summary("2.0.0", "Stores the union of multiple sorted sets in a key.")
        .complexity(
            "O(N)+O(M log(M)) with N being the sum of the sizes of the input sorted sets, and M being \
         the number of elements in the resulting sorted set.",
        )
        .arguments(&[
            Argument::new("destination", ArgumentKind::Key),
            Argument::new("numkeys", ArgumentKind::Integer),
            Argument::key().multiple(),
            Argument::new("weight", ArgumentKind::Integer).token("WEIGHTS").multiple().optional(),
            Argument::one_of(
                "aggregate",
                &[Argument::word("sum", "SUM"), Argument::word("min", "MIN"), Argument::word("max", "MAX")],
            )
            .token("AGGREGATE")
            .optional(),
        ]);

pub(super) static ZINTERSTORE: Command =
    Command::new("ZINTERSTORE", Group::SortedSet, Run::Plan(&plan(together::<4>, decide::<4>)))
        .arity(-4)
        .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::MOVABLEKEYS))
        .keys(&[
            Keys::one(Access::OW.with(Access::UPDATE)),
            Keys::counted(2, Access::RO.with(Access::ACCESS)),
        ])
        .check(check::<4>)
        .summary("2.0.0", "Stores the intersect of multiple sorted sets in a key.")
        .complexity(
            "O(N*K)+O(M*log(M)) worst case with N being the smallest input sorted set, K being the \
         number of input sorted sets and M being the number of elements in the resulting sorted \
         set.",
        )
        .arguments(&[
            Argument::new("destination", ArgumentKind::Key),
            Argument::new("numkeys", ArgumentKind::Integer),
            Argument::key().multiple(),
            Argument::new("weight", ArgumentKind::Integer).token("WEIGHTS").multiple().optional(),
            Argument::one_of(
                "aggregate",
                &[Argument::word("sum", "SUM"), Argument::word("min", "MIN"), Argument::word("max", "MAX")],
            )
            .token("AGGREGATE")
            .optional(),
        ]);

pub(super) static ZDIFFSTORE: Command =
    Command::new("ZDIFFSTORE", Group::SortedSet, Run::Plan(&plan(together::<5>, decide::<5>)))
        .arity(-4)
        .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::MOVABLEKEYS))
        .keys(&[
            Keys::one(Access::OW.with(Access::UPDATE)),
            Keys::counted(2, Access::RO.with(Access::ACCESS)),
        ])
        .check(check::<5>)
        .summary("6.2.0", "Stores the difference of multiple sorted sets in a key.")
        .complexity(
            "O(L + (N-K)log(N)) worst case where L is the total number of elements in all the sets, N \
         is the size of the first set, and K is the size of the result set.",
        )
        .arguments(&[
            Argument::new("destination", ArgumentKind::Key),
            Argument::new("numkeys", ArgumentKind::Integer),
            Argument::key().multiple(),
        ]);

pub(super) static ZINTERCARD: Command =
    Command::new("ZINTERCARD", Group::SortedSet, Run::Plan(&plan(together::<6>, decide::<6>)))
        .arity(-3)
        .flags(Flags::READONLY.with(Flags::MOVABLEKEYS))
        .keys(&[Keys::counted(1, Access::RO.with(Access::ACCESS))])
        .check(check::<6>)
        .summary("7.0.0", "Returns the number of members of the intersect of multiple sorted sets.")
        .complexity(
            "O(N*K) worst case with N being the smallest input sorted set, K being the number of \
         input sorted sets.",
        )
        .arguments(&[
            Argument::new("numkeys", ArgumentKind::Integer),
            Argument::key().multiple(),
            Argument::new("limit", ArgumentKind::Integer).token("LIMIT").optional(),
        ]);

/// What distinguishes the commands of the family.
struct Variant {
    what: What,
    goes: Goes,
    /// Its name, which is its event too.
    name: &'static str,
}

const fn variant(what: What, goes: Goes, name: &'static str) -> Variant {
    Variant { what, goes, name }
}

/// By the number that its declaration names.
static VARIANTS: [Variant; 7] = [
    variant(What::Union, Goes::Out, "zunion"),
    variant(What::Intersection, Goes::Out, "zinter"),
    variant(What::Difference, Goes::Out, "zdiff"),
    variant(What::Union, Goes::Stored, "zunionstore"),
    variant(What::Intersection, Goes::Stored, "zinterstore"),
    variant(What::Difference, Goes::Stored, "zdiffstore"),
    variant(What::Intersection, Goes::Counted, "zintercard"),
];

const fn plan(together: crate::command::LocalFn, decide: crate::command::DecideFn) -> Plan {
    Plan { together, gather, decide }
}

impl Variant {
    /// Where the number of keys stands.
    fn at(&self) -> usize {
        if self.goes == Goes::Stored { 2 } else { 1 }
    }

    fn read(&self, args: Args<'_>, reply: &mut Reply<'_>) -> Option<Operation> {
        Operation::read(args, self.at(), self.what, self.goes, self.name, reply)
    }
}

fn check<const VARIANT: usize>(_: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    VARIANTS[VARIANT].read(args, reply).is_some()
}

fn together<const VARIANT: usize>(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let variant = &VARIANTS[VARIANT];
    let Some(operation) = variant.read(args, reply) else { return };
    let mut inputs = Vec::with_capacity(operation.inputs);
    for name in args.from(variant.at() + 1).take(operation.inputs) {
        let key = ctx.key(name);
        let mut pool = Pool::default();
        if let Some(entry) = lookup::read(ctx, key) {
            if !is_input(entry.kind()) {
                return reply.error(lookup::WRONG_KIND);
            }
            entry.each_item(&mut |item| take_in(&mut pool, item));
        }
        inputs.push(pool);
    }
    let result = operation.work(&inputs);
    if variant.goes == Goes::Stored {
        let key = ctx.key(args.get(1));
        store_result(ctx, key, &result, variant.name);
    }
    answer(variant, &operation, &result, reply);
}

fn is_input(kind: Kind) -> bool {
    matches!(kind, Kind::SortedSet | Kind::Set)
}

fn answer(variant: &Variant, operation: &Operation, result: &Pool, reply: &mut Reply<'_>) {
    match variant.goes {
        Goes::Stored => reply.integer(result.len() as i64),
        Goes::Counted => reply.integer(operation.counted(result) as i64),
        Goes::Out => {
            entries_header(reply, result.len(), operation.scores);
            for (member, score) in result.iter() {
                entry(reply, Text::Bytes(member), score, operation.scores);
            }
        }
    }
}

/// A copy of an input; `WrongKind` where it is of another. The destination is not looked at.
fn gather(ctx: &mut Ctx<'_>, args: Args<'_>, ordinal: usize, key: Key<'_>) -> Piece {
    if ordinal == 0 && stores(args) {
        return Piece::Nothing;
    }
    match lookup::read(ctx, key) {
        Some(entry) if !is_input(entry.kind()) => return Piece::WrongKind,
        _ => {}
    }
    let (db, now) = (ctx.db(), ctx.now);
    Piece::Value(ctx.store.copy_out(db, key, now))
}

/// Whether the command's name says that it stores.
fn stores(args: Args<'_>) -> bool {
    args.get(0).to_ascii_lowercase().ends_with(b"store")
}

fn decide<const VARIANT: usize>(
    _: &Check,
    args: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let variant = &VARIANTS[VARIANT];
    let mut unread = resp::Output::default();
    let mut unsaid = Reply::new(&mut unread, resp::Version::Resp2);
    let operation = variant.read(args, &mut unsaid).expect("the arguments were checked");
    let first = usize::from(variant.goes == Goes::Stored);
    let mut inputs = Vec::with_capacity(operation.inputs);
    for piece in &pieces[first..] {
        let mut pool = Pool::default();
        match piece {
            Piece::WrongKind => {
                reply.error(lookup::WRONG_KIND);
                return None;
            }
            Piece::Value(Some(value)) => value.each_item(&mut |item| take_in(&mut pool, item)),
            Piece::Value(None) | Piece::Nothing | Piece::Exists(_) => {}
        }
        inputs.push(pool);
    }
    let result = operation.work(&inputs);
    answer(variant, &operation, &result, reply);
    if variant.goes != Goes::Stored {
        return None;
    }
    let value = (!result.is_empty()).then(|| Detached::small_sorted_set(result.iter()));
    let mut orders = vec![Order::Act(act, value)];
    orders.extend((1..pieces.len()).map(|_| Order::Nothing));
    Some(orders)
}

/// Stores the result where the destination lives, in the form that its size asks for there.
fn act(ctx: &mut Ctx<'_>, args: Args<'_>, key: Key<'_>, value: Option<Detached>) {
    let name = args.get(0);
    let event = VARIANTS.iter().find(|variant| name.eq_ignore_ascii_case(variant.name.as_bytes()));
    let event = event.expect("one of the family").name;
    let Some(value) = value else { return store_value(ctx, key, None, event) };
    let mut result = Pool::default();
    value.each_item(&mut |item| take_in(&mut result, item));
    store_result(ctx, key, &result, event);
}
