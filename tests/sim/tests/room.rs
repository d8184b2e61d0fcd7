//! Where a shard's room for small entries ends, writes are refused with an error, and removals are not.

use corelane_sim::Talk;

/// Room of 104 pages, of which the last 96 are kept.
const ROOM_BYTES: usize = 104 << 16;

#[test]
fn writes_are_refused_at_the_end_of_the_room_and_served_again_when_there_is_some() {
    let value = "v".repeat(900);
    let sets: String = (0..1500).map(|key| format!("SET key{key} {value}\r\n")).collect();
    for shards in [1, 2, 3] {
        let asked = format!(
            "{sets}MSET a 1 b 2 c 3\r\nMSETNX a 1 b 2 c 3\r\nEXISTS a b c\r\nEXPIRE key0 100\r\nGET nosuch\r\n\
             DEL key0 key1\r\nFLUSHALL\r\nDEBUG SLEEP 0.04\r\nSET a 1\r\nMSET a 1 b 2 c 3\r\nEXISTS a b c\r\n"
        );
        let told =
            Talk { room: Some(ROOM_BYTES), rounds: 3000, ..Talk::new(shards, asked.as_bytes()) }.hold();
        let told = told.expect("nothing breaks");
        assert!(!told.closed);
        let replies: Vec<&str> = told.bytes.split_terminator("\r\n").collect();
        let (sets, rest) = replies.split_at(1500);
        let refused = |reply: &&&str| reply.starts_with("-OOM command not allowed");
        let some = sets.iter().filter(refused).count();
        assert!((300..1490).contains(&some), "{some} of 1500 refused with {shards} shards");
        assert!(sets.iter().all(|reply| *reply == "+OK" || reply.starts_with("-OOM ")));
        assert_eq!(rest.iter().take(2).filter(refused).count(), 2, "{rest:?}");
        assert_eq!(rest[2], ":0", "all or nothing");
        assert_eq!(rest[3..4].iter().filter(refused).count(), 1, "{rest:?}");
        assert_eq!(rest[4..], ["$-1", ":2", "+OK", "+OK", "+OK", "+OK", ":3"]);
    }
}
