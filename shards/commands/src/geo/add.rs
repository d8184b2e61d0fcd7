//! GEOADD: members get places.

use super::place;
use super::sphere::Place;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::number;
use crate::sorted_set::{AddOptions, add_pairs};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static GEOADD: Command = Command::new("GEOADD", Group::Geo, Run::Local(geoadd))
    .arity(-5)
    .flags(Flags::WRITE.with(Flags::DENYOOM))
    .keys(&[Keys::one(Access::RW.with(Access::UPDATE))])
    .summary(
        "3.2.0",
        "Adds one or more members to a geospatial index. The key is created if it doesn't exist.",
    )
    .complexity("O(log(N)) for each item added, where N is the number of elements in the sorted set.")
    .arguments(&[
        Argument::key(),
        Argument::one_of("condition", &[Argument::word("nx", "NX"), Argument::word("xx", "XX")])
            .since("6.2.0")
            .optional(),
        Argument::word("change", "CH").since("6.2.0").optional(),
        Argument::block(
            "data",
            &[
                Argument::new("longitude", ArgumentKind::Double),
                Argument::new("latitude", ArgumentKind::Double),
                Argument::new("member", ArgumentKind::String),
            ],
        )
        .multiple(),
    ]);

fn geoadd(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (mut options, mut first) = (AddOptions::default(), 2);
    loop {
        let option = match args.get(first) {
            word if word.eq_ignore_ascii_case(b"NX") => &mut options.only_new,
            word if word.eq_ignore_ascii_case(b"XX") => &mut options.only_old,
            word if word.eq_ignore_ascii_case(b"CH") => &mut options.count_changed,
            _ => break,
        };
        *option = true;
        first += 1;
    }
    let words = args.len().saturating_sub(first);
    if words == 0 || !words.is_multiple_of(3) || options.only_new && options.only_old {
        return reply.error(number::SYNTAX);
    }
    // All places are read before anything is changed.
    let places: Option<Vec<Place>> =
        (first..args.len()).step_by(3).map(|index| place(args, index, reply)).collect();
    let Some(places) = places else { return };
    let members = args.from(first + 2).step_by(3);
    let pairs = places.iter().map(|place| place.score()).zip(members);
    add_pairs(ctx, args.get(1), options, pairs, reply);
}
