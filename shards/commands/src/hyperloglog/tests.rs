//! What HyperLogLog commands are answered, refused and what they tell.

use super::{hash, layout, registers};
use crate::testing::{Rig, on_shards};
use resp::client::Value;
use spec::setting::Events;

const NOT_A_SKETCH: &str = "-WRONGTYPE Key is not a valid HyperLogLog string value.";
const CORRUPT: &str = "-INVALIDOBJ Corrupted HLL object detected";

#[test]
fn elements_are_counted_once() {
    on_shards(|rig| {
        rig.check("PFADD h", ":1");
        rig.check("PFADD h", ":0");
        rig.check("PFCOUNT h", ":0");
        rig.check("PFADD h a b c", ":1");
        rig.check("PFADD h a b", ":0");
        rig.check("PFCOUNT h", ":3");
        rig.check("PFCOUNT h", ":3");
        rig.check("PFADD other c d e", ":1");
        rig.check("PFCOUNT h other none", ":5");
        rig.check("PFMERGE all h other", "+OK");
        rig.check("PFCOUNT all", ":5");
        rig.check("PFMERGE new", "+OK");
        rig.check("PFCOUNT new", ":0");
        rig.check("PFCOUNT none none2", ":0");
        rig.check("EXPIRE h 100", ":1");
        rig.check("PFADD h x y z", ":1");
        rig.check("PFMERGE h other", "+OK");
        rig.check("TTL h", ":100");
        rig.check("PFCOUNT h", ":8");
    });
}

#[test]
fn bytes_are_those_that_redis_writes() {
    let mut rig = Rig::new(1);
    rig.check("PFADD h", ":1");
    let zeros = "\\x00".repeat(10);
    rig.check("GET h", &format!("$HYLL\\x01{zeros}\\x80\\x7f\\xff"));
    rig.check("PFADD h a b c", ":1");
    rig.check("GET h", &format!("$HYLL\\x01{zeros}\\x80`\\xf3\\x80P\\xb1\\x84K\\xfb\\x80BZ"));
    rig.check("PFDEBUG DECODE h", "$Z:8436 v:1,1 Z:4274 v:2,1 Z:3068 v:1,1 Z:603");
}

#[test]
fn registers_are_sparse_until_that_takes_too_much() {
    on_shards(|rig| {
        rig.configure(|live| live.encodings.hll_sparse_max_bytes = 60);
        rig.check("PFDEBUG ENCODING h", "-ERR The specified key does not exist");
        rig.check("PFADD h a b c", ":1");
        rig.check("PFDEBUG ENCODING h", "+sparse");
        for element in 0..30 {
            rig.ask(&format!("PFADD h {element}"));
        }
        rig.check("PFDEBUG ENCODING h", "+dense");
        rig.check("STRLEN h", ":12304");
        rig.check("PFCOUNT h", ":33");
        rig.check("PFDEBUG DECODE h", "-ERR HLL encoding is not sparse");
        rig.check("PFDEBUG TODENSE h", ":0");
        rig.check("PFADD s a", ":1");
        rig.check("PFMERGE s h", "+OK");
        rig.check("PFDEBUG ENCODING s", "+dense");
        rig.check("PFADD t q", ":1");
        rig.check("PFCOUNT t", ":1");
        rig.check("PFDEBUG TODENSE t", ":1");
        rig.check("PFCOUNT t", ":1");
        rig.check("PFADD t q", ":0");
        let Value::Array(registers) = rig.ask("PFDEBUG GETREG t") else { panic!("an array") };
        assert_eq!(registers.len(), 16_384);
        let (index, value) = hash::place(b"q");
        assert_eq!(registers[index], Value::Integer(value.into()));
        assert_eq!(registers.iter().filter(|value| **value != Value::Integer(0)).count(), 1);
        rig.check("PFDEBUG FROB t", "-ERR Unknown PFDEBUG subcommand 'FROB'");
        rig.check("PFSELFTEST", "+OK");
    });
}

#[test]
fn a_value_too_large_for_the_sparse_form_makes_a_sketch_dense() {
    let element = (0u64..).find(|number| hash::place(number.to_string().as_bytes()).1 > 20).unwrap();
    let mut rig = Rig::new(1);
    rig.check(&format!("PFADD h {element}"), ":1");
    rig.check("PFDEBUG ENCODING h", "+sparse");
    // Values beyond 32 are too rare to be looked for: one that is there already is merged.
    let mut dense = layout::densified(&layout::fresh()).unwrap();
    super::dense::set(&mut dense[layout::HEADER_BYTES..], 7, 40);
    rig.value(&[b"SET", b"high", &dense]);
    rig.check("PFMERGE h high", "+OK");
    rig.check("PFDEBUG ENCODING h", "+dense");
    rig.check("PFADD h x", ":1");
}

#[test]
fn what_is_no_sketch_is_refused() {
    on_shards(|rig| {
        rig.check("RPUSH l a", ":1");
        rig.check("SET text 'not a sketch at all'", "+OK");
        rig.check("SET number 12345", "+OK");
        rig.check("SET short HYLL", "+OK");
        rig.check("SET encoding \"HYLL\\x02\\x00\\x00\\x000123456701234\"", "+OK");
        rig.check("SET length \"HYLL\\x00\\x00\\x00\\x000123456701234\"", "+OK");
        let kind = "-WRONGTYPE Operation against a key holding the wrong kind of value";
        let kinds = [("l", kind)];
        let texts = ["text", "number", "short", "encoding", "length"].map(|key| (key, NOT_A_SKETCH));
        for (key, error) in kinds.into_iter().chain(texts) {
            let commands = ["PFADD {} a", "PFCOUNT {}", "PFCOUNT none {}", "PFMERGE d {}", "PFMERGE {}"];
            for command in commands.into_iter().chain(["PFDEBUG ENCODING {}", "PFDEBUG GETREG {}"]) {
                rig.check(&command.replace("{}", key), error);
            }
        }
        rig.check("EXISTS d", ":0");
    });
}

#[test]
fn corrupt_runs_are_refused_and_leave_all_as_it_was() {
    let header = "HYLL\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x80";
    // No registers, too few, half a run, too many by zeros, too many by values.
    for runs in ["", "\\x7f\\x00", "\\x7f", "\\x7f\\xff\\x00", "\\x7f\\xfe\\x87", "\\x7f\\xff\\x80"] {
        on_shards(|rig| {
            let line = format!("SET h \"{header}{runs}\"");
            rig.check(&line, "+OK");
            rig.check("PFADD good x y", ":1");
            let before = rig.say("GET h");
            rig.check("PFCOUNT h", CORRUPT);
            rig.check("PFCOUNT good h", CORRUPT);
            rig.check("PFMERGE d h", CORRUPT);
            rig.check("PFMERGE h good", CORRUPT);
            rig.check("PFDEBUG GETREG h", CORRUPT);
            rig.check("PFDEBUG TODENSE h", CORRUPT);
            rig.check("PFDEBUG DECODE h", CORRUPT);
            assert_eq!(rig.say("GET h"), before);
            let words: Vec<String> = (0..200).map(|number| format!("e{number}")).collect();
            rig.say(&format!("PFADD h {}", words.join(" ")));
            rig.check("EXISTS d", ":0");
        });
    }
}

#[test]
fn any_bytes_are_answered() {
    let mut rig = Rig::new(2);
    let mut random = crate::Random::new(3);
    for round in 0..3000 {
        let mut bytes = layout::fresh();
        bytes[15] = 0x80;
        bytes.truncate(16);
        bytes.extend((0..random.below(40)).map(|_| random.draw() as u8));
        rig.value(&[b"SET", b"h", &bytes]);
        for words in ["PFADD h a b", "PFCOUNT h", "PFCOUNT h g", "PFMERGE g h", "PFDEBUG DECODE h"] {
            rig.say(&format!("{words}{round}"));
            rig.say(words);
        }
    }
}

#[test]
fn counts_are_about_right_and_alike_in_both_forms() {
    for exponent in 0..6 {
        let mut rig = Rig::new(1);
        rig.configure(|live| live.encodings.hll_sparse_max_bytes = 16_000);
        let total = 10u64.pow(exponent);
        let elements: Vec<String> = (0..total).map(|number| format!("element:{number}")).collect();
        for some in elements.chunks(1000) {
            let mut words: Vec<&[u8]> = vec![b"PFADD", b"h"];
            words.extend(some.iter().map(|element| element.as_bytes()));
            rig.value(&words);
        }
        let Value::Integer(sparse) = rig.ask("PFCOUNT h") else { panic!("an integer") };
        rig.ask("PFDEBUG TODENSE h");
        let Value::Bulk(dense) = rig.ask("GET h") else { panic!("a string") };
        assert_eq!(registers::count(&dense).unwrap(), sparse.unsigned_abs());
        let off = sparse.unsigned_abs().abs_diff(total);
        assert!(off as f64 <= (total as f64 * 0.05).floor(), "{sparse} of {total}");
    }
}

#[test]
fn what_changes_is_counted_and_told() {
    on_shards(|rig| {
        rig.configure(|live| live.notify_events = Events::STRING);
        let mut told = |line: &str, changes: u64, event: bool| {
            let before = rig.effects();
            rig.ask(line);
            let after = rig.effects();
            let count = |effects: &crate::Effects| {
                effects.events.iter().filter(|event| event.name == "pfadd").count()
            };
            assert_eq!(after.dirty - before.dirty, changes, "{line}");
            assert_eq!(count(&after) - count(&before), usize::from(event), "{line}");
        };
        told("PFADD h a b", 3, true);
        told("PFADD h a b", 0, false);
        told("PFCOUNT h", 1, false);
        told("PFCOUNT h", 0, false);
        told("PFMERGE d h", 1, true);
        told("PFMERGE d h", 1, true);
        told("PFCOUNT h d", 0, false);
        told("PFDEBUG TODENSE h", 1, false);
        told("PFADD h c", 1, true);
    });
}
