//! Settings: how one is declared, and the values that a shard holds. The table itself is the house's
//! (`src/config.rs`); nothing here reads a file, the environment or a flag.

mod held;
mod kind;
mod live;
mod value;
mod words;

pub use held::{Refusal, Settings};
pub use kind::Kind;
pub use live::{
    AppendFsync, Driver, Encodings, HashFunction, LazyFree, Live, LogLevel, MemoryPolicy, Permit,
    PipelineOrder, Poll, Priority, PubsubDefault,
};
pub use value::{ClientClass, Events, OutputLimit, SavePoint, Value};
pub use words::{quote_always, quote_word, split_words};

/// When a setting may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// At any time, by CONFIG SET.
    Live,
    /// By CONFIG SET from those whom `enable-protected-configs` permits.
    Protected,
    /// At start alone; CONFIG SET refuses it, as Redis does for the same name.
    Start,
    /// At start alone, where Redis has no such name or lets it change: CONFIG SET accepts the value
    /// that is there already, so that whoever writes back all that CONFIG GET gave succeeds.
    Restart,
}

/// Does a setting change what the server does?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It does.
    Acts,
    /// It is accepted, kept and shown for compatibility, and has no effect (yet).
    AcceptedOnly,
    /// It is known, and only its default is accepted: another value would be a promise not kept.
    DefaultOnly,
}

/// Writes a value where the data path reads it.
pub type Apply = fn(&mut Live, &Value);

/// A check beyond the kind; the text says why a value is refused.
pub type Check = fn(&Value) -> Result<(), String>;

/// The declaration of one setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Lower-case name; also the flag (`--name`), the key in a file and the environment variable.
    pub name: &'static str,
    /// An older name that is accepted and shown too.
    pub alias: Option<&'static str>,
    /// What it holds.
    pub kind: Kind,
    /// Its value where nobody says otherwise, as written in redis.conf.
    pub default: &'static str,
    /// When it may change.
    pub change: Change,
    /// Does it act?
    pub effect: Effect,
    /// Never shown in logs, MONITOR or the slow log.
    pub sensitive: bool,
    /// Not shown by CONFIG GET with a pattern; only by name.
    pub hidden: bool,
    /// One line for `--help` and the generated documents.
    pub help: &'static str,
    /// Writes the value where the data path reads it.
    pub apply: Option<Apply>,
    /// A check beyond the kind; the text says why the value is refused.
    pub check: Option<Check>,
}

impl Setting {
    /// A setting that acts, and changes at start alone until [`Setting::live`] says otherwise.
    pub const fn new(name: &'static str, kind: Kind, default: &'static str, help: &'static str) -> Self {
        Setting {
            name,
            alias: None,
            kind,
            default,
            change: Change::Start,
            effect: Effect::Acts,
            sensitive: false,
            hidden: false,
            help,
            apply: None,
            check: None,
        }
    }

    /// An older name.
    pub const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    /// It changes at any time; `apply` writes it where the data path reads it.
    pub const fn live(mut self, apply: Apply) -> Self {
        self.change = Change::Live;
        self.apply = Some(apply);
        self
    }

    /// The data path reads it too, whenever it may change.
    pub const fn apply(mut self, apply: Apply) -> Self {
        self.apply = Some(apply);
        self
    }

    /// When it may change.
    pub const fn change(mut self, change: Change) -> Self {
        self.change = change;
        self
    }

    /// Accepted at any time, without effect.
    pub const fn accepted(mut self) -> Self {
        self.effect = Effect::AcceptedOnly;
        self.change = Change::Live;
        self
    }

    /// What it governs is not built yet: it is kept and shown, and written where the data path will
    /// read it. Whoever builds that takes this mark away.
    pub const fn pending(mut self) -> Self {
        self.effect = Effect::AcceptedOnly;
        self
    }

    /// Whether it acts.
    pub const fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Known, with nothing but its default accepted.
    pub const fn default_only(mut self) -> Self {
        self.effect = Effect::DefaultOnly;
        self
    }

    /// A check beyond the kind.
    pub const fn check(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    /// A secret.
    pub const fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// Shown only by name.
    pub const fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    /// Its name, and its older name if there is one.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        [Some(self.name), self.alias].into_iter().flatten()
    }

    /// Its default, read. The table is ours, so a default that cannot be read is our own mistake.
    pub fn default_value(&self) -> Value {
        // Kinds that build on what was before (output limits) name every class in their default.
        match self.read(self.default, &Value::Number(0)) {
            Ok(value) => value,
            Err(reason) => panic!("the default of {} is not one: {reason}", self.name),
        }
    }

    /// Reads one text as CONFIG SET gives it: where the kind takes several words, every single space
    /// parts two, and quotes mean nothing.
    pub fn read(&self, text: &str, before: &Value) -> Result<Value, String> {
        let words: Vec<&str> = match self.kind.takes_words() {
            true if text.is_empty() => Vec::new(),
            true => text.split(' ').collect(),
            false => vec![text],
        };
        self.read_words(&words, before)
    }

    /// Reads words that somebody else has split.
    pub fn read_words(&self, words: &[&str], before: &Value) -> Result<Value, String> {
        let value = self.kind.parse(words, before)?;
        if let Some(check) = self.check {
            check(&value)?;
        }
        Ok(value)
    }
}
