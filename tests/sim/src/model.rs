//! What strings and keys do, one command after the other, on a handful of keys: the sequential model
//! that a history is held against. It knows nothing of shards, and its time is an argument; what commands
//! on collections do is told elsewhere.

use crate::calls::Call;
use crate::held::Held;
use resp::client::Value;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

/// Databases of the model.
pub(crate) const DATABASES: usize = 2;

/// A value, cheap to copy and to hash.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Text {
    bytes: Rc<[u8]>,
    digest: u64,
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.digest);
    }
}

impl<T: AsRef<[u8]> + ?Sized> From<&T> for Text {
    fn from(text: &T) -> Text {
        let bytes: Rc<[u8]> = text.as_ref().into();
        let mix = |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        // FNV-1a.
        let digest = bytes.iter().fold(0xCBF2_9CE4_8422_2325, mix);
        Text { bytes, digest }
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", crate::request::show(&[&self.bytes]))
    }
}

/// A command on keys by number.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Get(usize),
    Strlen(usize),
    GetSet(usize, Text),
    GetDel(usize),
    Set {
        key: usize,
        text: Text,
        only_if: Option<bool>,
        get: bool,
        expiry: SetExpiry,
    },
    Append(usize, Text),
    Incr(usize, i64),
    Delete(Vec<usize>),
    /// EXISTS, TOUCH.
    Count(Vec<usize>),
    MGet(Vec<usize>),
    MSet(Vec<(usize, Text)>),
    MSetNx(Vec<(usize, Text)>),
    Rename {
        from: usize,
        to: usize,
        only_if_free: bool,
    },
    Copy {
        from: usize,
        to: usize,
        db: usize,
        replace: bool,
    },
    Move {
        key: usize,
        db: usize,
    },
    ExpireAt(usize, i64),
    Persist(usize),
    ExpireTime(usize),
    FlushDb,
    FlushAll,
    SwapDb,
    /// A command on collections.
    Call(Call),
    /// All of them at one moment, or none where a watched key has changed.
    Exec {
        acts: Vec<Act>,
        watches: bool,
    },
}

impl Act {
    /// Times that it sets.
    pub(crate) fn times(&self) -> Vec<i64> {
        match self {
            Act::ExpireAt(_, time) | Act::Set { expiry: SetExpiry::At(time), .. } => vec![*time],
            Act::Exec { acts, .. } => acts.iter().flat_map(Act::times).collect(),
            Act::Call(call) => call.time().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// A server's answer as the model words it.
    pub(crate) fn plain(&self, value: Value, names: &[String]) -> Value {
        match (self, value) {
            (Act::Call(call), value) => call.plain(value, names),
            (Act::Exec { acts, .. }, Value::Array(values)) => {
                let each = acts.iter().zip(values);
                Value::Array(each.map(|(act, value)| act.plain(value, names)).collect())
            }
            (_, value) => value,
        }
    }

    /// A command that was answered like that has changed nothing, whenever it ran.
    pub(crate) fn is_idle(&self, reply: &Value) -> bool {
        match self {
            Act::Get(_) | Act::Strlen(_) | Act::Count(_) | Act::MGet(_) | Act::ExpireTime(_) => true,
            Act::GetDel(_) => *reply == Value::Null,
            Act::Set { get, .. } => !get && *reply == Value::Null,
            Act::GetSet(..) | Act::Append(..) | Act::MSet(_) => false,
            Act::FlushDb | Act::FlushAll | Act::SwapDb => false,
            Act::Call(call) => call.reads() || matches!(reply, Value::Null | Value::Error(_)),
            Act::Exec { acts, .. } => match reply {
                Value::Array(replies) => acts.iter().zip(replies).all(|(act, reply)| act.is_idle(reply)),
                _ => true,
            },
            _ => {
                *reply == Value::Integer(0) && !matches!(self, Act::Incr(..))
                    || matches!(reply, Value::Error(_))
            }
        }
    }
}

/// What SET does about the time to live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SetExpiry {
    None,
    Keep,
    At(i64),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Entry {
    held: Rc<Held>,
    expiry: Option<i64>,
}

/// The keyspace: a value or none for each key in each database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    keys: usize,
    entries: Vec<Option<Entry>>,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.entries.hash(hasher);
    }
}

impl State {
    pub(crate) fn new(keys: usize) -> State {
        State { keys, entries: vec![None; keys * DATABASES] }
    }

    /// Places (key and database) that a command looks at.
    pub(crate) fn touched(&self, act: &Act, db: usize) -> Vec<usize> {
        let at = |key: &usize| db * self.keys + key;
        match act {
            Act::Get(key)
            | Act::Strlen(key)
            | Act::GetSet(key, _)
            | Act::GetDel(key)
            | Act::Set { key, .. }
            | Act::Append(key, _)
            | Act::Incr(key, _)
            | Act::ExpireAt(key, _)
            | Act::Persist(key)
            | Act::ExpireTime(key) => vec![at(key)],
            Act::Delete(keys) | Act::Count(keys) | Act::MGet(keys) => keys.iter().map(at).collect(),
            Act::MSet(_) | Act::FlushDb | Act::FlushAll | Act::SwapDb => Vec::new(),
            Act::MSetNx(pairs) => pairs.iter().map(|(key, _)| at(key)).collect(),
            Act::Rename { from, to, .. } => vec![at(from), at(to)],
            Act::Copy { from, to, db: other, .. } => vec![at(from), other * self.keys + to],
            Act::Move { key, db: other } => vec![at(key), other * self.keys + key],
            Act::Call(call) => call.keys().map(|key| at(&key)).collect(),
            // What one of them moves, another may look at.
            Act::Exec { .. } => (0..self.entries.len()).collect(),
        }
    }

    /// The expiry of a place.
    pub(crate) fn expiry(&self, place: usize) -> Option<i64> {
        self.entries[place].as_ref()?.expiry
    }

    /// Its time has come.
    pub(crate) fn expire(&mut self, place: usize) {
        self.entries[place] = None;
    }

    /// What a place holds.
    pub(crate) fn held(&self, place: usize) -> Option<&Held> {
        self.entries[place].as_ref().map(|entry| &*entry.held)
    }

    /// Puts a value in a place, or nothing if it is empty.
    pub(crate) fn hold(&mut self, place: usize, held: Held) {
        self.entries[place] = (!held.is_gone()).then(|| Entry { held: Rc::new(held), expiry: None });
    }

    /// Changes a value, or a new one; what is empty then goes.
    pub(crate) fn change<T>(&mut self, place: usize, new: Held, change: impl FnOnce(&mut Held) -> T) -> T {
        let fresh = || Entry { held: Rc::new(new), expiry: None };
        let held = Rc::make_mut(&mut self.entries[place].get_or_insert_with(fresh).held);
        let result = change(held);
        if held.is_gone() {
            self.entries[place] = None;
        }
        result
    }

    /// The members of the set that a command takes from, as answers.
    pub(crate) fn members(&self, act: &Act, db: usize) -> Vec<Value> {
        let place = self.touched(act, db).first().copied();
        match place.and_then(|place| self.held(place)) {
            Some(Held::Set(members)) => members.iter().map(|member| Value::Bulk(member.to_vec())).collect(),
            _ => Vec::new(),
        }
    }

    /// Fields of a hash whose time is at `now` or before are gone; the key may stay without any.
    pub(crate) fn pass_time(&mut self, place: usize, now: i64) {
        if let Some(entry) = &mut self.entries[place] {
            Rc::make_mut(&mut entry.held).pass_time(now);
        }
    }

    /// Carries a command out; nothing that it touches has expired. `now` is for times in the past, and
    /// `seen` what was answered, for what the server may choose.
    pub(crate) fn apply(&mut self, act: &Act, db: usize, now: i64, seen: Option<&Value>) -> Value {
        let base = db * self.keys;
        let text_of = match act {
            Act::Get(key)
            | Act::Strlen(key)
            | Act::GetSet(key, _)
            | Act::GetDel(key)
            | Act::Append(key, _)
            | Act::Incr(key, _)
            | Act::Set { key, get: true, .. } => Some(base + key),
            _ => None,
        };
        if text_of.is_some_and(|place| self.held(place).is_some_and(|held| !matches!(held, Held::Text(_)))) {
            return error("WRONGTYPE Operation against a key holding the wrong kind of value");
        }
        match act {
            Act::Call(call) => call.apply(self, base, now, seen).expect("it was understood when it was made"),
            Act::Exec { acts, .. } => {
                let seen = if let Some(Value::Array(seen)) = seen { &seen[..] } else { &[] };
                let each = acts.iter().enumerate();
                Value::Array(each.map(|(place, act)| self.apply(act, db, now, seen.get(place))).collect())
            }
            Act::Get(key) => self.bulk(base + key),
            Act::Strlen(key) => Value::Integer(self.text(base + key).map_or(0, |text| text.len() as i64)),
            Act::GetSet(key, text) => {
                let before = self.bulk(base + key);
                self.put(base + key, text.clone(), None);
                before
            }
            Act::GetDel(key) => {
                let before = self.bulk(base + key);
                self.entries[base + key] = None;
                before
            }
            Act::Set { key, text, only_if, get, expiry } => {
                self.set(base + key, text, *only_if, *get, *expiry, now)
            }
            Act::Append(key, more) => {
                let text = Text::from(&[self.text(base + key).unwrap_or_default(), more].concat());
                let length = text.len() as i64;
                let expiry = self.expiry(base + key);
                self.put(base + key, text, expiry);
                Value::Integer(length)
            }
            Act::Incr(key, delta) => self.increment(base + key, *delta),
            Act::Delete(keys) => {
                let gone = keys.iter().filter(|key| self.entries[base + **key].take().is_some());
                Value::Integer(gone.count() as i64)
            }
            Act::Count(keys) => {
                let there = keys.iter().filter(|key| self.entries[base + **key].is_some());
                Value::Integer(there.count() as i64)
            }
            Act::MGet(keys) => Value::Array(keys.iter().map(|key| self.bulk(base + key)).collect()),
            _ => self.apply_to_several(act, db, now),
        }
    }

    fn apply_to_several(&mut self, act: &Act, db: usize, now: i64) -> Value {
        let base = db * self.keys;
        match act {
            Act::MSet(pairs) => {
                pairs.iter().for_each(|(key, text)| self.put(base + key, text.clone(), None));
                ok()
            }
            Act::MSetNx(pairs) => {
                let free = pairs.iter().all(|(key, _)| self.entries[base + key].is_none());
                if free {
                    pairs.iter().for_each(|(key, text)| self.put(base + key, text.clone(), None));
                }
                Value::Integer(i64::from(free))
            }
            Act::Rename { from, to, only_if_free } => self.rename(base + from, base + to, *only_if_free),
            Act::Copy { from, to, db: other, replace } => {
                let (from, to) = (base + from, other * self.keys + to);
                if from == to {
                    return error("ERR source and destination objects are the same");
                }
                let copied = self.entries[from].is_some() && (*replace || self.entries[to].is_none());
                if copied {
                    self.entries[to] = self.entries[from].clone();
                }
                Value::Integer(i64::from(copied))
            }
            Act::Move { key, db: other } => {
                let (from, to) = (base + key, other * self.keys + key);
                if from == to {
                    return error("ERR source and destination objects are the same");
                }
                let moved = self.entries[from].is_some() && self.entries[to].is_none();
                if moved {
                    self.entries.swap(from, to);
                }
                Value::Integer(i64::from(moved))
            }
            Act::FlushDb => {
                self.entries[base..base + self.keys].fill(None);
                ok()
            }
            Act::FlushAll => {
                self.entries.fill(None);
                ok()
            }
            Act::SwapDb => {
                self.entries.rotate_left(self.keys);
                ok()
            }
            _ => self.apply_to_expiry(act, base, now),
        }
    }

    fn apply_to_expiry(&mut self, act: &Act, base: usize, now: i64) -> Value {
        match act {
            Act::ExpireAt(key, time) => {
                let there = self.entries[base + key].is_some();
                if *time <= now {
                    self.entries[base + key] = None;
                } else if let Some(entry) = &mut self.entries[base + key] {
                    entry.expiry = Some(*time);
                }
                Value::Integer(i64::from(there))
            }
            Act::Persist(key) => {
                let entry = self.entries[base + key].as_mut();
                Value::Integer(i64::from(entry.and_then(|entry| entry.expiry.take()).is_some()))
            }
            Act::ExpireTime(key) => match &self.entries[base + key] {
                None => Value::Integer(-2),
                Some(entry) => Value::Integer(entry.expiry.unwrap_or(-1)),
            },
            other => unreachable!("{other:?} is applied above"),
        }
    }

    fn set(
        &mut self,
        place: usize,
        text: &Text,
        only_if: Option<bool>,
        get: bool,
        expiry: SetExpiry,
        now: i64,
    ) -> Value {
        let before = self.bulk(place);
        let there = self.entries[place].is_some();
        let sets = only_if.is_none_or(|wanted| wanted == there);
        if sets {
            let expiry = match expiry {
                SetExpiry::None => None,
                SetExpiry::Keep => self.expiry(place),
                SetExpiry::At(time) => Some(time),
            };
            self.put(place, text.clone(), expiry);
            if expiry.is_some_and(|time| time <= now) {
                self.expire(place);
            }
        }
        match (get, sets) {
            (true, _) => before,
            (false, true) => ok(),
            (false, false) => Value::Null,
        }
    }

    fn increment(&mut self, place: usize, delta: i64) -> Value {
        let old = self.text(place).map_or(Some(0), resp::parse_i64);
        let Some(sum) = old.and_then(|old| old.checked_add(delta)) else {
            return error("ERR value is not an integer or out of range");
        };
        let expiry = self.expiry(place);
        self.put(place, Text::from(&sum.to_string()), expiry);
        Value::Integer(sum)
    }

    fn rename(&mut self, from: usize, to: usize, only_if_free: bool) -> Value {
        if self.entries[from].is_none() {
            return error("ERR no such key");
        }
        if only_if_free && self.entries[to].is_some() {
            return Value::Integer(0);
        }
        if from != to {
            self.entries[to] = self.entries[from].take();
        }
        if only_if_free { Value::Integer(1) } else { ok() }
    }

    fn put(&mut self, place: usize, text: Text, expiry: Option<i64>) {
        self.entries[place] = Some(Entry { held: Rc::new(Held::Text(text)), expiry });
    }

    fn text(&self, place: usize) -> Option<&[u8]> {
        match self.held(place)? {
            Held::Text(text) => Some(text),
            _ => None,
        }
    }

    fn bulk(&self, place: usize) -> Value {
        self.text(place).map_or(Value::Null, |text| Value::Bulk(text.to_vec()))
    }
}

fn ok() -> Value {
    Value::Simple("OK".into())
}

fn error(text: &str) -> Value {
    Value::Error(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_does_what_the_commands_say() {
        let mut state = State::new(2);
        let text = |text: &str| Text::from(text);
        assert_eq!(
            state.apply(&Act::MSetNx(vec![(0, text("5")), (1, text("x"))]), 0, 0, None),
            Value::Integer(1)
        );
        assert_eq!(state.apply(&Act::Incr(0, 2), 0, 0, None), Value::Integer(7));
        assert_eq!(state.apply(&Act::ExpireAt(0, 50), 0, 0, None), Value::Integer(1));
        assert_eq!(state.apply(&Act::Rename { from: 0, to: 1, only_if_free: false }, 0, 0, None), ok());
        assert_eq!(state.apply(&Act::ExpireTime(1), 0, 0, None), Value::Integer(50));
        assert_eq!(
            state.apply(&Act::Copy { from: 1, to: 0, db: 1, replace: false }, 0, 0, None),
            Value::Integer(1)
        );
        assert_eq!(state.apply(&Act::SwapDb, 0, 0, None), ok());
        assert_eq!(
            state.apply(&Act::MGet(vec![0, 1]), 0, 0, None),
            Value::Array(vec![Value::Bulk(b"7".into()), Value::Null])
        );
        assert_eq!(state.expiry(0), Some(50));
    }
}
