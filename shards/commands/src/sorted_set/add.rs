//! ZADD and ZINCRBY: members get scores.

use super::NOT_A_FLOAT;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static ZADD: Command = Command::new("ZADD", Group::SortedSet, Run::Local(zadd))
    .arity(-4)
    .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::UPDATE))])
    .summary(
        "1.2.0",
        "Adds one or more members to a sorted set, or updates their scores. Creates the key if it \
         doesn't exist.",
    )
    .complexity("O(log(N)) for each item added, where N is the number of elements in the sorted set.")
    .arguments(&[
        Argument::key(),
        Argument::one_of("condition", &[Argument::word("nx", "NX"), Argument::word("xx", "XX")])
            .since("3.0.2")
            .optional(),
        Argument::one_of("comparison", &[Argument::word("gt", "GT"), Argument::word("lt", "LT")])
            .since("6.2.0")
            .optional(),
        Argument::word("change", "CH").since("3.0.2").optional(),
        Argument::word("increment", "INCR").since("3.0.2").optional(),
        Argument::block(
            "data",
            &[Argument::new("score", ArgumentKind::Double), Argument::new("member", ArgumentKind::String)],
        )
        .multiple(),
    ]);

pub(super) static ZINCRBY: Command = Command::new("ZINCRBY", Group::SortedSet, Run::Local(zincrby))
    .arity(4)
    .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::UPDATE))])
    .summary("1.2.0", "Increments the score of a member in a sorted set.")
    .complexity("O(log(N)) where N is the number of elements in the sorted set.")
    .arguments(&[
        Argument::key(),
        Argument::new("increment", ArgumentKind::Integer),
        Argument::new("member", ArgumentKind::String),
    ]);

/// On what conditions members get their scores.
#[derive(Clone, Copy, Default)]
pub(crate) struct AddOptions {
    pub(crate) only_new: bool,
    pub(crate) only_old: bool,
    only_greater: bool,
    only_less: bool,
    pub(crate) count_changed: bool,
    increment: bool,
    /// Where the first score stands.
    first: usize,
}

impl AddOptions {
    /// `None` once they are refused.
    fn read(args: Args<'_>, increment: bool, reply: &mut Reply<'_>) -> Option<AddOptions> {
        let mut options = AddOptions { increment, first: 2, ..AddOptions::default() };
        loop {
            let option = match args.get(options.first) {
                word if word.eq_ignore_ascii_case(b"NX") => &mut options.only_new,
                word if word.eq_ignore_ascii_case(b"XX") => &mut options.only_old,
                word if word.eq_ignore_ascii_case(b"GT") => &mut options.only_greater,
                word if word.eq_ignore_ascii_case(b"LT") => &mut options.only_less,
                word if word.eq_ignore_ascii_case(b"CH") => &mut options.count_changed,
                word if word.eq_ignore_ascii_case(b"INCR") => &mut options.increment,
                _ => break,
            };
            *option = true;
            options.first += 1;
        }
        let words = args.len().saturating_sub(options.first);
        let fault = if words == 0 || !words.is_multiple_of(2) {
            number::SYNTAX
        } else if options.only_new && options.only_old {
            "ERR XX and NX options at the same time are not compatible"
        } else if u8::from(options.only_greater) + u8::from(options.only_less) + u8::from(options.only_new)
            > 1
        {
            "ERR GT, LT, and/or NX options at the same time are not compatible"
        } else if options.increment && words > 2 {
            "ERR INCR option supports a single increment-element pair"
        } else {
            return Some(options);
        };
        reply.error(fault);
        None
    }
}

/// What became of one member.
enum Outcome {
    Added(f64),
    Changed(f64),
    Same(f64),
    /// A condition did not hold.
    Kept,
    NotANumber,
}

/// What the conditions make of a member's old score and what is said of it.
#[inline]
fn outcome(options: AddOptions, old: Option<f64>, said: f64) -> Outcome {
    let Some(old) = old else {
        return if options.only_old { Outcome::Kept } else { Outcome::Added(said) };
    };
    if options.only_new {
        return Outcome::Kept;
    }
    let score = if options.increment { old + said } else { said };
    if score.is_nan() {
        return Outcome::NotANumber;
    }
    if options.only_greater && score <= old || options.only_less && score >= old {
        return Outcome::Kept;
    }
    if score == old { Outcome::Same(score) } else { Outcome::Changed(score) }
}

fn zadd(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    add(ctx, args, reply, false);
}

fn zincrby(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    add(ctx, args, reply, true);
}

fn add(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>, increment: bool) {
    let Some(options) = AddOptions::read(args, increment, reply) else { return };
    // All scores are read before anything is changed.
    for index in (options.first..args.len()).step_by(2) {
        if resp::parse_f64(args.get(index)).is_none() {
            return reply.error(NOT_A_FLOAT);
        }
    }
    let pairs = (options.first..args.len()).step_by(2).map(|index| {
        let score = resp::parse_f64(args.get(index)).expect("read once already");
        (score, args.get(index + 1))
    });
    add_pairs(ctx, args.get(1), options, pairs, reply);
}

/// Gives members scores as the options say; replies as ZADD does.
pub(crate) fn add_pairs<'p>(
    ctx: &mut Ctx<'_>,
    name: &[u8],
    options: AddOptions,
    pairs: impl Iterator<Item = (f64, &'p [u8])>,
    reply: &mut Reply<'_>,
) {
    let (db, limits, key) = (ctx.db(), super::limits(ctx), ctx.key(name));
    let Ok(mut set) = ctx.store.sorted_set_or_new(db, key, ctx.now) else {
        return reply.error(lookup::WRONG_KIND);
    };
    let (mut added, mut changed, mut last) = (0, 0, None);
    for (said, member) in pairs {
        let mut what = Outcome::Kept;
        set.update(member, limits, |old| {
            what = outcome(options, old, said);
            match what {
                Outcome::Added(score) | Outcome::Changed(score) => Some(score),
                Outcome::Same(_) | Outcome::Kept | Outcome::NotANumber => None,
            }
        });
        match what {
            Outcome::Added(score) => {
                added += 1;
                last = Some(score);
            }
            Outcome::Changed(score) => {
                changed += 1;
                last = Some(score);
            }
            Outcome::Same(score) => last = Some(score),
            Outcome::Kept => {}
            // There is but one pair, then.
            Outcome::NotANumber => return reply.error("ERR resulting score is not a number (NaN)"),
        }
    }
    drop(set);
    if added + changed > 0 {
        ctx.notify(Events::ZSET, if options.increment { "zincr" } else { "zadd" }, key.bytes);
        ctx.changed(added + changed);
    }
    match (options.increment, last) {
        (true, Some(score)) => reply.double(score),
        (true, None) => reply.null(),
        (false, _) => reply.integer((if options.count_changed { added + changed } else { added }) as i64),
    }
}
