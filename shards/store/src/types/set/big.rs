//! A big set: members in a table of packed pages. It does not know small sets or keys.

use crate::hash::Hasher;
use crate::text::Text;
use crate::types::pages::{Pages, Part};

/// Members without order, each once.
#[derive(Clone, Debug)]
pub struct BigSet {
    pages: Pages<1>,
}

impl Default for BigSet {
    fn default() -> BigSet {
        BigSet::new()
    }
}

impl BigSet {
    /// An empty set.
    pub fn new() -> BigSet {
        BigSet { pages: Pages::new() }
    }

    /// How many members it has.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// It has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes on the heap.
    pub fn memory_bytes(&self) -> usize {
        self.pages.memory_bytes()
    }

    /// Whether it has this member.
    pub fn contains(&self, member: &[u8], hasher: &Hasher) -> bool {
        let part = Part::of(member);
        self.pages.find(part.hash(hasher), &part).is_some()
    }

    /// As [`BigSet::contains`], of what was read from another place.
    pub fn contains_text(&self, member: Text<'_>, hasher: &Hasher) -> bool {
        let part = Part::of_text(member);
        self.pages.find(part.hash(hasher), &part).is_some()
    }

    /// Adds a member; whether it is new.
    pub fn insert(&mut self, member: &[u8], hasher: &Hasher) -> bool {
        self.insert_part(Part::of(member), hasher)
    }

    /// As [`BigSet::insert`], of what was read from another place.
    pub fn insert_text(&mut self, member: Text<'_>, hasher: &Hasher) -> bool {
        self.insert_part(Part::of_text(member), hasher)
    }

    fn insert_part(&mut self, part: Part<'_>, hasher: &Hasher) -> bool {
        let hash = part.hash(hasher);
        let new = self.pages.find(hash, &part).is_none();
        if new {
            self.pages.insert(hash, &[part], hasher);
        }
        new
    }

    /// Removes a member; whether it was there.
    pub fn remove(&mut self, member: &[u8], hasher: &Hasher) -> bool {
        let part = Part::of(member);
        let found = self.pages.find(part.hash(hasher), &part);
        found.map(|found| self.pages.remove(found)).is_some()
    }

    /// All members.
    pub fn iter(&self) -> impl Iterator<Item = Text<'_>> {
        self.pages.iter().map(|[member]| member)
    }

    /// A member, each as likely as the others.
    pub fn random(&self, rng: &mut dyn FnMut() -> u64) -> Option<Text<'_>> {
        self.pages.random(rng).map(|found| self.pages.text(found, 0))
    }

    /// Shows such a member, and removes it.
    pub fn pop(&mut self, rng: &mut dyn FnMut() -> u64, show: &mut dyn FnMut(Text<'_>)) -> bool {
        let Some(found) = self.pages.random(rng) else { return false };
        show(self.pages.text(found, 0));
        self.pages.remove(found);
        true
    }

    /// Visits about 32 members from a cursor on and returns the next one; 0 both starts and ends. What
    /// is there all the time is visited exactly once, whatever else changes between the calls.
    pub fn scan(&self, cursor: u64, hasher: &Hasher, visit: &mut dyn FnMut(Text<'_>)) -> u64 {
        self.pages.scan(cursor, hasher, &mut |[member]| visit(member))
    }

    /// Frees about `budget` members of a set that nobody will look into again; says how many.
    pub fn free_some(&mut self, budget: usize) -> usize {
        self.pages.free_some(budget)
    }
}
