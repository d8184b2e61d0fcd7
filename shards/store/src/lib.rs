//! One shard's slice of the keyspace
