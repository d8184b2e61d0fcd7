//! Random commands on hashes against plain maps, on one shard and on several, with fields that expire.

use crate::context::Random;
use crate::testing::{Rig, shown};
use std::collections::BTreeMap;

type Fields = BTreeMap<String, (String, Option<i64>)>;

struct Model {
    hashes: BTreeMap<String, Fields>,
    random: Random,
    now: i64,
}

impl Model {
    fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.random.below(words.len() as u64) as usize]
    }

    fn field(&mut self) -> String {
        format!("{}{}", self.pick(&["f", "field-", "", "-"]), self.random.below(9))
    }

    fn value(&mut self) -> String {
        let number = self.random.below(50) as i64 - 25;
        match self.random.below(4) {
            0 => "v".repeat(number.unsigned_abs() as usize + 1),
            1 => "w".repeat(400),
            _ => (number * number * number).to_string(),
        }
    }

    /// A command, and what it is to be answered.
    fn step(&mut self) -> (String, String) {
        let key = format!("k{}", self.random.below(5));
        let (field, now) = (self.field(), self.now);
        let mut fields = self.hashes.remove(&key).unwrap_or_default();
        let known = fields.get(&field).cloned();
        let (line, answer) = match self.random.below(14) {
            0..=3 => {
                let value = self.value();
                fields.insert(field.clone(), (value.clone(), None));
                (format!("HSET {key} {field} {value}"), format!(":{}", i64::from(known.is_none())))
            }
            4 => {
                let value = self.value();
                if known.is_none() {
                    fields.insert(field.clone(), (value.clone(), None));
                }
                (format!("HSETNX {key} {field} {value}"), format!(":{}", i64::from(known.is_none())))
            }
            5 | 6 => {
                let removed = fields.remove(&field).is_some();
                (format!("HDEL {key} {field}"), format!(":{}", i64::from(removed)))
            }
            7 => {
                let old = known.as_ref().map_or(Some(0), |(value, _)| value.parse::<i64>().ok());
                let answer = match old {
                    Some(old) => {
                        fields
                            .insert(field.clone(), ((old + 7).to_string(), known.and_then(|(_, time)| time)));
                        format!(":{}", old + 7)
                    }
                    None => "-ERR hash value is not an integer".into(),
                };
                (format!("HINCRBY {key} {field} 7"), answer)
            }
            8 => {
                let time = 1 + self.random.below(60) as i64;
                if let Some((_, expiry)) = fields.get_mut(&field) {
                    *expiry = Some(now + time);
                }
                let answer = if known.is_some() { "[:1]" } else { "[:-2]" };
                (format!("HPEXPIRE {key} {time} FIELDS 1 {field}"), answer.into())
            }
            9 => {
                let answer = match known {
                    None => -2,
                    Some((_, None)) => -1,
                    Some((_, Some(time))) => time - now,
                };
                (format!("HPTTL {key} FIELDS 1 {field}"), format!("[:{answer}]"))
            }
            10 => {
                let answer = match known {
                    None => "[:-2]",
                    Some((_, None)) => "[:-1]",
                    Some(_) => "[:1]",
                };
                if let Some((_, expiry)) = fields.get_mut(&field) {
                    *expiry = None;
                }
                (format!("HPERSIST {key} FIELDS 1 {field}"), answer.into())
            }
            11 => {
                let other = format!("k{}", self.random.below(5));
                if other == key || fields.is_empty() {
                    (format!("EXISTS {key}"), format!(":{}", i64::from(!fields.is_empty())))
                } else {
                    self.hashes.insert(other.clone(), fields.clone());
                    (format!("COPY {key} {other} REPLACE"), ":1".into())
                }
            }
            12 => (format!("HLEN {key}"), format!(":{}", fields.len())),
            _ => {
                let answer = known.map_or("nil".into(), |(value, _)| format!("${value}"));
                (format!("HGET {key} {field}"), answer)
            }
        };
        if !fields.is_empty() {
            self.hashes.insert(key, fields);
        }
        (line, answer)
    }

    /// Time goes by: fields whose time has come are no more.
    fn wait(&mut self, milliseconds: i64) {
        self.now += milliseconds;
        let now = self.now;
        self.hashes.values_mut().for_each(|fields| {
            fields.retain(|_, (_, expiry)| expiry.is_none_or(|time| time > now));
        });
    }
}

fn check_all(rig: &mut Rig, model: &Model, context: &str) {
    for key in (0..5).map(|number| format!("k{number}")) {
        let fields = model.hashes.get(&key).cloned().unwrap_or_default();
        let resp::client::Value::Array(words) = rig.ask(&format!("HGETALL {key}")) else {
            panic!("an array")
        };
        let words: Vec<String> = words.iter().map(shown).collect();
        let mut pairs: Vec<(String, String)> =
            words.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        pairs.sort();
        let mut expected: Vec<(String, String)> =
            fields.iter().map(|(field, (value, _))| (format!("${field}"), format!("${value}"))).collect();
        expected.sort();
        assert_eq!(pairs, expected, "{key} {context}");
    }
}

#[test]
fn random_commands_do_what_plain_maps_do() {
    for seed in 0..60 {
        for shards in [1, 3] {
            let mut rig = Rig::new(shards);
            rig.configure(|live| live.encodings.hash_max_listpack_entries = 5);
            let mut model = Model { hashes: BTreeMap::new(), random: Random::new(seed), now: rig.now() };
            for step in 0..300 {
                let (line, answer) = model.step();
                let context = format!("at step {step} of seed {seed} on {shards} shards");
                assert_eq!(rig.say(&line), answer, "{line} {context}");
                // A key whose fields have all expired may still be there, and COPY can tell.
                model.hashes.retain(|_, fields| !fields.is_empty());
                if model.random.below(20) == 0 {
                    let time = 1 + model.random.below(30) as i64;
                    rig.wait(time);
                    model.wait(time);
                    model.hashes.keys().cloned().collect::<Vec<_>>().iter().for_each(|key| {
                        rig.say(&format!("HDEL {key} none"));
                    });
                    model.hashes.retain(|_, fields| !fields.is_empty());
                    check_all(&mut rig, &model, &context);
                }
            }
            check_all(&mut rig, &model, "in the end");
        }
    }
}
