//! The per-shard series: `corelane_*` with a `shard` label, copied at each scrape from the blocks
//! into handles of the metrics recorder. What exists is the catalog's business, not ours.

use super::metrics::{counter, gauge};
use ::metrics::{Counter, Gauge, Label, Recorder};
use telemetry::{Block, CATALOG, Kind};

/// A place in the recorder for one number.
enum Handle {
    Counter(Counter),
    Gauge(Gauge),
}

impl Handle {
    fn set(&self, value: u64) {
        match self {
            Handle::Counter(counter) => counter.absolute(value),
            Handle::Gauge(gauge) => gauge.set(value as f64),
        }
    }
}

/// The places of one shard, in the catalog's order.
pub(super) struct ShardSeries {
    handles: Vec<Handle>,
    useful_ratio: Gauge,
    ticks: u64,
    useful_ticks: u64,
}

/// Names and help of what `ShardSeries` shows.
pub(super) fn describe(recorder: &dyn Recorder) {
    for metric in CATALOG {
        match metric.kind {
            Kind::Counter => recorder.describe_counter(metric.name.into(), None, metric.help.into()),
            Kind::Gauge => recorder.describe_gauge(metric.name.into(), None, metric.help.into()),
        }
    }
    let help = "Share of ticks that found work, since the last scrape.";
    recorder.describe_gauge("corelane_useful_work_ratio".into(), None, help.into());
}

impl ShardSeries {
    pub(super) fn new(recorder: &dyn Recorder, shard: &str, block: &Block) -> ShardSeries {
        let mut handles = Vec::new();
        for metric in CATALOG {
            metric.each(block, |label, _| {
                let mut labels = vec![Label::new("shard", shard.to_owned())];
                labels.extend(label.map(|(name, value)| Label::from_static_parts(name, value)));
                handles.push(match metric.kind {
                    Kind::Counter => Handle::Counter(counter(recorder, metric.name, labels)),
                    Kind::Gauge => Handle::Gauge(gauge(recorder, metric.name, labels)),
                });
            });
        }
        let labels = vec![Label::new("shard", shard.to_owned())];
        let useful_ratio = gauge(recorder, "corelane_useful_work_ratio", labels);
        ShardSeries { handles, useful_ratio, ticks: 0, useful_ticks: 0 }
    }

    /// Copies the block into the recorder.
    pub(super) fn copy(&mut self, block: &Block) {
        let mut handles = self.handles.iter();
        for metric in CATALOG {
            metric.each(block, |_, number| {
                handles.next().expect("a handle was made for each number").set(number.read());
            });
        }
        let (ticks, useful_ticks) = (block.ticks.read(), block.useful_ticks.read());
        if ticks > self.ticks {
            let ratio = useful_ticks.saturating_sub(self.useful_ticks) as f64 / (ticks - self.ticks) as f64;
            self.useful_ratio.set(ratio.min(1.0));
            (self.ticks, self.useful_ticks) = (ticks, useful_ticks);
        }
    }
}
