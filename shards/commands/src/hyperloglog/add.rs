//! PFADD: elements are seen.

use super::layout::{self, Encoding, HEADER_BYTES};
use super::sparse::{Place, Raised};
use super::{Fault, dense, hash, sketch, sparse};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup;
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static PFADD: Command = Command::new("PFADD", Group::HyperLogLog, Run::Local(pfadd))
    .arity(-2)
    .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::INSERT))])
    .summary("2.8.9", "Adds elements to a HyperLogLog key. Creates the key if it doesn't exist.")
    .complexity("O(1) to add every element.")
    .arguments(&[Argument::key(), Argument::new("element", ArgumentKind::String).optional().multiple()]);

/// What is to be done to a key.
enum Step {
    /// Nothing: all registers are high enough.
    Nothing,
    /// Its dense registers are to be raised where they are.
    InPlace,
    /// It is to get these bytes, after so many changes.
    Put(Vec<u8>, u64),
}

fn pfadd(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (db, key, bytes_max) = (ctx.db(), ctx.key(args.get(1)), bytes_max(ctx));
    let found = sketch(lookup::text(lookup::write(ctx, key)));
    let changes = match found.and_then(|found| step(found, args, bytes_max)) {
        Err(fault) => return fault.refuse(reply),
        Ok(Step::Nothing) => 0,
        Ok(Step::InPlace) => ctx.store.edit_text(db, key, HEADER_BYTES + dense::BYTES, |bytes| {
            let changes = raise_all(&mut bytes[HEADER_BYTES..], args, 2);
            if changes > 0 {
                layout::forget_count(bytes);
            }
            changes
        }),
        Ok(Step::Put(bytes, changes)) => {
            put(ctx, key, &bytes);
            changes
        }
    };
    if changes > 0 {
        ctx.changed(changes);
        ctx.notify(Events::STRING, "pfadd", key.bytes);
    }
    reply.integer(i64::from(changes > 0));
}

/// Bytes that a sparse sketch may have.
pub(super) fn bytes_max(ctx: &Ctx<'_>) -> usize {
    ctx.live.encodings.hll_sparse_max_bytes as usize
}

/// Writes a sketch under a key; the expiry stays.
pub(super) fn put(ctx: &mut Ctx<'_>, key: Key<'_>, bytes: &[u8]) {
    let db = ctx.db();
    ctx.store.edit_text(db, key, bytes.len(), |into| into.copy_from_slice(bytes));
}

fn step(found: Option<&[u8]>, args: Args<'_>, bytes_max: usize) -> Result<Step, Fault> {
    let Some(found) = found else {
        // That it is there is a change by itself.
        let (mut bytes, changes) = added(layout::fresh(), args, 2, bytes_max)?;
        layout::forget_count(&mut bytes);
        return Ok(Step::Put(bytes, changes + 1));
    };
    if layout::encoding(found)? == Encoding::Dense {
        return Ok(Step::InPlace);
    }
    // As a rule elements were seen before, and nothing need be copied.
    for (at, element) in args.from(2).enumerate() {
        let (index, value) = hash::place(element);
        if sparse::get(found, index)? < value {
            let (bytes, changes) = added(found.to_vec(), args, 2 + at, bytes_max)?;
            return Ok(Step::Put(bytes, changes));
        }
    }
    Ok(Step::Nothing)
}

/// A sparse sketch that has seen the elements from argument `first` on too, and how many changed it.
fn added(
    mut bytes: Vec<u8>,
    args: Args<'_>,
    first: usize,
    bytes_max: usize,
) -> Result<(Vec<u8>, u64), Fault> {
    let mut changes = 0;
    for (at, element) in args.from(first).enumerate() {
        let (index, value) = hash::place(element);
        match sparse::raise(&mut bytes, &mut { Place::START }, index, value, bytes_max)? {
            Raised::No => {}
            Raised::Yes => changes += 1,
            Raised::NoRoom => {
                bytes = layout::densified(&bytes)?;
                changes += raise_all(&mut bytes[HEADER_BYTES..], args, first + at);
                break;
            }
        }
    }
    if changes > 0 {
        layout::forget_count(&mut bytes);
    }
    Ok((bytes, changes))
}

/// Raises dense registers for the elements from argument `first` on; how many changed them.
fn raise_all(registers: &mut [u8], args: Args<'_>, first: usize) -> u64 {
    let raise = |element| {
        let (index, value) = hash::place(element);
        u64::from(dense::raise(registers, index, value))
    };
    args.from(first).map(raise).sum()
}
