//! The server family, sentence by sentence. What a sentence expects was read off redis-server 7.0.15,
//! but for summaries and tips, which are those of 7.2.

use crate::home::{After, Job};
use crate::testing::{Rig, on_shards, session, shown};
use resp::Version;
use resp::client::Value;
use spec::setting::Permit;

const SYNTAX: &str = "-ERR syntax error";

#[test]
fn command_counts_lists_and_filters() {
    let mut rig = Rig::new(1);
    let count = format!(":{}", crate::all().len());
    rig.check("COMMAND COUNT", &count);
    assert_eq!(items(&rig.ask("COMMAND LIST")).len(), crate::all().len());
    rig.check("COMMAND LIST FILTERBY MODULE any", "[]");
    rig.check("COMMAND LIST FILTERBY ACLCAT nosuch", "[]");
    rig.check("COMMAND LIST FILTERBY PATTERN MGE*", "[$mget]");
    rig.check("COMMAND LIST filterby pattern config|*t", "[$config|get $config|resetstat $config|set]");
    rig.check("COMMAND LIST FILTERBY PATTERN debug*", "[$debug]");
    let listed = rig.say("COMMAND LIST FILTERBY ACLCAT Dangerous");
    assert!(listed.contains("$flushall") && listed.contains("$config|set"), "{listed}");
    assert!(!listed.contains("$get "), "{listed}");
    for line in ["COMMAND LIST FILTERBY", "COMMAND LIST FILTERBY X Y", "COMMAND LIST foo"] {
        rig.check(line, SYNTAX);
    }
    rig.check("COMMAND FOO", "-ERR unknown subcommand 'FOO'. Try COMMAND HELP.");
    rig.check("COMMAND COUNT x", "-ERR wrong number of arguments for 'command|count' command");
}

fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) | Value::Set(items) => items,
        other => panic!("no list: {other:?}"),
    }
}

#[test]
fn command_info_has_ten_fields() {
    let mut rig = Rig::new(1);
    rig.check(
        "COMMAND INFO get nosuch command|count debug|sleep",
        "[[$get :2 [+readonly +fast] :1 :1 :1 [+@read +@string +@fast] [] \
         [[$flags [+RO +access] $begin_search [$type $index $spec [$index :1]] \
         $find_keys [$type $range $spec [$lastkey :0 $keystep :1 $limit :0]]]] []] \
         nil [$command|count :2 [+loading +stale] :0 :0 :0 [+@slow +@connection] [] [] []] nil]",
    );
    rig.session.version = Version::Resp3;
    let get = rig.ask("COMMAND INFO get");
    let [fields] = items(&get) else { panic!("one command: {get:?}") };
    let fields = items(fields);
    assert_eq!(fields.len(), 10);
    for set in [2, 6, 7, 8, 9] {
        assert!(matches!(fields[set], Value::Set(_)), "field {set} is a set");
    }
    assert!(matches!(items(&fields[8])[0], Value::Map(_)));
    assert_eq!(items(&rig.ask("COMMAND")), items(&rig.ask("COMMAND INFO")));
    // A container's subcommands are an array of the same; DEBUG keeps its own to itself.
    let containers = rig.ask("COMMAND INFO config debug");
    let subs = |index: usize| items(&items(&items(&containers)[index])[9]).len();
    assert_eq!((subs(0), subs(1)), (5, 0));
}

#[test]
fn command_docs_tells_arguments() {
    let mut rig = Rig::new(1);
    rig.session.version = Version::Resp3;
    rig.check(
        "COMMAND DOCS get nosuch",
        "{$get: {$summary: $Returns the string value of a key., $since: $1.0.0, $group: $string, \
         $complexity: $O(1), $arguments: [{$name: $key, $type: $key, $display_text: $key, \
         $key_spec_index: :0}]}}",
    );
    let copy = rig.say("COMMAND DOCS copy");
    assert!(copy.contains("$destination, $type: $key, $display_text: $destination, $key_spec_index: :1"));
    let quit = rig.say("COMMAND DOCS quit");
    assert!(quit.contains("$deprecated_since: $7.2.0"), "{quit}");
    let config = rig.say("COMMAND DOCS config");
    assert!(config.contains("$subcommands: {$config|get: {$summary:"), "{config}");
    let Value::Map(all) = rig.ask("COMMAND DOCS") else { panic!("a map") };
    assert_eq!(all.len(), crate::all().len());
}

#[test]
fn command_getkeys_runs_nothing() {
    let mut rig = Rig::new(1);
    rig.check("COMMAND GETKEYS MSET a 1 b 2", "[$a $b]");
    rig.check("COMMAND GETKEYS DEL a b c", "[$a $b $c]");
    rig.check("COMMAND GETKEYS memory usage foo", "[$foo]");
    rig.check("COMMAND GETKEYSANDFLAGS MSET a 1 b 2", "[[$a [+OW +update]] [$b [+OW +update]]]");
    rig.check("COMMAND GETKEYS nosuch a", "-ERR Invalid command specified");
    rig.check("COMMAND GETKEYS CONFIG nosuch", "-ERR Invalid command specified");
    rig.check("COMMAND GETKEYS CONFIG GET foo", "-ERR The command has no key arguments");
    rig.check("COMMAND GETKEYS PING a b c", "-ERR The command has no key arguments");
    rig.check("COMMAND GETKEYS GET a b", "-ERR Invalid number of arguments specified for command");
    rig.check("COMMAND GETKEYS GET", "-ERR Invalid number of arguments specified for command");
    rig.check("COMMAND GETKEYS", "-ERR wrong number of arguments for 'command|getkeys' command");
    rig.check("EXISTS a", ":0");
}

#[test]
fn config_gets_and_sets() {
    on_shards(|rig| {
        rig.check("CONFIG GET maxmemory MAXMEMORY maxm*-s*", "[$maxmemory $0 $maxmemory-samples $5]");
        rig.check("CONFIG GET nosuch", "[]");
        rig.check("CONFIG SET maxmemory 100mb maxmemory-samples 7", "+OK");
        for house in &rig.houses {
            assert_eq!(house.settings.live.maxmemory, 100 << 20, "each shard has its own copy");
        }
        rig.check("CONFIG GET maxmemory*", "[$maxmemory $104857600 $maxmemory-samples $7]");
        let failed = |name: &str, reason: &str| {
            format!("-ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}")
        };
        rig.check(
            "CONFIG SET maxmemory 1 maxmemory-samples x",
            &failed("maxmemory-samples", "argument couldn't be parsed into an integer"),
        );
        rig.check("CONFIG SET maxmemory 1 maxmemory 2", &failed("maxmemory", "duplicate parameter"));
        rig.check("CONFIG SET databases 16", &failed("databases", "can't set immutable config"));
        rig.check("CONFIG SET dir /", &failed("dir", "can't set protected config"));
        rig.check(
            "CONFIG SET maxmemory 1 nosuch 2",
            "-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'",
        );
        rig.check("CONFIG SET maxmemory 1 foo", SYNTAX);
        rig.check("CONFIG SET maxmemory", "-ERR wrong number of arguments for 'config|set' command");
        rig.check("CONFIG GET maxmemory", "[$maxmemory $104857600]");
        assert!(rig.houses.iter().all(|house| house.jobs.is_empty()));
    });
}

#[test]
fn the_house_hears_of_settings_it_obeys() {
    on_shards(|rig| {
        rig.check("CONFIG SET port 6379 maxmemory 1", "+OK");
        assert!(rig.houses[0].jobs.is_empty(), "nothing changes for the house");
        rig.check("CONFIG SET port 7000 maxmemory 2", "+OK");
        let jobs = std::mem::take(&mut rig.houses[0].jobs);
        assert!(matches!(&jobs[..], [Job::ApplySettings { names, settings }]
            if names == &["port"] && settings.live.maxmemory == 2));
        rig.check("CONFIG SET loglevel debug", "+OK");
        let told: Vec<&Job> = rig.houses.iter().flat_map(|house| &house.jobs).collect();
        assert!(matches!(&told[..], [Job::SettingChanged("loglevel", value)] if value == "debug"), "once");
        rig.configure(|live| live.enable_protected_configs = Permit::Local);
        rig.check("CONFIG SET dir /", "+OK");
        rig.session.remote = "10.0.0.1:5".to_owned();
        assert!(rig.say("CONFIG SET dir /tmp").contains("protected"));
    });
}

#[test]
fn a_new_password_leaves_clients_where_they_are() {
    on_shards(|rig| {
        rig.check("CONFIG SET requirepass secret", "+OK");
        assert!(rig.session.authenticated);
        rig.check("AUTH wrong", "-WRONGPASS invalid username-password pair or user is disabled.");
        rig.check("AUTH secret", "+OK");
        rig.check("AUTH default secret", "+OK");
    });
}

#[test]
fn config_rewrites_and_resets() {
    let mut rig = Rig::new(2);
    rig.run(&[b"CONFIG", b"REWRITE"]);
    assert!(matches!(rig.after, After::Work(Job::RewriteConfig(_))));
    rig.check("CONFIG RESETSTAT", "+OK");
    rig.check("CONFIG RESETSTAT x", "-ERR wrong number of arguments for 'config|resetstat' command");
    rig.check("CONFIG", "-ERR wrong number of arguments for 'config' command");
    rig.check("CONFIG FOO", "-ERR unknown subcommand 'FOO'. Try CONFIG HELP.");
}

/// The names of the fields in INFO's text, section titles included.
fn fields(rig: &mut Rig, line: &str) -> Vec<String> {
    let Value::Bulk(text) = rig.ask(line) else { panic!("text") };
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| line.split(':').next().unwrap().to_owned()).collect()
}

#[test]
fn info_has_sections() {
    let mut rig = Rig::new(2);
    let default = fields(&mut rig, "INFO");
    assert_eq!(default, fields(&mut rig, "INFO default"));
    assert!(!default.contains(&"# Commandstats".to_owned()));
    let all = fields(&mut rig, "INFO all");
    assert_eq!(all, fields(&mut rig, "INFO EVERYTHING cpu"));
    assert!(all.contains(&"# Commandstats".to_owned()) && all.contains(&"shard1".to_owned()));
    let cpu = fields(&mut rig, "INFO cluster CPU nosuch cpu");
    assert_eq!((cpu[0].as_str(), cpu[1].as_str(), cpu.len()), ("# CPU", "used_cpu_sys", 10));
    rig.check("INFO nosuch", "$");
    rig.check("INFO modules", "$# Modules\\r\\n");
    rig.session.version = Version::Resp3;
    assert!(matches!(rig.ask("INFO server"), Value::Verbatim(kind, _) if kind == "txt"));
}

#[test]
fn info_tells_what_blocks_hold() {
    let mut rig = Rig::new(2);
    for (shard, house) in rig.houses.iter().enumerate() {
        let block = &house.blocks[shard];
        block.commands.add(10);
        block.keys[3].set(2);
        block.volatile_keys[3].set(1);
        block.changes.add(7);
        block.errors.count(b"WRONGTYPE");
        block.memory_entries.set(1024);
        block.per_command.row(0).ran(4, 6_000);
    }
    let Value::Bulk(text) = rig.ask("INFO all") else { panic!("text") };
    let text = String::from_utf8(text).unwrap();
    for line in [
        "total_commands_processed:20",
        "db3:keys=4,expires=2,avg_ttl=0",
        "rdb_changes_since_last_save:14",
        "errorstat_WRONGTYPE:count=2",
        "used_memory:2048",
        "used_memory_human:2.00K",
        "calls=8,usec=12,usec_per_call=1.50,rejected_calls=0,failed_calls=0",
        "shards:2",
    ] {
        assert!(text.contains(line), "{line} is missing in {text}");
    }
}

#[test]
fn debug_speaks_every_kind_of_reply() {
    let mut rig = Rig::new(1);
    let check =
        |rig: &mut Rig, kind: &str, expected: &str| rig.check(&format!("DEBUG PROTOCOL {kind}"), expected);
    check(&mut rig, "string", "$Hello World");
    check(&mut rig, "double", "$3.141");
    check(&mut rig, "bignum", "$1234567999999999999999999999999999999");
    check(&mut rig, "null", "nil");
    check(&mut rig, "map", "[:0 :0 :1 :1 :2 :0]");
    check(&mut rig, "attrib", "$Some real reply following the attribute");
    check(&mut rig, "push", "-ERR RESP2 is not supported by this command");
    check(&mut rig, "true", ":1");
    assert!(rig.say("DEBUG PROTOCOL foo").starts_with("-ERR Wrong protocol type name."));
    rig.session.version = Version::Resp3;
    assert!(matches!(rig.ask("DEBUG PROTOCOL double"), Value::Double(_)));
    assert_eq!(rig.ask("DEBUG PROTOCOL false"), Value::Boolean(false));
    assert!(matches!(rig.ask("DEBUG PROTOCOL set"), Value::Set(items) if items.len() == 3));
    assert!(matches!(rig.ask("DEBUG PROTOCOL attrib"), Value::Attribute(pairs, _) if pairs.len() == 1));
    assert!(matches!(rig.ask("DEBUG PROTOCOL verbatim"), Value::Verbatim(kind, _) if kind == "txt"));
    let push = rig.run(&[b"DEBUG", b"PROTOCOL", b"push"]);
    assert!(push.starts_with(b">2\r\n$16\r\nserver-cpu-usage\r\n:42\r\n$40\r\n"));
}

#[test]
fn debug_digest_is_that_of_redis_on_any_number_of_shards() {
    on_shards(|rig| {
        let nothing = format!("+{}", "0".repeat(40));
        rig.check("DEBUG DIGEST", &nothing);
        rig.check("SET foo hello", "+OK");
        rig.check("DEBUG DIGEST", "+5bb31c00774ad1fd4f52ed0e1efdb0f85744739c");
        rig.check(
            "DEBUG DIGEST-VALUE foo nosuch foo",
            &format!("[+36b23a1456b2dce2c3ed252c456761301dba8060 {nothing} +36b23a1456b2dce2c3ed252c456761301dba8060]"),
        );
    });
    let digest = |shards: u16| {
        let mut rig = Rig::new(shards);
        rig.check("DEBUG POPULATE 100", "+OK");
        rig.check("SELECT 5", "+OK");
        rig.check("MSET a 1 b 2 c 3", "+OK");
        rig.check("EXPIRE a 100", ":1");
        rig.say("DEBUG DIGEST")
    };
    assert_eq!(digest(1), digest(3));
}

#[test]
fn debug_populates_what_is_not_there() {
    on_shards(|rig| {
        rig.check("SET key:1 mine", "+OK");
        rig.check("DEBUG POPULATE 3", "+OK");
        rig.check("MGET key:0 key:1 key:2 key:3", "[$value:0 $mine $value:2 nil]");
        rig.check("DEBUG POPULATE 2 other 10", "+OK");
        rig.check("GET other:1", "$value:1\\x00\\x00\\x00");
        rig.check("DEBUG POPULATE 1 cut 3", "+OK");
        rig.check("GET cut:0", "$val");
        rig.check("DEBUG POPULATE 0 none", "+OK");
        rig.check("DBSIZE", ":6");
        for line in ["DEBUG POPULATE a", "DEBUG POPULATE -1", "DEBUG POPULATE 1 x -1"] {
            rig.check(line, "-ERR value is out of range, must be positive");
        }
        assert!(rig.say("DEBUG POPULATE 1 a 2 3").contains("wrong number of arguments for 'POPULATE'"));
    });
}

#[test]
fn debug_looks_at_objects_and_tables() {
    on_shards(|rig| {
        rig.check("DEBUG OBJECT nosuch", "-ERR no such key");
        rig.check("SET foo 12", "+OK");
        let shown = rig.say("DEBUG OBJECT foo");
        assert!(shown.starts_with("+Value at:0x"), "{shown}");
        assert!(shown.contains(" refcount:2147483647 encoding:int serializedlength:2 lru:"), "{shown}");
        rig.check("SET foo hello", "+OK");
        let shown = rig.say("DEBUG OBJECT foo");
        assert!(shown.contains(" refcount:1 encoding:embstr serializedlength:6 lru:"), "{shown}");
        rig.check("DEBUG HTSTATS a", "-ERR value is not an integer or out of range");
        rig.check("DEBUG HTSTATS 99", "-ERR Out of range database");
        let shown = rig.say("DEBUG HTSTATS 0");
        assert!(shown.contains("[Dictionary HT]") && shown.contains("number of elements: 1"), "{shown}");
        assert!(rig.say("DEBUG HTSTATS 0 full").contains("   1: 1 (100.00%)"));
        rig.check("DEBUG HTSTATS-KEY nosuch", "-ERR no such key");
        assert!(rig.say("DEBUG HTSTATS-KEY foo").contains("not represented using an hash table"));
    });
}

#[test]
fn a_value_changed_in_place_stays_where_it_is() {
    let mut rig = Rig::new(1);
    let mut place = || rig_place(&mut rig);
    let before = place();
    assert_eq!(before, place());
}

/// Sets and increments a number; where it is.
fn rig_place(rig: &mut Rig) -> String {
    rig.check("SET n 0", "+OK");
    rig.check("INCR n", ":1");
    let shown = rig.say("DEBUG OBJECT n");
    shown.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn debug_reloads_everything_with_its_time_to_live() {
    on_shards(|rig| {
        rig.check("MSET a 1 b two c 3.5", "+OK");
        rig.check("SETRANGE d 2 x", ":3");
        rig.check("PEXPIRE b 5000", ":1");
        let before = rig.say("DEBUG DIGEST");
        for line in ["DEBUG LOADAOF", "DEBUG RELOAD", "DEBUG RELOAD NOFLUSH MERGE"] {
            rig.check(line, "+OK");
            rig.check("DEBUG DIGEST", &before);
            rig.check("PTTL b", ":5000");
            rig.check("OBJECT ENCODING d", "$raw");
        }
        rig.check("DEBUG RELOAD x", "-ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
        assert!(rig.say("DEBUG RELOAD NOSAVE").starts_with("-ERR"));
    });
}

#[test]
fn debug_has_many_small_parts() {
    on_shards(|rig| {
        for line in [
            "DEBUG CHANGE-REPL-ID",
            "DEBUG QUICKLIST-PACKED-THRESHOLD 100b",
            "DEBUG SET-DISABLE-DENY-SCRIPTS 1",
            "DEBUG SET-SKIP-CHECKSUM-VALIDATION 1",
            "DEBUG REPLYBUFFER PEAK-RESET-TIME NEVER",
            "DEBUG REPLYBUFFER RESIZING 0",
            "DEBUG DICT-RESIZING 1",
            "DEBUG AOF-FLUSH-SLEEP 0",
            "DEBUG PAUSE-CRON 0",
            "DEBUG LOG hello",
            "DEBUG SET-ACTIVE-EXPIRE 0",
        ] {
            rig.check(line, "+OK");
        }
        assert!(rig.houses.iter().all(|house| !house.active_expiry));
        assert!(matches!(&rig.houses[0].jobs[..], [Job::Log(text)] if text == "hello"));
        rig.check("DEBUG ERROR \"MY error\\r\\ntext\"", "-MY error  text");
        rig.check("DEBUG STRINGMATCH-TEST", "+Apparently Redis did not crash: test passed");
        assert!(rig.say("DEBUG STRUCTSIZE").starts_with("+bits:64 "));
        rig.check("DEBUG SLEEP 0.25", "+OK");
        assert!(matches!(rig.after, After::HoldUntil(time) if time == rig.now() + 250));
        rig.check("DEBUG SLEEP abc", "+OK");
        assert!(matches!(rig.after, After::HoldUntil(time) if time == rig.now()));
        assert!(rig.say("DEBUG QUICKLIST-PACKED-THRESHOLD 4gb").contains("smaller than 4gb"));
        assert!(rig.say("DEBUG REPLYBUFFER x 0").contains("Try DEBUG HELP"));
    });
}

#[test]
fn memory_usage_is_told() {
    on_shards(|rig| {
        rig.check("MEMORY USAGE nosuch", "nil");
        rig.check("SET foo hello", "+OK");
        let small = rig.ask("MEMORY USAGE foo SAMPLES 0");
        assert!(matches!(small, Value::Integer(bytes) if (8..100).contains(&bytes)), "{small:?}");
        rig.check("MEMORY USAGE foo SAMPLES -1", SYNTAX);
        rig.check("MEMORY USAGE foo SAMPLES", SYNTAX);
        rig.check("MEMORY USAGE foo x 1", SYNTAX);
        rig.check("MEMORY USAGE foo SAMPLES a", "-ERR value is not an integer or out of range");
        rig.check("MEMORY USAGE", "-ERR wrong number of arguments for 'memory|usage' command");
        assert_eq!((rig.effects().hits, rig.effects().misses), (0, 0));
    });
}

#[test]
fn memory_is_told_in_numbers_and_in_words() {
    on_shards(|rig| {
        rig.session.version = Version::Resp3;
        for key in 0..20 {
            rig.ask(&format!("SET key:{key} value"));
        }
        let Value::Map(stats) = rig.ask("MEMORY STATS") else { panic!("a map") };
        let names: Vec<String> = stats.iter().map(|(name, _)| shown(name)).collect();
        for name in ["$peak.allocated", "$db.0", "$dataset.percentage", "$fragmentation.bytes"] {
            assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
        }
        assert!(!names.contains(&"$db.1".to_owned()));
        let number = |name: &str| match &stats.iter().find(|(known, _)| shown(known) == name).unwrap().1 {
            Value::Integer(number) => *number,
            other => panic!("{other:?}"),
        };
        assert_eq!(number("$keys.count"), 20);
        let Value::Verbatim(_, text) = rig.ask("MEMORY DOCTOR") else { panic!("a text") };
        assert!(String::from_utf8_lossy(&text).contains("too little"));
        assert!(matches!(rig.ask("MEMORY MALLOC-STATS"), Value::Verbatim(..)));
        rig.run(&[b"MEMORY", b"PURGE"]);
        assert!(matches!(rig.after, After::Work(Job::PurgeMemory)));
        rig.check("MEMORY STATS x", "-ERR wrong number of arguments for 'memory|stats' command");
    });
}

#[test]
fn time_and_lolwut() {
    let mut rig = Rig::new(1);
    rig.wait(1);
    rig.check("TIME", "[$1700000000 $1000]");
    assert!(rig.say("LOLWUT").contains("Redis ver. 7.0.15"));
    assert!(rig.say("LOLWUT VERSION 5").contains("Redis ver."));
    rig.check("LOLWUT VERSION a", "-ERR value is not an integer or out of range");
}

#[test]
fn shutdown_is_a_job_for_the_house() {
    let mut rig = Rig::new(1);
    rig.check("SHUTDOWN ABORT", "-ERR No shutdown in progress.");
    rig.check("SHUTDOWN ABORT ABORT", "-ERR No shutdown in progress.");
    for line in ["FOO", "SAVE NOSAVE", "SAVE ABORT", "ABORT NOSAVE", "NOW ABORT"] {
        rig.check(&format!("SHUTDOWN {line}"), SYNTAX);
    }
    rig.check("SHUTDOWN SAVE", "-ERR Errors trying to SHUTDOWN. Check logs.");
    for words in [&[b"SHUTDOWN".as_slice()][..], &[b"SHUTDOWN", b"SAVE", b"FORCE"]] {
        assert!(rig.run(words).is_empty());
        assert!(matches!(rig.after, After::Work(Job::Shutdown { now: false })));
    }
    rig.run(&[b"SHUTDOWN", b"NOSAVE", b"NOW"]);
    assert!(matches!(rig.after, After::Work(Job::Shutdown { now: true })));
}

#[test]
fn sets_of_scripts_and_functions_are_empty() {
    let mut rig = Rig::new(1);
    for line in ["FUNCTION FLUSH", "FUNCTION FLUSH async", "SCRIPT FLUSH", "SCRIPT FLUSH SYNC"] {
        rig.check(line, "+OK");
    }
    rig.check("FUNCTION FLUSH x", "-ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
    rig.check(
        "FUNCTION FLUSH ASYNC SYNC",
        "-ERR unknown subcommand or wrong number of arguments for 'FLUSH'. Try FUNCTION HELP.",
    );
    rig.check("FUNCTION LIST LIBRARYNAME a* WITHCODE", "[]");
    rig.check("FUNCTION LIST LIBRARYNAME", "-ERR library name argument was not given");
    rig.check("FUNCTION LIST WITHCODE WITHCODE", "-ERR Unknown argument WITHCODE");
    rig.check("FUNCTION LIST x", "-ERR Unknown argument x");
    rig.check(
        "FUNCTION STATS",
        "[$running_script nil $engines [$LUA [$libraries_count :0 $functions_count :0]]]",
    );
    rig.check("SCRIPT EXISTS a b", "[:0 :0]");
    rig.check("SCRIPT FLUSH x", "-ERR SCRIPT FLUSH only support SYNC|ASYNC option");
}

#[test]
fn help_names_the_subcommands_that_there_are() {
    let mut rig = Rig::new(1);
    rig.houses[0].others.push(session(2));
    for container in crate::all().into_iter().filter(|command| !command.subcommands.is_empty()) {
        let name = container.name;
        let help = rig.say(&format!("{name} HELP"));
        assert!(help.starts_with(&format!("[+{name} <subcommand> ")), "{help}");
        for sub in container.subcommands {
            // Those that only tests of Redis call are not advertised.
            let quiet = ["AOF-FLUSH-SLEEP"].contains(&sub.name);
            assert!(quiet || help.contains(&format!("+{}", sub.name)), "{name} {} in {help}", sub.name);
        }
    }
}
