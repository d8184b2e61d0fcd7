//! The values of all settings, as one shard holds them: CONFIG GET, CONFIG SET and the typed fields of
//! the data path. Every shard has its own copy; the same changes in the same order keep them equal.

use super::{Change, Effect, Live, Setting, Value};
use crate::glob::{glob_match, is_glob};
use std::fmt;

/// All settings with their values.
#[derive(Clone, Debug)]
pub struct Settings {
    table: &'static [Setting],
    values: Vec<Value>,
    /// Lower-case names and aliases with their places in the table, sorted.
    names: Vec<(&'static str, usize)>,
    generation: u64,
    /// What the data path reads.
    pub live: Live,
}

/// Why CONFIG SET changed nothing. `Display` gives the error text of Redis without its `ERR `.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No setting goes by this name.
    Unknown(String),
    /// The setting does not take the value.
    Refused {
        /// As the client wrote it.
        name: String,
        /// In the wording of Redis.
        reason: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unknown(name) => {
                write!(f, "Unknown option or number of arguments for CONFIG SET - '{name}'")
            }
            Refusal::Refused { name, reason } => {
                write!(f, "CONFIG SET failed (possibly related to argument '{name}') - {reason}")
            }
        }
    }
}

impl Settings {
    /// Every setting of the table at its default.
    pub fn new(table: &'static [Setting]) -> Self {
        let values = table.iter().map(Setting::default_value).collect();
        let mut names: Vec<(&'static str, usize)> = Vec::with_capacity(table.len() * 2);
        for (index, setting) in table.iter().enumerate() {
            names.extend(setting.names().map(|name| (name, index)));
        }
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0].0 == pair[1].0);
        assert!(twice.is_none(), "two settings share a name: {twice:?}");
        let mut settings = Settings { table, values, names, generation: 0, live: Live::default() };
        for index in 0..table.len() {
            settings.apply(index);
        }
        settings
    }

    /// The declarations.
    pub fn table(&self) -> &'static [Setting] {
        self.table
    }

    /// Grows with every change, so that whoever derives something from settings can tell it is stale.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The setting of that name or alias, in any case.
    pub fn find(&self, name: &str) -> Option<&'static Setting> {
        self.index(name).map(|index| &self.table[index])
    }

    /// The value of a setting that the table is known to have.
    pub fn value(&self, name: &str) -> &Value {
        let index = self.index(name).unwrap_or_else(|| panic!("no setting is named {name}"));
        &self.values[index]
    }

    /// Settings with their values, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Setting, &Value)> {
        self.table.iter().zip(&self.values)
    }

    /// Sets a value at start, before anyone is served: whatever `change` says, from words that were
    /// split already. `again` says that the same layer has set it before: save points then add up.
    pub fn assign(&mut self, name: &str, words: &[&str], again: bool) -> Result<(), String> {
        let index = self.index(name).ok_or_else(|| format!("unknown setting '{name}'"))?;
        let setting = &self.table[index];
        if words.is_empty() {
            return Err("wrong number of arguments".into());
        }
        let before = &self.values[index];
        let mut value = setting.read_words(words, before)?;
        if let (true, Value::Save(more), Value::Save(points)) = (again, &value, before)
            && !more.is_empty()
        {
            value = Value::Save([points.as_slice(), more].concat());
        }
        if setting.effect == Effect::DefaultOnly && value != setting.default_value() {
            return Err(default_only(setting));
        }
        self.store(index, value);
        Ok(())
    }

    /// Names and values that CONFIG GET answers to these patterns: a name as it was asked for, every
    /// name or alias that a pattern matches, none twice.
    pub fn get(&self, patterns: &[&[u8]]) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, index: usize| {
            if !found.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                found.push((name.to_string(), self.table[index].kind.print(&self.values[index])));
            }
        };
        for &pattern in patterns {
            if !is_glob(pattern) {
                let name = String::from_utf8_lossy(pattern);
                if let Some(index) = self.index(&name) {
                    add(&name, index);
                }
                continue;
            }
            for (index, setting) in self.table.iter().enumerate().filter(|(_, setting)| !setting.hidden) {
                for name in setting.names() {
                    if glob_match(pattern, name.as_bytes(), true) {
                        add(name, index);
                    }
                }
            }
        }
        found
    }

    /// CONFIG SET: all of the pairs or none. `protected_too` says that the client may change protected
    /// settings. Returns what was set, in the order given.
    pub fn set(
        &mut self,
        pairs: &[(&[u8], &[u8])],
        protected_too: bool,
    ) -> Result<Vec<&'static Setting>, Refusal> {
        let mut staged: Vec<(usize, Value)> = Vec::with_capacity(pairs.len());
        // Names are looked at before any value, as Redis does: it decides which error is told.
        let mut indices = Vec::with_capacity(pairs.len());
        for (name, _) in pairs {
            let index = self.changeable(name, protected_too)?;
            if indices.contains(&index) {
                return Err(refused(name, "duplicate parameter"));
            }
            indices.push(index);
        }
        for (&index, (name, value)) in indices.iter().zip(pairs) {
            let text =
                std::str::from_utf8(value).map_err(|_| refused(name, "argument must be valid UTF-8"))?;
            let setting = &self.table[index];
            let value = setting.read(text, &self.values[index]).map_err(|reason| refused(name, &reason))?;
            if setting.effect == Effect::DefaultOnly && value != setting.default_value() {
                return Err(refused(name, &default_only(setting)));
            }
            if setting.change == Change::Restart && value != self.values[index] {
                return Err(refused(name, "can't set immutable config"));
            }
            staged.push((index, value));
        }
        for (index, value) in staged {
            self.store(index, value);
        }
        Ok(indices.into_iter().map(|index| &self.table[index]).collect())
    }

    /// The place of a setting that CONFIG SET may touch.
    fn changeable(&self, name: &[u8], protected_too: bool) -> Result<usize, Refusal> {
        let text = String::from_utf8_lossy(name);
        let index = self.index(&text).ok_or_else(|| Refusal::Unknown(one_line(&text)))?;
        let setting = &self.table[index];
        match setting.change {
            Change::Live | Change::Restart => Ok(index),
            Change::Protected if protected_too => Ok(index),
            Change::Protected => Err(refused(name, "can't set protected config")),
            Change::Start => Err(refused(name, "can't set immutable config")),
        }
    }

    fn store(&mut self, index: usize, value: Value) {
        self.values[index] = value;
        self.generation += 1;
        self.apply(index);
    }

    fn apply(&mut self, index: usize) {
        if let Some(apply) = self.table[index].apply {
            apply(&mut self.live, &self.values[index]);
        }
    }

    fn index(&self, name: &str) -> Option<usize> {
        let name = name.to_ascii_lowercase();
        let place = self.names.binary_search_by(|(known, _)| (*known).cmp(name.as_str()));
        place.ok().map(|place| self.names[place].1)
    }
}

fn default_only(setting: &Setting) -> String {
    let default = if setting.default.is_empty() { "the empty value" } else { setting.default };
    format!("not supported: only {default} is accepted")
}

fn refused(name: &[u8], reason: &str) -> Refusal {
    Refusal::Refused { name: one_line(&String::from_utf8_lossy(name)), reason: reason.into() }
}

/// Error replies are one line; a name comes from a client and may hold anything.
fn one_line(name: &str) -> String {
    name.replace(['\r', '\n'], " ")
}

#[cfg(test)]
mod tests;
