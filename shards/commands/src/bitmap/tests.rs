//! What bitmap commands are answered, refused and what they tell.

use crate::testing::{Rig, on_shards};
use resp::Version;
use spec::setting::Events;

#[test]
fn bits_are_set_cleared_and_read() {
    on_shards(|rig| {
        rig.check("SETBIT b 7 1", ":0");
        rig.check("GET b", "$\\x01");
        rig.check("SETBIT b 7 0", ":1");
        rig.check("SETBIT b 17 1", ":0");
        rig.check("GET b", "$\\x00\\x00@");
        rig.check("GETBIT b 17", ":1");
        rig.check("GETBIT b 1000", ":0");
        rig.check("GETBIT none 0", ":0");
        rig.check("SET i 12", "+OK");
        rig.check("GETBIT i 3", ":1");
        rig.check("SETBIT i 15 1", ":0");
        rig.check("GET i", "$13");
        rig.check("OBJECT ENCODING i", "$raw");
        rig.check("INCR i", ":14");
        rig.check("EXPIRE b 100", ":1");
        rig.check("SETBIT b 100 1", ":0");
        rig.check("STRLEN b", ":13");
        rig.check("TTL b", ":100");
    });
}

#[test]
fn what_is_no_bit_is_refused() {
    let offset = "-ERR bit offset is not an integer or out of range";
    let bit = "-ERR bit is not an integer or out of range";
    let kind = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    on_shards(|rig| {
        rig.configure(|live| live.proto_max_bulk_len = 1024);
        rig.check("RPUSH l a", ":1");
        for wrong in ["-1", "x", "8192", "9223372036854775807", "#1", "''"] {
            rig.check(&format!("SETBIT b {wrong} 1"), offset);
            rig.check(&format!("GETBIT b {wrong}"), offset);
        }
        for wrong in ["-1", "2", "x", "''"] {
            rig.check(&format!("SETBIT l 0 {wrong}"), bit);
        }
        rig.check("SETBIT b 8191 0", ":0");
        rig.check("STRLEN b", ":1024");
        for line in ["SETBIT l 0 1", "GETBIT l 0", "BITCOUNT l", "BITPOS l 1", "BITFIELD l GET u8 0"] {
            rig.check(line, kind);
        }
        rig.check("BITFIELD l SET u8 0 1", kind);
        rig.check("BITCOUNT l a b", "-ERR value is not an integer or out of range");
        rig.check("BITOP AND d none l", kind);
        rig.check("BITOP NOT d l", kind);
        rig.check("BITOP OR d b l", kind);
        rig.check("EXISTS d", ":0");
    });
}

#[test]
fn bits_are_counted_in_ranges_of_bytes_and_bits() {
    on_shards(|rig| {
        rig.check("SET s foobar", "+OK");
        rig.check("BITCOUNT s", ":26");
        rig.check("BITCOUNT s 0 0", ":4");
        rig.check("BITCOUNT s 1 1", ":6");
        rig.check("BITCOUNT s 1 -2", ":18");
        rig.check("BITCOUNT s 1 -2 byte", ":18");
        rig.check("BITCOUNT s 5 30 BIT", ":17");
        rig.check("BITCOUNT s -2 -5", ":0");
        rig.check("BITCOUNT s -20 -10", ":4");
        rig.check("BITCOUNT s -10 -20", ":0");
        rig.check("BITCOUNT s 6 10", ":0");
        rig.check("BITCOUNT none", ":0");
        rig.check("BITCOUNT none 0 -1", ":0");
        rig.check("SET i 123", "+OK");
        rig.check("BITCOUNT i", ":10");
        rig.check("BITCOUNT none a 1", "-ERR value is not an integer or out of range");
        for line in
            ["BITCOUNT s 1", "BITCOUNT s 1 2 hello", "BITCOUNT none 1 2 BIT x", "BITPOS s 1 0 1 BIT x"]
        {
            rig.check(line, "-ERR syntax error");
        }
    });
}

#[test]
fn the_first_set_or_clear_bit_is_found() {
    on_shards(|rig| {
        rig.check("BITPOS none 0", ":0");
        rig.check("BITPOS none 1", ":-1");
        rig.check("SET s \"\\xff\\xf0\\x00\"", "+OK");
        rig.check("BITPOS s 0", ":12");
        rig.check("SET s \"\\x00\\xff\\xf0\"", "+OK");
        rig.check("BITPOS s 1 0", ":8");
        rig.check("BITPOS s 1 2", ":16");
        rig.check("BITPOS s 1 2 -1 BYTE", ":16");
        rig.check("BITPOS s 1 7 15 BIT", ":8");
        rig.check("BITPOS s 1 7 -3 BIT", ":8");
        rig.check("SET s \"\\x00\"", "+OK");
        rig.check("BITPOS s 1", ":-1");
        rig.check("BITPOS s 1 7 15 BIT", ":-1");
        rig.check("SET f \"\\xff\\xff\\xff\"", "+OK");
        rig.check("BITPOS f 0", ":24");
        rig.check("BITPOS f 0 1", ":24");
        rig.check("BITPOS f 0 0 -1", ":-1");
        rig.check("BITPOS f 0 3", ":-1");
        rig.check("SET e ''", "+OK");
        rig.check("BITPOS e 0", ":-1");
        rig.check("BITPOS s 2", "-ERR The bit argument must be 1 or 0.");
        rig.check("BITPOS s 1 0 1 hello", "-ERR syntax error");
        rig.check("BITPOS s x", "-ERR value is not an integer or out of range");
    });
}

#[test]
fn strings_are_combined_over_any_shards() {
    on_shards(|rig| {
        rig.check("SET a \"\\xff\\x0f\\xaa\"", "+OK");
        rig.check("SET b \"\\x0f\\xff\"", "+OK");
        rig.check("SET number 7", "+OK");
        rig.check("BITOP AND d a b", ":3");
        rig.check("GET d", "$\\x0f\\x0f\\x00");
        rig.check("BITOP or d a b none", ":3");
        rig.check("GET d", "$\\xff\\xff\\xaa");
        rig.check("BITOP XOR d a b number", ":3");
        rig.check("GET d", "$\\xc7\\xf0\\xaa");
        rig.check("BITOP NOT d b", ":2");
        rig.check("GET d", "$\\xf0\\x00");
        rig.check("BITOP NOT number number", ":1");
        rig.check("GET number", "$\\xc8");
        rig.check("BITOP AND d a a a none", ":3");
        rig.check("GET d", "$\\x00\\x00\\x00");
        rig.check("EXPIRE a 50", ":1");
        rig.check("BITOP OR a a b", ":3");
        rig.check("TTL a", ":-1");
        rig.check("OBJECT ENCODING a", "$raw");
        rig.check("RPUSH l x", ":1");
        rig.check("BITOP OR l a b", ":3");
        rig.check("TYPE l", "+string");
        rig.check("BITOP NOT d none", ":0");
        rig.check("EXISTS d", ":0");
        rig.check("BITOP NOT d a b", "-ERR BITOP NOT must be called with a single source key.");
        rig.check("BITOP NAND d a", "-ERR syntax error");
    });
}

#[test]
fn integers_of_any_width_are_read_set_and_counted_up() {
    on_shards(|rig| {
        rig.check("BITFIELD k SET u8 0 255 SET i5 8 -1 GET u13 0", "[:0 :0 :8191]");
        rig.check("BITFIELD k GET i8 0 GET u4 #1 GET u8 1000", "[:-1 :15 :0]");
        rig.check("BITFIELD k INCRBY u8 0 10", "[:9]");
        rig.check("BITFIELD k OVERFLOW SAT INCRBY u8 0 -100 overflow fail INCRBY u8 0 -1", "[:0 nil]");
        rig.check("BITFIELD k OVERFLOW WRAP SET i8 #2 200 GET i8 16", "[:0 :-56]");
        rig.check("BITFIELD k OVERFLOW SAT SET i8 #2 200 GET i8 16", "[:-56 :127]");
        rig.check("BITFIELD k OVERFLOW FAIL SET u4 0 16 SET u4 0 15", "[nil :0]");
        rig.check("BITFIELD k SET i64 64 -9223372036854775808 INCRBY i64 64 -1", "[:0 :9223372036854775807]");
        rig.check("BITFIELD k", "[]");
        rig.check("BITFIELD none GET u8 0", "[:0]");
        rig.check("EXISTS none", ":0");
        rig.check("BITFIELD_RO k GET u4 0 GET i2 0", "[:15 :-1]");
        rig.check("BITFIELD_RO none", "[]");
        rig.check("SET i 15", "+OK");
        rig.check("BITFIELD i GET u8 0 SET u8 8 54", "[:49 :53]");
        rig.check("GET i", "$16");
        rig.session.version = Version::Resp3;
        rig.check("BITFIELD k OVERFLOW FAIL SET u4 0 16", "[nil]");
    });
}

#[test]
fn operations_on_integers_are_all_read_before_one_is_done() {
    let encoding = "-ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but \
                    i64 is.";
    on_shards(|rig| {
        rig.configure(|live| live.proto_max_bulk_len = 1024);
        for wrong in ["GET u8", "SET u8 0", "INCRBY u8 0", "OVERFLOW", "FROB u8 0", "GET u8 0 GET"] {
            rig.check(&format!("BITFIELD k SET u8 0 1 {wrong}"), "-ERR syntax error");
        }
        for wrong in ["u64", "i65", "u0", "f8", "8", "i"] {
            rig.check(&format!("BITFIELD k SET u8 0 1 GET {wrong} 0"), encoding);
        }
        for wrong in ["-1", "8192", "#1024", "#9223372036854775807", "x"] {
            let error = "-ERR bit offset is not an integer or out of range";
            rig.check(&format!("BITFIELD k SET u8 0 1 GET u8 {wrong}"), error);
        }
        rig.check("BITFIELD k SET u8 0 x", "-ERR value is not an integer or out of range");
        rig.check("BITFIELD k OVERFLOW maybe GET u8 0", "-ERR Invalid OVERFLOW type specified");
        rig.check("BITFIELD_RO k SET u8 0 1", "-ERR BITFIELD_RO only supports the GET subcommand");
        rig.check("EXISTS k", ":0");
        rig.check("BITFIELD k SET i64 8191 1", "[:0]");
        rig.check("STRLEN k", ":1032");
    });
}

#[test]
fn what_changes_is_counted_and_told() {
    on_shards(|rig| {
        rig.configure(|live| live.notify_events = Events::STRING.union(Events::GENERIC));
        let mut told = |line: &str, changes: u64, events: &[&str]| {
            let before = rig.effects();
            rig.ask(line);
            let after = rig.effects();
            let count = |effects: &crate::Effects, name| {
                effects.events.iter().filter(|event| event.name == name).count()
            };
            assert_eq!(after.dirty - before.dirty, changes, "{line}");
            for name in ["setbit", "set", "del"] {
                let wanted = events.iter().filter(|event| **event == name).count();
                assert_eq!(count(&after, name) - count(&before, name), wanted, "{name} of {line}");
            }
        };
        told("SETBIT b 3 0", 1, &["setbit"]);
        told("SETBIT b 3 0", 0, &[]);
        told("SETBIT b 3 1", 1, &["setbit"]);
        told("BITFIELD b SET u8 0 16", 0, &[]);
        told("BITFIELD b SET u8 0 17 SET u8 0 17 INCRBY u8 0 1", 2, &["setbit"]);
        told("BITFIELD b SET u8 8 0 GET u8 0", 1, &["setbit"]);
        told("BITFIELD b OVERFLOW FAIL SET u8 0 256", 0, &[]);
        told("BITOP NOT d b", 1, &["set"]);
        told("BITOP NOT d none", 1, &["del"]);
        told("BITOP NOT d none", 0, &[]);
    });
}

#[test]
fn a_large_bitmap_grows_only_to_its_limit() {
    let mut rig = Rig::new(1);
    rig.check("SETBIT b 80000000 1", ":0");
    rig.check("STRLEN b", ":10000001");
    rig.check("BITCOUNT b", ":1");
    rig.check("BITPOS b 1", ":80000000");
    rig.check("SETBIT b 4294967296 1", "-ERR bit offset is not an integer or out of range");
}
