//! A wrapper that splits, delays and drops by seed
