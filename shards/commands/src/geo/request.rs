//! What a client asks of a search: from where, how far, and what it wants to be told. It does not know
//! what is found.

use super::area::Shape;
use super::sphere::Place;
use super::{place, unit};
use crate::context::Args;
use crate::number;
use resp::Reply;
use store::SortedSetRef;

/// What a search that begins at a member answers where it is not there.
pub(super) const NO_SUCH_MEMBER: &str = "ERR could not decode requested zset member";

/// How a command says from where and how far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    /// `key longitude latitude radius unit`; results may be stored or not.
    Radius { stores: bool },
    /// `key member radius unit`; likewise.
    RadiusByMember { stores: bool },
    /// `key` and options.
    Search,
    /// `destination key` and options.
    SearchStore,
}

/// From where.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin<'a> {
    Place(Place),
    Member(&'a [u8]),
}

/// In which order results come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    /// As they are found.
    None,
    /// The nearest first.
    Near,
    /// The farthest first.
    Far,
}

/// Where results are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// The argument that is the key.
    pub(super) at: usize,
    /// Distances are the scores.
    pub(super) distances: bool,
}

/// A search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    pub(super) origin: Origin<'a>,
    pub(super) shape: Shape,
    /// Metres in the unit of distances.
    pub(super) unit: f64,
    pub(super) with_distance: bool,
    pub(super) with_hash: bool,
    pub(super) with_place: bool,
    /// How many results at most; 0: all.
    pub(super) count: usize,
    /// Any so many will do.
    pub(super) any: bool,
    pub(super) sort: Sort,
    pub(super) target: Option<Target>,
}

/// What the options have said so far.
#[derive(Default)]
struct Said<'a, 's> {
    set: Option<SortedSetRef<'s>>,
    origin: Option<Origin<'a>>,
    shape: Option<(Shape, f64)>,
    with: [bool; 3],
    count: usize,
    any: bool,
    sort: Option<Sort>,
    store: Option<Target>,
    store_distances: Option<Target>,
    target: Option<Target>,
}

/// A length that is not negative; `None` once it is refused.
fn length(word: &[u8], not_numeric: &str, negative: &str, reply: &mut Reply<'_>) -> Option<f64> {
    let Some(length) = resp::parse_f64(word) else {
        reply.error(not_numeric);
        return None;
    };
    if length < 0.0 {
        reply.error(negative);
        return None;
    }
    Some(length)
}

/// A radius and its unit.
fn circle(args: Args<'_>, at: usize, reply: &mut Reply<'_>) -> Option<(Shape, f64)> {
    let radius = length(args.get(at), "ERR need numeric radius", "ERR radius cannot be negative", reply)?;
    let unit = unit(args.get(at + 1), reply)?;
    Some((Shape::Circle { radius: radius * unit }, unit))
}

/// A width, a height and their unit.
fn rectangle(args: Args<'_>, at: usize, reply: &mut Reply<'_>) -> Option<(Shape, f64)> {
    const NEGATIVE: &str = "ERR height or width cannot be negative";
    let number = |at, fault: &str, reply: &mut Reply<'_>| {
        let number = resp::parse_f64(args.get(at));
        if number.is_none() {
            reply.error(fault);
        }
        number
    };
    let width = number(at, "ERR need numeric width", reply)?;
    let height = number(at + 1, "ERR need numeric height", reply)?;
    if width < 0.0 || height < 0.0 {
        reply.error(NEGATIVE);
        return None;
    }
    let unit = unit(args.get(at + 2), reply)?;
    Some((Shape::Box { width: width * unit, height: height * unit }, unit))
}

impl<'a> Request<'a> {
    /// `None` once it is refused. Where the set is at hand, a member that is not in it is refused as soon
    /// as it is read, whatever else may be wrong.
    pub(super) fn read(
        args: Args<'a>,
        style: Style,
        set: Option<SortedSetRef<'_>>,
        reply: &mut Reply<'_>,
    ) -> Option<Request<'a>> {
        let mut said = Said { set, ..Said::default() };
        let first = match style {
            Style::Radius { .. } => {
                said.origin = Some(Origin::Place(place(args, 2, reply)?));
                said.shape = Some(circle(args, 4, reply)?);
                6
            }
            Style::RadiusByMember { .. } => {
                said.origin = Some(said.member(args.get(2), reply)?);
                said.shape = Some(circle(args, 3, reply)?);
                5
            }
            Style::Search => 2,
            Style::SearchStore => {
                said.target = Some(Target { at: 1, distances: false });
                3
            }
        };
        let mut index = first;
        while index < args.len() {
            index = said.option(args, index, style, reply)?;
        }
        said.finish(args, style, reply)
    }
}

impl<'a> Said<'a, '_> {
    fn member(&self, member: &'a [u8], reply: &mut Reply<'_>) -> Option<Origin<'a>> {
        if self.set.is_some_and(|set| set.score(member).is_none()) {
            reply.error(NO_SUCH_MEMBER);
            return None;
        }
        Some(Origin::Member(member))
    }

    /// Reads the option at `index`; answers where the next one is.
    fn option(&mut self, args: Args<'a>, index: usize, style: Style, reply: &mut Reply<'_>) -> Option<usize> {
        let has = |more: usize| index + more < args.len();
        let stores = matches!(style, Style::Radius { stores: true } | Style::RadiusByMember { stores: true });
        let searches = matches!(style, Style::Search | Style::SearchStore);
        let word = args.get(index).to_ascii_uppercase();
        match word.as_slice() {
            b"WITHDIST" => self.with[0] = true,
            b"WITHHASH" => self.with[1] = true,
            b"WITHCOORD" => self.with[2] = true,
            b"ANY" => self.any = true,
            b"ASC" => self.sort = Some(Sort::Near),
            b"DESC" => self.sort = Some(Sort::Far),
            b"COUNT" if has(1) => {
                let count = number::integer(args.get(index + 1), reply)?;
                if count <= 0 {
                    reply.error("ERR COUNT must be > 0");
                    return None;
                }
                self.count = usize::try_from(count).unwrap_or(usize::MAX);
                return Some(index + 2);
            }
            // Said once only: routing knows one key of each.
            b"STORE" if has(1) && stores && self.store.is_none() => {
                self.store = Some(Target { at: index + 1, distances: false });
                self.target = self.store;
                return Some(index + 2);
            }
            b"STOREDIST" if has(1) && stores && self.store_distances.is_none() => {
                self.store_distances = Some(Target { at: index + 1, distances: true });
                self.target = self.store_distances;
                return Some(index + 2);
            }
            b"STOREDIST" if style == Style::SearchStore => {
                self.target = Some(Target { at: 1, distances: true });
            }
            b"FROMMEMBER" if has(1) && searches && !matches!(self.origin, Some(Origin::Place(_))) => {
                self.origin = Some(self.member(args.get(index + 1), reply)?);
                return Some(index + 2);
            }
            b"FROMLONLAT" if has(2) && searches && !matches!(self.origin, Some(Origin::Member(_))) => {
                self.origin = Some(Origin::Place(place(args, index + 1, reply)?));
                return Some(index + 3);
            }
            b"BYRADIUS" if has(2) && searches && !matches!(self.shape, Some((Shape::Box { .. }, _))) => {
                self.shape = Some(circle(args, index + 1, reply)?);
                return Some(index + 3);
            }
            b"BYBOX" if has(3) && searches && !matches!(self.shape, Some((Shape::Circle { .. }, _))) => {
                self.shape = Some(rectangle(args, index + 1, reply)?);
                return Some(index + 4);
            }
            _ => {
                reply.error(number::SYNTAX);
                return None;
            }
        }
        Some(index + 1)
    }

    fn finish(self, args: Args<'a>, style: Style, reply: &mut Reply<'_>) -> Option<Request<'a>> {
        let name = args.text(0);
        if self.target.is_some() && self.with.contains(&true) {
            let what =
                if style == Style::SearchStore { "GEOSEARCHSTORE" } else { "STORE option in GEORADIUS" };
            reply.error_fmt(format_args!(
                "ERR {what} is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
            ));
            return None;
        }
        let Some(origin) = self.origin else {
            reply.error_fmt(format_args!(
                "ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for {name}"
            ));
            return None;
        };
        let Some((shape, unit)) = self.shape else {
            reply
                .error_fmt(format_args!("ERR exactly one of BYRADIUS and BYBOX can be specified for {name}"));
            return None;
        };
        if self.any && self.count == 0 {
            reply.error("ERR the ANY argument requires COUNT argument");
            return None;
        }
        // So many of them are the nearest ones, where not any will do.
        let unsorted = if self.count > 0 && !self.any { Sort::Near } else { Sort::None };
        Some(Request {
            origin,
            shape,
            unit,
            with_distance: self.with[0],
            with_hash: self.with[1],
            with_place: self.with[2],
            count: self.count,
            any: self.any,
            sort: self.sort.unwrap_or(unsorted),
            target: self.target,
        })
    }
}
