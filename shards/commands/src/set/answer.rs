//! SINTER, SUNION, SDIFF and SINTERCARD: several sets combined, and told.

use super::combine::{self, Combination};
use crate::command::{Check, Command, DecideFn, LocalFn, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::{lookup, number};
use ::store::SetRef;
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

const ALL_KEYS: &[Keys] = &[Keys::all(1, Access::RO.with(Access::ACCESS))];
const KEYS: &[Argument] = &[Argument::key().multiple()];
const TOTAL: &str = "O(N) where N is the total number of elements in all given sets.";
const WORST: &str =
    "O(N*M) worst case where N is the cardinality of the smallest set and M is the number of sets.";

const fn answering(
    name: &'static str,
    plan: &'static Plan,
    since: &'static str,
    summary: &'static str,
) -> Command {
    Command::new(name, Group::Set, Run::Plan(plan))
        .arity(-2)
        .flags(Flags::READONLY)
        .keys(ALL_KEYS)
        .summary(since, summary)
        .complexity(TOTAL)
        .tips(&["nondeterministic_output_order"])
        .arguments(KEYS)
}

const fn plan(together: LocalFn, decide: DecideFn) -> Plan {
    Plan { together, gather, decide }
}

pub(super) static SINTER: Command =
    answering("SINTER", &plan(sinter, decide_sinter), "1.0.0", "Returns the intersect of multiple sets.")
        .complexity(WORST);
pub(super) static SUNION: Command =
    answering("SUNION", &plan(sunion, decide_sunion), "1.0.0", "Returns the union of multiple sets.");
pub(super) static SDIFF: Command =
    answering("SDIFF", &plan(sdiff, decide_sdiff), "1.0.0", "Returns the difference of multiple sets.");

pub(super) static SINTERCARD: Command =
    Command::new("SINTERCARD", Group::Set, Run::Plan(&plan(sintercard, decide_sintercard)))
        .arity(-3)
        .flags(Flags::READONLY.with(Flags::MOVABLEKEYS))
        .keys(&[Keys::counted(1, Access::RO.with(Access::ACCESS))])
        .check(check_sintercard)
        .summary("7.0.0", "Returns the number of members of the intersect of multiple sets.")
        .complexity(WORST)
        .arguments(&[
            Argument::new("numkeys", ArgumentKind::Integer),
            Argument::key().multiple(),
            Argument::new("limit", ArgumentKind::Integer).token("LIMIT").optional(),
        ]);

fn gather(ctx: &mut Ctx<'_>, _: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    combine::copy(ctx, key)
}

type Sets<'a> = Result<Vec<Option<SetRef<'a>>>, lookup::WrongKind>;

fn tell(sets: Sets<'_>, how: Combination, reply: &mut Reply<'_>) {
    let Ok(sets) = sets else { return reply.error(lookup::WRONG_KIND) };
    let (length, mut members) = (reply.defer(), 0);
    how.visit(&sets, &mut |member| {
        lookup::bulk(member, reply);
        members += 1;
        true
    });
    reply.settle_set(length, members);
}

fn sinter(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    tell(combine::here(ctx, args.from(1)), Combination::Intersection, reply);
}

fn sunion(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    tell(combine::here(ctx, args.from(1)), Combination::Union, reply);
}

fn sdiff(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    tell(combine::here(ctx, args.from(1)), Combination::Difference, reply);
}

fn decide_sinter(
    check: &Check,
    _: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    tell(combine::gathered(pieces, &check.hasher), Combination::Intersection, reply);
    None
}

fn decide_sunion(
    check: &Check,
    _: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    tell(combine::gathered(pieces, &check.hasher), Combination::Union, reply);
    None
}

fn decide_sdiff(
    check: &Check,
    _: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    tell(combine::gathered(pieces, &check.hasher), Combination::Difference, reply);
    None
}

/// The number of keys, and the limit if there is one; `None` once they are refused.
fn card_arguments(args: Args<'_>, reply: &mut Reply<'_>) -> Option<(usize, u64)> {
    let keys = resp::parse_i64(args.get(1)).filter(|keys| *keys > 0);
    let Some(keys) = keys else {
        reply.error("ERR numkeys should be greater than 0");
        return None;
    };
    if keys as u64 > args.len() as u64 - 2 {
        reply.error("ERR Number of keys can't be greater than number of args");
        return None;
    }
    let (mut index, mut limit) = (2 + keys as usize, 0);
    while index < args.len() {
        if !args.is(index, "LIMIT") || index + 1 >= args.len() {
            reply.error(number::SYNTAX);
            return None;
        }
        let Some(number) = resp::parse_i64(args.get(index + 1)).filter(|limit| *limit >= 0) else {
            reply.error("ERR LIMIT can't be negative");
            return None;
        };
        limit = number as u64;
        index += 2;
    }
    Some((keys as usize, limit))
}

fn check_sintercard(_: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    card_arguments(args, reply).is_some()
}

fn count(sets: Sets<'_>, limit: u64, reply: &mut Reply<'_>) {
    let Ok(sets) = sets else { return reply.error(lookup::WRONG_KIND) };
    let mut members = 0;
    Combination::Intersection.visit(&sets, &mut |_| {
        members += 1;
        members != limit
    });
    reply.integer(members as i64);
}

fn sintercard(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if let Some((keys, limit)) = card_arguments(args, reply) {
        count(combine::here(ctx, (2..2 + keys).map(|index| args.get(index))), limit, reply);
    }
}

fn decide_sintercard(
    check: &Check,
    args: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    if let Some((_, limit)) = card_arguments(args, reply) {
        count(combine::gathered(pieces, &check.hasher), limit, reply);
    }
    None
}
