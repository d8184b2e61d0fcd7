//! Figures: bytes, counters, and the shape of a table.

use crate::bucket::SLOTS;
use crate::table::Table;

/// Bytes a store uses, by purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Cells of entries.
    pub entries: usize,
    /// Segments, directories and page records.
    pub tables: usize,
    /// Long values and long keys, those waiting to be freed included.
    pub heap_buffers: usize,
    /// Pages from which cells are carved: at least `entries`.
    pub reserved: usize,
}

impl Usage {
    /// What counts against a memory limit: all that is in use.
    pub fn used(&self) -> usize {
        self.entries + self.tables + self.heap_buffers
    }

    /// What was asked of the allocator.
    pub fn total(&self) -> usize {
        self.reserved + self.tables + self.heap_buffers
    }
}

/// What happened in a store since its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Keys that were removed because their time had come.
    pub expired: u64,
    /// Fields of hashes that active expiry removed.
    pub expired_fields: u64,
    /// Fields of hashes whose time had come when a command met them.
    pub met_fields: u64,
    /// Collections that have outgrown their packed form.
    pub grown: u64,
    /// Slices of large removed values that were freed before their last.
    pub freed_slices: u64,
    /// Flushed keys whose memory was freed.
    pub lazily_freed: u64,
}

/// The shape of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableStats {
    /// Keys.
    pub keys: usize,
    /// Segments.
    pub segments: usize,
    /// Home buckets by how many slots are taken, from none to all.
    pub fill: [u64; SLOTS + 1],
    /// Entries by how many cache lines a look-up of them reads at most: 1 at home, 2 beside it, from 3
    /// on in the stash; the last counts all that are farther. A crowd there means colliding hashes.
    pub probes: [u64; 16],
    /// Entries of the fullest segment.
    pub segment_keys_max: usize,
    /// Hash bits that lead to the deepest segment.
    pub depth_max: u32,
}

impl TableStats {
    pub(crate) fn of(table: &Table) -> TableStats {
        let mut stats = TableStats {
            keys: table.len(),
            segments: 0,
            fill: [0; SLOTS + 1],
            probes: [0; 16],
            segment_keys_max: 0,
            depth_max: 0,
        };
        let mut hash = 0;
        while let Some(segment) = table.segment(hash) {
            stats.segments += 1;
            stats.segment_keys_max = stats.segment_keys_max.max(segment.len());
            stats.depth_max = stats.depth_max.max(segment.depth());
            segment.survey(&mut stats.fill, &mut stats.probes);
            hash = segment.end();
            if hash == 0 {
                break;
            }
        }
        stats
    }
}
