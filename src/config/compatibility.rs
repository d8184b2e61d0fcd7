//! Settings that Redis has and that mean nothing here: they are accepted so that its configuration
//! files and whoever reads them go on working. TLS is refused: silence would be a promise not kept.

use super::{COUNT32, SECONDS};
use spec::setting::{Effect, Kind, Setting};

/// A setting that may be given at start and does nothing.
const fn ignored(name: &'static str, kind: Kind, default: &'static str, help: &'static str) -> Setting {
    Setting::new(name, kind, default, help).effect(Effect::AcceptedOnly)
}

/// A setting of TLS.
const fn tls(name: &'static str, kind: Kind, default: &'static str) -> Setting {
    Setting::new(name, kind, default, "TLS, which is not built in")
        .change(spec::setting::Change::Live)
        .default_only()
}

/// Accepted or refused for compatibility.
pub(super) const GROUP: &[Setting] = &[
    Setting::new("daemonize", Kind::Bool, "no", "Run in the background: leave that to the service manager")
        .default_only(),
    ignored(
        "supervised",
        Kind::Choice(&["no", "upstart", "systemd", "auto"]),
        "no",
        "Tell a supervisor of the start",
    ),
    ignored("always-show-logo", Kind::Bool, "no", "Show a logo in the log"),
    ignored("set-proc-title", Kind::Bool, "yes", "Show the state in the process title"),
    Setting::new(
        "proc-title-template",
        Kind::Text,
        "{title} {listen-addr} {server-mode}",
        "Form of the process title",
    )
    .accepted(),
    Setting::new("crash-log-enabled", Kind::Bool, "yes", "Log a report on a crash; here one is always given")
        .accepted(),
    Setting::new("crash-memcheck-enabled", Kind::Bool, "yes", "Test memory on a crash").accepted(),
    Setting::new("use-exit-on-panic", Kind::Bool, "no", "Exit instead of abort").accepted().hidden(),
    ignored("disable-thp", Kind::Bool, "yes", "Turn transparent huge pages off"),
    Setting::new(
        "oom-score-adj",
        Kind::Choice(&["no", "yes", "relative", "absolute"]),
        "no",
        "Adjust the OOM score",
    )
    .accepted(),
    Setting::new(
        "oom-score-adj-values",
        Kind::Numbers { count: 3, min: -2000, max: 2000 },
        "0 200 800",
        "OOM scores of master, replica and child",
    )
    .accepted(),
    ignored(
        "io-threads",
        Kind::Integer { min: 1, max: 128 },
        "1",
        "Threads for input and output: see shards",
    ),
    ignored("io-threads-do-reads", Kind::Bool, "no", "Let those threads read"),
    ignored("server_cpulist", Kind::Text, "", "CPUs of Redis's main thread: see cpu"),
    ignored("bio_cpulist", Kind::Text, "", "CPUs of Redis's background threads"),
    ignored("aof_rewrite_cpulist", Kind::Text, "", "CPUs of a journal rewrite"),
    ignored("bgsave_cpulist", Kind::Text, "", "CPUs of a snapshot"),
    Setting::new("bind-source-addr", Kind::Text, "", "Address that outgoing connections come from")
        .accepted(),
    ignored(
        "socket-mark-id",
        Kind::Integer { min: 0, max: u32::MAX as i64 },
        "0",
        "Mark on sockets for the firewall",
    ),
    ignored("ignore-warnings", Kind::Words { max: 16 }, "", "Warnings that Redis is to hold back")
        .change(spec::setting::Change::Live),
    ignored("syslog-enabled", Kind::Bool, "no", "Log to syslog"),
    ignored("syslog-ident", Kind::Text, "redis", "Name in syslog"),
    ignored("syslog-facility", Kind::Choice(FACILITIES), "local0", "Facility in syslog"),
    ignored("locale-collate", Kind::Text, "", "Collation of SORT ALPHA and of scripts")
        .change(spec::setting::Change::Live),
    tls("tls-port", Kind::Integer { min: 0, max: 65_535 }, "0"),
    tls("tls-cluster", Kind::Bool, "no"),
    tls("tls-replication", Kind::Bool, "no"),
    tls("tls-auth-clients", Kind::Choice(&["no", "yes", "optional"]), "yes"),
    tls("tls-prefer-server-ciphers", Kind::Bool, "no"),
    tls("tls-session-caching", Kind::Bool, "yes"),
    tls("tls-session-cache-size", Kind::Integer { min: 0, max: COUNT32 }, "20480"),
    tls("tls-session-cache-timeout", SECONDS, "300"),
    tls("tls-cert-file", Kind::Text, ""),
    tls("tls-key-file", Kind::Text, ""),
    tls("tls-key-file-pass", Kind::Text, "").sensitive(),
    tls("tls-client-cert-file", Kind::Text, ""),
    tls("tls-client-key-file", Kind::Text, ""),
    tls("tls-client-key-file-pass", Kind::Text, "").sensitive(),
    tls("tls-dh-params-file", Kind::Text, ""),
    tls("tls-ca-cert-file", Kind::Text, ""),
    tls("tls-ca-cert-dir", Kind::Text, ""),
    tls("tls-protocols", Kind::Text, ""),
    tls("tls-ciphers", Kind::Text, ""),
    tls("tls-ciphersuites", Kind::Text, ""),
];

const FACILITIES: &[&str] =
    &["user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"];
