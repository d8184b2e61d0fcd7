//! SCAN over the shards of whole cores: pages are full while there are keys, wherever the client sits.

#![forbid(unsafe_code)]

use corelane_house::House;
use memory::{MemoryConfig, MemoryWire};
use resp::client::{Value, decode};

struct Client {
    house: House,
    wire: MemoryWire,
}

impl Client {
    fn new(shards: usize, seat: usize) -> Client {
        let mut house = House::new(shards, MemoryConfig::default(), |_| ());
        let wire = house.dial(seat);
        Client { house, wire }
    }

    fn ask(&mut self, line: &str) -> Value {
        let mut bytes = Vec::new();
        self.wire.send(format!("{line}\r\n").as_bytes());
        for _ in 0..200 {
            self.house.tick();
            self.wire.receive(&mut bytes);
            if let Some((value, length)) = decode(&bytes).expect("it is well formed") {
                assert_eq!(length, bytes.len(), "one answer");
                return value;
            }
        }
        panic!("{line} is not answered");
    }

    /// A page: its cursor and its keys.
    fn page(&mut self, line: &str) -> (String, Vec<String>) {
        let Value::Array(parts) = self.ask(line) else { panic!("a page is an array") };
        let Value::Array(keys) = &parts[1] else { panic!("keys are an array") };
        (text(&parts[0]), keys.iter().map(text).collect())
    }

    /// A number out of INFO commandstats.
    fn calls(&mut self) -> String {
        let value = self.ask("INFO commandstats");
        let text = text(&value);
        let line = text.lines().find_map(|line| line.strip_prefix("cmdstat_scan:calls=")).unwrap_or("0");
        line.split(',').next().unwrap_or_default().to_owned()
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Bulk(bytes) | Value::Verbatim(_, bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => panic!("{other:?} is no string"),
    }
}

fn everywhere(test: impl Fn(&mut Client)) {
    for shards in [1, 2, 3, 8] {
        for seat in 0..shards {
            test(&mut Client::new(shards, seat));
        }
    }
}

#[test]
fn a_small_database_is_one_page() {
    everywhere(|client| {
        (0..8).for_each(|place| drop(client.ask(&format!("SET key:{place} value"))));
        let (cursor, mut keys) = client.page("SCAN 0");
        keys.sort();
        assert_eq!((cursor.as_str(), keys.len(), keys[7].as_str()), ("0", 8, "key:7"));
        client.ask("RPUSH list a");
        assert_eq!(client.page("SCAN 0 TYPE list"), ("0".to_owned(), vec!["list".to_owned()]));
        assert_eq!(client.page("SCAN 0 MATCH *t"), ("0".to_owned(), vec!["list".to_owned()]));
        assert_eq!(client.page("SCAN 1023"), ("0".to_owned(), vec![]), "no such shard");
        assert_eq!(client.calls(), "4", "once each, however many shards they saw");
    });
}

#[test]
fn pages_hold_what_was_asked_for_until_the_last() {
    everywhere(|client| {
        (0..1000).for_each(|place| drop(client.ask(&format!("SET key:{place:040} value"))));
        for count in [1, 7, 100, 400, 2000] {
            let (mut cursor, mut all, mut pages) = ("0".to_owned(), Vec::new(), 0);
            loop {
                let (next, keys) = client.page(&format!("SCAN {cursor} COUNT {count}"));
                assert!(keys.len() >= count || next == "0", "{} of {count}", keys.len());
                all.extend(keys);
                pages += 1;
                cursor = next;
                if cursor == "0" {
                    break;
                }
            }
            all.sort();
            assert!(pages <= 1 + 1000 / count, "{pages} pages of {count}");
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]) && all.len() == 1000, "each key once");
        }
    });
}

#[test]
fn a_scan_inside_a_transaction_keeps_to_one_shard_a_page() {
    everywhere(|client| {
        (0..20).for_each(|place| drop(client.ask(&format!("SET key:{place} value"))));
        let (mut cursor, mut found) = ("0".to_owned(), 0);
        loop {
            client.ask("MULTI");
            client.ask(&format!("SCAN {cursor} COUNT 100"));
            let Value::Array(answers) = client.ask("EXEC") else { panic!("EXEC answers with an array") };
            let Value::Array(parts) = &answers[0] else { panic!("a page is an array") };
            let Value::Array(keys) = &parts[1] else { panic!("keys are an array") };
            found += keys.len();
            cursor = text(&parts[0]);
            if cursor == "0" {
                break;
            }
        }
        assert_eq!(found, 20);
    });
}

#[test]
fn who_looks_around_during_a_pause_leaves_expired_keys_in_place() {
    for shards in [1, 4] {
        let mut client = Client::new(shards, 0);
        (0..8).for_each(|place| drop(client.ask(&format!("SET key:{place} value PX 300"))));
        assert_eq!(client.ask("CLIENT PAUSE 60000 WRITE"), Value::Simple("OK".into()));
        std::thread::sleep(std::time::Duration::from_millis(310));
        assert_eq!(client.page("SCAN 0 COUNT 100"), ("0".to_owned(), vec![]));
        assert_eq!(client.ask("KEYS *"), Value::Array(vec![]));
        assert_eq!(client.ask("RANDOMKEY"), Value::Null);
        assert_eq!(client.ask("GET key:3"), Value::Null);
        let expired = |client: &Client| -> u64 {
            client.house.blocks().iter().map(|block| block.expired_keys.read()).sum()
        };
        assert_eq!((client.ask("DBSIZE"), expired(&client)), (Value::Integer(8), 0));
        client.ask("CLIENT UNPAUSE");
        assert_eq!(client.page("SCAN 0 COUNT 100"), ("0".to_owned(), vec![]));
        assert_eq!((client.ask("DBSIZE"), expired(&client)), (Value::Integer(0), 8));
    }
}
