//! The contract suite: what every transport must pass, written once.
