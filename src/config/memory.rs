//! Settings of memory: limits, eviction, expiry, freeing, defragmentation.

use super::{COUNT, COUNT32, MAX};
use spec::setting::{Kind, MemoryPolicy, Setting};

/// What may be kept, and what goes first.
pub(super) const GROUP: &[Setting] = &[
    Setting::new("maxmemory", Kind::Memory { min: 0, max: MAX }, "0", "Bytes in use at most; 0 for no limit")
        .pending()
        .live(|live, value| live.maxmemory = value.count()),
    Setting::new(
        "maxmemory-policy",
        Kind::Choice(MemoryPolicy::NAMES),
        "noeviction",
        "Who gives way at maxmemory",
    )
    .pending()
    .live(|live, value| live.maxmemory_policy = MemoryPolicy::at(value.choice())),
    Setting::new(
        "maxmemory-samples",
        Kind::Integer { min: 1, max: COUNT32 },
        "5",
        "Keys looked at for an eviction",
    )
    .pending()
    .live(|live, value| live.maxmemory_samples = value.count32()),
    Setting::new(
        "maxmemory-eviction-tenacity",
        Kind::Integer { min: 0, max: 100 },
        "10",
        "Effort of an eviction run before clients are served again",
    )
    .pending()
    .live(|live, value| live.maxmemory_eviction_tenacity = value.count32()),
    Setting::new(
        "maxmemory-clients",
        Kind::MemoryOrPercent,
        "0",
        "Bytes over all clients, or percent of maxmemory",
    )
    .accepted()
    .apply(|live, value| live.maxmemory_clients = value.number()),
    Setting::new("lfu-log-factor", Kind::Integer { min: 0, max: COUNT32 }, "10", "Slope of the LFU counter")
        .live(|live, value| live.lfu_log_factor = value.count32()),
    Setting::new(
        "lfu-decay-time",
        Kind::Integer { min: 0, max: COUNT32 },
        "1",
        "Minutes until an LFU counter decays",
    )
    .live(|live, value| live.lfu_decay_minutes = value.count32()),
    Setting::new("active-expire-effort", Kind::Integer { min: 1, max: 10 }, "1", "Effort of active expiry")
        .live(|live, value| live.active_expire_effort = value.count32()),
    Setting::new("lazyfree-lazy-eviction", Kind::Bool, "no", "Free evicted values in slices")
        .pending()
        .live(|live, value| live.lazyfree.eviction = value.flag()),
    Setting::new("lazyfree-lazy-expire", Kind::Bool, "no", "Free expired values in slices")
        .pending()
        .live(|live, value| live.lazyfree.expire = value.flag()),
    Setting::new("lazyfree-lazy-server-del", Kind::Bool, "no", "Free overwritten values in slices")
        .pending()
        .live(|live, value| live.lazyfree.server_del = value.flag()),
    Setting::new("lazyfree-lazy-user-del", Kind::Bool, "no", "DEL behaves as UNLINK")
        .pending()
        .live(|live, value| live.lazyfree.user_del = value.flag()),
    Setting::new("lazyfree-lazy-user-flush", Kind::Bool, "no", "FLUSHALL and FLUSHDB behave as with ASYNC")
        .pending()
        .live(|live, value| live.lazyfree.user_flush = value.flag()),
    Setting::new(
        "activerehashing",
        Kind::Bool,
        "yes",
        "Rehash in idle time; here tables always grow in bounded steps",
    )
    .accepted(),
    Setting::new("activedefrag", Kind::Bool, "no", "Defragment while running").accepted(),
    Setting::new(
        "active-defrag-cycle-max",
        Kind::Integer { min: 1, max: 99 },
        "25",
        "Most effort, in percent of CPU",
    )
    .accepted(),
    Setting::new(
        "active-defrag-cycle-min",
        Kind::Integer { min: 1, max: 99 },
        "1",
        "Least effort, in percent of CPU",
    )
    .accepted(),
    Setting::new(
        "active-defrag-ignore-bytes",
        Kind::Memory { min: 1, max: MAX },
        "100mb",
        "Waste below which nothing is done",
    )
    .accepted(),
    Setting::new(
        "active-defrag-max-scan-fields",
        Kind::Integer { min: 1, max: COUNT },
        "1000",
        "Fields of one value scanned at a time",
    )
    .accepted(),
    Setting::new(
        "active-defrag-threshold-lower",
        Kind::Integer { min: 0, max: 1000 },
        "10",
        "Fragmentation in percent at which it starts",
    )
    .accepted(),
    Setting::new(
        "active-defrag-threshold-upper",
        Kind::Integer { min: 0, max: 1000 },
        "100",
        "Fragmentation in percent at which effort is greatest",
    )
    .accepted(),
    Setting::new("jemalloc-bg-thread", Kind::Bool, "yes", "Let the allocator purge in a thread of its own")
        .accepted(),
];
