//! Settings of the operator's side: logs, latency, scripts, events, ACL, dangerous commands.

use super::{COUNT, COUNT32, version};
use spec::setting::{Change, Effect, Events, Kind, LogLevel, Permit, PubsubDefault, Setting, Value};

const COUNTED: Kind = Kind::Integer { min: 0, max: COUNT };

/// Watching and holding the server.
pub(super) const GROUP: &[Setting] = &[
    Setting::new("loglevel", Kind::Choice(LogLevel::NAMES), "notice", "How much is logged")
        .live(|live, value| live.loglevel = LogLevel::at(value.choice())),
    Setting::new("logfile", Kind::Text, "", "File to log to; empty for standard output"),
    Setting::new("pidfile", Kind::Text, "", "File to write the process id to; empty for none"),
    Setting::new(
        "slowlog-log-slower-than",
        Kind::Integer { min: -1, max: COUNT },
        "10000",
        "Microseconds; -1 for none",
    )
    .pending()
    .live(|live, value| live.slowlog_slower_than_us = value.number()),
    Setting::new("slowlog-max-len", COUNTED, "128", "Entries of the slow log")
        .pending()
        .live(|live, value| live.slowlog_max_len = value.count()),
    Setting::new(
        "latency-monitor-threshold",
        COUNTED,
        "0",
        "Milliseconds from which events are recorded; 0 for none",
    )
    .pending()
    .live(|live, value| live.latency_monitor_threshold_ms = value.count()),
    Setting::new("latency-tracking", Kind::Bool, "yes", "Keep latency histograms by command")
        .live(|live, value| live.latency_tracking = value.flag()),
    Setting::new(
        "latency-tracking-info-percentiles",
        Kind::Percentiles,
        "50 99 99.9",
        "Percentiles that INFO shows",
    )
    .live(|live, value| {
        if let Value::Percentiles(list) = value {
            live.latency_percentiles.clone_from(list);
        }
    }),
    Setting::new(
        "stall-threshold-us",
        Kind::Integer { min: 1, max: COUNT },
        "1000",
        "Microseconds from which a command counts as a stall of its shard",
    )
    .live(|live, value| live.stall_threshold_us = value.count()),
    Setting::new(
        "busy-reply-threshold",
        COUNTED,
        "5000",
        "Milliseconds after which a script makes the server answer BUSY; 0 for never",
    )
    .pending()
    .alias("lua-time-limit")
    .live(|live, value| live.busy_reply_threshold_ms = value.count()),
    Setting::new(
        "lua-enable-deprecated-api",
        Kind::Bool,
        "no",
        "Give scripts the interface of old Redis versions",
    )
    .effect(Effect::AcceptedOnly)
    .hidden(),
    Setting::new("notify-keyspace-events", Kind::Events, "", "Classes of events to publish; empty for none")
        .live(|live, value| {
            live.notify_events = match value {
                Value::Events(events) => *events,
                _ => Events::default(),
            }
        }),
    Setting::new("tracking-table-max-keys", COUNTED, "1000000", "Keys remembered for client-side caching")
        .pending()
        .live(|live, value| live.tracking_table_max_keys = value.count()),
    Setting::new("acllog-max-len", COUNTED, "128", "Entries of ACL LOG")
        .pending()
        .live(|live, value| live.acllog_max_len = value.count()),
    Setting::new(
        "acl-pubsub-default",
        Kind::Choice(PubsubDefault::NAMES),
        "resetchannels",
        "Channels of a new user",
    )
    .pending()
    .live(|live, value| live.acl_pubsub_default = PubsubDefault::at(value.choice())),
    Setting::new("aclfile", Kind::Text, "", "File of users").default_only(),
    Setting::new("enable-debug-command", Kind::Choice(Permit::NAMES), "no", "Who may use DEBUG")
        .apply(|live, value| live.enable_debug_command = Permit::at(value.choice())),
    Setting::new("enable-module-command", Kind::Choice(Permit::NAMES), "no", "Who may use MODULE")
        .pending()
        .apply(|live, value| live.enable_module_command = Permit::at(value.choice())),
    Setting::new(
        "enable-protected-configs",
        Kind::Choice(Permit::NAMES),
        "no",
        "Who may set protected settings",
    )
    .apply(|live, value| live.enable_protected_configs = Permit::at(value.choice())),
    Setting::new("redis-version", Kind::Text, "7.0.15", "Version of Redis that INFO and HELLO name")
        .change(Change::Restart)
        .check(version)
        .apply(|live, value| live.redis_version = value.text().to_string()),
    Setting::new(
        "shutdown-timeout",
        Kind::Integer { min: 0, max: COUNT32 },
        "10",
        "Seconds that clients may take for their last replies when the server stops",
    )
    .change(Change::Live),
    Setting::new("shutdown-on-sigint", SHUTDOWN, "default", "How SIGINT shuts down").accepted(),
    Setting::new("shutdown-on-sigterm", SHUTDOWN, "default", "How SIGTERM shuts down").accepted(),
];

const SHUTDOWN: Kind = Kind::Choices(&["default", "save", "nosave", "now", "force"]);
