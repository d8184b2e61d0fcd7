//! Hashes, told in commands.

use crate::testing::Rig;

fn rigs() -> [Rig; 2] {
    [Rig::new(1), Rig::new(4)]
}

#[test]
fn fields_are_set_and_read() {
    for mut rig in rigs() {
        rig.check("HSET h a 1 b two", ":2");
        rig.check("HSET h a 3 c x", ":1");
        rig.check("HGET h a", "$3");
        rig.check("HGET h none", "nil");
        rig.check("HGET none a", "nil");
        rig.check("HMGET h a none b a", "[$3 nil $two $3]");
        rig.check("HMGET none a b", "[nil nil]");
        rig.check("HLEN h", ":3");
        rig.check("HLEN none", ":0");
        rig.check("HSTRLEN h b", ":3");
        rig.check("HSTRLEN h none", ":0");
        rig.check("HEXISTS h a", ":1");
        rig.check("HEXISTS h none", ":0");
        rig.check("HGETALL h", "[$a $3 $b $two $c $x]");
        rig.check("HKEYS h", "[$a $b $c]");
        rig.check("HVALS h", "[$3 $two $x]");
        rig.check("HGETALL none", "[]");
        rig.check("HSETNX h a 9", ":0");
        rig.check("HSETNX h d 9", ":1");
        rig.check("HMSET h a 5 e 6", "+OK");
        rig.check("HDEL h none a a b", ":2");
        rig.check("HDEL h c d e", ":3");
        rig.check("EXISTS h", ":0");
        rig.check("HDEL h a", ":0");
    }
}

#[test]
fn arguments_are_refused_in_the_words_of_redis() {
    let mut rig = Rig::new(1);
    rig.check("HSET h a", "-ERR wrong number of arguments for 'hset' command");
    rig.check("HSET h a 1 b", "-ERR wrong number of arguments for 'hset' command");
    rig.check("HMSET h a 1 b", "-ERR wrong number of arguments for 'hmset' command");
    rig.check("SET s x", "+OK");
    let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    for line in [
        "HSET s a 1",
        "HSETNX s a 1",
        "HGET s a",
        "HMGET s a",
        "HDEL s a",
        "HLEN s",
        "HSTRLEN s a",
        "HEXISTS s a",
        "HKEYS s",
        "HVALS s",
        "HGETALL s",
        "HINCRBY s a 1",
        "HINCRBYFLOAT s a 1",
        "HRANDFIELD s",
        "HRANDFIELD s 3",
        "HSCAN s 0",
        "HEXPIRE s 10 FIELDS 1 a",
        "HTTL s FIELDS 1 a",
        "HPERSIST s FIELDS 1 a",
        "HGETDEL s FIELDS 1 a",
        "HGETEX s FIELDS 1 a",
        "HSETEX s FIELDS 1 a b",
    ] {
        rig.check(line, wrong);
    }
    rig.check("HSET h a 1", ":1");
    rig.check("GET h", wrong);
}

#[test]
fn numbers_are_counted() {
    for mut rig in rigs() {
        rig.check("HINCRBY h n 5", ":5");
        rig.check("HINCRBY h n -7", ":-2");
        rig.check("HSET h t text m 9223372036854775807", ":2");
        rig.check("HINCRBY h t 1", "-ERR hash value is not an integer");
        rig.check("HINCRBY h m 1", "-ERR increment or decrement would overflow");
        rig.check("HINCRBY h n x", "-ERR value is not an integer or out of range");
        rig.check("HINCRBYFLOAT h f 10.5", "$10.5");
        rig.check("HINCRBYFLOAT h f 0.1", "$10.6");
        rig.check("HINCRBYFLOAT h n 2", "$0");
        rig.check("HINCRBYFLOAT h t 1", "-ERR hash value is not a float");
        rig.check("HINCRBYFLOAT h f x", "-ERR value is not a valid float");
        rig.check("HINCRBY none n x", "-ERR value is not an integer or out of range");
        rig.check("EXISTS none", ":0");
    }
}

#[test]
fn a_hash_grows_at_its_limits_and_keeps_what_it_has() {
    let mut rig = Rig::new(1);
    rig.configure(|live| live.encodings.hash_max_listpack_entries = 128);
    rig.check("HSET h f 1", ":1");
    rig.check("OBJECT ENCODING h", "$listpack");
    for number in 0..127 {
        rig.check(&format!("HSET h field{number} {number}"), ":1");
    }
    rig.check("OBJECT ENCODING h", "$listpack");
    rig.check("HSET h one-more 1", ":1");
    rig.check("OBJECT ENCODING h", "$hashtable");
    rig.check("HLEN h", ":129");
    rig.check("HGET h field77", "$77");
    let long = "x".repeat(65);
    rig.check(&format!("HSET g f {long}"), ":1");
    rig.check("OBJECT ENCODING g", "$hashtable");
    rig.check(&format!("HSET g f {}", "y".repeat(2000)), ":0");
    rig.check("HSTRLEN g f", ":2000");
    rig.check("HDEL g f", ":1");
    rig.check("EXISTS g", ":0");
    rig.configure(|live| live.encodings.hash_max_listpack_entries = 0);
    rig.check("HSET g f 1", ":1");
    rig.check("OBJECT ENCODING g", "$hashtable");
}

#[test]
fn random_fields_are_drawn() {
    let mut rig = Rig::new(1);
    rig.check("HRANDFIELD none", "nil");
    rig.check("HRANDFIELD none 5", "[]");
    rig.check("HSET h a 1", ":1");
    rig.check("HRANDFIELD h", "$a");
    rig.check("HRANDFIELD h 5", "[$a]");
    rig.check("HRANDFIELD h 5 WITHVALUES", "[$a $1]");
    rig.check("HRANDFIELD h -3", "[$a $a $a]");
    rig.check("HRANDFIELD h -2 withvalues", "[$a $1 $a $1]");
    rig.check("HRANDFIELD h 0", "[]");
    rig.check("HRANDFIELD h x", "-ERR value is not an integer or out of range");
    rig.check("HRANDFIELD h 1 x", "-ERR syntax error");
    rig.check("HRANDFIELD h 1 WITHVALUES x", "-ERR syntax error");
    rig.check("HRANDFIELD h -9223372036854770000 WITHVALUES", "-ERR value is out of range");
    let bounds = "value must between -9223372036854775807 and 9223372036854775807";
    rig.check("HRANDFIELD h -9223372036854775808", &format!("-ERR value is out of range, {bounds}"));
    for number in 0..300 {
        rig.say(&format!("HSET big f{number} {number}"));
    }
    for count in [1, 10, 99, 101, 200, 300, 1000] {
        let resp::client::Value::Array(fields) = rig.ask(&format!("HRANDFIELD big {count}")) else {
            panic!("an array");
        };
        let distinct: std::collections::BTreeSet<_> = fields.iter().map(crate::testing::shown).collect();
        assert_eq!((fields.len(), distinct.len()), (count.min(300), count.min(300)));
    }
    rig.say("HELLO 3");
    rig.check("HRANDFIELD h 1 WITHVALUES", "[[$a $1]]");
}

#[test]
fn all_fields_are_scanned() {
    let mut rig = Rig::new(1);
    rig.check("HSCAN none 0", "[$0 []]");
    rig.check("HSET h a 1 b 2", ":2");
    rig.check("HSCAN h 0", "[$0 [$a $1 $b $2]]");
    rig.check("HSCAN h 0 MATCH b COUNT 1", "[$0 [$b $2]]");
    rig.check("HSCAN h x", "-ERR invalid cursor");
    rig.check("HSCAN h 0 COUNT 0", "-ERR syntax error");
    rig.check("HSCAN h 0 COUNT x", "-ERR value is not an integer or out of range");
    rig.check("HSCAN h 0 MATCH", "-ERR syntax error");
    for number in 0..1000 {
        rig.say(&format!("HSET big f{number} {number}"));
    }
    let (mut cursor, mut seen) = ("0".to_string(), std::collections::BTreeSet::new());
    loop {
        let answer = rig.say(&format!("HSCAN big {cursor} MATCH f*7"));
        let (next, fields) = answer[2..answer.len() - 1].split_once(' ').unwrap();
        seen.extend(fields[1..fields.len() - 1].split(' ').map(str::to_string));
        cursor = next.into();
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(seen.iter().filter(|word| word.starts_with("$f")).count(), 100);
}

#[test]
fn fields_expire() {
    for mut rig in rigs() {
        rig.check("HSET h a 1 b 2 c 3", ":3");
        rig.check("HEXPIRE h 10 FIELDS 3 a none b", "[:1 :-2 :1]");
        rig.check("HTTL h FIELDS 4 a b c none", "[:10 :10 :-1 :-2]");
        rig.check("HPTTL h FIELDS 1 a", "[:10000]");
        let seconds = rig.now() / 1000 + 10;
        rig.check("HEXPIRETIME h FIELDS 1 a", &format!("[:{}]", seconds + i64::from(rig.now() % 1000 > 0)));
        rig.check("HPEXPIRETIME h FIELDS 1 a", &format!("[:{}]", rig.now() + 10_000));
        rig.check("HEXPIRE h 20 NX FIELDS 2 a c", "[:0 :1]");
        rig.check("HPEXPIRE h 5000 GT FIELDS 1 a", "[:0]");
        rig.check("HPEXPIRE h 5000 LT FIELDS 1 a", "[:1]");
        rig.check("HPERSIST h FIELDS 3 b b none", "[:1 :-1 :-2]");
        rig.check("HEXPIRE h 5 XX FIELDS 1 b", "[:0]");
        rig.wait(5000);
        rig.check("HGET h a", "nil");
        rig.check("HGETALL h", "[$b $2 $c $3]");
        rig.check("HLEN h", ":2");
        rig.check("HEXISTS h a", ":0");
        rig.check("HSCAN h 0 MATCH a", "[$0 []]");
        rig.check("HDEL h a", ":0");
        rig.check("HSET h c 4", ":0");
        rig.check("HTTL h FIELDS 1 c", "[:-1]");
        rig.check("HEXPIRE h 1 FIELDS 1 c", "[:1]");
        rig.check("HINCRBY h c 1", ":5");
        rig.check("HTTL h FIELDS 1 c", "[:1]");
        rig.wait(1000);
        rig.check("HSETNX h c 6", ":1");
        rig.check("HEXPIREAT h 1 FIELDS 2 b c", "[:2 :2]");
        rig.check("EXISTS h", ":0");
        rig.check("HEXPIRE h 1 FIELDS 2 a b", "[:-2 :-2]");
        rig.check("HTTL h FIELDS 1 a", "[:-2]");
    }
}

#[test]
fn times_of_fields_are_refused_in_the_words_of_redis() {
    let mut rig = Rig::new(1);
    rig.check("HSET h a 1", ":1");
    rig.check("HEXPIRE h -1 FIELDS 1 a", "-ERR invalid expire time, must be >= 0");
    rig.check("HEXPIRE h x FIELDS 1 a", "-ERR value is not an integer or out of range");
    rig.check("HEXPIRE h 99999999999999 FIELDS 1 a", "-ERR invalid expire time in 'hexpire' command");
    rig.check(
        "HEXPIRE h 1 FIELD 1 a",
        "-ERR Mandatory argument FIELDS is missing or not at the right position",
    );
    rig.check("HEXPIRE h 1 FIELDS 0 a", "-ERR Parameter `numFields` should be greater than 0");
    rig.check("HEXPIRE h 1 FIELDS 2 a", "-ERR The `numfields` parameter must match the number of arguments");
    rig.check("HTTL h FIELDS 0 a", "-ERR Number of fields must be a positive integer");
    rig.check(
        "HGETEX h EX 5 PERSIST FIELDS 1 a",
        "-ERR Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified",
    );
    rig.check("HGETEX h NX FIELDS 1 a", "-ERR unknown argument: NX");
    rig.check("HGETEX h FIELDS 0 a", "-ERR invalid number of fields");
    rig.check("HSETEX h FIELDS 1 a b c", "-ERR wrong number of arguments");
    rig.check("HSETEX h FNX FXX FIELDS 1 a b", "-ERR Only one of FXX or FNX arguments can be specified");
}

#[test]
fn fields_are_read_and_written_with_their_times() {
    for mut rig in rigs() {
        rig.check("HSETEX h EX 10 FIELDS 2 a 1 b 2", ":1");
        rig.check("HTTL h FIELDS 2 a b", "[:10 :10]");
        rig.check("HSETEX h FNX FIELDS 2 a 9 c 9", ":0");
        rig.check("HSETEX h FXX KEEPTTL FIELDS 1 a 3", ":1");
        rig.check("HTTL h FIELDS 1 a", "[:10]");
        rig.check("HGETEX h FIELDS 2 a none", "[$3 nil]");
        rig.check("HGETEX h PERSIST FIELDS 1 a", "[$3]");
        rig.check("HTTL h FIELDS 2 a b", "[:-1 :10]");
        rig.check("HGETEX h PX 500 FIELDS 1 a", "[$3]");
        rig.check("HPTTL h FIELDS 1 a", "[:500]");
        rig.check("HGETDEL h FIELDS 3 a none a", "[$3 nil nil]");
        rig.check("HGETDEL none FIELDS 1 a", "[nil]");
        rig.check("HGETEX h EXAT 1 FIELDS 1 b", "[$2]");
        rig.check("EXISTS h", ":0");
        rig.check("HSETEX h PXAT 5 FIELDS 1 a 1", ":1");
        rig.check("EXISTS h", ":0");
    }
}

#[test]
fn changes_are_counted_and_told() {
    let mut rig = Rig::new(1);
    rig.configure(|live| live.notify_events = spec::setting::Events::ALL);
    rig.say("HSET h a 1 b 2");
    rig.say("HINCRBY h a 1");
    rig.say("HINCRBYFLOAT h a 1");
    rig.say("HDEL h none");
    rig.say("HEXPIRE h 5 FIELDS 1 a");
    rig.say("HPERSIST h FIELDS 1 a");
    rig.say("HDEL h a b");
    assert_eq!(rig.effects().dirty, 8);
    let names: Vec<_> = rig.effects().events.iter().map(|event| event.name).collect();
    assert_eq!(names, ["hset", "hincrby", "hincrbyfloat", "hexpire", "hpersist", "hdel", "del"]);
}
