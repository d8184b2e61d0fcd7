//! Sorted sets: trees of members with whole scores, put in order when somebody asks for it.

use super::sets::Combine;
use super::{Does, Frame, Outcome, Rule, Stop, bulk, integer, named, number_text};
use crate::held::{Held, in_order, places};
use crate::model::Text;
use resp::client::Value;
use std::collections::BTreeMap;

type Members = BTreeMap<Text, i64>;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "zadd", does: Does::Write, apply: add },
    Rule { name: "zincrby", does: Does::Write, apply: increment },
    Rule { name: "zrem", does: Does::Write, apply: remove },
    Rule { name: "zcard", does: Does::Read, apply: length },
    Rule { name: "zscore", does: Does::Read, apply: score },
    Rule { name: "zmscore", does: Does::Read, apply: scores },
    Rule { name: "zrank", does: Does::Read, apply: |frame| rank(frame, false) },
    Rule { name: "zrevrank", does: Does::Read, apply: |frame| rank(frame, true) },
    Rule { name: "zcount", does: Does::Read, apply: count },
    Rule { name: "zrange", does: Does::Read, apply: range },
    Rule { name: "zrangestore", does: Does::Write, apply: range_store },
    Rule { name: "zremrangebyrank", does: Does::Write, apply: |frame| remove_range(frame, false) },
    Rule { name: "zremrangebyscore", does: Does::Write, apply: |frame| remove_range(frame, true) },
    Rule { name: "zpopmin", does: Does::Write, apply: |frame| pop(frame, false) },
    Rule { name: "zpopmax", does: Does::Write, apply: |frame| pop(frame, true) },
    Rule { name: "zmpop", does: Does::TakeNamed, apply: pop_from_first },
    Rule { name: "zunion", does: Does::Read, apply: |frame| answer(frame, Combine::Union) },
    Rule { name: "zinter", does: Does::Read, apply: |frame| answer(frame, Combine::Inter) },
    Rule { name: "zdiff", does: Does::Read, apply: |frame| answer(frame, Combine::Diff) },
    Rule { name: "zunionstore", does: Does::Write, apply: |frame| store(frame, Combine::Union) },
    Rule { name: "zinterstore", does: Does::Write, apply: |frame| store(frame, Combine::Inter) },
    Rule { name: "zdiffstore", does: Does::Write, apply: |frame| store(frame, Combine::Diff) },
    Rule { name: "zintercard", does: Does::Read, apply: inter_count },
];

impl Frame<'_> {
    fn sorted(&self, place: usize) -> Result<Members, Stop> {
        match self.held(place) {
            None => Ok(Members::new()),
            Some(Held::Sorted(members)) => Ok(members.clone()),
            Some(_) => Err(Stop::WrongKind),
        }
    }

    /// A sorted set, or a set as one.
    fn sorted_or_set(&self, place: usize) -> Result<Members, Stop> {
        match self.held(place) {
            Some(Held::Set(members)) => Ok(members.iter().map(|member| (member.clone(), 1)).collect()),
            _ => self.sorted(place),
        }
    }

    fn change_sorted<T>(&mut self, place: usize, change: impl FnOnce(&mut Members) -> T) -> Result<T, Stop> {
        self.sorted(place)?;
        Ok(self.state.change(place, Held::Sorted(Members::new()), |held| match held {
            Held::Sorted(members) => change(members),
            _ => unreachable!("it was looked at"),
        }))
    }
}

fn entries(entries: &[(i64, Text)], with_scores: bool) -> Value {
    let mut values = Vec::new();
    for (score, member) in entries {
        values.push(bulk(member));
        values.extend(with_scores.then(|| number_text(*score)));
    }
    Value::Array(values)
}

#[derive(Default)]
struct AddOptions {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
    ch: bool,
    incr: bool,
}

fn add(frame: &mut Frame<'_>) -> Outcome {
    let place = frame.place(0)?;
    let mut options = AddOptions::default();
    let mut next = 1;
    loop {
        let words = [("NX", 0), ("XX", 1), ("GT", 2), ("LT", 3), ("CH", 4), ("INCR", 5)];
        let Some((_, which)) = words.into_iter().find(|(word, _)| frame.is(next, word)) else { break };
        let AddOptions { nx, xx, gt, lt, ch, incr } = &mut options;
        *[nx, xx, gt, lt, ch, incr][which] = true;
        next += 1;
    }
    let AddOptions { nx, xx, gt, lt, ch, incr } = options;
    let rest = frame.count().saturating_sub(next);
    if rest == 0 || rest % 2 == 1 || nx && (xx || gt || lt) || gt && lt || incr && rest > 2 {
        return Err(Stop::Declined);
    }
    let pairs: Result<Vec<(i64, Text)>, Stop> = (0..rest / 2)
        .map(|pair| Ok((frame.number(next + 2 * pair)?, frame.text(next + 2 * pair + 1)?)))
        .collect();
    let pairs = pairs?;
    frame.change_sorted(place, |members| {
        let (mut added, mut changed, mut last) = (0, 0, Value::Null);
        for (score, member) in pairs {
            let before = members.get(&member).copied();
            let score = if incr { before.unwrap_or(0) + score } else { score };
            let refused = match before {
                None => xx,
                Some(before) => nx || gt && score <= before || lt && score >= before,
            };
            if refused {
                continue;
            }
            members.insert(member, score);
            added += usize::from(before.is_none());
            changed += usize::from(before.is_some_and(|before| before != score));
            last = number_text(score);
        }
        if incr { last } else { integer(added + if ch { changed } else { 0 }) }
    })
}

fn increment(frame: &mut Frame<'_>) -> Outcome {
    let (place, delta, member) = (frame.place(0)?, frame.number(1)?, frame.text(2)?);
    frame.ends(3)?;
    frame.change_sorted(place, |members| {
        let score = members.entry(member).or_insert(0);
        *score += delta;
        number_text(*score)
    })
}

fn remove(frame: &mut Frame<'_>) -> Outcome {
    let (place, texts) = (frame.place(0)?, frame.texts(1)?);
    frame.change_sorted(place, |members| {
        integer(texts.iter().filter(|text| members.remove(*text).is_some()).count())
    })
}

fn length(frame: &mut Frame<'_>) -> Outcome {
    let place = frame.place(0)?;
    frame.ends(1)?;
    Ok(integer(frame.sorted(place)?.len()))
}

fn score_of(members: &Members, member: &Text) -> Value {
    members.get(member).map_or(Value::Null, |score| number_text(*score))
}

fn score(frame: &mut Frame<'_>) -> Outcome {
    let (place, member) = (frame.place(0)?, frame.text(1)?);
    frame.ends(2)?;
    Ok(score_of(&frame.sorted(place)?, &member))
}

fn scores(frame: &mut Frame<'_>) -> Outcome {
    let (place, texts) = (frame.place(0)?, frame.texts(1)?);
    let members = frame.sorted(place)?;
    Ok(Value::Array(texts.iter().map(|text| score_of(&members, text)).collect()))
}

fn rank(frame: &mut Frame<'_>, from_end: bool) -> Outcome {
    let (place, member) = (frame.place(0)?, frame.text(1)?);
    frame.ends(2)?;
    let mut order = in_order(&frame.sorted(place)?);
    if from_end {
        order.reverse();
    }
    Ok(order.iter().position(|(_, other)| *other == member).map_or(Value::Null, integer))
}

fn count(frame: &mut Frame<'_>) -> Outcome {
    let (place, low, high) = (frame.place(0)?, frame.number(1)?, frame.number(2)?);
    frame.ends(3)?;
    let members = frame.sorted(place)?;
    Ok(integer(members.values().filter(|score| (low..=high).contains(score)).count()))
}

/// What ZRANGE's words choose, and whether scores are wanted.
fn chosen(frame: &Frame<'_>, key: usize) -> Result<(Vec<(i64, Text)>, bool), Stop> {
    let (place, first, second) = (frame.place(key)?, frame.number(key + 1)?, frame.number(key + 2)?);
    let (mut by_score, mut reversed, mut with_scores) = (false, false, false);
    for index in key + 3..frame.count() {
        match () {
            () if frame.is(index, "BYSCORE") => by_score = true,
            () if frame.is(index, "REV") => reversed = true,
            () if frame.is(index, "WITHSCORES") => with_scores = true,
            () => return Err(Stop::Declined),
        }
    }
    let mut order = in_order(&frame.sorted(place)?);
    if reversed {
        order.reverse();
    }
    if by_score {
        let (low, high) = if reversed { (second, first) } else { (first, second) };
        order.retain(|(score, _)| (low..=high).contains(score));
    } else {
        order = order[places(first, second, order.len())].to_vec();
    }
    Ok((order, with_scores))
}

fn range(frame: &mut Frame<'_>) -> Outcome {
    let (order, with_scores) = chosen(frame, 0)?;
    Ok(entries(&order, with_scores))
}

fn range_store(frame: &mut Frame<'_>) -> Outcome {
    let to = frame.place(0)?;
    let (order, with_scores) = chosen(frame, 1)?;
    if with_scores {
        return Err(Stop::Declined);
    }
    let count = integer(order.len());
    frame.store(to, Held::Sorted(order.into_iter().map(|(score, member)| (member, score)).collect()));
    Ok(count)
}

fn remove_range(frame: &mut Frame<'_>, by_score: bool) -> Outcome {
    let (place, first, second) = (frame.place(0)?, frame.number(1)?, frame.number(2)?);
    frame.ends(3)?;
    let mut order = in_order(&frame.sorted(place)?);
    if by_score {
        order.retain(|(score, _)| (first..=second).contains(score));
    } else {
        order = order[places(first, second, order.len())].to_vec();
    }
    frame.change_sorted(place, |members| members.retain(|member, _| !holds(&order, member)))?;
    Ok(integer(order.len()))
}

fn holds(order: &[(i64, Text)], member: &Text) -> bool {
    order.iter().any(|(_, other)| other == member)
}

/// Takes so many from an end.
fn take(frame: &mut Frame<'_>, place: usize, highest: bool, count: usize) -> Result<Vec<(i64, Text)>, Stop> {
    let mut order = in_order(&frame.sorted(place)?);
    if highest {
        order.reverse();
    }
    order.truncate(count);
    frame.change_sorted(place, |members| members.retain(|member, _| !holds(&order, member)))?;
    Ok(order)
}

fn pop(frame: &mut Frame<'_>, highest: bool) -> Outcome {
    let place = frame.place(0)?;
    let count = if frame.count() > 1 { frame.number(1)? } else { 1 };
    if frame.count() > 2 || count < 0 {
        return Err(Stop::Declined);
    }
    Ok(entries(&take(frame, place, highest, count as usize)?, true))
}

fn pop_from_first(frame: &mut Frame<'_>) -> Outcome {
    let keys = frame.counted_places(0)?;
    let next = 1 + keys.len();
    let highest = frame.either(next, "MAX", "MIN")?;
    let count = if frame.is(next + 1, "COUNT") {
        frame.ends(next + 3)?;
        frame.number(next + 2)?
    } else {
        frame.ends(next + 1)?;
        1
    };
    if count <= 0 {
        return Err(Stop::Declined);
    }
    for place in keys {
        let key = place - frame.base;
        let taken = take(frame, place, highest, count as usize)?;
        if !taken.is_empty() {
            let pairs = taken.iter().flat_map(|(score, member)| [bulk(member), number_text(*score)]);
            return Ok(named(key, pairs));
        }
    }
    Ok(Value::Null)
}

/// What becomes of several, from the word on that counts them, and whether scores are wanted.
fn combined(frame: &Frame<'_>, counted: usize, how: Combine) -> Result<(Members, bool), Stop> {
    let keys = frame.counted_places(counted)?;
    let mut next = counted + 1 + keys.len();
    let mut weights = vec![1; keys.len()];
    let mut fold: fn(i64, i64) -> i64 = |one, other| one + other;
    let mut with_scores = false;
    while next < frame.count() {
        if frame.is(next, "WEIGHTS") && how != Combine::Diff {
            for (place, weight) in weights.iter_mut().enumerate() {
                // Below zero they would make a zero of theirs that has a sign.
                *weight = u32::try_from(frame.number(next + 1 + place)?).map_err(|_| Stop::Declined)?.into();
            }
            next += 1 + keys.len();
        } else if frame.is(next, "AGGREGATE") && how != Combine::Diff {
            fold = match () {
                () if frame.is(next + 1, "SUM") => |one, other| one + other,
                () if frame.is(next + 1, "MIN") => i64::min,
                () if frame.is(next + 1, "MAX") => i64::max,
                () => return Err(Stop::Declined),
            };
            next += 2;
        } else if frame.is(next, "WITHSCORES") {
            with_scores = true;
            next += 1;
        } else {
            return Err(Stop::Declined);
        }
    }
    let mut found = Vec::new();
    for (place, weight) in keys.iter().zip(weights) {
        let mut members = frame.sorted_or_set(*place)?;
        members.values_mut().for_each(|score| *score *= weight);
        found.push(members);
    }
    let combine = |mut one: Members, other: Members| {
        match how {
            Combine::Union => {
                for (member, score) in other {
                    let sum = one.get(&member).map_or(score, |before| fold(*before, score));
                    one.insert(member, sum);
                }
            }
            Combine::Inter => one.retain(|member, score| match other.get(member) {
                Some(theirs) => {
                    *score = fold(*score, *theirs);
                    true
                }
                None => false,
            }),
            Combine::Diff => one.retain(|member, _| !other.contains_key(member)),
        }
        one
    };
    Ok((found.into_iter().reduce(combine).unwrap_or_default(), with_scores))
}

fn answer(frame: &mut Frame<'_>, how: Combine) -> Outcome {
    let (members, with_scores) = combined(frame, 0, how)?;
    Ok(entries(&in_order(&members), with_scores))
}

fn store(frame: &mut Frame<'_>, how: Combine) -> Outcome {
    let to = frame.place(0)?;
    let (members, with_scores) = combined(frame, 1, how)?;
    if with_scores {
        return Err(Stop::Declined);
    }
    let count = integer(members.len());
    frame.store(to, Held::Sorted(members));
    Ok(count)
}

fn inter_count(frame: &mut Frame<'_>) -> Outcome {
    let keys = frame.counted_places(0)?;
    let next = 1 + keys.len();
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
    let mut found = Vec::new();
    for place in keys {
        found.push(frame.sorted_or_set(place)?);
    }
    let all = |member: &&Text| found.iter().all(|members| members.contains_key(*member));
    let count = found[0].keys().filter(all).count();
    Ok(integer(if limit == 0 { count } else { count.min(limit as usize) }))
}
