//! Key shapes: where a command's keys stand among its arguments. Two ways to start (an index or a
//! keyword) and two ways to go on (a range or a count): <https://redis.io/docs/reference/key-specs/>.

/// Where the first key of a spec is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// At this argument index; 0 is the command's own name.
    Index(u16),
    /// Behind this keyword, searched from this index on (from the end and backwards where negative).
    Keyword(&'static str, i16),
    /// Nobody can tell from the arguments alone; no key is found.
    Unknown,
    /// Behind the last such word that stands where options stand. COMMAND calls it unknown.
    Option(&'static LastOption),
}

/// An option that names a key, among others that take arguments.
#[derive(PartialEq, Eq, Debug)]
pub struct LastOption {
    /// Its word.
    pub word: &'static str,
    /// Where options begin.
    pub from: u16,
    /// Other options, and how many arguments each of them takes.
    pub others: &'static [(&'static str, u16)],
}

impl LastOption {
    /// The argument behind the last one, if it is there.
    fn find<'a>(&self, count: usize, argument: impl Fn(usize) -> &'a [u8]) -> Option<usize> {
        let is = |at: usize, word: &str| argument(at).eq_ignore_ascii_case(word.as_bytes());
        let (mut at, mut found) = (usize::from(self.from), None);
        while at < count {
            if is(at, self.word) && at + 1 < count {
                found = Some(at + 1);
            } else if let Some((_, taken)) = self.others.iter().find(|(word, _)| is(at, word)) {
                at += usize::from(*taken);
            }
            at += 1;
        }
        found
    }
}

/// How many keys follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// From the start to `last` (relative to the start, or from the end where negative), every `step`
    /// arguments; with `limit` > 1 only the first 1/limit of what remains.
    Range {
        /// Last key: offset from the first one, or from the end where negative.
        last: i16,
        /// Distance from key to key.
        step: u16,
        /// 0 or 1: no limit; n: stop after 1/n of the remaining arguments.
        limit: u16,
    },
    /// A number at `number` (offset from the start) tells how many keys follow from `first` on.
    Counted {
        /// Offset of the number from the start.
        number: u16,
        /// Offset of the first key from the start.
        first: u16,
        /// Distance from key to key.
        step: u16,
    },
}

/// What a command does with the keys of a spec, as COMMAND prints it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access(pub u16);

impl Access {
    /// Reads the value and writes it.
    pub const RW: Access = Access(1 << 0);
    /// Reads only.
    pub const RO: Access = Access(1 << 1);
    /// Overwrites without a look.
    pub const OW: Access = Access(1 << 2);
    /// Removes.
    pub const RM: Access = Access(1 << 3);
    /// Returns or copies the value's content.
    pub const ACCESS: Access = Access(1 << 4);
    /// Changes the value in a way that depends on it.
    pub const UPDATE: Access = Access(1 << 5);
    /// Adds content.
    pub const INSERT: Access = Access(1 << 6);
    /// Removes content.
    pub const DELETE: Access = Access(1 << 7);
    /// Not a key, but routed as one.
    pub const NOT_KEY: Access = Access(1 << 8);
    /// Some keys may not be found by this spec.
    pub const INCOMPLETE: Access = Access(1 << 9);
    /// The access depends on the arguments.
    pub const VARIABLE: Access = Access(1 << 10);

    /// The printed names, by bit.
    pub const NAMES: &'static [&'static str] = &[
        "RW",
        "RO",
        "OW",
        "RM",
        "access",
        "update",
        "insert",
        "delete",
        "not_key",
        "incomplete",
        "variable_flags",
    ];

    /// Both together.
    #[must_use]
    pub const fn with(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }

    /// The keys may be changed: a transaction locks them for writing.
    pub const fn writes(self) -> bool {
        self.0 & (Access::RW.0 | Access::OW.0 | Access::RM.0) != 0
    }

    /// The keys may come to need more room: others are only read or removed.
    pub const fn grows(self) -> bool {
        self.writes() && self.0 & (Access::UPDATE.0 | Access::INSERT.0) != 0
    }

    /// The printed names of what is set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().enumerate().filter(move |(bit, _)| self.0 >> bit & 1 == 1).map(|(_, name)| *name)
    }
}

/// One key spec of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keys {
    /// Where to start.
    pub start: Start,
    /// How to go on.
    pub extent: Extent,
    /// What is done with them.
    pub access: Access,
    /// What COMMAND adds in words.
    pub notes: Option<&'static str>,
}

impl Keys {
    /// Keys that start there and go on so.
    pub const fn new(start: Start, extent: Extent, access: Access) -> Keys {
        Keys { start, extent, access, notes: None }
    }

    /// With a note for COMMAND.
    #[must_use]
    pub const fn notes(mut self, notes: &'static str) -> Keys {
        self.notes = Some(notes);
        self
    }

    /// One key at argument 1.
    pub const fn one(access: Access) -> Keys {
        Keys::at(1, access)
    }

    /// One key at `index`.
    pub const fn at(index: u16, access: Access) -> Keys {
        Keys::new(Start::Index(index), Extent::Range { last: 0, step: 1, limit: 0 }, access)
    }

    /// Keys from argument 1 to the end, every `step` arguments.
    pub const fn all(step: u16, access: Access) -> Keys {
        Keys::new(Start::Index(1), Extent::Range { last: -1, step, limit: 0 }, access)
    }

    /// A number at `index` and as many keys behind it.
    pub const fn counted(index: u16, access: Access) -> Keys {
        Keys::new(Start::Index(index), Extent::Counted { number: 0, first: 1, step: 1 }, access)
    }

    /// One key behind an option.
    pub const fn option(option: &'static LastOption, access: Access) -> Keys {
        Keys::new(Start::Option(option), Extent::Range { last: 0, step: 1, limit: 0 }, access)
    }

    /// Keys that cannot be told from the arguments.
    pub const fn unknown(access: Access) -> Keys {
        Keys::new(Start::Unknown, Extent::Range { last: 0, step: 1, limit: 0 }, access)
    }

    /// The argument index of the key, where the spec is one key at a fixed place: the hot case.
    pub const fn fixed(&self) -> Option<u16> {
        match (self.start, self.extent) {
            (Start::Index(index), Extent::Range { last: 0, .. }) => Some(index),
            _ => None,
        }
    }

    /// Calls `found` with the argument index of each key among `count` arguments, read by `argument`.
    ///
    /// # Errors
    /// [`BadKeys`] when a count is not a number, or names more keys than there are arguments.
    pub fn visit<'a>(
        &self,
        count: usize,
        argument: impl Fn(usize) -> &'a [u8],
        found: impl FnMut(usize),
    ) -> Result<(), BadKeys> {
        self.places(count, argument)?.for_each(found);
        Ok(())
    }

    /// The argument indices of the keys among `count` arguments, read by `argument`.
    ///
    /// # Errors
    /// [`BadKeys`] when a count is not a number, or names more keys than there are arguments.
    #[inline]
    pub fn places<'a>(&self, count: usize, argument: impl Fn(usize) -> &'a [u8]) -> Result<Places, BadKeys> {
        let first = match self.start {
            Start::Index(index) => Some(usize::from(index)).filter(|index| *index < count),
            _ => self.search(count, &argument),
        };
        let Some(first) = first else { return Ok(Places { next: 0, step: 0, left: 0 }) };
        match self.extent {
            Extent::Range { last, step, limit } => {
                let end = if last >= 0 {
                    first + last as usize
                } else if limit > 1 {
                    first + (count - first) / limit as usize - 1
                } else {
                    (count as isize + last as isize).max(0) as usize
                };
                if end >= count {
                    return Err(BadKeys);
                }
                let step = usize::from(step.max(1));
                let left = if end < first { 0 } else { (end - first) / step + 1 };
                Ok(Places { next: first, step, left })
            }
            Extent::Counted { number, first: offset, step } => {
                let at = first + number as usize;
                if at >= count {
                    return Err(BadKeys);
                }
                let left = decimal(argument(at)).ok_or(BadKeys)?;
                let (next, step) = (first + offset as usize, usize::from(step.max(1)));
                let room = if next >= count { 0 } else { (count - next).div_ceil(step) };
                if left > room {
                    return Err(BadKeys);
                }
                Ok(Places { next, step, left })
            }
        }
    }

    /// The argument index where the keys start, if the arguments have it.
    #[inline(never)]
    fn search<'a>(&self, count: usize, argument: impl Fn(usize) -> &'a [u8]) -> Option<usize> {
        match self.start {
            Start::Unknown => None,
            Start::Option(option) => option.find(count, argument),
            Start::Index(index) => ((index as usize) < count).then_some(index as usize),
            Start::Keyword(word, from) => {
                let matches = |at: &usize| argument(*at).eq_ignore_ascii_case(word.as_bytes());
                let found = if from >= 0 {
                    (from as usize..count).find(matches)
                } else {
                    (1..(count as isize + from as isize + 1).max(1) as usize).rev().find(matches)
                };
                found.map(|at| at + 1).filter(|at| *at < count)
            }
        }
    }
}

/// Argument indices of keys, first to last.
#[derive(Clone, Debug)]
pub struct Places {
    next: usize,
    step: usize,
    left: usize,
}

impl Iterator for Places {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let place = self.next;
        self.next += self.step;
        Some(place)
    }
}

/// The arguments do not hold the keys that the spec promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadKeys;

/// A small unsigned decimal number.
fn decimal(text: &[u8]) -> Option<usize> {
    if text.is_empty() || text.len() > 9 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |value, digit| value * 10 + (digit - b'0') as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(keys: Keys, line: &str) -> Option<Vec<usize>> {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        keys.visit(words.len(), |at| words[at], |at| out.push(at)).ok().map(|()| out)
    }

    #[test]
    fn a_range_counts_from_both_ends() {
        assert_eq!(found(Keys::one(Access::RO), "GET a"), Some(vec![1]));
        assert_eq!(found(Keys::all(2, Access::OW), "MSET a 1 b 2"), Some(vec![1, 3]));
        assert_eq!(found(Keys::all(1, Access::RM), "DEL a b c"), Some(vec![1, 2, 3]));
    }

    #[test]
    fn a_count_is_checked_before_it_is_used() {
        assert_eq!(found(Keys::counted(1, Access::RO), "SINTERCARD 2 a b LIMIT 1"), Some(vec![2, 3]));
        assert_eq!(found(Keys::counted(1, Access::RO), "SINTERCARD 3 a b"), None);
        assert_eq!(found(Keys::counted(1, Access::RO), "SINTERCARD -1 a b"), None);
        assert_eq!(found(Keys::counted(1, Access::RO), "SINTERCARD 99999999999999 a b"), None);
    }

    #[test]
    fn the_last_of_an_option_is_found_where_options_stand() {
        static STORE: LastOption = LastOption { word: "STORE", from: 2, others: &[("LIMIT", 2), ("GET", 1)] };
        let keys = Keys::option(&STORE, Access::OW);
        assert_eq!(found(keys, "SORT store"), Some(vec![]));
        assert_eq!(found(keys, "SORT a store b STORE c"), Some(vec![5]));
        assert_eq!(found(keys, "SORT a store b STORE"), Some(vec![3]));
        assert_eq!(found(keys, "SORT a GET store LIMIT store store STORE x DESC"), Some(vec![8]));
        assert_eq!(found(keys, "SORT a GET store x"), Some(vec![]));
    }

    #[test]
    fn a_keyword_is_found_from_either_side() {
        let streams = Keys::new(
            Start::Keyword("STREAMS", 1),
            Extent::Range { last: -1, step: 1, limit: 2 },
            Access::RO,
        );
        assert_eq!(found(streams, "XREAD COUNT 1 streams a b 0 0"), Some(vec![4, 5]));
        assert_eq!(found(streams, "XREAD COUNT 1"), Some(vec![]));
    }
}
