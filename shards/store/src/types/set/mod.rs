//! Sets. A small one lies in its key's cell: integers alone sorted, in as few bytes as the widest needs,
//! any other members packed in the order they came; a big one is a table of packed pages. Here all look
//! alike. Commands it does not know.

mod big;
pub(crate) mod intset;
#[cfg(test)]
mod tests;

use super::pages::below;
use super::slot::{Body, OwnBody, Slot, SlotMut};
use super::{Big, WrongKind, packed};
use crate::hash::{Hasher, Key};
use crate::header::Kind;
use crate::store::Store;
use crate::text::{Text, canonical_int};
use crate::travel::Detached;
pub use big::BigSet;
use packed::Items;

/// How far a set stays small.
#[derive(Clone, Copy, Debug)]
pub struct SetLimits {
    /// Members, where all are integers.
    pub integers: usize,
    /// Members, where they are not.
    pub members: usize,
    /// Bytes of a member, where they are not.
    pub bytes: usize,
}

/// A set to read.
#[derive(Clone, Copy)]
pub struct SetRef<'a> {
    form: Form<'a>,
    hasher: &'a Hasher,
}

#[derive(Clone, Copy)]
enum Form<'a> {
    Integers(&'a [u8]),
    Packed(&'a [u8]),
    Big(&'a BigSet),
}

impl<'a> Form<'a> {
    #[inline]
    fn of(body: Body<'a>, variant: bool) -> Form<'a> {
        match body {
            Body::Packed(bytes) if variant => Form::Integers(bytes),
            Body::Packed(bytes) => Form::Packed(bytes),
            Body::Big(Big::Set(set)) => Form::Big(set),
            Body::Big(_) => unreachable!("the slot says it is a set"),
        }
    }
}

/// A set to change. Once it is dropped, a key without members is gone.
pub struct SetMut<'a> {
    slot: SlotMut<'a>,
}

impl Store {
    /// The set of a key; `touch` notes it as used now.
    pub fn read_set(
        &mut self,
        db: usize,
        key: Key<'_>,
        now: i64,
        touch: bool,
    ) -> Result<Option<SetRef<'_>>, WrongKind> {
        let Some(found) = self.present(db, key, now) else { return Ok(None) };
        if touch {
            self.cells.touch(found.handle, self.clock);
        }
        self.set_of(db, key)
    }

    /// The set of a key that was looked up before: of several at the same time. A key that has expired by the time of
    /// the last look is not found.
    pub fn set_of(&self, db: usize, key: Key<'_>) -> Result<Option<SetRef<'_>>, WrongKind> {
        let Some(found) = self.tables[db].find(key, &self.cells) else { return Ok(None) };
        if self.cells.view(found.handle).is_expired(self.now()) {
            return Ok(None);
        }
        let slot = Slot::of(self.cells.view(found.handle), Kind::Set)?;
        Ok(Some(SetRef { form: Form::of(slot.body(), slot.variant()), hasher: &self.hasher }))
    }

    /// The set of a key, to change.
    pub fn set_mut<'a>(
        &'a mut self,
        db: usize,
        key: Key<'a>,
        now: i64,
    ) -> Result<Option<SetMut<'a>>, WrongKind> {
        Ok(self.slot_mut(db, key, Kind::Set, now)?.map(|slot| SetMut { slot }))
    }

    /// The same, or one that makes the key with its first member.
    pub fn set_or_new<'a>(&'a mut self, db: usize, key: Key<'a>, now: i64) -> Result<SetMut<'a>, WrongKind> {
        Ok(SetMut { slot: self.slot_or_new(db, key, Kind::Set, now)? })
    }
}

impl Detached {
    /// The value, if it is a set.
    pub fn set<'a>(&'a self, hasher: &'a Hasher) -> Result<SetRef<'a>, WrongKind> {
        let slot = self.slot(Kind::Set)?;
        Ok(SetRef { form: Form::of(slot.body(), slot.variant()), hasher })
    }
}

impl<'a> SetRef<'a> {
    /// How many members it has.
    pub fn len(&self) -> usize {
        match self.form {
            Form::Integers(bytes) => intset::len(bytes),
            Form::Packed(bytes) => packed::count(bytes),
            Form::Big(set) => set.len(),
        }
    }

    /// It has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has this member.
    #[inline]
    pub fn contains(&self, member: &[u8]) -> bool {
        match self.form {
            Form::Big(set) => set.contains(member, self.hasher),
            _ => self.contains_text(Text::of(member)),
        }
    }

    /// The same, of what was read from another set.
    pub fn contains_text(&self, member: Text<'_>) -> bool {
        match (self.form, member) {
            (Form::Integers(bytes), Text::Int(value)) => intset::search(bytes, value).is_ok(),
            (Form::Integers(_), Text::Bytes(_)) => false,
            (Form::Packed(bytes), _) => packed::find(bytes, 0, 1, member).is_some(),
            (Form::Big(set), _) => set.contains_text(member, self.hasher),
        }
    }

    /// Visits members until `visit` says that it is enough.
    pub fn each_while(&self, visit: &mut dyn FnMut(Text<'a>) -> bool) {
        match self.form {
            Form::Integers(bytes) => drop(intset::each(bytes).all(|value| visit(Text::Int(value)))),
            Form::Packed(bytes) => drop(Items::new(bytes).all(visit)),
            Form::Big(set) => drop(set.iter().all(visit)),
        }
    }

    /// Visits all members.
    pub fn each(&self, visit: &mut dyn FnMut(Text<'a>)) {
        self.each_while(&mut |member| {
            visit(member);
            true
        });
    }

    /// A member, each as likely as the others.
    pub fn random(&self, rng: &mut dyn FnMut() -> u64) -> Option<Text<'a>> {
        match self.form {
            Form::Integers(bytes) => Some(Text::Int(intset::at(bytes, below(rng(), intset::len(bytes))))),
            Form::Packed(bytes) => {
                let at = packed::skip(bytes, 0, below(rng(), packed::count(bytes)));
                Some(packed::text_at(bytes, at))
            }
            Form::Big(set) => set.random(rng),
        }
    }

    /// Visits about `count` members from a cursor on and returns the next one; 0 both starts and ends.
    /// A small set is visited as a whole. A big one visits what is there all the time exactly once.
    pub fn scan(&self, mut cursor: u64, count: usize, visit: &mut dyn FnMut(Text<'_>)) -> u64 {
        let Form::Big(set) = self.form else {
            self.each(visit);
            return 0;
        };
        let mut visited = 0;
        loop {
            cursor = set.scan(cursor, self.hasher, &mut |member| {
                visited += 1;
                visit(member);
            });
            if cursor == 0 || visited >= count {
                return cursor;
            }
        }
    }
}

impl SetMut<'_> {
    /// The same set to read.
    #[inline]
    pub fn as_ref(&self) -> SetRef<'_> {
        SetRef { form: Form::of(self.slot.body(), self.slot.variant()), hasher: self.slot.hasher() }
    }

    /// How many members it has.
    pub fn len(&self) -> usize {
        self.as_ref().len()
    }

    /// It has none: once dropped, the key is gone.
    pub fn is_empty(&self) -> bool {
        self.as_ref().is_empty()
    }

    /// Adds a member; whether it is new.
    #[inline]
    pub fn insert(&mut self, member: &[u8], limits: SetLimits) -> bool {
        if let Body::Big(_) = self.slot.body() {
            let (set, hasher) = big_mut(&mut self.slot);
            return set.insert(member, hasher);
        }
        self.insert_small(member, limits)
    }

    fn insert_small(&mut self, member: &[u8], limits: SetLimits) -> bool {
        let (text, this) = (Text::of(member), self.as_ref());
        if self.slot.is_vacant() {
            let mut first = Vec::new();
            let integer = canonical_int(member).filter(|_| limits.integers > 0);
            match integer {
                Some(value) => drop(intset::insertion(&[], 0, value, &mut first)),
                None if limits.members == 0 || member.len() > limits.bytes => {
                    self.slot.become_big(Big::Set(BigSet::new()));
                    return self.insert(member, limits);
                }
                None => packed::append(&mut first, text),
            }
            self.slot.become_packed(&first, integer.is_some());
            return true;
        }
        match (this.form, text) {
            (Form::Integers(bytes), Text::Int(value)) => {
                let Err(rank) = intset::search(bytes, value) else { return false };
                if intset::len(bytes) < limits.integers {
                    let mut new = Vec::new();
                    let range = intset::insertion(bytes, rank, value, &mut new);
                    self.slot.splice(range, &new);
                    return true;
                }
                self.grow();
            }
            (Form::Integers(_), Text::Bytes(_)) => {
                // The integers it has take no more than 20 bytes each.
                if this.len() < limits.members && member.len().max(20) <= limits.bytes {
                    self.mix();
                } else {
                    self.grow();
                }
            }
            (Form::Packed(bytes), _) => {
                let (mut at, mut before) = (0, 0);
                while at < bytes.len() {
                    if packed::text_at(bytes, at) == text {
                        return false;
                    }
                    at = packed::end_of(bytes, at);
                    before += 1;
                }
                if before < limits.members && member.len() <= limits.bytes {
                    self.slot.splice_with(at..at, |out| packed::append(out, text));
                    return true;
                }
                self.grow();
            }
            (Form::Big(_), _) => unreachable!("the caller looked"),
        }
        self.insert(member, limits)
    }

    /// Removes a member; whether it was there.
    #[inline]
    pub fn remove(&mut self, member: &[u8]) -> bool {
        let text = Text::of(member);
        let range = match self.as_ref().form {
            Form::Big(_) => {
                let (set, hasher) = big_mut(&mut self.slot);
                return set.remove(member, hasher);
            }
            Form::Integers(bytes) => {
                let Text::Int(value) = text else { return false };
                let Ok(rank) = intset::search(bytes, value) else { return false };
                intset::removal(bytes, rank)
            }
            Form::Packed(bytes) => {
                let Some(at) = packed::find(bytes, 0, 1, text) else { return false };
                at..packed::end_of(bytes, at)
            }
        };
        self.slot.splice(range, &[]);
        true
    }

    /// Shows a member, each as likely as the others, and removes it; whether there was one.
    pub fn pop(&mut self, rng: &mut dyn FnMut() -> u64, show: &mut dyn FnMut(Text<'_>)) -> bool {
        if self.is_empty() {
            return false;
        }
        let range = match self.as_ref().form {
            Form::Big(_) => {
                let (set, _) = big_mut(&mut self.slot);
                return set.pop(rng, show);
            }
            Form::Integers(bytes) => {
                let rank = below(rng(), intset::len(bytes));
                show(Text::Int(intset::at(bytes, rank)));
                intset::removal(bytes, rank)
            }
            Form::Packed(bytes) => {
                let at = packed::skip(bytes, 0, below(rng(), packed::count(bytes)));
                show(packed::text_at(bytes, at));
                at..packed::end_of(bytes, at)
            }
        };
        self.slot.splice(range, &[]);
        true
    }

    /// Packs the integers of a small set as any other members are.
    #[cold]
    fn mix(&mut self) {
        let mut bytes = Vec::new();
        self.as_ref().each(&mut |member| packed::append(&mut bytes, member));
        self.slot.become_packed(&bytes, false);
    }

    /// Makes a small set a big one.
    #[cold]
    fn grow(&mut self) {
        let mut grown = BigSet::new();
        let this = self.as_ref();
        this.each(&mut |member| {
            grown.insert_text(member, this.hasher);
        });
        self.slot.become_big(Big::Set(grown));
    }
}

#[inline]
fn big_mut<'s>(slot: &'s mut SlotMut<'_>) -> (&'s mut BigSet, &'s Hasher) {
    match slot.big_and_hasher() {
        (Big::Set(set), hasher) => (set, hasher),
        _ => unreachable!("the slot says it is a set"),
    }
}

/// A set that belongs to no store yet: the outcome of SINTERSTORE and its like, member by member.
pub struct SetDraft {
    limits: SetLimits,
    hasher: Hasher,
    form: DraftForm,
}

enum DraftForm {
    Integers(Vec<u8>),
    Packed(Vec<u8>, usize),
    Big(BigSet),
}

impl SetDraft {
    /// An empty set.
    pub fn new(limits: SetLimits, hasher: &Hasher) -> SetDraft {
        SetDraft { limits, hasher: hasher.clone(), form: DraftForm::Integers(Vec::new()) }
    }

    /// How many members it has.
    pub fn len(&self) -> usize {
        match &self.form {
            DraftForm::Integers(bytes) => intset::len(bytes),
            DraftForm::Packed(_, count) => *count,
            DraftForm::Big(set) => set.len(),
        }
    }

    /// It has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a member; whether it is new.
    pub fn insert(&mut self, member: Text<'_>) -> bool {
        let limits = self.limits;
        match (&mut self.form, member) {
            (DraftForm::Big(set), _) => return set.insert_text(member, &self.hasher),
            (DraftForm::Integers(bytes), Text::Int(value)) if intset::len(bytes) < limits.integers => {
                let Err(rank) = intset::search(bytes, value) else { return false };
                let mut new = Vec::new();
                let range = intset::insertion(bytes, rank, value, &mut new);
                bytes.splice(range, new);
                return true;
            }
            (DraftForm::Integers(bytes), _) => {
                let count = intset::len(bytes);
                if let Text::Int(value) = member
                    && intset::search(bytes, value).is_ok()
                {
                    return false;
                }
                if count < limits.members && member.len().max(20) <= limits.bytes {
                    let mut mixed = Vec::new();
                    intset::each(bytes).for_each(|value| packed::append(&mut mixed, Text::Int(value)));
                    packed::append(&mut mixed, member);
                    self.form = DraftForm::Packed(mixed, count + 1);
                    return true;
                }
            }
            (DraftForm::Packed(bytes, count), _) => {
                if packed::find(bytes, 0, 1, member).is_some() {
                    return false;
                }
                if *count < limits.members && member.len() <= limits.bytes {
                    packed::append(bytes, member);
                    *count += 1;
                    return true;
                }
            }
        }
        self.grow();
        self.insert(member)
    }

    fn grow(&mut self) {
        let mut grown = BigSet::new();
        match &self.form {
            DraftForm::Integers(bytes) => intset::each(bytes).for_each(|value| {
                grown.insert_text(Text::Int(value), &self.hasher);
            }),
            DraftForm::Packed(bytes, _) => Items::new(bytes).for_each(|member| {
                grown.insert_text(member, &self.hasher);
            }),
            DraftForm::Big(_) => unreachable!("it is big already"),
        }
        self.form = DraftForm::Big(grown);
    }

    /// Visits all members.
    pub fn each(&self, visit: &mut dyn FnMut(Text<'_>)) {
        match &self.form {
            DraftForm::Integers(bytes) => intset::each(bytes).for_each(|value| visit(Text::Int(value))),
            DraftForm::Packed(bytes, _) => Items::new(bytes).for_each(visit),
            DraftForm::Big(set) => set.iter().for_each(visit),
        }
    }

    /// Removes all members that are in a set too.
    pub fn subtract(&mut self, other: &SetRef<'_>) {
        let before = std::mem::replace(self, SetDraft::new(self.limits, &self.hasher));
        before.each(&mut |member| {
            if !other.contains_text(member) {
                self.insert(member);
            }
        });
    }

    /// The value, unless it is empty.
    pub fn detach(self) -> Option<Detached> {
        let small = |bytes, variant| OwnBody::Packed { kind: Kind::Set, variant, bytes };
        let body = match self.form {
            DraftForm::Integers(bytes) if bytes.is_empty() => return None,
            DraftForm::Integers(bytes) => small(bytes, true),
            DraftForm::Packed(bytes, _) => small(bytes, false),
            DraftForm::Big(set) => OwnBody::Big(Big::Set(set)),
        };
        Some(Detached::collection(body))
    }
}
