//! Random commands on sorted sets over several shards, held against plain maps.

use crate::context::Random;
use crate::testing::Rig;
use std::collections::BTreeMap;

/// Members and scores; whole numbers, so that they print as they are.
type Set = BTreeMap<String, i64>;

#[derive(Default)]
struct Model {
    keys: BTreeMap<String, Set>,
}

fn ordered(set: &Set) -> Vec<(i64, String)> {
    let mut entries: Vec<_> = set.iter().map(|(member, score)| (*score, member.clone())).collect();
    entries.sort();
    entries
}

fn flat(entries: &[(i64, String)], scores: bool) -> String {
    let words: Vec<String> = entries
        .iter()
        .map(|(score, member)| if scores { format!("${member} ${score}") } else { format!("${member}") })
        .collect();
    format!("[{}]", words.join(" "))
}

/// A part of a list by ranks that may be negative.
fn cut<T: Clone>(list: &[T], start: i64, stop: i64) -> Vec<T> {
    let len = list.len() as i64;
    let from_end = |rank: i64| if rank < 0 { rank + len } else { rank };
    let (start, stop) = (from_end(start).max(0), from_end(stop).min(len - 1));
    if start > stop { Vec::new() } else { list[start as usize..=stop as usize].to_vec() }
}

impl Model {
    fn get(&self, key: &str) -> Set {
        self.keys.get(key).cloned().unwrap_or_default()
    }

    fn put(&mut self, key: &str, set: Set) -> String {
        let count = set.len();
        self.keys.insert(key.into(), set);
        self.keys.retain(|_, set| !set.is_empty());
        format!(":{count}")
    }

    /// What a command line is to be answered, after its effect.
    fn run(&mut self, words: &[&str]) -> String {
        let key = words[1];
        match words[0] {
            "ZADD" => self.add(words),
            "ZREM" | "ZREMRANGEBYRANK" | "ZREMRANGEBYSCORE" | "ZPOPMIN" | "ZPOPMAX" => self.remove(words),
            "ZUNIONSTORE" | "ZINTERSTORE" | "ZDIFFSTORE" => {
                let inputs: Vec<Set> = words[3..].iter().map(|key| self.get(key)).collect();
                let mut result = Set::new();
                for member in inputs.iter().flat_map(|set| set.keys()) {
                    let scores: Vec<i64> = inputs.iter().filter_map(|set| set.get(member).copied()).collect();
                    let sum = scores.iter().sum();
                    match words[0] {
                        "ZUNIONSTORE" => {
                            let _ = result.insert(member.clone(), sum);
                        }
                        "ZINTERSTORE" if scores.len() == inputs.len() => {
                            let _ = result.insert(member.clone(), sum);
                        }
                        "ZDIFFSTORE" if scores.len() == 1 && inputs[0].contains_key(member) => {
                            result.insert(member.clone(), sum);
                        }
                        _ => {}
                    }
                }
                self.put(key, result)
            }
            "ZRANGESTORE" => {
                let entries = ordered(&self.get(words[2]));
                let part = cut(&entries, words[3].parse().unwrap(), words[4].parse().unwrap());
                self.put(key, part.into_iter().map(|(score, member)| (member, score)).collect())
            }
            "ZMPOP" => {
                for key in &words[2..4] {
                    let mut entries = ordered(&self.get(key));
                    if words[4] == "MAX" {
                        entries.reverse();
                    }
                    if entries.is_empty() {
                        continue;
                    }
                    let part = cut(&entries, 0, words[6].parse::<i64>().unwrap() - 1);
                    let mut set = self.get(key);
                    part.iter().for_each(|(_, member)| {
                        set.remove(member);
                    });
                    self.put(key, set);
                    let pairs: Vec<_> =
                        part.iter().map(|(score, member)| format!("[${member} ${score}]")).collect();
                    return format!("[${key} [{}]]", pairs.join(" "));
                }
                "nil".into()
            }
            _ => self.read(words),
        }
    }

    fn add(&mut self, words: &[&str]) -> String {
        let (key, option) = (words[1], words[2]);
        let (score, member): (i64, _) = (words[3].parse().unwrap(), words[4]);
        let mut set = self.get(key);
        let old = set.get(member).copied();
        let goes = match option {
            "NX" => old.is_none(),
            "XX" => old.is_some(),
            "GT" => old.is_none_or(|old| score > old),
            "LT" => old.is_none_or(|old| score < old),
            _ => true,
        };
        let score = if option == "INCR" { old.unwrap_or(0) + score } else { score };
        if goes {
            set.insert(member.into(), score);
            self.put(key, set);
        }
        if option == "INCR" { format!("${score}") } else { format!(":{}", i32::from(goes && old.is_none())) }
    }

    fn remove(&mut self, words: &[&str]) -> String {
        let key = words[1];
        let mut set = self.get(key);
        let entries = ordered(&set);
        let number = |at: usize| words[at].parse::<i64>().unwrap();
        let gone: Vec<(i64, String)> = match words[0] {
            "ZREM" => entries.into_iter().filter(|(_, member)| words[2..].contains(&&member[..])).collect(),
            "ZREMRANGEBYRANK" => cut(&entries, number(2), number(3)),
            "ZREMRANGEBYSCORE" => {
                entries.into_iter().filter(|(score, _)| *score >= number(2) && *score < number(3)).collect()
            }
            "ZPOPMIN" => cut(&entries, 0, number(2) - 1),
            _ => cut(&entries.into_iter().rev().collect::<Vec<_>>(), 0, number(2) - 1),
        };
        gone.iter().for_each(|(_, member)| {
            set.remove(member);
        });
        self.put(key, set);
        if words[0].starts_with("ZPOP") { flat(&gone, true) } else { format!(":{}", gone.len()) }
    }

    fn read(&self, words: &[&str]) -> String {
        let entries = ordered(&self.get(words[1]));
        let reversed: Vec<_> = entries.iter().rev().cloned().collect();
        let number = |at: usize| words[at].parse::<i64>().unwrap();
        let rank = |entries: &[(i64, String)]| {
            let rank = entries.iter().position(|(_, member)| member == words[2]);
            rank.map_or("nil".into(), |rank| format!(":{rank}"))
        };
        match words[0] {
            "ZRANGE" if words.last() == Some(&"REV") => flat(&cut(&reversed, number(2), number(3)), false),
            "ZRANGE" => flat(&cut(&entries, number(2), number(3)), words.len() > 4),
            "ZREVRANGEBYSCORE" => {
                let low: i64 = words[3][1..].parse().unwrap();
                let within = reversed.into_iter().filter(|(score, _)| *score <= number(2) && *score > low);
                let part: Vec<_> = within.skip(number(5) as usize).take(number(6) as usize).collect();
                flat(&part, false)
            }
            "ZCOUNT" => {
                let within = entries.iter().filter(|(score, _)| *score >= number(2) && *score <= number(3));
                format!(":{}", within.count())
            }
            "ZRANK" => rank(&entries),
            "ZREVRANK" => rank(&reversed),
            "ZSCORE" => {
                let score = entries.iter().find(|(_, member)| member == words[2]);
                score.map_or("nil".into(), |(score, _)| format!("${score}"))
            }
            "ZCARD" => format!(":{}", entries.len()),
            other => panic!("the model does not know {other}"),
        }
    }
}

/// A random command line over few keys and members, so that they meet.
fn line(random: &mut Random) -> String {
    let mut below = |bound| random.below(bound) as i64;
    let (a, b, c) = (format!("k{}", below(6)), format!("k{}", below(6)), format!("k{}", below(6)));
    let mut member = || match below(3) {
        0 => format!("{}", below(30) * 1_000_003),
        _ => format!("m{}", below(30)),
    };
    let (m, n) = (member(), member());
    let (low, high) = (below(30) - 10, below(30) - 10);
    let (start, stop) = (below(12) - 4, below(12) - 4);
    let count = below(4) + 1;
    match below(24) {
        0..=6 => format!("ZADD {a} CH {low} {m}")
            .replace(" CH", [" ", " NX", " XX", " GT", " LT", " INCR"][below(6) as usize]),
        7 => format!("ZREM {a} {m} {n}"),
        8 => format!("ZREMRANGEBYRANK {a} {start} {stop}"),
        9 => format!("ZREMRANGEBYSCORE {a} {low} ({high}"),
        10 => format!("ZPOPMIN {a} {count}"),
        11 => format!("ZPOPMAX {a} {count}"),
        12 => format!("ZUNIONSTORE {a} 2 {b} {c}"),
        13 => format!("ZINTERSTORE {a} 2 {b} {c}"),
        14 => format!("ZDIFFSTORE {a} 2 {b} {c}"),
        15 => format!("ZRANGESTORE {a} {b} {start} {stop}"),
        16 => format!("ZMPOP 2 {a} {b} {} COUNT {count}", ["MIN", "MAX"][below(2) as usize]),
        17 => format!("ZRANGE {a} {start} {stop} REV"),
        18 => format!("ZRANGE {a} {start} {stop} WITHSCORES"),
        19 => format!("ZREVRANGEBYSCORE {a} {high} ({low} LIMIT {} {count}", below(3)),
        20 => format!("ZCOUNT {a} {low} {high}"),
        21 => format!("ZRANK {a} {m}"),
        22 => format!("ZREVRANK {a} {m}"),
        _ => format!("ZSCORE {a} {m}"),
    }
}

fn campaign(seed: u64, shards: u16, entries: u64) {
    let (mut random, mut rig, mut model) = (Random::new(seed), Rig::new(shards), Model::default());
    rig.configure(|live| live.encodings.zset_max_listpack_entries = entries);
    for step in 0..500 {
        let line = line(&mut random);
        // Where no option is said, the model gets an empty one.
        let said = line.replace("  ", " ");
        let plain: Vec<&str> = line.split(' ').collect();
        let words: Vec<&str> = plain.iter().map(|word| word.trim_start_matches('(')).collect();
        let keeps = matches!(plain[0], "ZREVRANGEBYSCORE");
        let expected = model.run(if keeps { &plain } else { &words });
        assert_eq!(rig.say(&said), expected, "{said}, step {step} of seed {seed} on {shards} shards");
    }
    for (key, set) in &model.keys {
        rig.check(&format!("ZRANGE {key} 0 -1 WITHSCORES"), &flat(&ordered(set), true));
    }
    rig.check("DBSIZE", &format!(":{}", model.keys.len()));
}

#[test]
fn random_commands_do_what_plain_maps_do() {
    for seed in 0..40 {
        for shards in [1, 2, 5] {
            campaign(seed, shards, if seed % 2 == 0 { 128 } else { 5 });
        }
    }
}
