//! Lists: vectors. It knows nothing of how they are kept elsewhere.

use super::{Does, Frame, Outcome, Rule, Stop, bulk, bulks, error, integer, named, ok};
use crate::held::{Held, places};
use crate::model::Text;
use resp::client::Value;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "lpush", does: Does::Write, apply: |frame| push(frame, true, false) },
    Rule { name: "rpush", does: Does::Write, apply: |frame| push(frame, false, false) },
    Rule { name: "lpushx", does: Does::Write, apply: |frame| push(frame, true, true) },
    Rule { name: "rpushx", does: Does::Write, apply: |frame| push(frame, false, true) },
    Rule { name: "lpop", does: Does::Write, apply: |frame| pop(frame, true) },
    Rule { name: "rpop", does: Does::Write, apply: |frame| pop(frame, false) },
    Rule { name: "llen", does: Does::Read, apply: length },
    Rule { name: "lrange", does: Does::Read, apply: range },
    Rule { name: "lindex", does: Does::Read, apply: index },
    Rule { name: "lset", does: Does::Write, apply: set },
    Rule { name: "linsert", does: Does::Write, apply: insert },
    Rule { name: "lrem", does: Does::Write, apply: remove },
    Rule { name: "ltrim", does: Does::Write, apply: trim },
    Rule { name: "lpos", does: Does::Read, apply: position },
    Rule { name: "lmove", does: Does::Write, apply: move_one },
    Rule { name: "rpoplpush", does: Does::Write, apply: rpoplpush },
    Rule { name: "lmpop", does: Does::TakeNamed, apply: pop_from_first },
];

impl Frame<'_> {
    fn list(&self, place: usize) -> Result<&[Text], Stop> {
        match self.held(place) {
            None => Ok(&[]),
            Some(Held::List(items)) => Ok(items),
            Some(_) => Err(Stop::WrongKind),
        }
    }

    /// Changes a list, which may be new.
    fn change_list<T>(&mut self, place: usize, change: impl FnOnce(&mut Vec<Text>) -> T) -> Result<T, Stop> {
        self.list(place)?;
        Ok(self.state.change(place, Held::List(Vec::new()), |held| match held {
            Held::List(items) => change(items),
            _ => unreachable!("it was looked at"),
        }))
    }
}

fn take(items: &mut Vec<Text>, left: bool) -> Text {
    if left { items.remove(0) } else { items.pop().expect("the caller has looked") }
}

fn put(items: &mut Vec<Text>, left: bool, item: Text) {
    if left { items.insert(0, item) } else { items.push(item) }
}

fn push(frame: &mut Frame<'_>, left: bool, only_if_there: bool) -> Outcome {
    let (place, items) = (frame.place(0)?, frame.texts(1)?);
    if frame.list(place)?.is_empty() && only_if_there {
        return Ok(integer(0));
    }
    frame.change_list(place, |list| {
        items.into_iter().for_each(|item| put(list, left, item));
        integer(list.len())
    })
}

fn pop(frame: &mut Frame<'_>, left: bool) -> Outcome {
    let place = frame.place(0)?;
    let count = if frame.count() > 1 { Some(frame.number(1)?) } else { None };
    if frame.count() > 2 || count.is_some_and(|count| count < 0) {
        return Err(Stop::Declined);
    }
    let len = frame.list(place)?.len();
    if len == 0 {
        return Ok(Value::Null);
    }
    let Some(count) = count else { return Ok(bulk(&frame.change_list(place, |list| take(list, left))?)) };
    let count = (count as usize).min(len);
    let taken = frame.change_list(place, |list| (0..count).map(|_| take(list, left)).collect::<Vec<_>>())?;
    Ok(bulks(&taken))
}

fn length(frame: &mut Frame<'_>) -> Outcome {
    let place = frame.place(0)?;
    frame.ends(1)?;
    Ok(integer(frame.list(place)?.len()))
}

fn range(frame: &mut Frame<'_>) -> Outcome {
    let (place, start, stop) = (frame.place(0)?, frame.number(1)?, frame.number(2)?);
    frame.ends(3)?;
    let list = frame.list(place)?;
    Ok(bulks(&list[places(start, stop, list.len())]))
}

/// Where in so many items an index points to.
fn at(index: i64, len: usize) -> Option<usize> {
    let index = if index < 0 { index + len as i64 } else { index };
    usize::try_from(index).ok().filter(|index| *index < len)
}

fn index(frame: &mut Frame<'_>) -> Outcome {
    let (place, index) = (frame.place(0)?, frame.number(1)?);
    frame.ends(2)?;
    let list = frame.list(place)?;
    Ok(at(index, list.len()).map_or(Value::Null, |at| bulk(&list[at])))
}

fn set(frame: &mut Frame<'_>) -> Outcome {
    let (place, index, item) = (frame.place(0)?, frame.number(1)?, frame.text(2)?);
    frame.ends(3)?;
    let len = frame.list(place)?.len();
    if len == 0 {
        return Ok(error("ERR no such key"));
    }
    let Some(at) = at(index, len) else { return Ok(error("ERR index out of range")) };
    frame.change_list(place, |list| list[at] = item)?;
    Ok(ok())
}

fn insert(frame: &mut Frame<'_>) -> Outcome {
    let before = frame.either(1, "BEFORE", "AFTER")?;
    let (place, pivot, item) = (frame.place(0)?, frame.text(2)?, frame.text(3)?);
    frame.ends(4)?;
    let list = frame.list(place)?;
    if list.is_empty() {
        return Ok(integer(0));
    }
    let Some(at) = list.iter().position(|other| *other == pivot) else { return Ok(Value::Integer(-1)) };
    frame.change_list(place, |list| {
        list.insert(at + usize::from(!before), item);
        integer(list.len())
    })
}

fn remove(frame: &mut Frame<'_>) -> Outcome {
    let (place, count, item) = (frame.place(0)?, frame.number(1)?, frame.text(2)?);
    frame.ends(3)?;
    if frame.list(place)?.is_empty() {
        return Ok(integer(0));
    }
    frame.change_list(place, |list| {
        let before = list.len();
        let mut left = if count == 0 { usize::MAX } else { count.unsigned_abs() as usize };
        if count < 0 {
            list.reverse();
        }
        list.retain(|other| {
            let goes = *other == item && left > 0;
            left -= usize::from(goes);
            !goes
        });
        if count < 0 {
            list.reverse();
        }
        integer(before - list.len())
    })
}

fn trim(frame: &mut Frame<'_>) -> Outcome {
    let (place, start, stop) = (frame.place(0)?, frame.number(1)?, frame.number(2)?);
    frame.ends(3)?;
    if frame.list(place)?.is_empty() {
        return Ok(ok());
    }
    frame.change_list(place, |list| *list = list[places(start, stop, list.len())].to_vec())?;
    Ok(ok())
}

fn position(frame: &mut Frame<'_>) -> Outcome {
    let (place, item) = (frame.place(0)?, frame.text(1)?);
    frame.ends(2)?;
    let at = frame.list(place)?.iter().position(|other| *other == item);
    Ok(at.map_or(Value::Null, integer))
}

fn between(frame: &mut Frame<'_>, from_left: bool, to_left: bool) -> Outcome {
    let (from, to) = (frame.place(0)?, frame.place(1)?);
    if frame.list(from)?.is_empty() {
        return Ok(Value::Null);
    }
    frame.list(to)?;
    // From a list to itself it must not be gone for the moment between: its expiry stays.
    if from == to {
        let item = frame.change_list(from, |list| {
            let item = take(list, from_left);
            put(list, to_left, item.clone());
            item
        })?;
        return Ok(bulk(&item));
    }
    let item = frame.change_list(from, |list| take(list, from_left))?;
    let answer = bulk(&item);
    frame.change_list(to, |list| put(list, to_left, item))?;
    Ok(answer)
}

fn move_one(frame: &mut Frame<'_>) -> Outcome {
    let (from_left, to_left) = (frame.either(2, "LEFT", "RIGHT")?, frame.either(3, "LEFT", "RIGHT")?);
    frame.ends(4)?;
    between(frame, from_left, to_left)
}

fn rpoplpush(frame: &mut Frame<'_>) -> Outcome {
    frame.ends(2)?;
    between(frame, false, true)
}

fn pop_from_first(frame: &mut Frame<'_>) -> Outcome {
    let places = frame.counted_places(0)?;
    let next = 1 + places.len();
    let left = frame.either(next, "LEFT", "RIGHT")?;
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
    for place in &places {
        let len = frame.list(*place)?.len();
        if len == 0 {
            continue;
        }
        let count = (count as usize).min(len);
        let key = place - frame.base;
        let taken =
            frame.change_list(*place, |list| (0..count).map(|_| take(list, left)).collect::<Vec<_>>())?;
        return Ok(named(key, taken.iter().map(bulk)));
    }
    Ok(Value::Null)
}
