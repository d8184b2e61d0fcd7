//! What a handler that runs where the keys are may touch: a slice of the keyspace, the time, the
//! settings, and nothing that waits.

use crate::watched::Watched;
use resp::{Span, Version};
use spec::Live;
use spec::setting::Events;
pub use store::Key;
use store::{Happened, Store};

/// The arguments of one command: spans into the bytes they arrived in. Argument 0 is the name.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Args<'a> {
    /// Arguments of `bytes` at `spans`.
    #[inline]
    pub fn new(bytes: &'a [u8], spans: &'a [Span]) -> Args<'a> {
        Args { bytes, spans }
    }

    /// How many there are, the name included.
    #[inline]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// There are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The argument at `index`; empty where there is none.
    #[inline]
    pub fn get(&self, index: usize) -> &'a [u8] {
        match self.spans.get(index) {
            Some(span) => &self.bytes[span.start as usize..(span.start + span.len) as usize],
            None => &[],
        }
    }

    /// The first eight bytes of the argument at `index` as a number, the first lowest; zeros behind its end.
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        let Some(span) = self.spans.get(index) else { return 0 };
        // Input goes on behind an argument as a rule: one load, less what is not the argument's.
        match self.bytes.get(span.start as usize..).and_then(|rest| rest.first_chunk()) {
            Some(bytes) => u64::from_le_bytes(*bytes) & FIRST_BYTES[span.len.min(8) as usize],
            None => first_word(self.get(index)),
        }
    }

    /// Bytes of the argument at `index`; 0 where there is none.
    #[inline]
    pub fn length(&self, index: usize) -> usize {
        self.spans.get(index).map_or(0, |span| span.len as usize)
    }

    /// Whether the argument at `index` is that word, in any case.
    #[inline]
    pub fn is(&self, index: usize, word: &str) -> bool {
        self.get(index).eq_ignore_ascii_case(word.as_bytes())
    }

    /// The arguments from `first` on.
    #[inline]
    pub fn from(&self, first: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let this = *self;
        (first..this.len().max(first)).map(move |index| this.get(index))
    }

    /// The argument at `index` as text for an error, with what is not UTF-8 replaced.
    pub fn text(&self, index: usize) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.get(index))
    }

    /// The spans themselves.
    pub fn spans(&self) -> &'a [Span] {
        self.spans
    }

    /// The bytes that the spans point into.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Masks for so many bytes of a word, from the lowest.
const FIRST_BYTES: [u64; 9] = {
    let mut masks = [u64::MAX; 9];
    let mut bytes = 0;
    while bytes < 8 {
        masks[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    masks
};

/// The first eight bytes as a number, the first lowest; zeros behind the end.
pub(crate) fn first_word(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Who asked.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The client's id.
    pub client: u64,
    /// Its database.
    pub db: u16,
    /// Its protocol.
    pub version: Version,
    /// Its reads leave access times alone (CLIENT NO-TOUCH).
    pub no_touch: bool,
    /// Which of its transactions this is, for what it watches.
    pub watch_round: u32,
}

/// Something that happened to a key, as keyspace notifications tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEvent {
    /// The class that lets it be heard.
    pub class: Events,
    /// Redis's name of the event, such as "lpush".
    pub name: &'static str,
    /// The database.
    pub db: u16,
    /// The key.
    pub key: Vec<u8>,
}

/// The event of a key that was looked for and not found.
const MISS: &str = "keymiss";

/// Adds what the store has noted since it was last asked: that is older than what is told next, but for
/// keys that were missed, which may have expired just then.
pub fn tell_noted(store: &mut Store, events: &mut Vec<KeyEvent>) {
    if !store.has_noted() {
        return;
    }
    let misses = events.iter().rev().take_while(|event| event.name == MISS).count();
    let at = events.len() - misses;
    let noted = store.take_noted().into_iter().map(|noted| {
        let (class, name) = match noted.what {
            Happened::Expired => (Events::EXPIRED, "expired"),
            Happened::FieldsExpired => (Events::HASH, "hexpired"),
            Happened::Emptied => (Events::GENERIC, "del"),
            Happened::Created => (Events::NEW, "new"),
        };
        KeyEvent { class, name, db: noted.db as u16, key: noted.key.into() }
    });
    drop(events.splice(at..at, noted));
}

impl KeyEvent {
    /// No event: something else was said that stands in a queue of its own.
    pub fn said() -> KeyEvent {
        KeyEvent { class: Events::default(), name: "", db: 0, key: Vec::new() }
    }

    /// Whether it is none.
    pub fn is_said(&self) -> bool {
        self.class.is_empty()
    }
}

/// What a handler did besides its reply; counted by the shard.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Effects {
    /// Changes to the data set, as INFO's rdb_changes_since_last_save counts them.
    pub dirty: u64,
    /// Reads that found their key.
    pub hits: u64,
    /// Reads that did not.
    pub misses: u64,
    /// What keyspace notifications are to tell, oldest first; empty where nobody wants to hear.
    pub events: Vec<KeyEvent>,
}

/// A small deterministic generator (SplitMix64, Steele et al. 2014); seeded from outside.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator of that seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 random bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// A number below `bound` (bound > 0), by multiplication (Lemire 2019).
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(bound)) >> 64) as u64
    }
}

/// Where the argument begins whose hash is known: a handler that asks for the key there need not hash it.
#[derive(Clone, Copy, Debug)]
pub struct Hashed {
    at: *const u8,
    hash: u64,
}

impl Hashed {
    /// None is.
    pub const NONE: Hashed = Hashed { at: std::ptr::null(), hash: 0 };

    /// The argument at `index` is.
    #[inline]
    pub fn new(args: Args<'_>, index: usize, hash: u64) -> Hashed {
        let at = args
            .spans
            .get(index)
            .map_or(std::ptr::null(), |span| args.bytes.as_ptr().wrapping_add(span.start as usize));
        Hashed { at, hash }
    }

    /// The argument as a key, if its hash is known.
    #[inline]
    pub fn key<'k>(&self, bytes: &'k [u8]) -> Option<Key<'k>> {
        (bytes.as_ptr() == self.at).then_some(Key { bytes, hash: self.hash })
    }
}

/// A shard among all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seat {
    /// Its number.
    pub shard: u16,
    /// How many there are.
    pub shards: u16,
}

impl Seat {
    /// The id of a client that is the `count`th to come to this shard: no other has it on any.
    pub fn client_id(self, count: u64) -> u64 {
        count * u64::from(self.shards) + u64::from(self.shard) + 1
    }

    /// The shard that a client came to.
    pub fn home_of(self, client: u64) -> u16 {
        (client.saturating_sub(1) % u64::from(self.shards)) as u16
    }
}

/// What a `Local` handler works with.
pub struct Ctx<'a> {
    /// This shard's slice of the keyspace.
    pub store: &'a mut Store,
    /// The settings, as this shard knows them.
    pub live: &'a Live,
    /// Unix time in milliseconds; the same for all commands of a tick.
    pub now: i64,
    /// Who asked.
    pub caller: Caller,
    /// This shard and how many there are.
    pub seat: Seat,
    /// Random numbers.
    pub random: &'a mut Random,
    /// What the handler did besides its reply.
    pub effects: &'a mut Effects,
    /// Keys that clients watch.
    pub watched: &'a mut Watched,
    /// The key whose hash was worked out on the way here.
    pub hashed: Hashed,
}

/// Counts a read that found its key, or not; who listens to misses hears of it.
#[inline]
pub(crate) fn count_look(effects: &mut Effects, live: &Live, db: u16, key: &[u8], found: bool) {
    if found {
        effects.hits += 1;
    } else {
        count_miss(effects, live, db, key);
    }
}

/// The rest of it, out of the way of what is found.
#[inline(never)]
fn count_miss(effects: &mut Effects, live: &Live, db: u16, key: &[u8]) {
    effects.misses += 1;
    if live.notify_events.intersects(Events::MISS) {
        effects.events.push(KeyEvent { class: Events::MISS, name: MISS, db, key: key.to_vec() });
    }
}

impl Ctx<'_> {
    /// The client's database as an index.
    #[inline]
    pub fn db(&self) -> usize {
        self.caller.db as usize
    }

    /// A key with its hash.
    #[inline]
    pub fn key<'k>(&self, bytes: &'k [u8]) -> Key<'k> {
        self.hashed.key(bytes).unwrap_or_else(|| self.key_anew(bytes))
    }

    #[inline(never)]
    fn key_anew<'k>(&self, bytes: &'k [u8]) -> Key<'k> {
        self.store.key(bytes)
    }

    /// Counts `changes` to the data set.
    #[inline]
    pub fn changed(&mut self, changes: u64) {
        self.effects.dirty += changes;
    }

    /// Says what happened to a key of the client's database, for those who listen to such events.
    #[inline]
    pub fn notify(&mut self, class: Events, name: &'static str, key: &[u8]) {
        if self.live.notify_events.intersects(class) {
            self.note_event(KeyEvent { class, name, db: self.caller.db, key: key.to_vec() });
        }
    }

    /// The same of a key in another database.
    #[inline]
    pub fn notify_in(&mut self, db: u16, class: Events, name: &'static str, key: &[u8]) {
        if self.live.notify_events.intersects(class) {
            self.note_event(KeyEvent { class, name, db, key: key.to_vec() });
        }
    }

    /// A key is about to be overwritten unseen: if its time is over, that is told first.
    #[inline]
    pub(crate) fn overwrites(&mut self, key: Key<'_>) {
        if !self.live.notify_events.is_empty() {
            self.store.find_untouched(self.caller.db as usize, key, self.now);
        }
    }

    /// A key is about to get the value of another: one that is there goes first, and counts as new then.
    pub fn replaces(&mut self, db: u16, key: Key<'_>) {
        if self.live.notify_events.intersects(Events::NEW) {
            self.store.remove(usize::from(db), key, self.now);
        }
    }

    #[cold]
    fn note_event(&mut self, event: KeyEvent) {
        tell_noted(self.store, &mut self.effects.events);
        self.effects.events.push(event);
    }

    /// Counts a read that found its key, or not.
    #[inline]
    pub fn looked_up(&mut self, found: bool, key: &[u8]) {
        count_look(self.effects, self.live, self.caller.db, key, found);
    }
}
