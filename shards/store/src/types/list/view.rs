//! Lists as commands see them: one interface over short and long ones. A short list is packed as two bytes
//! that count its elements, and the elements behind them.

use super::{BigList, ChunkLimit};
use crate::entry::Entry;
use crate::hash::Key;
use crate::header::Kind;
use crate::store::Store;
use crate::text::Text;
use crate::travel::Detached;
use crate::types::packed::{self, Items};
use crate::types::slot::{Body, OwnBody, Slot, SlotMut};
use crate::types::{Big, WrongKind};
use std::ops::ControlFlow;

/// Bytes of the count in front of a short list.
const COUNT_BYTES: usize = 2;
/// A list with more bytes of elements is kept as chunks.
const SHORT_BYTES_MAX: usize = 1000;
/// A list that was longer is kept in its cell again below this.
const SHORT_AGAIN_BYTES: usize = 250;

/// An end of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The head, where indices begin.
    Left,
    /// The tail.
    Right,
}

/// The elements of a short list, and how many they are.
fn parts(bytes: &[u8]) -> (&[u8], usize) {
    match bytes.split_first_chunk::<COUNT_BYTES>() {
        Some((count, items)) => (items, usize::from(u16::from_le_bytes(*count))),
        None => (&[], 0),
    }
}

/// The elements of a packed list without their count.
pub(crate) fn packed_items(bytes: &[u8]) -> &[u8] {
    parts(bytes).0
}

/// A list to read.
#[derive(Clone, Copy)]
pub struct ListRef<'a>(Source<'a>);

#[derive(Clone, Copy)]
enum Source<'a> {
    Short { items: &'a [u8], count: usize },
    Long(&'a BigList),
}

impl<'a> Source<'a> {
    fn of(body: Body<'a>) -> Source<'a> {
        match body {
            Body::Packed(bytes) => {
                let (items, count) = parts(bytes);
                Source::Short { items, count }
            }
            Body::Big(big) => match big {
                Big::List(list) => Source::Long(list),
                #[allow(unreachable_patterns, reason = "other kinds come one after the other")]
                _ => unreachable!("the slot was asked for a list"),
            },
        }
    }

    #[inline]
    fn len(self) -> usize {
        match self {
            Source::Short { count, .. } => count,
            Source::Long(list) => list.len(),
        }
    }

    /// The packed elements around that index, and where it lies among them.
    fn around(self, index: usize) -> Option<(&'a [u8], usize)> {
        match self {
            Source::Short { items, count } => (index < count).then(|| (items, place(items, count, index))),
            Source::Long(list) => list.around(index),
        }
    }
}

/// Where the element of that index lies among `count` packed ones.
fn place(items: &[u8], count: usize, index: usize) -> usize {
    if index <= count / 2 {
        packed::skip(items, 0, index)
    } else {
        packed::skip_back(items, items.len(), count - index)
    }
}

impl<'a> ListRef<'a> {
    fn of(slot: Slot<'a>) -> ListRef<'a> {
        ListRef(Source::of(slot.body()))
    }

    /// How many elements there are.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "a list that is there is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The element of that index.
    pub fn get(&self, index: usize) -> Option<Text<'a>> {
        self.0.around(index).map(|(items, at)| packed::text_at(items, at))
    }

    /// Elements from that index on to the right.
    pub fn rightward(&self, index: usize) -> Rightward<'a> {
        Rightward { source: self.0, items: Items::new(&[]), next: index }
    }

    /// Elements from that index on to the left.
    pub fn leftward(&self, index: usize) -> Leftward<'a> {
        Leftward { source: self.0, items: Items::new(&[]), next: Some(index) }
    }

    /// `count` elements from one end on, away from it: what a pop there would take, in its order.
    pub fn from_side(&self, side: Side) -> impl Iterator<Item = Text<'a>> + use<'a> {
        let (right, left) = match side {
            Side::Left => (Some(self.rightward(0)), None),
            Side::Right => (None, self.len().checked_sub(1).map(|last| self.leftward(last))),
        };
        right.into_iter().flatten().chain(left.into_iter().flatten())
    }
}

/// Elements of a list in order.
#[derive(Clone)]
pub struct Rightward<'a> {
    source: Source<'a>,
    items: Items<'a>,
    /// The index behind those of `items`.
    next: usize,
}

impl<'a> Iterator for Rightward<'a> {
    type Item = Text<'a>;

    #[inline]
    fn next(&mut self) -> Option<Text<'a>> {
        if let Some(text) = self.items.next() {
            self.next += 1;
            return Some(text);
        }
        let (items, at) = self.source.around(self.next)?;
        self.items = Items::new(&items[at..]);
        self.next += 1;
        self.items.next()
    }
}

/// Elements of a list against its order.
#[derive(Clone)]
pub struct Leftward<'a> {
    source: Source<'a>,
    items: Items<'a>,
    next: Option<usize>,
}

impl<'a> Iterator for Leftward<'a> {
    type Item = Text<'a>;

    #[inline]
    fn next(&mut self) -> Option<Text<'a>> {
        let next = self.next?;
        if let Some(text) = self.items.next_back() {
            self.next = next.checked_sub(1);
            return Some(text);
        }
        let (items, at) = self.source.around(next)?;
        self.items = Items::new(&items[..packed::end_of(items, at)]);
        self.next = next.checked_sub(1);
        self.items.next_back()
    }
}

impl<'a> Entry<'a> {
    /// The value, if it is a list.
    #[inline]
    pub fn list(&self) -> Result<ListRef<'a>, WrongKind> {
        self.slot(Kind::List).map(ListRef::of)
    }
}

impl Detached {
    /// The value, if it is a list.
    pub fn list(&self) -> Result<ListRef<'_>, WrongKind> {
        self.slot(Kind::List).map(ListRef::of)
    }

    /// A list of these elements. `chunk_size` is `list-max-listpack-size`.
    pub fn list_of<'t>(elements: impl Iterator<Item = Text<'t>>, chunk_size: i32) -> Detached {
        let limit = ChunkLimit::of_setting(chunk_size);
        let (mut bytes, mut count) = (vec![0; COUNT_BYTES], 0);
        elements.for_each(|text| {
            packed::append(&mut bytes, text);
            count += 1;
        });
        let items = &bytes[COUNT_BYTES..];
        if is_short(items.len(), count, limit) {
            bytes[..COUNT_BYTES].copy_from_slice(&(count as u16).to_le_bytes());
            return Detached::collection(OwnBody::Packed { kind: Kind::List, variant: false, bytes });
        }
        Detached::collection(OwnBody::Big(Big::List(BigList::of(items, limit))))
    }
}

fn is_short(bytes: usize, count: usize, limit: ChunkLimit) -> bool {
    bytes <= SHORT_BYTES_MAX && limit.allows(bytes, count)
}

/// A list to change. One that is empty when it is dropped has removed its key.
pub struct ListMut<'a> {
    slot: SlotMut<'a>,
    limit: ChunkLimit,
}

impl Store {
    /// The list of a key, to change. `chunk_size` is `list-max-listpack-size`.
    pub fn list_mut<'a>(
        &'a mut self,
        db: usize,
        key: Key<'a>,
        now: i64,
        chunk_size: i32,
    ) -> Result<Option<ListMut<'a>>, WrongKind> {
        let limit = ChunkLimit::of_setting(chunk_size);
        Ok(self.slot_mut(db, key, Kind::List, now)?.map(|slot| ListMut { slot, limit }))
    }

    /// The same, or an empty list that is there from its first element on.
    pub fn list_or_new<'a>(
        &'a mut self,
        db: usize,
        key: Key<'a>,
        now: i64,
        chunk_size: i32,
    ) -> Result<ListMut<'a>, WrongKind> {
        let limit = ChunkLimit::of_setting(chunk_size);
        Ok(ListMut { slot: self.slot_or_new(db, key, Kind::List, now)?, limit })
    }
}

impl ListMut<'_> {
    fn source(&self) -> Source<'_> {
        Source::of(self.slot.body())
    }

    /// The list to read.
    pub fn view(&self) -> ListRef<'_> {
        ListRef(self.source())
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.source().len()
    }

    /// Whether there are none: then the key goes, or does not come.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an element at an end.
    pub fn push(&mut self, side: Side, element: &[u8]) {
        match side {
            Side::Left => self.insert(0, element),
            Side::Right => self.insert(usize::MAX, element),
        }
    }

    /// Puts an element before the one of that index; behind the last, for an index behind it.
    pub fn insert(&mut self, index: usize, element: &[u8]) {
        let (text, limit) = (Text::of(element), self.limit);
        let size = packed::size(text);
        if let Source::Short { items, count } = self.source() {
            if is_short(items.len() + size, count + 1, limit) {
                let at = place(items, count, index.min(count));
                return self.splice(at..at, count, count + 1, Some(text));
            }
            let big = BigList::of(items, limit);
            self.slot.become_big(Big::List(big));
        }
        self.with_item(text, |list, item| list.insert(index.min(list.len()), item, limit));
    }

    /// Writes an element over the one of that index.
    pub fn set(&mut self, index: usize, element: &[u8]) {
        let (text, limit) = (Text::of(element), self.limit);
        let size = packed::size(text);
        if let Source::Short { items, count } = self.source() {
            let range = place(items, count, index)..place(items, count, index + 1);
            if is_short(items.len() - range.len() + size, count, limit) {
                return self.splice(range, count, count, Some(text));
            }
            let big = BigList::of(items, limit);
            self.slot.become_big(Big::List(big));
        }
        self.with_item(text, |list, item| list.replace(index, item, limit));
    }

    /// Removes `count` elements from that index on, all of which are there.
    pub fn remove(&mut self, index: usize, count: usize) {
        let limit = self.limit;
        match self.source() {
            _ if count == 0 => {}
            Source::Short { items, count: all } => {
                let range = place(items, all, index)..place(items, all, index + count);
                self.splice(range, all, all - count, None);
            }
            Source::Long(_) => {
                let list = self.long();
                list.remove(index, count, limit);
                if let Some(items) = list.whole(SHORT_AGAIN_BYTES) {
                    let mut bytes = (list.len() as u16).to_le_bytes().to_vec();
                    bytes.extend_from_slice(items);
                    self.slot.become_packed(&bytes, false);
                }
            }
        }
    }

    /// Removes all elements: the key goes.
    pub fn clear(&mut self) {
        match self.source() {
            Source::Short { .. } => self.remove(0, self.len()),
            // What was there is freed by and by.
            Source::Long(_) => self.slot.become_packed(&[], false),
        }
    }

    /// Removes elements from one end.
    pub fn remove_from(&mut self, side: Side, count: usize) {
        match side {
            Side::Left => self.remove(0, count),
            Side::Right => self.remove(self.len() - count, count),
        }
    }

    /// Removes up to `count` elements equal to a text, from one end on; answers how many.
    pub fn remove_equal(&mut self, element: &[u8], count: usize, side: Side) -> usize {
        let text = Text::of(element);
        // Runs of neighbours go together, each found where the one before it was.
        let (mut removed, mut index) = (0, 0);
        while removed < count {
            let view = self.view();
            let mut skipped = 0;
            let mut rest: Box<dyn Iterator<Item = Text<'_>>> = match side {
                Side::Left => Box::new(view.rightward(index)),
                Side::Right if index >= view.len() => break,
                Side::Right => Box::new(view.leftward(view.len() - 1 - index)),
            };
            let found = rest.by_ref().try_for_each(|other| {
                if other == text {
                    return ControlFlow::Break(());
                }
                skipped += 1;
                ControlFlow::Continue(())
            });
            if found.is_continue() {
                break;
            }
            let run = 1 + rest.take(count - removed - 1).take_while(|other| *other == text).count();
            index += skipped;
            let first = match side {
                Side::Left => index,
                Side::Right => self.len() - index - run,
            };
            self.remove(first, run);
            removed += run;
        }
        removed
    }

    /// Writes over a range of the bytes of a short list; `before` and `after` are its lengths.
    fn splice(&mut self, range: std::ops::Range<usize>, before: usize, after: usize, text: Option<Text<'_>>) {
        if after == 0 {
            return self.slot.splice(0..range.end + COUNT_BYTES, &[]);
        }
        let count = (after as u16).to_le_bytes();
        if before == 0 {
            self.slot.splice_with(0..0, |out| {
                out.extend_from_slice(&count);
                text.into_iter().for_each(|text| packed::append(out, text));
            });
            return;
        }
        let range = range.start + COUNT_BYTES..range.end + COUNT_BYTES;
        self.slot.splice_with(range, |out| text.into_iter().for_each(|text| packed::append(out, text)));
        self.slot.packed_mut()[..COUNT_BYTES].copy_from_slice(&count);
    }

    fn long(&mut self) -> &mut BigList {
        match self.slot.big_mut() {
            Big::List(list) => list,
            #[allow(unreachable_patterns, reason = "other kinds come one after the other")]
            _ => unreachable!("the slot was asked for a list"),
        }
    }

    /// Packs an element and changes the long list with it.
    fn with_item(&mut self, text: Text<'_>, change: impl FnOnce(&mut BigList, &[u8])) {
        let mut scratch = self.slot.take_scratch();
        packed::append(&mut scratch, text);
        change(self.long(), &scratch);
        self.slot.give_scratch(scratch);
    }
}
