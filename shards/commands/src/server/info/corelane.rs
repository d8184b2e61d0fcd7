//! INFO's section Corelane: the shards, how requests travel among them, and how busy each core is.

use super::figures::{Figures, line};
use crate::home::House;

pub(super) fn corelane(house: &mut dyn House, figures: &Figures, text: &mut String) {
    let (facts, live) = (house.facts(), &house.settings().live);
    line(text, "corelane_version", &facts.corelane_version);
    line(text, "compiler", &facts.compiler);
    line(text, "shards", house.shards());
    line(text, "answering_shard", house.shard());
    line(text, "pipeline_order", live.pipeline_order.name());
    line(text, "poll", live.poll.name());
    line(text, "priority", live.priority.name());
    let counters = &figures.totals.counters;
    line(text, "useful_tick_ratio", format_args!("{:.4}", counters.useful_ratio()));
    let single = counters.transactions_single_hop.read();
    let multi = counters.transactions_multi_hop.read();
    for (name, count) in [
        ("local_commands", counters.local_commands.read()),
        ("hops", counters.hops.read()),
        ("parcels_sent", counters.parcels_sent.read()),
        ("parcels_received", counters.parcels_received.read()),
        ("transactions", single + multi),
        ("transactions_single_hop", single),
        ("transactions_multi_hop", multi),
        ("transactions_waited", counters.transactions_waited.read()),
        ("exec_local", counters.exec_local.read()),
        ("exec_one_hop", counters.exec_one_hop.read()),
        ("exec_stages", counters.exec_stages.read()),
        ("exec_nulls", counters.exec_nulls.read()),
        ("exec_aborts", counters.exec_aborts.read()),
        ("sealed_waits", counters.sealed_waits.read()),
        ("reservations_refused", counters.reservations_refused.read()),
        ("reservations_retried", counters.reservations_retried.read()),
        ("ring_full", counters.ring_full.read()),
        ("ring_retries", counters.ring_retries.read()),
        ("ticks", counters.ticks.read()),
        ("parks", counters.parks.read()),
        ("wakeups_sent", counters.wakeups_sent.read()),
        ("syscalls", counters.syscalls.read()),
        ("leases_refused", counters.leases_refused.read()),
        ("chunks_away", counters.chunks_away.read()),
        ("stalls", counters.stalls.read()),
        ("protocol_errors", counters.protocol_errors.read()),
        ("auth_failures", counters.auth_failures.read()),
        ("output_limit_closes", counters.output_limit_closes.read()),
        ("query_limit_closes", counters.query_limit_closes.read()),
    ] {
        line(text, name, count);
    }
    for (shard, block) in house.blocks().iter().enumerate() {
        line(
            text,
            &format!("shard{shard}"),
            format_args!(
                "driver={},clients={},keys={},commands={},hops={},useful_tick_ratio={:.4},memory={}",
                block.driver(),
                block.connections_open.read(),
                block.keys_total(),
                block.commands.read(),
                block.hops.read(),
                block.useful_ratio(),
                block.memory_total(),
            ),
        );
        line(text, &format!("shard{shard}_driver"), block.driver_story());
    }
}
