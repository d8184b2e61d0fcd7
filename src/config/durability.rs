//! Settings of files: where they are, snapshots and the journal.

use super::{COUNT, COUNT32, MAX};
use spec::setting::{AppendFsync, Change, Effect, Kind, Setting, Value};

/// What survives a restart.
pub(super) const GROUP: &[Setting] = &[
    Setting::new("dir", Kind::Text, ".", "Directory of all files; it must exist").change(Change::Protected),
    Setting::new("dbfilename", Kind::Text, "dump.rdb", "Name of the snapshot file")
        .effect(Effect::AcceptedOnly)
        .change(Change::Protected)
        .check(file_name),
    Setting::new(
        "save",
        Kind::Save,
        "3600 1 300 100 60 10000",
        "When to take snapshots: seconds and changes",
    )
    .accepted(),
    Setting::new("appendonly", Kind::Bool, "no", "Keep a journal")
        .accepted()
        .apply(|live, value| live.appendonly = value.flag()),
    Setting::new(
        "appendfsync",
        Kind::Choice(AppendFsync::NAMES),
        "everysec",
        "When the journal reaches the disk",
    )
    .accepted()
    .apply(|live, value| live.appendfsync = AppendFsync::at(value.choice())),
    Setting::new("appendfilename", Kind::Text, "appendonly.aof", "Base name of the journal's files")
        .effect(Effect::AcceptedOnly)
        .check(file_name),
    Setting::new("appenddirname", Kind::Text, "appendonlydir", "Directory of the journal, inside dir")
        .effect(Effect::AcceptedOnly)
        .check(file_name),
    Setting::new("no-appendfsync-on-rewrite", Kind::Bool, "no", "No fsync while the journal is rewritten")
        .accepted(),
    Setting::new(
        "auto-aof-rewrite-percentage",
        Kind::Integer { min: 0, max: COUNT32 },
        "100",
        "Growth at which the journal is rewritten; 0 for never",
    )
    .accepted(),
    Setting::new(
        "auto-aof-rewrite-min-size",
        Kind::Memory { min: 0, max: MAX },
        "64mb",
        "Size below which the journal is not rewritten",
    )
    .accepted(),
    Setting::new("aof-load-truncated", Kind::Bool, "yes", "Load a journal whose end is cut off").accepted(),
    Setting::new("aof-use-rdb-preamble", Kind::Bool, "yes", "Begin a rewritten journal with a snapshot")
        .accepted(),
    Setting::new("aof-timestamp-enabled", Kind::Bool, "no", "Write times into the journal").accepted(),
    Setting::new("aof-disable-auto-gc", Kind::Bool, "no", "Keep old files of the journal").accepted(),
    Setting::new("aof-rewrite-incremental-fsync", Kind::Bool, "yes", "Sync a rewritten journal in steps")
        .accepted(),
    Setting::new("rdbcompression", Kind::Bool, "yes", "Compress strings in snapshots").accepted(),
    Setting::new("rdbchecksum", Kind::Bool, "yes", "End snapshots with a checksum")
        .effect(Effect::AcceptedOnly),
    Setting::new("rdb-del-sync-files", Kind::Bool, "no", "Delete snapshots that replication used").accepted(),
    Setting::new("rdb-save-incremental-fsync", Kind::Bool, "yes", "Sync a snapshot in steps").accepted(),
    Setting::new(
        "stop-writes-on-bgsave-error",
        Kind::Bool,
        "yes",
        "Refuse writes once a snapshot has failed",
    )
    .accepted(),
    Setting::new(
        "sanitize-dump-payload",
        Kind::Choice(&["no", "yes", "clients"]),
        "no",
        "Check payloads of RESTORE and snapshots in depth",
    )
    .accepted()
    .apply(|live, value| live.sanitize_dump_payload = value.choice() != 0),
    Setting::new(
        "key-load-delay",
        Kind::Integer { min: i32::MIN as i64, max: COUNT32 },
        "0",
        "For tests of Redis",
    )
    .accepted()
    .hidden(),
    Setting::new(
        "rdb-key-save-delay",
        Kind::Integer { min: i32::MIN as i64, max: COUNT32 },
        "0",
        "For tests of Redis",
    )
    .accepted()
    .hidden(),
    Setting::new(
        "loading-process-events-interval-bytes",
        Kind::Memory { min: 1024, max: COUNT },
        "2mb",
        "For tests of Redis",
    )
    .accepted()
    .hidden(),
];

fn file_name(value: &Value) -> Result<(), String> {
    match value.text() {
        "" => Err("the name can't be empty".into()),
        name if name.contains('/') => Err("the name can't be a path, just a filename".into()),
        _ => Ok(()),
    }
}
