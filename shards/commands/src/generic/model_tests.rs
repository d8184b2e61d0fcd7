//! Random sequences of commands over several shards and databases, held against a plain map.

use crate::context::Random;
use crate::testing::{Rig, shown};
use resp::client::Value;
use std::collections::BTreeMap;

const DATABASES: u64 = 3;

/// What a keyspace is, without shards, tables or encodings.
#[derive(Default)]
struct Model {
    databases: [BTreeMap<String, (String, Option<i64>)>; DATABASES as usize],
    db: usize,
    now: i64,
}

type Entry = (String, Option<i64>);

impl Model {
    fn expire(&mut self) {
        let now = self.now;
        for database in &mut self.databases {
            database.retain(|_, (_, expiry)| expiry.is_none_or(|time| time > now));
        }
    }

    fn keys(&mut self) -> &mut BTreeMap<String, Entry> {
        &mut self.databases[self.db]
    }

    fn get(&mut self, key: &str) -> Option<Entry> {
        self.keys().get(key).cloned()
    }

    fn put(&mut self, key: &str, value: &str, expiry: Option<i64>) {
        self.keys().insert(key.into(), (value.into(), expiry));
    }

    fn bulk(entry: Option<Entry>) -> String {
        entry.map_or("nil".into(), |(value, _)| format!("${value}"))
    }

    /// What a command line is to be answered, after its effect.
    fn run(&mut self, words: &[&str]) -> String {
        self.expire();
        let answer = match words[0] {
            "GET" | "GETDEL" | "GETSET" | "GETEX" | "SET" | "SETNX" | "APPEND" | "SETRANGE" | "INCRBY" => {
                self.strings(words)
            }
            "MGET" | "MSET" | "MSETNX" | "DEL" | "EXISTS" => self.several(words),
            "PEXPIRE" | "PERSIST" | "PTTL" | "RENAME" | "RENAMENX" | "COPY" | "MOVE" => self.generic(words),
            "FLUSHDB" => {
                self.keys().clear();
                "+OK".into()
            }
            "SWAPDB" => {
                self.databases.swap(words[1].parse().unwrap(), words[2].parse().unwrap());
                "+OK".into()
            }
            "DBSIZE" => format!(":{}", self.keys().len()),
            other => panic!("the model does not know {other}"),
        };
        self.expire();
        answer
    }

    fn strings(&mut self, words: &[&str]) -> String {
        let (key, old, now) = (words[1], self.get(words[1]), self.now);
        match words[0] {
            "GET" => Self::bulk(old),
            "GETDEL" => {
                self.keys().remove(key);
                Self::bulk(old)
            }
            "GETSET" => {
                self.put(key, words[2], None);
                Self::bulk(old)
            }
            "GETEX" => {
                if let Some((value, _)) = &old {
                    self.put(key, value, Some(now + words[3].parse::<i64>().unwrap()));
                }
                Self::bulk(old)
            }
            "SET" => self.set(words, old),
            "SETNX" => {
                if old.is_none() {
                    self.put(key, words[2], None);
                }
                format!(":{}", i32::from(old.is_none()))
            }
            "APPEND" => {
                let (value, expiry) = old.unwrap_or_default();
                let value = value + words[2];
                self.put(key, &value, expiry);
                format!(":{}", value.len())
            }
            "SETRANGE" => {
                let (value, expiry) = old.unwrap_or_default();
                let (offset, piece) = (words[2].parse::<usize>().unwrap(), words[3]);
                let mut bytes = value.into_bytes();
                bytes.resize(bytes.len().max(offset + piece.len()), 0);
                bytes[offset..offset + piece.len()].copy_from_slice(piece.as_bytes());
                self.put(key, std::str::from_utf8(&bytes).unwrap(), expiry);
                format!(":{}", bytes.len())
            }
            _ => {
                let (value, expiry) = old.unwrap_or(("0".into(), None));
                match value.parse::<i64>() {
                    Ok(number) if number.to_string() == value => {
                        let sum = number + words[2].parse::<i64>().unwrap();
                        self.put(key, &sum.to_string(), expiry);
                        format!(":{sum}")
                    }
                    _ => "-ERR value is not an integer or out of range".into(),
                }
            }
        }
    }

    fn set(&mut self, words: &[&str], old: Option<Entry>) -> String {
        let said = |word| words[3..].contains(&word);
        let goes = !(said("NX") && old.is_some() || said("XX") && old.is_none());
        if goes {
            let time = words.iter().position(|word| *word == "PX").map(|at| words[at + 1].parse::<i64>());
            let expiry = match time {
                Some(time) => Some(self.now + time.unwrap()),
                None if said("KEEPTTL") => old.as_ref().and_then(|(_, expiry)| *expiry),
                None => None,
            };
            self.put(words[1], words[2], expiry);
        }
        match (said("GET"), goes) {
            (true, _) => Self::bulk(old),
            (false, true) => "+OK".into(),
            (false, false) => "nil".into(),
        }
    }

    fn several(&mut self, words: &[&str]) -> String {
        let names = &words[1..];
        match words[0] {
            "MGET" => {
                let values: Vec<String> = names.iter().map(|name| Self::bulk(self.get(name))).collect();
                format!("[{}]", values.join(" "))
            }
            "DEL" => {
                let removed = names.iter().filter(|name| self.keys().remove(**name).is_some()).count();
                format!(":{removed}")
            }
            "EXISTS" => format!(":{}", names.iter().filter(|name| self.get(name).is_some()).count()),
            command => {
                let taken = names.chunks(2).any(|pair| self.get(pair[0]).is_some());
                if command == "MSETNX" && taken {
                    return ":0".into();
                }
                names.chunks(2).for_each(|pair| self.put(pair[0], pair[1], None));
                if command == "MSETNX" { ":1" } else { "+OK" }.into()
            }
        }
    }

    fn generic(&mut self, words: &[&str]) -> String {
        let (key, old, now) = (words[1], self.get(words[1]), self.now);
        let renames = words[0].starts_with("RENAME");
        let Some((value, expiry)) = old else {
            return if renames {
                "-ERR no such key"
            } else if words[0] == "PTTL" {
                ":-2"
            } else {
                ":0"
            }
            .into();
        };
        match words[0] {
            "PEXPIRE" => {
                self.put(key, &value, Some(now + words[2].parse::<i64>().unwrap()));
                ":1".into()
            }
            "PERSIST" => {
                self.put(key, &value, None);
                format!(":{}", i32::from(expiry.is_some()))
            }
            "PTTL" => format!(":{}", expiry.map_or(-1, |time| time - now)),
            "RENAME" => {
                self.keys().remove(key);
                self.put(words[2], &value, expiry);
                "+OK".into()
            }
            "RENAMENX" | "COPY" | "MOVE" => {
                let (to, db) = match words[0] {
                    "MOVE" => (key, words[2].parse().unwrap()),
                    "COPY" => (words[2], words[4].parse().unwrap()),
                    _ => (words[2], self.db),
                };
                let replace = words.last() == Some(&"REPLACE");
                if self.databases[db].contains_key(to) && !replace {
                    return ":0".into();
                }
                if words[0] != "COPY" {
                    self.keys().remove(key);
                }
                self.databases[db].insert(to.into(), (value, expiry));
                ":1".into()
            }
            other => panic!("the model does not know {other}"),
        }
    }
}

/// A random command line over few keys, so that they meet.
fn line(random: &mut Random, db: u64) -> String {
    let mut below = |bound| random.below(bound);
    let mut key = || format!("k{}", below(12));
    let (a, b, c) = (key(), key(), key());
    let mut number = || below(40) as i64 - 10;
    let (n, px) = (number(), below(60) + 1);
    let value = ["x", "12", "abc", "-7", "0012", ""][below(5) as usize].to_string()
        + ["", "z", "3"][below(3) as usize];
    let value = if value.is_empty() { "v".into() } else { value };
    let other = (db + 1 + below(DATABASES - 1)) % DATABASES;
    match below(27) {
        0 => format!("GET {a}"),
        1 => format!("GETDEL {a}"),
        2 => format!("GETSET {a} {value}"),
        3 => format!("GETEX {a} PX {px}"),
        4 => format!("SET {a} {value}"),
        5 => format!("SET {a} {value} PX {px} NX"),
        6 => format!("SET {a} {value} XX KEEPTTL GET"),
        7 => format!("SET {a} {value} GET PX {px}"),
        8 => format!("SETNX {a} {value}"),
        9 => format!("APPEND {a} {value}"),
        10 => format!("SETRANGE {a} {} {value}", below(9)),
        11 | 12 => format!("INCRBY {a} {n}"),
        13 => format!("MGET {a} {b} {c} {a}"),
        14 => format!("MSET {a} {value} {b} 5 {c} {n}"),
        15 => format!("MSETNX {a} {value} {b} 5 {a} {n}"),
        16 => format!("DEL {a} {b} {a}"),
        17 => format!("EXISTS {a} {b} {c} {a}"),
        18 => format!("PEXPIRE {a} {}", px as i64 - 5),
        19 => format!("PERSIST {a}"),
        20 => format!("PTTL {a}"),
        21 => format!("RENAME {a} {b}"),
        22 => format!("RENAMENX {a} {b}"),
        23 => format!("COPY {a} {b} DB {other}{}", if below(2) == 0 { "" } else { " REPLACE" }),
        24 => format!("MOVE {a} {other}"),
        25 if below(20) == 0 => "FLUSHDB".into(),
        26 if below(10) == 0 => format!("SWAPDB {} {}", below(DATABASES), below(DATABASES)),
        _ => "DBSIZE".into(),
    }
}

/// Everything in a database, found by SCAN and read key by key.
fn contents(rig: &mut Rig) -> BTreeMap<String, (String, String)> {
    let (mut found, mut cursor) = (BTreeMap::new(), "0".to_string());
    loop {
        let Value::Array(pair) = rig.ask(&format!("SCAN {cursor} COUNT 3")) else { panic!("no pair") };
        let [Value::Bulk(next), Value::Array(keys)] = &pair[..] else { panic!("no cursor and keys") };
        for key in keys {
            let name = shown(key)[1..].to_string();
            let facts = (rig.say(&format!("GET {name}")), rig.say(&format!("PTTL {name}")));
            found.insert(name, facts);
        }
        cursor = String::from_utf8(next.clone()).unwrap();
        if cursor == "0" {
            return found;
        }
    }
}

fn campaign(seed: u64, shards: u16, steps: usize) {
    let mut random = Random::new(seed);
    let mut rig = Rig::new(shards);
    let mut model = Model { now: rig.now(), ..Model::default() };
    for step in 0..steps {
        if random.below(8) == 0 {
            let pause = random.below(12) as i64;
            rig.wait(pause);
            model.now += pause;
        }
        if random.below(10) == 0 {
            model.db = random.below(DATABASES) as usize;
            rig.session.db = model.db as u16;
        }
        let line = line(&mut random, model.db as u64);
        // DBSIZE counts expired keys that nobody has met: a scan meets them all.
        if line == "DBSIZE" {
            contents(&mut rig);
        }
        let words: Vec<&str> = line.split(' ').collect();
        let expected = model.run(&words).replace('\0', "\\x00");
        assert_eq!(rig.say(&line), expected, "{line}, step {step} of seed {seed} on {shards} shards");
    }
    for db in 0..DATABASES as usize {
        (model.db, rig.session.db) = (db, db as u16);
        model.expire();
        let now = model.now;
        let expected: BTreeMap<_, _> = (model.databases[db].iter())
            .map(|(key, (value, expiry))| {
                let value = format!("${}", value.replace('\0', "\\x00"));
                (key.clone(), (value, format!(":{}", expiry.map_or(-1, |time| time - now))))
            })
            .collect();
        assert_eq!(contents(&mut rig), expected, "database {db} of seed {seed} on {shards} shards");
    }
}

#[test]
fn random_commands_do_what_a_plain_map_does() {
    for seed in 0..120 {
        for shards in [1, 2, 5] {
            campaign(seed, shards, 400);
        }
    }
}
