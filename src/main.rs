//! The `corelane` binary.
fn main() {}
