//! Commands on collections as the model understands them: their words, read by a few plain rules. What it
//! does not understand it declines, whatever the keys hold, so that it is never asked of a server that is
//! held against it.

mod hashes;
mod lists;
mod sets;
mod sorted_sets;

use crate::held::Held;
use crate::model::{State, Text};
use resp::client::Value;
use spec::Group;

/// A word of a command.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Word {
    /// A key, by its number.
    Key(usize),
    Text(Text),
}

/// A command with its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// As the catalog has it.
    pub name: &'static str,
    pub words: Vec<Word>,
    rule: &'static Rule,
}

/// How the model takes a command.
#[derive(Debug)]
struct Rule {
    name: &'static str,
    does: Does,
    apply: fn(&mut Frame<'_>) -> Outcome,
}

/// What a command does to its keys, and in which order its answer comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    Write,
    Read,
    /// Answers elements in any order.
    ReadMembers,
    /// Answers pairs in any order.
    ReadPairs,
    /// Reads what the server chooses.
    ReadOne,
    /// Takes away what the server chooses.
    TakeOne,
    /// Takes away, and answers which of its keys it took from.
    TakeNamed,
}

/// Why there is no answer from the model itself.
#[derive(Debug)]
enum Stop {
    /// It does not understand the arguments.
    Declined,
    WrongKind,
}

type Outcome = Result<Value, Stop>;

const FAMILIES: [&[Rule]; 4] = [lists::RULES, sets::RULES, hashes::RULES, sorted_sets::RULES];

/// Groups of commands that are made from their declarations for the model.
pub(crate) const GROUPS: [Group; 4] = [Group::List, Group::Set, Group::Hash, Group::SortedSet];

/// The model has a rule for the command.
pub(crate) fn has_rule(name: &str) -> bool {
    FAMILIES.iter().copied().flatten().any(|rule| rule.name == name)
}

impl Call {
    /// The command, if the model understands it with these arguments.
    pub(crate) fn understood(name: &str, words: Vec<Word>, keys: usize) -> Option<Call> {
        let rule = FAMILIES.iter().copied().flatten().find(|rule| rule.name == name)?;
        let call = Call { name: rule.name, words, rule };
        call.apply(&mut State::new(keys), 0, 0, None).is_some().then_some(call)
    }

    /// Its keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = usize> {
        self.words.iter().filter_map(|word| if let Word::Key(key) = word { Some(*key) } else { None })
    }

    /// A time that it sets.
    pub(crate) fn time(&self) -> Option<i64> {
        match self.words.get(1) {
            Some(Word::Text(text)) if self.name == "hpexpireat" => resp::parse_i64(text),
            _ => None,
        }
    }

    /// It changes nothing.
    pub(crate) fn reads(&self) -> bool {
        !matches!(self.rule.does, Does::Write | Does::TakeOne | Does::TakeNamed)
    }

    /// It takes away what the server chooses.
    pub(crate) fn takes_one(&self) -> bool {
        self.rule.does == Does::TakeOne
    }

    /// Carries it out; `seen` is what the server answered, for what it may choose. `None`: declined.
    pub(crate) fn apply(
        &self,
        state: &mut State,
        base: usize,
        now: i64,
        seen: Option<&Value>,
    ) -> Option<Value> {
        let mut frame = Frame { state, words: &self.words, base, now, seen };
        match (self.rule.apply)(&mut frame) {
            Ok(value) => Some(value),
            Err(Stop::WrongKind) => Some(wrong_kind()),
            Err(Stop::Declined) => None,
        }
    }

    /// A server's answer in the model's words: one flat list, numbers as text, sorted where no order is
    /// promised.
    pub(crate) fn plain(&self, value: Value, names: &[String]) -> Value {
        let single = !matches!(value, Value::Array(_) | Value::Set(_) | Value::Map(_));
        let mut flat = Vec::new();
        flatten(value, &mut flat);
        if single {
            return flat.pop().unwrap_or(Value::Null);
        }
        match self.rule.does {
            Does::ReadMembers => flat.sort_by(|one, other| bytes_of(one).cmp(bytes_of(other))),
            Does::ReadPairs => {
                let mut pairs: Vec<Vec<Value>> = flat.chunks(2).map(<[Value]>::to_vec).collect();
                pairs.sort_by(|one, other| bytes_of(&one[0]).cmp(bytes_of(&other[0])));
                flat = pairs.concat();
            }
            Does::TakeNamed => {
                let number = names.iter().position(|name| name.as_bytes() == bytes_of(&flat[0]));
                flat[0] = number.map_or(Value::Null, name_of);
            }
            _ => {}
        }
        Value::Array(flat)
    }
}

fn flatten(value: Value, flat: &mut Vec<Value>) {
    match value {
        Value::Array(values) | Value::Set(values) => {
            values.into_iter().for_each(|value| flatten(value, flat));
        }
        Value::Map(pairs) => pairs.into_iter().for_each(|(key, value)| {
            flatten(key, flat);
            flatten(value, flat);
        }),
        Value::Double(number) => flat.push(Value::Bulk(number.to_string().into_bytes())),
        other => flat.push(other),
    }
}

fn bytes_of(value: &Value) -> &[u8] {
    if let Value::Bulk(bytes) = value { bytes } else { &[] }
}

/// What a rule sees of a command and the keyspace.
struct Frame<'a> {
    state: &'a mut State,
    words: &'a [Word],
    base: usize,
    now: i64,
    seen: Option<&'a Value>,
}

impl<'a> Frame<'a> {
    fn count(&self) -> usize {
        self.words.len()
    }

    /// The place of the key that is a word.
    fn place(&self, index: usize) -> Result<usize, Stop> {
        match self.words.get(index) {
            Some(Word::Key(key)) => Ok(self.base + key),
            _ => Err(Stop::Declined),
        }
    }

    /// Places of keys from a word on, up to the first that is none.
    fn places(&self, first: usize) -> Result<Vec<usize>, Stop> {
        let keys: Vec<usize> = self.words[first.min(self.words.len())..]
            .iter()
            .map_while(|word| if let Word::Key(key) = word { Some(self.base + key) } else { None })
            .collect();
        if keys.is_empty() { Err(Stop::Declined) } else { Ok(keys) }
    }

    /// As many places as the word in front of them says.
    fn counted_places(&self, index: usize) -> Result<Vec<usize>, Stop> {
        let count = self.number(index)?;
        let places = self.places(index + 1)?;
        if count == places.len() as i64 { Ok(places) } else { Err(Stop::Declined) }
    }

    fn text(&self, index: usize) -> Result<Text, Stop> {
        match self.words.get(index) {
            Some(Word::Text(text)) => Ok(text.clone()),
            _ => Err(Stop::Declined),
        }
    }

    /// All words from one on, at least one.
    fn texts(&self, first: usize) -> Result<Vec<Text>, Stop> {
        let texts: Result<Vec<Text>, Stop> = (first..self.count()).map(|index| self.text(index)).collect();
        texts.and_then(|texts| if texts.is_empty() { Err(Stop::Declined) } else { Ok(texts) })
    }

    fn number(&self, index: usize) -> Result<i64, Stop> {
        let number = resp::parse_i64(&self.text(index)?).ok_or(Stop::Declined)?;
        // Sums of these stay exact and far from any bound.
        if number.unsigned_abs() < 1 << 44 { Ok(number) } else { Err(Stop::Declined) }
    }

    /// The word is that one, in any case.
    fn is(&self, index: usize, word: &str) -> bool {
        matches!(self.words.get(index), Some(Word::Text(text)) if text.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// One of two words.
    fn either(&self, index: usize, first: &str, second: &str) -> Result<bool, Stop> {
        match (self.is(index, first), self.is(index, second)) {
            (true, _) => Ok(true),
            (_, true) => Ok(false),
            _ => Err(Stop::Declined),
        }
    }

    /// There are no words from there on.
    fn ends(&self, index: usize) -> Result<(), Stop> {
        if self.count() == index { Ok(()) } else { Err(Stop::Declined) }
    }

    fn held(&self, place: usize) -> Option<&Held> {
        self.state.held(place)
    }

    /// Puts a collection in a key's place, or nothing if it is empty; its expiry goes.
    fn store(&mut self, place: usize, held: Held) {
        self.state.hold(place, held);
    }
}

/// A key in an answer.
fn name_of(key: usize) -> Value {
    Value::Bulk(format!("key {key}").into_bytes())
}

fn named(key: usize, values: impl Iterator<Item = Value>) -> Value {
    Value::Array(std::iter::once(name_of(key)).chain(values).collect())
}

fn wrong_kind() -> Value {
    Value::Error("WRONGTYPE Operation against a key holding the wrong kind of value".into())
}

fn integer(count: usize) -> Value {
    Value::Integer(count as i64)
}

fn bulk(text: &Text) -> Value {
    Value::Bulk(text.to_vec())
}

fn bulks<'a>(texts: impl IntoIterator<Item = &'a Text>) -> Value {
    Value::Array(texts.into_iter().map(bulk).collect())
}

fn number_text(number: i64) -> Value {
    Value::Bulk(number.to_string().into_bytes())
}

fn ok() -> Value {
    Value::Simple("OK".into())
}

fn error(text: &str) -> Value {
    Value::Error(text.into())
}

/// Names of all rules.
#[cfg(test)]
pub(crate) fn rules() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().copied().flatten().map(|rule| rule.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::brief;

    /// Runs commands on keys a, b and c, one after the other, and tells the last answer.
    fn told(state: &mut State, line: &str) -> String {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let words = words.map(|word| match word {
            "a" | "b" | "c" => Word::Key(usize::from(word.as_bytes()[0] - b'a')),
            _ => Word::Text(Text::from(word)),
        });
        let call = Call::understood(name, words.collect(), 3).unwrap_or_else(|| panic!("declined: {line}"));
        brief(&call.apply(state, 0, 100, None).expect("understood"))
    }

    fn check(lines: &[(&str, &str)]) {
        let mut state = State::new(3);
        for (line, expected) in lines {
            assert_eq!(told(&mut state, line), *expected, "{line}");
        }
    }

    #[test]
    fn lists_do_what_the_commands_say() {
        check(&[
            ("rpush a 1 2 3 2", ":4"),
            ("lrange a -3 9", "[2 3 2]"),
            ("lrem a -1 2", ":1"),
            ("linsert a BEFORE 3 x", ":4"),
            ("lmove a b LEFT RIGHT", "1"),
            ("rpoplpush a a", "3"),
            ("lrange a 0 -1", "[3 2 x]"),
            ("lmpop 2 c a RIGHT COUNT 2", "[key 0 x 2]"),
            ("lpop a 9", "[3]"),
            ("llen a", ":0"),
            ("lset a 0 y", "-ERR no such key"),
            ("sadd b 1", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ]);
    }

    #[test]
    fn sets_do_what_the_commands_say() {
        check(&[
            ("sadd a 1 2 3 3", ":3"),
            ("sadd b 2 3 4", ":3"),
            ("sinter a b", "[2 3]"),
            ("sdiffstore c a b", ":1"),
            ("smove a c 2", ":1"),
            ("smembers c", "[1 2]"),
            ("sintercard 2 a b LIMIT 1", ":1"),
            ("sunion a b c", "[1 2 3 4]"),
        ]);
    }

    #[test]
    fn hashes_do_what_the_commands_say() {
        check(&[
            ("hset a f 1 g 2", ":2"),
            ("hpexpireat a 150 NX FIELDS 2 f x", "[:1 :-2]"),
            ("hpexpireat a 150 NX FIELDS 1 f", "[:0]"),
            ("hpexpiretime a FIELDS 2 f g", "[:150 :-1]"),
            ("hincrby a f 4", ":5"),
            ("hpexpiretime a FIELDS 1 f", "[:150]"),
            ("hset a f 6", ":0"),
            ("hpersist a FIELDS 1 f", "[:-1]"),
            ("hpexpireat a 100 FIELDS 1 g", "[:2]"),
            ("hgetall a", "[f 6]"),
            ("hgetdel a FIELDS 2 f g", "[6 Null]"),
            ("hlen a", ":0"),
        ]);
    }

    #[test]
    fn sorted_sets_do_what_the_commands_say() {
        check(&[
            ("zadd a 1 x 2 y 2 w", ":3"),
            ("zadd a GT CH 0 x 5 y", ":1"),
            ("zrange a 0 -1 WITHSCORES", "[x 1 w 2 y 5]"),
            ("zrange a 5 2 BYSCORE REV", "[y w]"),
            ("sadd b x q", ":2"),
            ("zunionstore c 2 a b WEIGHTS 1 3 AGGREGATE MAX", ":4"),
            ("zrange c 0 -1 WITHSCORES", "[w 2 q 3 x 3 y 5]"),
            ("zrevrank c q", ":2"),
            ("zmpop 1 c MAX", "[key 2 y 5]"),
            ("zinter 2 a b WITHSCORES", "[x 2]"),
            ("zdiffstore c 2 a b", ":2"),
            ("zremrangebyscore c 2 4", ":1"),
        ]);
    }
}
