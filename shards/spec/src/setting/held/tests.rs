//! CONFIG GET and SET over a table of one setting of each kind.

use super::*;
use crate::setting::{Events, Kind, MemoryPolicy, Permit};

static TABLE: [Setting; 17] = [
    Setting::new("protected-mode", Kind::Bool, "yes", "")
        .live(|live, value| live.protected_mode = value.flag()),
    Setting::new("timeout", Kind::Integer { min: 0, max: i32::MAX as i64 }, "0", "")
        .live(|live, value| live.timeout_s = value.count()),
    Setting::new("maxmemory", Kind::Memory { min: 0, max: i64::MAX }, "0", "")
        .live(|live, value| live.maxmemory = value.count()),
    Setting::new("maxmemory-policy", Kind::Choice(MemoryPolicy::NAMES), "noeviction", "")
        .live(|live, value| live.maxmemory_policy = MemoryPolicy::at(value.choice())),
    Setting::new("maxmemory-clients", Kind::MemoryOrPercent, "0", "")
        .live(|live, value| live.maxmemory_clients = value.number()),
    Setting::new("proto-max-bulk-len", Kind::Memory { min: 1 << 20, max: i64::MAX }, "512mb", "")
        .live(|live, value| live.proto_max_bulk_len = value.count()),
    Setting::new("databases", Kind::Integer { min: 1, max: 256 }, "16", "")
        .apply(|live, value| live.databases = value.count32()),
    Setting::new("dir", Kind::Text, ".", "").change(Change::Protected),
    Setting::new("bind", Kind::Words { max: 16 }, "127.0.0.1 -::1", "").change(Change::Restart),
    Setting::new("save", Kind::Save, "3600 1 300 100 60 10000", "").accepted(),
    Setting::new(
        "client-output-buffer-limit",
        Kind::OutputLimits,
        "normal 0 0 0 slave 256mb 64mb 60 pubsub 32mb 8mb 60",
        "",
    )
    .accepted(),
    Setting::new("notify-keyspace-events", Kind::Events, "", "").live(|live, value| {
        live.notify_events = match value {
            Value::Events(events) => *events,
            _ => unreachable!(),
        }
    }),
    Setting::new("latency-tracking-info-percentiles", Kind::Percentiles, "50 99 99.9", "").accepted(),
    Setting::new("oom-score-adj-values", Kind::Numbers { count: 3, min: -2000, max: 2000 }, "0 200 800", "")
        .accepted(),
    Setting::new(
        "shutdown-on-sigterm",
        Kind::Choices(&["default", "save", "nosave", "now", "force"]),
        "default",
        "",
    )
    .accepted(),
    Setting::new("replica-priority", Kind::Integer { min: 0, max: i32::MAX as i64 }, "100", "")
        .alias("slave-priority")
        .accepted(),
    Setting::new("enable-debug-command", Kind::Choice(Permit::NAMES), "no", "").hidden(),
];

#[track_caller]
fn set(settings: &mut Settings, pairs: &[(&str, &str)]) -> Result<(), String> {
    let pairs: Vec<(&[u8], &[u8])> =
        pairs.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
    settings.set(&pairs, false).map(drop).map_err(|refusal| refusal.to_string())
}

/// Sets one value and says what CONFIG GET shows then, or why it was refused.
#[track_caller]
fn check(name: &str, value: &str, expected: &str) {
    let mut settings = Settings::new(&TABLE);
    let shown = match set(&mut settings, &[(name, value)]) {
        Ok(()) => settings.get(&[name.as_bytes()])[0].1.clone(),
        Err(error) => {
            let prefix = format!("CONFIG SET failed (possibly related to argument '{name}') - ");
            format!("!{}", error.strip_prefix(&prefix).unwrap_or(&error))
        }
    };
    assert_eq!(shown, expected, "{name} {value}");
}

#[test]
fn values_are_read_and_shown_as_redis_does() {
    check("protected-mode", "NO", "no");
    check("maxmemory", "1kb", "1024");
    check("maxmemory", "1K", "1000");
    check("maxmemory", "2Gb", "2147483648");
    check("maxmemory-policy", "ALLKEYS-LRU", "allkeys-lru");
    check("maxmemory-clients", "5%", "5%");
    check("maxmemory-clients", "1kb", "1024");
    check("save", "60 1 30 2", "60 1 30 2");
    check("save", "", "");
    check(
        "client-output-buffer-limit",
        "normal 1k 1kb 1 replica 1 1 1",
        "normal 1000 1024 1 slave 1 1 1 pubsub 33554432 8388608 60",
    );
    check("notify-keyspace-events", "KEA", "AKE");
    check("notify-keyspace-events", "Kg", "gK");
    check("notify-keyspace-events", "KEAtmdn", "AKEmn");
    check("notify-keyspace-events", "KEg$lshzxetd", "AKE");
    check("latency-tracking-info-percentiles", "50 99 99.9", "50 99 99.9");
    check("oom-score-adj-values", "1 -2 3", "1 -2 3");
    check("shutdown-on-sigterm", "now force", "now force");
    check("bind", "127.0.0.1 -::1", "127.0.0.1 -::1");
    check("save", "60  1", "!Invalid save parameters");
    check("slave-priority", "7", "7");
}

#[test]
fn refusals_are_worded_as_redis_words_them() {
    check("protected-mode", "maybe", "!argument must be 'yes' or 'no'");
    check("timeout", "-1", "!argument must be between 0 and 2147483647 inclusive");
    check("timeout", "01", "!argument couldn't be parsed into an integer");
    check("timeout", "+1", "!argument couldn't be parsed into an integer");
    check("maxmemory", "-1", "!argument must be a memory value");
    check("maxmemory", "1 kb", "!argument must be a memory value");
    check("maxmemory", "1t", "!argument must be a memory value");
    check("proto-max-bulk-len", "1", "!argument must be between 1048576 and 9223372036854775807 inclusive");
    check("maxmemory-clients", "500%", "!percentage argument must be less or equal to 100");
    check("maxmemory-clients", "-5", "!argument must be a memory or percent value");
    check("databases", "16", "!can't set immutable config");
    check("bind", "0.0.0.0", "!can't set immutable config");
    check("dir", "/tmp", "!can't set protected config");
    check("save", "1", "!Invalid save parameters");
    check("save", "0 1", "!Invalid save parameters");
    check("notify-keyspace-events", "KEX", "!Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
    check("client-output-buffer-limit", "foo", "!Wrong number of arguments in buffer limit configuration.");
    check(
        "client-output-buffer-limit",
        "master 1 1 1",
        "!Invalid client class specified in buffer limit configuration.",
    );
    check(
        "client-output-buffer-limit",
        "normal 1 x 1",
        "!Error in hard, soft or soft_seconds setting in buffer limit configuration.",
    );
    check(
        "latency-tracking-info-percentiles",
        "1 101",
        "!latency-tracking-info-percentiles parameters should sit between [0.0,100.0]",
    );
    check("oom-score-adj-values", "1 2", "!wrong number of arguments");
    check(
        "shutdown-on-sigterm",
        "x",
        "!argument(s) must be one of the following: default, save, nosave, now, force",
    );
    check("nosuch", "1", "!Unknown option or number of arguments for CONFIG SET - 'nosuch'");
}

#[test]
fn several_settings_change_together_or_not_at_all() {
    let mut settings = Settings::new(&TABLE);
    assert!(set(&mut settings, &[("maxmemory", "1mb"), ("timeout", "x")]).is_err());
    assert_eq!((settings.live.maxmemory, settings.generation()), (0, 0));
    let twice = set(&mut settings, &[("maxmemory", "1"), ("MaxMemory", "2")]).unwrap_err();
    assert_eq!(twice, "CONFIG SET failed (possibly related to argument 'MaxMemory') - duplicate parameter");
    set(&mut settings, &[("maxmemory", "1mb"), ("timeout", "7")]).unwrap();
    assert_eq!((settings.live.maxmemory, settings.live.timeout_s), (1 << 20, 7));
    assert_eq!(settings.generation(), 2);
}

#[test]
fn get_takes_names_aliases_and_patterns_once_each() {
    let settings = Settings::new(&TABLE);
    let names = |patterns: &[&str]| -> Vec<String> {
        let patterns: Vec<&[u8]> = patterns.iter().map(|pattern| pattern.as_bytes()).collect();
        settings.get(&patterns).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names(&["MaxMemory", "maxmemory"]), ["MaxMemory"]);
    assert_eq!(names(&["*-priority"]), ["replica-priority", "slave-priority"]);
    assert_eq!(names(&["DATA*", "databases"]), ["databases"]);
    assert_eq!(names(&["nosuch", "no*such"]), [""; 0]);
    assert_eq!(names(&["enable-*"]), [""; 0]);
    assert_eq!(names(&["enable-debug-command"]), ["enable-debug-command"]);
}

#[test]
fn protected_settings_open_to_those_permitted() {
    let mut settings = Settings::new(&TABLE);
    settings.set(&[(b"dir", b"/data")], true).unwrap();
    assert_eq!(settings.value("dir").text(), "/data");
}

#[test]
fn save_points_add_up_within_a_layer() {
    let mut settings = Settings::new(&TABLE);
    settings.assign("save", &["900", "1"], false).unwrap();
    settings.assign("save", &["60", "5"], true).unwrap();
    assert_eq!(settings.get(&[b"save"])[0].1, "900 1 60 5");
    settings.assign("save", &[""], true).unwrap();
    assert_eq!(settings.get(&[b"save"])[0].1, "");
}

#[test]
fn live_fields_start_from_the_table() {
    let settings = Settings::new(&TABLE);
    assert!(settings.live.protected_mode);
    assert_eq!(settings.live.notify_events, Events::default());
}
