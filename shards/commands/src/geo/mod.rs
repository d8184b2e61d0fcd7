//! Commands on places: members of a sorted set whose scores are positions on the globe. They do not know
//! how entries are kept.

mod add;
mod area;
mod position;
mod request;
mod search;
mod sphere;
#[cfg(test)]
mod tests;

use crate::command::Command;
use crate::context::Args;
use resp::Reply;
use spec::Argument;
use sphere::{LATITUDE_MAX, LONGITUDE_MAX, Place};

/// All of them.
pub(crate) static ALL: &[&Command] = &[
    &add::GEOADD,
    &position::GEODIST,
    &position::GEOHASH,
    &position::GEOPOS,
    &search::GEORADIUS,
    &search::GEORADIUSBYMEMBER,
    &search::GEORADIUSBYMEMBER_RO,
    &search::GEORADIUS_RO,
    &search::GEOSEARCH,
    &search::GEOSEARCHSTORE,
];

/// The unit of a distance.
const UNIT: Argument = Argument::one_of(
    "unit",
    &[
        Argument::word("m", "M"),
        Argument::word("km", "KM"),
        Argument::word("ft", "FT"),
        Argument::word("mi", "MI"),
    ],
);

/// A longitude and a latitude, the first being argument `at`; `None` once they are refused.
fn place(args: Args<'_>, at: usize, reply: &mut Reply<'_>) -> Option<Place> {
    let numbers = resp::parse_f64(args.get(at)).zip(resp::parse_f64(args.get(at + 1)));
    let Some((longitude, latitude)) = numbers else {
        reply.error(crate::sorted_set::NOT_A_FLOAT);
        return None;
    };
    if longitude.abs() > LONGITUDE_MAX || latitude.abs() > LATITUDE_MAX {
        reply.error_fmt(format_args!("ERR invalid longitude,latitude pair {longitude:.6},{latitude:.6}"));
        return None;
    }
    Some(Place { longitude, latitude })
}

/// Metres in a unit of length; `None` once it is refused.
fn unit(word: &[u8], reply: &mut Reply<'_>) -> Option<f64> {
    let metres = match word {
        word if word.eq_ignore_ascii_case(b"m") => 1.0,
        word if word.eq_ignore_ascii_case(b"km") => 1000.0,
        word if word.eq_ignore_ascii_case(b"ft") => 0.3048,
        word if word.eq_ignore_ascii_case(b"mi") => 1609.34,
        _ => {
            reply.error("ERR unsupported unit provided. please use M, KM, FT, MI");
            return None;
        }
    };
    Some(metres)
}

/// Replies with a distance in metres, in a unit.
fn distance(metres: f64, unit: f64, reply: &mut Reply<'_>) {
    reply.bulk_text(&format!("{:.4}", metres / unit));
}
