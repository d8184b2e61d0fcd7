//! Sets, told in commands.

use crate::testing::{Rig, shown};
use resp::client::Value;
use std::collections::BTreeSet;

const WRONG: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

fn rigs() -> [Rig; 2] {
    [Rig::new(1), Rig::new(4)]
}

/// The elements of an answer, in order.
#[track_caller]
fn elements(rig: &mut Rig, line: &str) -> Vec<String> {
    let mut elements = match rig.ask(line) {
        Value::Array(elements) => elements.iter().map(shown).collect::<Vec<_>>(),
        other => panic!("{line}: {other:?}"),
    };
    elements.sort();
    elements
}

#[test]
fn members_come_and_go() {
    for mut rig in rigs() {
        rig.check("SADD s a b a 3", ":3");
        rig.check("SADD s b", ":0");
        rig.check("SCARD s", ":3");
        rig.check("SCARD none", ":0");
        rig.check("SISMEMBER s 3", ":1");
        rig.check("SISMEMBER s c", ":0");
        rig.check("SISMEMBER none c", ":0");
        rig.check("SMISMEMBER s a c b", "[:1 :0 :1]");
        rig.check("SMISMEMBER none a c", "[:0 :0]");
        rig.check("SMEMBERS s", "[$a $b $3]");
        rig.check("SMEMBERS none", "[]");
        rig.check("SREM s a c a", ":1");
        rig.check("SREM s b 3", ":2");
        rig.check("EXISTS s", ":0");
        rig.check("SREM s b", ":0");
    }
}

#[test]
fn other_kinds_are_refused() {
    for mut rig in rigs() {
        rig.check("SET t x", "+OK");
        rig.check("SADD s 1", ":1");
        for line in [
            "SADD t 1",
            "SREM t 1",
            "SCARD t",
            "SISMEMBER t 1",
            "SMISMEMBER t 1",
            "SMEMBERS t",
            "SPOP t",
            "SPOP t 2",
            "SRANDMEMBER t",
            "SRANDMEMBER t 2",
            "SSCAN t 0",
            "SINTER s t",
            "SINTER none t",
            "SUNION s t",
            "SDIFF none t",
            "SINTERCARD 2 s t",
            "SINTERSTORE d s t",
            "SUNIONSTORE d t s",
            "SDIFFSTORE d s t",
            "SMOVE t s 1",
            "SMOVE s t 1",
        ] {
            rig.check(line, WRONG);
        }
        rig.check("SMOVE none t 1", ":0");
        rig.check("EXISTS d", ":0");
    }
}

#[test]
fn a_set_takes_the_form_that_fits() {
    let mut rig = Rig::new(1);
    rig.check("SADD s 3 1 2", ":3");
    rig.check("OBJECT ENCODING s", "$intset");
    rig.check("SMEMBERS s", "[$1 $2 $3]");
    rig.check("SADD s 100000", ":1");
    rig.check("OBJECT ENCODING s", "$intset");
    rig.check("SADD s x", ":1");
    rig.check("OBJECT ENCODING s", "$hashtable");
    rig.check("SREM s x", ":1");
    rig.check("SMEMBERS s", "[$1 $2 $3 $100000]");
    for number in 0..512 {
        rig.check(&format!("SADD i {number}"), ":1");
    }
    rig.check("OBJECT ENCODING i", "$intset");
    rig.check("SADD i 512", ":1");
    rig.check("OBJECT ENCODING i", "$hashtable");
    assert_eq!(elements(&mut rig, "SMEMBERS i").len(), 513);
}

#[test]
fn a_member_moves() {
    for mut rig in rigs() {
        for target in ["b", "c", "d", "e"] {
            rig.check("SADD a 1 x", ":2");
            rig.check(&format!("SMOVE a {target} y"), ":0");
            rig.check(&format!("SMOVE a {target} x"), ":1");
            rig.check("SMOVE a a 1", ":1");
            rig.check("SMOVE a a 2", ":0");
            rig.check(&format!("SMEMBERS {target}"), "[$x]");
            rig.check(&format!("SMOVE a {target} 1"), ":1");
            rig.check("EXISTS a", ":0");
            rig.check(&format!("SCARD {target}"), ":2");
        }
    }
}

#[test]
fn sets_are_combined_over_any_shards() {
    for mut rig in rigs() {
        rig.check("SADD a 1 2 3 x", ":4");
        rig.check("SADD b 2 3 4 y", ":4");
        rig.check("SADD c 3 x", ":2");
        assert_eq!(elements(&mut rig, "SINTER a b"), ["$2", "$3"]);
        assert_eq!(elements(&mut rig, "SINTER a b c"), ["$3"]);
        assert_eq!(elements(&mut rig, "SINTER a none"), [""; 0]);
        assert_eq!(elements(&mut rig, "SUNION a b none c"), ["$1", "$2", "$3", "$4", "$x", "$y"]);
        assert_eq!(elements(&mut rig, "SDIFF a b"), ["$1", "$x"]);
        assert_eq!(elements(&mut rig, "SDIFF a none b c"), ["$1"]);
        assert_eq!(elements(&mut rig, "SDIFF none a"), [""; 0]);
        assert_eq!(elements(&mut rig, "SDIFF a a"), [""; 0]);
        rig.check("SINTERCARD 2 a b", ":2");
        rig.check("SINTERCARD 2 a b LIMIT 1", ":1");
        rig.check("SINTERCARD 2 a b LIMIT 0", ":2");
        rig.check("SINTERCARD 2 a none", ":0");
        rig.check("SINTERSTORE d a b", ":2");
        rig.check("OBJECT ENCODING d", "$intset");
        assert_eq!(elements(&mut rig, "SMEMBERS d"), ["$2", "$3"]);
        rig.check("SUNIONSTORE d a b c", ":6");
        assert_eq!(elements(&mut rig, "SMEMBERS d"), ["$1", "$2", "$3", "$4", "$x", "$y"]);
        rig.check("SDIFFSTORE a a b", ":2");
        assert_eq!(elements(&mut rig, "SMEMBERS a"), ["$1", "$x"]);
        rig.check("SINTERSTORE d none b", ":0");
        rig.check("EXISTS d", ":0");
        rig.check("SET d text", "+OK");
        rig.check("SUNIONSTORE d c", ":2");
        rig.check("TYPE d", "+set");
        rig.check("SDIFFSTORE d none", ":0");
        rig.check("EXISTS d", ":0");
        let ten: Vec<String> = (0..10).map(|number| format!("k{number}")).collect();
        ten.iter().for_each(|key| drop(rig.say(&format!("SADD {key} {key} all"))));
        assert_eq!(elements(&mut rig, &format!("SUNION {}", ten.join(" "))).len(), 11);
        assert_eq!(elements(&mut rig, &format!("SINTER {}", ten.join(" "))), ["$all"]);
        for number in 0..700 {
            rig.say(&format!("SADD big1 {number} m{number}"));
            rig.say(&format!("SADD big2 {} m{number}", number + 350));
        }
        rig.check("SINTERSTORE d big1 big2", ":1050");
        rig.check("SCARD d", ":1050");
        rig.check("SISMEMBER d 400", ":1");
        rig.check("SDIFFSTORE d big1 big2", ":350");
        rig.check("OBJECT ENCODING d", "$intset");
    }
}

#[test]
fn arguments_are_refused_in_the_words_of_redis() {
    for mut rig in rigs() {
        rig.check("SINTERCARD 0 a", "-ERR numkeys should be greater than 0");
        rig.check("SINTERCARD x a", "-ERR numkeys should be greater than 0");
        rig.check("SINTERCARD 3 a b", "-ERR Number of keys can't be greater than number of args");
        rig.check("SINTERCARD 2 a b LIMIT", "-ERR syntax error");
        rig.check("SINTERCARD 2 a b LIMIT -1", "-ERR LIMIT can't be negative");
        rig.check("SINTERCARD 1 a b", "-ERR syntax error");
        rig.check("SPOP s -1", "-ERR value is out of range, must be positive");
        rig.check("SPOP s x", "-ERR value is not an integer or out of range");
        rig.check("SPOP s 1 2", "-ERR syntax error");
        rig.check("SRANDMEMBER s x", "-ERR value is not an integer or out of range");
        rig.check("SRANDMEMBER s 1 2", "-ERR syntax error");
        rig.check("SSCAN s x", "-ERR invalid cursor");
    }
}

#[test]
fn members_are_drawn_and_taken() {
    for mut rig in rigs() {
        rig.check("SPOP none", "nil");
        rig.check("SPOP none 3", "[]");
        rig.check("SRANDMEMBER none", "nil");
        rig.check("SRANDMEMBER none -3", "[]");
        for count in [5u32, 90, 300] {
            (0..count).for_each(|number| drop(rig.say(&format!("SADD s m{number}"))));
            assert_eq!(elements(&mut rig, "SRANDMEMBER s -1000").len(), 1000);
            for wanted in [1, 4, count / 4, count, count + 1] {
                let drawn = elements(&mut rig, &format!("SRANDMEMBER s {wanted}"));
                let distinct: BTreeSet<_> = drawn.iter().collect();
                assert_eq!((drawn.len(), distinct.len()), (wanted.min(count) as usize, drawn.len()));
            }
            let mut taken = elements(&mut rig, "SPOP s 4");
            taken.push(rig.say("SPOP s"));
            taken.extend(elements(&mut rig, &format!("SPOP s {}", count / 2)));
            taken.extend(elements(&mut rig, "SPOP s 1000"));
            let distinct: BTreeSet<_> = taken.iter().collect();
            assert_eq!((taken.len(), distinct.len()), (count as usize, count as usize));
            rig.check("EXISTS s", ":0");
        }
    }
}

#[test]
fn all_members_are_scanned() {
    let mut rig = Rig::new(1);
    rig.check("SSCAN none 0", "[$0 []]");
    rig.check("SADD i 1 2 13", ":3");
    rig.check("SSCAN i 0 MATCH 1*", "[$0 [$1 $13]]");
    (0..1000).for_each(|number| drop(rig.say(&format!("SADD s m{number}"))));
    let (mut cursor, mut seen, mut calls) = ("0".to_string(), BTreeSet::new(), 0);
    loop {
        let answer = rig.say(&format!("SSCAN s {cursor} COUNT 50"));
        let (next, members) = answer[2..answer.len() - 1].split_once(' ').unwrap();
        seen.extend(members[1..members.len() - 1].split(' ').map(str::to_string));
        (cursor, calls) = (next.into(), calls + 1);
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(seen.len(), 1000);
    assert!((7..=20).contains(&calls), "{calls} calls");
}

#[test]
fn changes_are_counted_and_told() {
    for mut rig in rigs() {
        rig.configure(|live| live.notify_events = spec::setting::Events::ALL);
        rig.say("SADD a 1 2");
        rig.say("SREM a 9");
        rig.say("SMOVE a b 1");
        rig.say("SMOVE a b 2");
        rig.say("SINTERSTORE c b");
        rig.say("SINTERSTORE c none");
        rig.say("SPOP b 5");
        assert_eq!(rig.effects().dirty, 10, "{:?}", rig.effects());
        let mut names: Vec<_> = rig.effects().events.iter().map(|event| event.name).collect();
        names.sort_unstable();
        let expected = ["del", "del", "del", "sadd", "sadd", "sadd", "sinterstore", "spop", "srem", "srem"];
        assert_eq!(names, expected);
    }
}
