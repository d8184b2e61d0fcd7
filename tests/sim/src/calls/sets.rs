//! Sets: trees of members, sorted, so that what comes in any order can be compared.

use super::{Does, Frame, Outcome, Rule, Stop, bulk, bulks, integer};
use crate::held::Held;
use crate::model::Text;
use resp::client::Value;
use std::collections::BTreeSet;

type Members = BTreeSet<Text>;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "sadd", does: Does::Write, apply: add },
    Rule { name: "srem", does: Does::Write, apply: remove },
    Rule { name: "scard", does: Does::Read, apply: count },
    Rule { name: "sismember", does: Does::Read, apply: has },
    Rule { name: "smismember", does: Does::Read, apply: has_each },
    Rule { name: "smembers", does: Does::ReadMembers, apply: members },
    Rule { name: "smove", does: Does::Write, apply: move_one },
    Rule { name: "spop", does: Does::TakeOne, apply: pop },
    Rule { name: "srandmember", does: Does::ReadOne, apply: random },
    Rule { name: "sinter", does: Does::ReadMembers, apply: |frame| answer(frame, Combine::Inter) },
    Rule { name: "sunion", does: Does::ReadMembers, apply: |frame| answer(frame, Combine::Union) },
    Rule { name: "sdiff", does: Does::ReadMembers, apply: |frame| answer(frame, Combine::Diff) },
    Rule { name: "sinterstore", does: Does::Write, apply: |frame| store(frame, Combine::Inter) },
    Rule { name: "sunionstore", does: Does::Write, apply: |frame| store(frame, Combine::Union) },
    Rule { name: "sdiffstore", does: Does::Write, apply: |frame| store(frame, Combine::Diff) },
    Rule { name: "sintercard", does: Does::Read, apply: inter_count },
];

/// How several collections become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Combine {
    Inter,
    Union,
    Diff,
}

impl Frame<'_> {
    fn set(&self, place: usize) -> Result<Members, Stop> {
        match self.held(place) {
            None => Ok(Members::new()),
            Some(Held::Set(members)) => Ok(members.clone()),
            Some(_) => Err(Stop::WrongKind),
        }
    }

    fn change_set<T>(&mut self, place: usize, change: impl FnOnce(&mut Members) -> T) -> Result<T, Stop> {
        self.set(place)?;
        Ok(self.state.change(place, Held::Set(Members::new()), |held| match held {
            Held::Set(members) => change(members),
            _ => unreachable!("it was looked at"),
        }))
    }
}

fn add(frame: &mut Frame<'_>) -> Outcome {
    let (place, texts) = (frame.place(0)?, frame.texts(1)?);
    frame.change_set(place, |set| integer(texts.into_iter().filter(|text| set.insert(text.clone())).count()))
}

fn remove(frame: &mut Frame<'_>) -> Outcome {
    let (place, texts) = (frame.place(0)?, frame.texts(1)?);
    frame.change_set(place, |set| integer(texts.iter().filter(|text| set.remove(*text)).count()))
}

fn count(frame: &mut Frame<'_>) -> Outcome {
    let place = frame.place(0)?;
    frame.ends(1)?;
    Ok(integer(frame.set(place)?.len()))
}

fn has(frame: &mut Frame<'_>) -> Outcome {
    let (place, text) = (frame.place(0)?, frame.text(1)?);
    frame.ends(2)?;
    Ok(integer(usize::from(frame.set(place)?.contains(&text))))
}

fn has_each(frame: &mut Frame<'_>) -> Outcome {
    let (place, texts) = (frame.place(0)?, frame.texts(1)?);
    let set = frame.set(place)?;
    Ok(Value::Array(texts.iter().map(|text| integer(usize::from(set.contains(text)))).collect()))
}

fn members(frame: &mut Frame<'_>) -> Outcome {
    let place = frame.place(0)?;
    frame.ends(1)?;
    Ok(bulks(&frame.set(place)?))
}

fn move_one(frame: &mut Frame<'_>) -> Outcome {
    let (from, to, text) = (frame.place(0)?, frame.place(1)?, frame.text(2)?);
    frame.ends(3)?;
    if frame.held(from).is_none() {
        return Ok(integer(0));
    }
    let there = frame.set(from)?.contains(&text);
    frame.set(to)?;
    if there && from != to {
        frame.change_set(from, |set| set.remove(&text))?;
        frame.change_set(to, |set| set.insert(text))?;
    }
    Ok(integer(usize::from(there)))
}

/// The member that the server chose, if it could.
fn chosen(frame: &Frame<'_>, place: usize) -> Result<Option<Text>, Stop> {
    let set = frame.set(place)?;
    let seen = match frame.seen {
        Some(Value::Bulk(seen)) => set.get(&Text::from(seen)),
        _ => None,
    };
    Ok(seen.or_else(|| set.first()).cloned())
}

fn pop(frame: &mut Frame<'_>) -> Outcome {
    let place = frame.place(0)?;
    frame.ends(1)?;
    let Some(member) = chosen(frame, place)? else { return Ok(Value::Null) };
    frame.change_set(place, |set| set.remove(&member))?;
    Ok(bulk(&member))
}

fn random(frame: &mut Frame<'_>) -> Outcome {
    let place = frame.place(0)?;
    frame.ends(1)?;
    Ok(chosen(frame, place)?.map_or(Value::Null, |member| bulk(&member)))
}

fn combined(frame: &Frame<'_>, places: &[usize], how: Combine) -> Result<Members, Stop> {
    let sets: Result<Vec<Members>, Stop> = places.iter().map(|place| frame.set(*place)).collect();
    let combine = |one: Members, other: Members| match how {
        Combine::Inter => &one & &other,
        Combine::Union => &one | &other,
        Combine::Diff => &one - &other,
    };
    Ok(sets?.into_iter().reduce(combine).unwrap_or_default())
}

fn answer(frame: &mut Frame<'_>, how: Combine) -> Outcome {
    let places = frame.places(0)?;
    frame.ends(places.len())?;
    Ok(bulks(&combined(frame, &places, how)?))
}

fn store(frame: &mut Frame<'_>, how: Combine) -> Outcome {
    let (to, places) = (frame.place(0)?, frame.places(1)?);
    frame.ends(1 + places.len())?;
    let set = combined(frame, &places, how)?;
    let count = integer(set.len());
    frame.store(to, Held::Set(set));
    Ok(count)
}

fn inter_count(frame: &mut Frame<'_>) -> Outcome {
    let places = frame.counted_places(0)?;
    let next = 1 + places.len();
    let limit = if frame.is(next, "LIMIT") {
        frame.ends(next + 2)?;
        frame.number(next + 1)?
    } else {
        frame.ends(next)?;
        0
    };
    if limit < 0 {
        return Err(Stop::Declined);
    }
    let count = combined(frame, &places, Combine::Inter)?.len();
    Ok(integer(if limit == 0 { count } else { count.min(limit as usize) }))
}
