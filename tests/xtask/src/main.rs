//! Project chores
fn main() {}
