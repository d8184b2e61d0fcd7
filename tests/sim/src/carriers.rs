//! Clients that carry elements between collections, and clients that look whether all are there: none may
//! get lost or be in two places at once, at any moment. It does not know how requests travel.

use crate::plan::Plan;
use crate::random::Random;
use crate::request::{Expect, Kinds, Meaning, Request};
use resp::client::Value;

/// Collections between which elements are carried, on different shards.
#[derive(Clone, Default, Debug)]
pub(crate) struct Goods {
    pub count: usize,
    sets: Vec<String>,
    lists: Vec<String>,
    /// Where what several sets hold together is stored: all of it, or nothing.
    sums: Vec<String>,
    /// Hashes with fields that come and go.
    hashes: Vec<String>,
}

/// What a client does, over and over.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Carrier {
    /// Moves an element from a set to another.
    OfSets,
    /// Moves an element from an end of a list to an end of another.
    OfLists,
    /// Stores all sets together and looks at what is stored.
    Storer,
    /// Looks at all sets at one moment.
    Looker,
    /// Looks at all lists in a transaction.
    Clerk { step: usize },
    /// Gives fields to hashes, and times at which they go; removes large collections.
    Weather { serial: u64 },
}

/// What a reply has to say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Carried {
    /// Every element once.
    All,
    /// The number of elements.
    Count,
    /// The same, or 0.
    CountOrNone,
}

fn any() -> Expect {
    Expect::Kinds(Kinds::ANY)
}

fn carried(what: Carried) -> Expect {
    Expect::Values(Meaning::Carried(what))
}

/// Elements by number: some are whole numbers, and some make a collection leave its packed form.
fn element(number: usize) -> String {
    match number % 7 {
        0 => number.to_string(),
        1 if number > 100 => format!("{number}{}", "long".repeat(20)),
        _ => format!("e{number}"),
    }
}

impl Goods {
    pub(crate) fn new(plan: &Plan, mut key: impl FnMut(&str) -> String, random: &mut Random) -> Goods {
        if plan.goods == 0 {
            return Goods::default();
        }
        let mut keys = |kind: &str, count: usize| (0..count).map(|_| key(kind)).collect();
        Goods {
            count: plan.goods,
            sets: keys("S", random.within(2, 4)),
            lists: keys("L", random.within(2, 4)),
            sums: keys("T", 3),
            hashes: keys("H", 2),
        }
    }

    /// All elements in the first set and the first list.
    pub(crate) fn opening(&self) -> Vec<Request> {
        if self.count == 0 {
            return Vec::new();
        }
        let elements: Vec<String> = (0..self.count).map(element).collect();
        let all = |command: &str, key: &String| {
            let args: Vec<String> =
                [command.to_owned(), key.clone()].into_iter().chain(elements.clone()).collect();
            Request::new(&args, Expect::Exactly(Value::Integer(self.count as i64)))
        };
        vec![all("SADD", &self.sets[0]), all("RPUSH", &self.lists[0])]
    }

    /// Looks at all of it at the end.
    pub(crate) fn closing(&self) -> Vec<Request> {
        if self.count == 0 {
            return Vec::new();
        }
        let steps = 1..=self.lists.len() + 2;
        let mut requests: Vec<Request> = steps.map(|step| self.inspect(step)).collect();
        requests.push(self.over_sets(&["SUNION"], carried(Carried::All)));
        requests
    }

    /// A command over all sets.
    fn over_sets(&self, command: &[&str], expect: Expect) -> Request {
        let args: Vec<&str> = command.iter().copied().chain(self.sets.iter().map(String::as_str)).collect();
        Request::new(&args, expect)
    }

    /// A transaction that reads all lists, a step at a time from 1.
    fn inspect(&self, step: usize) -> Request {
        let simple = |text: &str| Expect::Exactly(Value::Simple(text.into()));
        match step {
            1 => Request::new(&["MULTI"], simple("OK")),
            step if step - 2 < self.lists.len() => {
                Request::new(&["LRANGE", &self.lists[step - 2], "0", "-1"], simple("QUEUED"))
            }
            _ => Request::new(&["EXEC"], carried(Carried::All)),
        }
    }

    /// Holds a reply against what must hold at every moment.
    pub(crate) fn check(&self, what: Carried, value: &Value) -> Result<(), String> {
        match what {
            Carried::All => self.all_once(value),
            Carried::Count if *value == Value::Integer(self.count as i64) => Ok(()),
            Carried::CountOrNone
                if *value == Value::Integer(self.count as i64) || *value == Value::Integer(0) =>
            {
                Ok(())
            }
            _ => Err(format!("of {} elements there were {value:?}", self.count)),
        }
    }

    fn all_once(&self, value: &Value) -> Result<(), String> {
        let mut met = Vec::new();
        names(value, &mut met);
        met.sort();
        let mut wanted: Vec<String> = (0..self.count).map(element).collect();
        wanted.sort();
        if met == wanted {
            return Ok(());
        }
        let missing: Vec<&String> = wanted.iter().filter(|name| !met.contains(name)).collect();
        let twice: Vec<&String> =
            met.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
        Err(format!("{} of {} elements: missing {missing:?}, twice {twice:?}", met.len(), self.count))
    }
}

fn names(value: &Value, met: &mut Vec<String>) {
    match value {
        Value::Array(values) | Value::Set(values) => values.iter().for_each(|value| names(value, met)),
        Value::Bulk(text) => met.push(String::from_utf8_lossy(text).into_owned()),
        other => met.push(format!("{other:?}")),
    }
}

impl Carrier {
    pub(crate) fn new(client: usize, random: &mut Random) -> Carrier {
        match (client, random.below(8)) {
            (0, _) | (_, 0) => Carrier::OfSets,
            (1, _) | (_, 1) => Carrier::OfLists,
            (2, _) | (_, 2 | 3) => Carrier::Looker,
            (3, _) | (_, 4) => Carrier::Clerk { step: 0 },
            (4, _) | (_, 7) => Carrier::Weather { serial: 0 },
            _ => Carrier::Storer,
        }
    }

    /// Its connection was lost.
    pub(crate) fn begin_anew(&mut self) {
        if let Carrier::Clerk { step } = self {
            *step = 0;
        }
    }

    /// It waits for an answer before it asks again.
    pub(crate) fn is_patient(&self) -> bool {
        matches!(self, Carrier::Clerk { .. })
    }

    /// What it sends next is queued.
    pub(crate) fn is_in_transaction(&self) -> bool {
        matches!(self, Carrier::Clerk { step } if *step > 0)
    }

    /// The next request.
    pub(crate) fn next(&mut self, goods: &Goods, random: &mut Random) -> Request {
        match self {
            Carrier::OfSets => {
                let what = element(random.below(goods.count));
                let (from, to) = (random.pick(&goods.sets), random.pick(&goods.sets));
                Request::new(&["SMOVE", from, to, &what], Expect::Kinds(Kinds::INTEGER))
            }
            Carrier::OfLists => {
                let (from, to) = (random.pick(&goods.lists), random.pick(&goods.lists));
                let kinds = Expect::Kinds(Kinds::BULK.or(Kinds::NULL));
                if random.one_in(3) {
                    return Request::new(&["RPOPLPUSH", from, to], kinds);
                }
                let ends = ["LEFT", "RIGHT"];
                Request::new(
                    &["LMOVE", from.as_str(), to.as_str(), *random.pick(&ends), *random.pick(&ends)],
                    kinds,
                )
            }
            Carrier::Storer => store(goods, random),
            Carrier::Looker => look(goods, random),
            Carrier::Clerk { step } => {
                *step += 1;
                let request = goods.inspect(*step);
                *step %= goods.lists.len() + 2;
                request
            }
            Carrier::Weather { serial } => {
                *serial += 1;
                weather(goods, *serial, random)
            }
        }
    }
}

/// Stores what all sets hold together, and treats it badly.
fn store(goods: &Goods, random: &mut Random) -> Request {
    let (sum, other) = (random.pick(&goods.sums), random.pick(&goods.sums));
    let count = goods.sets.len().to_string();
    match random.below(10) {
        0..=2 => goods.over_sets(&["SUNIONSTORE", sum], carried(Carried::Count)),
        3 | 4 => goods.over_sets(&["ZUNIONSTORE", sum, &count], carried(Carried::Count)),
        5 => Request::new(&["COPY", sum, other, "REPLACE"], any()),
        6 => Request::new(&["RENAME", sum, other], any()),
        7 => Request::new(&["UNLINK", sum], Expect::Kinds(Kinds::INTEGER)),
        8 => Request::new(&["PEXPIRE", sum, "15"], Expect::Kinds(Kinds::INTEGER)),
        // It is a set or a sorted set, or is not there.
        _ => Request::new(&["ZUNIONSTORE", sum, "1", sum], carried(Carried::CountOrNone)),
    }
}

fn look(goods: &Goods, random: &mut Random) -> Request {
    let count = goods.sets.len().to_string();
    let sum = random.pick(&goods.sums);
    match random.below(7) {
        0 => {
            let none = Expect::Exactly(Value::Integer(0));
            Request::new(&["SINTERCARD", "2", &goods.sets[0], &goods.sets[1]], none)
        }
        1 => goods.over_sets(&["ZUNION", &count], carried(Carried::All)),
        2 => Request::new(&["ZINTERCARD", "1", sum], carried(Carried::CountOrNone)),
        3 => Request::new(&["SUNION", &goods.sets[0], &goods.sets[0]], any()),
        _ => goods.over_sets(&["SUNION"], carried(Carried::All)),
    }
}

fn weather(goods: &Goods, serial: u64, random: &mut Random) -> Request {
    let hash = random.pick(&goods.hashes);
    let field = format!("f{}", random.below(60));
    match random.below(8) {
        0 | 1 => {
            let mut args = vec!["HSET".to_owned(), hash.clone()];
            (0..random.within(1, 90)).for_each(|_| {
                args.extend([format!("f{}", random.below(90)), format!("v{serial}")]);
            });
            Request::new(&args, Expect::Kinds(Kinds::INTEGER))
        }
        2..=4 => {
            let time = random.within(1, 30).to_string();
            let mut args: Vec<String> =
                ["HPEXPIRE", hash, &time, "FIELDS", "3"].into_iter().map(str::to_owned).collect();
            args.extend((0..3).map(|_| format!("f{}", random.below(90))));
            Request::new(&args, Expect::Kinds(Kinds::ARRAY))
        }
        5 => Request::new(&["UNLINK", hash], Expect::Kinds(Kinds::INTEGER)),
        6 => Request::new(&["HDEL", hash, &field], Expect::Kinds(Kinds::INTEGER)),
        _ => Request::new(&["HGET", hash, &field], Expect::Kinds(Kinds::BULK.or(Kinds::NULL))),
    }
}
