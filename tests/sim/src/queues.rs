//! Clients that put elements into queues and wait for them: each element is pushed once and comes out
//! once, whoever vanishes; and who stands in line before another is served before it. They do not know how
//! requests travel.

use crate::random::Random;
use crate::request::{Expect, Kinds, Meaning, Request};
use resp::client::Value;
use std::collections::BTreeSet;

/// What is known of all queues.
#[derive(Clone, Default, Debug)]
pub(crate) struct Queues {
    pub lists: Vec<String>,
    pub sets: Vec<String>,
    /// The line, filled by one client, and keys elsewhere that nobody fills.
    pub line: Vec<String>,
    /// Elements that were sent, of which a push was answered, and that came out.
    sent: u64,
    pushed: BTreeSet<u64>,
    taken: BTreeSet<u64>,
    /// Numbers put in line.
    numbered: u64,
    /// Waits for the line, by token.
    waits: Vec<Wait>,
    /// Tokens of those who stand in line when another one is about to join it.
    pub ahead: Vec<usize>,
    /// Ids of those who wait, as the shards know them.
    pub blocked: Vec<u64>,
}

/// A wait for the line.
#[derive(Clone, Default, Debug)]
struct Wait {
    ahead: Vec<usize>,
    got: Option<u64>,
    /// Who joined behind it got this: it has to get an earlier one, if any.
    before: Option<u64>,
}

/// What a client does.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Queuer {
    /// Pushes elements, some in transactions over two queues.
    Pusher { step: usize, first: u64 },
    /// Pops or moves them, waiting or not.
    Popper,
    /// Waits for either of the first two queues, which are neighbours.
    Either,
    /// Moves from one of them to a queue elsewhere, waiting or not.
    Mover,
    /// Ends others' waits.
    Ender,
    /// Puts numbers in line.
    Numberer,
    /// Stands in line, with the token of its wait.
    InLine { token: usize },
}

impl Queuer {
    pub(crate) fn new(client: usize, random: &mut Random) -> Queuer {
        match client {
            2 => Queuer::Pusher { step: 0, first: 0 },
            3 => Queuer::Numberer,
            4 | 5 if random.one_in(2) => Queuer::InLine { token: 0 },
            _ => match random.below(10) {
                0 | 1 => Queuer::Pusher { step: 0, first: 0 },
                2 => Queuer::Ender,
                3..=4 => Queuer::InLine { token: 0 },
                _ => Queuer::Popper,
            },
        }
    }

    /// Where all are of this sort.
    pub(crate) fn in_crowd(client: usize) -> Queuer {
        match client {
            0 | 1 => Queuer::Pusher { step: 0, first: 0 },
            2 => Queuer::Ender,
            3 => Queuer::Popper,
            4 | 5 => Queuer::Mover,
            _ => Queuer::Either,
        }
    }

    /// Waits for an answer before it asks again.
    pub(crate) fn is_patient(&self) -> bool {
        matches!(self, Queuer::InLine { .. } | Queuer::Numberer | Queuer::Pusher { .. })
    }

    /// What it sends next is queued.
    pub(crate) fn is_in_transaction(&self) -> bool {
        matches!(self, Queuer::Pusher { step, .. } if *step > 0)
    }

    /// The next request.
    pub(crate) fn next(&mut self, queues: &mut Queues, random: &mut Random) -> Request {
        match self {
            Queuer::Pusher { step, first } => push(step, first, queues, random),
            Queuer::Popper if !random.one_in(9) => pop(queues, random),
            Queuer::Popper | Queuer::Ender => {
                let anybody = random.within(1, 40) as u64;
                let id = if queues.blocked.is_empty() { anybody } else { *random.pick(&queues.blocked) };
                let id = id.to_string();
                let reason = if random.one_in(2) { "ERROR" } else { "TIMEOUT" };
                Request::new(&["CLIENT", "UNBLOCK", &id, reason], Expect::Kinds(Kinds::INTEGER))
            }
            Queuer::Either => {
                let (first, second) = (&queues.lists[0], &queues.lists[1]);
                let keys = if random.one_in(2) { [first, second] } else { [second, first] };
                Request::new(&["BLPOP", keys[0], keys[1], &timeout(random)], Expect::Values(Meaning::Popped))
            }
            Queuer::Mover => {
                let (from, to) = (&queues.lists[random.below(2)], &queues.lists[2]);
                let moved = Expect::Values(Meaning::Moved);
                if random.one_in(3) {
                    return Request::new(&["LMOVE", from, to, "LEFT", "RIGHT"], moved);
                }
                Request::new(&["BLMOVE", from, to, "LEFT", "RIGHT", &timeout(random)], moved)
            }
            Queuer::Numberer => {
                queues.numbered += 1;
                let number = queues.numbered.to_string();
                Request::new(&["RPUSH", &queues.line[0], &number], Expect::Kinds(Kinds::INTEGER))
            }
            Queuer::InLine { token } => {
                *token = queues.waits.len();
                let ahead = std::mem::take(&mut queues.ahead);
                queues.waits.push(Wait { ahead, ..Wait::default() });
                let mut args = vec!["BLPOP".to_owned()];
                let turn = random.below(queues.line.len());
                let several = random.one_in(2);
                let places = (0..queues.line.len()).map(|place| (place + turn) % queues.line.len());
                args.extend(places.filter(|place| several || *place == 0).map(|at| queues.line[at].clone()));
                args.push(timeout(random));
                Request::new(&args, Expect::Values(Meaning::InLine(*token)))
            }
        }
    }
}

fn timeout(random: &mut Random) -> String {
    format!("0.{:03}", random.within(5, 250))
}

fn push(step: &mut usize, first: &mut u64, queues: &mut Queues, random: &mut Random) -> Request {
    let queued = || Expect::Exactly(Value::Simple("QUEUED".into()));
    match *step {
        0 if random.one_in(4) => {
            *step = 1;
            *first = queues.sent;
            queues.sent += 2;
            Request::new(&["MULTI"], Expect::Exactly(Value::Simple("OK".into())))
        }
        1 | 2 => {
            *step += 1;
            push_to(&queues.lists[*step - 2], queued(), *first + *step as u64 - 2, 1, random)
        }
        3 => {
            *step = 0;
            Request::new(&["EXEC"], Expect::Values(Meaning::Pushed(*first, *first + 2)))
        }
        _ => {
            let (from, count) = (queues.sent, random.within(1, 3) as u64);
            queues.sent += count;
            push_one(queues, Expect::Values(Meaning::Pushed(from, from + count)), from, count, random)
        }
    }
}

fn push_one(queues: &Queues, expect: Expect, from: u64, count: u64, random: &mut Random) -> Request {
    if !random.one_in(4) {
        let list = random.pick(&queues.lists).clone();
        return push_to(&list, expect, from, count, random);
    }
    let mut args = vec!["ZADD".to_owned(), random.pick(&queues.sets).clone()];
    (from..from + count).for_each(|number| args.extend([random.below(9).to_string(), format!("e{number}")]));
    Request::new(&args, expect)
}

fn push_to(list: &str, expect: Expect, from: u64, count: u64, random: &mut Random) -> Request {
    let command = if random.one_in(2) { "RPUSH" } else { "LPUSH" };
    let mut args = vec![command.to_owned(), list.to_owned()];
    args.extend((from..from + count).map(|number| format!("e{number}")));
    Request::new(&args, expect)
}

fn pop(queues: &Queues, random: &mut Random) -> Request {
    let popped = Expect::Values(Meaning::Popped);
    let side = |random: &mut Random| if random.one_in(2) { "LEFT" } else { "RIGHT" }.to_owned();
    let list = |random: &mut Random| random.pick(&queues.lists).clone();
    let set = |random: &mut Random| random.pick(&queues.sets).clone();
    let count = random.within(1, 3);
    let lists: Vec<String> = (0..count).map(|_| list(random)).collect();
    let sets: Vec<String> = (0..count).map(|_| set(random)).collect();
    let mut args: Vec<String> = Vec::new();
    match random.below(13) {
        0..=2 => {
            args.push(if random.one_in(2) { "BLPOP" } else { "BRPOP" }.into());
            args.extend(lists);
            args.push(timeout(random));
        }
        3 => {
            args.extend(["BLMPOP".into(), timeout(random), count.to_string()]);
            args.extend(lists);
            args.extend([side(random), "COUNT".into(), random.within(1, 3).to_string()]);
        }
        4..=6 => {
            let from = random.below(2);
            let (from, to) = (queues.lists[from].clone(), queues.lists[2 - from].clone());
            args.extend(["BLMOVE".into(), from, to, side(random), side(random)]);
            args.push(timeout(random));
            return Request::new(&args, Expect::Values(Meaning::Moved));
        }
        7 => {
            args.extend(["BRPOPLPUSH".into(), list(random), list(random), timeout(random)]);
            return Request::new(&args, Expect::Values(Meaning::Moved));
        }
        8 => {
            args.push(if random.one_in(2) { "BZPOPMIN" } else { "BZPOPMAX" }.into());
            args.extend(sets);
            args.push(timeout(random));
        }
        9 => {
            args.extend(["BZMPOP".into(), timeout(random), count.to_string()]);
            args.extend(sets);
            args.extend(["MIN".into(), "COUNT".into(), random.within(1, 3).to_string()]);
        }
        10 | 11 => {
            args.extend(["LMPOP".into(), queues.lists.len().to_string()]);
            args.extend(queues.lists.clone());
            args.push(side(random));
        }
        _ => args.extend(["ZPOPMIN".into(), set(random)]),
    }
    Request::new(&args, popped)
}

/// Whether the question may wait for as long as it likes.
pub(crate) fn is_wait(question: &str) -> bool {
    let name = question.split(' ').next().unwrap_or_default();
    ["BLPOP", "BRPOP", "BLMPOP", "BLMOVE", "BRPOPLPUSH", "BZPOPMIN", "BZPOPMAX", "BZMPOP"]
        .iter()
        .any(|blocking| name.eq_ignore_ascii_case(blocking))
}

impl Queues {
    /// Takes out what is left, at the end.
    pub(crate) fn closing(&self) -> Vec<Request> {
        let lists = self.lists.iter().map(|key| ["LRANGE", key, "0", "-1"]);
        let sets = self.sets.iter().map(|key| ["ZRANGE", key, "0", "-1"]);
        let mut requests: Vec<Request> =
            lists.chain(sets).map(|words| Request::new(&words, Expect::Values(Meaning::Popped))).collect();
        requests.push(Request::new(&["PING"], Expect::Values(Meaning::AllPopped)));
        requests
    }

    /// Holds a reply against what is known.
    pub(crate) fn check(&mut self, meaning: Meaning, value: &Value) -> Result<(), String> {
        match meaning {
            Meaning::Pushed(from, until) => {
                if let Value::Integer(_) | Value::Array(_) = value {
                    self.pushed.extend(from..until);
                }
            }
            Meaning::Popped | Meaning::Moved => {
                let mut elements = Vec::new();
                elements_of(value, &mut elements)?;
                for element in elements {
                    if element >= self.sent {
                        return Err(format!("e{element} came out and was never pushed"));
                    }
                    if meaning == Meaning::Popped && !self.taken.insert(element) {
                        return Err(format!("e{element} came out twice"));
                    }
                }
            }
            Meaning::AllPopped => {
                if let Some(lost) = self.pushed.difference(&self.taken).next() {
                    return Err(format!("e{lost} was pushed, and came out nowhere"));
                }
            }
            Meaning::InLine(token) => return self.served(token, value),
            _ => {}
        }
        Ok(())
    }

    fn served(&mut self, token: usize, value: &Value) -> Result<(), String> {
        let Value::Array(values) = value else { return is_end(value) };
        let number = match &values[..] {
            [_, Value::Bulk(text)] => resp::parse_u64(text),
            _ => None,
        };
        let number = number.ok_or_else(|| format!("the line had {value:?}"))?;
        let wait = &mut self.waits[token];
        wait.got = Some(number);
        if wait.before.is_some_and(|before| before < number) {
            return Err(format!("wait {token} got {number}; who came later had got {:?}", wait.before));
        }
        for earlier in std::mem::take(&mut wait.ahead) {
            let other = &mut self.waits[earlier];
            match other.got {
                Some(got) if got > number => {
                    return Err(format!("wait {earlier} was before {token}, and got {got} behind {number}"));
                }
                Some(_) => {}
                None => other.before = Some(other.before.map_or(number, |before| before.min(number))),
            }
        }
        Ok(())
    }
}

/// A wait that ended with nothing.
fn is_end(value: &Value) -> Result<(), String> {
    match value {
        Value::Null => Ok(()),
        Value::Error(text) if text.starts_with("UNBLOCKED ") => Ok(()),
        other => Err(format!("a wait ended with {other:?}")),
    }
}

/// The numbers of all elements in a reply.
fn elements_of(value: &Value, elements: &mut Vec<u64>) -> Result<(), String> {
    match value {
        Value::Array(values) => values.iter().try_for_each(|value| elements_of(value, elements)),
        Value::Bulk(text) => {
            elements.extend(text.strip_prefix(b"e").and_then(resp::parse_u64));
            Ok(())
        }
        Value::Double(_) => Ok(()),
        other => is_end(other),
    }
}
