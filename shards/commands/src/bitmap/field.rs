//! BITFIELD and BITFIELD_RO: integers of any width, read, set and counted up.

use super::integer::{Encoding, Overflow};
use super::{offset, with_bytes};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::{lookup, number};
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys, Live};

const ENCODING: Argument = Argument::new("encoding", ArgumentKind::String);
const OFFSET: Argument = Argument::new("offset", ArgumentKind::Integer);

pub(super) static BITFIELD: Command = Command::new("BITFIELD", Group::Bitmap, Run::Local(bitfield))
    .arity(-2)
    .flags(Flags::WRITE.with(Flags::DENYOOM))
    .keys(&[Keys::one(Access::RW.with(Access::UPDATE).with(Access::ACCESS).with(Access::VARIABLE))
        .notes("This command allows both access and modification of the key")])
    .summary("3.2.0", "Performs arbitrary bitfield integer operations on strings.")
    .complexity("O(1) for each subcommand specified")
    .arguments(&[
        Argument::key(),
        Argument::one_of(
            "operation",
            &[
                Argument::block("get-block", &[ENCODING, OFFSET]).token("GET"),
                Argument::block(
                    "write",
                    &[
                        Argument::one_of(
                            "overflow-block",
                            &[
                                Argument::word("wrap", "WRAP"),
                                Argument::word("sat", "SAT"),
                                Argument::word("fail", "FAIL"),
                            ],
                        )
                        .token("OVERFLOW")
                        .optional(),
                        Argument::one_of(
                            "write-operation",
                            &[
                                Argument::block(
                                    "set-block",
                                    &[ENCODING, OFFSET, Argument::new("value", ArgumentKind::Integer)],
                                )
                                .token("SET"),
                                Argument::block(
                                    "incrby-block",
                                    &[ENCODING, OFFSET, Argument::new("increment", ArgumentKind::Integer)],
                                )
                                .token("INCRBY"),
                            ],
                        ),
                    ],
                ),
            ],
        )
        .optional()
        .multiple(),
    ]);

pub(super) static BITFIELD_RO: Command = Command::new("BITFIELD_RO", Group::Bitmap, Run::Local(bitfield_ro))
    .arity(-2)
    .flags(Flags::READONLY.with(Flags::FAST))
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("6.0.0", "Performs arbitrary read-only bitfield integer operations on strings.")
    .complexity("O(1) for each subcommand specified")
    .arguments(&[
        Argument::key(),
        Argument::block("get-block", &[ENCODING, OFFSET]).token("GET").optional().multiple().multiple_token(),
    ]);

const NOT_AN_ENCODING: &str =
    "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.";
const NOT_AN_OVERFLOW: &str = "ERR Invalid OVERFLOW type specified";
const READS_ALONE: &str = "ERR BITFIELD_RO only supports the GET subcommand";

/// What is done with an integer.
#[derive(Clone, Copy)]
enum Deed {
    Get,
    Set(i64),
    Increment(i64),
}

#[derive(Clone, Copy)]
struct Operation {
    deed: Deed,
    encoding: Encoding,
    offset: u64,
    overflow: Overflow,
}

/// The operations among the arguments, one after the other.
struct Operations<'a> {
    args: Args<'a>,
    at: usize,
    overflow: Overflow,
}

impl<'a> Operations<'a> {
    fn new(args: Args<'a>) -> Operations<'a> {
        Operations { args, at: 2, overflow: Overflow::Wrap }
    }

    /// The next one; `Err` once it is refused.
    fn next(&mut self, live: &Live, reply: &mut Reply<'_>) -> Result<Option<Operation>, ()> {
        while self.at < self.args.len() {
            let (args, at) = (self.args, self.at);
            let left = args.len() - at - 1;
            let (words, kind): (usize, fn(i64) -> Deed) = match () {
                () if args.is(at, "GET") && left >= 2 => (3, |_| Deed::Get),
                () if args.is(at, "SET") && left >= 3 => (4, Deed::Set),
                () if args.is(at, "INCRBY") && left >= 3 => (4, Deed::Increment),
                () if args.is(at, "OVERFLOW") && left >= 1 => {
                    self.overflow = overflow(args, at + 1, reply).ok_or(())?;
                    self.at += 2;
                    continue;
                }
                () => {
                    reply.error(number::SYNTAX);
                    return Err(());
                }
            };
            let Some(encoding) = Encoding::read(args.get(at + 1)) else {
                reply.error(NOT_AN_ENCODING);
                return Err(());
            };
            let offset = offset(args.get(at + 2), Some(encoding.bits()), live, reply).ok_or(())?;
            let value = if words == 4 { number::integer(args.get(at + 3), reply).ok_or(())? } else { 0 };
            self.at += words;
            return Ok(Some(Operation { deed: kind(value), encoding, offset, overflow: self.overflow }));
        }
        Ok(None)
    }
}

fn overflow(args: Args<'_>, at: usize, reply: &mut Reply<'_>) -> Option<Overflow> {
    let known = match () {
        () if args.is(at, "WRAP") => Some(Overflow::Wrap),
        () if args.is(at, "SAT") => Some(Overflow::Saturate),
        () if args.is(at, "FAIL") => Some(Overflow::Fail),
        () => None,
    };
    if known.is_none() {
        reply.error(NOT_AN_OVERFLOW);
    }
    known
}

/// What all operations together need to know.
struct Survey {
    count: usize,
    /// Bytes that the string must have to be written to; 0: it only is read.
    bytes: usize,
}

/// Reads all operations once, before any is done; `None` once one is refused.
fn survey(args: Args<'_>, live: &Live, reply: &mut Reply<'_>) -> Option<Survey> {
    let (mut operations, mut survey) = (Operations::new(args), Survey { count: 0, bytes: 0 });
    while let Some(operation) = operations.next(live, reply).ok()? {
        survey.count += 1;
        if !matches!(operation.deed, Deed::Get) {
            let end = operation.offset + u64::from(operation.encoding.bits());
            survey.bytes = survey.bytes.max(end.div_ceil(8) as usize);
        }
    }
    Some(survey)
}

fn bitfield(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(survey) = survey(args, ctx.live, reply) else { return };
    if survey.bytes == 0 { read(ctx, args, &survey, reply) } else { write(ctx, args, &survey, reply) }
}

fn bitfield_ro(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(survey) = survey(args, ctx.live, reply) else { return };
    if survey.bytes > 0 {
        return reply.error(READS_ALONE);
    }
    read(ctx, args, &survey, reply);
}

fn read(ctx: &mut Ctx<'_>, args: Args<'_>, survey: &Survey, reply: &mut Reply<'_>) {
    let (key, live) = (ctx.key(args.get(1)), ctx.live);
    let Ok(text) = lookup::text(lookup::read(ctx, key)) else {
        return reply.error(lookup::WRONG_KIND);
    };
    reply.array(survey.count);
    with_bytes(text, |bytes| {
        let mut operations = Operations::new(args);
        while let Ok(Some(operation)) = operations.next(live, reply) {
            reply.integer(operation.encoding.get(bytes, operation.offset));
        }
    });
}

fn write(ctx: &mut Ctx<'_>, args: Args<'_>, survey: &Survey, reply: &mut Reply<'_>) {
    let (db, key, live) = (ctx.db(), ctx.key(args.get(1)), ctx.live);
    let before = match lookup::text(lookup::write(ctx, key)) {
        Ok(text) => text.map_or(0, store::Text::len),
        Err(lookup::WrongKind) => return reply.error(lookup::WRONG_KIND),
    };
    reply.array(survey.count);
    let grows = survey.bytes > before;
    let changes = ctx.store.edit_text(db, key, survey.bytes.max(before), |bytes| {
        let (mut operations, mut changes) = (Operations::new(args), 0);
        while let Ok(Some(operation)) = operations.next(live, reply) {
            changes += u64::from(carry_out(operation, bytes, grows, reply));
        }
        changes
    });
    if changes > 0 {
        ctx.changed(changes);
        ctx.notify(Events::STRING, "setbit", key.bytes);
    }
}

/// Replies to one operation; whether it is a change: what is written to a string that has grown is one,
/// whatever it is.
fn carry_out(operation: Operation, bytes: &mut [u8], grows: bool, reply: &mut Reply<'_>) -> bool {
    let Operation { deed, encoding, offset, overflow } = operation;
    let old = encoding.get(bytes, offset);
    let (wanted, tells_old) = match deed {
        Deed::Get => {
            reply.integer(old);
            return false;
        }
        Deed::Set(value) => (encoding.widened(value), true),
        Deed::Increment(by) => (i128::from(old) + i128::from(by), false),
    };
    let Some(new) = encoding.fitted(wanted, overflow) else {
        reply.null();
        return false;
    };
    encoding.put(bytes, offset, new);
    reply.integer(if tells_old { old } else { new });
    grows || old != new
}
