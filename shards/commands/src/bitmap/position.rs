//! BITPOS: where the first bit is that is set, or clear.

use super::count::UNIT;
use super::range::{Range, Unit};
use super::with_bytes;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static BITPOS: Command = Command::new("BITPOS", Group::Bitmap, Run::Local(bitpos))
    .arity(-3)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("2.8.7", "Finds the first set (1) or clear (0) bit in a string.")
    .complexity("O(N)")
    .arguments(&[
        Argument::key(),
        Argument::new("bit", ArgumentKind::Integer),
        Argument::block(
            "range",
            &[
                Argument::new("start", ArgumentKind::Integer),
                Argument::block("end-unit-block", &[Argument::new("end", ArgumentKind::Integer), UNIT])
                    .optional(),
            ],
        )
        .optional(),
    ]);

const NOT_A_BIT: &str = "ERR The bit argument must be 1 or 0.";

fn bitpos(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let on = match number::integer(args.get(2), reply) {
        None => return,
        Some(0) => false,
        Some(1) => true,
        Some(_) => return reply.error(NOT_A_BIT),
    };
    let Some((start, end, unit)) = bounds(args, reply) else { return };
    let key = ctx.key(args.get(1));
    match lookup::text(lookup::read(ctx, key)) {
        // A string that is not there is clear without end.
        Ok(None) => reply.integer(if on { -1 } else { 0 }),
        Ok(text) => reply.integer(with_bytes(text, |bytes| find(bytes, on, start, end, unit))),
        Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
    }
}

/// Where to search; `None` once it is refused.
fn bounds(args: Args<'_>, reply: &mut Reply<'_>) -> Option<(i64, Option<i64>, Unit)> {
    if args.len() > 6 {
        reply.error(number::SYNTAX);
        return None;
    }
    if args.len() == 3 {
        return Some((0, None, Unit::Byte));
    }
    let start = number::integer(args.get(3), reply)?;
    let unit = Unit::read(args, 5, reply)?;
    let end = if args.len() > 4 { Some(number::integer(args.get(4), reply)?) } else { None };
    Some((start, end, unit))
}

fn find(bytes: &[u8], on: bool, start: i64, end: Option<i64>, unit: Unit) -> i64 {
    let Some(range) = Range::of(start, end, unit, bytes.len()) else { return -1 };
    match range.find(bytes, on) {
        Some(place) => place as i64,
        // Unless an end is given, clear bits follow.
        None if !on && end.is_none() => range.end() as i64,
        None => -1,
    }
}
