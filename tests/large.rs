//! Strings of megabytes over real sockets: they are shared instead of copied, so that who reads, copies and
//! changes them at the same time must not see each other's.

#![forbid(unsafe_code)]

#[allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod support;

use std::collections::HashMap;
use std::net::TcpStream;
use support::{Client, Dice, Reply, Server, drivers, encode, until};

const MEGABYTE: usize = 1 << 20;
const KEYS: usize = 6;

/// What the server should hold.
#[derive(Default)]
struct Model {
    values: HashMap<String, Vec<u8>>,
}

impl Model {
    fn get(&self, key: &str) -> Reply {
        self.values.get(key).map_or(Reply::Null, |value| Reply::Bulk(value.clone()))
    }

    /// A random command: its words, and what it is to be answered.
    fn step(&mut self, dice: &mut Dice) -> (Vec<Vec<u8>>, Reply) {
        let (key, other) = (format!("k{}", dice.below(KEYS)), format!("k{}", dice.below(KEYS)));
        let value = vec![b'a' + dice.below(26) as u8; dice.below(3 * MEGABYTE)];
        let words = |words: &[&[u8]]| words.iter().map(|word| word.to_vec()).collect::<Vec<_>>();
        let (name, before) = (key.as_bytes(), self.get(&key));
        let ok = Reply::Status("OK".into());
        match dice.below(10) {
            0 | 1 => {
                self.values.insert(key.clone(), value.clone());
                (words(&[b"SET", name, &value]), ok)
            }
            2 => {
                self.values.insert(key.clone(), value.clone());
                (words(&[b"GETSET", name, &value]), before)
            }
            3 => {
                self.values.remove(&key);
                (words(&[b"GETDEL", name]), before)
            }
            4 => {
                let text = self.values.entry(key.clone()).or_default();
                text.extend_from_slice(&value[..value.len() / 8]);
                let length = text.len() as i64;
                if length == 0 {
                    self.values.remove(&key);
                    return (words(&[b"GET", name]), Reply::Null);
                }
                (words(&[b"APPEND", name, &value[..value.len() / 8]]), Reply::Integer(length))
            }
            5 => {
                let (from, to) = (dice.below(1000), MEGABYTE + dice.below(2 * MEGABYTE));
                let text = self.values.get(&key).map_or(&[][..], |text| {
                    let end = text.len().min(to + 1);
                    &text[from.min(end)..end]
                });
                let (from, to) = (from.to_string(), to.to_string());
                (words(&[b"GETRANGE", name, from.as_bytes(), to.as_bytes()]), Reply::Bulk(text.to_vec()))
            }
            6 => {
                self.values.insert(key.clone(), value.clone());
                self.values.insert(other.clone(), value.clone());
                (words(&[b"MSET", name, &value, other.as_bytes(), &value]), ok)
            }
            7 => {
                let found = Reply::List(vec![before, self.get(&other)]);
                (words(&[b"MGET", name, other.as_bytes()]), found)
            }
            8 => {
                let copied = key != other && self.values.contains_key(&key);
                if copied {
                    self.values.insert(other.clone(), self.values[&key].clone());
                }
                if key == other {
                    return (words(&[b"GET", name]), before);
                }
                let count = Reply::Integer(i64::from(copied));
                (words(&[b"COPY", name, other.as_bytes(), b"REPLACE"]), count)
            }
            _ => (words(&[b"GET", name]), before),
        }
    }
}

/// Small bursts: a client that reads nothing while it sends would wait for ever.
fn talk(client: &mut Client<TcpStream>, dice: &mut Dice, bursts: usize) {
    let mut model = Model::default();
    for burst in 0..bursts {
        let (mut bytes, mut wanted) = (Vec::new(), Vec::new());
        for _ in 0..1 + dice.below(6) {
            let (words, reply) = model.step(dice);
            encode(&mut bytes, &words.iter().map(Vec::as_slice).collect::<Vec<_>>());
            wanted.push((String::from_utf8_lossy(&words[0]).into_owned(), reply));
        }
        if dice.below(3) == 0 {
            transact(client, &bytes, wanted);
            continue;
        }
        client.send(&bytes);
        for (name, wanted) in wanted {
            assert!(client.read() == wanted, "{name} in burst {burst}");
        }
    }
}

/// The same commands between MULTI and EXEC: on several shards their replies come home in one parcel each.
fn transact(client: &mut Client<TcpStream>, commands: &[u8], wanted: Vec<(String, Reply)>) {
    client.check("MULTI", "+OK");
    client.send(commands);
    wanted.iter().for_each(|_| assert_eq!(client.read(), Reply::Status("QUEUED".into())));
    let names: Vec<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(" ");
    let wanted = wanted.into_iter().map(|(_, reply)| reply).collect();
    assert!(client.ask(&[b"EXEC"]) == Reply::List(wanted), "EXEC of {names}");
}

#[test]
fn large_strings_are_answered_as_if_nothing_were_shared() {
    for (shards, order) in [("1", "strict"), ("4", "strict"), ("4", "relaxed")] {
        for driver in drivers() {
            let flags = ["--shards", shards, "--pipeline-order", order, "--driver", driver];
            let server = Server::start(&flags);
            let mut client = server.connect();
            talk(&mut client, &mut Dice(shards.len() as u64 + order.len() as u64), 60);
            client.check("FLUSHALL", "+OK");
            drop(client);
            until("everything is freed", || server.metric("corelane_memory_bytes") < 4e6);
        }
    }
}

#[test]
fn who_reads_slowly_gets_the_value_that_was_when_it_asked() {
    for shards in ["1", "4"] {
        let server = Server::start(&["--shards", shards]);
        let mut writer = server.connect();
        let value = vec![b'1'; 24 * MEGABYTE];
        assert_eq!(writer.ask(&[b"SET", b"k", &value]).show(), "+OK");
        let mut readers: Vec<_> = (0..8).map(|_| server.connect()).collect();
        for reader in &mut readers {
            reader.send(b"STRLEN k\r\nGET k\r\nPING\r\n");
            assert_eq!(reader.read(), Reply::Integer(value.len() as i64));
        }
        let resident = server.process().resident();
        writer.check("SETRANGE k 5 xyz", &format!(":{}", value.len()));
        writer.check("APPEND k more", &format!(":{}", value.len() + 4));
        assert_eq!(writer.ask(&[b"GETRANGE", b"k", b"0", b"9"]).text(), "11111xyz11");
        writer.check("DEL k", ":1");
        println!("{shards} shards hold {} MiB for eight readers of 24 MiB", resident >> 20);
        for mut reader in readers {
            assert!(reader.read() == Reply::Bulk(value.clone()), "the value of then");
            assert_eq!(reader.read().show(), "+PONG");
        }
    }
}

#[test]
fn who_goes_halfway_leaves_nothing() {
    for shards in ["1", "4"] {
        let server = Server::start(&["--shards", shards]);
        let value = vec![b'x'; 20 * MEGABYTE];
        let mut frame = Vec::new();
        encode(&mut frame, &[b"SET", b"k", &value]);
        for cut in [10 * MEGABYTE, MEGABYTE / 2, 17 * MEGABYTE, frame.len()] {
            let mut client = server.connect();
            client.send(&frame[..cut]);
            if cut == frame.len() {
                client.send(b"GET k\r\nGETDEL k\r\n");
                assert_eq!(client.read().show(), "+OK");
            }
            drop(client);
        }
        until("all have gone", || server.metric("corelane_connections_open") == 0.0);
        server.connect().check("FLUSHALL", "+OK");
        until("everything is freed", || server.metric("corelane_memory_bytes") < 4e6);
    }
}
