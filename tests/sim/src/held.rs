//! What a key holds in the model: plain vectors and trees, so simple that they are obviously right. It
//! knows no commands.

use crate::model::Text;
use std::collections::{BTreeMap, BTreeSet};

/// A field's value, and when its time comes.
pub(crate) type Field = (Text, Option<i64>);

/// A value. Collections have no order but their own: what a server answers in any order is sorted first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Held {
    Text(Text),
    List(Vec<Text>),
    Set(BTreeSet<Text>),
    /// Without fields only where the time of all has come: a key that may be there for a while yet.
    Hash(BTreeMap<Text, Field>),
    /// Scores are whole numbers here.
    Sorted(BTreeMap<Text, i64>),
}

impl Held {
    /// A collection that has lost its last element is gone.
    pub(crate) fn is_gone(&self) -> bool {
        match self {
            Held::Text(_) => false,
            Held::List(items) => items.is_empty(),
            Held::Set(members) => members.is_empty(),
            Held::Hash(fields) => fields.is_empty(),
            Held::Sorted(members) => members.is_empty(),
        }
    }

    /// Times of fields that lie before or at `until`, in order.
    pub(crate) fn times(&self, until: i64) -> Vec<i64> {
        let Held::Hash(fields) = self else { return Vec::new() };
        let mut times: Vec<i64> =
            fields.values().filter_map(|(_, time)| *time).filter(|time| *time <= until).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// Fields go whose time is at `now` or before.
    pub(crate) fn pass_time(&mut self, now: i64) {
        if let Held::Hash(fields) = self {
            fields.retain(|_, (_, time)| time.is_none_or(|time| time > now));
        }
    }
}

/// Members by score, then by name.
pub(crate) fn in_order(members: &BTreeMap<Text, i64>) -> Vec<(i64, Text)> {
    let mut order: Vec<(i64, Text)> =
        members.iter().map(|(member, score)| (*score, member.clone())).collect();
    order.sort();
    order
}

/// The range of places that two indexes name, the end included, in so many items.
pub(crate) fn places(start: i64, stop: i64, len: usize) -> std::ops::Range<usize> {
    let len = len as i64;
    let from_end = |index: i64| if index < 0 { index + len } else { index };
    let start = from_end(start).max(0);
    let stop = from_end(stop).min(len - 1);
    if start > stop { 0..0 } else { start as usize..stop as usize + 1 }
}
