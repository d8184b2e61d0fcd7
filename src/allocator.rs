//! What jemalloc tells of itself, and how it is asked to give memory back. It knows neither shards nor
//! commands.

use commands::AllocatorFigures;
use tikv_jemalloc_ctl::{Access, AsName, arenas, epoch, stats, stats_print};

/// What it has given out, and what that costs.
pub(crate) fn figures() -> AllocatorFigures {
    // Its figures are those of the last epoch.
    let renewed = epoch::advance();
    let read = |figure: tikv_jemalloc_ctl::Result<usize>| figure.map_or(0, |bytes| bytes as u64);
    if renewed.is_err() {
        return AllocatorFigures::default();
    }
    AllocatorFigures {
        allocated: read(stats::allocated::read()),
        active: read(stats::active::read()),
        resident: read(stats::resident::read()),
    }
}

/// Gives pages back that nothing is on: all that an arena has, when it is told not to keep them at all. Then
/// it may keep them again for as long as before.
pub(crate) fn purge() {
    let arenas = arenas::narenas::read().unwrap_or(0);
    for arena in 0..arenas {
        for pages in ["dirty", "muzzy"] {
            let name = format!("arena.{arena}.{pages}_decay_ms\0");
            let time = name.name();
            // An arena that was never used refuses.
            let _ = Access::<isize>::update(time, 0).and_then(|before| Access::<isize>::write(time, before));
        }
    }
}

/// Its own report, for people.
pub(crate) fn report() -> String {
    let mut text = Vec::new();
    match stats_print::stats_print(&mut text, stats_print::Options::default()) {
        Ok(()) => String::from_utf8_lossy(&text).into_owned(),
        Err(error) => format!("the allocator does not tell: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_answers() {
        purge();
        assert!(report().contains("jemalloc statistics"));
        let figures = figures();
        assert!(figures.allocated <= figures.active && figures.active <= figures.resident, "{figures:?}");
    }
}
