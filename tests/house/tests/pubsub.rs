//! Publish and subscribe over whole cores, in sentences: who hears what, in which order, and who is told what.

#![forbid(unsafe_code)]

use corelane_house::House;
use memory::{MemoryConfig, MemoryWire};
use resp::client::{Value, decode};

/// Clients of a house of some shards, by name.
struct Town {
    house: House,
    shards: usize,
    clients: Vec<(&'static str, MemoryWire, Vec<u8>)>,
}

/// Runs a test on one shard, and on several.
fn on_shards(test: impl Fn(&mut Town)) {
    for shards in [1, 2, 4] {
        test(&mut Town::new(shards, |_| ()));
    }
}

impl Town {
    fn new(shards: usize, configure: impl FnOnce(&mut corelane::config::Config)) -> Town {
        let house = House::new(shards, MemoryConfig::default(), configure);
        Town { house, shards, clients: Vec::new() }
    }

    /// Lets everything that is under way arrive.
    fn settle(&mut self) {
        (0..20).for_each(|_| self.house.tick());
    }

    /// Parcels that all shards have sent.
    fn parcels(&self) -> u64 {
        self.house.blocks().iter().map(|block| block.parcels_sent.read()).sum()
    }

    /// The place of a client; who is new comes to the next shard.
    fn place(&mut self, name: &'static str) -> usize {
        if let Some(place) = self.clients.iter().position(|(other, ..)| *other == name) {
            return place;
        }
        let wire = self.house.dial(self.clients.len() % self.shards);
        self.clients.push((name, wire, Vec::new()));
        self.clients.len() - 1
    }

    /// A client sends lines, and is not waited for.
    fn send(&mut self, name: &'static str, lines: &[&str]) {
        let place = self.place(name);
        let bytes: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        self.clients[place].1.send(bytes.as_bytes());
    }

    /// Everything that a client has heard and not been asked for.
    fn heard(&mut self, name: &'static str) -> String {
        self.settle();
        let place = self.place(name);
        let (_, wire, bytes) = &mut self.clients[place];
        wire.receive(bytes);
        let mut words = Vec::new();
        while let Some((value, length)) = decode(bytes).expect("what is heard is well formed") {
            words.push(shown(&value));
            bytes.drain(..length);
        }
        assert!(bytes.is_empty(), "{name} heard half a message");
        words.join(" ")
    }

    /// Checks what a client hears when it says something.
    #[track_caller]
    fn check(&mut self, name: &'static str, line: &str, expected: &str) {
        self.send(name, &[line]);
        let heard = self.heard(name);
        assert_eq!(heard, expected, "{name} said {line} on {} shards", self.shards);
    }

    #[track_caller]
    fn hears(&mut self, name: &'static str, expected: &str) {
        let heard = self.heard(name);
        assert_eq!(heard, expected, "{name} on {} shards", self.shards);
    }
}

fn shown(value: &Value) -> String {
    let list = |values: &[Value]| values.iter().map(shown).collect::<Vec<_>>().join(" ");
    match value {
        Value::Simple(text) => format!("+{text}"),
        Value::Error(text) => format!("-{text}"),
        Value::Integer(number) => format!(":{number}"),
        Value::Bulk(bytes) => bytes.escape_ascii().to_string(),
        Value::Null => "nil".into(),
        Value::Array(values) => format!("[{}]", list(values)),
        Value::Push(values) => format!(">{}<", list(values)),
        Value::Map(_) => "map".into(),
        other => format!("{other:?}"),
    }
}

#[test]
fn messages_reach_those_who_listen_on_all_shards_and_are_counted() {
    on_shards(|town| {
        for name in ["a", "b", "c", "d", "e"] {
            town.check(name, "SUBSCRIBE news", "[subscribe news :1]");
        }
        town.check("a", "PSUBSCRIBE n*s", "[psubscribe n*s :2]");
        town.check("b", "PSUBSCRIBE *", "[psubscribe * :2]");
        town.check("teller", "PUBLISH news hello", ":7");
        town.hears("a", "[message news hello] [pmessage n*s news hello]");
        town.hears("b", "[message news hello] [pmessage * news hello]");
        town.hears("e", "[message news hello]");
        town.check("teller", "PUBLISH other hello", ":1");
        town.hears("b", "[pmessage * other hello]");
        town.check("teller", "PUBSUB CHANNELS", "[news]");
        town.check("teller", "PUBSUB NUMSUB news other", "[news :5 other :0]");
        town.check("teller", "PUBSUB NUMPAT", ":2");
        town.hears("c", "[message news hello]");
        town.check("c", "UNSUBSCRIBE", "[unsubscribe news :0]");
        town.check("a", "UNSUBSCRIBE news", "[unsubscribe news :1]");
        town.check("teller", "PUBLISH news again", ":5");
        town.check("teller", "SPUBLISH news again", ":0");
        town.check("c", "SSUBSCRIBE news", "[ssubscribe news :1]");
        town.check("teller", "SPUBLISH news again", ":1");
        town.hears("c", "[smessage news again]");
    });
}

#[test]
fn one_publishers_messages_arrive_in_order_however_it_sends_them() {
    on_shards(|town| {
        for name in ["a", "b", "c", "d"] {
            town.check(name, "SUBSCRIBE news", "[subscribe news :1]");
        }
        let lines: Vec<String> = (0..300).map(|number| format!("PUBLISH news {number}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        town.send("teller", &lines);
        let counts = town.heard("teller");
        assert_eq!(counts, vec![":4"; 300].join(" "));
        let all: Vec<String> = (0..300).map(|number| format!("[message news {number}]")).collect();
        for name in ["a", "b", "c", "d"] {
            town.hears(name, &all.join(" "));
        }
    });
}

#[test]
fn who_listens_with_resp2_may_say_little_else() {
    on_shards(|town| {
        town.check("a", "SUBSCRIBE x y", "[subscribe x :1] [subscribe y :2]");
        town.check(
            "a",
            "GET x",
            "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context",
        );
        town.check("a", "PING", "[pong ]");
        town.check("a", "PING hello", "[pong hello]");
        town.check("a", "RESET", "+RESET");
        town.check("b", "PUBLISH x y", ":0");
        town.check("a", "GET x", "nil");
        town.check("b", "PUBSUB CHANNELS", "[]");
    });
}

#[test]
fn who_listens_with_resp3_says_what_it_likes_and_hears_itself_behind_its_reply() {
    on_shards(|town| {
        town.check("a", "HELLO 3", "map");
        town.check("a", "SUBSCRIBE x", ">subscribe x :1<");
        town.check("a", "PUBLISH x one", ":1 >message x one<");
        town.check("a", "PING", "+PONG");
        town.send("a", &["PUBLISH x two", "GET k", "PUBLISH x three", "UNSUBSCRIBE x", "PUBLISH x four"]);
        town.hears("a", ":1 >message x two< nil :1 >message x three< >unsubscribe x :0< :0");
        town.check("a", "SUBSCRIBE x", ">subscribe x :1<");
        town.send("a", &["MULTI", "SET k v", "PUBLISH x five", "GET k", "EXEC"]);
        // Where the transaction goes over several shards, the message may be there before its answer.
        let heard = town.heard("a").replace(">message x five< ", "").replace(" >message x five<", "");
        assert_eq!(heard, "+OK +QUEUED +QUEUED +QUEUED [+OK :1 v]");
    });
}

#[test]
fn subscriptions_in_transactions() {
    on_shards(|town| {
        town.check("a", "HELLO 3", "map");
        town.check("b", "SUBSCRIBE out", "[subscribe out :1]");
        town.send(
            "a",
            &["MULTI", "SUBSCRIBE x", "SET k1 v", "SET k2 v", "PUBLISH out told", "UNSUBSCRIBE x", "EXEC"],
        );
        town.hears(
            "a",
            "+OK +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED [>subscribe x :1< +OK +OK :1 >unsubscribe x :0<]",
        );
        town.hears("b", "[message out told]");
        town.check("c", "PUBSUB CHANNELS", "[out]");
    });
}

#[test]
fn client_reply_silences_no_message() {
    on_shards(|town| {
        town.send("a", &["CLIENT REPLY OFF", "SUBSCRIBE x", "PING"]);
        town.hears("a", "[subscribe x :1]");
        town.check("b", "PUBLISH x y", ":1");
        town.hears("a", "[message x y]");
        town.check("a", "UNSUBSCRIBE x", "[unsubscribe x :0]");
        town.send("c", &["CLIENT REPLY SKIP", "SUBSCRIBE x", "UNSUBSCRIBE", "PING"]);
        town.hears("c", "[subscribe x :1] [unsubscribe x :0] +PONG");
    });
}

#[test]
fn who_has_gone_is_forgotten_everywhere() {
    on_shards(|town| {
        town.check("a", "SUBSCRIBE x", "[subscribe x :1]");
        town.check("b", "SUBSCRIBE x", "[subscribe x :1]");
        town.check("b", "PSUBSCRIBE x*", "[psubscribe x* :2]");
        town.send("c", &["SUBSCRIBE y"]);
        town.clients.retain(|(name, ..)| *name == "a");
        town.settle();
        town.check("teller", "PUBLISH x y", ":1");
        town.check("teller", "PUBLISH y y", ":0");
        town.check("teller", "PUBSUB NUMPAT", ":0");
        town.send("teller", &["INFO stats"]);
        let info = town.heard("teller");
        assert!(info.contains("pubsub_channels:1") && info.contains("pubsub_patterns:0"), "{info}");
    });
}

#[test]
fn keys_tell_what_happens_to_them_on_every_shard() {
    on_shards(|town| {
        town.check("teller", "CONFIG SET notify-keyspace-events KEA", "+OK");
        town.check("a", "PSUBSCRIBE __key*", "[psubscribe __key* :1]");
        town.check("b", "SUBSCRIBE __keyevent@0__:set", "[subscribe __keyevent@0__:set :1]");
        town.check("c", "SUBSCRIBE __keyspace@0__:k2", "[subscribe __keyspace@0__:k2 :1]");
        for key in ["k1", "k2", "k3", "k4"] {
            town.check("teller", &format!("SET {key} v"), "+OK");
            town.hears(
                "a",
                &format!(
                    "[pmessage __key* __keyspace@0__:{key} set] [pmessage __key* __keyevent@0__:set {key}]"
                ),
            );
            town.hears("b", &format!("[message __keyevent@0__:set {key}]"));
            town.hears("c", if key == "k2" { "[message __keyspace@0__:k2 set]" } else { "" });
        }
        town.check("teller", "MSETNX k1 v k9 v", ":0");
        town.hears("a", "");
        town.check("teller", "RENAME k1 k9", "+OK");
        let mut heard = town.heard("a").replace("pmessage __key* __key", "");
        assert_eq!(heard.len(), 103, "{heard}");
        town.check("teller", "DEL k2 k3", ":2");
        heard = town.heard("a");
        assert!(
            heard.contains("__keyspace@0__:k2 del") && heard.contains("__keyevent@0__:del k3"),
            "{heard}"
        );
        town.hears("c", "[message __keyspace@0__:k2 del]");
        town.check("teller", "CONFIG SET notify-keyspace-events \"\"", "+OK");
        town.check("teller", "SET k1 v", "+OK");
        town.hears("a", "");
    });
}

#[test]
fn keys_that_expire_come_to_be_or_are_missed_tell_it() {
    for shards in [1, 2, 4] {
        let mut town = Town::new(shards, |config| {
            config.settings.live.enable_debug_command = spec::setting::Permit::Yes;
        });
        town.check("teller", "CONFIG SET notify-keyspace-events Exmn$", "+OK");
        town.check("a", "PSUBSCRIBE *", "[psubscribe * :1]");
        let event = |name: &str, key: &str| format!("[pmessage * __keyevent@0__:{name} {key}]");
        town.check("teller", "SET k v PX 20", "+OK");
        town.hears("a", &[event("new", "k"), event("set", "k")].join(" "));
        std::thread::sleep(std::time::Duration::from_millis(90));
        town.hears("a", &event("expired", "k"));
        town.check("teller", "GET k", "nil");
        town.hears("a", &event("keymiss", "k"));
        town.check("teller", "DEBUG SET-ACTIVE-EXPIRE 0", "+OK");
        town.check("teller", "SET k v PX 20", "+OK");
        town.hears("a", &[event("new", "k"), event("set", "k")].join(" "));
        std::thread::sleep(std::time::Duration::from_millis(90));
        town.hears("a", "");
        town.check("teller", "GET k", "nil");
        town.hears("a", &[event("expired", "k"), event("keymiss", "k")].join(" "));
        town.check("teller", "MSETNX k v l v", ":1");
        let mut heard: Vec<String> =
            town.heard("a").split_inclusive(']').map(|text| text.trim().into()).collect();
        heard.sort_unstable();
        assert_eq!(heard, [event("new", "k"), event("new", "l"), event("set", "k"), event("set", "l")]);
    }
}

#[test]
fn fields_of_hashes_that_expire_tell_it() {
    for shards in [1, 4] {
        let mut town = Town::new(shards, |_| ());
        town.check("teller", "CONFIG SET notify-keyspace-events Ehgx", "+OK");
        town.check("a", "PSUBSCRIBE *", "[psubscribe * :1]");
        let event = |name: &str| format!("[pmessage * __keyevent@0__:{name} k]");
        town.check("teller", "HSET k one 1 two 2", ":2");
        town.check("teller", "HPEXPIRE k 20 FIELDS 1 one", "[:1]");
        town.hears("a", &[event("hset"), event("hexpire")].join(" "));
        std::thread::sleep(std::time::Duration::from_millis(150));
        town.hears("a", &event("hexpired"));
        town.check("teller", "HPEXPIRE k 20 FIELDS 1 two", "[:1]");
        town.hears("a", &event("hexpire"));
        std::thread::sleep(std::time::Duration::from_millis(150));
        town.hears("a", &[event("hexpired"), event("del")].join(" "));
        town.check("teller", "EXISTS k", ":0");
        town.send("teller", &["INFO stats"]);
        let info = town.heard("teller");
        assert!(info.contains("expired_subkeys:2"), "{info}");
    }
}

#[test]
fn who_does_not_read_is_closed_and_slows_nobody() {
    for shards in [1, 2] {
        let mut town = Town::new(shards, |config| {
            config.settings.live.output_limits[2].hard_bytes = 100_000;
        });
        town.check("slow", "SUBSCRIBE x", "[subscribe x :1]");
        town.check("quick", "SUBSCRIBE x", "[subscribe x :1]");
        let line = format!("PUBLISH x {}", "y".repeat(1000));
        let (mut counts, mut quick) = (Vec::new(), 0);
        for _ in 0..1000 {
            town.send("teller", &[&line]);
            counts.push(town.heard("teller"));
            quick += town.heard("quick").matches("message x").count();
        }
        assert_eq!((quick, counts[0].as_str(), counts[999].as_str()), (1000, ":2", ":1"));
        town.check("teller", "PUBSUB NUMSUB x", "[x :1]");
    }
}

#[test]
fn a_message_costs_one_parcel_for_each_shard_where_it_is_heard() {
    let mut town = Town::new(4, |_| ());
    // a, b, c and d are of shards 0 to 3; the teller comes to shard 0.
    for (name, topic) in
        [("a", "SUBSCRIBE x"), ("b", "SUBSCRIBE x"), ("c", "PSUBSCRIBE x*"), ("d", "SUBSCRIBE y")]
    {
        town.send(name, &[topic]);
        town.heard(name);
    }
    town.check("teller", "PING", "+PONG");
    let mut sent = |line: &str| {
        let before = town.parcels();
        town.send("teller", &[line]);
        let heard = town.heard("teller");
        (heard, town.parcels() - before)
    };
    // There and back for b and c, or for c alone, or for nobody.
    assert_eq!(sent("PUBLISH x 1"), (":3".into(), 4));
    assert_eq!(sent("PUBLISH xx 1"), (":1".into(), 2));
    assert_eq!(sent("PUBLISH z 1"), (":0".into(), 0));
}

#[test]
fn who_listens_is_shown_and_can_be_closed() {
    on_shards(|town| {
        for name in ["a", "b", "c"] {
            town.check(name, "SUBSCRIBE x y", "[subscribe x :1] [subscribe y :2]");
        }
        town.check("a", "PSUBSCRIBE z*", "[psubscribe z* :3]");
        town.check("a", "SSUBSCRIBE s", "[ssubscribe s :1]");
        town.send("teller", &["CLIENT LIST TYPE pubsub"]);
        let list = town.heard("teller");
        assert_eq!(list.matches(" flags=P ").count(), 3, "{list}");
        assert!(list.contains(" sub=2 psub=1 ssub=1 ") && list.contains(" sub=2 psub=0 ssub=0 "), "{list}");
        town.check("teller", "CLIENT KILL TYPE pubsub", ":3");
        town.settle();
        town.check("teller", "PUBLISH x 1", ":0");
        town.check("teller", "PUBSUB CHANNELS", "[]");
    });
}
