//! Commands on collections for the history, made from their declarations: hot keys, a small stock of
//! elements, whole scores, times that come soon. It does not know what they do.

use crate::calls::{Call, GROUPS, Word, has_rule};
use crate::declared::{Fill, add_all};
use crate::model::Text;
use crate::random::Random;
use commands::{Catalog, Entry};
use spec::{Argument, ArgumentKind, Group};

/// How often arguments are drawn until the model understands a command.
const DRAWS: usize = 12;

/// Numbers of places, and other numbers.
const PLACES: &[&str] = &["0", "0", "1", "2", "3", "5", "-1", "-1", "-2"];
const NUMBERS: &[&str] = &["0", "1", "1", "2", "3", "4", "5", "-1"];

/// What a seed makes commands of.
pub(crate) struct Hot {
    keys: usize,
    /// Commands of the families that this seed likes.
    entries: Vec<&'static Entry>,
}

impl std::fmt::Debug for Hot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.entries.iter().map(|entry| &*entry.full_name).collect();
        write!(f, "{names:?} on {} keys", self.keys)
    }
}

impl Hot {
    pub(crate) fn new(catalog: &'static Catalog, keys: usize, random: &mut Random) -> Hot {
        let likes: Vec<Group> = (0..random.within(1, 3)).map(|_| *random.pick(&GROUPS)).collect();
        let liked = |entry: &&Entry| likes.contains(&entry.command.group) && has_rule(&entry.full_name);
        Hot { keys, entries: catalog.entries().iter().filter(liked).collect() }
    }

    /// One of them.
    pub(crate) fn call(&self, now_ms: i64, random: &mut Random) -> Option<Call> {
        let entry = random.pick(&self.entries);
        (0..DRAWS).find_map(|_| {
            let mut words = Vec::new();
            add_all(entry.command.arguments, &mut words, &mut Fresh { hot: self, now_ms }, random);
            Call::understood(&entry.full_name, words, self.keys)
        })
    }
}

struct Fresh<'a> {
    hot: &'a Hot,
    now_ms: i64,
}

fn text(text: &str) -> Word {
    Word::Text(Text::from(text))
}

fn one_of(choices: &[&str], random: &mut Random) -> Word {
    text(choices[random.below(choices.len())])
}

impl Fill for Fresh<'_> {
    type Word = Word;

    fn token(&mut self, token: &str) -> Word {
        text(token)
    }

    fn key(&mut self, random: &mut Random) -> Word {
        Word::Key(random.below(self.hot.keys))
    }

    fn value(&mut self, argument: &Argument, random: &mut Random) -> Word {
        match (argument.kind, argument.name) {
            (ArgumentKind::UnixTime, _) => text(&(self.now_ms + random.within(0, 60) as i64 - 5).to_string()),
            (_, "min" | "max" | "start" | "stop" | "index") => one_of(PLACES, random),
            (ArgumentKind::Integer | ArgumentKind::Double, _) => one_of(NUMBERS, random),
            _ => element(random),
        }
    }
}

fn element(random: &mut Random) -> Word {
    match random.below(12) {
        0 => text(&format!("{}{}", "long".repeat(30), random.below(2))),
        1..=4 => text(&random.below(8).to_string()),
        _ => text(&format!("e{}", random.below(8))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::rules;

    #[test]
    fn every_rule_of_the_model_is_met_by_commands_as_they_are_declared() {
        let catalog = crate::run::catalog();
        let mut random = Random::new(1);
        for name in rules() {
            let entry = catalog.entries().iter().find(|entry| entry.full_name == name);
            let entries = vec![entry.unwrap_or_else(|| panic!("{name} is no command"))];
            let hot = Hot { keys: 3, entries };
            let understood = (0..200).filter(|_| hot.call(1_000, &mut random).is_some()).count();
            assert!(understood >= 50, "{name} was understood {understood} times of 200");
        }
    }
}
