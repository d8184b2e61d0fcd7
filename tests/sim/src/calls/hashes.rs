//! Hashes: trees of fields, each with its value and perhaps a time at which it goes. Fields whose time has
//! come are taken away before a rule is asked.

use super::{Does, Frame, Outcome, Rule, Stop, bulk, error, integer, ok};
use crate::held::{Field, Held};
use crate::model::Text;
use resp::client::Value;
use std::collections::BTreeMap;

type Fields = BTreeMap<Text, Field>;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "hset", does: Does::Write, apply: |frame| set(frame, false) },
    Rule { name: "hmset", does: Does::Write, apply: |frame| set(frame, true) },
    Rule { name: "hsetnx", does: Does::Write, apply: set_if_missing },
    Rule { name: "hget", does: Does::Read, apply: get },
    Rule { name: "hmget", does: Does::Read, apply: get_each },
    Rule { name: "hgetall", does: Does::ReadPairs, apply: |frame| all(frame, true, true) },
    Rule { name: "hkeys", does: Does::ReadMembers, apply: |frame| all(frame, true, false) },
    Rule { name: "hvals", does: Does::ReadMembers, apply: |frame| all(frame, false, true) },
    Rule { name: "hlen", does: Does::Read, apply: length },
    Rule { name: "hexists", does: Does::Read, apply: has },
    Rule { name: "hstrlen", does: Does::Read, apply: value_length },
    Rule { name: "hdel", does: Does::Write, apply: remove },
    Rule { name: "hincrby", does: Does::Write, apply: increment },
    Rule { name: "hgetdel", does: Does::Write, apply: get_and_remove },
    Rule { name: "hpexpireat", does: Does::Write, apply: expire_at },
    Rule { name: "hpexpiretime", does: Does::Read, apply: expire_time },
    Rule { name: "hpersist", does: Does::Write, apply: persist },
];

impl Frame<'_> {
    fn hash(&self, place: usize) -> Result<Option<&Fields>, Stop> {
        match self.held(place) {
            None => Ok(None),
            Some(Held::Hash(fields)) => Ok(Some(fields)),
            Some(_) => Err(Stop::WrongKind),
        }
    }

    fn field(&self, place: usize, field: &Text) -> Result<Option<&Field>, Stop> {
        Ok(self.hash(place)?.and_then(|fields| fields.get(field)))
    }

    fn change_hash<T>(&mut self, place: usize, change: impl FnOnce(&mut Fields) -> T) -> Result<T, Stop> {
        self.hash(place)?;
        Ok(self.state.change(place, Held::Hash(Fields::new()), |held| match held {
            Held::Hash(fields) => change(fields),
            _ => unreachable!("it was looked at"),
        }))
    }

    /// `FIELDS 2 one other`, to the end.
    fn counted_fields(&self, index: usize) -> Result<Vec<Text>, Stop> {
        if !self.is(index, "FIELDS") {
            return Err(Stop::Declined);
        }
        let (count, fields) = (self.number(index + 1)?, self.texts(index + 2)?);
        if count == fields.len() as i64 { Ok(fields) } else { Err(Stop::Declined) }
    }
}

fn set(frame: &mut Frame<'_>, says_ok: bool) -> Outcome {
    let (place, texts) = (frame.place(0)?, frame.texts(1)?);
    if texts.len() % 2 == 1 {
        return Err(Stop::Declined);
    }
    let fresh = frame.change_hash(place, |fields| {
        let pairs = texts.chunks(2);
        pairs.filter(|pair| fields.insert(pair[0].clone(), (pair[1].clone(), None)).is_none()).count()
    })?;
    Ok(if says_ok { ok() } else { integer(fresh) })
}

fn set_if_missing(frame: &mut Frame<'_>) -> Outcome {
    let (place, field, value) = (frame.place(0)?, frame.text(1)?, frame.text(2)?);
    frame.ends(3)?;
    if frame.field(place, &field)?.is_some() {
        return Ok(integer(0));
    }
    frame.change_hash(place, |fields| fields.insert(field, (value, None)))?;
    Ok(integer(1))
}

fn value_of(field: Option<&Field>) -> Value {
    field.map_or(Value::Null, |(value, _)| bulk(value))
}

fn get(frame: &mut Frame<'_>) -> Outcome {
    let (place, field) = (frame.place(0)?, frame.text(1)?);
    frame.ends(2)?;
    Ok(value_of(frame.field(place, &field)?))
}

fn get_each(frame: &mut Frame<'_>) -> Outcome {
    let (place, fields) = (frame.place(0)?, frame.texts(1)?);
    let values: Result<Vec<Value>, Stop> =
        fields.iter().map(|field| Ok(value_of(frame.field(place, field)?))).collect();
    Ok(Value::Array(values?))
}

fn all(frame: &mut Frame<'_>, names: bool, values: bool) -> Outcome {
    let place = frame.place(0)?;
    frame.ends(1)?;
    let mut answer = Vec::new();
    for (field, (value, _)) in frame.hash(place)?.into_iter().flatten() {
        answer.extend(names.then(|| bulk(field)));
        answer.extend(values.then(|| bulk(value)));
    }
    if !names {
        answer.sort_by(|one, other| super::bytes_of(one).cmp(super::bytes_of(other)));
    }
    Ok(Value::Array(answer))
}

fn length(frame: &mut Frame<'_>) -> Outcome {
    let place = frame.place(0)?;
    frame.ends(1)?;
    Ok(integer(frame.hash(place)?.map_or(0, Fields::len)))
}

fn has(frame: &mut Frame<'_>) -> Outcome {
    let (place, field) = (frame.place(0)?, frame.text(1)?);
    frame.ends(2)?;
    Ok(integer(usize::from(frame.field(place, &field)?.is_some())))
}

fn value_length(frame: &mut Frame<'_>) -> Outcome {
    let (place, field) = (frame.place(0)?, frame.text(1)?);
    frame.ends(2)?;
    Ok(integer(frame.field(place, &field)?.map_or(0, |(value, _)| value.len())))
}

fn remove(frame: &mut Frame<'_>) -> Outcome {
    let (place, names) = (frame.place(0)?, frame.texts(1)?);
    if frame.hash(place)?.is_none() {
        return Ok(integer(0));
    }
    frame.change_hash(place, |fields| {
        integer(names.iter().filter(|name| fields.remove(*name).is_some()).count())
    })
}

fn increment(frame: &mut Frame<'_>) -> Outcome {
    let (place, field, delta) = (frame.place(0)?, frame.text(1)?, frame.number(2)?);
    frame.ends(3)?;
    let before = match frame.field(place, &field)? {
        None => (Some(0), None),
        Some((value, time)) => (resp::parse_i64(value), *time),
    };
    let Some(sum) = before.0.map(|number| number + delta) else {
        return Ok(error("ERR hash value is not an integer"));
    };
    frame.change_hash(place, |fields| fields.insert(field, (Text::from(&sum.to_string()), before.1)))?;
    Ok(Value::Integer(sum))
}

fn get_and_remove(frame: &mut Frame<'_>) -> Outcome {
    let (place, names) = (frame.place(0)?, frame.counted_fields(1)?);
    if frame.hash(place)?.is_none() {
        return Ok(Value::Array(vec![Value::Null; names.len()]));
    }
    frame.change_hash(place, |fields| {
        let taken = names.iter().map(|name| value_of(fields.remove(name).as_ref()));
        Value::Array(taken.collect())
    })
}

fn expire_at(frame: &mut Frame<'_>) -> Outcome {
    let (place, time, now) = (frame.place(0)?, frame.number(1)?, frame.now);
    let condition = ["NX", "XX", "GT", "LT"].into_iter().find(|word| frame.is(2, word));
    let names = frame.counted_fields(2 + usize::from(condition.is_some()))?;
    if frame.hash(place)?.is_none() {
        return Ok(Value::Array(vec![Value::Integer(-2); names.len()]));
    }
    let holds = |before: Option<i64>| match condition {
        Some("NX") => before.is_none(),
        Some("XX") => before.is_some(),
        Some("GT") => before.is_some_and(|before| time > before),
        Some("LT") => before.is_none_or(|before| time < before),
        _ => true,
    };
    frame.change_hash(place, |fields| {
        let answers = names.iter().map(|name| match fields.get_mut(name) {
            None => -2,
            Some((_, before)) if !holds(*before) => 0,
            Some(_) if time <= now => {
                fields.remove(name);
                2
            }
            Some((_, before)) => {
                *before = Some(time);
                1
            }
        });
        Value::Array(answers.map(Value::Integer).collect())
    })
}

fn expire_time(frame: &mut Frame<'_>) -> Outcome {
    let (place, names) = (frame.place(0)?, frame.counted_fields(1)?);
    let answer = |name: &Text| {
        let field = frame.field(place, name)?;
        Ok(Value::Integer(field.map_or(-2, |(_, time)| time.unwrap_or(-1))))
    };
    let answers: Result<Vec<Value>, Stop> = names.iter().map(answer).collect();
    Ok(Value::Array(answers?))
}

fn persist(frame: &mut Frame<'_>) -> Outcome {
    let (place, names) = (frame.place(0)?, frame.counted_fields(1)?);
    if frame.hash(place)?.is_none() {
        return Ok(Value::Array(vec![Value::Integer(-2); names.len()]));
    }
    frame.change_hash(place, |fields| {
        let answers = names.iter().map(|name| match fields.get_mut(name) {
            None => -2,
            Some((_, time)) => time.take().map_or(-1, |_| 1),
        });
        Value::Array(answers.map(Value::Integer).collect())
    })
}
