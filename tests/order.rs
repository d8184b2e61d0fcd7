//! Order and atomicity as strangers see them over real sockets: program order of a pipeline over several
//! shards, answers in order, commands over several keys all or nothing, no lost update.

#![forbid(unsafe_code)]

#[allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod support;

use spec::{owner_of, slot_of};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use support::{Dice, Reply, Server, drivers, encode};

/// A key for each shard.
fn keys_of_shards(shards: u16, name: &str) -> Vec<String> {
    let key = |shard| {
        (0..).map(|n| format!("{name}:{n}")).find(|key| owner_of(slot_of(key.as_bytes()), shards) == shard)
    };
    (0..shards).map(|shard| key(shard).expect("some key belongs to it")).collect()
}

fn number(reply: &Reply) -> i64 {
    match reply {
        Reply::Null => 0,
        Reply::Integer(number) => *number,
        other => other.text().parse().expect("a number"),
    }
}

/// How long strangers watch.
const WATCH: Duration = Duration::from_secs(2);

/// Runs `work` on threads until the time is over; returns how often each was run in all.
fn for_a_while(works: Vec<Box<dyn FnMut() + Send + '_>>) -> Vec<u64> {
    let start = Instant::now();
    let counts: Vec<AtomicU64> = works.iter().map(|_| AtomicU64::new(0)).collect();
    let failed = AtomicBool::new(false);
    thread::scope(|scope| {
        for (mut work, count) in works.into_iter().zip(&counts) {
            let failed = &failed;
            scope.spawn(move || {
                // Every one has its say, however busy the machine is.
                while (start.elapsed() < WATCH || count.load(Ordering::Relaxed) < 3)
                    && !failed.load(Ordering::Relaxed)
                {
                    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(&mut work));
                    if let Err(panic) = outcome {
                        failed.store(true, Ordering::Relaxed);
                        std::panic::resume_unwind(panic);
                    }
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    counts.iter().map(|count| count.load(Ordering::Relaxed)).collect()
}

#[test]
fn a_stranger_never_sees_a_later_write_without_the_earlier_one() {
    for driver in drivers() {
        for shards in [2, 4] {
            let server = Server::start(&["--shards", &shards.to_string(), "--driver", driver]);
            let keys = keys_of_shards(shards, "step");
            let mut works: Vec<Box<dyn FnMut() + Send>> = Vec::new();
            let (mut writer, mut round) = (server.connect(), 0);
            let written = &keys;
            works.push(Box::new(move || {
                let mut bytes = Vec::new();
                for _ in 0..50 {
                    round += 1;
                    for key in written {
                        encode(&mut bytes, &[b"SET", key.as_bytes(), round.to_string().as_bytes()]);
                    }
                }
                writer.send(&bytes);
                (0..50 * written.len()).for_each(|_| assert_eq!(writer.read().show(), "+OK"));
            }));
            for observer in 0..2 {
                let mut client = server.connect();
                let keys = &keys;
                works.push(Box::new(move || {
                    // Backwards: what is read later may only be newer.
                    let seen: Vec<i64> = if observer == 0 {
                        keys.iter().rev().map(|key| number(&client.ask(&[b"GET", key.as_bytes()]))).collect()
                    } else {
                        let mut bytes = Vec::new();
                        keys.iter().rev().for_each(|key| encode(&mut bytes, &[b"GET", key.as_bytes()]));
                        client.send(&bytes);
                        keys.iter().map(|_| number(&client.read())).collect()
                    };
                    assert!(seen.is_sorted(), "{seen:?}: the last write was seen before an earlier one");
                }));
            }
            let counts = for_a_while(works);
            println!("{driver}, {shards} shards: {counts:?} pipelines and looks");
        }
    }
}

#[test]
fn answers_come_in_order_in_either_setting() {
    for order in ["strict", "relaxed"] {
        let server = Server::start(&["--shards", "4", "--pipeline-order", order]);
        let works: Vec<Box<dyn FnMut() + Send>> = (0..4u64)
            .map(|who| {
                let (mut client, mut dice) = (server.connect(), Dice(who));
                let work = move || {
                    let (mut bytes, mut wanted) = (Vec::new(), Vec::new());
                    for step in 0..500 {
                        let key = format!("own:{who}:{}", dice.below(50));
                        let value = format!("{who}:{step}");
                        match dice.below(4) {
                            0 => {
                                encode(&mut bytes, &[b"ECHO", value.as_bytes()]);
                                wanted.push(format!("${value}"));
                            }
                            1 => {
                                let twin = format!("twin:{who}:{}", dice.below(50));
                                let words = [key.as_bytes(), value.as_bytes(), twin.as_bytes(), b"x"];
                                encode(&mut bytes, &[&[&b"MSET"[..]], &words[..]].concat());
                                wanted.push("+OK".to_owned());
                            }
                            _ => {
                                encode(&mut bytes, &[b"SET", key.as_bytes(), value.as_bytes()]);
                                encode(&mut bytes, &[b"GET", key.as_bytes()]);
                                wanted.extend(["+OK".to_owned(), format!("${value}")]);
                            }
                        }
                    }
                    client.send(&bytes);
                    for (place, wanted) in wanted.iter().enumerate() {
                        assert_eq!(&client.read().show(), wanted, "reply {place} to client {who}");
                    }
                };
                Box::new(work) as Box<dyn FnMut() + Send>
            })
            .collect();
        println!("{order}: {:?} pipelines", for_a_while(works));
    }
}

#[test]
fn commands_over_several_keys_are_seen_whole_or_not_at_all() {
    let server = Server::start(&["--shards", "4"]);
    let keys: Vec<String> = [keys_of_shards(4, "left"), keys_of_shards(4, "right")].concat();
    let keys = &keys;
    let mut works: Vec<Box<dyn FnMut() + Send>> = Vec::new();
    for who in 0..3u64 {
        let (mut client, mut dice, mut round) = (server.connect(), Dice(who), 0);
        works.push(Box::new(move || {
            round += 1;
            let value = format!("{who}:{round}");
            // Each in an order of its own, some in a pipeline.
            let (pipelined, mut bytes) = (1 + dice.below(4), Vec::new());
            for _ in 0..pipelined {
                let turn = dice.below(keys.len());
                let mut words: Vec<&[u8]> = vec![b"MSET"];
                for place in 0..keys.len() {
                    words.extend([keys[(place + turn) % keys.len()].as_bytes(), value.as_bytes()]);
                }
                encode(&mut bytes, &words);
            }
            client.send(&bytes);
            (0..pipelined).for_each(|_| assert_eq!(client.read().show(), "+OK"));
        }));
    }
    let mut deleter = server.connect();
    works.push(Box::new(move || {
        let words: Vec<&[u8]> =
            [b"DEL".as_slice()].into_iter().chain(keys.iter().map(|key| key.as_bytes())).collect();
        let count = number(&deleter.ask(&words));
        assert!(count == 0 || count == keys.len() as i64, "DEL found {count} of {}", keys.len());
        thread::sleep(Duration::from_millis(1));
    }));
    for command in ["MGET", "EXISTS"] {
        let mut client = server.connect();
        works.push(Box::new(move || {
            let words: Vec<&[u8]> =
                [command.as_bytes()].into_iter().chain(keys.iter().map(|key| key.as_bytes())).collect();
            match client.ask(&words) {
                Reply::List(values) => {
                    assert!(values.iter().all(|value| *value == values[0]), "a torn MSET: {values:?}");
                }
                Reply::Integer(count) => {
                    assert!(count == 0 || count == keys.len() as i64, "EXISTS saw {count} of {}", keys.len());
                }
                other => panic!("{}", other.show()),
            }
        }));
    }
    println!("MSET, MSET, MSET, DEL, MGET, EXISTS: {:?} times", for_a_while(works));
}

#[test]
fn a_token_that_is_renamed_is_always_in_one_place() {
    let server = Server::start(&["--shards", "4"]);
    let keys = &keys_of_shards(4, "place");
    server.connect().check(&format!("SET {} token", keys[0]), "+OK");
    let mut works: Vec<Box<dyn FnMut() + Send>> = Vec::new();
    for who in 0..3u64 {
        let (mut client, mut dice) = (server.connect(), Dice(who));
        works.push(Box::new(move || {
            let (from, to) = (dice.below(4), dice.below(4));
            let reply = client.says(&format!("RENAME {} {}", keys[from], keys[to]));
            assert!(reply == "+OK" || reply == "-ERR no such key", "{reply}");
        }));
    }
    let mut looker = server.connect();
    works.push(Box::new(move || {
        let Reply::List(values) = looker.ask(&[
            b"MGET",
            keys[0].as_bytes(),
            keys[1].as_bytes(),
            keys[2].as_bytes(),
            keys[3].as_bytes(),
        ]) else {
            panic!("an array");
        };
        let seen = values.iter().filter(|value| **value != Reply::Null).count();
        assert_eq!(seen, 1, "{values:?}");
    }));
    println!("RENAME, RENAME, RENAME, MGET: {:?} times", for_a_while(works));
}

#[test]
fn only_one_of_many_takes_all_keys() {
    let server = Server::start(&["--shards", "4"]);
    for round in 0..100 {
        let keys = keys_of_shards(4, &format!("lock:{round}"));
        let keys = &keys;
        let winners: i64 = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|who| {
                    let mut client = server.connect();
                    scope.spawn(move || {
                        let mut words: Vec<&[u8]> = vec![b"MSETNX"];
                        for place in 0..4 {
                            words.extend([keys[(place + who) % 4].as_bytes(), b"mine".as_slice()]);
                        }
                        number(&client.ask(&words))
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("it replies")).sum()
        });
        assert_eq!(winners, 1, "round {round}");
    }
}

#[test]
fn no_update_is_lost() {
    for driver in drivers() {
        let server = Server::start(&["--shards", "4", "--driver", driver]);
        let (clients, steps, keys) = (8, 4000, 10);
        thread::scope(|scope| {
            for who in 0..clients {
                let mut client = server.connect();
                scope.spawn(move || {
                    let mut dice = Dice(who);
                    let mut highest = vec![0; keys];
                    for _ in 0..steps / 100 {
                        let chosen: Vec<usize> = (0..100).map(|_| dice.below(keys)).collect();
                        let mut bytes = Vec::new();
                        for key in &chosen {
                            encode(&mut bytes, &[b"INCR", format!("count:{key}").as_bytes()]);
                        }
                        client.send(&bytes);
                        for key in chosen {
                            let value = number(&client.read());
                            assert!(
                                value > highest[key],
                                "count:{key} went from {} to {value}",
                                highest[key]
                            );
                            highest[key] = value;
                        }
                    }
                });
            }
        });
        let mut client = server.connect();
        let total: i64 =
            (0..keys).map(|key| number(&client.ask(&[b"GET", format!("count:{key}").as_bytes()]))).sum();
        assert_eq!(total, (clients * steps) as i64);
    }
}

/// Two clients of each of four shards change one pair of keys, always both by one, all of them by transactions that add or
/// all by compare and swap; what each of them has done.
fn contend(swap: bool) -> Vec<u64> {
    let base = support::free_ports(4);
    let server = Server::start(&["--shards", "4", "--shard-ports", &base.to_string()]);
    let keys = keys_of_shards(4, "pair");
    let pair = [&keys[0], &keys[3]];
    let done: Vec<AtomicU64> = (0..8).map(|_| AtomicU64::new(0)).collect();
    let mut works: Vec<Box<dyn FnMut() + Send>> = Vec::new();
    for (who, done) in done.iter().enumerate() {
        let mut client = server.connect_to(base + (who % 4) as u16);
        works.push(Box::new(move || {
            let lines = if swap {
                client.check(&format!("WATCH {} {}", pair[0], pair[1]), "+OK");
                let next = number(&client.ask(&[b"GET", pair[who % 2].as_bytes()])) + 1;
                pair.map(|key| format!("SET {key} {next}"))
            } else {
                pair.map(|key| format!("INCR {key}"))
            };
            client.check("MULTI", "+OK");
            lines.iter().for_each(|line| client.check(line, "+QUEUED"));
            match client.ask(&[b"EXEC"]) {
                Reply::Null => assert!(swap, "only who watches can be refused"),
                Reply::List(replies) => {
                    assert_eq!(replies[0], replies[1], "a torn pair");
                    done.fetch_add(1, Ordering::Relaxed);
                }
                reply => panic!("{}", reply.show()),
            }
        }));
    }
    let tried = for_a_while(works);
    let done: Vec<u64> = done.iter().map(|done| done.load(Ordering::Relaxed)).collect();
    println!("swap {swap}: tried {tried:?}, done {done:?}");
    let mut client = server.connect();
    for key in pair {
        let value = number(&client.ask(&[b"GET", key.as_bytes()]));
        assert_eq!(value, done.iter().sum::<u64>() as i64, "an update of {key} was lost");
    }
    done
}

#[test]
fn four_shards_at_one_pair_of_keys_lose_no_update_and_starve_no_client() {
    for swap in [false, true] {
        let done = contend(swap);
        // Who adds is never refused; of those who swap, the first of each round wins.
        let mean = done.iter().sum::<u64>() / done.len() as u64;
        let least = if swap { 1 } else { mean / 10 };
        assert!(mean > 0 && done.iter().all(|count| *count >= least), "{done:?}: one of them starves");
    }
}
