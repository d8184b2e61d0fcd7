//! The shards' latency as classic Prometheus histograms. Rendered here, since a recorder would keep
//! every single record until it is scraped.

use super::text::Text;
use telemetry::{Block, HistogramSnapshot};

/// The bounds shown, as powers of two in nanoseconds: from 128 ns, each octave up to a millisecond,
/// then every second one, to 8.6 s. At these the shards' buckets are exact.
const POWERS: [u32; 21] = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 26, 28, 30, 33];

const NANOSECONDS: f64 = 1e9;

/// Writes one family for all shards.
pub(super) fn write(text: &mut Text, blocks: &[std::sync::Arc<Block>], shards: &[String]) {
    let bounds = POWERS.map(|power| ((1_u64 << power) as f64 / NANOSECONDS).to_string());
    text.family("corelane_latency_seconds", "histogram", "Where the time of requests goes, room by room.");
    for (block, shard) in blocks.iter().zip(shards) {
        for (room, histogram) in block.rooms.each() {
            write_one(text, shard, room, &histogram.snapshot(), &bounds);
        }
    }
}

fn write_one(text: &mut Text, shard: &str, room: &str, copy: &HistogramSnapshot, bounds: &[String; 21]) {
    let total = copy.count();
    for (power, bound) in POWERS.into_iter().zip(bounds) {
        let labels = [("shard", shard), ("room", room), ("le", bound)];
        text.sample("corelane_latency_seconds_bucket", &labels, copy.count_below_power(power));
    }
    text.sample(
        "corelane_latency_seconds_bucket",
        &[("shard", shard), ("room", room), ("le", "+Inf")],
        total,
    );
    let labels = [("shard", shard), ("room", room)];
    text.sample("corelane_latency_seconds_sum", &labels, copy.sum() as f64 / NANOSECONDS);
    text.sample("corelane_latency_seconds_count", &labels, total);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn buckets_are_cumulative_and_end_with_all() {
        let block = Arc::new(Block::new(0));
        block.rooms.hop.record_many(2_000, 3);
        block.rooms.hop.record(20_000_000_000);
        let mut text = Text::default();
        write(&mut text, &[block], &["4".to_owned()]);
        let mut all = String::new();
        text.append_to(&mut all);
        let line =
            |le: &str| format!("corelane_latency_seconds_bucket{{shard=\"4\",room=\"hop\",le=\"{le}\"}}");
        for (le, count) in
            [("0.000000128", 0), ("0.000001024", 0), ("0.000002048", 3), ("8.589934592", 3), ("+Inf", 4)]
        {
            let expected = format!("{} {count}\n", line(le));
            assert!(all.contains(&expected), "{expected} in {all}");
        }
        assert!(all.contains("corelane_latency_seconds_count{shard=\"4\",room=\"hop\"} 4\n"));
        assert!(all.contains("corelane_latency_seconds_sum{shard=\"4\",room=\"hop\"} 20.000006\n"));
    }
}
