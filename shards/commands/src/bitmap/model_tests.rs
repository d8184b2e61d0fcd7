//! Random sequences of bitmap commands over several shards, held against plain rows of bits.

use crate::context::Random;
use crate::testing::{Rig, shown};
use resp::client::Value;
use std::collections::BTreeMap;

/// Strings as rows of bits, as many as their bytes have.
#[derive(Default)]
struct Model {
    rows: BTreeMap<String, Vec<bool>>,
}

impl Model {
    fn row(&self, key: &str) -> Vec<bool> {
        self.rows.get(key).cloned().unwrap_or_default()
    }

    fn grown(&mut self, key: &str, bits: usize) -> &mut Vec<bool> {
        let row = self.rows.entry(key.into()).or_default();
        row.resize(row.len().max(bits.div_ceil(8) * 8), false);
        row
    }

    fn integer(row: &[bool], at: usize, bits: usize) -> i64 {
        let bit = |at: usize| i64::from(row.get(at).copied().unwrap_or(false));
        (at..at + bits).fold(0, |sum, at| sum << 1 | bit(at))
    }

    /// What a command line is to be answered, after its effect.
    fn run(&mut self, words: &[String]) -> String {
        let number = |at: usize| words[at].parse::<usize>().unwrap();
        match words[0].as_str() {
            "SETBIT" => {
                let row = self.grown(&words[1], number(2) + 1);
                let old = std::mem::replace(&mut row[number(2)], words[3] == "1");
                format!(":{}", i32::from(old))
            }
            "GETBIT" => {
                let row = self.row(&words[1]);
                format!(":{}", i32::from(row.get(number(2)).copied().unwrap_or(false)))
            }
            "BITCOUNT" => {
                let row = self.row(&words[1]);
                let bits = row.iter().enumerate();
                let within = bits.filter(|(at, bit)| **bit && (number(2)..=number(3)).contains(at));
                format!(":{}", within.count())
            }
            "BITPOS" => {
                let row = self.row(&words[1]);
                let mut places = number(3)..(number(4) + 1).min(row.len());
                let found = places.find(|at| row[*at] == (words[2] == "1"));
                match found {
                    None if !self.rows.contains_key(&words[1]) && words[2] == "0" => ":0".into(),
                    found => found.map_or(":-1".into(), |at| format!(":{at}")),
                }
            }
            "BITFIELD" => {
                let (bits, at, by) = (words[3][1..].parse().unwrap(), number(4), number(5) as i64);
                let row = self.grown(&words[1], at + bits);
                let new = (Self::integer(row, at, bits) + by) & ((1 << bits) - 1);
                (0..bits).for_each(|bit| row[at + bit] = new >> (bits - 1 - bit) & 1 == 1);
                format!("[:{new}]")
            }
            "BITOP" => self.operation(words),
            "GET" => match self.rows.get(&words[1]) {
                None => "nil".into(),
                Some(row) => {
                    let bytes: Vec<u8> = row.chunks(8).map(|bits| Self::integer(bits, 0, 8) as u8).collect();
                    shown(&Value::Bulk(bytes))
                }
            },
            other => panic!("the model does not know {other}"),
        }
    }

    fn operation(&mut self, words: &[String]) -> String {
        let rows: Vec<Vec<bool>> = words[3..].iter().map(|key| self.row(key)).collect();
        let length = rows.iter().map(Vec::len).max().unwrap();
        let bits = (0..length).map(|at| {
            let mut bits = rows.iter().map(|row| row.get(at).copied().unwrap_or(false));
            match words[1].as_str() {
                "AND" => bits.all(|bit| bit),
                "OR" => bits.any(|bit| bit),
                "XOR" => bits.filter(|bit| *bit).count() % 2 == 1,
                _ => !bits.next().unwrap(),
            }
        });
        let outcome: Vec<bool> = bits.collect();
        if outcome.is_empty() {
            self.rows.remove(&words[2]);
        } else {
            self.rows.insert(words[2].clone(), outcome);
        }
        format!(":{}", length / 8)
    }
}

fn line(random: &mut Random) -> Vec<String> {
    let key = |random: &mut Random| format!("k{}", random.below(6));
    let place = |random: &mut Random| random.below(700).to_string();
    let bit = |random: &mut Random| random.below(2).to_string();
    match random.below(7) {
        0 => vec!["SETBIT".into(), key(random), place(random), bit(random)],
        1 => vec!["GETBIT".into(), key(random), place(random)],
        2 => vec!["BITCOUNT".into(), key(random), place(random), place(random), "BIT".into()],
        3 => vec!["BITPOS".into(), key(random), bit(random), place(random), place(random), "BIT".into()],
        4 => {
            let encoding = format!("u{}", random.below(40) + 1);
            let by = random.below(1 << 20).to_string();
            vec!["BITFIELD".into(), key(random), "INCRBY".into(), encoding, place(random), by]
        }
        5 => vec!["GET".into(), key(random)],
        _ => {
            let how = ["AND", "OR", "XOR", "NOT"][random.below(4) as usize];
            let sources = if how == "NOT" { 1 } else { random.below(4) + 1 };
            let mut words = vec!["BITOP".to_owned(), how.to_owned(), key(random)];
            words.extend((0..sources).map(|_| key(random)));
            words
        }
    }
}

#[test]
fn bitmaps_are_as_a_plain_model_has_them() {
    for shards in [1, 3, 8] {
        let (mut rig, mut model) = (Rig::new(shards), Model::default());
        let mut random = Random::new(u64::from(shards));
        for _ in 0..4000 {
            let words = line(&mut random);
            let expected = model.run(&words);
            rig.check(&words.join(" "), &expected);
        }
    }
}
