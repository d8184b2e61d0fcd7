//! DEBUG HTSTATS: the shape of the key tables, shard by shard.

use super::object::NO_SUCH_KEY;
use super::part;
use crate::command::{Command, Everywhere, Go, Lock, Run};
use crate::context::{Args, Ctx};
use crate::home::{After, Call, Home, House};
use crate::number;
use resp::Reply;
use spec::{Access, Keys};
use std::fmt::Write;
use store::TableStats;

pub(super) static HTSTATS: Command = part("HTSTATS", Run::Everywhere(&LOOKING)).arity(-3);
pub(super) static HTSTATS_KEY: Command =
    part("HTSTATS-KEY", Run::Local(key_stats)).arity(-3).keys(&[Keys::at(2, Access::RO)]);

static LOOKING: Everywhere = Everywhere { lock: Lock::Nothing, prepare: Some(check), part: look, fold };

/// A database that there is, in the words of this command.
fn check(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Go {
    if args.len() > 4 || args.len() == 4 && !args.is(3, "full") {
        crate::help::refuse("DEBUG", args, reply);
        return Go::Answered;
    }
    let Some(db) = number::integer(args.get(2), reply) else { return Go::Answered };
    if usize::try_from(db).is_ok_and(|db| db < home.house.store().databases()) {
        return Go::On;
    }
    reply.error("ERR Out of range database");
    Go::Answered
}

fn look(house: &mut dyn House, _: &Call, args: Args<'_>, out: &mut Vec<u8>) {
    let db = resp::parse_i64(args.get(2)).and_then(|db| usize::try_from(db).ok());
    let db = db.expect("the database was checked at home");
    let shard = house.shard();
    let store = house.store();
    let stats = store.table_stats(db);
    out.extend_from_slice(shape(shard, &stats, store.volatile(db), args.len() == 4).as_bytes());
}

fn shape(shard: u16, stats: &TableStats, volatile: usize, full: bool) -> String {
    let mut text = format!(
        "Hash table of shard {shard} stats (main hash table):\n table size: {}\n number of elements: {}\n \
         elements that expire: {volatile}\n segments: {}\n fullest segment: {}\n hash bits used: {}\n",
        stats.fill.iter().sum::<u64>() * (stats.fill.len() as u64 - 1),
        stats.keys,
        stats.segments,
        stats.segment_keys_max,
        stats.depth_max,
    );
    if full {
        text.push_str(" Elements by cache lines that a look-up reads:\n");
        distribution(&stats.probes, &mut text);
        text.push_str(" Buckets by elements in them:\n");
        distribution(&stats.fill, &mut text);
    }
    text
}

fn distribution(counts: &[u64], text: &mut String) {
    let all = counts.iter().sum::<u64>().max(1) as f64;
    for (index, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "   {}: {count} ({:.2}%)", index, *count as f64 * 100.0 / all);
    }
}

fn fold(_: &mut Home<'_>, _: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    reply.verbatim("txt", &[b"[Dictionary HT]\n".as_slice(), &parts.concat()].concat());
    After::Done
}

/// No value is kept in a hash table yet.
fn key_stats(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let (key, db, now) = (ctx.key(args.get(2)), ctx.db(), ctx.now);
    match ctx.store.find_untouched(db, key, now) {
        None => reply.error(NO_SUCH_KEY),
        Some(_) => {
            reply.error("ERR The value stored at the specified key is not represented using an hash table");
        }
    }
}
