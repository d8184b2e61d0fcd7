//! Figures of the server, a line each interval, from INFO.

use super::connection::Lost;
use super::format::show;
use super::session::Session;
use resp::client::Value;
use std::thread::sleep;
use std::time::Duration;

/// Lines after which the heading is printed again.
const HEADING_EVERY: usize = 20;

const HEADING: &str = "\
------- data ------ --------------------- load -------------------- - child -
keys       mem      clients blocked requests            connections          
";

/// Prints until it is interrupted or the server goes away.
pub(super) fn run(session: &mut Session) -> bool {
    let interval = session.options.interval.unwrap_or(Duration::from_secs(1));
    let mut requests_before = None;
    for line in 0usize.. {
        let info = match session.ask(&["INFO"]) {
            Ok(Value::Bulk(bytes) | Value::Verbatim(_, bytes)) => {
                String::from_utf8_lossy(&bytes).into_owned()
            }
            Ok(Value::Error(text)) => {
                eprintln!("ERROR: {text}");
                return false;
            }
            Ok(_) => return false,
            Err(Lost::Unreachable) => return false,
            Err(lost) => {
                eprintln!("Error: {lost}");
                return false;
            }
        };
        if line.is_multiple_of(HEADING_EVERY) {
            show(HEADING.as_bytes());
        }
        let requests = field(&info, "total_commands_processed");
        show(row(&info, requests - requests_before.unwrap_or(requests)).as_bytes());
        requests_before = Some(requests);
        sleep(interval);
    }
    true
}

/// One line.
fn row(info: &str, more_requests: i64) -> String {
    let requests = format!("{} (+{more_requests})", field(info, "total_commands_processed"));
    let children =
        [("rdb_bgsave_in_progress", "SAVE"), ("aof_rewrite_in_progress", "AOF"), ("loading", "LOAD")];
    let busy = children.iter().filter(|(name, _)| field(info, name) == 1).map(|(_, label)| *label);
    format!(
        "{:<11}{:<8} {:<8}{:<8}{requests:<19} {:<12}{}\n",
        keys(info),
        bytes(field(info, "used_memory")),
        field(info, "connected_clients"),
        field(info, "blocked_clients"),
        field(info, "total_connections_received"),
        busy.collect::<Vec<_>>().join("+"),
    )
}

/// A field of INFO as a number; 0 where it is missing.
fn field(info: &str, name: &str) -> i64 {
    let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
}

/// Keys of all databases: `db0:keys=7,expires=0,...`.
fn keys(info: &str) -> i64 {
    let databases = info.lines().filter(|line| line.starts_with("db"));
    let count = |line: &str| line.split_once(":keys=")?.1.split(',').next()?.parse::<i64>().ok();
    databases.filter_map(count).sum()
}

/// Bytes in a few letters, as redis-cli writes them.
fn bytes(bytes: i64) -> String {
    const UNITS: [(i64, &str); 3] = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, letter)) => format!("{:.2}{letter}", bytes as f64 / *unit as f64),
        None => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_columns_where_the_heading_says() {
        let info = "used_memory:1048576\r\nconnected_clients:2\r\nblocked_clients:0\r\n\
                    total_commands_processed:12\r\ntotal_connections_received:3\r\nrdb_bgsave_in_progress:1\r\n\
                    db0:keys=5,expires=0\r\ndb1:keys=6,expires=0\r\n";
        let expected = "11         1.00M    2       0       12 (+4)             3           SAVE\n";
        assert_eq!(row(info, 4), expected);
    }
}
