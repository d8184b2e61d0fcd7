//! DEBUG POPULATE: many keys at once. Every shard makes those that are its own.

use super::part;
use super::small::all_ok;
use crate::command::{Command, Everywhere, Go, Lock, Run};
use crate::context::Args;
use crate::home::{Call, Home, House};
use resp::Reply;
use store::Expiry;

pub(super) static POPULATE: Command = part("POPULATE", Run::Everywhere(&POPULATING)).arity(-3);

static POPULATING: Everywhere =
    Everywhere { lock: Lock::Keyspace, prepare: Some(check), part: populate, fold: all_ok };

const NOT_POSITIVE: &str = "ERR value is out of range, must be positive";

fn check(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Go {
    let positive = |index: usize| resp::parse_i64(args.get(index)).is_some_and(|number| number >= 0);
    let longest = home.house.settings().live.proto_max_bulk_len;
    if args.len() > 5 {
        crate::help::refuse("DEBUG", args, reply);
    } else if !positive(2) || args.len() == 5 && !positive(4) {
        reply.error(NOT_POSITIVE);
    } else if args.len() == 5 && number(args, 4) > longest {
        reply.error("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    } else {
        return Go::On;
    }
    Go::Answered
}

fn number(args: Args<'_>, index: usize) -> u64 {
    resp::parse_i64(args.get(index)).unwrap_or(0) as u64
}

/// Keys `prefix:0` and on, with values `value:0` and on, filled up with zero bytes or cut to a size. Keys
/// that are there stay as they are.
fn populate(house: &mut dyn House, call: &Call, args: Args<'_>, _: &mut Vec<u8>) {
    let (shard, shards) = (house.shard(), house.shards());
    let prefix: &[u8] = if args.len() > 3 { args.get(3) } else { b"key" };
    let size = number(args, 4) as usize;
    let mut ctx = house.ctx(call.caller);
    let (db, now) = (ctx.db(), ctx.now);
    let (mut name, mut value) = ([prefix, b":"].concat(), Vec::new());
    let name_bytes = name.len();
    for index in 0..number(args, 2) {
        let digits = resp::IntegerText::new(index as i64);
        name.truncate(name_bytes);
        name.extend_from_slice(digits.as_bytes());
        if spec::owner_of(spec::slot_of(&name), shards) != shard {
            continue;
        }
        value.clear();
        value.extend_from_slice(b"value:");
        value.extend_from_slice(digits.as_bytes());
        if size > 0 {
            value.resize(size, 0);
        }
        let key = ctx.key(&name);
        if ctx.store.find_untouched(db, key, now).is_none() {
            ctx.store.set_bytes(db, key, &value, Expiry::None);
            ctx.changed(1);
        }
    }
}
