//! SETBIT and GETBIT: one bit.

use super::{offset, with_bytes};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static SETBIT: Command = Command::new("SETBIT", Group::Bitmap, Run::Local(setbit))
    .arity(4)
    .flags(Flags::WRITE.with(Flags::DENYOOM))
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::UPDATE))])
    .summary(
        "2.2.0",
        "Sets or clears the bit at offset of the string value. Creates the key if it doesn't exist.",
    )
    .arguments(&[
        Argument::key(),
        Argument::new("offset", ArgumentKind::Integer),
        Argument::new("value", ArgumentKind::Integer),
    ]);

pub(super) static GETBIT: Command = Command::new("GETBIT", Group::Bitmap, Run::Local(getbit))
    .arity(3)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("2.2.0", "Returns a bit value by offset.")
    .arguments(&[Argument::key(), Argument::new("offset", ArgumentKind::Integer)]);

const NOT_A_BIT: &str = "ERR bit is not an integer or out of range";

/// Where a bit is: its byte, and its mask there.
#[derive(Clone, Copy)]
struct Place {
    byte: usize,
    mask: u8,
}

impl Place {
    fn of(offset: u64) -> Place {
        Place { byte: (offset / 8) as usize, mask: 0x80 >> (offset % 8) }
    }

    /// Whether the bit is set; beyond the end none is.
    fn is_set(self, bytes: &[u8]) -> bool {
        bytes.get(self.byte).is_some_and(|byte| byte & self.mask != 0)
    }
}

fn setbit(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(place) = offset(args.get(2), None, ctx.live, reply).map(Place::of) else { return };
    let on = match resp::parse_i64(args.get(3)) {
        Some(0) => false,
        Some(1) => true,
        _ => return reply.error(NOT_A_BIT),
    };
    let (db, key) = (ctx.db(), ctx.key(args.get(1)));
    let (before, was_on) = match lookup::text(lookup::write(ctx, key)) {
        Ok(text) => with_bytes(text, |bytes| (bytes.len(), place.is_set(bytes))),
        Err(lookup::WrongKind) => return reply.error(lookup::WRONG_KIND),
    };
    if on != was_on || place.byte >= before {
        ctx.store.edit_text(db, key, before.max(place.byte + 1), |bytes| {
            if on {
                bytes[place.byte] |= place.mask;
            } else {
                bytes[place.byte] &= !place.mask;
            }
        });
        ctx.changed(1);
        ctx.notify(Events::STRING, "setbit", key.bytes);
    }
    reply.integer(i64::from(was_on));
}

fn getbit(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(place) = offset(args.get(2), None, ctx.live, reply).map(Place::of) else { return };
    let key = ctx.key(args.get(1));
    match lookup::text(lookup::read(ctx, key)) {
        Ok(text) => reply.integer(i64::from(with_bytes(text, |bytes| place.is_set(bytes)))),
        Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
    }
}
