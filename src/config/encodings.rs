//! Settings of value encodings: up to which size the compact forms are kept.

use super::{COUNT, COUNT32, MAX};
use spec::setting::{Kind, Setting};

const ENTRIES: Kind = Kind::Integer { min: 0, max: COUNT };
const BYTES: Kind = Kind::Memory { min: 0, max: MAX };

/// Bounds of the compact encodings.
pub(super) const GROUP: &[Setting] = &[
    Setting::new("hash-max-listpack-entries", ENTRIES, "512", "Fields of a compact hash")
        .alias("hash-max-ziplist-entries")
        .live(|live, value| live.encodings.hash_max_listpack_entries = value.count()),
    Setting::new("hash-max-listpack-value", BYTES, "64", "Bytes of a field or value of a compact hash")
        .alias("hash-max-ziplist-value")
        .live(|live, value| live.encodings.hash_max_listpack_value = value.count()),
    Setting::new(
        "list-max-listpack-size",
        Kind::Integer { min: i32::MIN as i64, max: COUNT32 },
        "-2",
        "Entries of a list node, or its size class: -1 for 4 KiB to -5 for 64 KiB",
    )
    .alias("list-max-ziplist-size")
    .live(|live, value| {
        live.encodings.list_max_listpack_size = i32::try_from(value.number()).expect("bounded by the kind");
    }),
    Setting::new(
        "list-compress-depth",
        Kind::Integer { min: 0, max: COUNT32 },
        "0",
        "List nodes at either end that stay uncompressed; 0 compresses none",
    )
    .pending()
    .live(|live, value| live.encodings.list_compress_depth = value.count32()),
    Setting::new("set-max-intset-entries", ENTRIES, "512", "Members of a set of whole numbers")
        .live(|live, value| live.encodings.set_max_intset_entries = value.count()),
    Setting::new("set-max-listpack-entries", ENTRIES, "128", "Members of a compact set")
        .live(|live, value| live.encodings.set_max_listpack_entries = value.count()),
    Setting::new("set-max-listpack-value", BYTES, "64", "Bytes of a member of a compact set")
        .live(|live, value| live.encodings.set_max_listpack_value = value.count()),
    Setting::new("zset-max-listpack-entries", ENTRIES, "128", "Members of a compact sorted set")
        .alias("zset-max-ziplist-entries")
        .live(|live, value| live.encodings.zset_max_listpack_entries = value.count()),
    Setting::new("zset-max-listpack-value", BYTES, "64", "Bytes of a member of a compact sorted set")
        .alias("zset-max-ziplist-value")
        .live(|live, value| live.encodings.zset_max_listpack_value = value.count()),
    Setting::new("stream-node-max-bytes", BYTES, "4096", "Bytes of a stream node; 0 for no limit")
        .pending()
        .live(|live, value| live.encodings.stream_node_max_bytes = value.count()),
    Setting::new("stream-node-max-entries", ENTRIES, "100", "Entries of a stream node; 0 for no limit")
        .pending()
        .live(|live, value| live.encodings.stream_node_max_entries = value.count()),
    Setting::new("hll-sparse-max-bytes", BYTES, "3000", "Bytes of a HyperLogLog in its sparse form")
        .live(|live, value| live.encodings.hll_sparse_max_bytes = value.count()),
];
