//! Values of settings, typed. Knows neither names nor how a value is written.

use std::fmt;

/// A value of one setting.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// On or off.
    Flag(bool),
    /// A number; for memory in bytes; negative for a percentage or (-1) for `auto`.
    Number(i64),
    /// Which of the setting's names.
    Choice(usize),
    /// Which of the setting's names, a bit each; 0 stands for the first name.
    Choices(u64),
    /// A text.
    Text(String),
    /// A list of words.
    Words(Vec<String>),
    /// When to save.
    Save(Vec<SavePoint>),
    /// Limits, by [`ClientClass`].
    OutputLimits([OutputLimit; 3]),
    /// Classes of keyspace events.
    Events(Events),
    /// Percentiles, each within 0 and 100.
    Percentiles(Vec<f64>),
    /// A fixed number of numbers.
    Numbers(Vec<i64>),
}

/// The accessors state what the table declares: asking a text for its number is our own mistake.
impl Value {
    /// The flag of a `Bool`.
    pub fn flag(&self) -> bool {
        match self {
            Value::Flag(flag) => *flag,
            other => panic!("{other:?} is no flag"),
        }
    }

    /// The number of an `Integer`, `Memory`, `Octal`, `Auto` or percentage.
    pub fn number(&self) -> i64 {
        match self {
            Value::Number(number) => *number,
            other => panic!("{other:?} is no number"),
        }
    }

    /// The number of a setting whose least value is 0 or more.
    pub fn count(&self) -> u64 {
        u64::try_from(self.number()).expect("the bounds of this setting leave no negative number")
    }

    /// The number of a setting whose bounds fit 32 bits.
    pub fn count32(&self) -> u32 {
        u32::try_from(self.number()).expect("the bounds of this setting fit 32 bits")
    }

    /// The index of a `Choice`.
    pub fn choice(&self) -> usize {
        match self {
            Value::Choice(index) => *index,
            other => panic!("{other:?} is no choice"),
        }
    }

    /// The text of a `Text`.
    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            other => panic!("{other:?} is no text"),
        }
    }

    /// The words of a `Words`.
    pub fn words(&self) -> &[String] {
        match self {
            Value::Words(words) => words,
            other => panic!("{other:?} is no list of words"),
        }
    }
}

/// Save when so many seconds have passed and so many changes were made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SavePoint {
    /// At least 1.
    pub seconds: u64,
    /// Changes since the last save.
    pub changes: u64,
}

/// How much unsent output a client may have. 0 means no limit.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OutputLimit {
    /// Closed at once above this.
    pub hard_bytes: u64,
    /// Closed after `soft_seconds` above this.
    pub soft_bytes: u64,
    /// How long the soft limit may be passed.
    pub soft_seconds: u64,
}

/// Classes of clients that have limits of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientClass {
    /// Everyone else.
    Normal,
    /// Replicas.
    Replica,
    /// Subscribers.
    Pubsub,
}

impl ClientClass {
    /// In the order that CONFIG GET prints them.
    pub const ALL: [ClientClass; 3] = [ClientClass::Normal, ClientClass::Replica, ClientClass::Pubsub];

    /// As CONFIG GET prints it.
    pub const fn name(self) -> &'static str {
        match self {
            ClientClass::Normal => "normal",
            ClientClass::Replica => "slave",
            ClientClass::Pubsub => "pubsub",
        }
    }

    /// By name, in any case; `replica` as well as `slave`.
    pub fn named(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("replica") {
            return Some(ClientClass::Replica);
        }
        Self::ALL.into_iter().find(|class| class.name().eq_ignore_ascii_case(name))
    }
}

/// A set of keyspace event classes, with the letters of `notify-keyspace-events`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Events(u32);

impl Events {
    /// `K`: publish on `__keyspace@<db>__:<key>`.
    pub const KEYSPACE: Events = Events(1);
    /// `E`: publish on `__keyevent@<db>__:<event>`.
    pub const KEYEVENT: Events = Events(1 << 1);
    /// `g`: commands of no type, such as DEL and EXPIRE.
    pub const GENERIC: Events = Events(1 << 2);
    /// `$`: strings.
    pub const STRING: Events = Events(1 << 3);
    /// `l`: lists.
    pub const LIST: Events = Events(1 << 4);
    /// `s`: sets.
    pub const SET: Events = Events(1 << 5);
    /// `h`: hashes.
    pub const HASH: Events = Events(1 << 6);
    /// `z`: sorted sets.
    pub const ZSET: Events = Events(1 << 7);
    /// `x`: expired keys.
    pub const EXPIRED: Events = Events(1 << 8);
    /// `e`: evicted keys.
    pub const EVICTED: Events = Events(1 << 9);
    /// `t`: streams.
    pub const STREAM: Events = Events(1 << 10);
    /// `d`: types of modules.
    pub const MODULE: Events = Events(1 << 11);
    /// `m`: look-ups that found nothing.
    pub const MISS: Events = Events(1 << 12);
    /// `n`: new keys.
    pub const NEW: Events = Events(1 << 13);
    /// `A`: all but `m` and `n` (and not `K` or `E`, which say where to publish).
    pub const ALL: Events = Events(0b1111_1111_1100);

    const LETTERS: [(char, Events); 14] = [
        ('g', Self::GENERIC),
        ('$', Self::STRING),
        ('l', Self::LIST),
        ('s', Self::SET),
        ('h', Self::HASH),
        ('z', Self::ZSET),
        ('x', Self::EXPIRED),
        ('e', Self::EVICTED),
        ('t', Self::STREAM),
        ('d', Self::MODULE),
        ('K', Self::KEYSPACE),
        ('E', Self::KEYEVENT),
        ('m', Self::MISS),
        ('n', Self::NEW),
    ];

    /// Reads letters; `None` where one is unknown.
    pub fn parse(letters: &str) -> Option<Events> {
        letters.chars().try_fold(Events::default(), |events, letter| {
            let class = match letter {
                'A' => Self::ALL,
                letter => Self::LETTERS.iter().find(|(own, _)| *own == letter)?.1,
            };
            Some(Events(events.0 | class.0))
        })
    }

    /// Are all of these classes in the set?
    pub const fn contains(self, other: Events) -> bool {
        self.0 & other.0 == other.0
    }

    /// Is any of these classes in the set?
    pub const fn intersects(self, other: Events) -> bool {
        self.0 & other.0 != 0
    }

    /// No event is published.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Both sets together.
    pub const fn union(self, other: Events) -> Events {
        Events(self.0 | other.0)
    }
}

impl fmt::Display for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.contains(Self::ALL);
        if all {
            f.write_str("A")?;
        }
        for (letter, class) in Self::LETTERS {
            if self.contains(class) && !(all && Self::ALL.contains(class)) {
                write!(f, "{letter}")?;
            }
        }
        Ok(())
    }
}
