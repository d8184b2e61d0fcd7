//! Makes the shards of a run and the rings between them. It does not know what they will do.

use crate::node::Node;
use crate::plan::Plan;
use crate::random::Random;
use crate::wires::Wires;
use commands::{Catalog, Facts};
use mesh::{Board, Receiver, ring};
use shard::{Bounds, Make, Parcel, Shard};
use spec::Settings;
use spec::setting::{Kind, Permit, PipelineOrder, Setting};
use std::sync::Arc;
use store::{Hasher, Store};
use telemetry::Block;

/// The settings that commands look up by name; all others have the data path's defaults.
static SETTINGS: &[Setting] = &[
    Setting::new("redis-version", Kind::Text, "7.0.15", "Version of Redis that INFO and HELLO name"),
    Setting::new("pipeline-order", Kind::Choice(PipelineOrder::NAMES), "strict", "Order across shards")
        .live(|live, value| live.pipeline_order = PipelineOrder::at(value.choice())),
    Setting::new(
        "client-query-buffer-limit",
        Kind::Memory { min: 1 << 20, max: i64::MAX },
        "1gb",
        "Bytes of unfinished input",
    )
    .live(|live, value| live.client_query_buffer_limit = value.count()),
];

/// Longest string: nobody here needs half a gigabyte.
const STRING_BYTES_MAX: u64 = 1 << 20;

/// Elements of the largest packed collection where they are to outgrow that soon.
const SMALL: u64 = 4;

pub(crate) fn nodes(
    plan: &Plan,
    random: &mut Random,
    catalog: &'static Catalog,
    board: &Arc<Board>,
) -> Vec<Node> {
    let shards = usize::from(plan.shards);
    let hasher = Hasher::new([random.draw(), random.draw(), random.draw(), random.draw()]);
    let blocks: Vec<Arc<Block>> =
        (0..shards).map(|_| Arc::new(Block::new(catalog.entries().len()))).collect();
    let facts = Arc::new(Facts::default());
    let mut settings = Settings::new(SETTINGS);
    settings.live.pipeline_order = if plan.strict { PipelineOrder::Strict } else { PipelineOrder::Relaxed };
    settings.live.proto_max_bulk_len = STRING_BYTES_MAX;
    settings.live.enable_debug_command = Permit::Yes;
    if plan.small {
        let encodings = &mut settings.live.encodings;
        encodings.hash_max_listpack_entries = SMALL;
        encodings.list_max_listpack_size = SMALL as i32;
        encodings.set_max_intset_entries = SMALL;
        encodings.set_max_listpack_entries = SMALL;
        encodings.zset_max_listpack_entries = SMALL;
    }
    settings.live.timeout_s = u64::from(plan.timeout);
    let mut inboxes: Vec<Vec<Receiver<Parcel>>> = (0..shards).map(|_| Vec::new()).collect();
    let mut wires = Vec::new();
    for from in 0..shards {
        let mut senders = Vec::new();
        for (to, inboxes) in inboxes.iter_mut().enumerate() {
            senders.push((to != from).then(|| {
                let (sender, receiver) = ring(plan.ring);
                inboxes.push(receiver);
                sender
            }));
        }
        wires.push(Wires::new(senders));
    }
    let make = |index: usize, seed: u64| Make {
        index: index as u16,
        shards: plan.shards,
        catalog,
        settings: settings.clone(),
        store: Store::new(hasher.clone(), settings.live.databases as usize),
        seed,
        board: board.clone(),
        blocks: blocks.clone(),
        facts: facts.clone(),
    };
    let parts = wires.into_iter().zip(inboxes).enumerate();
    parts
        .map(|(index, (wires, inboxes))| {
            let mut shard = Shard::new(make(index, random.draw()));
            shard.bounds = Bounds { flush_bytes: plan.share / 3, share_bytes: plan.share };
            Node::new(shard, wires, inboxes)
        })
        .collect()
}
