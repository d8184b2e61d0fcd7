//! Whole databases: their size, emptied, exchanged.

use crate::command::{Command, Everywhere, Go, Lock, Run};
use crate::context::{Args, Ctx};
use crate::home::{After, Call, Home, House};
use crate::number;
use resp::Reply;
use spec::{Argument, ArgumentKind, Categories, Flags, Group};

pub(super) static DBSIZE: Command = Command::new(
    "DBSIZE",
    Group::Server,
    Run::Everywhere(&Everywhere { lock: Lock::Nothing, prepare: None, part: size, fold: fold_size }),
)
.flags(Flags::READONLY.with(Flags::FAST))
.categories(Categories::KEYSPACE)
.summary("1.0.0", "Returns the number of keys in the database.")
.tips(&["request_policy:all_shards", "response_policy:agg_sum"]);

const ALL_SUCCEED: &[&str] = &["request_policy:all_shards", "response_policy:all_succeeded"];

const HOW: &[Argument] = &[Argument::one_of(
    "flush-type",
    &[Argument::word("async", "ASYNC").since("4.0.0"), Argument::word("sync", "SYNC").since("6.2.0")],
)
.optional()];

pub(super) static FLUSHALL: Command = Command::new(
    "FLUSHALL",
    Group::Server,
    Run::Everywhere(&Everywhere {
        lock: Lock::Keyspace,
        prepare: Some(prepare_flush),
        part: flush_all,
        fold: fold_ok,
    }),
)
.arity(-1)
.flags(Flags::WRITE)
.categories(Categories::KEYSPACE.with(Categories::DANGEROUS))
.summary("1.0.0", "Removes all keys from all databases.")
.complexity("O(N) where N is the total number of keys in all databases")
.tips(ALL_SUCCEED)
.arguments(HOW);

pub(super) static FLUSHDB: Command = Command::new(
    "FLUSHDB",
    Group::Server,
    Run::Everywhere(&Everywhere {
        lock: Lock::Keyspace,
        prepare: Some(prepare_flush),
        part: flush_one,
        fold: fold_ok,
    }),
)
.arity(-1)
.flags(Flags::WRITE)
.categories(Categories::KEYSPACE.with(Categories::DANGEROUS))
.summary("1.0.0", "Remove all keys from the current database.")
.complexity("O(N) where N is the number of keys in the selected database")
.tips(ALL_SUCCEED)
.arguments(HOW);

pub(super) static SWAPDB: Command = Command::new(
    "SWAPDB",
    Group::Server,
    Run::Everywhere(&Everywhere {
        lock: Lock::Keyspace,
        prepare: Some(prepare_swap),
        part: swap,
        fold: fold_ok,
    }),
)
.arity(3)
.flags(Flags::WRITE.with(Flags::FAST))
.categories(Categories::KEYSPACE.with(Categories::DANGEROUS))
.summary("4.0.0", "Swaps two Redis databases.")
.complexity("O(N) where N is the count of clients watching or blocking on keys from both databases.")
.arguments(&[Argument::new("index1", ArgumentKind::Integer), Argument::new("index2", ArgumentKind::Integer)]);

fn fold_ok(_: &mut Home<'_>, _: Args<'_>, _: &[&[u8]], reply: &mut Reply<'_>) -> After {
    reply.ok();
    After::Done
}

/// A part is the number of keys, eight bytes.
fn size(house: &mut dyn House, call: &Call, _: Args<'_>, out: &mut Vec<u8>) {
    let ctx = house.ctx(call.caller);
    out.extend_from_slice(&(ctx.store.len(ctx.db()) as u64).to_le_bytes());
}

fn fold_size(_: &mut Home<'_>, _: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    let number = |part: &&[u8]| part.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    reply.integer(parts.iter().map(number).sum::<u64>() as i64);
    After::Done
}

/// ASYNC and SYNC are the same here: the keys are gone at once, their memory follows in slices.
fn prepare_flush(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Go {
    match args.len() {
        1 => Go::On,
        2 if args.is(1, "ASYNC") || args.is(1, "SYNC") => Go::On,
        _ => {
            reply.error(number::SYNTAX);
            Go::Answered
        }
    }
}

fn flush_all(house: &mut dyn House, call: &Call, _: Args<'_>, _: &mut Vec<u8>) {
    let databases = house.store().databases();
    (0..databases).for_each(|db| flush(house, call, db));
}

fn flush_one(house: &mut dyn House, call: &Call, _: Args<'_>, _: &mut Vec<u8>) {
    flush(house, call, usize::from(call.caller.db));
}

fn flush(house: &mut dyn House, call: &Call, db: usize) {
    let mut ctx = house.ctx(call.caller);
    ctx.changed(ctx.store.len(db) as u64);
    ctx.store.flush(db);
}

fn prepare_swap(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Go {
    match databases(args, home.house.store().databases()) {
        Ok(_) => Go::On,
        Err(refusal) => {
            reply.error(refusal);
            Go::Answered
        }
    }
}

/// The two databases to exchange. Both are numbers before either is looked up.
fn databases(args: Args<'_>, count: usize) -> Result<(usize, usize), &'static str> {
    let number = |index: usize, refusal| {
        let number = resp::parse_i64(args.get(index)).and_then(|number| i32::try_from(number).ok());
        number.ok_or(refusal)
    };
    let first = number(1, "ERR invalid first DB index")?;
    let second = number(2, "ERR invalid second DB index")?;
    let known = |number: i32| usize::try_from(number).ok().filter(|db| *db < count).ok_or(number::NO_SUCH_DB);
    Ok((known(first)?, known(second)?))
}

fn swap(house: &mut dyn House, call: &Call, args: Args<'_>, _: &mut Vec<u8>) {
    let mut ctx = house.ctx(call.caller);
    let (first, second) = databases(args, ctx.store.databases()).expect("the arguments were checked at home");
    let Ctx { store, watched, now, .. } = &mut ctx;
    // A watched key that is in neither has not changed.
    watched.touch_where(|db, key| {
        let swapped = usize::from(db) == first || usize::from(db) == second;
        swapped && [first, second].iter().any(|db| store.find_untouched(*db, key, *now).is_some())
    });
    ctx.store.swap(first, second);
    // One change, however many shards carry it out.
    if ctx.seat.shard == 0 {
        ctx.changed(1);
    }
}
