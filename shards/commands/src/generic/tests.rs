//! Keys and databases, sentence by sentence: each command, each option, each refusal.

use crate::testing::{Rig, START, on_shards};
use resp::client::Value;
use spec::setting::MemoryPolicy;
use std::collections::{BTreeMap, BTreeSet};

const SYNTAX: &str = "-ERR syntax error";
const NOT_AN_INTEGER: &str = "-ERR value is not an integer or out of range";
const OUT_OF_INT: &str = "-ERR value is out of range, value must between -2147483648 and 2147483647";
const NO_SUCH_DB: &str = "-ERR DB index is out of range";
const SAME_OBJECT: &str = "-ERR source and destination objects are the same";

#[test]
fn keys_are_counted_and_deleted_over_all_shards() {
    on_shards(|rig| {
        rig.check("MSET a 1 b 2 c 3 d 4 e 5", "+OK");
        rig.check("EXISTS a b x a", ":3");
        rig.check("TOUCH a b c x", ":3");
        rig.check("DBSIZE", ":5");
        rig.check("DEL a a x b", ":2");
        rig.check("UNLINK c x d", ":2");
        rig.check("UNLINK c", ":0");
        rig.check("DBSIZE", ":1");
        rig.check("DEL", "-ERR wrong number of arguments for 'del' command");
        let effects = rig.effects();
        assert_eq!((effects.dirty, effects.hits, effects.misses), (9, 6, 2));
    });
}

#[test]
fn type_names_the_kind() {
    on_shards(|rig| {
        rig.check("TYPE a", "+none");
        rig.check("SET a 1", "+OK");
        rig.check("TYPE a", "+string");
    });
}

#[test]
fn expiry_is_set_in_four_shapes_and_read_in_four() {
    on_shards(|rig| {
        rig.check("EXPIRE a 10", ":0");
        rig.check("TTL a", ":-2");
        rig.check("PTTL a", ":-2");
        rig.check("EXPIRETIME a", ":-2");
        rig.check("SET a 1", "+OK");
        rig.check("TTL a", ":-1");
        rig.check("PEXPIRETIME a", ":-1");
        rig.check("EXPIRE a 10", ":1");
        rig.check("PTTL a", ":10000");
        rig.check("PEXPIRE a 1499", ":1");
        rig.check("TTL a", ":1");
        rig.check("PEXPIRE a 1500", ":1");
        rig.check("TTL a", ":2");
        rig.check(&format!("EXPIREAT a {}", START / 1000 + 7), ":1");
        rig.check("TTL a", ":7");
        rig.check("EXPIRETIME a", &format!(":{}", START / 1000 + 7));
        rig.check(&format!("PEXPIREAT a {}", START + 7_501), ":1");
        rig.check("PEXPIRETIME a", &format!(":{}", START + 7_501));
        rig.check("EXPIRETIME a", &format!(":{}", START / 1000 + 8));
        rig.wait(7_500);
        rig.check("PTTL a", ":1");
        rig.check("TTL a", ":0");
        rig.wait(1);
        rig.check("PTTL a", ":-2");
        rig.check("DBSIZE", ":0");
    });
}

#[test]
fn persist_takes_the_expiry_away() {
    on_shards(|rig| {
        rig.check("PERSIST a", ":0");
        rig.check("SET a 1 EX 10", "+OK");
        rig.check("PERSIST a", ":1");
        rig.check("PERSIST a", ":0");
        rig.check("TTL a", ":-1");
        assert_eq!(rig.effects().dirty, 2);
    });
}

#[test]
fn a_time_that_is_past_deletes() {
    on_shards(|rig| {
        for command in
            ["EXPIRE a 0", "EXPIRE a -1", "PEXPIRE a -9223372036854775807", "EXPIREAT a 1", "PEXPIREAT a 0"]
        {
            rig.check("SET a 1", "+OK");
            rig.check(command, ":1");
            rig.check("EXISTS a", ":0");
            rig.check("DBSIZE", ":0");
        }
        assert_eq!(rig.effects().dirty, 10);
    });
}

#[test]
fn expire_takes_conditions() {
    on_shards(|rig| {
        rig.check("SET a 1", "+OK");
        rig.check("EXPIRE a 100 XX", ":0");
        rig.check("EXPIRE a 100 GT", ":0");
        rig.check("EXPIRE a 100 XX GT", ":0");
        rig.check("EXPIRE a 100 XX LT", ":0");
        rig.check("EXPIRE a 100 LT", ":1");
        rig.check("EXPIRE a 200 NX", ":0");
        rig.check("EXPIRE a 100 GT", ":0");
        rig.check("EXPIRE a 100 LT", ":0");
        rig.check("EXPIRE a 200 xx gt", ":1");
        rig.check("TTL a", ":200");
        rig.check("EXPIRE a 300 LT XX", ":0");
        rig.check("EXPIRE a 150 LT LT", ":1");
        rig.check("EXPIRE a 10 XX", ":1");
        rig.check("PERSIST a", ":1");
        rig.check("EXPIRE a 300 NX", ":1");
        rig.check("TTL a", ":300");
        rig.check("EXPIRE a -1 GT", ":0");
        rig.check("EXPIRE a -1 LT", ":1");
        rig.check("EXISTS a", ":0");
    });
}

#[test]
fn expire_refuses_bad_times_and_options() {
    on_shards(|rig| {
        rig.check("SET a 1", "+OK");
        let bad = |name: &str| format!("-ERR invalid expire time in '{name}' command");
        rig.check("EXPIRE a 9223372036854775807", &bad("expire"));
        rig.check("EXPIRE a -9223372036854775808", &bad("expire"));
        rig.check("EXPIRE a 9223372036854775", &bad("expire"));
        rig.check("PEXPIRE a 9223372036854775807", &bad("pexpire"));
        rig.check("EXPIREAT a 9223372036854776", &bad("expireat"));
        rig.check("EXPIREAT a -9223372036854776", &bad("expireat"));
        rig.check("EXPIREAT a 9223372036854775", ":1");
        rig.check("PEXPIREAT a 9223372036854775807", ":1");
        rig.check("PEXPIRETIME a", ":9223372036854775807");
        rig.check("EXPIRETIME a", ":9223372036854775");
        rig.check("EXPIRE a x", NOT_AN_INTEGER);
        rig.check("EXPIRE a 1.5", NOT_AN_INTEGER);
        rig.check("EXPIRE a x foo", "-ERR Unsupported option foo");
        rig.check("EXPIRE a 1 'b a d'", "-ERR Unsupported option b a d");
        let mixed = "-ERR NX and XX, GT or LT options at the same time are not compatible";
        rig.check("EXPIRE a 1 NX XX", mixed);
        rig.check("EXPIRE a 1 NX GT", mixed);
        rig.check("EXPIRE a 1 LT NX", mixed);
        rig.check("EXPIRE a 1 GT LT", "-ERR GT and LT options at the same time are not compatible");
        rig.check("EXPIRE a", "-ERR wrong number of arguments for 'expire' command");
    });
}

#[test]
fn rename_moves_value_and_expiry() {
    on_shards(|rig| {
        for to in ["b", "c", "d", "e", "{a}b"] {
            rig.check("SET a hello EX 100", "+OK");
            rig.check(&format!("SET {to} other"), "+OK");
            rig.check(&format!("RENAME a {to}"), "+OK");
            rig.check(&format!("GET {to}"), "$hello");
            rig.check(&format!("TTL {to}"), ":100");
            rig.check("EXISTS a", ":0");
            rig.check(&format!("RENAME a {to}"), "-ERR no such key");
            rig.check(&format!("RENAMENX a {to}"), "-ERR no such key");
            rig.check("SET a 12", "+OK");
            rig.check(&format!("RENAMENX a {to}"), ":0");
            rig.check(&format!("MGET a {to}"), "[$12 $hello]");
            rig.check(&format!("DEL {to}"), ":1");
            rig.check(&format!("RENAMENX a {to}"), ":1");
            rig.check(&format!("MGET a {to}"), "[nil $12]");
            rig.check(&format!("OBJECT ENCODING {to}"), "$int");
        }
        rig.check("SET a 1", "+OK");
        rig.check("RENAME a a", "+OK");
        rig.check("RENAMENX a a", ":0");
        rig.check("GET a", "$1");
        rig.check("RENAME a", "-ERR wrong number of arguments for 'rename' command");
    });
}

#[test]
fn rename_sees_no_expired_key() {
    on_shards(|rig| {
        rig.check("SET a 1 PX 5", "+OK");
        rig.check("SET b 2 PX 5", "+OK");
        rig.check("SET c 3", "+OK");
        rig.wait(5);
        rig.check("RENAME a c", "-ERR no such key");
        rig.check("RENAMENX c b", ":1");
        rig.check("TTL b", ":-1");
    });
}

#[test]
fn copy_makes_a_second_value() {
    on_shards(|rig| {
        for to in ["b", "c", "d", "e", "{a}b"] {
            rig.check(&format!("COPY none {to}"), ":0");
            rig.check("SET a hello EX 100", "+OK");
            rig.check(&format!("COPY a {to}"), ":1");
            rig.check(&format!("MGET a {to}"), "[$hello $hello]");
            rig.check(&format!("TTL {to}"), ":100");
            rig.check("SET a other", "+OK");
            rig.check(&format!("COPY a {to}"), ":0");
            rig.check(&format!("GET {to}"), "$hello");
            rig.check(&format!("COPY a {to} REPLACE"), ":1");
            rig.check(&format!("GET {to}"), "$other");
            rig.check(&format!("TTL {to}"), ":-1");
            rig.check(&format!("COPY a {to} DB 3"), ":1");
            rig.check(&format!("COPY a {to} DB 3"), ":0");
            rig.check(&format!("COPY a {to} replace db 3"), ":1");
            rig.session.db = 3;
            rig.check(&format!("GET {to}"), "$other");
            rig.session.db = 0;
        }
        rig.check("COPY a a DB 4", ":1");
    });
}

#[test]
fn copy_and_move_refuse_what_redis_refuses() {
    on_shards(|rig| {
        rig.check("SET a 1", "+OK");
        rig.check("COPY a a", SAME_OBJECT);
        rig.check("COPY a a DB 0", SAME_OBJECT);
        rig.check("COPY none none", SAME_OBJECT);
        for to in ["b", "c", "d"] {
            rig.check(&format!("COPY a {to} DB x"), NOT_AN_INTEGER);
            rig.check(&format!("COPY a {to} DB 99999999999"), OUT_OF_INT);
            rig.check(&format!("COPY a {to} DB 16"), NO_SUCH_DB);
            rig.check(&format!("COPY a {to} DB -1"), NO_SUCH_DB);
            rig.check(&format!("COPY a {to} DB"), SYNTAX);
            rig.check(&format!("COPY a {to} FOO"), SYNTAX);
        }
        rig.check("MOVE a x", NOT_AN_INTEGER);
        rig.check("MOVE a 99999999999", OUT_OF_INT);
        rig.check("MOVE a 16", NO_SUCH_DB);
        rig.check("MOVE a -1", NO_SUCH_DB);
        rig.check("MOVE a 0", SAME_OBJECT);
        assert_eq!(rig.effects().dirty, 1);
    });
}

#[test]
fn move_takes_a_key_to_another_database() {
    on_shards(|rig| {
        rig.check("MOVE a 9", ":0");
        rig.check("SET a 1 EX 100", "+OK");
        rig.check("MOVE a 9", ":1");
        rig.check("EXISTS a", ":0");
        rig.check("SET a 2", "+OK");
        rig.check("MOVE a 9", ":0");
        rig.session.db = 9;
        rig.check("GET a", "$1");
        rig.check("TTL a", ":100");
        rig.check("DBSIZE", ":1");
        assert_eq!(rig.effects().dirty, 3);
    });
}

#[test]
fn keys_lists_what_matches() {
    on_shards(|rig| {
        rig.check("KEYS *", "[]");
        rig.check("MSET hello 1 hallo 2 hxllo 3 other 4 '' 5 gone 6", "+OK");
        rig.check("PEXPIRE gone 5", ":1");
        rig.wait(5);
        let mut listed = |pattern: &str| -> BTreeSet<String> {
            let Value::Array(keys) = rig.ask(&format!("KEYS {pattern}")) else { panic!("not an array") };
            let count = keys.len();
            let keys: BTreeSet<String> = keys.iter().map(crate::testing::shown).collect();
            assert_eq!(keys.len(), count);
            keys
        };
        let set = |keys: &[&str]| keys.iter().map(|key| format!("${key}")).collect::<BTreeSet<_>>();
        assert_eq!(listed("*"), set(&["hello", "hallo", "hxllo", "other", ""]));
        assert_eq!(listed("h?llo"), set(&["hello", "hallo", "hxllo"]));
        assert_eq!(listed("h[ae]llo"), set(&["hello", "hallo"]));
        assert_eq!(listed("''"), set(&[""]));
        assert_eq!(listed("nothing*"), set(&[]));
    });
}

#[test]
fn randomkey_draws_every_key_alike() {
    on_shards(|rig| {
        rig.check("RANDOMKEY", "nil");
        let keys = 40;
        for key in 0..keys {
            rig.check(&format!("SET key:{key} 1"), "+OK");
        }
        let mut drawn: BTreeMap<String, u32> = BTreeMap::new();
        for _ in 0..keys * 200 {
            *drawn.entry(rig.say("RANDOMKEY")).or_default() += 1;
        }
        assert_eq!(drawn.len(), keys);
        let (least, most) = (drawn.values().min().unwrap(), drawn.values().max().unwrap());
        assert!(*least > 130 && *most < 280, "{least} to {most} of 200");
        for key in 0..keys {
            rig.check(&format!("PEXPIRE key:{key} 5"), ":1");
        }
        rig.wait(5);
        rig.check("RANDOMKEY", "nil");
    });
}

/// All keys of a whole SCAN, with repeats, and how many calls it took.
fn scanned(rig: &mut Rig, options: &str) -> (Vec<String>, usize) {
    let (mut keys, mut calls, mut cursor) = (Vec::new(), 0, "0".to_string());
    loop {
        let reply = rig.ask(&format!("SCAN {cursor} {options}"));
        let Value::Array(pair) = &reply else { panic!("{reply:?}") };
        let [Value::Bulk(next), Value::Array(found)] = &pair[..] else { panic!("{reply:?}") };
        keys.extend(found.iter().map(crate::testing::shown));
        calls += 1;
        cursor = String::from_utf8(next.clone()).unwrap();
        assert!(cursor.parse::<u64>().unwrap() < 1 << 58);
        if cursor == "0" {
            return (keys, calls);
        }
    }
}

#[test]
fn scan_visits_every_key_of_every_shard_once() {
    on_shards(|rig| {
        assert_eq!(scanned(rig, "").0, Vec::<String>::new());
        for key in 0..1000 {
            rig.check(&format!("SET key:{key} 1"), "+OK");
        }
        let (mut keys, calls) = scanned(rig, "");
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 1000);
        assert!(calls >= 30, "{calls} calls");
        let (keys, calls) = scanned(rig, "COUNT 100000");
        assert_eq!((keys.len(), calls), (1000, 1), "a page is filled on the next shard");
        assert_eq!(scanned(rig, "MATCH key:1?? COUNT 50").0.len(), 100);
        assert_eq!(scanned(rig, "MATCH * TYPE string").0.len(), 1000);
        assert_eq!(scanned(rig, "TYPE STRING count 7").0.len(), 1000);
        assert_eq!(scanned(rig, "TYPE list").0.len(), 0);
        assert_eq!(scanned(rig, "TYPE no-such-type").0.len(), 0);
    });
}

#[test]
fn scan_keeps_its_promise_while_keys_come_and_go() {
    on_shards(|rig| {
        for key in 0..500 {
            rig.check(&format!("SET stays:{key} 1"), "+OK");
        }
        let (mut seen, mut cursor, mut step) = (BTreeSet::new(), "0".to_string(), 0);
        loop {
            let reply = rig.ask(&format!("SCAN {cursor} COUNT 5"));
            let Value::Array(pair) = &reply else { panic!("{reply:?}") };
            let [Value::Bulk(next), Value::Array(found)] = &pair[..] else { panic!("{reply:?}") };
            seen.extend(found.iter().map(crate::testing::shown));
            cursor = String::from_utf8(next.clone()).unwrap();
            if cursor == "0" {
                break;
            }
            for key in 0..20 {
                rig.check(&format!("SET comes:{step}:{key} 1"), "+OK");
                rig.say(&format!("DEL comes:{}:{key}", step / 2));
            }
            step += 1;
        }
        assert_eq!(seen.iter().filter(|key| key.starts_with("$stays:")).count(), 500);
    });
}

#[test]
fn scan_refuses_what_redis_refuses() {
    on_shards(|rig| {
        rig.check("SET a 1", "+OK");
        for cursor in ["x", "-", "' 0'", "1x", "18446744073709551616"] {
            rig.check(&format!("SCAN {cursor}"), "-ERR invalid cursor");
        }
        for cursor in ["18446744073709551615", "-1", "+1023", "9223372036854775807"] {
            rig.check(&format!("SCAN {cursor}"), "[$0 []]");
        }
        rig.check("SCAN 0 COUNT 0", SYNTAX);
        rig.check("SCAN 0 COUNT -1", SYNTAX);
        rig.check("SCAN 0 COUNT x", NOT_AN_INTEGER);
        rig.check("SCAN 0 COUNT", SYNTAX);
        rig.check("SCAN 0 MATCH", SYNTAX);
        rig.check("SCAN 0 TYPE", SYNTAX);
        rig.check("SCAN 0 FOO bar", SYNTAX);
        rig.check("SCAN", "-ERR wrong number of arguments for 'scan' command");
    });
}

#[test]
fn object_tells_of_a_value() {
    on_shards(|rig| {
        for word in ["ENCODING", "FREQ", "IDLETIME", "REFCOUNT"] {
            rig.check(&format!("OBJECT {word} a"), "nil");
        }
        rig.check("SET a hello", "+OK");
        rig.check("OBJECT ENCODING a", "$embstr");
        rig.check("OBJECT REFCOUNT a", ":1");
        rig.wait(10_000);
        rig.check("OBJECT IDLETIME a", ":10");
        rig.check("EXISTS a", ":1");
        rig.check("TTL a", ":-1");
        rig.check("TYPE a", "+string");
        rig.check("OBJECT IDLETIME a", ":10");
        rig.session.no_touch = true;
        rig.check("GET a", "$hello");
        rig.check("OBJECT IDLETIME a", ":10");
        rig.check("TOUCH a", ":1");
        rig.check("OBJECT IDLETIME a", ":0");
        rig.session.no_touch = false;
        rig.wait(10_000);
        rig.check("GET a", "$hello");
        rig.check("OBJECT IDLETIME a", ":0");
        rig.check("SET a 9999", "+OK");
        rig.check("OBJECT REFCOUNT a", ":2147483647");
        rig.check("SET a 10000", "+OK");
        rig.check("OBJECT REFCOUNT a", ":1");
    });
}

#[test]
fn object_minds_the_policy_of_memory() {
    const ADJUST: &str = "Please note that when switching between policies at runtime LRU and LFU data \
                          will take some time to adjust.";
    on_shards(|rig| {
        rig.check("SET a 1", "+OK");
        rig.check(
            "OBJECT FREQ a",
            &format!("-ERR An LFU maxmemory policy is not selected, access frequency not tracked. {ADJUST}"),
        );
        rig.configure(|live| {
            live.maxmemory = 1 << 30;
            live.maxmemory_policy = MemoryPolicy::AllkeysLfu;
        });
        assert!(matches!(rig.ask("OBJECT FREQ a"), Value::Integer(0..=255)));
        rig.check(
            "OBJECT IDLETIME a",
            &format!("-ERR An LFU maxmemory policy is selected, idle time not tracked. {ADJUST}"),
        );
        rig.check("OBJECT REFCOUNT a", ":1");
        rig.configure(|live| live.maxmemory_policy = MemoryPolicy::AllkeysRandom);
        rig.check("OBJECT REFCOUNT a", ":2147483647");
    });
}

#[test]
fn uses_are_counted_where_the_policy_asks_for_it() {
    on_shards(|rig| {
        rig.configure(|live| {
            live.maxmemory_policy = MemoryPolicy::AllkeysLfu;
            live.lfu_log_factor = 0;
        });
        for house in &mut rig.houses {
            crate::note_uses(&house.settings.live, &mut house.store);
        }
        // Stores learn the time by looking.
        rig.check("EXISTS a b c l", ":0");
        rig.check("SET a 1", "+OK");
        rig.check("OBJECT FREQ a", ":5");
        (0..3).for_each(|_| rig.check("GET a", "$1"));
        rig.check("OBJECT FREQ a", ":8");
        rig.check("SET a 2", "+OK");
        rig.check("SET a three", "+OK");
        rig.check("INCRBY b 7", ":7");
        rig.check("INCR b", ":8");
        rig.check("OBJECT FREQ a", ":10");
        rig.check("OBJECT FREQ b", ":6");
        rig.check("APPEND a x", ":6");
        rig.check("SETBIT a 100 1", ":0");
        rig.check("OBJECT FREQ a", ":12");
        rig.session.no_touch = true;
        rig.check("EXISTS a", ":1");
        rig.check("GET b", "$8");
        rig.session.no_touch = false;
        rig.wait(120_000);
        rig.check("OBJECT FREQ a", ":10");
        rig.check("RPUSH l a b c", ":3");
        rig.check("LLEN l", ":3");
        rig.check("OBJECT FREQ l", ":6");
        rig.check("RENAME a c", "+OK");
        rig.check("COPY c d", ":1");
        assert!(matches!(rig.ask("OBJECT FREQ c"), Value::Integer(10..=12)));
        rig.configure(|live| live.maxmemory_policy = MemoryPolicy::Noeviction);
        for house in &mut rig.houses {
            crate::note_uses(&house.settings.live, &mut house.store);
        }
        rig.wait(7000);
        rig.check("GET c", "$threex\\x00\\x00\\x00\\x00\\x00\\x00\\x08");
        rig.wait(3000);
        rig.check("OBJECT IDLETIME c", ":3");
    });
}

#[test]
fn object_explains_itself() {
    on_shards(|rig| {
        let help = rig.say("OBJECT HELP");
        assert!(help.starts_with("[+OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
        assert!(help.ends_with("+HELP +    Prints this help.]"));
        rig.check("OBJECT", "-ERR wrong number of arguments for 'object' command");
        rig.check("OBJECT foo a", "-ERR unknown subcommand 'foo'. Try OBJECT HELP.");
        rig.check("OBJECT FREQ", "-ERR wrong number of arguments for 'object|freq' command");
    });
}

#[test]
fn databases_are_emptied() {
    on_shards(|rig| {
        for db in 0..3 {
            rig.session.db = db;
            rig.check("MSET a 1 b 2 c 3", "+OK");
        }
        rig.check("FLUSHDB", "+OK");
        rig.check("DBSIZE", ":0");
        rig.check("FLUSHDB", "+OK");
        rig.session.db = 1;
        rig.check("DBSIZE", ":3");
        rig.check("FLUSHDB sync", "+OK");
        rig.check("DBSIZE", ":0");
        assert_eq!(rig.effects().dirty, 15);
        rig.check("FLUSHALL ASYNC", "+OK");
        rig.session.db = 0;
        rig.check("DBSIZE", ":0");
        assert_eq!(rig.effects().dirty, 18);
        rig.check("FLUSHALL foo", SYNTAX);
        rig.check("FLUSHDB sync async", SYNTAX);
    });
}

#[test]
fn databases_are_exchanged() {
    on_shards(|rig| {
        rig.check("MSET a 1 b 2 c 3", "+OK");
        rig.check("SWAPDB 0 7", "+OK");
        rig.check("DBSIZE", ":0");
        rig.session.db = 7;
        rig.check("MGET a b c", "[$1 $2 $3]");
        rig.check("SWAPDB 7 7", "+OK");
        rig.check("DBSIZE", ":3");
        assert_eq!(rig.effects().dirty, 5);
        rig.check("SWAPDB x 1", "-ERR invalid first DB index");
        rig.check("SWAPDB 1 x", "-ERR invalid second DB index");
        rig.check("SWAPDB 99999999999 1", "-ERR invalid first DB index");
        rig.check("SWAPDB 99 x", "-ERR invalid second DB index");
        rig.check("SWAPDB 1 16", NO_SUCH_DB);
        rig.check("SWAPDB -1 0", NO_SUCH_DB);
    });
}

#[test]
fn null_replies_follow_the_protocol() {
    let mut rig = Rig::new(2);
    assert_eq!(rig.run(&[b"GET", b"a"]), b"$-1\r\n");
    assert_eq!(rig.run(&[b"RANDOMKEY"]), b"$-1\r\n");
    assert_eq!(rig.run(&[b"MGET", b"a", b"b"]), b"*2\r\n$-1\r\n$-1\r\n");
    rig.session.version = resp::Version::Resp3;
    assert_eq!(rig.run(&[b"GET", b"a"]), b"_\r\n");
    assert_eq!(rig.run(&[b"SET", b"a", b"1", b"XX"]), b"_\r\n");
    assert_eq!(rig.run(&[b"OBJECT", b"ENCODING", b"a"]), b"_\r\n");
    assert_eq!(rig.run(&[b"MGET", b"a", b"b"]), b"*2\r\n_\r\n_\r\n");
}

/// Arguments that cannot be left out, tokens included.
fn needed(arguments: &[spec::Argument]) -> usize {
    let count = |argument: &spec::Argument| {
        let own = match argument.kind {
            spec::ArgumentKind::Block => needed(argument.parts),
            _ => 1,
        };
        let token = usize::from(argument.token.is_some() && argument.kind != spec::ArgumentKind::PureToken);
        if argument.optional { 0 } else { own + token }
    };
    arguments.iter().map(count).sum()
}

#[test]
fn declarations_agree_with_themselves() {
    let families = [super::ALL, crate::string::ALL].concat();
    let subcommands = families.iter().flat_map(|command| command.subcommands.iter().copied());
    for command in families.iter().copied().chain(subcommands) {
        assert!(command.summary.ends_with('.') && !command.complexity.is_empty(), "{}", command.name);
        let is_sub = !families.iter().any(|other| other.name == command.name);
        let least = 1 + usize::from(is_sub) + needed(command.arguments);
        let stated = usize::from(command.arity.unsigned_abs());
        let container = !command.subcommands.is_empty();
        assert!(container || least == stated, "{}: {least} needed, {stated} stated", command.name);
        let open = command.arguments.iter().any(|argument| argument.optional || argument.multiple);
        assert!(container || open == (command.arity < 0), "{}: open ended or not", command.name);
        let writes = command.keys.iter().any(|keys| keys.access.writes());
        assert!(!writes || command.flags.has(spec::Flags::WRITE), "{} writes", command.name);
    }
}
