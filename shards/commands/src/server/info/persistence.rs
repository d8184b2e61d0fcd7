//! INFO's section Persistence: nothing is saved or loaded yet, and the fields say so.

use super::figures::{Figures, line, lines};
use crate::home::House;

pub(super) fn persistence(house: &mut dyn House, figures: &Figures, text: &mut String) {
    let started_s = house.facts().started_ms / 1000;
    lines(text, &["loading", "async_loading"], 0);
    lines(text, &["current_cow_peak", "current_cow_size", "current_cow_size_age"], 0);
    line(text, "current_fork_perc", "0.00");
    lines(text, &["current_save_keys_processed", "current_save_keys_total"], 0);
    line(text, "rdb_changes_since_last_save", figures.changes);
    line(text, "rdb_bgsave_in_progress", 0);
    line(text, "rdb_last_save_time", started_s);
    line(text, "rdb_last_bgsave_status", "ok");
    lines(text, &["rdb_last_bgsave_time_sec", "rdb_current_bgsave_time_sec"], -1);
    lines(text, &["rdb_saves", "rdb_last_cow_size"], 0);
    lines(text, &["rdb_last_load_keys_expired", "rdb_last_load_keys_loaded"], 0);
    // `appendonly yes` is accepted, and has no effect: no journal is kept.
    lines(text, &["aof_enabled", "aof_rewrite_in_progress", "aof_rewrite_scheduled"], 0);
    lines(text, &["aof_last_rewrite_time_sec", "aof_current_rewrite_time_sec"], -1);
    line(text, "aof_last_bgrewrite_status", "ok");
    lines(text, &["aof_rewrites", "aof_rewrites_consecutive_failures"], 0);
    line(text, "aof_last_write_status", "ok");
    lines(text, &["aof_last_cow_size", "module_fork_in_progress", "module_fork_last_cow_size"], 0);
}
