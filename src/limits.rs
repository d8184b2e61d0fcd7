//! What the system grants this process: file descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors a core uses for itself, generously: listeners, ring, eventfds, spare ones.
const PER_SHARD: u64 = 16;
/// Descriptors for the rest of the process.
const OTHERS: u64 = 64;

/// Raises the limit of open files to what `maxclients` needs. Returns how many clients can really be
/// served; a limit that is too low is logged.
///
/// # Errors
/// Where not even one client could be served.
pub fn raise_descriptors(maxclients: u32, shards: usize) -> Result<u64, String> {
    let reserve = OTHERS + PER_SHARD * shards as u64;
    let want = u64::from(maxclients) + reserve;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|now| now >= want) {
        return Ok(u64::from(maxclients));
    }
    let attainable = limit.maximum.map_or(want, |hard| hard.min(want));
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(attainable), maximum: limit.maximum });
    let have = getrlimit(Resource::Nofile).current.unwrap_or(want);
    if have >= want {
        return Ok(u64::from(maxclients));
    }
    if have <= reserve {
        return Err(format!("the limit of open files is {have}; {want} are needed (ulimit -n)"));
    }
    let clients = have - reserve;
    tracing::warn!(
        "the limit of open files is {have}: {clients} clients instead of {maxclients} (ulimit -n)"
    );
    Ok(clients)
}
