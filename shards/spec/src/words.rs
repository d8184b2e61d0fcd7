//! Flags and groups: what can be said of a command in a word. Names are those of Redis's COMMAND.

/// A set of command flags, as COMMAND lists them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags(pub u32);

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $bit:expr, $text:expr;)*) => {
        impl Flags {
            $($(#[$doc])* pub const $name: Flags = Flags(1 << $bit);)*
            /// Every flag with the name that COMMAND prints.
            pub const NAMES: &'static [(Flags, &'static str)] = &[$((Flags::$name, $text)),*];
        }
    };
}

// A macro because the constant and its printed name must agree.
flags! {
    /// May change data.
    WRITE = 0, "write";
    /// Only reads data.
    READONLY = 1, "readonly";
    /// Refused when memory is out.
    DENYOOM = 2, "denyoom";
    /// An operator's command.
    ADMIN = 3, "admin";
    /// Publish/subscribe.
    PUBSUB = 4, "pubsub";
    /// Not from scripts.
    NOSCRIPT = 5, "noscript";
    /// May wait for data.
    BLOCKING = 6, "blocking";
    /// Allowed while loading.
    LOADING = 7, "loading";
    /// Allowed on a stale replica.
    STALE = 8, "stale";
    /// Not shown by MONITOR.
    SKIP_MONITOR = 9, "skip_monitor";
    /// Not in the slow log.
    SKIP_SLOWLOG = 10, "skip_slowlog";
    /// Constant or logarithmic time.
    FAST = 11, "fast";
    /// Allowed before AUTH.
    NO_AUTH = 12, "no_auth";
    /// May be replicated though it does not write.
    MAY_REPLICATE = 13, "may_replicate";
    /// Not inside MULTI.
    NO_MULTI = 14, "no_multi";
    /// Key positions depend on other arguments.
    MOVABLEKEYS = 15, "movablekeys";
    /// Allowed while a script runs too long.
    ALLOW_BUSY = 16, "allow_busy";
    /// Accepted by a cluster node that is importing.
    ASKING = 17, "asking";
    /// Not while a replica loads in the background.
    NO_ASYNC_LOADING = 18, "no_async_loading";
    /// Touches keys it was not given.
    TOUCHES_ARBITRARY_KEYS = 19, "touches_arbitrary_keys";
    /// Needs a setting to be allowed (DEBUG).
    PROTECTED = 20, "protected";
}

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// All flags of `other` are set.
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Any flag of `other` is set.
    #[inline]
    pub const fn any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    /// The printed names of the flags that are set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().filter(move |(flag, _)| self.has(*flag)).map(|(_, name)| *name)
    }
}

/// The families that COMMAND DOCS tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Group {
    Generic,
    String,
    List,
    Set,
    SortedSet,
    Hash,
    PubSub,
    Transactions,
    Connection,
    Server,
    Scripting,
    HyperLogLog,
    Cluster,
    Geo,
    Stream,
    Bitmap,
}

impl Group {
    /// The name as COMMAND DOCS prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Generic => "generic",
            Group::String => "string",
            Group::List => "list",
            Group::Set => "set",
            Group::SortedSet => "sorted-set",
            Group::Hash => "hash",
            Group::PubSub => "pubsub",
            Group::Transactions => "transactions",
            Group::Connection => "connection",
            Group::Server => "server",
            Group::Scripting => "scripting",
            Group::HyperLogLog => "hyperloglog",
            Group::Cluster => "cluster",
            Group::Geo => "geo",
            Group::Stream => "stream",
            Group::Bitmap => "bitmap",
        }
    }
}

/// A set of ACL categories. Most follow from flags and group (see `implied`); a command adds the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Categories(pub u32);

impl Categories {
    /// Every category, in the order of Redis's ACL CAT, bit by bit.
    pub const NAMES: &'static [&'static str] = &[
        "keyspace",
        "read",
        "write",
        "set",
        "sortedset",
        "list",
        "hash",
        "string",
        "bitmap",
        "hyperloglog",
        "geo",
        "stream",
        "pubsub",
        "admin",
        "fast",
        "slow",
        "blocking",
        "dangerous",
        "connection",
        "transaction",
        "scripting",
    ];
    /// Commands on keys whatever their type.
    pub const KEYSPACE: Categories = Categories(1 << 0);
    /// Commands on sets.
    pub const SET: Categories = Categories(1 << 3);
    /// Commands on sorted sets.
    pub const SORTED_SET: Categories = Categories(1 << 4);
    /// Commands on lists.
    pub const LIST: Categories = Categories(1 << 5);
    /// Commands that can do harm when run by anyone.
    pub const DANGEROUS: Categories = Categories(1 << 17);
    /// Commands about the connection.
    pub const CONNECTION: Categories = Categories(1 << 18);
    /// Nothing besides what is implied.
    pub const NONE: Categories = Categories(0);

    /// The categories that follow from a command's flags and group.
    pub const fn implied(flags: Flags, group: Group) -> Categories {
        let mut bits = match group {
            Group::Generic | Group::Server | Group::Cluster => 0,
            Group::String => 1 << 7,
            Group::List => 1 << 5,
            Group::Set => 1 << 3,
            Group::SortedSet => 1 << 4,
            Group::Hash => 1 << 6,
            Group::PubSub => 1 << 12,
            Group::Transactions => 1 << 19,
            Group::Connection => 1 << 18,
            Group::Scripting => 1 << 20,
            Group::HyperLogLog => 1 << 9,
            Group::Geo => 1 << 10,
            Group::Stream => 1 << 11,
            Group::Bitmap => 1 << 8,
        };
        if flags.has(Flags::WRITE) {
            bits |= 1 << 2;
        }
        if flags.has(Flags::READONLY) && !matches!(group, Group::Scripting) {
            bits |= 1 << 1;
        }
        if flags.has(Flags::ADMIN) {
            bits |= 1 << 13 | 1 << 17;
        }
        if flags.has(Flags::PUBSUB) {
            bits |= 1 << 12;
        }
        if flags.has(Flags::BLOCKING) {
            bits |= 1 << 16;
        }
        bits |= if flags.has(Flags::FAST) { 1 << 14 } else { 1 << 15 };
        Categories(bits)
    }

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Categories) -> Categories {
        Categories(self.0 | other.0)
    }

    /// The names of the categories that are set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().enumerate().filter(move |(bit, _)| self.0 >> bit & 1 == 1).map(|(_, name)| *name)
    }
}
