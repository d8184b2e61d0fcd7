//! Metric catalog, per-shard block, histograms
