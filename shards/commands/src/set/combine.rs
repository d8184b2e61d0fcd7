//! Several sets together: what is in all, in any, or in the first alone. They are looked up here where
//! all keys are on one shard, or read from copies where they are not.

use crate::command::Piece;
use crate::context::{Ctx, Key};
use crate::lookup::{self, WrongKind};
use ::store::{Hasher, SetRef, Text};
use std::collections::BTreeSet;

/// How sets are combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Combination {
    Intersection,
    Union,
    Difference,
}

impl Combination {
    /// Visits each member of the outcome once, until `visit` says that it is enough. A key that is not
    /// there is an empty set.
    pub(super) fn visit<'a>(self, sets: &[Option<SetRef<'a>>], visit: &mut dyn FnMut(Text<'a>) -> bool) {
        match self {
            Combination::Intersection => intersection(sets, visit),
            Combination::Union => union(sets, visit),
            Combination::Difference => difference(sets, visit),
        }
    }
}

fn intersection<'a>(sets: &[Option<SetRef<'a>>], visit: &mut dyn FnMut(Text<'a>) -> bool) {
    let sets: Option<Vec<SetRef<'a>>> = sets.iter().copied().collect();
    let Some(mut sets) = sets else { return };
    sets.sort_by_key(SetRef::len);
    let Some((smallest, others)) = sets.split_first() else { return };
    smallest.each_while(&mut |member| !others.iter().all(|set| set.contains_text(member)) || visit(member));
}

fn union<'a>(sets: &[Option<SetRef<'a>>], visit: &mut dyn FnMut(Text<'a>) -> bool) {
    let sets: Vec<SetRef<'a>> = sets.iter().flatten().copied().collect();
    let mut more = true;
    // A member is shown with the first set that has it. Where sets are many, what was shown is kept:
    // looking into all that came before would cost more.
    const LOOKED_INTO_MAX: usize = 8;
    let mut shown = BTreeSet::new();
    for (index, set) in sets.iter().enumerate() {
        set.each_while(&mut |member| {
            let new = if sets.len() <= LOOKED_INTO_MAX {
                !sets[..index].iter().any(|before| before.contains_text(member))
            } else {
                shown.insert(member.to_vec())
            };
            more = !new || visit(member);
            more
        });
        if !more {
            return;
        }
    }
}

fn difference<'a>(sets: &[Option<SetRef<'a>>], visit: &mut dyn FnMut(Text<'a>) -> bool) {
    let Some((Some(first), others)) = sets.split_first() else { return };
    let mut others: Vec<SetRef<'a>> = others.iter().flatten().copied().collect();
    // Most likely found in a large one.
    others.sort_by_key(|set| std::cmp::Reverse(set.len()));
    first.each_while(&mut |member| others.iter().any(|set| set.contains_text(member)) || visit(member));
}

/// The sets of keys that are all here, looked up as reads are.
pub(super) fn here<'s, 'k>(
    ctx: &'s mut Ctx<'_>,
    keys: impl Iterator<Item = &'k [u8]> + Clone,
) -> Result<Vec<Option<SetRef<'s>>>, WrongKind> {
    for name in keys.clone() {
        let key = ctx.key(name);
        lookup::set(ctx, key)?;
    }
    let (db, store) = (ctx.db(), &*ctx.store);
    keys.map(|name| store.set_of(db, store.key(name))).collect()
}

/// A copy of the set of a key, for a plan.
pub(super) fn copy(ctx: &mut Ctx<'_>, key: Key<'_>) -> Piece {
    match lookup::set(ctx, key) {
        Err(WrongKind) => Piece::WrongKind,
        Ok(_) => {
            let db = ctx.db();
            Piece::Value(ctx.store.copy_out(db, key, ctx.now))
        }
    }
}

/// The sets that a plan has gathered.
pub(super) fn gathered<'a>(
    pieces: &'a [Piece],
    hasher: &'a Hasher,
) -> Result<Vec<Option<SetRef<'a>>>, WrongKind> {
    let set = |piece: &'a Piece| match piece {
        Piece::Value(Some(value)) => value.set(hasher).map(Some),
        Piece::WrongKind => Err(WrongKind),
        Piece::Value(None) | Piece::Nothing | Piece::Exists(_) => Ok(None),
    };
    pieces.iter().map(set).collect()
}
