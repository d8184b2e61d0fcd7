//! Blocking commands as several clients of whole cores see them, on any number of shards.

use corelane_house::House;
use memory::{MemoryConfig, MemoryWire};
use port::contract::Heard;
use std::time::{Duration, Instant};

/// Some cores, and clients of them in turn.
struct Hall {
    house: House,
    wires: Vec<Option<MemoryWire>>,
}

impl Hall {
    fn new(shards: usize, clients: usize) -> Hall {
        let mut house = House::new(shards, MemoryConfig::default(), |_| ());
        let wires = (0..clients).map(|client| Some(house.dial(client % shards))).collect();
        Hall { house, wires }
    }

    /// A client says a line, and nobody waits for what comes of it.
    fn say(&mut self, client: usize, line: &str) {
        let wire = self.wires[client].as_mut().expect("it is there");
        let text = format!("{line}\r\n");
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            rest = &rest[wire.send(rest)..];
            self.house.tick();
        }
        self.settle();
    }

    fn settle(&mut self) {
        (0..24).for_each(|_| self.house.tick());
    }

    /// What a client has heard, with line ends shown as spaces.
    fn heard(&mut self, client: usize) -> String {
        let mut bytes = Vec::new();
        self.wires[client].as_mut().expect("it is there").receive(&mut bytes);
        String::from_utf8_lossy(&bytes).replace("\r\n", " ").trim_end().to_owned()
    }

    fn ask(&mut self, client: usize, line: &str) -> String {
        self.say(client, line);
        self.heard(client)
    }

    fn goes(&mut self, client: usize) {
        self.wires[client] = None;
    }

    fn info(&mut self, client: usize, field: &str) -> String {
        // Gauges are renewed now and then.
        std::thread::sleep(Duration::from_millis(110));
        self.settle();
        let text = self.ask(client, "INFO clients");
        let line = text.split(' ').find_map(|word| word.strip_prefix(field)?.strip_prefix(':'));
        line.unwrap_or("no such field").to_owned()
    }
}

fn on_shards(clients: usize, test: impl Fn(&mut Hall)) {
    for shards in [1, 2, 3, 4, 8] {
        println!("{shards} shards");
        test(&mut Hall::new(shards, clients));
    }
}

#[test]
fn who_comes_first_is_served_first_whichever_key_is_filled() {
    on_shards(5, |hall| {
        for client in 0..4 {
            hall.say(client, "BLPOP a b c d e 0");
        }
        for (client, key) in ["d", "a", "e", "b"].into_iter().enumerate() {
            assert_eq!(hall.ask(4, &format!("RPUSH {key} {client}")), ":1");
            assert_eq!(hall.heard(client), format!("*2 $1 {key} $1 {client}"));
        }
        assert_eq!(hall.ask(4, "EXISTS a b c d e"), ":0");
    });
}

#[test]
fn several_elements_serve_several_clients_and_the_rest_stays() {
    on_shards(4, |hall| {
        (0..3).for_each(|client| hall.say(client, "BRPOP a b 0"));
        assert_eq!(hall.ask(3, "RPUSH b 1 2 3 4 5"), ":5");
        for (client, element) in [5, 4, 3].into_iter().enumerate() {
            assert_eq!(hall.heard(client), format!("*2 $1 b $1 {element}"));
        }
        assert_eq!(hall.ask(3, "LRANGE b 0 -1"), "*2 $1 1 $1 2");
        (0..2).for_each(|client| hall.say(client, "BZMPOP 0 3 x y z MIN COUNT 2"));
        assert_eq!(hall.ask(3, "ZADD z 1 a 2 b 3 c"), ":3");
        assert_eq!(hall.heard(0), "*2 $1 z *2 *2 $1 a $1 1 *2 $1 b $1 2");
        assert_eq!(hall.heard(1), "*2 $1 z *1 *2 $1 c $1 3");
    });
}

#[test]
fn what_a_client_would_have_had_that_has_gone_is_the_next_ones() {
    on_shards(4, |hall| {
        (0..2).for_each(|client| hall.say(client, "BLPOP a b c 0"));
        hall.goes(0);
        assert_eq!(hall.ask(3, "RPUSH b 1"), ":1");
        assert_eq!(hall.heard(1), "*2 $1 b $1 1");
        hall.say(2, "BLPOP a b c 0");
        hall.goes(2);
        hall.settle();
        assert_eq!(hall.ask(3, "RPUSH c 2"), ":1");
        assert_eq!(hall.ask(3, "LRANGE c 0 -1"), "*1 $1 2");
        assert_eq!(hall.info(3, "blocked_clients"), "0");
        assert_eq!(hall.info(3, "total_blocking_keys"), "0");
    });
}

#[test]
fn a_client_that_goes_in_any_tick_takes_nothing_along() {
    for ticks in 0..12 {
        on_shards(3, |hall| {
            hall.say(0, "BLPOP a b c d 0");
            hall.say(1, "BLMOVE d e LEFT LEFT 0");
            let wire = hall.wires[2].as_mut().expect("it is there");
            assert_eq!(wire.send(b"RPUSH d 1 2\r\n"), 13);
            (0..ticks).for_each(|_| hall.house.tick());
            let mut heard = Vec::new();
            hall.wires[0].as_mut().expect("it is there").receive(&mut heard);
            hall.goes(0);
            hall.settle();
            assert_eq!(hall.heard(2), ":2");
            let left = hall.ask(2, "LLEN d");
            // A reply that was written before it went may have been lost on the way; no more than that.
            let moved = hall.heard(1);
            let served = if heard.is_empty() { ["$1 1", "$1 2"] } else { ["$1 2", "$1 2"] };
            assert!(served.contains(&moved.as_str()), "after {ticks} ticks {moved} was moved");
            assert!([":0", ":1"].contains(&left.as_str()));
            assert_eq!(hall.ask(2, "LLEN e"), ":1");
        });
    }
}

#[test]
fn nobody_sees_what_is_pushed_for_one_who_waits() {
    on_shards(3, |hall| {
        hall.say(0, "BLPOP a b 0");
        assert_eq!(hall.ask(1, "RPUSH b 1\r\nLPOP b\r\nLLEN b\r\nEXISTS a b"), ":1 $-1 :0 :0");
        assert_eq!(hall.heard(0), "*2 $1 b $1 1");
        hall.say(0, "BLPOP a b 0");
        let queued = "+OK +QUEUED +QUEUED +QUEUED";
        let asked = "MULTI\r\nRPUSH b 1\r\nDEL b\r\nRPUSH a 2\r\nEXEC\r\nEXISTS a b";
        assert_eq!(hall.ask(1, asked), format!("{queued} *3 :1 :1 :1 :0"));
        assert_eq!(hall.heard(0), "*2 $1 a $1 2");
    });
}

#[test]
fn what_is_moved_serves_whoever_waits_where_it_goes() {
    on_shards(6, |hall| {
        for (client, keys) in ["a b", "b c", "c d", "d e"].into_iter().enumerate() {
            hall.say(client, &format!("BLMOVE {keys} LEFT RIGHT 0"));
        }
        hall.say(4, "BLPOP e 0");
        assert_eq!(hall.ask(5, "RPUSH a 1"), ":1");
        hall.settle();
        (0..4).for_each(|client| assert_eq!(hall.heard(client), "$1 1"));
        assert_eq!(hall.heard(4), "*2 $1 e $1 1");
        assert_eq!(hall.ask(5, "EXISTS a b c d e"), ":0");
        // In a circle it comes to rest when all have been served.
        hall.say(0, "BRPOPLPUSH {x}1 {x}2 0");
        hall.say(1, "BRPOPLPUSH {x}2 {x}1 0");
        assert_eq!(hall.ask(5, "RPUSH {x}1 foo\r\nLRANGE {x}1 0 -1\r\nLLEN {x}2"), ":1 *1 $3 foo :0");
        assert_eq!((hall.heard(0).as_str(), hall.heard(1).as_str()), ("$3 foo", "$3 foo"));
    });
}

#[test]
fn a_destination_of_another_kind_ends_the_wait_and_keeps_the_element() {
    on_shards(3, |hall| {
        for keys in ["a b", "a c", "{x}1 {x}2"] {
            let (source, destination) = keys.split_once(' ').expect("two keys");
            hall.say(0, &format!("BLMOVE {keys} LEFT RIGHT 0"));
            assert_eq!(hall.ask(1, &format!("SET {destination} x")), "+OK");
            assert_eq!(hall.ask(1, &format!("RPUSH {source} 1")), ":1");
            hall.settle();
            assert_eq!(hall.heard(0), "-WRONGTYPE Operation against a key holding the wrong kind of value");
            assert_eq!(hall.ask(1, &format!("LLEN {source}")), ":1");
            assert_eq!(hall.ask(1, "FLUSHALL"), "+OK");
        }
        hall.say(0, "BLPOP a 0");
        hall.say(1, "BZPOPMIN a 0");
        assert_eq!(hall.ask(2, "ZADD a 1 m"), ":1");
        assert_eq!((hall.heard(0).as_str(), hall.heard(1).as_str()), ("", "*3 $1 a $1 m $1 1"));
        assert_eq!(hall.ask(2, "RPUSH a 1"), ":1");
        assert_eq!(hall.heard(0), "*2 $1 a $1 1");
    });
}

#[test]
fn a_wait_ends_with_its_time_or_by_another_client() {
    on_shards(2, |hall| {
        let nulls =
            [("BLPOP a b 0.01", "*-1"), ("BLMOVE a b LEFT LEFT 0.01", "*-1"), ("BZPOPMAX a 0.01", "*-1")];
        for (asked, told) in nulls {
            let began = Instant::now();
            hall.say(0, asked);
            let mut heard = hall.heard(0);
            while heard.is_empty() && began.elapsed() < Duration::from_secs(5) {
                hall.settle();
                heard = hall.heard(0);
            }
            assert_eq!(heard, told, "{asked}");
            assert!(began.elapsed() >= Duration::from_millis(9), "{asked}");
        }
        let id = hall.ask(0, "CLIENT ID").trim_start_matches(':').to_owned();
        let unblocked = "-UNBLOCKED client unblocked via CLIENT UNBLOCK";
        for (how, told) in [("", "*-1"), ("TIMEOUT", "*-1"), ("ERROR", unblocked)] {
            hall.say(0, "BLPOP a b c 0\r\nPING");
            assert!(hall.ask(1, "CLIENT LIST").contains(" flags=b "));
            assert_eq!(hall.ask(1, &format!("CLIENT UNBLOCK {id} {how}")), ":1");
            assert_eq!(hall.heard(0), format!("{told} +PONG"));
            assert_eq!(hall.ask(1, &format!("CLIENT UNBLOCK {id} {how}")), ":0");
        }
        assert_eq!(hall.ask(1, "RPUSH a 1"), ":1");
        assert_eq!(hall.ask(1, "LLEN a"), ":1");
    });
}

#[test]
fn nothing_waits_inside_a_transaction() {
    on_shards(1, |hall| {
        let asked = "MULTI\r\nBLPOP a b c 0\r\nBLMOVE a b LEFT LEFT 0\r\nBZPOPMIN a d 0\r\nRPUSH c 1\r\nBLMPOP 0 2 a c LEFT\r\nEXEC";
        let queued = "+OK +QUEUED +QUEUED +QUEUED +QUEUED +QUEUED";
        assert_eq!(hall.ask(0, asked), format!("{queued} *5 *-1 $-1 *-1 :1 *2 $1 c *1 $1 1"));
        assert_eq!(hall.info(0, "blocked_clients"), "0");
    });
}

#[test]
fn what_a_client_sends_behind_its_wait_is_bounded_and_runs_after_it() {
    on_shards(2, |hall| {
        hall.say(0, "BLPOP a b 0\r\nPING 1\r\nCLIENT REPLY SKIP\r\nBLPOP a b 0\r\nPING 2");
        assert_eq!(hall.heard(0), "");
        assert_eq!(hall.ask(1, "RPUSH b x y"), ":2");
        assert_eq!(hall.heard(0), "*2 $1 b $1 x $1 1 $1 2");
        assert_eq!(hall.ask(1, "LLEN b"), ":0");
        // Much behind a wait is kept for later, and a client that has gone is forgotten all the same.
        hall.say(0, "BLPOP a b 0");
        let flood = b"PING\r\n".repeat(100_000);
        let mut sent = 0;
        for _ in 0..200 {
            sent += hall.wires[0].as_mut().expect("it is there").send(&flood[sent..]);
            hall.house.tick();
        }
        assert_eq!(sent, flood.len(), "all of it is read");
        assert_eq!(hall.info(1, "blocked_clients"), "1");
        hall.goes(0);
        hall.settle();
        assert_eq!(hall.info(1, "blocked_clients"), "0");
        assert_eq!(hall.ask(1, "RPUSH b 1\r\nLLEN b"), ":1 :1");
    });
}

#[test]
fn who_has_closed_its_half_or_is_killed_waits_for_nothing() {
    on_shards(3, |hall| {
        hall.say(0, "BLPOP a b c 0");
        hall.wires[0].as_mut().expect("it is there").shutdown_write();
        hall.settle();
        let mut heard = Vec::new();
        assert_eq!(hall.wires[0].as_mut().expect("it is there").receive(&mut heard), Heard::End);
        let id = hall.ask(1, "CLIENT ID").trim_start_matches(':').to_owned();
        hall.say(1, "BLPOP a b c 0");
        assert_eq!(hall.ask(2, &format!("CLIENT KILL ID {id}")), ":1");
        assert_eq!(hall.ask(2, "RPUSH a 1\r\nRPUSH b 1\r\nRPUSH c 1\r\nEXISTS a b c"), ":1 :1 :1 :3");
        assert_eq!(hall.info(2, "total_blocking_keys"), "0");
    });
}
