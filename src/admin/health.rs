//! Visits every shard and says which of them answered. A shard that hangs keeps one visitor waiting,
//! never more: it is silent until that visit is over.

use super::House;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// All shards together have this long.
const VISIT_TIME: Duration = Duration::from_secs(1);

/// And this much more passes before a visit that ignores its own time-out is given up.
const VISIT_GRACE: Duration = Duration::from_millis(100);

/// What one round found: for each shard the microseconds its visit took, or `None` for silence.
pub(super) struct Report {
    visits: Vec<Option<u64>>,
    finished: Instant,
}

impl Report {
    pub(super) fn all_answered(&self) -> bool {
        self.visits.iter().all(Option::is_some)
    }

    /// `{"status":"ok","silent":[],"shards":[{"shard":0,"ok":true,"micros":12}]}`; `micros` is null
    /// for a silent shard.
    pub(super) fn json(&self) -> String {
        let silent = self.visits.iter().enumerate().filter(|(_, visit)| visit.is_none());
        let silent: Vec<String> = silent.map(|(shard, _)| shard.to_string()).collect();
        let status = if silent.is_empty() { "ok" } else { "silent" };
        let mut json = format!("{{\"status\":\"{status}\",\"silent\":[{}],\"shards\":[", silent.join(","));
        for (shard, visit) in self.visits.iter().enumerate() {
            let comma = if shard > 0 { "," } else { "" };
            let micros = visit.map_or("null".to_owned(), |micros| micros.to_string());
            let ok = visit.is_some();
            write!(json, "{comma}{{\"shard\":{shard},\"ok\":{ok},\"micros\":{micros}}}")
                .expect("writing to a string does not fail");
        }
        json.push_str("]}\n");
        json
    }
}

/// Runs the rounds, one at a time.
pub(super) struct Health {
    house: Arc<dyn House>,
    visiting: Arc<[AtomicBool]>,
    last: Mutex<Option<Arc<Report>>>,
}

impl Health {
    pub(super) fn new(house: Arc<dyn House>) -> Health {
        let visiting = (0..house.shards()).map(|_| AtomicBool::new(false)).collect();
        Health { house, visiting, last: Mutex::new(None) }
    }

    /// A round that ended after this was called: its own, or one that was on its way. So a crowd of
    /// askers costs the shards no more than one does.
    pub(super) async fn report(&self) -> Arc<Report> {
        let asked = Instant::now();
        let mut last = self.last.lock().await;
        if let Some(report) = last.as_ref().filter(|report| report.finished >= asked) {
            return Arc::clone(report);
        }
        let report = Arc::new(self.round().await);
        *last = Some(Arc::clone(&report));
        report
    }

    async fn round(&self) -> Report {
        let deadline = tokio::time::Instant::now() + VISIT_TIME + VISIT_GRACE;
        let on_their_way: Vec<_> = (0..self.visiting.len()).map(|shard| self.send(shard)).collect();
        let mut visits = Vec::with_capacity(on_their_way.len());
        for visitor in on_their_way {
            visits.push(match visitor {
                // Late, or the visitor panicked: either way the shard was not seen alive.
                Some(visitor) => {
                    tokio::time::timeout_at(deadline, visitor).await.ok().and_then(|end| end.ok()).flatten()
                }
                None => None,
            });
        }
        Report { visits, finished: Instant::now() }
    }

    /// Sends a visitor to a shard, unless an earlier one is still there.
    fn send(&self, shard: usize) -> Option<tokio::task::JoinHandle<Option<u64>>> {
        if self.visiting[shard].swap(true, Ordering::AcqRel) {
            return None;
        }
        let (house, visiting) = (Arc::clone(&self.house), Arc::clone(&self.visiting));
        Some(tokio::task::spawn_blocking(move || {
            let _back = Back(&visiting[shard]);
            let start = Instant::now();
            let answered = house.visit(shard, VISIT_TIME);
            answered.then(|| u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX))
        }))
    }
}

/// Says that the visitor is back, also when it panicked.
struct Back<'a>(&'a AtomicBool);

impl Drop for Back<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
