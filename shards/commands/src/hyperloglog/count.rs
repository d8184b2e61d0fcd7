//! PFCOUNT: how many different elements one sketch has seen, or several together.

use super::registers::{self, Registers};
use super::{Fault, layout, sketch};
use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup;
use resp::Reply;
use spec::{Access, Argument, Extent, Flags, Group, Keys, Start};
use store::Detached;

pub(super) static PFCOUNT: Command = Command::new(
    "PFCOUNT",
    Group::HyperLogLog,
    Run::Plan(&Plan { together: pfcount, gather, decide }),
)
.arity(-2)
.flags(Flags::READONLY.with(Flags::MAY_REPLICATE))
.keys(&[Keys::new(
    Start::Index(1),
    Extent::Range { last: -1, step: 1, limit: 0 },
    Access::RW.with(Access::ACCESS),
)
.notes("RW because it may change the internal representation of the key, and propagate to replicas")])
.summary("2.8.9", "Returns the approximated cardinality of the set(s) observed by the HyperLogLog key(s).")
.complexity(
    "O(1) with a very small average constant time when called with a single key. O(N) with N being the \
     number of keys, and much bigger constant times, when called with multiple keys.",
)
.arguments(&[Argument::key().multiple()]);

fn pfcount(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if args.len() == 2 {
        return count_one(ctx, args, reply);
    }
    let mut registers = Registers::new();
    for name in args.from(1) {
        let key = ctx.key(name);
        let found = sketch(lookup::text(lookup::read(ctx, key)));
        if let Err(fault) = found.and_then(|found| found.map_or(Ok(()), |bytes| registers.merge(bytes))) {
            return fault.refuse(reply);
        }
    }
    reply.integer(registers.count() as i64);
}

/// Of one sketch the count is kept with it, until it changes.
fn count_one(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key) = (ctx.db(), ctx.key(args.get(1)));
    let bytes = match sketch(lookup::text(lookup::read(ctx, key))) {
        Ok(None) => return reply.integer(0),
        Ok(Some(bytes)) => bytes,
        Err(fault) => return fault.refuse(reply),
    };
    if let Some(count) = layout::count(bytes) {
        return reply.integer(count as i64);
    }
    let length = bytes.len();
    match registers::count(bytes) {
        Ok(count) => {
            ctx.store.edit_text(db, key, length, |bytes| layout::note_count(bytes, count));
            ctx.changed(1);
            reply.integer(count as i64);
        }
        Err(fault) => fault.refuse(reply),
    }
}

fn gather(ctx: &mut Ctx<'_>, _: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    copy(ctx, key)
}

/// A copy of the sketch of a key.
pub(super) fn copy(ctx: &mut Ctx<'_>, key: Key<'_>) -> Piece {
    if lookup::text(lookup::read(ctx, key)).is_err() {
        return Piece::WrongKind;
    }
    let db = ctx.db();
    Piece::Value(ctx.store.copy_out(db, key, ctx.now))
}

/// The registers of all sketches that were copied.
pub(super) fn gathered(pieces: &[Piece]) -> Result<Registers, Fault> {
    let mut registers = Registers::new();
    for piece in pieces {
        let text = match piece {
            Piece::WrongKind => Err(lookup::WrongKind),
            Piece::Value(value) => Ok(value.as_ref().and_then(Detached::text)),
            Piece::Nothing | Piece::Exists(_) => Ok(None),
        };
        if let Some(bytes) = sketch(text)? {
            registers.merge(bytes)?;
        }
    }
    Ok(registers)
}

fn decide(_: &Check, _: Args<'_>, pieces: &mut [Piece], reply: &mut Reply<'_>) -> Option<Vec<Order>> {
    match gathered(pieces) {
        Ok(registers) => reply.integer(registers.count() as i64),
        Err(fault) => fault.refuse(reply),
    }
    None
}
