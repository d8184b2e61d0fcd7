//! HSCAN: all fields in steps.

use super::READS;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::element::{self, Scan};
use crate::lookup;
use resp::{Output, Reply};
use spec::{Argument, ArgumentKind, Flags, Group};

pub(super) static HSCAN: Command = Command::new("HSCAN", Group::Hash, Run::Local(hscan))
    .arity(-3)
    .flags(Flags::READONLY)
    .keys(READS)
    .summary("2.8.0", "Iterates over fields and values of a hash.")
    .complexity(
        "O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to \
         return back to 0. N is the number of elements inside the collection.",
    )
    .tips(&["nondeterministic_output"])
    .arguments(&[
        Argument::key(),
        Argument::new("cursor", ArgumentKind::Integer),
        Argument::new("pattern", ArgumentKind::Pattern).token("MATCH").optional(),
        Argument::new("count", ArgumentKind::Integer).token("COUNT").optional(),
    ]);

fn hscan(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(scan) = Scan::read(args, reply) else { return };
    let key = ctx.key(args.get(1));
    let Ok(hash) = lookup::hash(ctx, key) else { return reply.error(lookup::WRONG_KIND) };
    let (mut elements, mut found) = (Output::default(), 0);
    let mut list = Reply::new(&mut elements, reply.version());
    let next = hash.map_or(0, |hash| {
        hash.scan(scan.cursor, scan.count, &mut |field, value| {
            if scan.lets_through(field) {
                lookup::bulk(field, &mut list);
                lookup::bulk(value, &mut list);
                found += 2;
            }
        })
    });
    element::scanned(next, found, &elements, reply);
}
