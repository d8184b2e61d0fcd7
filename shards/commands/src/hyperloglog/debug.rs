//! PFDEBUG and PFSELFTEST: sketches looked into, and tried.

use super::add::{bytes_max, put};
use super::layout::{self, Encoding};
use super::registers::{self, Registers};
use super::{Fault, REGISTERS, dense, hash, sketch, sparse};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup;
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use std::fmt::Write;

pub(super) static PFDEBUG: Command = Command::new("PFDEBUG", Group::HyperLogLog, Run::Local(pfdebug))
    .arity(3)
    .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::ADMIN))
    .keys(&[Keys::at(2, Access::RW.with(Access::ACCESS))])
    .summary("2.8.9", "Internal commands for debugging HyperLogLog values.")
    .complexity("N/A")
    .arguments(&[Argument::new("subcommand", ArgumentKind::String), Argument::key()]);

pub(super) static PFSELFTEST: Command =
    Command::new("PFSELFTEST", Group::HyperLogLog, Run::Local(pfselftest))
        .flags(Flags::ADMIN)
        .summary("2.8.9", "An internal command for testing HyperLogLog values.")
        .complexity("N/A");

const NO_SUCH_KEY: &str = "ERR The specified key does not exist";
const NOT_SPARSE: &str = "ERR HLL encoding is not sparse";

fn pfdebug(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(2));
    let bytes = match sketch(lookup::text(lookup::write(ctx, key))) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return reply.error(NO_SUCH_KEY),
        Err(fault) => return fault.refuse(reply),
    };
    let is_sparse = layout::encoding(bytes) == Ok(Encoding::Sparse);
    let (dense, outcome) = match () {
        () if args.is(1, "GETREG") => (true, Registers::of(bytes).map(|registers| tell(&registers, reply))),
        () if args.is(1, "TODENSE") => (true, Ok(())),
        () if args.is(1, "DECODE") && !is_sparse => return reply.error(NOT_SPARSE),
        () if args.is(1, "DECODE") => (false, decode(bytes).map(|text| reply.bulk_text(&text))),
        () if args.is(1, "ENCODING") => {
            reply.simple(if is_sparse { "sparse" } else { "dense" });
            (false, Ok(()))
        }
        () => {
            return reply.error_fmt(format_args!("ERR Unknown PFDEBUG subcommand '{}'", args.text(1)));
        }
    };
    let densified = if dense && is_sparse { layout::densified(bytes).map(Some) } else { Ok(None) };
    match outcome.and(densified) {
        Err(fault) => return fault.refuse(reply),
        Ok(Some(densified)) => {
            put(ctx, key, &densified);
            ctx.changed(1);
        }
        Ok(None) => {}
    }
    if args.is(1, "TODENSE") {
        reply.integer(i64::from(is_sparse));
    }
}

fn tell(registers: &Registers, reply: &mut Reply<'_>) {
    reply.array(REGISTERS);
    registers.values().iter().for_each(|value| reply.integer(i64::from(*value)));
}

/// The runs of a sparse sketch in words: `z:` and `Z:` with their lengths, `v:` with value and length.
fn decode(bytes: &[u8]) -> Result<String, Fault> {
    let mut text = String::new();
    sparse::each_run(bytes, |_, run| {
        let _ = match (run.value, run.bytes) {
            (0, 1) => write!(text, "z:{} ", run.registers),
            (0, _) => write!(text, "Z:{} ", run.registers),
            (value, _) => write!(text, "v:{value},{} ", run.registers),
        };
    })?;
    text.truncate(text.trim_end().len());
    Ok(text)
}

/// Elements that the self-test lets sketches see: what a shard may spend on one command.
const SEEN_MAX: u64 = 100_000;
/// Standard error of a count: 1.04 / sqrt(16384).
const ERROR: f64 = 0.008_125;
/// A count is further off in one case of many millions.
const ERRORS_MAX: f64 = 6.0;

fn pfselftest(ctx: &mut Ctx<'_>, _: Args<'_>, reply: &mut Reply<'_>) {
    let (seed, bytes_max) = (ctx.random.draw(), bytes_max(ctx));
    let trial = try_registers(&mut || ctx.random.draw()).and_then(|()| try_counts(seed, bytes_max));
    match trial {
        Ok(()) => reply.ok(),
        Err(what) => reply.error_fmt(format_args!("ERR TESTFAILED {what}")),
    }
}

/// Each register keeps what it is set to, whatever its neighbours are set to.
fn try_registers(draw: &mut dyn FnMut() -> u64) -> Result<(), String> {
    let mut registers = vec![0; dense::BYTES];
    let values: Vec<u8> = (0..REGISTERS).map(|_| draw() as u8 & dense::VALUE_MAX).collect();
    for (index, value) in values.iter().enumerate() {
        dense::set(&mut registers, index, draw() as u8 & dense::VALUE_MAX);
        dense::set(&mut registers, index, *value);
    }
    match (0..REGISTERS).find(|index| dense::get(&registers, *index) != values[*index]) {
        Some(index) => Err(format!("Register {index} is not what it was set to")),
        None => Ok(()),
    }
}

/// Sparse and dense sketches agree, and are about right.
fn try_counts(seed: u64, bytes_max: usize) -> Result<(), String> {
    let (mut bytes, mut checkpoint) = (layout::fresh(), 1);
    let empty = layout::densified(&bytes).map_err(|_| "a new sketch is corrupt".to_owned())?;
    let mut dense = empty;
    for seen in 1..=SEEN_MAX {
        let (index, value) = hash::place(&(seen ^ seed).to_le_bytes());
        dense::raise(&mut dense[layout::HEADER_BYTES..], index, value);
        if layout::encoding(&bytes) == Ok(Encoding::Sparse) {
            let mut place = sparse::Place::START;
            match sparse::raise(&mut bytes, &mut place, index, value, bytes_max) {
                Ok(sparse::Raised::NoRoom) => bytes = dense.clone(),
                Ok(_) => {}
                Err(_) => return Err(format!("a sketch of {seen} elements is corrupt")),
            }
        }
        if seen == checkpoint {
            checkpoint *= 10;
            let count = registers::count(&dense);
            if layout::encoding(&bytes) == Ok(Encoding::Sparse) && registers::count(&bytes) != count {
                return Err(format!("sparse and dense sketches of {seen} elements differ"));
            }
            let off = count.unwrap_or(0).abs_diff(seen);
            if off as f64 > (ERROR * ERRORS_MAX * seen as f64).ceil() {
                return Err(format!("Too big error: {off} of {seen} elements"));
            }
        }
    }
    Ok(())
}
