//! Random list commands over several shards, held against plain vectors.

use crate::context::Random;
use crate::testing::Rig;
use std::collections::BTreeMap;

#[derive(Default)]
struct Model {
    lists: BTreeMap<String, Vec<String>>,
}

fn array(elements: &[String]) -> String {
    format!("[{}]", elements.iter().map(|text| format!("${text}")).collect::<Vec<_>>().join(" "))
}

fn at(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index + length as i64 } else { index };
    usize::try_from(index).ok().filter(|index| *index < length)
}

impl Model {
    /// What a command line is to be answered, after its effect.
    fn run(&mut self, words: &[&str]) -> String {
        let answer = match words[0] {
            "LMOVE" => {
                let Some(element) = self.pop(words[1], words[3] == "LEFT") else { return "nil".into() };
                self.push(words[2], words[4] == "LEFT", &element);
                format!("${element}")
            }
            "LMPOP" => {
                let [left, count] = [words[4] == "LEFT", words[6] == "2"];
                let Some(key) = words[2..4].iter().find(|key| self.lists.contains_key(**key)) else {
                    return "nil".into();
                };
                let most = if count { 2 } else { 7 };
                let taken: Vec<String> = (0..most).map_while(|_| self.pop(key, left)).collect();
                format!("[${key} {}]", array(&taken))
            }
            _ => {
                let mut list = self.lists.remove(words[1]).unwrap_or_default();
                let answer = one(&mut list, words);
                self.lists.insert(words[1].into(), list);
                answer
            }
        };
        self.lists.retain(|_, list| !list.is_empty());
        answer
    }

    fn pop(&mut self, key: &str, left: bool) -> Option<String> {
        let list = self.lists.get_mut(key)?;
        let element = if left { (!list.is_empty()).then(|| list.remove(0)) } else { list.pop() };
        if list.is_empty() {
            self.lists.remove(key);
        }
        element
    }

    fn push(&mut self, key: &str, left: bool, element: &str) {
        let list = self.lists.entry(key.into()).or_default();
        list.insert(if left { 0 } else { list.len() }, element.into());
    }
}

/// A command on one list.
fn one(list: &mut Vec<String>, words: &[&str]) -> String {
    let length = list.len();
    match words[0] {
        "LPUSH" => {
            words[2..].iter().for_each(|element| list.insert(0, (*element).into()));
            format!(":{}", list.len())
        }
        "RPUSH" => {
            list.extend(words[2..].iter().map(|element| (*element).to_owned()));
            format!(":{}", list.len())
        }
        "LPOP" | "RPOP" if length == 0 => "nil".into(),
        "LPOP" => array(&list.drain(..words[2].parse::<usize>().unwrap().min(length)).collect::<Vec<_>>()),
        "RPOP" => {
            let first = length - words[2].parse::<usize>().unwrap().min(length);
            array(&list.drain(first..).rev().collect::<Vec<_>>())
        }
        "LLEN" => format!(":{length}"),
        "LINDEX" => at(words[2].parse().unwrap(), length).map_or("nil".into(), |at| format!("${}", list[at])),
        "LSET" if length == 0 => "-ERR no such key".into(),
        "LSET" => match at(words[2].parse().unwrap(), length) {
            None => "-ERR index out of range".into(),
            Some(at) => {
                list[at] = words[3].into();
                "+OK".into()
            }
        },
        "LINSERT" if length == 0 => ":0".into(),
        "LINSERT" => match list.iter().position(|element| element == words[3]) {
            None => ":-1".into(),
            Some(at) => {
                list.insert(at + usize::from(words[2] == "AFTER"), words[4].into());
                format!(":{}", list.len())
            }
        },
        "LREM" => {
            let count: i64 = words[2].parse().unwrap();
            let mut places: Vec<usize> = (0..length).filter(|at| list[*at] == words[3]).collect();
            if count < 0 {
                places.reverse();
            }
            places.truncate(if count == 0 { usize::MAX } else { count.unsigned_abs() as usize });
            places.sort_unstable_by(|a, b| b.cmp(a));
            places.iter().for_each(|at| drop(list.remove(*at)));
            format!(":{}", places.len())
        }
        "LRANGE" | "LTRIM" => {
            let bound = |word: &str| {
                let index: i64 = word.parse().unwrap();
                if index < 0 { index + length as i64 } else { index }
            };
            let (first, last) = (bound(words[2]).max(0), bound(words[3]).min(length as i64 - 1));
            let part = if first > last { Vec::new() } else { list[first as usize..=last as usize].to_vec() };
            if words[0] == "LRANGE" {
                return array(&part);
            }
            *list = part;
            "+OK".into()
        }
        "LPOS" => {
            let places: Vec<String> =
                (0..length).filter(|at| list[*at] == words[2]).map(|at| format!(":{at}")).collect();
            format!("[{}]", places.join(" "))
        }
        other => panic!("the model does not know {other}"),
    }
}

fn line(random: &mut Random) -> String {
    let key = |random: &mut Random| format!("list:{}", random.below(5));
    let element = |random: &mut Random| match random.below(4) {
        0 => format!("{}", random.below(400)),
        1 => "e".repeat(random.below(300) as usize + 1),
        _ => format!("element{}", random.below(9)),
    };
    let side = |random: &mut Random| ["LEFT", "RIGHT"][random.below(2) as usize];
    let index = |random: &mut Random| random.below(60) as i64 - 30;
    let (one, two, this) = (key(random), key(random), element(random));
    match random.below(16) {
        0..4 => {
            let many: Vec<String> = (0..random.below(20) + 1).map(|_| element(random)).collect();
            format!("{} {one} {}", ["LPUSH", "RPUSH"][random.below(2) as usize], many.join(" "))
        }
        4 => format!("{} {one} {}", ["LPOP", "RPOP"][random.below(2) as usize], random.below(15) + 1),
        5 => format!("LLEN {one}"),
        6 => format!("LINDEX {one} {}", index(random)),
        7 => format!("LSET {one} {} {this}", index(random)),
        8 => {
            let place = ["BEFORE", "AFTER"][random.below(2) as usize];
            format!("LINSERT {one} {place} element{} {this}", random.below(9))
        }
        9 => format!("LREM {one} {} {this}", random.below(7) as i64 - 3),
        10 => format!("LRANGE {one} {} {}", index(random), index(random)),
        11 if random.below(4) == 0 => format!("LTRIM {one} {} {}", index(random), index(random)),
        11 | 12 => format!("LPOS {one} {this} COUNT 0"),
        13 => format!("LMPOP 2 {one} {two} {} COUNT {}", side(random), [2, 7][random.below(2) as usize]),
        _ => format!("LMOVE {one} {two} {} {}", side(random), side(random)),
    }
}

#[test]
fn lists_do_what_vectors_do() {
    for (seed, shards) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 1), (6, 3)] {
        let (mut rig, mut random, mut model) = (Rig::new(shards), Random::new(seed), Model::default());
        rig.configure(|live| live.encodings.list_max_listpack_size = [-2, 4, 16][seed as usize % 3]);
        for step in 0..4000 {
            let line = line(&mut random);
            let words: Vec<&str> = line.split(' ').collect();
            let expected = model.run(&words);
            assert_eq!(rig.say(&line), expected, "step {step} of seed {seed}: {line}");
        }
        let there: usize = rig.houses.iter().map(|house| house.store.len(0)).sum();
        assert_eq!(there, model.lists.len(), "a list without elements is no key");
    }
}
