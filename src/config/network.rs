//! Settings of listeners, connections and transports.

use super::{COUNT32, MAX, SECONDS, addresses};
use spec::setting::{Change, Driver, Kind, OutputLimit, Setting, Value};

const PORT: Kind = Kind::Integer { min: 0, max: 65_535 };

/// Where clients come in, and what they may cost.
pub(super) const GROUP: &[Setting] = &[
    Setting::new(
        "port",
        PORT,
        "6379",
        "TCP port that any client may use; 0 for none, or a free one where there is no Unix socket",
    )
    .change(Change::Live),
    Setting::new(
        "bind",
        Kind::Words { max: 16 },
        "127.0.0.1 -::1",
        "Addresses to listen on; `*` for all, a leading `-` where the address may be missing",
    )
    .change(Change::Live)
    .check(addresses::check),
    Setting::new(
        "shard-ports",
        PORT,
        "0",
        "First of one port a shard, for clients that route keys themselves; 0 for none",
    )
    .change(Change::Restart),
    Setting::new("unixsocket", Kind::Text, "", "Path of a Unix socket; empty for none"),
    Setting::new("unixsocketperm", Kind::Octal, "0", "Mode of the Unix socket; 0 leaves it to the umask"),
    Setting::new(
        "tcp-backlog",
        Kind::Integer { min: 0, max: COUNT32 },
        "511",
        "Connections waiting for accept",
    ),
    Setting::new("tcp-keepalive", SECONDS, "300", "Seconds between TCP keepalive probes; 0 for none")
        .live(|live, value| live.tcp_keepalive_s = value.count32()),
    Setting::new("timeout", SECONDS, "0", "Seconds after which an idle client is closed; 0 for never")
        .live(|live, value| live.timeout_s = value.count()),
    Setting::new(
        "maxclients",
        Kind::Integer { min: 1, max: u32::MAX as i64 },
        "10000",
        "Connections at a time",
    )
    .live(|live, value| live.maxclients = value.count32()),
    Setting::new("protected-mode", Kind::Bool, "yes", "Without a password, serve local connections alone")
        .live(|live, value| live.protected_mode = value.flag()),
    Setting::new("requirepass", Kind::Text, "", "Password of the default user; empty for none")
        .sensitive()
        .live(|live, value| live.requirepass = value.text().to_string()),
    Setting::new("control-port", PORT, "9736", "Port of /metrics and /healthz; 0 for none")
        .change(Change::Restart),
    Setting::new("control-bind", Kind::Text, "127.0.0.1", "Address of the control port")
        .change(Change::Restart)
        .check(addresses::check_one),
    Setting::new(
        "client-output-buffer-limit",
        Kind::OutputLimits,
        "normal 0 0 0 slave 256mb 64mb 60 pubsub 32mb 8mb 60",
        "Unsent output a client may have: class, hard limit, soft limit, seconds over the soft one",
    )
    .live(|live, value| live.output_limits = output_limits(value)),
    Setting::new(
        "client-query-buffer-limit",
        Kind::Memory { min: 1 << 20, max: MAX },
        "1gb",
        "Bytes of input a client may have unparsed",
    )
    .live(|live, value| live.client_query_buffer_limit = value.count()),
    Setting::new("proto-max-bulk-len", Kind::Memory { min: 1 << 20, max: MAX }, "512mb", "Longest argument")
        .live(|live, value| live.proto_max_bulk_len = value.count()),
    Setting::new(
        "driver",
        Kind::Choice(Driver::NAMES),
        "auto",
        "Kernel interface for sockets; auto takes io_uring and steps down to epoll where it is denied",
    )
    .change(Change::Restart),
    Setting::new(
        "busy-poll-us",
        Kind::Integer { min: 0, max: 1_000_000 },
        "0",
        "SO_BUSY_POLL: microseconds the kernel polls the device for a socket; 0 for none",
    )
    .change(Change::Restart),
    Setting::new(
        "napi-busy-poll-us",
        Kind::Integer { min: 0, max: 1_000_000 },
        "0",
        "io_uring NAPI: microseconds its wait polls the device; 0 for none",
    )
    .change(Change::Restart),
    Setting::new(
        "receive-chunk-bytes",
        Kind::Memory { min: 4 << 10, max: 1 << 20 },
        "16kb",
        "Size of one chunk that a transport receives into",
    )
    .change(Change::Restart),
    Setting::new(
        "receive-chunks",
        Kind::Integer { min: 16, max: 32_768 },
        "512",
        "Chunks that a core keeps ready to receive into (a power of two)",
    )
    .change(Change::Restart)
    .check(power_of_two),
    Setting::new(
        "send-chunk-bytes",
        Kind::Memory { min: 4 << 10, max: 4 << 20 },
        "16kb",
        "Size of one chunk that replies are written into",
    )
    .change(Change::Restart),
];

fn output_limits(value: &Value) -> [OutputLimit; 3] {
    match value {
        Value::OutputLimits(limits) => *limits,
        other => panic!("{other:?} is no list of output limits"),
    }
}

fn power_of_two(value: &Value) -> Result<(), String> {
    if value.count().is_power_of_two() { Ok(()) } else { Err("argument must be a power of two".into()) }
}
