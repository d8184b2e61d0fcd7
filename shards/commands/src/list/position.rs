//! LPOS: where in a list an element is.

use super::read;
use crate::command::{Command, Run};
use crate::context::{Args, Ctx};
use crate::lookup::{WRONG_KIND, WrongKind};
use crate::number::{self, SYNTAX};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};
use store::{ListRef, Text};

pub(super) static LPOS: Command = Command::new("LPOS", Group::List, Run::Local(lpos))
    .arity(-3)
    .flags(Flags::READONLY)
    .keys(&[Keys::one(Access::RO.with(Access::ACCESS))])
    .summary("6.0.6", "Returns the index of matching elements in a list.")
    .complexity(
        "O(N) where N is the number of elements in the list, for the average case. When searching for elements \
         near the head or the tail of the list, or when the MAXLEN option is provided, the command may run in \
         constant time.",
    )
    .arguments(&[
        Argument::key(),
        Argument::new("element", ArgumentKind::String),
        Argument::new("rank", ArgumentKind::Integer).token("RANK").optional(),
        Argument::new("num-matches", ArgumentKind::Integer).token("COUNT").optional(),
        Argument::new("len", ArgumentKind::Integer).token("MAXLEN").optional(),
    ]);

const RANK_ZERO: &str = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use \
                         negative to start from the end of the list";

struct Options {
    /// Which match is the first to count; from the end and backwards where negative.
    rank: i64,
    /// How many matches, all for 0; `None`: one, and not in an array.
    count: Option<usize>,
    /// How many elements are looked at; all for 0.
    length_max: usize,
}

impl Options {
    /// `None` once they are refused.
    fn read(args: Args<'_>, reply: &mut Reply<'_>) -> Option<Options> {
        let mut options = Options { rank: 1, count: None, length_max: 0 };
        let natural = |index: usize, error: &str, reply: &mut Reply<'_>| {
            let number = resp::parse_i64(args.get(index)).and_then(|number| usize::try_from(number).ok());
            if number.is_none() {
                reply.error(error);
            }
            number
        };
        let mut at = 3;
        while at < args.len() {
            if at + 1 >= args.len() {
                reply.error(SYNTAX);
                return None;
            }
            if args.is(at, "RANK") {
                options.rank = number::negatable(args.get(at + 1), reply)?;
                if options.rank == 0 {
                    reply.error(RANK_ZERO);
                    return None;
                }
            } else if args.is(at, "COUNT") {
                options.count = Some(natural(at + 1, "ERR COUNT can't be negative", reply)?);
            } else if args.is(at, "MAXLEN") {
                options.length_max = natural(at + 1, "ERR MAXLEN can't be negative", reply)?;
            } else {
                reply.error(SYNTAX);
                return None;
            }
            at += 2;
        }
        Some(options)
    }
}

fn lpos(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(options) = Options::read(args, reply) else { return };
    let list = match read(ctx, args.get(1)) {
        Err(WrongKind) => return reply.error(WRONG_KIND),
        Ok(list) => list,
    };
    let element = Text::of(args.get(2));
    let mut places = list.map(|list| matches(list, element, &options)).into_iter().flatten();
    match options.count {
        None => match places.next() {
            Some(place) => reply.integer(place as i64),
            None => reply.null(),
        },
        Some(count) => {
            let most = if count == 0 { usize::MAX } else { count };
            let deferred = reply.defer();
            let mut found = 0;
            places.take(most).for_each(|place| {
                reply.integer(place as i64);
                found += 1;
            });
            reply.settle_array(deferred, found);
        }
    }
}

/// The indices of all matches from the first that counts on, as far as is to be looked.
fn matches<'a>(
    list: ListRef<'a>,
    element: Text<'a>,
    options: &Options,
) -> Box<dyn Iterator<Item = usize> + 'a> {
    let most = if options.length_max == 0 { usize::MAX } else { options.length_max };
    let skipped = options.rank.unsigned_abs() as usize - 1;
    let last = list.len() - 1;
    // The kinds of the two walks differ, and a search costs far more than a box.
    let walk: Box<dyn Iterator<Item = (usize, Text<'a>)> + 'a> = if options.rank > 0 {
        Box::new(list.rightward(0).enumerate())
    } else {
        Box::new(list.leftward(last).enumerate().map(move |(step, text)| (last - step, text)))
    };
    let found = walk.take(most).filter(move |(_, text)| *text == element).map(|(index, _)| index);
    Box::new(found.skip(skipped))
}
