//! Random commands on sets against plain sets, on one shard and on several.

use crate::context::Random;
use crate::testing::{Rig, shown};
use resp::client::Value;
use std::collections::{BTreeMap, BTreeSet};

type Set = BTreeSet<String>;

struct Model {
    sets: BTreeMap<String, Set>,
    random: Random,
}

/// What a command is to be answered.
enum Answer {
    Is(String),
    Members(Set),
}

impl Model {
    fn key(&mut self) -> String {
        format!("k{}", self.random.below(5))
    }

    fn member(&mut self) -> String {
        match self.random.below(3) {
            0 => format!("m{}", self.random.below(9)),
            1 => format!("{}", (self.random.below(9) as i64 - 4) * 100_000),
            _ => format!("{}", self.random.below(9)),
        }
    }

    fn set(&self, key: &str) -> Set {
        self.sets.get(key).cloned().unwrap_or_default()
    }

    fn put(&mut self, key: String, set: Set) {
        self.sets.insert(key, set);
        self.sets.retain(|_, set| !set.is_empty());
    }

    fn combined(&self, how: usize, keys: &[String]) -> Set {
        let (first, others) = keys.split_first().expect("there are some");
        others.iter().fold(self.set(first), |sum, key| match how {
            0 => &sum & &self.set(key),
            1 => &sum | &self.set(key),
            _ => &sum - &self.set(key),
        })
    }

    fn step(&mut self) -> (String, Answer) {
        let (key, other, member) = (self.key(), self.key(), self.member());
        let mut set = self.set(&key);
        let count = |truth: bool| Answer::Is(format!(":{}", i64::from(truth)));
        match self.random.below(12) {
            0..=4 => {
                let new = set.insert(member.clone());
                self.put(key.clone(), set);
                (format!("SADD {key} {member}"), count(new))
            }
            5 => {
                let removed = set.remove(&member);
                self.put(key.clone(), set);
                (format!("SREM {key} {member}"), count(removed))
            }
            6 => {
                let moves = set.contains(&member);
                if moves && key != other {
                    set.remove(&member);
                    self.put(key.clone(), set);
                    let mut target = self.set(&other);
                    target.insert(member.clone());
                    self.put(other.clone(), target);
                }
                (format!("SMOVE {key} {other} {member}"), count(moves))
            }
            7 => (format!("SISMEMBER {key} {member}"), count(set.contains(&member))),
            8 => (format!("SMEMBERS {key}"), Answer::Members(set)),
            9 => {
                let (how, keys) = (self.random.below(3) as usize, [key, other, self.key()]);
                let outcome = self.combined(how, &keys);
                (
                    format!("{} {}", ["SINTER", "SUNION", "SDIFF"][how], keys.join(" ")),
                    Answer::Members(outcome),
                )
            }
            10 => {
                let (how, keys) = (self.random.below(3) as usize, [key, other]);
                let (target, outcome) = (self.key(), self.combined(how, &keys));
                let answer = Answer::Is(format!(":{}", outcome.len()));
                self.put(target.clone(), outcome);
                let name = ["SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"][how];
                (format!("{name} {target} {}", keys.join(" ")), answer)
            }
            _ => {
                let size = self.combined(0, &[key.clone(), other.clone()]).len().min(2);
                (format!("SINTERCARD 2 {key} {other} LIMIT 2"), Answer::Is(format!(":{size}")))
            }
        }
    }
}

#[test]
fn random_commands_do_what_plain_sets_do() {
    for seed in 0..60 {
        for shards in [1, 3] {
            let mut rig = Rig::new(shards);
            rig.configure(|live| {
                live.encodings.set_max_intset_entries = 6;
                live.encodings.set_max_listpack_entries = 5;
            });
            let mut model = Model { sets: BTreeMap::new(), random: Random::new(seed) };
            for step in 0..400 {
                let (line, answer) = model.step();
                let context = format!("{line} at step {step} of seed {seed} on {shards} shards");
                match (rig.ask(&line), answer) {
                    (Value::Array(members), Answer::Members(expected)) => {
                        let count = members.len();
                        let members: Set =
                            members.iter().map(|member| shown(member)[1..].to_string()).collect();
                        assert_eq!((members, count), (expected.clone(), expected.len()), "{context}");
                    }
                    (value, Answer::Is(expected)) => assert_eq!(shown(&value), expected, "{context}"),
                    (other, Answer::Members(_)) => panic!("{other:?}: {context}"),
                }
                assert_eq!(rig.say("DBSIZE"), format!(":{}", model.sets.len()), "{context}");
            }
        }
    }
}
