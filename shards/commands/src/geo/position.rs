//! What is known of single places: GEOPOS, GEODIST and GEOHASH.

use super::UNIT;
use super::sphere::Place;
use super::{distance, unit};
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::number;
use crate::sorted_set::read_or_refuse;
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(super) static GEOPOS: Command = Command::new("GEOPOS", Group::Geo, Run::Local(geopos))
    .arity(-2)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("3.2.0", "Returns the longitude and latitude of members from a geospatial index.")
    .complexity("O(N) where N is the number of members requested.")
    .arguments(&[Argument::key(), Argument::new("member", ArgumentKind::String).multiple()]);

pub(super) static GEODIST: Command = Command::new("GEODIST", Group::Geo, Run::Local(geodist))
    .arity(-4)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("3.2.0", "Returns the distance between two members of a geospatial index.")
    .complexity("O(log(N))")
    .arguments(&[
        Argument::key(),
        Argument::new("member1", ArgumentKind::String),
        Argument::new("member2", ArgumentKind::String),
        UNIT.optional(),
    ]);

pub(super) static GEOHASH: Command = Command::new("GEOHASH", Group::Geo, Run::Local(geohash))
    .arity(-2)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("3.2.0", "Returns members from a geospatial index as geohash strings.")
    .complexity(
        "O(log(N)) for each member requested, where N is the number of elements in the sorted \
         set.",
    )
    .arguments(&[Argument::key(), Argument::new("member", ArgumentKind::String).multiple()]);

fn geopos(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    reply.array(args.len() - 2);
    for member in args.from(2) {
        match set.and_then(|set| set.score(member)) {
            None => reply.null_array(),
            Some(score) => coordinates(Place::of_score(score), reply),
        }
    }
}

/// Replies with a place: longitude, then latitude.
pub(super) fn coordinates(place: Place, reply: &mut Reply<'_>) {
    reply.array(2);
    reply.human_double(place.longitude);
    reply.human_double(place.latitude);
}

fn geodist(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let metres = match args.len() {
        4 => Some(1.0),
        5 => unit(args.get(4), reply),
        _ => return reply.error(number::SYNTAX),
    };
    let Some(metres) = metres else { return };
    let key = ctx.key(args.get(1));
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    let place = |member| set.and_then(|set| set.score(member)).map(Place::of_score);
    match place(args.get(2)).zip(place(args.get(3))) {
        Some((from, to)) => distance(from.distance(to), metres, reply),
        None => reply.null(),
    }
}

fn geohash(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = ctx.key(args.get(1));
    let Some(set) = read_or_refuse(ctx, key, reply) else { return };
    reply.array(args.len() - 2);
    for member in args.from(2) {
        match set.and_then(|set| set.score(member)) {
            None => reply.null(),
            Some(score) => reply.bulk(&Place::of_score(score).text()),
        }
    }
}
