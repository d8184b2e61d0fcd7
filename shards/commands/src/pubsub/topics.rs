//! Who listens to what, as one shard knows it: which clients of its own to each name, and which other
//! shards have somebody who does. It does not know how messages are delivered, or who tells the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The three sorts of names that clients subscribe to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TopicKind {
    /// A channel (SUBSCRIBE).
    Channel,
    /// A pattern of channels (PSUBSCRIBE).
    Pattern,
    /// A shard channel (SSUBSCRIBE): names of their own, which no pattern matches.
    Shard,
}

impl TopicKind {
    /// All of them, by number.
    pub const ALL: [TopicKind; 3] = [TopicKind::Channel, TopicKind::Pattern, TopicKind::Shard];
}

/// A channel's or pattern's name, shared by all who keep it on a shard.
pub type Name = Arc<[u8]>;

/// Bytes that a name costs besides its letters, about: its place in a map, its sets and counters.
const TOPIC_BYTES: usize = 160;
/// Bytes that a client's subscription costs, about: a place in its own set and one in the topic's.
const SUBSCRIPTION_BYTES: usize = 64;

/// A name that somebody listens to, here or elsewhere, or is about to.
#[derive(Default, Debug)]
struct Topic {
    /// Places of clients of this shard.
    here: BTreeSet<u64>,
    /// Subscriptions that are under way: other shards are being told.
    coming: u32,
    /// All other shards know that somebody listens here.
    known: bool,
    /// Other shards with somebody who listens, by number.
    elsewhere: Vec<u16>,
}

/// Names a client of this shard listens to, by kind.
type Subscriptions = [BTreeSet<Name>; 3];

/// Everything that is listened to.
#[derive(Default, Debug)]
pub struct Topics {
    tables: [BTreeMap<Name, Topic>; 3],
    clients: BTreeMap<u64, Subscriptions>,
    /// Names that nobody here listens to any more, of which the others still have to hear.
    forgotten: Vec<(TopicKind, Name)>,
    bytes: usize,
}

impl Topics {
    /// Nobody listens to anything, anywhere.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(BTreeMap::is_empty)
    }

    /// Whether all shards know that somebody here listens to a name: another who does changes nothing for them.
    pub fn is_known(&self, kind: TopicKind, name: &[u8]) -> bool {
        self.tables[kind as usize].get(name).is_some_and(|topic| topic.known)
    }

    /// A subscription is under way: the other shards are about to be told. Until it arrives the name is not
    /// forgotten, whoever goes.
    pub fn expect(&mut self, kind: TopicKind, name: &[u8]) {
        self.topic(kind, name).1.coming += 1;
    }

    /// All other shards have heard of a subscription that was under way, whether its client is still there or
    /// not.
    pub fn arrive(&mut self, kind: TopicKind, name: &[u8]) {
        let (_, topic) = self.topic(kind, name);
        topic.coming = topic.coming.saturating_sub(1);
        topic.known = true;
        self.let_go(kind, name);
    }

    /// The client in that place listens to a name from now on; whether it did not before.
    pub fn subscribe(&mut self, place: u64, kind: TopicKind, name: &[u8]) -> bool {
        let (name, topic) = self.topic(kind, name);
        let is_new = topic.here.insert(place);
        if is_new {
            self.clients.entry(place).or_default()[kind as usize].insert(name);
            self.bytes += SUBSCRIPTION_BYTES;
        }
        is_new
    }

    /// It no longer does; whether it did.
    pub fn unsubscribe(&mut self, place: u64, kind: TopicKind, name: &[u8]) -> bool {
        let Some(names) = self.clients.get_mut(&place) else { return false };
        if !names[kind as usize].remove(name) {
            return false;
        }
        if names.iter().all(BTreeSet::is_empty) {
            self.clients.remove(&place);
        }
        self.drop_from(place, kind, name);
        true
    }

    /// It listens to nothing any more.
    pub fn leave(&mut self, place: u64) {
        let Some(subscriptions) = self.clients.remove(&place) else { return };
        for (kind, names) in TopicKind::ALL.into_iter().zip(subscriptions) {
            names.iter().for_each(|name| self.drop_from(place, kind, name));
        }
    }

    /// What it listens to, in the order of the names.
    pub fn names_of(&self, place: u64, kind: TopicKind) -> Vec<Name> {
        let names = self.clients.get(&place).map(|names| &names[kind as usize]);
        names.into_iter().flatten().cloned().collect()
    }

    /// Another shard has, or no longer has, somebody who listens to a name.
    pub fn note_elsewhere(&mut self, kind: TopicKind, name: &[u8], shard: u16, listens: bool) {
        let (_, topic) = self.topic(kind, name);
        match (topic.elsewhere.binary_search(&shard), listens) {
            (Err(place), true) => topic.elsewhere.insert(place, shard),
            (Ok(place), false) => drop(topic.elsewhere.remove(place)),
            _ => {}
        }
        self.let_go(kind, name);
    }

    /// Names of which other shards have to hear that nobody here listens any more, oldest first.
    pub fn take_forgotten(&mut self) -> Vec<(TopicKind, Name)> {
        std::mem::take(&mut self.forgotten)
    }

    /// Whether there are such names.
    #[inline]
    pub fn has_forgotten(&self) -> bool {
        !self.forgotten.is_empty()
    }

    /// How many clients of this shard listen to exactly this name.
    pub fn listeners(&self, kind: TopicKind, name: &[u8]) -> usize {
        self.tables[kind as usize].get(name).map_or(0, |topic| topic.here.len())
    }

    /// Clients of this shard that listen to exactly this name, and other shards with such clients.
    pub fn audience(
        &self,
        kind: TopicKind,
        name: &[u8],
    ) -> (impl ExactSizeIterator<Item = u64> + '_, &[u16]) {
        static NOBODY: Topic =
            Topic { here: BTreeSet::new(), coming: 0, known: false, elsewhere: Vec::new() };
        let topic = self.tables[kind as usize].get(name).unwrap_or(&NOBODY);
        (topic.here.iter().copied(), &topic.elsewhere[..])
    }

    /// Patterns that match a channel, each with who listens to it as in [`Topics::audience`].
    pub fn matching<'a>(
        &'a self,
        channel: &'a [u8],
    ) -> impl Iterator<Item = (&'a [u8], impl ExactSizeIterator<Item = u64> + 'a, &'a [u16])> + 'a {
        self.patterns(channel)
            .map(|(name, topic)| (&name[..], topic.here.iter().copied(), &topic.elsewhere[..]))
    }

    /// Adds to `shards` the others that have somebody who hears what is published there: each once, by number.
    pub fn shards_that_hear(&self, kind: TopicKind, channel: &[u8], shards: &mut Vec<u16>) {
        if let Some(topic) = self.tables[kind as usize].get(channel) {
            shards.extend_from_slice(&topic.elsewhere);
        }
        if kind == TopicKind::Channel && !self.tables[TopicKind::Pattern as usize].is_empty() {
            for (_, topic) in self.patterns(channel) {
                shards.extend_from_slice(&topic.elsewhere);
            }
            shards.sort_unstable();
            shards.dedup();
        }
    }

    /// Names with clients of this shard who listen, and how many.
    pub fn listed(&self, kind: TopicKind) -> impl Iterator<Item = (&[u8], usize)> {
        let topics = self.tables[kind as usize].iter();
        topics.map(|(name, topic)| (&name[..], topic.here.len())).filter(|(_, count)| *count > 0)
    }

    /// How many names are listened to, on any shard, as far as this one has heard.
    pub fn count(&self, kind: TopicKind) -> usize {
        self.tables[kind as usize].len()
    }

    /// How many clients of this shard listen to anything.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// Bytes that all this takes, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn patterns<'a>(&'a self, channel: &'a [u8]) -> impl Iterator<Item = (&'a Name, &'a Topic)> + 'a {
        let patterns = self.tables[TopicKind::Pattern as usize].iter();
        patterns.filter(|(pattern, _)| {
            // A lone star matches the empty channel too, as in Redis.
            spec::glob::matches_all(pattern) || spec::glob_match(pattern, channel, false)
        })
    }

    /// The topic of a name, made where there is none.
    fn topic(&mut self, kind: TopicKind, name: &[u8]) -> (Name, &mut Topic) {
        let table = &mut self.tables[kind as usize];
        let name = match table.get_key_value(name) {
            Some((name, _)) => name.clone(),
            None => {
                self.bytes += TOPIC_BYTES + name.len();
                name.into()
            }
        };
        let topic = table.entry(name.clone()).or_default();
        (name, topic)
    }

    fn drop_from(&mut self, place: u64, kind: TopicKind, name: &[u8]) {
        if let Some(topic) = self.tables[kind as usize].get_mut(name)
            && topic.here.remove(&place)
        {
            self.bytes -= SUBSCRIPTION_BYTES;
            self.let_go(kind, name);
        }
    }

    /// Nobody here may want a name any more: then the others are to hear of it, and where none of them wants
    /// it either it goes.
    fn let_go(&mut self, kind: TopicKind, name: &[u8]) {
        let table = &mut self.tables[kind as usize];
        let Some((key, _)) = table.get_key_value(name) else { return };
        let key = key.clone();
        let Some(topic) = table.get_mut(name) else { return };
        if !topic.here.is_empty() || topic.coming > 0 {
            return;
        }
        if std::mem::take(&mut topic.known) {
            self.forgotten.push((kind, key));
        }
        if topic.elsewhere.is_empty() {
            self.bytes -= TOPIC_BYTES + name.len();
            table.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TopicKind::{Channel, Pattern, Shard};

    fn hears(topics: &Topics, channel: &str) -> usize {
        let channel = channel.as_bytes();
        topics.listeners(Channel, channel)
            + topics.matching(channel).map(|(_, clients, _)| clients.len()).sum::<usize>()
    }

    fn elsewhere(topics: &Topics, kind: TopicKind, channel: &str) -> Vec<u16> {
        let mut shards = Vec::new();
        topics.shards_that_hear(kind, channel.as_bytes(), &mut shards);
        shards
    }

    #[test]
    fn clients_hear_what_they_listen_to_by_name_and_by_pattern() {
        let mut topics = Topics::default();
        assert!(topics.subscribe(1, Channel, b"news.a") && !topics.subscribe(1, Channel, b"news.a"));
        assert!(topics.subscribe(1, Pattern, b"news.*") && topics.subscribe(2, Pattern, b"*"));
        assert!(topics.subscribe(2, Shard, b"news.a"));
        assert_eq!((hears(&topics, "news.a"), hears(&topics, "news.b"), hears(&topics, "")), (3, 2, 1));
        assert_eq!(topics.clients(), 2);
        topics.leave(1);
        assert_eq!(hears(&topics, "news.a"), 1);
        assert!(topics.unsubscribe(2, Pattern, b"*") && !topics.unsubscribe(2, Pattern, b"*"));
        assert!(!topics.is_empty());
        topics.leave(2);
        assert!(topics.is_empty() && topics.bytes() == 0 && topics.clients() == 0);
    }

    #[test]
    fn the_others_hear_of_the_last_who_goes_and_not_while_one_is_coming() {
        let mut topics = Topics::default();
        topics.expect(Channel, b"a");
        topics.expect(Channel, b"a");
        assert!(!topics.is_known(Channel, b"a"));
        topics.subscribe(1, Channel, b"a");
        topics.arrive(Channel, b"a");
        assert!(topics.is_known(Channel, b"a"));
        topics.leave(1);
        assert!(!topics.has_forgotten(), "the second is still coming");
        topics.arrive(Channel, b"a");
        assert_eq!(topics.take_forgotten(), [(Channel, b"a"[..].into())], "and has gone by then");
        assert!(topics.is_empty() && !topics.is_known(Channel, b"a"));
    }

    #[test]
    fn shards_that_hear_are_named_once() {
        let mut topics = Topics::default();
        topics.note_elsewhere(Channel, b"a", 3, true);
        topics.note_elsewhere(Channel, b"a", 1, true);
        topics.note_elsewhere(Channel, b"a", 3, true);
        topics.note_elsewhere(Pattern, b"a*", 3, true);
        topics.note_elsewhere(Pattern, b"*", 2, true);
        assert_eq!(elsewhere(&topics, Channel, "a"), [1, 2, 3]);
        assert_eq!(elsewhere(&topics, Channel, "ab"), [2, 3]);
        assert_eq!(elsewhere(&topics, Shard, "a"), []);
        topics.note_elsewhere(Channel, b"a", 1, false);
        topics.note_elsewhere(Channel, b"a", 3, false);
        topics.note_elsewhere(Pattern, b"*", 2, false);
        topics.note_elsewhere(Pattern, b"a*", 3, false);
        topics.note_elsewhere(Pattern, b"never", 3, false);
        assert!(topics.is_empty() && topics.bytes() == 0 && !topics.has_forgotten());
    }
}
