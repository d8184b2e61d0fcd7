//! Clients with an invariant to keep or to watch: pairs written in order, groups written at once,
//! tokens that move, counters. It does not know how requests travel.

use crate::carriers::{Carrier, Goods};
use crate::plan::{Crowd, Plan};
use crate::queues::{Queuer, Queues};
use crate::random::Random;
use crate::request::{Expect, Kinds, Meaning, Request};
use crate::voices::{Square, Voice};
use crate::watchers::{Watcher, price_of};
use crate::weather::weather;
use resp::client::Value;
use std::collections::BTreeSet;

/// Keys of the invariants, spread over the shards.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// Written one after the other.
    pub pairs: Vec<[String; 2]>,
    /// Written together.
    pub groups: Vec<Vec<String>>,
    /// Where tokens move.
    pub places: Vec<String>,
    pub tokens: usize,
    pub counters: Vec<Counter>,
    /// A pair that is set one higher in transactions, and how often.
    pub wallet: [String; 2],
    pub bought: Counter,
    pub queues: Queues,
    /// Keys that are there all the time.
    pub lasting: Vec<String>,
    /// What is said, and who listens.
    pub square: Square,
    /// Elements that are carried between collections.
    pub goods: Goods,
    /// Values of many kilobytes.
    pub heavy: bool,
    /// A key here and one on the next shard, for floods.
    pub ends: [String; 2],
    /// The oldest clock of any shard when a request is made, and the newest when its reply is read.
    pub oldest_ms: i64,
    pub newest_ms: i64,
    /// What the keys hold when a reply of who pauses is read.
    pub values: Vec<String>,
}

/// What is known of a counter.
#[derive(Clone, Default, Debug)]
pub(crate) struct Counter {
    pub key: String,
    pub sent: i64,
    pub acknowledged: i64,
}

impl Stage {
    pub(crate) fn new(random: &mut Random, plan: &Plan) -> Stage {
        let (shards, heavy) = (plan.shards, plan.heavy);
        let mut serial = 0;
        // A key on a shard that is chosen, so that it does not take luck to cross a border.
        let mut key_of = |shard: u16, kind: &str| loop {
            serial += 1;
            let key = format!("{kind}{serial}");
            if spec::owner_of(spec::slot_of(key.as_bytes()), shards) == shard {
                return key;
            }
        };
        let ends = [key_of(0, "e"), key_of(1 % shards, "e")];
        let wallet = [key_of(random.below(usize::from(shards)) as u16, "m"), key_of(0, "m")];
        let mut queues = Queues::default();
        let home = random.below(usize::from(shards)) as u16;
        queues.lists.extend([key_of(home, "l"), key_of(home, "l"), key_of((home + 1) % shards, "l")]);
        queues.sets.extend((0..2).map(|_| key_of(random.below(usize::from(shards)) as u16, "z")));
        queues.line.extend((0..3).map(|place| key_of(place % shards, "line")));
        let goods_random = &mut Random::new(random.draw());
        let goods =
            Goods::new(plan, |kind| key_of(random.below(usize::from(shards)) as u16, kind), goods_random);
        let mut key =
            |random: &mut Random, kind: &str| key_of(random.below(usize::from(shards)) as u16, kind);
        Stage {
            pairs: (0..6).map(|_| [key(random, "x"), key(random, "y")]).collect(),
            groups: (0..2).map(|_| (0..random.within(2, 4)).map(|_| key(random, "g")).collect()).collect(),
            places: (0..5).map(|_| key(random, "t")).collect(),
            tokens: 3,
            counters: (0..2).map(|_| Counter { key: key(random, "n"), ..Counter::default() }).collect(),
            wallet,
            bought: Counter::default(),
            queues,
            lasting: (0..random.within(1, 40)).map(|number| format!("s{number}")).collect(),
            square: Square::default(),
            goods,
            heavy,
            ends,
            oldest_ms: 0,
            newest_ms: 0,
            values: Vec::new(),
        }
    }

    /// What is there before the roles begin.
    pub(crate) fn opening(&self) -> Vec<Request> {
        let mut args = vec!["MSET".to_owned()];
        for (number, place) in self.places.iter().take(self.tokens).enumerate() {
            args.extend([place.clone(), format!("token{number}")]);
        }
        self.lasting.iter().for_each(|key| args.extend([key.clone(), "here".into()]));
        let mut requests = vec![Request::new(&args, ok())];
        requests.extend(self.goods.opening());
        requests
    }

    /// Looks at everything at the end.
    pub(crate) fn closing(&self) -> Vec<Request> {
        let mut requests = vec![self.look_at_tokens()];
        requests.extend(self.goods.closing());
        requests.extend((0..self.groups.len()).map(|group| self.look_at_group(group)));
        let wallet = ["MGET", self.wallet[0].as_str(), self.wallet[1].as_str()];
        requests.push(Request::new(&wallet, Expect::Values(Meaning::Wallet)));
        requests.extend(self.queues.closing());
        requests.extend(self.counters.iter().enumerate().map(|(number, counter)| {
            let mut request = Request::new(&["GET", &counter.key], Expect::Values(Meaning::Total));
            request.text = format!("counter {number}: GET {}", counter.key).into();
            request
        }));
        requests
    }

    /// Every key that anybody writes to keep an invariant.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        let pairs = self.pairs.iter().flatten();
        let others = pairs.chain(self.groups.iter().flatten()).chain(&self.places);
        let others = others.chain(&self.wallet);
        others.chain(self.counters.iter().map(|counter| &counter.key)).map(String::as_str)
    }

    /// A look at all of them at one moment.
    fn look_at_all(&self, expect: Expect) -> Request {
        let args: Vec<&str> = std::iter::once("MGET").chain(self.keys()).collect();
        Request::new(&args, expect)
    }

    fn look_at_tokens(&self) -> Request {
        let mut args = vec!["MGET"];
        args.extend(self.places.iter().map(String::as_str));
        Request::new(&args, Expect::Values(Meaning::Tokens))
    }

    fn look_at_group(&self, group: usize) -> Request {
        let mut args = vec!["MGET"];
        args.extend(self.groups[group].iter().map(String::as_str));
        Request::new(&args, Expect::Values(Meaning::Group))
    }
}

fn ok() -> Expect {
    Expect::Exactly(Value::Simple("OK".into()))
}

/// Milliseconds of a pause.
const PAUSE_MS: i64 = 40;
/// Steps of who pauses: the pause, and looks.
const PAUSER_STEPS: usize = 12;

/// What a client is up to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Role {
    /// Writes the pair's first key, then its second, with growing numbers.
    Writer {
        pair: usize,
        round: i64,
        second: bool,
    },
    /// Reads the second, then the first.
    Observer {
        pair: usize,
        second: bool,
    },
    Setter {
        group: usize,
    },
    Getter {
        group: usize,
    },
    Mover,
    Counter {
        counter: usize,
        seen: i64,
    },
    /// Walks through the keyspace: keys that are there all the time must be met.
    Scanner {
        cursor: u64,
        met: BTreeSet<String>,
        waits: bool,
    },
    /// Pauses all writes, and looks whether anything is written nevertheless.
    Pauser {
        step: usize,
        until_ms: i64,
        seen: Vec<String>,
    },
    /// Asks for keys here and there in turn, so that every other command travels alone.
    Flooder {
        far: bool,
    },
    /// Watches keys, and changes others in transactions.
    Watcher(Watcher),
    /// Speaks, or listens.
    Voice(Voice),
    /// Fills queues, or waits for what they hold.
    Queuer(Queuer),
    /// Carries elements between collections, or looks at them.
    Carrier(Carrier),
    /// Looks at everything.
    Viewer,
    /// Large values, reply modes, looks at everything: no invariant, much weather.
    Weather {
        echo: u64,
    },
}

impl Role {
    /// A role for the client of that number.
    pub(crate) fn for_client(client: usize, plan: &Plan, random: &mut Random) -> Role {
        if let Some(crowd) = plan.crowd {
            return Role::in_crowd(client, crowd, random);
        }
        match client {
            _ if plan.goods > 0 && random.percent(85) => Role::Carrier(Carrier::new(client, random)),
            2.. if plan.flood => Role::Flooder { far: random.one_in(2) },
            _ if plan.flood => Role::Setter { group: client },
            2 if plan.pauses => Role::Pauser { step: 0, until_ms: 0, seen: Vec::new() },
            0 => Role::Writer { pair: 0, round: 0, second: false },
            1 => Role::Observer { pair: 0, second: true },
            2.. if plan.queues && random.percent(85) => Role::Queuer(Queuer::new(client, random)),
            _ if plan.chatter => Role::Voice(Voice::new(random)),
            _ => match random.below(15) {
                11.. => Role::Watcher(Watcher::new(random)),
                0 | 1 => Role::Setter { group: random.below(2) },
                2 | 3 => Role::Getter { group: random.below(2) },
                4 | 5 => Role::Mover,
                6 | 7 => Role::Counter { counter: random.below(2), seen: 0 },
                8 | 9 => Role::Scanner { cursor: 0, met: BTreeSet::new(), waits: false },
                _ => Role::Weather { echo: 0 },
            },
        }
    }

    fn in_crowd(client: usize, crowd: Crowd, random: &mut Random) -> Role {
        let counter = Role::Counter { counter: client % 2, seen: 0 };
        match (crowd, client) {
            (Crowd::Naps | Crowd::Counts, 0 | 1) => Role::Setter { group: client },
            (Crowd::Naps, 2 | 3) => Role::Viewer,
            (Crowd::Pauses, 0) => Role::Pauser { step: 0, until_ms: 0, seen: Vec::new() },
            (Crowd::Pauses, 1 | 2) => Role::Setter { group: client - 1 },
            (Crowd::Pauses, 3 | 4) => Role::Mover,
            (Crowd::Naps | Crowd::Counts | Crowd::Pauses, _) => counter,
            (Crowd::Posts, _) => Role::Watcher(Watcher::of_post(client % 2)),
            (Crowd::Voices, _) => Role::Voice(Voice::new(random)),
            (Crowd::Queues, _) => Role::Queuer(Queuer::in_crowd(client)),
        }
    }

    /// Its connection was lost with requests away. What is still under way there must not spoil the
    /// invariant of the next connection.
    pub(crate) fn after_loss(&mut self, pairs: usize) {
        match self {
            Role::Writer { pair, round, second } if *pair + 1 < pairs => {
                (*pair, *round, *second) = (*pair + 1, 0, false);
            }
            Role::Writer { .. } => *self = Role::Weather { echo: 0 },
            Role::Observer { second, .. } => *second = true,
            Role::Counter { seen, .. } => *seen = 0,
            Role::Pauser { step, .. } => *step = 0,
            Role::Watcher(watcher) => watcher.begin_anew(),
            // What it has sent may still come, behind what it would send now.
            Role::Queuer(Queuer::Numberer) => *self = Role::Queuer(Queuer::Popper),
            Role::Queuer(Queuer::Pusher { step, .. }) => *step = 0,
            Role::Carrier(carrier) => carrier.begin_anew(),
            Role::Scanner { cursor, met, waits } => {
                (*cursor, *waits) = (0, false);
                met.clear();
            }
            _ => {}
        }
    }

    /// Whether it needs the answer to each request before it sends the next, where requests of one
    /// connection may overlap.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self, Role::Writer { .. } | Role::Observer { .. })
    }

    /// Whether it always waits for an answer before it asks again.
    pub(crate) fn is_patient(&self) -> bool {
        match self {
            Role::Queuer(queuer) => queuer.is_patient(),
            Role::Pauser { .. } | Role::Watcher(_) | Role::Voice(Voice::Listener { .. }) => true,
            Role::Carrier(carrier) => carrier.is_patient(),
            _ => false,
        }
    }

    /// Whether what it sends next stands behind MULTI, or the like: nothing else may come between.
    pub(crate) fn is_in_transaction(&self) -> bool {
        match self {
            Role::Watcher(watcher) => watcher.is_in_transaction(),
            // With RESP2 it may say little else.
            Role::Voice(Voice::Listener { .. }) => true,
            Role::Queuer(queuer) => queuer.is_in_transaction(),
            Role::Carrier(carrier) => carrier.is_in_transaction(),
            _ => false,
        }
    }

    /// The next request.
    pub(crate) fn next(
        &mut self,
        stage: &mut Stage,
        writer: usize,
        serial: u64,
        random: &mut Random,
    ) -> Request {
        match self {
            Role::Writer { pair, round, second } => {
                let key = &stage.pairs[*pair][usize::from(*second)];
                *round += i64::from(!*second);
                *second = !*second;
                let args = ["SET", key, &round.to_string()];
                if random.one_in(3) { Request::inline(&args, ok()) } else { Request::new(&args, ok()) }
            }
            Role::Observer { pair, second } => {
                if *second {
                    *pair = writer;
                }
                let key = &stage.pairs[*pair][usize::from(*second)];
                let meaning = if *second { Meaning::Later } else { Meaning::Earlier };
                *second = !*second;
                Request::new(&["GET", key], Expect::Values(meaning))
            }
            Role::Setter { group } => set_group(&stage.groups[*group], serial, random),
            Role::Getter { group } => {
                let group = *group;
                if random.one_in(4) {
                    let command = if random.one_in(2) { "EXISTS" } else { "TOUCH" };
                    let mut args = vec![command];
                    args.extend(stage.groups[group].iter().map(String::as_str));
                    return Request::new(&args, Expect::Number(Meaning::GroupCount));
                }
                stage.look_at_group(group)
            }
            Role::Mover => {
                if random.one_in(3) {
                    return stage.look_at_tokens();
                }
                let (from, to) = (random.pick(&stage.places), random.pick(&stage.places));
                let kinds = Kinds::INTEGER.or(Kinds::ERROR);
                Request::new(&["RENAMENX", from, to], Expect::Kinds(kinds))
            }
            // Between increments it asks for what is often locked on the same shard: such a run is set
            // aside halfway, and later ones must not pass it.
            Role::Counter { .. } if random.one_in(2) => {
                let group = random.pick(&stage.groups);
                Request::new(
                    &["GET", random.pick(group).as_str()],
                    Expect::Kinds(Kinds::BULK.or(Kinds::NULL)),
                )
            }
            Role::Counter { counter, .. } => {
                let counter = &mut stage.counters[*counter];
                counter.sent += 1;
                Request::new(&["INCR", &counter.key], Expect::Number(Meaning::Counted))
            }
            Role::Scanner { waits: true, .. } => weather(0, stage.heavy, random),
            Role::Scanner { cursor, waits, .. } => {
                *waits = true;
                let count = random.within(1, 12).to_string();
                let mut args = vec!["SCAN".to_owned(), cursor.to_string(), "COUNT".to_owned(), count];
                if random.one_in(2) {
                    args.extend(["MATCH".to_owned(), "s*".to_owned()]);
                }
                Request::new(&args, Expect::Values(Meaning::Scanned))
            }
            Role::Pauser { step, until_ms, .. } => {
                *step += 1;
                if *step % PAUSER_STEPS == 1 {
                    *until_ms = stage.oldest_ms + PAUSE_MS;
                    let duration = PAUSE_MS.to_string();
                    return Request::new(
                        &["CLIENT", "PAUSE", &duration, "WRITE"],
                        Expect::Values(Meaning::Paused),
                    );
                }
                match random.below(3) {
                    0 => stage.look_at_all(Expect::Values(Meaning::Stands)),
                    _ => Request::new(&["GET", &stage.places[0]], Expect::Values(Meaning::Stands)),
                }
            }
            Role::Flooder { far } => {
                *far = !*far;
                let kinds = Kinds::NULL.or(Kinds::BULK);
                Request::new(&["GET", &stage.ends[usize::from(*far)]], Expect::Kinds(kinds))
            }
            Role::Watcher(watcher) => watcher.next(stage, serial, random),
            Role::Voice(voice) => voice.next(&mut stage.square, random),
            Role::Queuer(queuer) => queuer.next(&mut stage.queues, random),
            Role::Carrier(carrier) => carrier.next(&stage.goods, random),
            Role::Viewer => stage.look_at_all(Expect::Kinds(Kinds::ARRAY)),
            // Readers of everything make writers wait.
            Role::Weather { .. } if random.one_in(8) => stage.look_at_all(Expect::Kinds(Kinds::ARRAY)),
            Role::Weather { echo } => {
                *echo += 1;
                weather(*echo, stage.heavy, random)
            }
        }
    }

    /// Holds a reply against the invariant.
    pub(crate) fn check(
        &mut self,
        stage: &mut Stage,
        memory: &mut i64,
        meaning: Meaning,
        value: &Value,
    ) -> Result<(), String> {
        match meaning {
            Meaning::Later => *memory = number(value)?,
            Meaning::Earlier => {
                let earlier = number(value)?;
                if earlier < *memory {
                    return Err(format!(
                        "the later key of a pair was {memory}, then the earlier one {earlier}"
                    ));
                }
            }
            Meaning::Paused if *value != Value::Simple("OK".into()) => {
                return Err(format!("CLIENT PAUSE answered {value:?}"));
            }
            Meaning::Paused | Meaning::Stands => self.stands(stage, meaning)?,
            Meaning::Group => one_token(value)?,
            Meaning::GroupCount => {
                let Role::Getter { group } = self else { return Ok(()) };
                let all = stage.groups[*group].len() as i64;
                if *value != Value::Integer(all) && *value != Value::Integer(0) {
                    return Err(format!("of a group of {all} keys there were {value:?}"));
                }
            }
            Meaning::Scanned => self.scanned(stage, value)?,
            Meaning::Tokens => every_token_once(value, stage.tokens)?,
            Meaning::Counted => {
                let (Value::Integer(count), Role::Counter { counter, seen }) = (value, self) else {
                    return Err(format!("INCR answered {value:?}"));
                };
                let counter = &mut stage.counters[*counter];
                counter.acknowledged += 1;
                if *count <= *seen || *count > counter.sent {
                    return Err(format!("a counter went from {seen} to {count}, {} were sent", counter.sent));
                }
                *seen = *count;
            }
            Meaning::Wallet => {
                let (total, bought) = (price_of(value)?, &stage.bought);
                if !(bought.acknowledged..=bought.sent).contains(&total) {
                    return Err(format!("the pair ends at {total}: {bought:?}"));
                }
            }
            Meaning::Price
            | Meaning::Bought
            | Meaning::Token
            | Meaning::Looked
            | Meaning::Posts
            | Meaning::Verdict => {
                let Role::Watcher(watcher) = self else { return Ok(()) };
                watcher.check(stage, meaning, value)?;
            }
            Meaning::Pushed(..)
            | Meaning::Popped
            | Meaning::Moved
            | Meaning::AllPopped
            | Meaning::InLine(_) => stage.queues.check(meaning, value)?,
            Meaning::Carried(what) => stage.goods.check(what, value)?,
            Meaning::Total => {
                let total = number(value)?;
                let fits = |counter: &Counter| (counter.acknowledged..=counter.sent).contains(&total);
                if !stage.counters.iter().any(fits) {
                    return Err(format!("a counter ends at {total}: {:?}", stage.counters));
                }
            }
        }
        Ok(())
    }
}

impl Role {
    /// Behind CLIENT PAUSE nothing changes until it is over.
    fn stands(&mut self, stage: &mut Stage, meaning: Meaning) -> Result<(), String> {
        let Role::Pauser { until_ms, seen, .. } = self else { return Ok(()) };
        let values = std::mem::take(&mut stage.values);
        if meaning == Meaning::Paused {
            *seen = values;
        } else if stage.newest_ms < *until_ms
            && let Some(place) = (0..seen.len()).find(|place| seen[*place] != values[*place])
        {
            let key = stage.keys().nth(place).unwrap_or_default();
            return Err(format!("behind CLIENT PAUSE {key} was {}, then {}", seen[place], values[place]));
        }
        Ok(())
    }

    fn scanned(&mut self, stage: &Stage, value: &Value) -> Result<(), String> {
        let Role::Scanner { cursor, met, waits } = self else { return Ok(()) };
        *waits = false;
        let Value::Array(parts) = value else { return Err(format!("SCAN answered {value:?}")) };
        let [Value::Bulk(next), Value::Array(keys)] = &parts[..] else {
            return Err(format!("SCAN answered {value:?}"));
        };
        *cursor = resp::parse_u64(next).ok_or_else(|| format!("SCAN's cursor is {next:?}"))?;
        let names = keys.iter().filter_map(|key| match key {
            Value::Bulk(name) => Some(String::from_utf8_lossy(name).into_owned()),
            _ => None,
        });
        met.extend(names);
        if *cursor == 0 {
            let missed: Vec<&String> = stage.lasting.iter().filter(|key| !met.contains(*key)).collect();
            if !missed.is_empty() {
                return Err(format!("a whole scan did not meet {missed:?}"));
            }
            met.clear();
        }
        Ok(())
    }
}

fn set_group(group: &[String], serial: u64, random: &mut Random) -> Request {
    let token = format!("token{serial}");
    if random.one_in(6) {
        let command = if random.one_in(2) { "DEL" } else { "UNLINK" };
        let mut args = vec![command];
        args.extend(group.iter().map(String::as_str));
        return Request::new(&args, Expect::Kinds(Kinds::INTEGER));
    }
    let exclusive = random.one_in(4);
    let mut args = vec![if exclusive { "MSETNX" } else { "MSET" }];
    // The order of the keys must not matter.
    let turn = random.below(group.len());
    for place in 0..group.len() {
        args.extend([group[(place + turn) % group.len()].as_str(), &token]);
    }
    Request::new(&args, if exclusive { Expect::Kinds(Kinds::INTEGER) } else { ok() })
}

/// A number under a key, 0 where there is none.
fn number(value: &Value) -> Result<i64, String> {
    match value {
        Value::Null => Ok(0),
        Value::Bulk(text) => resp::parse_i64(text).ok_or_else(|| format!("{value:?} is no number")),
        other => Err(format!("{other:?} is no value")),
    }
}

fn one_token(value: &Value) -> Result<(), String> {
    match value {
        Value::Array(values) if values.windows(2).all(|pair| pair[0] == pair[1]) => Ok(()),
        other => Err(format!("a group holds {other:?}")),
    }
}

fn every_token_once(value: &Value, tokens: usize) -> Result<(), String> {
    let Value::Array(values) = value else { return Err(format!("MGET answered {value:?}")) };
    for token in 0..tokens {
        let text = Value::Bulk(format!("token{token}").into());
        if values.iter().filter(|value| **value == text).count() != 1 {
            return Err(format!("token {token} is not there once: {values:?}"));
        }
    }
    Ok(())
}
