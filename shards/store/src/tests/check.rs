//! What must hold in every store at any time.

use crate::Store;
use crate::arena::cell_bytes;
use crate::segment::Segment;
use crate::table::{Keys, Table};

impl Store {
    /// Walks everything and compares it with what is counted.
    pub(crate) fn check(&self) {
        let (mut cells, mut heap, mut owners) = (0, 0, 0);
        for db in 0..self.databases() {
            let keys = Keys { cells: &self.cells, hasher: &self.hasher };
            self.tables[db].check(&keys);
            self.tables[db].each(|handle| {
                let view = self.cells.view(handle);
                let cell = cell_bytes(view.header().size());
                cells += cell;
                heap += view.memory_bytes() - cell;
                owners += usize::from(view.header().form().owns());
                owners += usize::from(view.key().len() > crate::header::KEY_INLINE_MAX);
            });
        }
        if self.ruins.is_empty() {
            assert_eq!(cells, self.cells.arena().used(), "cells in use are those of the tables");
            assert_eq!(owners, self.cells.owners());
            if self.cells.buried() == 0 {
                assert_eq!(heap, self.cells.heap_bytes(), "buffers are those of the entries");
            }
        }
        assert!(self.cells.arena().used() <= self.cells.arena().reserved());
    }
}

impl Table {
    fn segments(&self) -> Vec<&Segment> {
        let mut segments = Vec::new();
        let mut hash = 0;
        while let Some(segment) = self.segment(hash) {
            assert_eq!(segment.prefix(), hash, "segments follow each other without a gap");
            segments.push(segment);
            hash = segment.end();
            if hash == 0 {
                break;
            }
        }
        segments
    }

    fn each(&self, mut call: impl FnMut(crate::arena::Handle)) {
        self.segments().iter().for_each(|segment| segment.for_each(|handle, _| call(handle)));
    }

    pub(crate) fn check(&self, keys: &Keys<'_>) {
        let (mut len, mut volatile, mut bytes) = (0, 0, 0);
        for segment in self.segments() {
            segment.check(keys);
            len += segment.len();
            volatile += segment.volatile();
            bytes += segment.bytes();
        }
        assert_eq!((len, volatile), (self.len(), self.volatile()));
        assert_eq!(bytes + self.directory_bytes(), self.bytes());
        let deepest = self.segments().iter().map(|segment| segment.depth()).max();
        assert_eq!(deepest.unwrap_or(0), self.depth_max());
    }
}
