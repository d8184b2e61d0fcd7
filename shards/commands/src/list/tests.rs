//! What list commands answer, refuse, count and tell.

use crate::testing::{Rig, on_shards};
use spec::setting::Events;

const WRONG: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
const NOT_AN_INTEGER: &str = "-ERR value is not an integer or out of range";
const SYNTAX: &str = "-ERR syntax error";

/// Events of all shards since the last call, as "name key".
fn told(rig: &mut Rig) -> String {
    let all: Vec<String> = rig
        .houses
        .iter_mut()
        .flat_map(|house| std::mem::take(&mut house.effects.events))
        .map(|event| format!("{} {}", event.name, String::from_utf8_lossy(&event.key)))
        .collect();
    all.join(", ")
}

#[test]
fn elements_are_pushed_to_either_end() {
    on_shards(|rig| {
        rig.check("RPUSH l a", ":1");
        rig.check("LPUSH l b c", ":3");
        rig.check("RPUSH l 1 02", ":5");
        rig.check("LRANGE l 0 -1", "[$c $b $a $1 $02]");
        rig.check("LLEN l", ":5");
        rig.check("LPUSHX l x", ":6");
        rig.check("RPUSHX l y z", ":8");
        rig.check("LPUSHX none x", ":0");
        rig.check("RPUSHX none x", ":0");
        rig.check("EXISTS none", ":0");
        rig.check("LLEN none", ":0");
        rig.check("TYPE l", "+list");
        rig.check("OBJECT ENCODING l", "$quicklist");
        assert_eq!(rig.effects().dirty, 8);
        rig.check("SET s v", "+OK");
        for line in ["LPUSH s a", "RPUSHX s a", "LLEN s", "LRANGE s 0 1"] {
            rig.check(line, WRONG);
        }
        rig.check("LPUSH l", "-ERR wrong number of arguments for 'lpush' command");
    });
}

#[test]
fn elements_are_popped_one_or_many() {
    on_shards(|rig| {
        rig.check("RPUSH l a b c d e f", ":6");
        rig.check("LPOP l", "$a");
        rig.check("RPOP l", "$f");
        rig.check("LPOP l 2", "[$b $c]");
        rig.check("RPOP l 0", "[]");
        rig.check("RPOP l 9", "[$e $d]");
        rig.check("EXISTS l", ":0");
        rig.check("LPOP l", "nil");
        rig.check("LPOP l 1", "nil");
        rig.check("RPOP l 0", "nil");
        rig.check("LPOP l -1", "-ERR value is out of range, must be positive");
        rig.check("RPOP l x", "-ERR value is out of range, must be positive");
        rig.check("LPOP l 1 2", "-ERR wrong number of arguments for 'lpop' command");
        assert_eq!(rig.effects().dirty, 12);
        rig.check("SET s v", "+OK");
        rig.check("LPOP s", WRONG);
        rig.check("RPOP s 0", WRONG);
    });
}

#[test]
fn ranges_count_from_either_end() {
    on_shards(|rig| {
        rig.check("RPUSH l a b c d e", ":5");
        for (line, expected) in [
            ("LRANGE l 0 0", "[$a]"),
            ("LRANGE l 1 -2", "[$b $c $d]"),
            ("LRANGE l -100 100", "[$a $b $c $d $e]"),
            ("LRANGE l 3 1", "[]"),
            ("LRANGE l 5 9", "[]"),
            ("LRANGE l -9 -6", "[]"),
            ("LRANGE l -9 -5", "[$a]"),
            ("LRANGE l 9223372036854775807 9223372036854775807", "[]"),
            ("LRANGE l -9223372036854775808 -9223372036854775808", "[]"),
            ("LRANGE l 0 x", NOT_AN_INTEGER),
            ("LRANGE none 0 x", NOT_AN_INTEGER),
            ("LRANGE none 0 1", "[]"),
            ("LINDEX l 0", "$a"),
            ("LINDEX l -1", "$e"),
            ("LINDEX l 5", "nil"),
            ("LINDEX l -6", "nil"),
            ("LINDEX l -9223372036854775808", "nil"),
            ("LINDEX l x", NOT_AN_INTEGER),
            ("LINDEX none x", "nil"),
        ] {
            rig.check(line, expected);
        }
    });
}

#[test]
fn a_list_is_changed_inside() {
    on_shards(|rig| {
        rig.check("RPUSH l a b c", ":3");
        rig.check("LINSERT l BEFORE b x", ":4");
        rig.check("LINSERT l after c y", ":5");
        rig.check("LINSERT l AFTER none z", ":-1");
        rig.check("LINSERT none AFTER a z", ":0");
        rig.check("LINSERT l BETWEEN a z", SYNTAX);
        rig.check("LRANGE l 0 -1", "[$a $x $b $c $y]");
        rig.check("LSET l 0 first", "+OK");
        rig.check("LSET l -1 last", "+OK");
        rig.check("LSET l 5 none", "-ERR index out of range");
        rig.check("LSET l x none", NOT_AN_INTEGER);
        rig.check("LSET none x none", "-ERR no such key");
        rig.check("LRANGE l 0 -1", "[$first $x $b $c $last]");
        assert_eq!(rig.effects().dirty, 7);
        rig.check("SET s v", "+OK");
        rig.check("LINSERT s AFTER a z", WRONG);
        rig.check("LSET s 0 v", WRONG);
        rig.check("LINDEX s 0", WRONG);
    });
}

#[test]
fn equal_elements_are_removed_from_either_end() {
    on_shards(|rig| {
        rig.check("RPUSH l a 1 a b 1 a a", ":7");
        rig.check("LREM l -1 a", ":1");
        rig.check("LREM l 1 1", ":1");
        rig.check("LRANGE l 0 -1", "[$a $a $b $1 $a]");
        rig.check("LREM l 0 none", ":0");
        rig.check("LREM l 0 a", ":3");
        rig.check("LREM l 9 1", ":1");
        rig.check("LREM l -9 b", ":1");
        rig.check("EXISTS l", ":0");
        rig.check("LREM l 0 a", ":0");
        rig.check("LREM l x a", NOT_AN_INTEGER);
        rig.check(
            "LREM l -9223372036854775808 a",
            "-ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
        );
        assert_eq!(rig.effects().dirty, 14);
    });
}

#[test]
fn a_list_is_trimmed() {
    on_shards(|rig| {
        rig.check("RPUSH l a b c d e", ":5");
        rig.check("LTRIM l 1 -2", "+OK");
        rig.check("LRANGE l 0 -1", "[$b $c $d]");
        rig.check("LTRIM l -2 9", "+OK");
        rig.check("LRANGE l 0 -1", "[$c $d]");
        assert_eq!(rig.effects().dirty, 8);
        rig.check("LTRIM l 5 9", "+OK");
        rig.check("EXISTS l", ":0");
        assert_eq!(rig.effects().dirty, 10);
        rig.check("LTRIM l 0 9", "+OK");
        rig.check("LTRIM l 0 x", NOT_AN_INTEGER);
        rig.check("SET s v", "+OK");
        rig.check("LTRIM s 0 1", WRONG);
        rig.check("LREM s 0 v", WRONG);
    });
}

#[test]
fn positions_are_found() {
    on_shards(|rig| {
        rig.check("RPUSH l a b c 1 2 3 c c", ":8");
        for (line, expected) in [
            ("LPOS l a", ":0"),
            ("LPOS l c", ":2"),
            ("LPOS l 1", ":3"),
            ("LPOS l none", "nil"),
            ("LPOS l c RANK 2", ":6"),
            ("LPOS l c RANK 4", "nil"),
            ("LPOS l c RANK -1", ":7"),
            ("LPOS l c RANK -3", ":2"),
            ("LPOS l c COUNT 0", "[:2 :6 :7]"),
            ("LPOS l c COUNT 2", "[:2 :6]"),
            ("LPOS l c COUNT 0 RANK 2", "[:6 :7]"),
            ("LPOS l c COUNT 2 RANK -1", "[:7 :6]"),
            ("LPOS l none COUNT 0", "[]"),
            ("LPOS none c COUNT 0", "[]"),
            ("LPOS none c", "nil"),
            ("LPOS l a COUNT 0 MAXLEN 1", "[:0]"),
            ("LPOS l c COUNT 0 MAXLEN 1", "[]"),
            ("LPOS l c COUNT 0 MAXLEN 3", "[:2]"),
            ("LPOS l c COUNT 0 MAXLEN 3 RANK -1", "[:7 :6]"),
            ("LPOS l c RANK 9223372036854775807", "nil"),
            ("LPOS l c COUNT", SYNTAX),
            ("LPOS l c WHAT 1", SYNTAX),
            ("LPOS l c COUNT -1", "-ERR COUNT can't be negative"),
            ("LPOS l c MAXLEN x", "-ERR MAXLEN can't be negative"),
            (
                "LPOS l c RANK 0",
                "-ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use \
                 negative to start from the end of the list",
            ),
        ] {
            rig.check(line, expected);
        }
        rig.check("SET s v", "+OK");
        rig.check("LPOS s a", WRONG);
    });
}

#[test]
fn elements_move_between_lists_of_any_shards() {
    on_shards(|rig| {
        for other in ["o", "p", "q", "other"] {
            rig.check("RPUSH l a b c", ":3");
            rig.check(&format!("LMOVE l {other} LEFT RIGHT"), "$a");
            rig.check(&format!("LMOVE l {other} right left"), "$c");
            rig.check(&format!("RPOPLPUSH l {other}"), "$b");
            rig.check("EXISTS l", ":0");
            rig.check(&format!("LRANGE {other} 0 -1"), "[$b $c $a]");
            rig.check(&format!("LMOVE l {other} LEFT LEFT"), "nil");
            rig.check(&format!("RPOPLPUSH l {other}"), "nil");
            rig.check(&format!("LMOVE l {other} UP LEFT"), SYNTAX);
            rig.check(&format!("RPOPLPUSH {other} {other}"), "$a");
            rig.check(&format!("LMOVE {other} {other} LEFT LEFT"), "$a");
            rig.check(&format!("LRANGE {other} 0 -1"), "[$a $b $c]");
            rig.check("SET s v", "+OK");
            rig.check(&format!("LMOVE s {other} LEFT LEFT"), WRONG);
            rig.check(&format!("LMOVE {other} s LEFT LEFT"), WRONG);
            rig.check(&format!("LRANGE {other} 0 -1"), "[$a $b $c]");
            rig.check("LMOVE none s LEFT LEFT", "nil");
            rig.check(&format!("LTRIM {other} 0 0"), "+OK");
            rig.check(&format!("LMOVE {other} {other} LEFT RIGHT"), "$a");
            rig.check(&format!("LLEN {other}"), ":1");
            rig.check(&format!("DEL {other} s"), ":2");
        }
    });
}

#[test]
fn a_move_keeps_the_time_to_live_of_the_destination() {
    on_shards(|rig| {
        rig.check("RPUSH to x", ":1");
        rig.check("PEXPIRE to 500", ":1");
        rig.check("RPUSH from 12 y", ":2");
        rig.check("LMOVE from to LEFT LEFT", "$12");
        rig.check("PTTL to", ":500");
        rig.check("LRANGE to 0 -1", "[$12 $x]");
    });
}

#[test]
fn the_first_list_that_has_elements_is_popped() {
    on_shards(|rig| {
        rig.check("RPUSH b 1 2 3 4", ":4");
        rig.check("RPUSH c 5 6", ":2");
        rig.check("LMPOP 3 a b c LEFT", "[$b [$1]]");
        rig.check("LMPOP 3 a b c right count 2", "[$b [$4 $3]]");
        rig.check("LMPOP 3 a c b LEFT COUNT 9", "[$c [$5 $6]]");
        rig.check("EXISTS c", ":0");
        rig.check("LMPOP 2 a c LEFT", "nil");
        rig.check("SET s v", "+OK");
        rig.check("LMPOP 2 a s LEFT", WRONG);
        rig.check("LMPOP 2 b s LEFT", "[$b [$2]]");
        for (line, expected) in [
            ("LMPOP 0 a LEFT", "-ERR numkeys should be greater than 0"),
            ("LMPOP x a LEFT", "-ERR numkeys should be greater than 0"),
            ("LMPOP 2 a LEFT", SYNTAX),
            ("LMPOP 1 a UP", SYNTAX),
            ("LMPOP 1 a LEFT COUNT 0", "-ERR count should be greater than 0"),
            ("LMPOP 1 a LEFT COUNT 1 COUNT 1", SYNTAX),
            ("LMPOP 1 a LEFT COUNT", SYNTAX),
            ("LMPOP 1 a LEFT what", SYNTAX),
        ] {
            rig.check(line, expected);
        }
        assert_eq!(rig.effects().dirty, 6 + 6 + 1);
    });
}

#[test]
fn reads_are_counted_and_writes_are_not() {
    on_shards(|rig| {
        rig.check("RPUSH l a b", ":2");
        rig.check("LPOP l", "$a");
        rig.check("LPOP none", "nil");
        assert_eq!((rig.effects().hits, rig.effects().misses), (0, 0));
        for line in ["LLEN l", "LINDEX l 0", "LRANGE l 0 1", "LPOS l b"] {
            rig.ask(line);
        }
        for line in ["LLEN n", "LINDEX n 0", "LRANGE n 0 1", "LPOS n b"] {
            rig.ask(line);
        }
        assert_eq!((rig.effects().hits, rig.effects().misses), (4, 4));
    });
}

#[test]
fn listeners_hear_what_happens_to_lists() {
    let mut rig = Rig::new(1);
    rig.configure(|live| live.notify_events = Events::ALL.union(Events::KEYEVENT));
    for (line, expected) in [
        ("RPUSH l a b c a", "rpush l"),
        ("LPUSH l 1", "lpush l"),
        ("LPOP l", "lpop l"),
        ("RPOP l 0", ""),
        ("RPOP l 1", "rpop l"),
        ("LINSERT l AFTER a x", "linsert l"),
        ("LSET l 0 y", "lset l"),
        ("LREM l 0 none", ""),
        ("LREM l 0 x", "lrem l"),
        ("LTRIM l 0 -1", "ltrim l"),
        ("LMOVE l m LEFT RIGHT", "rpush m, lpop l"),
        ("LMOVE m m LEFT RIGHT", "rpush m, lpop m"),
        ("RPOPLPUSH m l", "lpush l, rpop m, del m"),
        ("LMPOP 2 m l RIGHT COUNT 9", "rpop l, del l"),
        ("RPUSH l a", "rpush l"),
        ("LREM l 0 a", "lrem l, del l"),
        ("RPUSH l a", "rpush l"),
        ("LTRIM l 5 9", "ltrim l, del l"),
        ("RPUSHX l a", ""),
    ] {
        rig.ask(line);
        assert_eq!(told(&mut rig), expected, "{line}");
    }
    let mut rig = Rig::new(8);
    rig.configure(|live| live.notify_events = Events::ALL.union(Events::KEYEVENT));
    rig.ask("RPUSH l a");
    told(&mut rig);
    rig.ask("LMOVE l other LEFT RIGHT");
    let mut events: Vec<String> = told(&mut rig).split(", ").map(str::to_owned).collect();
    events.sort();
    assert_eq!(events, ["del l", "lpop l", "rpush other"]);
}

#[test]
fn long_lists_answer_like_short_ones() {
    on_shards(|rig| {
        for number in 0..2000 {
            rig.check(&format!("RPUSH l element:{number}"), &format!(":{}", number + 1));
        }
        rig.check("LINDEX l 1234", "$element:1234");
        rig.check("LINDEX l -1", "$element:1999");
        rig.check("LPOS l element:777", ":777");
        rig.check("LRANGE l 998 1001", "[$element:998 $element:999 $element:1000 $element:1001]");
        rig.check("LINSERT l BEFORE element:1000 here", ":2001");
        rig.check("LRANGE l 999 1001", "[$element:999 $here $element:1000]");
        rig.check("COPY l copy", ":1");
        rig.check("LTRIM l 1000 1000", "+OK");
        rig.check("LRANGE l 0 -1", "[$here]");
        rig.check("LLEN copy", ":2001");
        rig.check("RENAME copy l", "+OK");
        rig.check("LLEN l", ":2001");
        rig.check("DEL l", ":1");
        rig.houses.iter_mut().for_each(|house| while house.store.reclaim(1000) {});
        assert!(rig.houses.iter().all(|house| house.store.bytes().used() == 0));
    });
}

#[test]
fn a_digest_depends_on_the_order_of_elements() {
    on_shards(|rig| {
        rig.check("RPUSH a 1 x 2", ":3");
        rig.check("RPUSH b 1 x 2", ":3");
        rig.check("RPUSH c x 1 2", ":3");
        let digest = |rig: &mut Rig, key: &str| rig.say(&format!("DEBUG DIGEST-VALUE {key}"));
        let (a, b, c) = (digest(rig, "a"), digest(rig, "b"), digest(rig, "c"));
        assert_eq!(a, b);
        assert_ne!(a, c);
    });
}

#[test]
fn what_waits_takes_what_is_there_from_the_first_key_that_has_any() {
    on_shards(|rig| {
        rig.check("RPUSH b 1 2 3 4", ":4");
        rig.check("RPUSH c 5 6", ":2");
        rig.check("BLPOP a b c 0", "[$b $1]");
        rig.check("BRPOP c b 0", "[$c $6]");
        rig.check("BLMPOP 0 3 a b c RIGHT COUNT 2", "[$b [$4 $3]]");
        rig.check("BLMOVE b d LEFT LEFT 0", "$2");
        rig.check("BRPOPLPUSH c d 0", "$5");
        rig.check("LRANGE d 0 -1", "[$5 $2]");
        rig.check("EXISTS a b c", ":0");
        rig.check("BLPOP a b c 0", "nil");
        rig.check("BLMOVE a d LEFT LEFT 0", "nil");
    });
}

#[test]
fn what_waits_is_refused_with_redis_own_words() {
    on_shards(|rig| {
        rig.check("SET s x", "+OK");
        let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value";
        for line in ["BLPOP a s 0", "BRPOP s a 0", "BLMPOP 0 2 a s LEFT", "BLMOVE s a LEFT LEFT 0"] {
            rig.check(line, wrong);
        }
        rig.check("RPUSH l 1", ":1");
        rig.check("BRPOPLPUSH l s 0", wrong);
        rig.check("LLEN l", ":1");
        for timeout in ["x", "nan", "1x", ""] {
            rig.check(&format!("BLPOP a b \"{timeout}\""), "-ERR timeout is not a float or out of range");
        }
        rig.check("BLPOP a b -1", "-ERR timeout is negative");
        rig.check("BLPOP a b 1e17", "-ERR timeout is out of range");
        rig.check("BLMPOP x 0 a LEFT", "-ERR numkeys should be greater than 0");
        rig.check("BLMPOP 0 1 a UP", "-ERR syntax error");
        rig.check("BLMOVE a b LEFT UP x", "-ERR syntax error");
        rig.check("BLMOVE a b LEFT RIGHT x", "-ERR timeout is not a float or out of range");
    });
}
