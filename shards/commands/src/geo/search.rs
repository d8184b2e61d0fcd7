//! GEOSEARCH, GEOSEARCHSTORE and the older GEORADIUS family: places in an area, told or stored wherever the
//! destination lives.

use super::UNIT;
use super::area::Area;
use super::distance;
use super::position::coordinates;
use super::request::{NO_SUCH_MEMBER, Origin, Request, Sort, Style};
use super::sphere::Place;
use crate::command::{Check, Command, DecideFn, LocalFn, Order, Piece, Plan, Run};
use crate::context::{Args, Ctx, Key};
use crate::lookup;
use crate::sorted_set::{Pool, read, read_or_refuse, store_result};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Extent, Flags, Group, Keys, Start};
use store::{Detached, Edge, Item, SortedSetRef, Text};

pub(super) static GEORADIUS: Command =
    Command::new("GEORADIUS", Group::Geo, Run::Plan(&plan(together::<0>, gather::<0>, decide::<0>)))
        .arity(-6)
        .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::MOVABLEKEYS))
        .keys(&[
            Keys::one(Access::RO.with(Access::ACCESS)),
            Keys::new(
                Start::Keyword("STORE", 6),
                Extent::Range { last: 0, step: 1, limit: 0 },
                Access::OW.with(Access::UPDATE),
            ),
            Keys::new(
                Start::Keyword("STOREDIST", 6),
                Extent::Range { last: 0, step: 1, limit: 0 },
                Access::OW.with(Access::UPDATE),
            ),
        ])
        .check(check::<0>)
        .summary(
            "3.2.0",
            "Queries a geospatial index for members within a distance from a coordinate, optionally \
         stores the result.",
        )
        .deprecated("6.2.0", "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument")
        .complexity(
            "O(N+log(M)) where N is the number of elements inside the bounding box of the circular \
         area delimited by center and radius and M is the number of items inside the index.",
        )
        .arguments(&[
            Argument::key(),
            Argument::new("longitude", ArgumentKind::Double),
            Argument::new("latitude", ArgumentKind::Double),
            Argument::new("radius", ArgumentKind::Double),
            UNIT,
            Argument::word("withcoord", "WITHCOORD").optional(),
            Argument::word("withdist", "WITHDIST").optional(),
            Argument::word("withhash", "WITHHASH").optional(),
            Argument::block(
                "count",
                &[
                    Argument::new("count", ArgumentKind::Integer).token("COUNT"),
                    Argument::word("any", "ANY").since("6.2.0").optional(),
                ],
            )
            .optional(),
            Argument::one_of("order", &[Argument::word("asc", "ASC"), Argument::word("desc", "DESC")])
                .optional(),
            Argument::key().token("STORE").optional(),
            Argument::key().token("STOREDIST").optional(),
        ]);

pub(super) static GEORADIUSBYMEMBER: Command =
    Command::new("GEORADIUSBYMEMBER", Group::Geo, Run::Plan(&plan(together::<1>, gather::<1>, decide::<1>)))
        .arity(-5)
        .flags(Flags::WRITE.with(Flags::DENYOOM).with(Flags::MOVABLEKEYS))
        .keys(&[
            Keys::one(Access::RO.with(Access::ACCESS)),
            Keys::new(
                Start::Keyword("STORE", 5),
                Extent::Range { last: 0, step: 1, limit: 0 },
                Access::OW.with(Access::UPDATE),
            ),
            Keys::new(
                Start::Keyword("STOREDIST", 5),
                Extent::Range { last: 0, step: 1, limit: 0 },
                Access::OW.with(Access::UPDATE),
            ),
        ])
        .check(check::<1>)
        .summary(
            "3.2.0",
            "Queries a geospatial index for members within a distance from a member, optionally \
         stores the result.",
        )
        .deprecated(
            "6.2.0",
            "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments",
        )
        .complexity(
            "O(N+log(M)) where N is the number of elements inside the bounding box of the circular \
         area delimited by center and radius and M is the number of items inside the index.",
        )
        .arguments(&[
            Argument::key(),
            Argument::new("member", ArgumentKind::String),
            Argument::new("radius", ArgumentKind::Double),
            UNIT,
            Argument::word("withcoord", "WITHCOORD").optional(),
            Argument::word("withdist", "WITHDIST").optional(),
            Argument::word("withhash", "WITHHASH").optional(),
            Argument::block(
                "count",
                &[
                    Argument::new("count", ArgumentKind::Integer).token("COUNT"),
                    Argument::word("any", "ANY").optional(),
                ],
            )
            .optional(),
            Argument::one_of("order", &[Argument::word("asc", "ASC"), Argument::word("desc", "DESC")])
                .optional(),
            Argument::key().token("STORE").optional(),
            Argument::key().token("STOREDIST").optional(),
        ]);

pub(super) static GEORADIUS_RO: Command = Command::new("GEORADIUS_RO", Group::Geo, Run::Local(together::<2>))
    .arity(-6)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary(
        "3.2.10",
        "Returns members from a geospatial index that are within a distance from a coordinate.",
    )
    .deprecated("6.2.0", "`GEOSEARCH` with the `BYRADIUS` argument")
    .complexity(
        "O(N+log(M)) where N is the number of elements inside the bounding box of the circular \
         area delimited by center and radius and M is the number of items inside the index.",
    )
    .arguments(&[
        Argument::key(),
        Argument::new("longitude", ArgumentKind::Double),
        Argument::new("latitude", ArgumentKind::Double),
        Argument::new("radius", ArgumentKind::Double),
        UNIT,
        Argument::word("withcoord", "WITHCOORD").optional(),
        Argument::word("withdist", "WITHDIST").optional(),
        Argument::word("withhash", "WITHHASH").optional(),
        Argument::block(
            "count",
            &[
                Argument::new("count", ArgumentKind::Integer).token("COUNT"),
                Argument::word("any", "ANY").since("6.2.0").optional(),
            ],
        )
        .optional(),
        Argument::one_of("order", &[Argument::word("asc", "ASC"), Argument::word("desc", "DESC")]).optional(),
    ]);

pub(super) static GEORADIUSBYMEMBER_RO: Command =
    Command::new("GEORADIUSBYMEMBER_RO", Group::Geo, Run::Local(together::<3>))
        .arity(-5)
        .flags(Flags::READONLY)
        .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
        .summary(
            "3.2.10",
            "Returns members from a geospatial index that are within a distance from a member.",
        )
        .deprecated("6.2.0", "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments")
        .complexity(
            "O(N+log(M)) where N is the number of elements inside the bounding box of the circular \
         area delimited by center and radius and M is the number of items inside the index.",
        )
        .arguments(&[
            Argument::key(),
            Argument::new("member", ArgumentKind::String),
            Argument::new("radius", ArgumentKind::Double),
            UNIT,
            Argument::word("withcoord", "WITHCOORD").optional(),
            Argument::word("withdist", "WITHDIST").optional(),
            Argument::word("withhash", "WITHHASH").optional(),
            Argument::block(
                "count",
                &[
                    Argument::new("count", ArgumentKind::Integer).token("COUNT"),
                    Argument::word("any", "ANY").optional(),
                ],
            )
            .optional(),
            Argument::one_of("order", &[Argument::word("asc", "ASC"), Argument::word("desc", "DESC")])
                .optional(),
        ]);

pub(super) static GEOSEARCH: Command = Command::new("GEOSEARCH", Group::Geo, Run::Local(together::<4>))
    .arity(-7)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("6.2.0", "Queries a geospatial index for members inside an area of a box or a circle.")
    .complexity(
        "O(N+log(M)) where N is the number of elements in the grid-aligned bounding box area \
         around the shape provided as the filter and M is the number of items inside the shape",
    )
    .arguments(&[
        Argument::key(),
        Argument::one_of(
            "from",
            &[
                Argument::new("member", ArgumentKind::String).token("FROMMEMBER"),
                Argument::block(
                    "longitude_latitude",
                    &[
                        Argument::new("longitude", ArgumentKind::Double),
                        Argument::new("latitude", ArgumentKind::Double),
                    ],
                )
                .token("FROMLONLAT"),
            ],
        ),
        Argument::one_of(
            "by",
            &[
                Argument::block(
                    "circle",
                    &[Argument::new("radius", ArgumentKind::Double).token("BYRADIUS"), UNIT],
                ),
                Argument::block(
                    "box",
                    &[
                        Argument::new("width", ArgumentKind::Double).token("BYBOX"),
                        Argument::new("height", ArgumentKind::Double),
                        UNIT,
                    ],
                ),
            ],
        ),
        Argument::one_of("order", &[Argument::word("asc", "ASC"), Argument::word("desc", "DESC")]).optional(),
        Argument::block(
            "count",
            &[
                Argument::new("count", ArgumentKind::Integer).token("COUNT"),
                Argument::word("any", "ANY").optional(),
            ],
        )
        .optional(),
        Argument::word("withcoord", "WITHCOORD").optional(),
        Argument::word("withdist", "WITHDIST").optional(),
        Argument::word("withhash", "WITHHASH").optional(),
    ]);

pub(super) static GEOSEARCHSTORE: Command =
    Command::new("GEOSEARCHSTORE", Group::Geo, Run::Plan(&plan(together::<5>, gather::<5>, decide::<5>)))
        .arity(-8)
        .flags(Flags::WRITE.with(Flags::DENYOOM))
        .keys(&[Keys::one(Access::OW.with(Access::UPDATE)), Keys::at(2, Access::RO.with(Access::ACCESS))])
        .check(check::<5>)
        .summary(
            "6.2.0",
            "Queries a geospatial index for members inside an area of a box or a circle, optionally \
         stores the result.",
        )
        .complexity(
            "O(N+log(M)) where N is the number of elements in the grid-aligned bounding box area \
         around the shape provided as the filter and M is the number of items inside the shape",
        )
        .arguments(&[
            Argument::new("destination", ArgumentKind::Key),
            Argument::new("source", ArgumentKind::Key),
            Argument::one_of(
                "from",
                &[
                    Argument::new("member", ArgumentKind::String).token("FROMMEMBER"),
                    Argument::block(
                        "longitude_latitude",
                        &[
                            Argument::new("longitude", ArgumentKind::Double),
                            Argument::new("latitude", ArgumentKind::Double),
                        ],
                    )
                    .token("FROMLONLAT"),
                ],
            ),
            Argument::one_of(
                "by",
                &[
                    Argument::block(
                        "circle",
                        &[Argument::new("radius", ArgumentKind::Double).token("BYRADIUS"), UNIT],
                    ),
                    Argument::block(
                        "box",
                        &[
                            Argument::new("width", ArgumentKind::Double).token("BYBOX"),
                            Argument::new("height", ArgumentKind::Double),
                            UNIT,
                        ],
                    ),
                ],
            ),
            Argument::one_of("order", &[Argument::word("asc", "ASC"), Argument::word("desc", "DESC")])
                .optional(),
            Argument::block(
                "count",
                &[
                    Argument::new("count", ArgumentKind::Integer).token("COUNT"),
                    Argument::word("any", "ANY").optional(),
                ],
            )
            .optional(),
            Argument::word("storedist", "STOREDIST").optional(),
        ]);

/// By the number that a declaration names.
const STYLES: [Style; 6] = [
    Style::Radius { stores: true },
    Style::RadiusByMember { stores: true },
    Style::Radius { stores: false },
    Style::RadiusByMember { stores: false },
    Style::Search,
    Style::SearchStore,
];

type GatherFn = fn(&mut Ctx<'_>, Args<'_>, usize, Key<'_>) -> Piece;

const fn plan(together: LocalFn, gather: GatherFn, decide: DecideFn) -> Plan {
    Plan { together, gather, decide }
}

/// A place that was found.
struct Found {
    member: Vec<u8>,
    score: f64,
    metres: f64,
}

impl Style {
    /// Which argument is the source.
    fn source(self) -> usize {
        if self == Style::SearchStore { 2 } else { 1 }
    }

    /// The event of a stored result.
    fn event(self) -> &'static str {
        if self == Style::SearchStore { "geosearchstore" } else { "georadiusstore" }
    }
}

/// The places that a request means; `None` where the member it starts from is not there.
fn search(request: &Request<'_>, set: SortedSetRef<'_>) -> Option<Vec<Found>> {
    let middle = match request.origin {
        Origin::Place(place) => place,
        Origin::Member(member) => Place::of_score(set.score(member)?),
    };
    let area = Area { middle, shape: request.shape };
    let enough = if request.any { request.count } else { usize::MAX };
    let mut found = Vec::new();
    for cell in area.cells() {
        let (low, high) = cell.scores();
        let first = set.count_before(Edge::Score { score: low, behind: false });
        for (member, score) in set.walk(first, true).take_while(|(_, score)| *score < high) {
            if found.len() >= enough {
                break;
            }
            if let Some(metres) = area.distance(Place::of_score(score)) {
                let member = match member {
                    Text::Bytes(bytes) => bytes.to_vec(),
                    Text::Int(value) => resp::IntegerText::new(value).as_bytes().to_vec(),
                };
                found.push(Found { member, score, metres });
            }
        }
    }
    match request.sort {
        Sort::None => {}
        Sort::Near => found.sort_by(|a, b| a.metres.total_cmp(&b.metres)),
        Sort::Far => found.sort_by(|a, b| b.metres.total_cmp(&a.metres)),
    }
    if request.count > 0 {
        found.truncate(request.count);
    }
    Some(found)
}

fn check<const STYLE: usize>(_: &Check, args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    Request::read(args, STYLES[STYLE], None, reply).is_some()
}

fn together<const STYLE: usize>(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let style = STYLES[STYLE];
    let source = ctx.key(args.get(style.source()));
    // A key of another kind is refused before the rest is looked at.
    let Some(set) = read_or_refuse(ctx, source, reply) else { return };
    let Some(request) = Request::read(args, style, set, reply) else { return };
    let Some(found) = set.map_or_else(|| Some(Vec::new()), |set| search(&request, set)) else {
        return reply.error(NO_SUCH_MEMBER);
    };
    match request.target {
        None => tell(&request, &found, reply),
        Some(target) => {
            let key = ctx.key(args.get(target.at));
            store(ctx, key, &pool_of(&request, &found), style);
            reply.integer(found.len() as i64);
        }
    }
}

fn tell(request: &Request<'_>, found: &[Found], reply: &mut Reply<'_>) {
    let more = [request.with_distance, request.with_hash, request.with_place];
    let more = more.iter().filter(|with| **with).count();
    reply.array(found.len());
    for place in found {
        if more > 0 {
            reply.array(1 + more);
        }
        reply.bulk(&place.member);
        if request.with_distance {
            distance(place.metres, request.unit, reply);
        }
        if request.with_hash {
            reply.integer(place.score as i64);
        }
        if request.with_place {
            coordinates(Place::of_score(place.score), reply);
        }
    }
}

/// What is stored: places, or their distances.
fn pool_of(request: &Request<'_>, found: &[Found]) -> Pool {
    let mut pool = Pool::default();
    let distances = request.target.is_some_and(|target| target.distances);
    for place in found {
        let score = if distances { place.metres / request.unit } else { place.score };
        pool.push(Text::Bytes(&place.member), score, 0);
    }
    pool.sort();
    pool
}

/// Stores a result; each place counts as a change.
fn store(ctx: &mut Ctx<'_>, key: Key<'_>, result: &Pool, style: Style) {
    store_result(ctx, key, result, style.event());
    ctx.changed((result.len() as u64).saturating_sub(1));
}

/// What is to be stored; `Nothing` where the member that it starts from is not there.
fn gather<const STYLE: usize>(ctx: &mut Ctx<'_>, args: Args<'_>, ordinal: usize, key: Key<'_>) -> Piece {
    let style = STYLES[STYLE];
    if ordinal + 1 != style.source() {
        return Piece::Nothing;
    }
    let request = again(args, style);
    match read(ctx, key) {
        Err(_) => Piece::WrongKind,
        Ok(None) => Piece::Value(None),
        Ok(Some(set)) => match search(&request, set) {
            None => Piece::Nothing,
            Some(found) => Piece::Value(Some(Detached::small_sorted_set(pool_of(&request, &found).iter()))),
        },
    }
}

/// A request whose arguments were checked.
fn again(args: Args<'_>, style: Style) -> Request<'_> {
    let mut unread = resp::Output::default();
    let mut unsaid = Reply::new(&mut unread, resp::Version::Resp2);
    Request::read(args, style, None, &mut unsaid).expect("the arguments were checked")
}

fn decide<const STYLE: usize>(
    _: &Check,
    args: Args<'_>,
    pieces: &mut [Piece],
    reply: &mut Reply<'_>,
) -> Option<Vec<Order>> {
    let style = STYLES[STYLE];
    let value = match pieces.get_mut(style.source() - 1) {
        Some(Piece::Value(value)) => value.take(),
        Some(Piece::WrongKind) => {
            reply.error(lookup::WRONG_KIND);
            return None;
        }
        _ => {
            reply.error(NO_SUCH_MEMBER);
            return None;
        }
    };
    let mut count = 0;
    if let Some(value) = &value {
        value.each_item(&mut |_| count += 1);
    }
    reply.integer(count);
    let mut orders: Vec<Order> = pieces.iter().map(|_| Order::Nothing).collect();
    orders[target_ordinal(args, style, pieces.len())] = Order::Act(act::<STYLE>, value);
    Some(orders)
}

/// Which of the keys is the destination: with two of them, STORE's comes before STOREDIST's.
fn target_ordinal(args: Args<'_>, style: Style, keys: usize) -> usize {
    if style == Style::SearchStore {
        return 0;
    }
    let target = again(args, style).target.expect("one key alone is on one shard");
    if keys > 2 && target.distances { 2 } else { 1 }
}

fn act<const STYLE: usize>(ctx: &mut Ctx<'_>, _: Args<'_>, key: Key<'_>, value: Option<Detached>) {
    let mut result = Pool::default();
    if let Some(value) = value {
        value.each_item(&mut |item| {
            if let Item::Scored(member, score) = item {
                result.push(member, score, 0);
            }
        });
    }
    store(ctx, key, &result, STYLES[STYLE]);
}
