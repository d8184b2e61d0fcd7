//! PFMERGE: a sketch that has seen what several have.

use super::add::{bytes_max, put};
use super::count::{copy, gathered};
use super::layout::{self, Encoding, HEADER_BYTES};
use super::registers::Registers;
use super::sparse::{Place, Raised};
use super::{Fault, dense, sketch, sparse};
use crate::command::{Check, Command, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup;
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Extent, Flags, Group, Keys, Start};
use store::{Detached, Text};

pub(super) static PFMERGE: Command =
    Command::new("PFMERGE", Group::HyperLogLog, Run::Plan(&Plan { together: pfmerge, gather, decide }))
        .arity(-2)
        .flags(Flags::WRITE.with(Flags::DENYOOM))
        .keys(&[
            Keys::at(1, Access::RW.with(Access::ACCESS).with(Access::INSERT)),
            Keys::new(
                Start::Index(2),
                Extent::Range { last: -1, step: 1, limit: 0 },
                Access::RO.with(Access::ACCESS),
            ),
        ])
        .summary("2.8.9", "Merges one or more HyperLogLog values into a single key.")
        .complexity("O(N) to merge N HyperLogLogs, but with high constant times.")
        .arguments(&[
            Argument::new("destkey", ArgumentKind::Key),
            Argument::new("sourcekey", ArgumentKind::Key).optional().multiple(),
        ]);

fn pfmerge(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let mut registers = Registers::new();
    for name in args.from(1) {
        let key = ctx.key(name);
        let found = sketch(lookup::text(lookup::read(ctx, key)));
        if let Err(fault) = found.and_then(|found| found.map_or(Ok(()), |bytes| registers.merge(bytes))) {
            return fault.refuse(reply);
        }
    }
    let key = ctx.key(args.get(1));
    merge_into(ctx, key, &registers);
    reply.ok();
}

/// The destination's own registers are among them.
fn merge_into(ctx: &mut Ctx<'_>, key: Key<'_>, registers: &Registers) {
    let bytes_max = bytes_max(ctx);
    let found = sketch(lookup::text(lookup::write(ctx, key)));
    let merged = found.and_then(|found| {
        let before = found.map_or_else(layout::fresh, <[u8]>::to_vec);
        merged(before, registers, bytes_max)
    });
    let merged = merged.expect("its registers were read before");
    put(ctx, key, &merged);
    ctx.changed(1);
    ctx.notify(Events::STRING, "pfadd", key.bytes);
}

/// A sketch with registers raised to these; dense, if one of those they come from was.
fn merged(mut bytes: Vec<u8>, registers: &Registers, bytes_max: usize) -> Result<Vec<u8>, Fault> {
    let is_sparse = |bytes: &[u8]| layout::encoding(bytes).map(|encoding| encoding == Encoding::Sparse);
    if registers.any_dense() && is_sparse(&bytes)? {
        bytes = layout::densified(&bytes)?;
    }
    if is_sparse(&bytes)? {
        bytes = raise_sparse(bytes, registers, bytes_max)?;
    } else {
        raise_dense(&mut bytes, registers, 0);
    }
    layout::forget_count(&mut bytes);
    Ok(bytes)
}

fn raise_sparse(mut bytes: Vec<u8>, registers: &Registers, bytes_max: usize) -> Result<Vec<u8>, Fault> {
    let before = Registers::of(&bytes)?;
    let mut place = Place::START;
    for (index, value) in registers.values().iter().enumerate() {
        if before.values()[index] >= *value {
            continue;
        }
        if sparse::raise(&mut bytes, &mut place, index, *value, bytes_max)? == Raised::NoRoom {
            bytes = layout::densified(&bytes)?;
            raise_dense(&mut bytes, registers, index);
            break;
        }
    }
    Ok(bytes)
}

/// Raises dense registers from `first` on.
fn raise_dense(bytes: &mut [u8], registers: &Registers, first: usize) {
    for (index, value) in registers.values().iter().enumerate().skip(first) {
        dense::raise(&mut bytes[HEADER_BYTES..], index, *value);
    }
}

fn gather(ctx: &mut Ctx<'_>, _: Args<'_>, _: usize, key: Key<'_>) -> Piece {
    copy(ctx, key)
}

/// The registers travel as a sketch: a dense one, if the outcome has to be, else one with as many sparse
/// bytes as it takes.
fn decide(_: &Check, _: Args<'_>, pieces: &mut [Piece], reply: &mut Reply<'_>) -> Option<Vec<Order>> {
    let sketch = gathered(pieces).and_then(|registers| merged(layout::fresh(), &registers, usize::MAX));
    let sketch = match sketch {
        Ok(sketch) => sketch,
        Err(fault) => {
            fault.refuse(reply);
            return None;
        }
    };
    reply.ok();
    let act: crate::ActFn = |ctx, _, key, sketch| {
        let registers = match sketch.as_ref().and_then(Detached::text) {
            Some(Text::Bytes(bytes)) => Registers::of(bytes),
            Some(Text::Int(_)) | None => unreachable!("a sketch travels"),
        };
        merge_into(ctx, key, &registers.expect("it was made of registers"));
    };
    let mut orders = vec![Order::Act(act, Some(Detached::text_of(sketch)))];
    orders.resize_with(pieces.len(), || Order::Nothing);
    Some(orders)
}
