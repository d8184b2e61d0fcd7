//! One scrape: copies the blocks into the recorder, renders it, and adds what is rendered by hand.
//! The shards are not asked for anything and notice nothing.

use super::aggregate::{Aggregate, Totals};
use super::process::Process;
use super::series::{self, ShardSeries};
use super::text::Text;
use super::{House, HouseInfo, aggregate, latency};
use ::metrics::{Counter, Gauge, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use telemetry::{Block, Snapshot};

const METADATA: Metadata<'_> = Metadata::new("corelane", Level::INFO, None);

/// A counter of the recorder.
pub(super) fn counter(recorder: &dyn Recorder, name: &'static str, labels: Vec<Label>) -> Counter {
    recorder.register_counter(&Key::from_parts(name, labels), &METADATA)
}

/// A gauge of the recorder.
pub(super) fn gauge(recorder: &dyn Recorder, name: &'static str, labels: Vec<Label>) -> Gauge {
    recorder.register_gauge(&Key::from_parts(name, labels), &METADATA)
}

/// The recorder and every place in it.
pub(super) struct Metrics {
    house: Arc<dyn House>,
    blocks: Vec<Arc<Block>>,
    shards: Vec<String>,
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    series: Vec<ShardSeries>,
    aggregate: Aggregate,
}

impl Metrics {
    pub(super) fn new(house: Arc<dyn House>) -> Metrics {
        let recorder = PrometheusBuilder::new().build_recorder();
        let blocks: Vec<_> = (0..house.shards()).map(|shard| house.block(shard)).collect();
        let shards: Vec<_> = (0..house.shards()).map(|shard| shard.to_string()).collect();
        series::describe(&recorder);
        let series = blocks
            .iter()
            .zip(&shards)
            .map(|(block, shard)| ShardSeries::new(&recorder, shard, block))
            .collect();
        let aggregate = Aggregate::new(&recorder);
        let handle = recorder.handle();
        Metrics { house, blocks, shards, recorder, handle, series, aggregate }
    }

    /// The whole text, as of now.
    pub(super) fn scrape(&mut self) -> String {
        let info = self.house.info();
        let names = self.house.command_names();
        let process = Process::look();
        let sum = Snapshot::of(self.blocks.iter().map(|block| &**block));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        for (series, block) in self.series.iter_mut().zip(&self.blocks) {
            series.copy(block);
        }
        let totals = Totals { sum: &sum, info: &info, process: &process, now };
        self.aggregate.copy(&self.recorder, &totals, names);

        let mut text = Text::default();
        latency::write(&mut text, &self.blocks, &self.shards);
        aggregate::write_commands(&mut text, &sum.commands, names);
        aggregate::write_instance(&mut text, &info);
        self.write_house(&mut text, &info);
        write_process(&mut text, &process, &info);
        let mut all = self.handle.render();
        text.append_to(&mut all);
        all
    }

    fn write_house(&self, text: &mut Text, info: &HouseInfo) {
        text.family("corelane_build_info", "gauge", "Version of the server.");
        text.sample("corelane_build_info", &[("version", &info.version)], 1);
        text.family("corelane_shards", "gauge", "Shards that serve.");
        text.sample("corelane_shards", &[], self.blocks.len());
        text.family("corelane_driver_info", "gauge", "The transports each shard runs on, and how or why.");
        for (block, shard) in self.blocks.iter().zip(&self.shards) {
            let labels =
                [("shard", shard.as_str()), ("driver", block.driver()), ("story", block.driver_story())];
            text.sample("corelane_driver_info", &labels, 1);
        }
    }
}

/// The `process_*` family that every Prometheus client has.
fn write_process(text: &mut Text, process: &Process, info: &HouseInfo) {
    let mut write = |name: &str, kind: &str, help: &str, value: Option<f64>| {
        if let Some(value) = value {
            text.family(name, kind, help);
            text.sample(name, &[], value);
        }
    };
    let whole = |value: Option<u64>| value.map(|value| value as f64);
    write("process_cpu_seconds_total", "counter", "Processor time, user and system.", process.cpu_seconds);
    write("process_resident_memory_bytes", "gauge", "Bytes resident.", whole(process.resident_bytes));
    write("process_virtual_memory_bytes", "gauge", "Bytes mapped.", whole(process.virtual_bytes));
    write("process_threads", "gauge", "Threads.", whole(process.threads));
    write("process_open_fds", "gauge", "Descriptors open.", whole(process.open_fds));
    write("process_max_fds", "gauge", "The most descriptors allowed.", whole(process.max_fds));
    write("process_start_time_seconds", "gauge", "Start in Unix time.", Some(info.started_unix as f64));
}
