//! Lock-free single-producer single-consumer rings between shards
