//! Collections: values of many items; and large texts, which are kept as large collections are. A small one lies packed in its key's cell, a big one in a structure
//! of its own. This module knows how both are owned, counted and freed; commands it does not know.

pub(crate) mod hash;
pub(crate) mod list;
pub(crate) mod packed;
pub(crate) mod pages;
pub(crate) mod set;
pub(crate) mod slot;
pub(crate) mod sorted_set;

use crate::header::Kind;
use crate::shared::SharedText;
use crate::text::Text;
use hash::BigHash;
use list::BigList;
use packed::Items;
use set::BigSet;
use sorted_set::BigSortedSet;

/// The value of a key is of another kind than asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrongKind;

/// A collection that has outgrown its key's cell, or a large text.
///
/// Every kind offers the same: the number of its elements, its bytes on the heap (kept as it changes),
/// and freeing in slices.
#[derive(Clone, Debug)]
pub(crate) enum Big {
    List(BigList),
    Set(BigSet),
    Hash(BigHash),
    SortedSet(BigSortedSet),
    Text(SharedText),
}

impl Big {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Big::List(_) => Kind::List,
            Big::Set(_) => Kind::Set,
            Big::Hash(_) => Kind::Hash,
            Big::SortedSet(_) => Kind::SortedSet,
            Big::Text(_) => Kind::String,
        }
    }

    /// Elements: of a hash, its fields; a text is one.
    pub(crate) fn len(&self) -> usize {
        match self {
            Big::List(list) => list.len(),
            Big::Set(set) => set.len(),
            Big::Hash(hash) => hash.len(),
            Big::SortedSet(set) => set.len() as usize,
            Big::Text(_) => 1,
        }
    }

    /// Bytes on the heap, its own box included.
    #[inline]
    pub(crate) fn memory_bytes(&self) -> usize {
        let inside = match self {
            Big::List(list) => list.memory_bytes(),
            Big::Set(set) => set.memory_bytes(),
            Big::Hash(hash) => hash.memory_bytes(),
            Big::SortedSet(set) => set.memory_bytes(),
            Big::Text(text) => text.memory_bytes(),
        };
        size_of::<Big>() + inside
    }

    /// Frees about `budget` elements; answers how many. What is left is still a collection.
    pub(crate) fn free_some(&mut self, budget: usize) -> usize {
        match self {
            Big::List(list) => list.free_some(budget),
            Big::Set(set) => set.free_some(budget),
            Big::Hash(hash) => hash.free_some(budget),
            Big::SortedSet(set) => set.free_some(budget),
            Big::Text(_) => 0,
        }
    }

    /// It, if it is a text.
    #[inline]
    pub(crate) fn text(&self) -> Option<&SharedText> {
        match self {
            Big::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Visits all items.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(Item<'_>)) {
        match self {
            Big::List(list) => list.each(&mut |text| visit(Item::Element(text))),
            Big::Set(set) => set.iter().for_each(|member| visit(Item::Element(member))),
            Big::Hash(hash) => hash.iter().for_each(|(field, value)| visit(Item::Field(field, value))),
            Big::SortedSet(set) => set.each(visit),
            Big::Text(_) => {}
        }
    }
}

/// What a collection is made of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Item<'a> {
    /// An element of a list, a member of a set.
    Element(Text<'a>),
    /// A field of a hash and its value.
    Field(Text<'a>, Text<'a>),
    /// A member of a sorted set and its score.
    Scored(Text<'a>, f64),
}

/// Visits the items of a small collection. `variant` is the kind's own bit, see [`slot::Slot`].
pub(crate) fn each_packed(kind: Kind, variant: bool, bytes: &[u8], visit: &mut dyn FnMut(Item<'_>)) {
    let bytes = if kind == Kind::List { list::packed_items(bytes) } else { bytes };
    let mut items = Items::new(bytes);
    if variant {
        debug_assert!(kind == Kind::Set, "no other kind has two packed forms");
        return set::intset::each(bytes).for_each(|member| visit(Item::Element(Text::Int(member))));
    }
    while let Some(first) = items.next() {
        match kind {
            Kind::List | Kind::Set => visit(Item::Element(first)),
            Kind::Hash => {
                let value = items.next().expect("a field has a value behind it");
                visit(Item::Field(first, value));
            }
            Kind::SortedSet => {
                let member = items.next().expect("a score has a member behind it");
                visit(Item::Scored(member, score(first)));
            }
            Kind::String | Kind::Stream => unreachable!("not a packed collection"),
        }
    }
}

/// A score as it is packed: the eight bytes of a double.
fn score(text: Text<'_>) -> f64 {
    match text {
        Text::Bytes(bytes) => f64::from_le_bytes(bytes.try_into().expect("a score has eight bytes")),
        Text::Int(_) => unreachable!("a score is packed as bytes"),
    }
}
