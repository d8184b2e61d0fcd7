//! Numbers in fields, counted up and down.

use super::{FIELD, Outcome, limits};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::{IntegerText, LongDouble, Reply};
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::Text;

const COUNTS: Flags = Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST);
const COUNTED: &[Keys] = &[Keys::one(Access::RW.with(Access::ACCESS).with(Access::UPDATE))];

pub(super) static HINCRBY: Command = Command::new("HINCRBY", Group::Hash, Run::Local(hincrby))
    .arity(4)
    .flags(COUNTS)
    .keys(COUNTED)
    .summary(
        "2.0.0",
        "Increments the integer value of a field in a hash by a number. Uses 0 as initial value if the field \
         doesn't exist.",
    )
    .arguments(&[Argument::key(), FIELD, Argument::new("increment", ArgumentKind::Integer)]);

pub(super) static HINCRBYFLOAT: Command = Command::new("HINCRBYFLOAT", Group::Hash, Run::Local(hincrbyfloat))
    .arity(4)
    .flags(COUNTS)
    .keys(COUNTED)
    .summary(
        "2.6.0",
        "Increments the floating point value of a field by a number. Uses 0 as initial value if the field \
         doesn't exist.",
    )
    .arguments(&[Argument::key(), FIELD, Argument::new("increment", ArgumentKind::Double)]);

/// Why a field is not counted.
enum Refusal {
    WrongKind,
    Said(&'static str),
}

fn hincrby(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(delta) = number::integer(args.get(3), reply) else { return };
    let mut sum = 0;
    let counted = change(ctx, args, "hincrby", |old| {
        let old = match old {
            None => 0,
            Some(Text::Int(value)) => value,
            Some(Text::Bytes(_)) => return Err("ERR hash value is not an integer"),
        };
        sum = old.checked_add(delta).ok_or("ERR increment or decrement would overflow")?;
        Ok(IntegerText::new(sum).as_bytes().to_vec())
    });
    match counted {
        Ok(_) => reply.integer(sum),
        Err(Refusal::WrongKind) => reply.error(lookup::WRONG_KIND),
        Err(Refusal::Said(text)) => reply.error(text),
    }
}

fn hincrbyfloat(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(delta) = LongDouble::parse(args.get(3)) else {
        return reply.error("ERR value is not a valid float");
    };
    if !delta.is_finite() {
        return reply.error("ERR value is NaN or Infinity");
    }
    let counted = change(ctx, args, "hincrbyfloat", |old| {
        let old = match old {
            None => Some(LongDouble::from(0)),
            Some(Text::Int(value)) => Some(LongDouble::from(value)),
            Some(Text::Bytes(bytes)) => LongDouble::parse(bytes),
        };
        let old = old.ok_or("ERR hash value is not a float")?;
        let sum = old.plus(delta).filter(|sum| sum.is_finite());
        let mut digits = Vec::new();
        sum.ok_or("ERR increment would produce NaN or Infinity")?.write(&mut digits);
        Ok(digits)
    });
    match counted {
        Ok(digits) => reply.bulk(&digits),
        Err(Refusal::WrongKind) => reply.error(lookup::WRONG_KIND),
        Err(Refusal::Said(text)) => reply.error(text),
    }
}

/// Writes in a field what `next` makes of its value; a time at which it expires stays.
fn change(
    ctx: &mut Ctx<'_>,
    args: Args<'_>,
    event: &'static str,
    next: impl FnOnce(Option<Text<'_>>) -> Result<Vec<u8>, &'static str>,
) -> Result<Vec<u8>, Refusal> {
    let (db, key, limits) = (ctx.db(), ctx.key(args.get(1)), limits(ctx));
    let found = ctx.store.hash_or_new(db, key, ctx.now);
    let mut hash = found.map_err(|lookup::WrongKind| Refusal::WrongKind)?;
    let next = next(hash.get(args.get(2)));
    if let Ok(value) = &next {
        hash.set_keeping_time(args.get(2), value, limits);
    }
    let outcome = Outcome::of(&hash);
    drop(hash);
    ctx.changed(u64::from(next.is_ok()));
    outcome.tell(ctx, next.is_ok().then_some(event), key);
    next.map_err(Refusal::Said)
}
