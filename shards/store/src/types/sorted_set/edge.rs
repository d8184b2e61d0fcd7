//! A place between entries: what ranges begin and end at. It knows the order of entries, not where they
//! are kept.

/// A place in the order of a sorted set's entries, which go by score and then by the bytes of the member.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Edge<'a> {
    /// In front of all entries of a score, or behind them.
    Score {
        /// The score; not NaN.
        score: f64,
        /// Behind them.
        behind: bool,
    },
    /// In front of a member, or behind it, where all scores are the same.
    Member {
        /// The member.
        member: &'a [u8],
        /// Behind it.
        behind: bool,
    },
    /// In front of an entry.
    Entry {
        /// Its score; not NaN.
        score: f64,
        /// Its member.
        member: &'a [u8],
    },
}

impl Edge<'_> {
    /// Whether the edge is behind an entry; its member is asked for only where the score does not tell.
    #[inline]
    pub(super) fn is_behind<'m>(self, score: f64, member: impl FnOnce() -> &'m [u8]) -> bool {
        match self {
            Edge::Score { score: edge, behind } => score < edge || behind && score == edge,
            Edge::Member { member: edge, behind } => {
                let member = member();
                member < edge || behind && member == edge
            }
            Edge::Entry { score: edge, member: of_edge } => {
                score < edge || score == edge && member() < of_edge
            }
        }
    }
}
