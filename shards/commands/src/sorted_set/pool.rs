//! A pool of entries outside any sorted set: what commands over several keys work on. It does not know
//! where they came from.

use store::Text;

/// Members with scores, each with the number of the input it came from.
#[derive(Clone, Default, Debug)]
pub(crate) struct Pool {
    bytes: Vec<u8>,
    entries: Vec<Pooled>,
}

#[derive(Clone, Copy, Debug)]
struct Pooled {
    at: usize,
    len: usize,
    score: f64,
    source: usize,
}

impl Pool {
    /// Adds an entry.
    pub(crate) fn push(&mut self, member: Text<'_>, score: f64, source: usize) {
        let at = self.bytes.len();
        match member {
            Text::Bytes(bytes) => self.bytes.extend_from_slice(bytes),
            Text::Int(value) => self.bytes.extend_from_slice(resp::IntegerText::new(value).as_bytes()),
        }
        self.entries.push(Pooled { at, len: self.bytes.len() - at, score, source });
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// There is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], f64)> + Clone {
        self.entries.iter().map(|entry| (&self.bytes[entry.at..entry.at + entry.len], entry.score))
    }

    /// Orders by score, then member, as a sorted set does.
    pub(crate) fn sort(&mut self) {
        let bytes = &self.bytes;
        let member = |entry: &Pooled| &bytes[entry.at..entry.at + entry.len];
        self.entries
            .sort_unstable_by(|a, b| a.score.total_cmp_zero(b.score).then_with(|| member(a).cmp(member(b))));
    }

    /// Groups entries of one member, in the order in which they were added, and puts in place of each
    /// group what `merge` makes of its (score, source): nothing, or a score.
    pub(crate) fn merge(
        &mut self,
        mut merge: impl FnMut(&mut dyn Iterator<Item = (f64, usize)>) -> Option<f64>,
    ) {
        let bytes = &self.bytes;
        let member = |entry: &Pooled| &bytes[entry.at..entry.at + entry.len];
        self.entries.sort_by(|a, b| member(a).cmp(member(b)));
        let mut merged = Vec::new();
        for group in self.entries.chunk_by(|a, b| member(a) == member(b)) {
            let score = merge(&mut group.iter().map(|entry| (entry.score, entry.source)));
            merged.extend(score.map(|score| Pooled { score, ..group[0] }));
        }
        self.entries = merged;
    }
}

/// An order of numbers in which -0 and 0 are the same.
trait ZeroCompare {
    fn total_cmp_zero(self, other: f64) -> std::cmp::Ordering;
}

impl ZeroCompare for f64 {
    fn total_cmp_zero(self, other: f64) -> std::cmp::Ordering {
        // Adding zero makes -0 a 0 and leaves all else as it is.
        (self + 0.0).total_cmp(&(other + 0.0))
    }
}
