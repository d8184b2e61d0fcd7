//! Requests on a few hot keys, remembered with their replies: the history that must have one order.
//! It does not know how requests travel, nor how the order is looked for.

use crate::calls::{Call, Word};
use crate::hot::Hot;
use crate::linear::Op;
use crate::model::{Act, DATABASES, SetExpiry, Text};
use crate::plan::Plan;
use crate::random::Random;
use crate::request::{Expect, Request};
use crate::wires::Instant;
use commands::Catalog;
use resp::client::Value;

/// The hot keys and all that was done to them.
#[derive(Debug)]
pub(crate) struct History {
    pub keys: Vec<String>,
    pub ops: Vec<Op>,
    serial: u64,
    /// Which sort of command comes most.
    taste: usize,
    expiry: bool,
    /// Values that outgrow the room a run brings for its reply.
    big: bool,
    /// Only what locks the whole keyspace makes others wait.
    alone: bool,
    /// Commands on collections, if the history is about them.
    hot: Option<Hot>,
}

/// When and by whom a request is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub process: usize,
    pub db: usize,
    pub step: u64,
    pub now_ms: i64,
}

/// A name for the key at a place; keys are mostly on different shards.
fn name(place: usize, tagged: bool, plan: &Plan, random: &mut Random) -> String {
    if tagged && random.one_in(2) {
        return format!("{{tag}}{}", random.below(10_000));
    }
    let shard = if random.percent(70) { place } else { random.below(place + 1) };
    let shard = (shard % usize::from(plan.shards)) as u16;
    loop {
        let name = format!("h{}", random.below(10_000));
        if spec::owner_of(spec::slot_of(name.as_bytes()), plan.shards) == shard {
            return name;
        }
    }
}

impl History {
    pub(crate) fn new(plan: &Plan, catalog: &'static Catalog, random: &mut Random) -> History {
        let count = random.within(2, 5);
        let tagged = random.one_in(3);
        let mut keys: Vec<String> = (0..count).map(|place| name(place, tagged, plan, random)).collect();
        keys.sort();
        keys.dedup();
        let hot = plan.kinds.then(|| Hot::new(catalog, keys.len(), random));
        History {
            hot,
            keys,
            ops: Vec::new(),
            serial: 0,
            taste: random.below(6),
            expiry: plan.expiry,
            big: random.one_in(if plan.shards == 1 { 2 } else { 3 }),
            alone: plan.shards == 1,
        }
    }

    fn text(&mut self, random: &mut Random) -> Text {
        self.serial += 1;
        match random.below(8) {
            0..=3 if self.big => {
                Text::from(&format!("{}{}", self.serial, "y".repeat(random.within(300, 2_500))))
            }
            0 => Text::from(&format!("{}{}", self.serial, "x".repeat(random.within(60, 1_400)))),
            1..=3 => Text::from(&self.serial.to_string()),
            _ => Text::from(&format!("v{}", self.serial)),
        }
    }

    fn key(&self, random: &mut Random) -> usize {
        random.below(self.keys.len())
    }

    fn some_keys(&self, random: &mut Random) -> Vec<usize> {
        (0..random.within(1, self.keys.len() + 1)).map(|_| self.key(random)).collect()
    }

    /// The next request of a client.
    pub(crate) fn next(&mut self, moment: Moment, random: &mut Random) -> Request {
        if let Some(act) = self.of_collections(moment, false, random) {
            return self.record(moment, act);
        }
        let act = match (self.taste, random.below(20)) {
            (3, 0..=9) => Act::Get(self.key(random)),
            (3, 10..=13) => Act::MSet((0..self.keys.len()).map(|key| (key, self.text(random))).collect()),
            (3, _) => self.moving(random),
            (4, 0..=14) => self.several(random),
            (0, 0..=11) | (_, 0..=4) => self.single(random),
            (1, 5..=13) | (_, 5..=9) => self.several(random),
            (2, 10..=15) | (_, 10..=13) => self.moving(random),
            (_, 15) if self.expiry => self.expiring(moment.now_ms, random),
            (_, 16) if self.alone || random.one_in(3) => {
                random.pick(&[Act::FlushAll, Act::FlushDb, Act::SwapDb, Act::FlushDb]).clone()
            }
            (_, 17..=19) => Act::MGet((0..self.keys.len()).collect()),
            _ => Act::Get(self.key(random)),
        };
        self.record(moment, act)
    }

    /// Mostly a command on collections, where the history is about them.
    fn of_collections(&self, moment: Moment, inside: bool, random: &mut Random) -> Option<Act> {
        let hot = self.hot.as_ref().filter(|_| random.below(20) < 15)?;
        // What a lost transaction has taken is known to nobody.
        hot.call(moment.now_ms, random).filter(|call| !inside || !call.takes_one()).map(Act::Call)
    }

    /// A transaction of a client, with all that belongs to it.
    pub(crate) fn transaction(&mut self, moment: Moment, random: &mut Random) -> Vec<Request> {
        let ok = || Expect::Exactly(Value::Simple("OK".into()));
        let mut requests = Vec::new();
        let watches = random.one_in(4);
        if watches {
            let words = ["WATCH"].into_iter().map(str::to_owned);
            let keys = self.some_keys(random).into_iter().map(|key| self.keys[key].clone());
            requests.push(Request::new(&words.chain(keys).collect::<Vec<_>>(), ok()));
        }
        requests.push(Request::new(&["MULTI"], ok()));
        let count = *random.pick(&[0, 1, 2, 2, 3, 3, 5, 9]);
        let acts: Vec<Act> = (0..count).map(|_| self.inside(moment, random)).collect();
        let queued = || Expect::Exactly(Value::Simple("QUEUED".into()));
        requests.extend(acts.iter().map(|act| Request::new(&self.args(act), queued())));
        if random.one_in(12) {
            requests.push(Request::new(&["DISCARD"], ok()));
        } else {
            requests.push(self.record(moment, Act::Exec { acts, watches }));
        }
        requests
    }

    fn inside(&mut self, moment: Moment, random: &mut Random) -> Act {
        if let Some(act) = self.of_collections(moment, true, random) {
            return act;
        }
        match random.below(24) {
            0..=7 => self.single(random),
            8..=12 => self.several(random),
            13..=17 => self.moving(random),
            18 if self.expiry => self.expiring(moment.now_ms, random),
            19 if random.one_in(3) => random.pick(&[Act::FlushAll, Act::FlushDb, Act::SwapDb]).clone(),
            _ => Act::MGet((0..self.keys.len()).collect()),
        }
    }

    /// Looks at every key of every database, one after the other: the end of the history.
    pub(crate) fn closing(&mut self, moment: Moment, db: usize) -> Vec<Request> {
        let look = (0..self.keys.len()).map(Act::Get).chain([Act::MGet((0..self.keys.len()).collect())]);
        let mut looks: Vec<Act> = look.collect();
        if self.hot.is_some() {
            looks.extend((0..self.keys.len()).flat_map(|key| looks_at(key, self.keys.len())));
        }
        looks.into_iter().map(|act| self.record(Moment { db, ..moment }, act)).collect()
    }

    fn record(&mut self, moment: Moment, act: Act) -> Request {
        let args = self.args(&act);
        self.ops.push(Op {
            process: moment.process,
            act,
            db: moment.db,
            sent: u64::MAX,
            sent_ms: i64::MAX,
            answered: u64::MAX,
            answered_ms: i64::MAX,
            reply: None,
        });
        let expect = Expect::History(self.ops.len() - 1);
        if self.serial % 8 == 3 { Request::inline(&args, expect) } else { Request::new(&args, expect) }
    }

    /// The first byte of a request has reached a shard.
    pub(crate) fn sent(&mut self, op: usize, step: u64, oldest_ms: i64) {
        (self.ops[op].sent, self.ops[op].sent_ms) = (step, oldest_ms);
    }

    /// A reply has come, and was written at that moment.
    pub(crate) fn answered(&mut self, op: usize, written: Instant, value: Value) {
        let op = &mut self.ops[op];
        (op.answered, op.answered_ms) = (written.step, written.ms);
        op.reply = Some(op.act.plain(value, &self.keys));
    }

    fn single(&mut self, random: &mut Random) -> Act {
        let key = self.key(random);
        match random.below(9) {
            0 | 1 => Act::Get(key),
            2 => Act::GetSet(key, self.text(random)),
            3 => Act::GetDel(key),
            4 => Act::Incr(key, *random.pick(&[1, -1, 5])),
            5 => Act::Append(key, Text::from(&random.below(10).to_string())),
            6 => Act::Strlen(key),
            _ => Act::Set {
                key,
                text: self.text(random),
                only_if: *random.pick(&[None, None, Some(true), Some(false)]),
                get: random.one_in(4),
                expiry: if random.one_in(4) { SetExpiry::Keep } else { SetExpiry::None },
            },
        }
    }

    fn several(&mut self, random: &mut Random) -> Act {
        match random.below(7) {
            0 => Act::Delete(self.some_keys(random)),
            1 => Act::Count(self.some_keys(random)),
            2 => Act::MGet(self.some_keys(random)),
            3 => {
                let keys = self.some_keys(random);
                Act::MSetNx(keys.into_iter().map(|key| (key, self.text(random))).collect())
            }
            _ => {
                let keys = self.some_keys(random);
                Act::MSet(keys.into_iter().map(|key| (key, self.text(random))).collect())
            }
        }
    }

    fn moving(&mut self, random: &mut Random) -> Act {
        let (from, to) = (self.key(random), self.key(random));
        let db = random.below(DATABASES);
        match random.below(6) {
            0 | 1 => Act::Rename { from, to, only_if_free: false },
            2 => Act::Rename { from, to, only_if_free: true },
            3 => Act::Move { key: from, db },
            _ => Act::Copy { from, to, db, replace: random.one_in(2) },
        }
    }

    fn expiring(&mut self, now_ms: i64, random: &mut Random) -> Act {
        let key = self.key(random);
        let time = now_ms + random.within(0, 60) as i64 - 5;
        match random.below(5) {
            0 => Act::Persist(key),
            1 => Act::ExpireTime(key),
            2 => Act::ExpireAt(key, time),
            _ => {
                let text = self.text(random);
                Act::Set { key, text, only_if: None, get: false, expiry: SetExpiry::At(time) }
            }
        }
    }

    /// The words of a command.
    fn args(&self, act: &Act) -> Vec<Vec<u8>> {
        let key = |key: &usize| self.keys[*key].clone().into_bytes();
        let word = |word: &str| word.as_bytes().to_vec();
        let list = |name: &str, keys: &[usize]| {
            let mut args = vec![word(name)];
            args.extend(keys.iter().map(key));
            args
        };
        let pairs = |name: &str, pairs: &[(usize, Text)]| {
            let mut args = vec![word(name)];
            pairs.iter().for_each(|(at, text)| args.extend([key(at), text.to_vec()]));
            args
        };
        // One command has several names that must do the same.
        let second = self.ops.len() % 2 == 1;
        match act {
            Act::Get(at) => list("GET", &[*at]),
            Act::Strlen(at) => list("STRLEN", &[*at]),
            Act::GetDel(at) => list("GETDEL", &[*at]),
            Act::Persist(at) => list("PERSIST", &[*at]),
            Act::ExpireTime(at) => list("PEXPIRETIME", &[*at]),
            Act::GetSet(at, text) => pairs("GETSET", &[(*at, text.clone())]),
            Act::Append(at, text) => pairs("APPEND", &[(*at, text.clone())]),
            Act::Delete(keys) => list(if second { "UNLINK" } else { "DEL" }, keys),
            Act::Count(keys) => list(if second { "TOUCH" } else { "EXISTS" }, keys),
            Act::MGet(keys) => list("MGET", keys),
            Act::MSet(these) => pairs("MSET", these),
            Act::MSetNx(these) => pairs("MSETNX", these),
            Act::Rename { from, to, only_if_free } => {
                list(if *only_if_free { "RENAMENX" } else { "RENAME" }, &[*from, *to])
            }
            Act::Incr(at, delta) => vec![word("INCRBY"), key(at), word(&delta.to_string())],
            Act::Move { key: at, db } => vec![word("MOVE"), key(at), word(&db.to_string())],
            Act::ExpireAt(at, time) => vec![word("PEXPIREAT"), key(at), word(&time.to_string())],
            Act::FlushDb => vec![word("FLUSHDB")],
            Act::FlushAll => vec![word("FLUSHALL")],
            Act::SwapDb => vec![word("SWAPDB"), word("0"), word("1")],
            Act::Exec { .. } => vec![word("EXEC")],
            Act::Call(call) => {
                let words = call.words.iter().map(|word| match word {
                    Word::Key(at) => key(at),
                    Word::Text(text) => text.to_vec(),
                });
                std::iter::once(word(call.name)).chain(words).collect()
            }
            Act::Copy { from, to, db, replace } => {
                let mut args = list("COPY", &[*from, *to]);
                args.extend([word("DB"), word(&db.to_string())]);
                args.extend(replace.then(|| word("REPLACE")));
                args
            }
            Act::Set { key: at, text, only_if, get, expiry } => {
                let mut args = pairs("SET", &[(*at, text.clone())]);
                args.extend(only_if.map(|there| word(if there { "XX" } else { "NX" })));
                args.extend(get.then(|| word("GET")));
                match expiry {
                    SetExpiry::None => {}
                    SetExpiry::Keep => args.push(word("KEEPTTL")),
                    SetExpiry::At(time) => args.extend([word("PXAT"), word(&time.to_string())]),
                }
                args
            }
        }
    }
}

/// Reads all of a collection, whatever kind it is.
fn looks_at(key: usize, keys: usize) -> impl Iterator<Item = Act> {
    const LOOKS: [(&str, &[&str]); 4] = [
        ("lrange", &["0", "-1"]),
        ("smembers", &[]),
        ("hgetall", &[]),
        ("zrange", &["0", "-1", "WITHSCORES"]),
    ];
    LOOKS.into_iter().map(move |(name, rest)| {
        let rest = rest.iter().map(|word| Word::Text(Text::from(*word)));
        let words = std::iter::once(Word::Key(key)).chain(rest).collect();
        Act::Call(Call::understood(name, words, keys).expect("the model knows these"))
    })
}
