//! BITCOUNT: how many bits are set.

use super::range::{Range, Unit};
use super::with_bytes;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

/// Bytes or bits.
pub(super) const UNIT: Argument =
    Argument::one_of("unit", &[Argument::word("byte", "BYTE"), Argument::word("bit", "BIT")])
        .since("7.0.0")
        .optional();

pub(super) static BITCOUNT: Command = Command::new("BITCOUNT", Group::Bitmap, Run::Local(bitcount))
    .arity(-2)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("2.6.0", "Counts the number of set bits (population counting) in a string.")
    .complexity("O(N)")
    .arguments(&[
        Argument::key(),
        Argument::block(
            "range",
            &[
                Argument::new("start", ArgumentKind::Integer),
                Argument::new("end", ArgumentKind::Integer),
                UNIT,
            ],
        )
        .optional(),
    ]);

fn bitcount(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (start, end, unit) = match args.len() {
        2 => (0, -1, Unit::Byte),
        4 | 5 => {
            let Some(start) = number::integer(args.get(2), reply) else { return };
            let Some(end) = number::integer(args.get(3), reply) else { return };
            let Some(unit) = Unit::read(args, 4, reply) else { return };
            (start, end, unit)
        }
        _ => return reply.error(number::SYNTAX),
    };
    let key = ctx.key(args.get(1));
    let Ok(text) = lookup::text(lookup::read(ctx, key)) else {
        return reply.error(lookup::WRONG_KIND);
    };
    let count = with_bytes(text, |bytes| {
        // Both before the front are not the first one, as they would be once they are cut.
        let backwards = start < 0 && end < 0 && start > end;
        let range = Range::of(start, Some(end), unit, bytes.len()).filter(|_| !backwards);
        range.map_or(0, |range| range.count(bytes))
    });
    reply.integer(count as i64);
}
