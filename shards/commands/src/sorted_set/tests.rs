//! Sentences about sorted sets.

use crate::testing::{Rig, on_shards};

fn three(rig: &mut Rig) {
    rig.check("ZADD z 1 a 2 b 3 c", ":3");
}

#[test]
fn zadd_adds_changes_and_keeps_as_told() {
    on_shards(|rig| {
        three(rig);
        rig.check("ZADD z 4 a 5 d", ":1");
        rig.check("ZADD z CH 4 a 6 d 7 e", ":2");
        rig.check("ZADD z NX 9 a 9 f", ":1");
        rig.check("ZADD z XX CH 8 a 9 g", ":1");
        rig.check("ZADD z GT CH 7 a 10 b", ":1");
        rig.check("ZADD z LT CH 7 a 11 b", ":1");
        rig.check("ZADD z GT CH 1 h", ":1");
        rig.check("ZADD z INCR 2.5 a", "$9.5");
        rig.check("ZADD z INCR NX 2.5 a", "nil");
        rig.check("ZADD z INCR XX 2.5 none", "nil");
        rig.check("ZADD z INCR GT -1 a", "nil");
        rig.check("ZADD new XX 1 a", ":0");
        rig.check("EXISTS new", ":0");
        rig.check("ZINCRBY z 0.5 a", "$10");
        rig.check("ZINCRBY z inf a", "$inf");
        rig.check("ZINCRBY z -inf a", "-ERR resulting score is not a number (NaN)");
        rig.check("ZADD z -0 zero", ":1");
        rig.check("ZSCORE z zero", "$0");
    });
}

#[test]
fn zadd_refuses_what_contradicts_itself() {
    on_shards(|rig| {
        rig.check("ZADD z NX XX 1 a", "-ERR XX and NX options at the same time are not compatible");
        for pair in ["GT LT", "GT NX", "NX LT"] {
            let fault = "-ERR GT, LT, and/or NX options at the same time are not compatible";
            rig.check(&format!("ZADD z {pair} 1 a"), fault);
        }
        rig.check("ZADD z INCR 1 a 2 b", "-ERR INCR option supports a single increment-element pair");
        rig.check("ZADD z 1 a 2", "-ERR syntax error");
        rig.check("ZADD z NX CH", "-ERR syntax error");
        rig.check("ZADD z 1 a x b", "-ERR value is not a valid float");
        rig.check("ZADD z nan a", "-ERR value is not a valid float");
        rig.check("EXISTS z", ":0");
        rig.check("SET s x", "+OK");
        for line in
            ["ZADD s 1 a", "ZREM s a", "ZSCORE s a", "ZRANGE s 0 1", "ZPOPMIN s", "ZCARD s", "ZRANK s a"]
        {
            rig.check(line, "-WRONGTYPE Operation against a key holding the wrong kind of value");
        }
    });
}

#[test]
fn scores_and_ranks_are_told() {
    on_shards(|rig| {
        three(rig);
        rig.check("ZCARD z", ":3");
        rig.check("ZSCORE z b", "$2");
        rig.check("ZSCORE z x", "nil");
        rig.check("ZMSCORE z b x a", "[$2 nil $1]");
        rig.check("ZMSCORE none b x", "[nil nil]");
        rig.check("ZRANK z b", ":1");
        rig.check("ZREVRANK z a", ":2");
        rig.check("ZRANK z a WITHSCORE", "[:0 $1]");
        rig.check("ZREVRANK z a WITHSCORE", "[:2 $1]");
        rig.check("ZRANK z x", "nil");
        rig.check("ZRANK z a SCORE", "-ERR syntax error");
        rig.check("ZCOUNT z (1 3", ":2");
        rig.check("ZCOUNT z -inf +inf", ":3");
        rig.check("ZCOUNT z 3 1", ":0");
        rig.check("ZCOUNT z x 1", "-ERR min or max is not a float");
        rig.check("ZLEXCOUNT z - +", ":3");
        rig.check("ZLEXCOUNT z [b [c", ":2");
        rig.check("ZLEXCOUNT z b +", "-ERR min or max not valid string range item");
    });
}

#[test]
fn ranges_go_by_rank_score_and_member_both_ways() {
    on_shards(|rig| {
        three(rig);
        rig.check("ZRANGE z 0 -1", "[$a $b $c]");
        rig.check("ZRANGE z 0 -1 REV WITHSCORES", "[$c $3 $b $2 $a $1]");
        rig.check("ZRANGE z -2 10", "[$b $c]");
        rig.check("ZRANGE z 2 1", "[]");
        rig.check("ZREVRANGE z 0 0", "[$c]");
        rig.check("ZRANGE z (1 +inf BYSCORE", "[$b $c]");
        rig.check("ZRANGE z +inf (1 BYSCORE REV LIMIT 1 5", "[$b]");
        rig.check("ZRANGEBYSCORE z -inf +inf LIMIT 1 1 WITHSCORES", "[$b $2]");
        rig.check("ZRANGEBYSCORE z -inf +inf LIMIT -1 1", "[]");
        rig.check("ZREVRANGEBYSCORE z 2 -inf", "[$b $a]");
        rig.check("ZADD l 0 a 0 b 0 c 0 d", ":4");
        rig.check("ZRANGE l [b (d BYLEX", "[$b $c]");
        rig.check("ZRANGEBYLEX l - [b", "[$a $b]");
        rig.check("ZREVRANGEBYLEX l + [b LIMIT 0 2", "[$d $c]");
        rig.check("ZRANGE l + - BYLEX", "[]");
        rig.check("ZRANGE none 0 -1", "[]");
        let fault = "-ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX";
        rig.check("ZRANGE z 0 -1 LIMIT 1 2", fault);
        let fault = "-ERR syntax error, WITHSCORES not supported in combination with BYLEX";
        rig.check("ZRANGE z - + BYLEX WITHSCORES", fault);
        rig.check("ZRANGE z a b", "-ERR value is not an integer or out of range");
        rig.check("ZREVRANGE z 0 1 REV", "-ERR syntax error");
    });
}

#[test]
fn removed_members_take_their_key_along() {
    on_shards(|rig| {
        three(rig);
        rig.check("ZREM z a x", ":1");
        rig.check("ZREMRANGEBYSCORE z 3 3", ":1");
        rig.check("ZREMRANGEBYRANK z 0 -1", ":1");
        rig.check("EXISTS z", ":0");
        rig.check("ZADD z 0 a 0 b 0 c", ":3");
        rig.check("ZREMRANGEBYLEX z [a (c", ":2");
        rig.check("ZREM z c", ":1");
        rig.check("EXISTS z", ":0");
        rig.check("ZREMRANGEBYRANK z 0 -1", ":0");
    });
}

#[test]
fn pops_take_from_the_ends() {
    on_shards(|rig| {
        three(rig);
        rig.check("ZPOPMIN z", "[$a $1]");
        rig.check("ZPOPMAX z 5", "[$c $3 $b $2]");
        rig.check("ZPOPMAX z 5", "[]");
        rig.check("ZPOPMAX z -1", "-ERR value is out of range, must be positive");
        three(rig);
        rig.check("ZPOPMIN z 0", "[]");
        rig.check("ZMPOP 2 none z MIN", "[$z [[$a $1]]]");
        rig.check("ZMPOP 3 none z other MAX COUNT 9", "[$z [[$c $3] [$b $2]]]");
        rig.check("EXISTS z", ":0");
        rig.check("ZMPOP 2 none z MIN", "nil");
        rig.check("ZMPOP 0 z MIN", "-ERR numkeys should be greater than 0");
        rig.check("ZMPOP 1 z MIN COUNT 0", "-ERR count should be greater than 0");
        rig.check("ZMPOP 1 z MID", "-ERR syntax error");
        rig.check("SET z x", "+OK");
        rig.check("ZMPOP 2 none z MIN", "-WRONGTYPE Operation against a key holding the wrong kind of value");
    });
}

#[test]
fn several_keys_become_one() {
    on_shards(|rig| {
        three(rig);
        rig.check("ZADD y 10 b 20 c 30 d", ":3");
        rig.check("ZUNION 2 z y WITHSCORES", "[$a $1 $b $12 $c $23 $d $30]");
        rig.check("ZUNION 2 z y WEIGHTS 2 1 AGGREGATE MAX WITHSCORES", "[$a $2 $b $10 $c $20 $d $30]");
        rig.check("ZINTER 2 z y WITHSCORES", "[$b $12 $c $23]");
        rig.check("ZINTER 3 z y none", "[]");
        rig.check("ZINTER 2 z z WITHSCORES", "[$a $2 $b $4 $c $6]");
        rig.check("ZDIFF 2 z y WITHSCORES", "[$a $1]");
        rig.check("ZINTERCARD 2 z y", ":2");
        rig.check("ZINTERCARD 2 z y LIMIT 1", ":1");
        rig.check("ZINTERCARD 2 z y LIMIT -1", "-ERR LIMIT can't be negative");
        rig.check("ZUNIONSTORE out 2 z y", ":4");
        rig.check("ZRANGE out 0 -1 WITHSCORES", "[$a $1 $b $12 $c $23 $d $30]");
        rig.check("ZINTERSTORE out 2 z y AGGREGATE MIN", ":2");
        rig.check("ZRANGE out 0 -1 WITHSCORES", "[$b $2 $c $3]");
        rig.check("ZDIFFSTORE z 2 z y", ":1");
        rig.check("ZRANGE z 0 -1 WITHSCORES", "[$a $1]");
        rig.check("ZADD m inf x", ":1");
        rig.check("ZADD n inf x", ":1");
        rig.check("ZINTER 2 m n WEIGHTS 1 0 WITHSCORES", "[$x $0]");
        rig.check("ZUNION 2 m n WEIGHTS 1 0 WITHSCORES", "[$x $inf]");
        rig.check("ZINTERSTORE out 2 z none", ":0");
        rig.check("EXISTS out", ":0");
        rig.check("ZUNION 0 z", "-ERR at least 1 input key is needed for 'zunion' command");
        rig.check("ZUNIONSTORE o 3 z y", "-ERR syntax error");
        rig.check("ZUNION 2 z y WEIGHTS 1 x", "-ERR weight value is not a float");
        rig.check("SET s x", "+OK");
        rig.check("ZUNION 2 z s", "-WRONGTYPE Operation against a key holding the wrong kind of value");
        rig.check("ZADD inf inf a", ":1");
        rig.check("ZADD less -inf a", ":1");
        rig.check("ZUNION 2 inf less WITHSCORES", "[$a $0]");
        rig.check("ZUNION 1 inf WEIGHTS 0 WITHSCORES", "[$a $0]");
    });
}

#[test]
fn a_range_is_stored_elsewhere() {
    on_shards(|rig| {
        three(rig);
        rig.check("ZRANGESTORE to z 1 -1", ":2");
        rig.check("ZRANGE to 0 -1 WITHSCORES", "[$b $2 $c $3]");
        rig.check("ZRANGESTORE to z 3 (1 BYSCORE REV LIMIT 0 1", ":1");
        rig.check("ZRANGE to 0 -1", "[$c]");
        rig.check("ZRANGESTORE to z 5 6", ":0");
        rig.check("EXISTS to", ":0");
        rig.check("ZRANGESTORE z z 0 0", ":1");
        rig.check("ZRANGE z 0 -1", "[$a]");
        rig.check("ZRANGESTORE to z 0 -1 WITHSCORES", "-ERR syntax error");
        rig.check("SET s x", "+OK");
        rig.check(
            "ZRANGESTORE to s 0 -1",
            "-WRONGTYPE Operation against a key holding the wrong kind of value",
        );
        rig.check("ZRANGESTORE s z 0 -1", ":1");
        rig.check("TYPE s", "+zset");
    });
}

#[test]
fn random_members_are_members() {
    on_shards(|rig| {
        rig.check("ZRANDMEMBER z", "nil");
        rig.check("ZRANDMEMBER z 5", "[]");
        rig.check("ZADD z 1 a", ":1");
        rig.check("ZRANDMEMBER z", "$a");
        rig.check("ZRANDMEMBER z -3 WITHSCORES", "[$a $1 $a $1 $a $1]");
        three(rig_cleared(rig));
        for count in 0..5 {
            let said = rig.say(&format!("ZRANDMEMBER z {count}"));
            let expected = count.min(3);
            assert_eq!(said.matches('$').count(), expected, "{said}");
        }
        rig.check("ZRANDMEMBER z 1 SCORES", "-ERR syntax error");
        rig.check("ZRANDMEMBER z -16777217", "-ERR value is out of range");
        rig.check("ZRANDMEMBER z x", "-ERR value is not an integer or out of range");
    });
}

fn rig_cleared(rig: &mut Rig) -> &mut Rig {
    rig.check("DEL z", ":1");
    rig
}

#[test]
fn a_scan_shows_all() {
    on_shards(|rig| {
        three(rig);
        rig.check("ZSCAN z 0", "[$0 [$a $1 $b $2 $c $3]]");
        rig.check("ZSCAN z 0 MATCH [ab] COUNT 1", "[$0 [$a $1 $b $2]]");
        rig.check("ZSCAN none 0", "[$0 []]");
        rig.check("ZSCAN z x", "-ERR invalid cursor");
        rig.check("ZSCAN z 0 COUNT 0", "-ERR syntax error");
        rig.check("ZSCAN z 0 COUNT", "-ERR syntax error");
    });
}

#[test]
fn encodings_follow_the_settings() {
    on_shards(|rig| {
        three(rig);
        rig.check("OBJECT ENCODING z", "$listpack");
        rig.configure(|live| live.encodings.zset_max_listpack_entries = 3);
        rig.check("ZADD z 4 a", ":0");
        rig.check("OBJECT ENCODING z", "$listpack");
        rig.check("ZADD z 5 d", ":1");
        rig.check("OBJECT ENCODING z", "$skiplist");
        rig.check("ZRANGE z 0 -1", "[$b $c $a $d]");
        rig.check("ZUNIONSTORE y 1 z", ":4");
        rig.check("OBJECT ENCODING y", "$skiplist");
        rig.check("ZRANGESTORE y z 0 1", ":2");
        rig.check("OBJECT ENCODING y", "$listpack");
        rig.configure(|live| live.encodings.zset_max_listpack_value = 3);
        rig.check("ZADD y 1 long", ":1");
        rig.check("OBJECT ENCODING y", "$skiplist");
    });
}

#[test]
fn effects_are_counted_and_told() {
    let mut rig = Rig::new(4);
    rig.configure(|live| live.notify_events = spec::setting::Events::ALL);
    three(&mut rig);
    rig.check("ZADD z 1 a", ":0");
    rig.check("ZINCRBY z 1 a", "$2");
    rig.check("ZREM z a b", ":2");
    rig.check("ZPOPMIN z", "[$c $3]");
    assert_eq!(rig.effects().dirty, 3 + 1 + 2 + 1);
    let events: Vec<_> = rig.effects().events.iter().map(|event| event.name).collect();
    assert_eq!(events, ["zadd", "zincr", "zrem", "zpopmin", "del"]);
    three(&mut rig);
    rig.check("ZUNIONSTORE to{x} 1 z", ":3");
    rig.check("ZUNIONSTORE to{x} 1 none", ":0");
    let events: Vec<_> = rig.effects().events.iter().map(|event| event.name).collect();
    let to: Vec<_> = events.iter().filter(|name| name.starts_with("zunion") || **name == "del").collect();
    assert_eq!(to.len(), 3, "{events:?}");
}

#[test]
fn in_resp3_members_and_scores_are_pairs() {
    let mut rig = Rig::new(2);
    rig.session.version = resp::Version::Resp3;
    three(&mut rig);
    let mut bytes = |line: &str| {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        String::from_utf8(rig.run(&words)).unwrap()
    };
    assert_eq!(bytes("ZRANGE z 0 0 WITHSCORES"), "*1\r\n*2\r\n$1\r\na\r\n,1\r\n");
    assert_eq!(bytes("ZPOPMIN z"), "*2\r\n$1\r\na\r\n,1\r\n");
    assert_eq!(bytes("ZPOPMIN z 1"), "*1\r\n*2\r\n$1\r\nb\r\n,2\r\n");
    assert_eq!(bytes("ZSCORE z c"), ",3\r\n");
    assert_eq!(bytes("ZADD z INCR 1 c"), ",4\r\n");
    assert_eq!(bytes("ZRANK z x WITHSCORE"), "_\r\n");
}

#[test]
fn what_waits_takes_what_is_there_from_the_first_key_that_has_any() {
    on_shards(|rig| {
        rig.check("ZADD b 1 x 2 y 3 z", ":3");
        rig.check("ZADD c 4 w", ":1");
        rig.check("BZPOPMIN a b c 0", "[$b $x $1]");
        rig.check("BZPOPMAX c b 0", "[$c $w $4]");
        rig.check("BZMPOP 0 3 a b c MAX COUNT 9", "[$b [[$z $3] [$y $2]]]");
        rig.check("EXISTS a b c", ":0");
        rig.check("BZMPOP 0 3 a b c MAX", "nil");
        rig.check("SET s x", "+OK");
        rig.check("BZPOPMIN a s 0", "-WRONGTYPE Operation against a key holding the wrong kind of value");
        rig.check("BZPOPMIN a b x", "-ERR timeout is not a float or out of range");
        rig.check("BZMPOP x 0 a MIN", "-ERR numkeys should be greater than 0");
        rig.check("BZMPOP -1 1 a MIN", "-ERR timeout is negative");
    });
}
