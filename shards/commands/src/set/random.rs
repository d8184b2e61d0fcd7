//! Members drawn from a set, to be looked at (SRANDMEMBER) or taken (SPOP).

use super::READS;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx, Random};
use crate::element::{Draw, Sampler};
use crate::{lookup, number};
use ::store::SetRef;
use resp::Reply;
use spec::setting::Events;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use std::collections::BTreeSet;

pub(super) static SPOP: Command = Command::new("SPOP", Group::Set, Run::Local(spop))
    .arity(-2)
    .flags(Flags::WRITE.with(Flags::FAST))
    .keys(&[Keys::one(Access::RW.with(Access::ACCESS).with(Access::DELETE))])
    .summary(
        "1.0.0",
        "Returns one or more random members from a set after removing them. Deletes the set if the last member \
         was popped.",
    )
    .complexity("Without the count argument O(1), otherwise O(N) where N is the value of the passed count.")
    .tips(&["nondeterministic_output"])
    .arguments(&[Argument::key(), Argument::new("count", ArgumentKind::Integer).since("3.2.0").optional()]);

pub(super) static SRANDMEMBER: Command = Command::new("SRANDMEMBER", Group::Set, Run::Local(srandmember))
    .arity(-2)
    .flags(Flags::READONLY)
    .keys(READS)
    .summary("1.0.0", "Get one or multiple random members from a set")
    .complexity(
        "Without the count argument O(1), otherwise O(N) where N is the absolute value of the passed count.",
    )
    .tips(&["nondeterministic_output"])
    .arguments(&[Argument::key(), Argument::new("count", ArgumentKind::Integer).since("2.6.0").optional()]);

fn spop(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let wanted = match args.len() {
        2 => None,
        3 => match number::integer(args.get(2), reply) {
            None => return,
            Some(count) if count < 0 => return reply.error("ERR value is out of range, must be positive"),
            Some(count) => Some(count as u64),
        },
        _ => return reply.error(number::SYNTAX),
    };
    let (db, key, mut random) = (ctx.db(), ctx.key(args.get(1)), *ctx.random);
    let (popped, gone) = {
        let Ok(set) = ctx.store.set_mut(db, key, ctx.now) else { return reply.error(lookup::WRONG_KIND) };
        let Some(mut set) = set else {
            return if wanted.is_some() { reply.set(0) } else { reply.null() };
        };
        let total = set.len() as u64;
        let count = wanted.unwrap_or(1).min(total);
        if wanted.is_some() {
            reply.set(count as usize);
        }
        if count == total {
            // All of them: they need not be drawn, and the key goes as a whole below.
            set.as_ref().each(&mut |member| lookup::bulk(member, reply));
        } else {
            for _ in 0..count {
                set.pop(&mut || random.draw(), &mut |member| lookup::bulk(member, reply));
            }
        }
        (count, count == total)
    };
    *ctx.random = random;
    if gone {
        ctx.store.remove(db, key, ctx.now);
    }
    ctx.changed(popped);
    if popped > 0 {
        ctx.notify(Events::SET, "spop", key.bytes);
    }
    if gone {
        ctx.notify(Events::GENERIC, "del", key.bytes);
    }
}

fn srandmember(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    if args.len() > 3 {
        return reply.error(number::SYNTAX);
    }
    let draw = match args.len() {
        2 => None,
        _ => match Draw::read(args.get(2), false, reply) {
            None => return,
            draw => draw,
        },
    };
    let (key, mut random) = (ctx.key(args.get(1)), *ctx.random);
    let Ok(set) = lookup::set(ctx, key) else { return reply.error(lookup::WRONG_KIND) };
    match (set, draw) {
        (None, None) => reply.null(),
        (None, Some(_)) => reply.array(0),
        (Some(set), None) => match set.random(&mut || random.draw()) {
            Some(member) => lookup::bulk(member, reply),
            None => reply.null(),
        },
        (Some(set), Some(draw)) => draw_many(set, draw, &mut random, reply),
    }
    *ctx.random = random;
}

fn draw_many(set: SetRef<'_>, draw: Draw, random: &mut Random, reply: &mut Reply<'_>) {
    let total = set.len() as u64;
    match draw {
        Draw::Repeated(count) => {
            reply.array(count as usize);
            for _ in 0..count {
                let member = set.random(&mut || random.draw()).expect("no set is empty");
                lookup::bulk(member, reply);
            }
        }
        // Few of many are drawn one by one, and again where one comes twice.
        Draw::Distinct(count) if count.saturating_mul(3) < total => {
            reply.array(count as usize);
            let mut drawn = BTreeSet::new();
            while drawn.len() < count as usize {
                let member = set.random(&mut || random.draw()).expect("no set is empty");
                if drawn.insert(member.to_vec()) {
                    lookup::bulk(member, reply);
                }
            }
        }
        Draw::Distinct(count) => {
            reply.array(count.min(total) as usize);
            let mut sampler = Sampler::new(count, total);
            set.each(&mut |member| {
                if sampler.draws(random) {
                    lookup::bulk(member, reply);
                }
            });
        }
    }
}
