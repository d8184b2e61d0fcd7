//! Every command, found by name. The numbers given here index per-command counters.

use crate::command::{Command, Run};
use spec::{Extent, Flags, Start};

/// A command or subcommand with its number and what the path of a request asks for, worked out once.
pub struct Entry {
    /// The declaration.
    pub command: &'static Command,
    /// Dense number.
    pub number: u16,
    /// `get`, or `config|get` for a subcommand.
    pub full_name: String,
    /// Argument index of the only key, or 0: the hot case of routing.
    pub single_key: u16,
    /// Any argument can be a key.
    pub has_keys: bool,
    /// It may make the data need more room.
    pub grows: bool,
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
    /// Letters of the name.
    word: u64,
    /// 0: empty; else the command's number + 1.
    place: u16,
    /// Bytes of the name.
    length: u8,
    /// `word` has all of the name, and nothing but letters: no further comparison is needed.
    whole: bool,
}

/// Eight letters of a name, in capitals: all of a name of up to eight, by overlapping loads, and a
/// place in the index mixed from them and the length.
#[inline]
fn mix(name: &[u8]) -> (u64, usize) {
    let four =
        |at: usize| name[at..].first_chunk::<4>().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
    let word = match name.len() {
        0 => 0,
        length @ 1..=3 => {
            u64::from(name[0]) | u64::from(name[length / 2]) << 8 | u64::from(name[length - 1]) << 16
        }
        length => four(0) | four((length - 4).min(4)) << 32,
    };
    let word = word & 0xDFDF_DFDF_DFDF_DFDF;
    let mixed = (word ^ name.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
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
        let has_keys = !command.keys.is_empty();
        let grows = command.keys.iter().any(|keys| keys.access.grows());
        self.entries.push(Entry {
            command,
            number,
            full_name,
            single_key,
            has_keys,
            grows,
            subcommands: Vec::new(),
            parent: None,
        });
        number
    }

    fn enter(&mut self, number: u16) {
        let name = self.entries[number as usize].command.name;
        let (word, mut at) = mix(name.as_bytes());
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
    #[inline]
    pub fn find(&self, name: &[u8]) -> Option<&Entry> {
        let (word, mut at) = mix(name);
        loop {
            let slot = &self.index[at % INDEX];
            if slot.place == 0 {
                return None;
            }
            if slot.word == word && slot.length as usize == name.len() {
                let entry = &self.entries[slot.place as usize - 1];
                if slot.whole || entry.command.name.as_bytes().eq_ignore_ascii_case(name) {
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
                } else if last > answer.1 && answer.1 > 0 {
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
