//! INFO's section Memory: what the shards account for, and what the process has.

use super::figures::{Figures, bytes, line, lines, percent, ratio};
use crate::home::House;

pub(super) fn memory(house: &mut dyn House, figures: &Figures, text: &mut String) {
    let counters = &figures.totals.counters;
    let Figures { used, peak, resident, allocator, .. } = *figures;
    let data = counters.memory_entries.read();
    bytes(text, "used_memory", used);
    bytes(text, "used_memory_rss", resident);
    bytes(text, "used_memory_peak", peak);
    line(text, "used_memory_peak_perc", percent(used, peak));
    line(text, "used_memory_overhead", used - data);
    line(text, "used_memory_startup", 0);
    line(text, "used_memory_dataset", data);
    line(text, "used_memory_dataset_perc", percent(data, used));
    line(text, "allocator_allocated", allocator.allocated);
    line(text, "allocator_active", allocator.active);
    line(text, "allocator_resident", allocator.resident);
    bytes(text, "total_system_memory", house.facts().total_system_memory);
    scripts(text);
    limits(house, text);
    line(text, "allocator_frag_ratio", ratio(allocator.active, allocator.allocated));
    line(text, "allocator_frag_bytes", allocator.active.saturating_sub(allocator.allocated));
    line(text, "allocator_rss_ratio", ratio(allocator.resident, allocator.active));
    line(text, "allocator_rss_bytes", allocator.resident.saturating_sub(allocator.active));
    line(text, "rss_overhead_ratio", ratio(resident, allocator.resident));
    line(text, "rss_overhead_bytes", resident as i64 - allocator.resident as i64);
    line(text, "mem_fragmentation_ratio", ratio(resident, used));
    line(text, "mem_fragmentation_bytes", resident as i64 - used as i64);
    lines(text, &["mem_not_counted_for_evict", "mem_replication_backlog"], 0);
    lines(text, &["mem_total_replication_buffers", "mem_clients_slaves"], 0);
    line(text, "mem_clients_normal", counters.memory_buffers.read());
    lines(text, &["mem_cluster_links", "mem_aof_buffer"], 0);
    line(text, "mem_allocator", &house.facts().allocator);
    line(text, "active_defrag_running", 0);
    line(text, "lazyfree_pending_objects", counters.lazily_pending_keys.read());
    line(text, "lazyfreed_objects", counters.lazily_freed_keys.read());
}

/// There are no scripts yet, nor an interpreter that would take memory.
fn scripts(text: &mut String) {
    lines(text, &["used_memory_lua", "used_memory_vm_eval"], 0);
    line(text, "used_memory_lua_human", "0B");
    lines(text, &["used_memory_scripts_eval", "number_of_cached_scripts"], 0);
    lines(text, &["number_of_functions", "number_of_libraries"], 0);
    line(text, "used_memory_vm_functions", 0);
    bytes(text, "used_memory_vm_total", 0);
    line(text, "used_memory_functions", 0);
    bytes(text, "used_memory_scripts", 0);
}

fn limits(house: &dyn House, text: &mut String) {
    let live = &house.settings().live;
    bytes(text, "maxmemory", live.maxmemory);
    line(text, "maxmemory_policy", live.maxmemory_policy.name());
}
