//! Who listens, on one shard and on several, in sentences. That messages arrive is the shard's to test.

use crate::testing::{Rig, on_shards};

#[test]
fn subscriptions_are_confirmed_one_by_one_with_their_count() {
    on_shards(|rig| {
        rig.check("SUBSCRIBE a", "[$subscribe $a :1]");
        rig.check("SUBSCRIBE a", "[$subscribe $a :1]");
        rig.check("PSUBSCRIBE b*", "[$psubscribe $b* :2]");
        rig.check("SSUBSCRIBE a", "[$ssubscribe $a :1]");
        rig.check("UNSUBSCRIBE nobody", "[$unsubscribe $nobody :2]");
        rig.check("UNSUBSCRIBE", "[$unsubscribe $a :1]");
        rig.check("UNSUBSCRIBE", "[$unsubscribe nil :1]");
        rig.check("PUNSUBSCRIBE b*", "[$punsubscribe $b* :0]");
        rig.check("SUNSUBSCRIBE", "[$sunsubscribe $a :0]");
        assert!(rig.houses.iter_mut().all(|house| house.topics.clients() == 0));
    });
}

#[test]
fn pubsub_tells_what_is_listened_to() {
    on_shards(|rig| {
        rig.check("PUBSUB CHANNELS", "[]");
        rig.check("PUBSUB NUMSUB", "[]");
        for line in ["SUBSCRIBE b", "SUBSCRIBE a", "PSUBSCRIBE x*", "PSUBSCRIBE y*", "SSUBSCRIBE c"] {
            rig.say(line);
        }
        rig.check("PUBSUB CHANNELS", "[$a $b]");
        rig.check("PUBSUB CHANNELS [a]", "[$a]");
        rig.check("PUBSUB SHARDCHANNELS", "[$c]");
        rig.check("PUBSUB SHARDCHANNELS x*", "[]");
        rig.check("PUBSUB NUMSUB a b c a", "[$a :1 $b :1 $c :0 $a :1]");
        rig.check("PUBSUB SHARDNUMSUB c", "[$c :1]");
        rig.check("PUBSUB NUMPAT", ":2");
        rig.check(
            "PUBSUB CHANNELS a b",
            "-ERR unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP.",
        );
    });
}

#[test]
fn a_subscriber_of_resp2_is_answered_its_ping_as_a_message() {
    let mut rig = Rig::new(1);
    rig.say("SUBSCRIBE a");
    rig.check("PING", "[$pong $]");
    rig.check("PING hello", "[$pong $hello]");
    rig.say("HELLO 3");
    rig.check("PING", "+PONG");
    rig.check("RESET", "+RESET");
    rig.check("PING", "+PONG");
    rig.check("PUBSUB NUMSUB a", "[$a :0]");
}
