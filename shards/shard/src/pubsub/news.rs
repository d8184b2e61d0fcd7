//! What shards tell each other without waiting for an answer: events of keys that somebody listens to there, and
//! names that nobody listens to any more here. All that is told at one moment goes in one parcel.

use super::Post;
use crate::actor::Shard;
use crate::outbox::Outbox;
use crate::parcel::Parcel;
use commands::{KeyEvent, TopicKind};
use resp::Output;
use spec::setting::Events;

/// News for a shard whose ring is full join those that wait already, up to this size.
const JOINED_BYTES_MAX: usize = 1024 * 1024;
/// Beyond this a shard is so far behind that what keys tell is lost for it, and counted.
const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What a piece of news is about: the kind of a name that a message is for, or with this added, of one
/// that is forgotten.
const FORGOTTEN: u8 = 3;

impl Post {
    /// Gathers a message for the shards where the last one delivered is heard.
    pub(super) fn gather_news(&mut self, kind: TopicKind, channel: &[u8], text: &[u8]) {
        for shard in self.shards.drain(..) {
            write_news(&mut self.news[usize::from(shard)], kind as u8, channel, text);
        }
    }
}

impl Shard {
    /// What keys have to tell becomes messages, unless nobody listens to anything.
    pub(super) fn gather_events(&mut self) {
        let mut events = std::mem::take(&mut self.effects.events);
        commands::tell_noted(&mut self.store, &mut events);
        let told = self.settings.live.notify_events;
        if !self.topics.is_empty() {
            for KeyEvent { name, db, key, .. } in events.drain(..).filter(|event| !event.is_said()) {
                if told.contains(Events::KEYSPACE) {
                    let mut channel = format!("__keyspace@{db}__:").into_bytes();
                    channel.extend_from_slice(&key);
                    self.say_later(TopicKind::Channel, channel, name.into(), true);
                }
                if told.contains(Events::KEYEVENT) {
                    let channel = format!("__keyevent@{db}__:{name}").into_bytes();
                    self.say_later(TopicKind::Channel, channel, key, true);
                }
            }
        }
        events.clear();
        self.effects.events = events;
    }

    /// Sends what is gathered for other shards. Behind a full ring it waits, up to a bound.
    pub(super) fn send_news<O: Outbox>(&mut self, out: &mut O) {
        for to in 0..self.post.news.len() {
            if self.post.news[to].is_empty() {
                continue;
            }
            let bytes = std::mem::take(&mut self.post.news[to]);
            if self.post.waiting[to] + bytes.len() > WAITING_BYTES_MAX {
                self.lose(to, &bytes, out);
                continue;
            }
            self.send_piece(to, bytes, out);
        }
    }

    fn send_piece<O: Outbox>(&mut self, to: usize, bytes: Vec<u8>, out: &mut O) {
        let (length, before) = (bytes.len(), self.outgoing[to].len());
        if let Some(Parcel::News { bytes: last, .. }) = self.outgoing[to].back_mut()
            && last.len() + length <= JOINED_BYTES_MAX
        {
            last.extend_from_slice(&bytes);
            self.post.waiting[to] += length;
            return;
        }
        self.send(to as u16, Parcel::News { home: self.index, bytes: Box::new(bytes.into()) }, out);
        if self.outgoing[to].len() > before {
            self.post.waiting[to] += length;
        }
    }

    /// A shard is too far behind: messages are lost, but not what it has to know.
    #[cold]
    fn lose<O: Outbox>(&mut self, to: usize, bytes: &[u8], out: &mut O) {
        let mut kept = Vec::new();
        for (what, name, text) in read_news(bytes) {
            if what >= FORGOTTEN {
                write_news(&mut kept, what, name, text);
            } else {
                self.block.events_lost.add(1);
            }
        }
        if !kept.is_empty() {
            self.send_piece(to, kept, out);
        }
    }

    /// Tells the other shards what nobody here listens to any more. To be called before a subscription goes
    /// out, and at the end of a tick.
    #[cold]
    pub(crate) fn tell_forgotten<O: Outbox>(&mut self, out: &mut O) {
        for (kind, name) in self.topics.take_forgotten() {
            for (_, news) in
                self.post.news.iter_mut().enumerate().filter(|(to, _)| *to != usize::from(self.index))
            {
                write_news(news, FORGOTTEN + kind as u8, &name, b"");
            }
        }
        self.send_news(out);
    }

    /// News from another shard; their memory goes back to it.
    pub(crate) fn news_arrive<O: Outbox>(&mut self, home: u16, bytes: Box<Output>, out: &mut O) {
        self.block.parcels_received.add(1);
        for (what, name, text) in read_news(&bytes) {
            let kind = TopicKind::ALL[usize::from(what % FORGOTTEN)];
            if what >= FORGOTTEN {
                self.topics.note_elsewhere(kind, name, home, false);
            } else {
                self.post_message(kind, name, text, None, out);
            }
        }
        self.send(home, Parcel::Buffer(bytes), out);
    }
}

fn write_news(news: &mut Vec<u8>, what: u8, name: &[u8], text: &[u8]) {
    news.push(what);
    news.extend_from_slice(&(name.len() as u32).to_le_bytes());
    news.extend_from_slice(&(text.len() as u32).to_le_bytes());
    news.extend_from_slice(name);
    news.extend_from_slice(text);
}

/// What it is about, the name, and the message.
fn read_news(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8], &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = bytes.split_first_chunk::<9>()?;
        let length =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
        let (name, rest) = rest.split_at(length(1));
        let (text, rest) = rest.split_at(length(5));
        bytes = rest;
        Some((head[0], name, text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_read_as_they_were_written() {
        let mut news = Vec::new();
        write_news(&mut news, 1, b"name", b"text");
        write_news(&mut news, 5, b"", b"");
        write_news(&mut news, 0, b"n", &[b'x'; 300]);
        let read: Vec<_> = read_news(&news).collect();
        assert_eq!(read, [(1, &b"name"[..], &b"text"[..]), (5, b"", b""), (0, b"n", &[b'x'; 300])]);
    }
}
