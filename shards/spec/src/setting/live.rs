//! What the data path reads of the settings: plain typed fields, one copy a shard, no lookup by name.
//! Knows no name of a setting; the table's `apply` functions write here.

use super::value::{ClientClass, Events, OutputLimit};

/// Declares an enum whose variants go by the names of a `Kind::Choice`, so that index and variant
/// cannot come apart.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every variant, in the order of `NAMES`.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The name of every variant, for `Kind::Choice`.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// The variant at an index of `NAMES`.
            pub const fn at(index: usize) -> Self {
                Self::ALL[index]
            }

            /// Its name.
            pub const fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
    };
}

choice! {
    /// Who gives way when `maxmemory` is reached.
    MemoryPolicy {
        /// Least recently used among keys that expire.
        VolatileLru = "volatile-lru",
        /// Least frequently used among keys that expire.
        VolatileLfu = "volatile-lfu",
        /// Any key that expires.
        VolatileRandom = "volatile-random",
        /// The key that expires soonest.
        VolatileTtl = "volatile-ttl",
        /// Least recently used.
        AllkeysLru = "allkeys-lru",
        /// Least frequently used.
        AllkeysLfu = "allkeys-lfu",
        /// Any key.
        AllkeysRandom = "allkeys-random",
        /// Nobody: writes are refused.
        Noeviction = "noeviction",
    }
}

choice! {
    /// Who may use a dangerous command.
    Permit {
        /// Nobody.
        No = "no",
        /// Everybody.
        Yes = "yes",
        /// Connections over loopback and Unix sockets.
        Local = "local",
    }
}

choice! {
    /// May requests of one connection overlap on several shards?
    PipelineOrder {
        /// They take effect in the order sent.
        Strict = "strict",
        /// They may overlap; answers stay in order.
        Relaxed = "relaxed",
    }
}

choice! {
    /// How a core waits for work.
    Poll {
        /// It never sleeps.
        Busy = "busy",
        /// It spins for a while, then sleeps.
        Adaptive = "adaptive",
        /// It sleeps as soon as there is nothing to do.
        Sleep = "sleep",
    }
}

choice! {
    /// How a core divides its time among transports.
    Priority {
        /// A budget each, in rotation.
        Fair = "fair",
        /// In the order they were named, each until it is empty.
        Strict = "strict",
    }
}

choice! {
    /// When the journal reaches the disk.
    AppendFsync {
        /// Once a second.
        Everysec = "everysec",
        /// Before the reply.
        Always = "always",
        /// When the kernel likes.
        No = "no",
    }
}

choice! {
    /// Which channels a new ACL user may use.
    PubsubDefault {
        /// All of them.
        Allchannels = "allchannels",
        /// None.
        Resetchannels = "resetchannels",
    }
}

choice! {
    /// How much is logged.
    LogLevel {
        /// Everything.
        Debug = "debug",
        /// Much.
        Verbose = "verbose",
        /// What an operator wants to know.
        Notice = "notice",
        /// Trouble alone.
        Warning = "warning",
    }
}

choice! {
    /// The kernel interface for sockets.
    Driver {
        /// io_uring, or epoll where it is denied.
        Auto = "auto",
        /// io_uring or nothing.
        Uring = "uring",
        /// epoll.
        Epoll = "epoll",
    }
}

choice! {
    /// The keyed hash of the key table.
    HashFunction {
        /// Fast; resists collisions that a client chooses, without a proof.
        Ahash = "ahash",
        /// Slower; the one with a security argument.
        Siphash = "siphash",
    }
}

/// What may be freed in slices rather than at once.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LazyFree {
    /// Evicted keys.
    pub eviction: bool,
    /// Expired keys.
    pub expire: bool,
    /// Values overwritten by a command.
    pub server_del: bool,
    /// DEL behaves as UNLINK.
    pub user_del: bool,
    /// FLUSHALL and FLUSHDB behave as with ASYNC.
    pub user_flush: bool,
}

/// Bounds of the compact encodings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Encodings {
    /// Fields of a compact hash.
    pub hash_max_listpack_entries: u64,
    /// Bytes of a field or value in a compact hash.
    pub hash_max_listpack_value: u64,
    /// Entries (positive) or size class (-1 to -5) of a list node.
    pub list_max_listpack_size: i32,
    /// Nodes at either end of a list that stay uncompressed; 0 compresses none.
    pub list_compress_depth: u32,
    /// Members of a set of whole numbers.
    pub set_max_intset_entries: u64,
    /// Members of a compact set.
    pub set_max_listpack_entries: u64,
    /// Bytes of a member of a compact set.
    pub set_max_listpack_value: u64,
    /// Members of a compact sorted set.
    pub zset_max_listpack_entries: u64,
    /// Bytes of a member of a compact sorted set.
    pub zset_max_listpack_value: u64,
    /// Bytes of a stream node; 0 for no limit.
    pub stream_node_max_bytes: u64,
    /// Entries of a stream node; 0 for no limit.
    pub stream_node_max_entries: u64,
    /// Bytes of a HyperLogLog in its sparse form.
    pub hll_sparse_max_bytes: u64,
}

/// The settings that are read while requests run. Changed by CONFIG SET through `Settings::set`.
#[derive(Clone, PartialEq, Debug)]
pub struct Live {
    /// Connections over all shards.
    pub maxclients: u32,
    /// Seconds after which an idle client is closed; 0 for never.
    pub timeout_s: u64,
    /// Seconds between TCP keepalive probes; 0 for none.
    pub tcp_keepalive_s: u32,
    /// Bytes of the longest argument.
    pub proto_max_bulk_len: u64,
    /// Bytes of a client's unparsed input.
    pub client_query_buffer_limit: u64,
    /// Unsent output, by `ClientClass`.
    pub output_limits: [OutputLimit; 3],
    /// Bytes over all clients (negative: percent of `maxmemory`; 0 for no limit).
    pub maxmemory_clients: i64,
    /// Password of the default user; empty for none.
    pub requirepass: String,
    /// Without a password, only local connections are served.
    pub protected_mode: bool,
    /// Databases that SELECT knows.
    pub databases: u32,

    /// Bytes; 0 for no limit.
    pub maxmemory: u64,
    /// Who gives way.
    pub maxmemory_policy: MemoryPolicy,
    /// Keys looked at for each eviction.
    pub maxmemory_samples: u32,
    /// Effort of one eviction run, 0 to 100.
    pub maxmemory_eviction_tenacity: u32,
    /// Slope of the LFU counter.
    pub lfu_log_factor: u32,
    /// Minutes after which an LFU counter loses one.
    pub lfu_decay_minutes: u32,
    /// Effort of active expiry, 1 to 10.
    pub active_expire_effort: u32,
    /// What is freed in slices.
    pub lazyfree: LazyFree,
    /// Bounds of the compact encodings.
    pub encodings: Encodings,

    /// Timer ticks a second, 1 to 500.
    pub hz: u32,
    /// Commands at least this long are logged; -1 for none, 0 for all.
    pub slowlog_slower_than_us: i64,
    /// Entries of the slow log.
    pub slowlog_max_len: u64,
    /// Events at least this long are recorded; 0 for none.
    pub latency_monitor_threshold_ms: u64,
    /// Keep latency histograms by command.
    pub latency_tracking: bool,
    /// Which percentiles INFO latencystats shows.
    pub latency_percentiles: Vec<f64>,
    /// Commands at least this long are counted as stalls of their shard.
    pub stall_threshold_us: u64,
    /// Scripts longer than this make the server say BUSY; 0 for never.
    pub busy_reply_threshold_ms: u64,
    /// Which keyspace events are published.
    pub notify_events: Events,
    /// How much is logged.
    pub loglevel: LogLevel,

    /// Keep a journal.
    pub appendonly: bool,
    /// When the journal reaches the disk.
    pub appendfsync: AppendFsync,
    /// RESTORE checks payloads in depth.
    pub sanitize_dump_payload: bool,

    /// Who may use DEBUG.
    pub enable_debug_command: Permit,
    /// Who may use MODULE.
    pub enable_module_command: Permit,
    /// Who may CONFIG SET protected settings.
    pub enable_protected_configs: Permit,
    /// Entries of ACL LOG.
    pub acllog_max_len: u64,
    /// Channels of a new ACL user.
    pub acl_pubsub_default: PubsubDefault,
    /// Keys remembered for client-side caching; 0 for no limit.
    pub tracking_table_max_keys: u64,

    /// May requests of one connection overlap?
    pub pipeline_order: PipelineOrder,
    /// How a core waits.
    pub poll: Poll,
    /// How a core divides its time.
    pub priority: Priority,
    /// A shard's own port answers MOVED for keys of others.
    pub cluster_redirect: bool,
    /// The version that INFO and HELLO give.
    pub redis_version: String,
}

impl Live {
    /// The limit of unsent output of a class.
    pub fn output_limit(&self, class: ClientClass) -> OutputLimit {
        self.output_limits[class as usize]
    }
}

impl Default for Encodings {
    /// Those of Redis 7.2.
    fn default() -> Self {
        Encodings {
            hash_max_listpack_entries: 512,
            hash_max_listpack_value: 64,
            list_max_listpack_size: -2,
            list_compress_depth: 0,
            set_max_intset_entries: 512,
            set_max_listpack_entries: 128,
            set_max_listpack_value: 64,
            zset_max_listpack_entries: 128,
            zset_max_listpack_value: 64,
            stream_node_max_bytes: 4096,
            stream_node_max_entries: 100,
            hll_sparse_max_bytes: 3000,
        }
    }
}

impl Default for Live {
    /// For callers without a table, such as tests. A test of the house holds it equal to the table's
    /// own defaults.
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        let limit =
            |hard_bytes, soft_bytes, soft_seconds| OutputLimit { hard_bytes, soft_bytes, soft_seconds };
        Live {
            maxclients: 10_000,
            timeout_s: 0,
            tcp_keepalive_s: 300,
            proto_max_bulk_len: 512 * MIB,
            client_query_buffer_limit: 1024 * MIB,
            output_limits: [limit(0, 0, 0), limit(256 * MIB, 64 * MIB, 60), limit(32 * MIB, 8 * MIB, 60)],
            maxmemory_clients: 0,
            requirepass: String::new(),
            protected_mode: true,
            databases: 16,
            maxmemory: 0,
            maxmemory_policy: MemoryPolicy::Noeviction,
            maxmemory_samples: 5,
            maxmemory_eviction_tenacity: 10,
            lfu_log_factor: 10,
            lfu_decay_minutes: 1,
            active_expire_effort: 1,
            lazyfree: LazyFree::default(),
            encodings: Encodings::default(),
            hz: 10,
            slowlog_slower_than_us: 10_000,
            slowlog_max_len: 128,
            latency_monitor_threshold_ms: 0,
            latency_tracking: true,
            latency_percentiles: vec![50.0, 99.0, 99.9],
            stall_threshold_us: 1_000,
            busy_reply_threshold_ms: 5_000,
            notify_events: Events::default(),
            loglevel: LogLevel::Notice,
            appendonly: false,
            appendfsync: AppendFsync::Everysec,
            sanitize_dump_payload: false,
            enable_debug_command: Permit::No,
            enable_module_command: Permit::No,
            enable_protected_configs: Permit::No,
            acllog_max_len: 128,
            acl_pubsub_default: PubsubDefault::Resetchannels,
            tracking_table_max_keys: 1_000_000,
            pipeline_order: PipelineOrder::Strict,
            poll: Poll::Adaptive,
            priority: Priority::Fair,
            cluster_redirect: false,
            redis_version: "7.0.15".into(),
        }
    }
}
