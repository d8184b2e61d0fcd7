//! HRANDFIELD: fields drawn from a hash.

use super::READS;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx, Random};
use crate::element::{Draw, Sampler};
use crate::{lookup, number};
use resp::{Reply, Version};
use spec::{Argument, ArgumentKind, Flags, Group};
use std::collections::BTreeSet;
use store::{HashRef, Text};

pub(super) static HRANDFIELD: Command = Command::new("HRANDFIELD", Group::Hash, Run::Local(hrandfield))
    .arity(-2)
    .flags(Flags::READONLY)
    .keys(READS)
    .summary("6.2.0", "Returns one or more random fields from a hash.")
    .complexity("O(N) where N is the number of fields returned")
    .tips(&["nondeterministic_output"])
    .arguments(&[
        Argument::key(),
        Argument::block(
            "options",
            &[
                Argument::new("count", ArgumentKind::Integer),
                Argument::word("withvalues", "WITHVALUES").optional(),
            ],
        )
        .optional(),
    ]);

fn hrandfield(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    // The generator is a word: the hash borrows the rest.
    let mut random = *ctx.random;
    if args.len() == 2 {
        match lookup::hash(ctx, key) {
            Ok(hash) => match hash.and_then(|hash| hash.random(&mut || random.draw())) {
                Some((field, _)) => lookup::bulk(field, reply),
                None => reply.null(),
            },
            Err(lookup::WrongKind) => reply.error(lookup::WRONG_KIND),
        }
    } else {
        let with_values = args.len() == 4 && args.is(3, "WITHVALUES");
        // A number that is none is told before a word that is none.
        let Some(draw) = Draw::read(args.get(2), with_values, reply) else { return };
        if args.len() > 3 && !with_values {
            return reply.error(number::SYNTAX);
        }
        match lookup::hash(ctx, key) {
            Ok(None) => reply.array(0),
            Ok(Some(hash)) => answer(hash, draw, with_values, &mut random, reply),
            Err(lookup::WrongKind) => return reply.error(lookup::WRONG_KIND),
        }
    }
    *ctx.random = random;
}

fn answer(hash: HashRef<'_>, draw: Draw, with_values: bool, random: &mut Random, reply: &mut Reply<'_>) {
    let total = hash.len() as u64;
    let count = match draw {
        Draw::Distinct(count) => count.min(total),
        Draw::Repeated(count) if total > 0 => count,
        Draw::Repeated(_) => 0,
    };
    let pairs = with_values && reply.version() == Version::Resp3;
    let items = if with_values && !pairs { 2 * count } else { count };
    reply.array(items as usize);
    let mut show = |(field, value): (Text<'_>, Text<'_>)| {
        if pairs {
            reply.array(2);
        }
        lookup::bulk(field, reply);
        if with_values {
            lookup::bulk(value, reply);
        }
    };
    match draw {
        Draw::Repeated(_) => {
            for _ in 0..count {
                hash.random(&mut || random.draw()).into_iter().for_each(&mut show);
            }
        }
        // Few of many are drawn one by one, and again where one comes twice.
        Draw::Distinct(_) if count * 3 < total => {
            let mut drawn = BTreeSet::new();
            while drawn.len() < count as usize {
                let Some((field, value)) = hash.random(&mut || random.draw()) else { break };
                if drawn.insert(field.to_vec()) {
                    show((field, value));
                }
            }
        }
        Draw::Distinct(_) => {
            let mut sampler = Sampler::new(count, total);
            hash.each(&mut |field, value| {
                if sampler.draws(random) {
                    show((field, value));
                }
            });
        }
    }
}
