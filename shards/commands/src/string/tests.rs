//! Strings, sentence by sentence: each command, each option, each refusal.

use crate::testing::{START, on_shards};

const WRONG_KIND: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
const SYNTAX: &str = "-ERR syntax error";
const NOT_AN_INTEGER: &str = "-ERR value is not an integer or out of range";
const TOO_LONG: &str = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)";

#[test]
fn a_value_that_is_set_to_expire_in_the_past_is_gone_at_once() {
    on_shards(|rig| {
        rig.check("SET a 1", "+OK");
        rig.check("SET a 2 PXAT 1", "+OK");
        rig.check("DBSIZE", ":0");
    });
}

#[test]
fn get_answers_what_set_was_told() {
    on_shards(|rig| {
        rig.check("GET a", "nil");
        rig.check("SET a hello", "+OK");
        rig.check("GET a", "$hello");
        rig.check("SET a 12345", "+OK");
        rig.check("GET a", "$12345");
        rig.check("SET a ''", "+OK");
        rig.check("GET a", "$");
        rig.check("SET '' empty", "+OK");
        rig.check("GET ''", "$empty");
        rig.check("SET a '\"quoted\" \\' and not'", "+OK");
        rig.check("STRLEN a", ":18");
        let effects = rig.effects();
        assert_eq!((effects.dirty, effects.hits, effects.misses), (5, 5, 1));
    });
}

#[test]
fn set_takes_conditions() {
    on_shards(|rig| {
        rig.check("SET a 1 XX", "nil");
        rig.check("EXISTS a", ":0");
        rig.check("SET a 1 NX", "+OK");
        rig.check("SET a 2 NX", "nil");
        rig.check("SET a 3 xx", "+OK");
        rig.check("GET a", "$3");
        rig.check("SET a 4 NX XX", SYNTAX);
        rig.check("SET a 4 XX NX", SYNTAX);
        rig.check("SET a 4 NX NX", "nil");
        rig.check("SET a 4 FOO", SYNTAX);
        assert_eq!(rig.effects().dirty, 2);
    });
}

#[test]
fn set_with_get_answers_the_old_value() {
    on_shards(|rig| {
        rig.check("SET a 1 GET", "nil");
        rig.check("SET a 2 GET", "$1");
        rig.check("SET a 3 NX GET", "$2");
        rig.check("GET a", "$2");
        rig.check("SET b 3 GET NX", "nil");
        rig.check("GET b", "$3");
        rig.check("SET b 4 XX GET", "$3");
        rig.check("SET c 4 XX GET", "nil");
        rig.check("EXISTS c", ":0");
        rig.check("SET b 5 GET GET EX 100", "$4");
        rig.check("TTL b", ":100");
    });
}

#[test]
fn set_takes_times_to_live() {
    on_shards(|rig| {
        rig.check("SET a 1 EX 100", "+OK");
        rig.check("PTTL a", ":100000");
        rig.check("SET a 1 PX 1500", "+OK");
        rig.check("PTTL a", ":1500");
        rig.check(&format!("SET a 1 EXAT {}", START / 1000 + 10), "+OK");
        rig.check("PTTL a", ":10000");
        rig.check(&format!("SET a 1 PXAT {}", START + 10), "+OK");
        rig.check("PTTL a", ":10");
        rig.check("SET a 2 KEEPTTL", "+OK");
        rig.check("PTTL a", ":10");
        rig.check("SET a 2 KEEPTTL KEEPTTL", "+OK");
        rig.check("SET a 2", "+OK");
        rig.check("TTL a", ":-1");
        rig.check("SET a 2 EX 10 EX 20", "+OK");
        rig.check("TTL a", ":20");
        rig.check("SET a 2 NX KEEPTTL GET", "$2");
        rig.check("SET a 2 PXAT 1", "+OK");
        rig.check("GET a", "nil");
    });
}

#[test]
fn keepttl_does_not_keep_the_time_of_a_key_that_has_expired() {
    on_shards(|rig| {
        rig.check("SET a 1 PX 10", "+OK");
        rig.wait(10);
        rig.check("SET a 2 KEEPTTL", "+OK");
        rig.check("TTL a", ":-1");
        rig.check("GET a", "$2");
    });
}

#[test]
fn set_refuses_bad_times() {
    on_shards(|rig| {
        const BAD: &str = "-ERR invalid expire time in 'set' command";
        rig.check("SET a 1 EX 0", BAD);
        rig.check("SET a 1 PX -1", BAD);
        rig.check("SET a 1 EXAT 0", BAD);
        rig.check("SET a 1 EX 9223372036854775807", BAD);
        rig.check("SET a 1 EX 9223372036854775", BAD);
        rig.check("SET a 1 PX 9223372036854775807", BAD);
        rig.check("SET a 1 EX x", NOT_AN_INTEGER);
        rig.check("SET a 1 EX 1.5", NOT_AN_INTEGER);
        rig.check("SET a 1 PXAT 9223372036854775807", "+OK");
        for bad in [
            "EX",
            "PX",
            "EXAT",
            "PXAT",
            "EX 1 PX 1",
            "EX 1 KEEPTTL",
            "KEEPTTL EX 1",
            "PX 1 EX 1",
            "EXAT 1 PXAT 1",
            "PERSIST",
            "EX 1 EXAT 1",
        ] {
            rig.check(&format!("SET a 1 {bad}"), SYNTAX);
        }
        rig.check("SET a", "-ERR wrong number of arguments for 'set' command");
        rig.check("SETEX a 0 v", "-ERR invalid expire time in 'setex' command");
        rig.check("PSETEX a -5 v", "-ERR invalid expire time in 'psetex' command");
        rig.check("SETEX a x v", NOT_AN_INTEGER);
    });
}

#[test]
fn older_shapes_of_set_do_the_same() {
    on_shards(|rig| {
        rig.check("SETNX a 1", ":1");
        rig.check("SETNX a 2", ":0");
        rig.check("GET a", "$1");
        rig.check("SETEX a 10 v", "+OK");
        rig.check("TTL a", ":10");
        rig.check("PSETEX a 10 v", "+OK");
        rig.check("PTTL a", ":10");
        rig.check("GETSET a w", "$v");
        rig.check("TTL a", ":-1");
        rig.check("GETSET b w", "nil");
        rig.check("GET b", "$w");
    });
}

#[test]
fn getdel_takes_the_key_away() {
    on_shards(|rig| {
        rig.check("GETDEL a", "nil");
        rig.check("SET a 1", "+OK");
        rig.check("GETDEL a", "$1");
        rig.check("EXISTS a", ":0");
        assert_eq!(rig.effects().dirty, 2);
    });
}

#[test]
fn getex_changes_the_time_to_live() {
    on_shards(|rig| {
        rig.check("GETEX a", "nil");
        rig.check("GETEX a EX 0", "nil");
        rig.check("SET a v", "+OK");
        rig.check("GETEX a", "$v");
        rig.check("TTL a", ":-1");
        rig.check("GETEX a EX 10", "$v");
        rig.check("TTL a", ":10");
        rig.check("GETEX a PX 100", "$v");
        rig.check("PTTL a", ":100");
        rig.check("GETEX a PERSIST", "$v");
        rig.check("TTL a", ":-1");
        let before = rig.effects().dirty;
        rig.check("GETEX a PERSIST", "$v");
        rig.check("GETEX a PERSIST PERSIST", "$v");
        assert_eq!(rig.effects().dirty, before);
        rig.check(&format!("GETEX a EXAT {}", START / 1000 + 5), "$v");
        rig.check("PTTL a", ":5000");
        rig.check(&format!("GETEX a PXAT {START}"), "$v");
        rig.check("EXISTS a", ":0");
        rig.check("SET a v", "+OK");
        rig.check("GETEX a EXAT 1", "$v");
        rig.check("EXISTS a", ":0");
        rig.check("SET a v", "+OK");
        rig.check("GETEX a EX 0", "-ERR invalid expire time in 'getex' command");
        rig.check("GETEX a EX x", NOT_AN_INTEGER);
        for bad in ["EX", "EX 1 PX 1", "PERSIST EX 1", "EX 1 PERSIST", "KEEPTTL", "NX", "GET", "x"] {
            rig.check(&format!("GETEX a {bad}"), SYNTAX);
        }
        rig.check("TTL a", ":-1");
    });
}

#[test]
fn mget_answers_in_the_order_of_its_keys() {
    on_shards(|rig| {
        rig.check("MSET a 1 b two c 3 d 4", "+OK");
        rig.check("MGET a b c d", "[$1 $two $3 $4]");
        rig.check("MGET d x b b", "[$4 nil $two $two]");
        rig.check("MGET a", "[$1]");
        rig.check("MGET", "-ERR wrong number of arguments for 'mget' command");
        let effects = rig.effects();
        assert_eq!((effects.dirty, effects.hits, effects.misses), (4, 8, 1));
    });
}

#[test]
fn mset_sets_all_and_the_last_of_equal_keys_holds() {
    on_shards(|rig| {
        rig.check("SET a 1 EX 100", "+OK");
        rig.check("MSET a x b y a z", "+OK");
        rig.check("MGET a b", "[$z $y]");
        rig.check("TTL a", ":-1");
        rig.check("MSET a 1 b", "-ERR wrong number of arguments for 'mset' command");
        rig.check("MSET a", "-ERR wrong number of arguments for 'mset' command");
        rig.check("MGET a b", "[$z $y]");
    });
}

#[test]
fn msetnx_sets_all_or_nothing() {
    on_shards(|rig| {
        rig.check("MSETNX a 1 b 2 c three", ":1");
        rig.check("MGET a b c", "[$1 $2 $three]");
        rig.check("OBJECT ENCODING a", "$int");
        rig.check("OBJECT IDLETIME c", ":0");
        rig.check("MSETNX d 1 e 2 c 3", ":0");
        rig.check("MGET d e c", "[nil nil $three]");
        rig.check("MSETNX d 1 e", "-ERR wrong number of arguments for 'msetnx' command");
        rig.check("MSETNX x 1 y 2 x 3", ":1");
        rig.check("MGET x y", "[$3 $2]");
        rig.check("SET gone 1 PX 5", "+OK");
        rig.wait(5);
        rig.check("MSETNX gone 1 new 2", ":1");
        rig.check("TTL gone", ":-1");
    });
}

#[test]
fn counters_count() {
    on_shards(|rig| {
        rig.check("INCR a", ":1");
        rig.check("INCR a", ":2");
        rig.check("DECR a", ":1");
        rig.check("INCRBY a 41", ":42");
        rig.check("DECRBY a 2", ":40");
        rig.check("DECRBY a -2", ":42");
        rig.check("DECR fresh", ":-1");
        rig.check("SET a 9223372036854775807", "+OK");
        rig.check("INCR a", "-ERR increment or decrement would overflow");
        rig.check("SET a -9223372036854775808", "+OK");
        rig.check("DECR a", "-ERR increment or decrement would overflow");
        rig.check("DECRBY a -9223372036854775808", "-ERR decrement would overflow");
        rig.check("INCRBY a -9223372036854775808", "-ERR increment or decrement would overflow");
        rig.check("INCRBY a 9223372036854775808", NOT_AN_INTEGER);
        rig.check("INCRBY a x", NOT_AN_INTEGER);
        rig.check("DECRBY a 1.0", NOT_AN_INTEGER);
        for text in ["x", "' 1'", "'1 '", "01", "+1", "''", "1.5", "9223372036854775808"] {
            rig.check(&format!("SET b {text}"), "+OK");
            rig.check("INCR b", NOT_AN_INTEGER);
        }
    });
}

#[test]
fn counting_keeps_the_time_to_live() {
    on_shards(|rig| {
        rig.check("SET a 5 EX 100", "+OK");
        rig.check("INCR a", ":6");
        rig.check("INCRBYFLOAT a 1.5", "$7.5");
        rig.check("APPEND a 0", ":4");
        rig.check("SETRANGE a 0 8", ":4");
        rig.check("GET a", "$8.50");
        rig.check("TTL a", ":100");
        rig.wait(100_000);
        rig.check("INCR a", ":1");
        rig.check("TTL a", ":-1");
    });
}

#[test]
fn floats_are_counted_in_long_doubles() {
    on_shards(|rig| {
        rig.check("INCRBYFLOAT a 1.5", "$1.5");
        rig.check("INCRBYFLOAT a 1.5", "$3");
        rig.check("OBJECT ENCODING a", "$embstr");
        rig.check("INCRBYFLOAT a 5.0e3", "$5003");
        rig.check("INCR a", ":5004");
        rig.check("SET a 1", "+OK");
        rig.check("INCRBYFLOAT a -1.1", "$-0.1");
        rig.check("SET a 10.5", "+OK");
        rig.check("INCRBYFLOAT a 0.1", "$10.6");
        rig.check("SET a 3.0e3", "+OK");
        rig.check("INCRBYFLOAT a 200", "$3200");
        rig.check("SET a 17179869184", "+OK");
        rig.check("INCRBYFLOAT a 1.5", "$17179869185.5");
        for (text, delta) in [("x", "1"), ("' 1'", "1"), ("1", "x"), ("''", "1"), ("1", "' 1'"), ("1", "nan")]
        {
            rig.check(&format!("SET a {text}"), "+OK");
            rig.check(&format!("INCRBYFLOAT a {delta}"), "-ERR value is not a valid float");
        }
        rig.check("SET a 1", "+OK");
        rig.check("INCRBYFLOAT a inf", "-ERR increment would produce NaN or Infinity");
        rig.check("GET a", "$1");
    });
}

#[test]
fn append_makes_strings_longer() {
    on_shards(|rig| {
        rig.check("APPEND a 10", ":2");
        rig.check("OBJECT ENCODING a", "$int");
        rig.check("APPEND a x", ":3");
        rig.check("GET a", "$10x");
        rig.check("OBJECT ENCODING a", "$raw");
        rig.check("APPEND a ''", ":3");
        rig.configure(|live| live.proto_max_bulk_len = 5);
        rig.check("APPEND a 12", ":5");
        rig.check("APPEND a 1", TOO_LONG);
        rig.check("GET a", "$10x12");
    });
}

#[test]
fn setrange_writes_over_a_part() {
    on_shards(|rig| {
        rig.check("SETRANGE a 0 ''", ":0");
        rig.check("EXISTS a", ":0");
        rig.check("SETRANGE a 1 foo", ":4");
        rig.check("GET a", "$\\x00foo");
        rig.check("SET a Hello", "+OK");
        rig.check("SETRANGE a 1 ''", ":5");
        rig.check("SETRANGE a 1 u", ":5");
        rig.check("GET a", "$Hullo");
        rig.check("SETRANGE a 7 x", ":8");
        rig.check("GET a", "$Hullo\\x00\\x00x");
        rig.check("SET n 1234", "+OK");
        rig.check("SETRANGE n 1 99", ":4");
        rig.check("GET n", "$1994");
        rig.check("OBJECT ENCODING n", "$raw");
        rig.check("SETRANGE a -1 x", "-ERR offset is out of range");
        rig.check("SETRANGE a x x", NOT_AN_INTEGER);
        rig.check("SETRANGE a 536870912 x", TOO_LONG);
        rig.check("SETRANGE none 536870912 x", TOO_LONG);
        rig.check("SETRANGE a 9223372036854775807 world", TOO_LONG);
        rig.check("SETRANGE none 9223372036854775807 ''", ":0");
    });
}

#[test]
fn getrange_reads_a_part() {
    on_shards(|rig| {
        rig.check("GETRANGE a 0 -1", "$");
        rig.check("SET a 'Hello World'", "+OK");
        for (range, piece) in [
            ("0 3", "Hell"),
            ("0 -1", "Hello World"),
            ("-4 -1", "orld"),
            ("5 3", ""),
            ("5 5000", " World"),
            ("-5000 10000", "Hello World"),
            ("-1 -5", ""),
            ("-5000 -5000", "H"),
            ("0 -5000", "H"),
            ("11 20", ""),
            ("-9223372036854775808 9223372036854775807", "Hello World"),
        ] {
            rig.check(&format!("GETRANGE a {range}"), &format!("${piece}"));
            rig.check(&format!("SUBSTR a {range}"), &format!("${piece}"));
        }
        rig.check("SET a 1234", "+OK");
        rig.check("GETRANGE a 1 2", "$23");
        rig.check("SET a ''", "+OK");
        rig.check("GETRANGE a 0 -1", "$");
        rig.check("GETRANGE a x 1", NOT_AN_INTEGER);
        rig.check("GETRANGE a 1 x", NOT_AN_INTEGER);
    });
}

#[test]
fn strlen_counts_bytes() {
    on_shards(|rig| {
        rig.check("STRLEN a", ":0");
        rig.check("SET a -1234", "+OK");
        rig.check("STRLEN a", ":5");
        rig.check("SET a hello", "+OK");
        rig.check("STRLEN a", ":5");
        let effects = rig.effects();
        assert_eq!((effects.hits, effects.misses), (2, 1));
    });
}

#[test]
fn encodings_are_those_of_redis() {
    on_shards(|rig| {
        for (value, encoding) in [
            ("12345".into(), "int"),
            ("-9223372036854775808".into(), "int"),
            ("9223372036854775808".into(), "embstr"),
            ("00".into(), "embstr"),
            ("x".repeat(44), "embstr"),
            ("x".repeat(45), "raw"),
            ("x".repeat(100_000), "raw"),
        ] {
            rig.check(&format!("SET a {value}"), "+OK");
            rig.check("OBJECT ENCODING a", &format!("${encoding}"));
            rig.check("GET a", &format!("${value}"));
        }
    });
}

/// No other kind of value can be made yet: this holds the text that they will meet.
#[test]
fn the_error_about_kinds_is_redis_own() {
    assert_eq!(&WRONG_KIND[1..], crate::lookup::WRONG_KIND);
}
