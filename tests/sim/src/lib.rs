//! Deterministic simulator
