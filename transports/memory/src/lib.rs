//! A transport without a wire
