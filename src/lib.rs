//! Corelane.
