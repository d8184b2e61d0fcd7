//! What SORT answers, stores, counts and refuses, over one shard and several.

use crate::context::Random;
use crate::testing::{Rig, on_shards};
use spec::setting::Events;

#[test]
fn elements_are_sorted_by_themselves() {
    on_shards(|rig| {
        rig.check("RPUSH l 3 1 10 2 -1.5 1e1", ":6");
        for (line, expected) in [
            ("SORT l", "[$-1.5 $1 $2 $3 $10 $1e1]"),
            ("SORT l DESC", "[$1e1 $10 $3 $2 $1 $-1.5]"),
            ("SORT l ALPHA", "[$-1.5 $1 $10 $1e1 $2 $3]"),
            ("SORT l ALPHA DESC ASC", "[$-1.5 $1 $10 $1e1 $2 $3]"),
            ("SORT l LIMIT 1 2", "[$1 $2]"),
            ("SORT l LIMIT -5 2", "[$-1.5 $1]"),
            ("SORT l LIMIT 4 -1", "[$10 $1e1]"),
            ("SORT l LIMIT 6 2", "[]"),
            ("SORT l LIMIT 2 0", "[]"),
            ("SORT l LIMIT 1 9223372036854775807", "[$1 $2 $3 $10 $1e1]"),
            ("SORT_RO l LIMIT 0 1", "[$-1.5]"),
            ("SORT none", "[]"),
            ("SORT l BY nosort", "[$3 $1 $10 $2 $-1.5 $1e1]"),
            ("SORT l BY nosort DESC LIMIT 0 2", "[$1e1 $-1.5]"),
            ("SORT l GET # GET nowhere LIMIT 0 2", "[$-1.5 nil $1 nil]"),
        ] {
            rig.check(line, expected);
        }
        rig.check("RPUSH words b a", ":2");
        rig.check("SORT words", "-ERR One or more scores can't be converted into double");
        rig.check("SORT words ALPHA", "[$a $b]");
        rig.check("SADD set 3 1 2", ":3");
        rig.check("SORT set DESC", "[$3 $2 $1]");
        rig.check("HSET hash f v", ":1");
        rig.check("SET string v", "+OK");
        for key in ["hash", "string"] {
            for rest in ["", " BY w_*", " STORE to"] {
                let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value";
                rig.check(&format!("SORT {key}{rest}"), wrong);
            }
        }
    });
}

#[test]
fn elements_are_sorted_by_other_keys_and_lead_to_others() {
    on_shards(|rig| {
        rig.check("RPUSH ids 1 2 3 4", ":4");
        rig.check("MSET w_1 30 w_2 10 w_3 20 name_1 one name_2 two name_4 four", "+OK");
        rig.check("HSET h_1 age 7 city x", ":2");
        rig.check("HSET h_2 age 9", ":1");
        rig.check("HSET h_3 age 8 city z", ":2");
        for (line, expected) in [
            ("SORT ids BY w_*", "[$4 $2 $3 $1]"),
            ("SORT ids BY w_* DESC LIMIT 0 2", "[$1 $3]"),
            ("SORT ids BY w_* GET name_*", "[$four $two nil $one]"),
            ("SORT ids BY w_* GET # GET name_* LIMIT 1 2", "[$2 $two $3 nil]"),
            ("SORT ids BY h_*->age GET h_*->city", "[nil $x $z nil]"),
            ("SORT ids GET h_*->age GET #", "[$7 $1 $9 $2 $8 $3 nil $4]"),
            ("SORT ids BY name_* ALPHA", "[$3 $4 $1 $2]"),
            ("SORT ids BY name_* ALPHA DESC", "[$2 $1 $4 $3]"),
            ("SORT ids BY name_*", "-ERR One or more scores can't be converted into double"),
            ("SORT none BY w_* GET name_*", "[]"),
            ("SORT ids BY nosort GET name_*", "[$one $two nil $four]"),
            ("SORT ids BY h_* GET w_*->age", "[nil nil nil nil]"),
            ("SORT_RO ids BY w_* GET name_* DESC", "[$one nil $two $four]"),
        ] {
            rig.check(line, expected);
        }
    });
}

#[test]
fn a_result_is_stored_anywhere() {
    on_shards(|rig| {
        rig.configure(|live| live.notify_events = Events::ALL.union(Events::KEYEVENT));
        rig.check("RPUSH l 3 1 2", ":3");
        rig.check("MSET w_1 3 w_2 1 w_3 2 n_1 one", "+OK");
        for to in ["a", "b", "c", "to"] {
            rig.check(&format!("SET {to} old EX 100"), "+OK");
            rig.check(&format!("SORT l STORE {to}"), ":3");
            rig.check(&format!("LRANGE {to} 0 -1"), "[$1 $2 $3]");
            rig.check(&format!("TTL {to}"), ":-1");
            rig.check(&format!("SORT l BY w_* GET n_* GET # STORE {to}"), ":6");
            rig.check(&format!("LRANGE {to} 0 -1"), "[$ $2 $ $3 $one $1]");
            let before = rig.effects();
            rig.check(&format!("SORT none STORE {to}"), ":0");
            rig.check(&format!("EXISTS {to}"), ":0");
            let after = rig.effects();
            assert_eq!(after.dirty, before.dirty + 1);
            let told: Vec<&str> =
                after.events[before.events.len()..].iter().map(|event| event.name).collect();
            assert_eq!(told, ["del"]);
            rig.check(&format!("SORT none STORE {to}"), ":0");
            assert_eq!(rig.effects().dirty, after.dirty);
        }
        rig.check("SORT l STORE l", ":3");
        rig.check("LRANGE l 0 -1", "[$1 $2 $3]");
        rig.check("SADD set b a c", ":3");
        rig.check("SORT set BY nosort STORE to", ":3");
        rig.check("LRANGE to 0 -1", "[$a $b $c]");
    });
}

#[test]
fn bad_arguments_are_refused() {
    on_shards(|rig| {
        rig.check("RPUSH l 1", ":1");
        for line in
            ["SORT l WHAT", "SORT l BY", "SORT l LIMIT 1", "SORT l GET", "SORT l STORE", "SORT_RO l STORE x"]
        {
            rig.check(line, "-ERR syntax error");
        }
        for line in ["SORT l LIMIT x 1", "SORT l LIMIT 1 x BY w_*", "SORT l STORE to LIMIT 1 x"] {
            rig.check(line, "-ERR value is not an integer or out of range");
        }
        rig.check("SORT", "-ERR wrong number of arguments for 'sort' command");
        rig.check("EXISTS to x", ":0");
    });
}

#[test]
fn weights_are_numbers_as_c_reads_them() {
    on_shards(|rig| {
        rig.check("RPUSH l a b c d e f", ":6");
        rig.check("MSET w_a ' 1' w_b -inf w_c 0x10 w_d '' w_e inf w_f 1e3", "+OK");
        rig.check("SORT l BY w_*", "[$b $d $a $c $f $e]");
        for bad in ["nan", "1x", "' '", "1e999"] {
            rig.check(&format!("SET w_a {bad}"), "+OK");
            rig.check("SORT l BY w_*", "-ERR One or more scores can't be converted into double");
        }
    });
}

#[test]
fn many_elements_are_sorted_alike_on_any_number_of_shards() {
    let answers: Vec<String> = [1, 2, 5]
        .into_iter()
        .map(|shards| {
            let (mut rig, mut random) = (Rig::new(shards), Random::new(3));
            for number in 0..300 {
                let weight = random.below(40);
                rig.ask(&format!("RPUSH l {number}"));
                rig.ask(&format!("SET w_{number} {weight}"));
                if weight % 3 > 0 {
                    rig.ask(&format!("HSET h_{number} f {weight}.5"));
                }
            }
            ["SORT l BY w_*", "SORT l BY h_*->f DESC GET # GET w_*", "SORT l BY w_* LIMIT 20 30 GET h_*->f"]
                .map(|line| rig.say(line))
                .join(" ")
        })
        .collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]));
}

#[test]
fn the_keys_of_a_sort_are_told() {
    on_shards(|rig| {
        rig.check("COMMAND GETKEYS SORT a", "[$a]");
        rig.check("COMMAND GETKEYS SORT a STORE b GET store store c", "[$a $c]");
        rig.check("COMMAND GETKEYS SORT_RO a BY w_*", "[$a]");
    });
}
