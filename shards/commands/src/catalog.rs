//! Every command, found by name. The numbers given here index per-command counters.

use crate::command::{Command, LocalFn, Run};
use crate::context::{Args, first_word};
use crate::pubsub::{self, TopicKind};
use spec::{Extent, Flags, Start};

/// A command or subcommand with its number and what the path of a request asks for, worked out once.
pub struct Entry {
    /// The declaration.
    pub command: &'static Command,
    /// Dense number.
    pub number: u16,
    /// `get`, or `config|get` for a subcommand.
    pub full_name: String,
    /// Argument index of the only key, or 0.
    pub single_key: u16,
    /// The handler of a command with one key that runs where that is: the hot case of routing.
    pub with_one_key: Option<LocalFn>,
    /// Any argument can be a key.
    pub has_keys: bool,
    /// It may make the data need more room.
    pub grows: bool,
    /// It needs a setting to be allowed.
    pub is_protected: bool,
    /// A client of RESP2 that listens may say it.
    pub is_for_listeners: bool,
    /// What it subscribes to.
    pub subscribes: Option<TopicKind>,
    /// It answers with messages, which CLIENT REPLY does not silence.
    pub pushes: bool,
    /// Fewest arguments with which it runs itself, the name included, and the most.
    args_min: usize,
    args_max: usize,
    /// Numbers of its subcommands.
    pub subcommands: Vec<u16>,
    /// Number of the container whose subcommand it is.
    pub parent: Option<u16>,
}

impl Entry {
    /// Cannot run itself: its subcommands run.
    #[inline]
    pub fn is_container(&self) -> bool {
        matches!(self.command.run, Run::Container)
    }

    /// Whether it runs itself with `count` arguments: as many as it wants, and no subcommand among them.
    #[inline]
    pub fn runs_with(&self, count: usize) -> bool {
        (self.args_min..=self.args_max).contains(&count)
    }

    /// Whether a request of `count` arguments that was found to be this command lacks a subcommand
    /// that there is: a container runs by its subcommands alone, COMMAND by itself where it stands alone.
    #[inline]
    pub fn lacks_subcommand(&self, count: usize) -> bool {
        self.is_container() || count > 1 && !self.subcommands.is_empty()
    }
}

/// All commands, with an index by name.
pub struct Catalog {
    entries: Vec<Entry>,
    /// Open addressing.
    index: Box<[Slot; INDEX]>,
    listed: usize,
}

const INDEX: usize = 2048;

/// A place in the index by name.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// The first eight letters of the name.
    word: u64,
    /// 0: empty; else the command's number + 1.
    place: u16,
    /// Bytes of the name.
    length: u8,
    /// `word` has all of the name, and nothing but letters: no further comparison is needed.
    whole: bool,
}

/// The first letters of a name in capitals, and a place in the index mixed from them and the length.
#[inline]
fn mix(word: u64, length: usize) -> (u64, usize) {
    let word = word & 0xDFDF_DFDF_DFDF_DFDF;
    let mixed = (word ^ length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (word, (mixed >> 53) as usize)
}

impl Catalog {
    /// A catalog of these commands (containers bring their subcommands).
    ///
    /// # Panics
    /// Where two commands have one name or there are too many: a mistake of ours.
    pub fn new(commands: &[&'static Command]) -> Catalog {
        let mut catalog = Catalog {
            entries: Vec::new(),
            index: Box::new([Slot::default(); INDEX]),
            listed: commands.len(),
        };
        for command in commands {
            let number = catalog.add(command, command.name.to_ascii_lowercase());
            catalog.enter(number);
        }
        for (parent, command) in commands.iter().enumerate() {
            for sub in command.subcommands {
                let name = format!("{}|{}", command.name, sub.name).to_ascii_lowercase();
                let number = catalog.add(sub, name);
                catalog.entries[usize::from(number)].parent = Some(parent as u16);
                catalog.entries[parent].subcommands.push(number);
                // It stands alone, or not at all.
                catalog.entries[parent].args_max = usize::from(!catalog.entries[parent].is_container());
            }
        }
        catalog
    }

    fn add(&mut self, command: &'static Command, full_name: String) -> u16 {
        let number = u16::try_from(self.entries.len()).expect("fewer than 65,536 commands");
        let single_key = match command.keys {
            [keys] => keys.fixed().unwrap_or(0),
            _ => 0,
        };
        let with_one_key = match command.run {
            Run::Local(handler) if single_key != 0 => Some(handler),
            _ => None,
        };
        let has_keys = !command.keys.is_empty();
        let grows = command.keys.iter().any(|keys| keys.access.grows());
        let pushes = pubsub::pushes(command.name);
        let args_min = usize::from(command.arity.unsigned_abs());
        let args_max = if command.arity < 0 { usize::MAX } else { args_min };
        self.entries.push(Entry {
            command,
            number,
            single_key,
            with_one_key,
            has_keys,
            grows,
            is_protected: command.flags.has(Flags::PROTECTED),
            is_for_listeners: pushes || matches!(full_name.as_str(), "ping" | "quit" | "reset"),
            subscribes: pubsub::kind_of(command.name),
            pushes,
            args_min,
            args_max,
            full_name,
            subcommands: Vec::new(),
            parent: None,
        });
        number
    }

    fn enter(&mut self, number: u16) {
        let name = self.entries[number as usize].command.name;
        let (word, mut at) = mix(first_word(name.as_bytes()), name.len());
        while self.index[at].place != 0 {
            let other = self.entries[self.index[at].place as usize - 1].command.name;
            assert!(other != name, "two commands named {name}");
            at = (at + 1) % INDEX;
        }
        let length = u8::try_from(name.len()).expect("a name is short");
        let whole = name.len() <= 8 && name.bytes().all(|byte| byte.is_ascii_uppercase());
        self.index[at] = Slot { word, place: number + 1, length, whole };
    }

    /// The command of that name, in any case.
    pub fn find(&self, name: &[u8]) -> Option<&Entry> {
        self.search(first_word(name), name.len(), || name)
    }

    /// The command that these arguments begin with.
    #[inline]
    pub fn find_first(&self, args: Args<'_>) -> Option<&Entry> {
        self.search(args.word(0), args.length(0), || args.get(0))
    }

    #[inline(always)]
    fn search<'a>(&self, word: u64, length: usize, name: impl Fn() -> &'a [u8]) -> Option<&Entry> {
        let (word, mut at) = mix(word, length);
        loop {
            let slot = &self.index[at % INDEX];
            if slot.place == 0 {
                return None;
            }
            if slot.word == word && slot.length as usize == length {
                let entry = &self.entries[slot.place as usize - 1];
                if slot.whole || entry.command.name.as_bytes().eq_ignore_ascii_case(name()) {
                    return Some(entry);
                }
            }
            at += 1;
        }
    }

    /// The subcommand of that name, in any case.
    pub fn subcommand(&self, parent: &Entry, name: &[u8]) -> Option<&Entry> {
        parent
            .subcommands
            .iter()
            .map(|number| &self.entries[*number as usize])
            .find(|entry| entry.command.name.as_bytes().eq_ignore_ascii_case(name))
    }

    /// A command by `name` or `container|name`, as ACL and COMMAND INFO take it.
    pub fn find_full(&self, name: &[u8]) -> Option<&Entry> {
        match name.iter().position(|byte| *byte == b'|') {
            None => self.find(name),
            Some(bar) => self.subcommand(self.find(&name[..bar])?, &name[bar + 1..]),
        }
    }

    /// What the words of a request name: a command, or a subcommand of one.
    pub fn find_words(&self, name: &[u8], second: &[u8]) -> Option<&Entry> {
        let entry = self.find(name)?;
        if entry.subcommands.is_empty() || second.is_empty() {
            return Some(entry);
        }
        self.subcommand(entry, second)
    }

    /// Whether it is a subcommand that COMMAND keeps quiet about.
    pub fn is_hidden(&self, entry: &Entry) -> bool {
        entry.parent.is_some_and(|parent| self.entry(parent).command.hidden_subcommands)
    }

    /// The entry of that number.
    #[inline]
    pub fn entry(&self, number: u16) -> &Entry {
        &self.entries[number as usize]
    }

    /// All entries, subcommands included, by number.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The commands that are no subcommands.
    pub fn commands(&self) -> &[Entry] {
        &self.entries[..self.listed]
    }

    /// The names of all entries by number.
    pub fn full_names(&self) -> Vec<&str> {
        self.entries.iter().map(|entry| entry.full_name.as_str()).collect()
    }
}

impl Entry {
    /// First key, last key and step as COMMAND prints them (0 0 0 where there are none).
    pub fn legacy_keys(&self) -> (i64, i64, i64) {
        let mut answer = (0, 0, 0);
        for keys in self.command.keys {
            if let (Start::Index(first), Extent::Range { last, step, .. }) = (keys.start, keys.extent) {
                let last = if last >= 0 { i64::from(first) + i64::from(last) } else { i64::from(last) };
                if answer.0 == 0 {
                    answer = (i64::from(first), last, i64::from(step));
                // Counted from the end it is behind any other.
                } else if last as u64 > answer.1 as u64 {
                    answer.1 = last;
                }
            }
        }
        answer
    }

    /// The command's flags as COMMAND prints them.
    pub fn flags(&self) -> Flags {
        self.command.flags
    }
}
