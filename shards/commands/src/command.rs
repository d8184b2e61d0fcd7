//! What a command is: one declaration beside its handler, from which COMMAND, gates, routing,
//! fan-out, documentation and tests are derived. It does not know how a shard carries it out.

use crate::context::{Args, Ctx, Key};
use crate::home::{After, Call, Home, House, Job};
use crate::pubsub::TopicKind;
use resp::{Output, Reply};
use spec::setting::Events;
use spec::{Argument, Categories, Flags, Group, Keys};
use store::{Detached, Hasher};

/// Runs where the keys are, in one go: validates, changes, replies.
pub type LocalFn = fn(&mut Ctx<'_>, Args<'_>, &mut Reply<'_>);
/// Runs where the client is.
pub type HomeFn = fn(&mut Home<'_>, Args<'_>, &mut Reply<'_>) -> After;
/// Says whether the arguments are in order; replies with the error where not.
pub type CheckFn = fn(&Check, Args<'_>, &mut Reply<'_>) -> bool;

/// Where and how a command runs.
#[derive(Clone, Copy)]
pub enum Run {
    /// Where its keys are (anywhere, if it has none).
    Local(LocalFn),
    /// Where its client is.
    Home(HomeFn),
    /// From the shard that its arguments name on to others, until it has enough.
    Journey(&'static Journey),
    /// A part on every shard, folded at home.
    Everywhere(&'static Everywhere),
    /// Several keys on several shards, in two hops under locks.
    Plan(&'static Plan),
    /// Begins, ends or guards a transaction of its client.
    Transaction(Transaction),
    /// Says something to all who listen, on whatever shard they are.
    Publish(TopicKind),
    /// A container: its subcommands run.
    Container,
}

/// A command that goes from shard to shard, each of which adds to what those before it have found.
pub struct Journey {
    /// The shard it begins on, of so many; beyond the last stands for the last.
    pub begin: fn(Args<'_>, u16) -> u16,
    /// Runs on one shard, with what those before it have found: adds to that and says which shard is next, or
    /// replies.
    pub visit: fn(&mut Ctx<'_>, Args<'_>, &mut Finds, &mut Reply<'_>) -> Option<u16>,
    /// Runs on the first shard alone, where it may not go on: inside a transaction.
    pub alone: LocalFn,
}

/// What a [`Journey`] has found so far.
#[derive(Default, Debug)]
pub struct Finds {
    /// How many it has looked at.
    pub seen: usize,
    /// How many of them were wanted.
    pub found: usize,
    /// Those, encoded for the reply.
    pub encoded: Output,
}

/// What a command does to a client's transaction.
#[derive(Clone, Copy)]
pub enum Transaction {
    /// Commands are queued from here on.
    Multi,
    /// They run, all at one moment.
    Exec,
    /// They are forgotten.
    Discard,
    /// Watched keys are forgotten.
    Unwatch,
    /// Keys are watched, where they are.
    Watch(LocalFn),
}

/// With all pieces of a plan in key order: replies; `Some` orders (one a key) make a second hop, and the
/// reply is sent when that is done.
pub type DecideFn = fn(&Check, Args<'_>, &mut [Piece], &mut Reply<'_>) -> Option<Vec<Order>>;

/// How a `Local` command over several keys is divided when they live on several shards: each shard
/// runs the handler on the keys it owns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// It is not: all keys must be on one shard.
    None,
    /// Each key alone (with the arguments up to the next key); the one element of each reply array is
    /// put in the order of the keys.
    InKeyOrder,
    /// Integer replies are added.
    Sum,
    /// `+OK` from all.
    AllOk,
}

/// A command with a part on every shard.
pub struct Everywhere {
    /// What is locked while it runs.
    pub lock: Lock,
    /// Runs first, at home: refuses bad arguments, or answers at once.
    pub prepare: Option<fn(&mut Home<'_>, Args<'_>, &mut Reply<'_>) -> Go>,
    /// Runs on every shard; what it writes is given to `fold`.
    pub part: fn(&mut dyn House, &Call, Args<'_>, &mut Vec<u8>),
    /// Runs at home with every part, in the order of the shards.
    pub fold: fn(&mut Home<'_>, Args<'_>, &[&[u8]], &mut Reply<'_>) -> After,
}

/// What an [`Everywhere`] command locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lock {
    /// Nothing: parts run when they arrive.
    Nothing,
    /// The whole keyspace: all parts are seen at one moment.
    Keyspace,
}

/// Whether to go on.
#[derive(Clone, Debug)]
pub enum Go {
    /// Go on.
    On,
    /// The reply is written; nothing more is to be done.
    Answered,
    /// Go on once the job is done; its error is the reply.
    After(Job),
}

/// What a plan learns of a key in its first hop.
#[derive(Debug)]
pub enum Piece {
    /// Not asked.
    Nothing,
    /// The key is there, or not.
    Exists(bool),
    /// A copy of the value, if there is one, or of the part that is asked for.
    Value(Option<Detached>),
    /// There is a value of a kind that the command does not work on.
    WrongKind,
}

/// What a plan does to a key in its second hop.
#[derive(Debug)]
pub enum Order {
    /// Nothing.
    Nothing,
    /// Remove it from the client's database, and tell that by this name.
    Remove(&'static str),
    /// Put a value in place of whatever is there.
    Put {
        /// The database.
        db: u16,
        /// The value with its expiry.
        value: Detached,
        /// What that is called, for those who listen.
        event: (Events, &'static str),
    },
    /// What the function does, which has the command's arguments and what was decided on.
    Act(ActFn, Option<Detached>),
}

/// Changes one key in a plan's second hop, where that key is: counts and tells what it changed itself.
pub type ActFn = fn(&mut Ctx<'_>, Args<'_>, Key<'_>, Option<Detached>);

/// A command over keys of several shards that has to look before it leaps.
pub struct Plan {
    /// The whole command, where all keys are on one shard.
    pub together: LocalFn,
    /// First hop, for each key (by its ordinal among the keys), under locks.
    pub gather: fn(&mut Ctx<'_>, Args<'_>, usize, Key<'_>) -> Piece,
    /// At home.
    pub decide: DecideFn,
}

/// How a command is carried out where it needs keys that its arguments do not name: in rounds over all
/// shards, while the whole keyspace is locked. On one shard its usual handler runs.
pub struct Wide {
    /// Whether these arguments want that.
    pub when: fn(Args<'_>) -> bool,
    /// Runs on every shard in each round, with what it is told; nothing, in the first.
    pub part: fn(&mut Ctx<'_>, Args<'_>, &[u8], &mut Vec<u8>),
    /// Runs at home after each round.
    pub next: NextFn,
}

/// How a command waits that finds nothing to take: its plan says nothing then, and the client is held until
/// somebody puts something there. Where it may not wait (inside a transaction) it says so at once.
pub struct Block {
    /// Reads all arguments: until when it may wait, in unix milliseconds; `None` once they are refused.
    pub until: fn(i64, Args<'_>, &mut Reply<'_>) -> Option<i64>,
    /// It waits for its first key alone, and moves what it takes to the other.
    pub moves: bool,
}

impl Block {
    /// What is answered where it may not wait.
    pub fn nothing(&self, reply: &mut Reply<'_>) {
        if self.moves { reply.null() } else { reply.null_array() }
    }
}

/// With what was told in a round and what each shard has answered: says what is told in the next one, or
/// replies.
pub type NextFn = fn(&Check, Args<'_>, &[u8], &[&[u8]], &mut Reply<'_>) -> Option<Vec<u8>>;

/// What argument checks and decisions may look at.
#[derive(Clone, Debug)]
pub struct Check {
    /// Unix time in milliseconds.
    pub now: i64,
    /// The client's database.
    pub db: u16,
    /// How many databases there are.
    pub databases: u16,
    /// Largest string in bytes.
    pub string_bytes_max: usize,
    /// The hasher of keys and elements, the same on every shard.
    pub hasher: Hasher,
}

/// The declaration of a command or subcommand.
pub struct Command {
    /// Its name in capitals; of a subcommand, the second word.
    pub name: &'static str,
    /// Its family.
    pub group: Group,
    /// Where and how it runs.
    pub run: Run,
    /// Number of arguments with the name; negative: at least that many.
    pub arity: i16,
    /// What can be said of it in a word.
    pub flags: Flags,
    /// ACL categories beyond the implied ones.
    pub categories: Categories,
    /// Where its keys are.
    pub keys: &'static [Keys],
    /// How it is divided over shards.
    pub spread: Spread,
    /// How it is carried out where it needs keys that it does not name.
    pub wide: Option<&'static Wide>,
    /// How it waits, if it does.
    pub blocks: Option<&'static Block>,
    /// Checks arguments before a command is divided over shards or planned.
    pub check: Option<CheckFn>,
    /// The Redis version that brought it.
    pub since: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The version that discouraged it, and what to use instead.
    pub deprecated: Option<(&'static str, &'static str)>,
    /// Its cost in big-O words.
    pub complexity: &'static str,
    /// COMMAND's tips.
    pub tips: &'static [&'static str],
    /// Its arguments for COMMAND DOCS.
    pub arguments: &'static [Argument],
    /// Its subcommands.
    pub subcommands: &'static [&'static Command],
    /// Its subcommands are not listed by COMMAND (DEBUG).
    pub hidden_subcommands: bool,
}

impl Command {
    /// A command of that name, with arity 1 and nothing else said.
    pub const fn new(name: &'static str, group: Group, run: Run) -> Command {
        Command {
            name,
            group,
            run,
            arity: 1,
            flags: Flags::NONE,
            categories: Categories::NONE,
            keys: &[],
            spread: Spread::None,
            wide: None,
            blocks: None,
            check: None,
            since: "1.0.0",
            summary: "",
            deprecated: None,
            complexity: "O(1)",
            tips: &[],
            arguments: &[],
            subcommands: &[],
            hidden_subcommands: false,
        }
    }

    /// Sets the number of arguments, the name included; negative: at least.
    #[must_use]
    pub const fn arity(mut self, arity: i16) -> Command {
        self.arity = arity;
        self
    }

    /// Sets the flags.
    #[must_use]
    pub const fn flags(mut self, flags: Flags) -> Command {
        self.flags = flags;
        self
    }

    /// Adds ACL categories.
    #[must_use]
    pub const fn categories(mut self, categories: Categories) -> Command {
        self.categories = categories;
        self
    }

    /// Says where the keys are.
    #[must_use]
    pub const fn keys(mut self, keys: &'static [Keys]) -> Command {
        self.keys = keys;
        self
    }

    /// Says how it is divided over shards.
    #[must_use]
    pub const fn spread(mut self, spread: Spread) -> Command {
        self.spread = spread;
        self
    }

    /// Says how it is carried out where it needs keys that it does not name.
    #[must_use]
    pub const fn wide(mut self, wide: &'static Wide) -> Command {
        self.wide = Some(wide);
        self
    }

    /// Says how it waits.
    #[must_use]
    pub const fn blocks(mut self, blocks: &'static Block) -> Command {
        self.blocks = Some(blocks);
        self
    }

    /// Checks arguments before the command is divided or planned.
    #[must_use]
    pub const fn check(mut self, check: CheckFn) -> Command {
        self.check = Some(check);
        self
    }

    /// Says since when, and what it is for.
    #[must_use]
    pub const fn summary(mut self, since: &'static str, summary: &'static str) -> Command {
        self.since = since;
        self.summary = summary;
        self
    }

    /// Says since when it is discouraged, and what to use instead.
    #[must_use]
    pub const fn deprecated(mut self, since: &'static str, replaced_by: &'static str) -> Command {
        self.deprecated = Some((since, replaced_by));
        self
    }

    /// Says what it costs.
    #[must_use]
    pub const fn complexity(mut self, complexity: &'static str) -> Command {
        self.complexity = complexity;
        self
    }

    /// Sets COMMAND's tips.
    #[must_use]
    pub const fn tips(mut self, tips: &'static [&'static str]) -> Command {
        self.tips = tips;
        self
    }

    /// Describes the arguments.
    #[must_use]
    pub const fn arguments(mut self, arguments: &'static [Argument]) -> Command {
        self.arguments = arguments;
        self
    }

    /// Adds subcommands.
    #[must_use]
    pub const fn subcommands(mut self, subcommands: &'static [&'static Command]) -> Command {
        self.subcommands = subcommands;
        self
    }

    /// Keeps the subcommands out of COMMAND.
    #[must_use]
    pub const fn hide_subcommands(mut self) -> Command {
        self.hidden_subcommands = true;
        self
    }

    /// Whether `count` arguments (the name included) are as many as it wants.
    #[inline]
    pub const fn takes(&self, count: usize) -> bool {
        if self.arity >= 0 {
            count == self.arity as usize
        } else {
            count >= self.arity.unsigned_abs() as usize
        }
    }

    /// All ACL categories, implied ones included.
    pub const fn all_categories(&self) -> Categories {
        // A container's family is that of its subcommands; itself it says nothing of it.
        let group = if matches!(self.run, Run::Container) { Group::Generic } else { self.group };
        Categories::implied(self.flags, group).with(self.categories)
    }
}
