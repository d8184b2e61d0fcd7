//! Clients that watch keys and change others in transactions. Each knows what would go wrong if a change
//! to a watched key were missed. It does not know how requests travel.

use crate::random::Random;
use crate::request::{Expect, Kinds, Meaning, Request};
use crate::roles::Stage;
use resp::client::Value;

/// What a client does, over and over, one request at a time.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Watcher {
    /// Reads a pair of keys and sets both one higher: none of its steps may get lost.
    Buyer { step: usize, price: i64 },
    /// Reads a key of a group and writes it to the others, which changes nothing if it still stands.
    Restorer { group: usize, step: usize, token: Option<String> },
    /// Leaves its post only if the other one is manned, which it watches: never are both left.
    Guard { side: usize, step: usize, alone: bool },
    /// Watches a key until its time has come.
    Waiter { step: usize, key: String, seen: [Option<bool>; 2] },
}

fn ok() -> Expect {
    Expect::Exactly(Value::Simple("OK".into()))
}

fn queued() -> Expect {
    Expect::Exactly(Value::Simple("QUEUED".into()))
}

impl Watcher {
    pub(crate) fn new(random: &mut Random) -> Watcher {
        match random.below(4) {
            3 => Watcher::of_post(random.below(2)),
            0 => Watcher::Buyer { step: 0, price: 0 },
            1 => Watcher::Restorer { group: random.below(2), step: 0, token: None },
            _ => Watcher::Waiter { step: 0, key: String::new(), seen: [None; 2] },
        }
    }

    /// A guard of one of two posts.
    pub(crate) fn of_post(side: usize) -> Watcher {
        Watcher::Guard { side, step: 0, alone: true }
    }

    /// Its connection was lost.
    pub(crate) fn begin_anew(&mut self) {
        match self {
            Watcher::Buyer { step, .. }
            | Watcher::Restorer { step, .. }
            | Watcher::Guard { step, .. }
            | Watcher::Waiter { step, .. } => *step = 0,
        }
    }

    /// What it sends next is queued.
    pub(crate) fn is_in_transaction(&self) -> bool {
        match self {
            Watcher::Buyer { step, .. } | Watcher::Restorer { step, .. } => *step > 2,
            Watcher::Guard { step, .. } => (3..5).contains(step),
            Watcher::Waiter { step, .. } => *step > 5,
        }
    }

    /// The next request.
    pub(crate) fn next(&mut self, stage: &mut Stage, serial: u64, random: &mut Random) -> Request {
        match self {
            Watcher::Buyer { step, price } => buy(step, *price, stage),
            Watcher::Restorer { group, step, token } => {
                restore(step, token.as_deref(), &stage.groups[*group])
            }
            Watcher::Guard { side, step, alone } => guard(step, &stage.ends, *side, *alone),
            Watcher::Waiter { step, key, seen } => {
                if *step == 0 {
                    *key = format!("q{serial}");
                    *seen = [None; 2];
                }
                wait(step, key, random)
            }
        }
    }

    /// Holds a reply against what it knows.
    pub(crate) fn check(&mut self, stage: &mut Stage, meaning: Meaning, value: &Value) -> Result<(), String> {
        match (self, meaning) {
            (Watcher::Buyer { price, .. }, Meaning::Price) => *price = price_of(value)?,
            (Watcher::Buyer { .. }, Meaning::Bought) if *value != Value::Null => {
                stage.bought.acknowledged += 1;
            }
            (Watcher::Restorer { token, .. }, Meaning::Token) => {
                *token = match value {
                    Value::Bulk(text) => Some(String::from_utf8_lossy(text).into_owned()),
                    _ => None,
                };
            }
            (Watcher::Guard { alone, .. }, Meaning::Looked) => *alone = *value != Value::Null,
            (Watcher::Guard { .. }, Meaning::Posts) => {
                if matches!(value, Value::Array(posts) if !posts.contains(&Value::Null)) {
                    return Err(format!("both posts are left: {value:?}"));
                }
            }
            (Watcher::Waiter { seen, .. }, Meaning::Looked) => {
                let place = usize::from(seen[0].is_some());
                seen[place] = Some(*value != Value::Null);
            }
            (Watcher::Waiter { seen, key, .. }, Meaning::Verdict)
                if *seen == [Some(true), Some(false)] && *value != Value::Null =>
            {
                return Err(format!("{key} went while it was watched, and EXEC answered {value:?}"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Both keys of the pair hold one number.
pub(crate) fn price_of(value: &Value) -> Result<i64, String> {
    let Value::Array(values) = value else { return Err(format!("MGET answered {value:?}")) };
    let [first, second] = &values[..] else { return Err(format!("MGET answered {value:?}")) };
    if first != second {
        return Err(format!("of a pair one is {first:?}, the other {second:?}"));
    }
    match first {
        Value::Bulk(text) => resp::parse_i64(text).ok_or_else(|| format!("{first:?} is no number")),
        _ => Ok(0),
    }
}

fn buy(step: &mut usize, price: i64, stage: &mut Stage) -> Request {
    let [first, second] = stage.wallet.clone();
    *step += 1;
    let next = (price + 1).to_string();
    match *step {
        1 => Request::new(&["WATCH", &first, &second], ok()),
        2 => Request::new(&["MGET", &first, &second], Expect::Values(Meaning::Price)),
        3 => Request::new(&["MULTI"], ok()),
        4 => Request::new(&["SET", &first, &next], queued()),
        5 => Request::new(&["SET", &second, &next], queued()),
        _ => {
            *step = 0;
            stage.bought.sent += 1;
            Request::new(&["EXEC"], Expect::Values(Meaning::Bought))
        }
    }
}

fn restore(step: &mut usize, token: Option<&str>, group: &[String]) -> Request {
    *step += 1;
    match *step {
        1 => Request::new(&["WATCH", &group[0]], ok()),
        2 => Request::new(&["GET", &group[0]], Expect::Values(Meaning::Token)),
        3 => Request::new(&["MULTI"], ok()),
        place if place - 3 < group.len() => match token {
            Some(token) => Request::new(&["SET", &group[place - 3], token], queued()),
            None => Request::new(&["DEL", &group[place - 3]], queued()),
        },
        _ => {
            *step = 0;
            Request::new(&["EXEC"], Expect::Kinds(Kinds::ARRAY.or(Kinds::NULL)))
        }
    }
}

/// A key that is there says that its post is left.
fn guard(step: &mut usize, posts: &[String; 2], side: usize, alone: bool) -> Request {
    let (own, other) = (&posts[side], &posts[1 - side]);
    *step += 1;
    match *step {
        1 => Request::new(&["WATCH", other], ok()),
        2 => Request::new(&["GET", other], Expect::Values(Meaning::Looked)),
        3 => Request::new(&["MULTI"], ok()),
        4 if alone => Request::new(&["DEL", own], queued()),
        4 => Request::new(&["SET", own, "left"], queued()),
        5 => Request::new(&["EXEC"], Expect::Kinds(Kinds::ARRAY.or(Kinds::NULL))),
        6 => Request::new(&["MGET", own, other], Expect::Values(Meaning::Posts)),
        _ => {
            *step = 0;
            Request::new(&["DEL", own], Expect::Kinds(Kinds::INTEGER))
        }
    }
}

fn wait(step: &mut usize, key: &str, random: &mut Random) -> Request {
    *step += 1;
    match *step {
        1 => Request::new(&["SET", key, "here", "PX", &random.within(1, 40).to_string()], ok()),
        2 => Request::new(&["WATCH", key], ok()),
        3 | 5 => Request::new(&["GET", key], Expect::Values(Meaning::Looked)),
        4 => Request::new(&["PING"], Expect::Kinds(Kinds::SIMPLE)),
        6 => Request::new(&["MULTI"], ok()),
        7 => Request::new(&["PING"], queued()),
        _ => {
            *step = 0;
            Request::new(&["EXEC"], Expect::Values(Meaning::Verdict))
        }
    }
}
