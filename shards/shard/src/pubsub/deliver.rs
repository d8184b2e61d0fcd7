//! Messages to clients of this shard. Each is encoded once, whatever the number of those who hear it.

use super::{Message, Post};
use crate::actor::Shard;
use crate::outbox::Outbox;
use crate::parcel::ConnId;
use crate::session::{Session, Sessions};
use commands::TopicKind;
use resp::{Reply, Version};

/// Larger memory of an encoded message is not kept.
const ENCODED_KEPT_BYTES: usize = 64 * 1024;

/// The client that runs now: it is not in its place, and hears what it says behind its reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    conn: ConnId,
    version: Version,
}

impl Running {
    pub(crate) fn new(conn: ConnId, session: &Session) -> Running {
        Running::of(conn, session.state.version)
    }

    pub(crate) fn of(conn: ConnId, version: Version) -> Running {
        Running { conn, version }
    }
}

impl Shard {
    /// Hands a message to all of this shard's clients who listen; how many times it was. `self.post.shards`
    /// are then the others where somebody does.
    pub(super) fn post_message<O: Outbox>(
        &mut self,
        kind: TopicKind,
        channel: &[u8],
        text: &[u8],
        running: Option<Running>,
        out: &mut O,
    ) -> u64 {
        let Shard { topics, sessions, post, .. } = self;
        post.shards.clear();
        if topics.is_empty() {
            return 0;
        }
        let (mut heard, mut bytes) = (0, 0);
        let (listeners, elsewhere) = topics.audience(kind, channel);
        post.shards.extend_from_slice(elsewhere);
        if listeners.len() > 0 {
            heard += listeners.len() as u64;
            let word = if kind == TopicKind::Shard { "smessage" } else { "message" };
            post.encode(word, &[channel, text]);
            bytes += post.hand_to(listeners, sessions, running, out);
        }
        if kind == TopicKind::Channel {
            for (pattern, listeners, elsewhere) in topics.matching(channel) {
                post.shards.extend_from_slice(elsewhere);
                if listeners.len() > 0 {
                    heard += listeners.len() as u64;
                    post.encode("pmessage", &[pattern, channel, text]);
                    bytes += post.hand_to(listeners, sessions, running, out);
                }
            }
            post.shards.sort_unstable();
            post.shards.dedup();
        }
        self.block.messages_heard.add(heard);
        self.block.bytes_out.add(bytes);
        heard
    }

    /// How many times clients of this shard hear what is published there.
    pub(super) fn heard_here(&self, kind: TopicKind, channel: &[u8]) -> u64 {
        let exactly = self.topics.audience(kind, channel).0.len();
        let by_pattern: usize = match kind {
            TopicKind::Channel => self.topics.matching(channel).map(|(_, clients, _)| clients.len()).sum(),
            TopicKind::Pattern | TopicKind::Shard => 0,
        };
        (exactly + by_pattern) as u64
    }

    /// Something is said by a command that cannot deliver: it is heard when that has run. `far`: by other
    /// shards too.
    pub(super) fn say_later(&mut self, kind: TopicKind, channel: Vec<u8>, text: Vec<u8>, far: bool) {
        self.post.unsaid.push_back(Message { kind, channel, text, far });
    }

    /// Commands have said something that is not delivered: one look, as it is asked after every batch.
    #[inline]
    pub(crate) fn has_unsaid(&self) -> bool {
        !self.effects.events.is_empty()
    }

    /// There is something in the queue of what was said.
    pub(super) fn has_queued(&self) -> bool {
        !self.post.unsaid.is_empty()
    }

    /// Delivers what commands have said, in that order. What the running client hears of it is then in
    /// `self.post.own`.
    #[cold]
    pub(crate) fn say<O: Outbox>(&mut self, running: Option<Running>, out: &mut O) {
        self.gather_events();
        while let Some(message) = self.post.unsaid.pop_front() {
            let Message { kind, channel, text, far } = message;
            self.post_message(kind, &channel, &text, running, out);
            if far {
                self.post.gather_news(kind, &channel, &text);
            }
        }
        self.send_news(out);
    }

    /// The same between two replies of the running client: what it hears itself comes right here.
    #[cold]
    pub(crate) fn say_between<O: Outbox>(&mut self, conn: ConnId, session: &Session, out: &mut O) {
        self.say(Some(Running::new(conn, session)), out);
        self.reply.extend_from_slice(&self.post.own);
        self.post.own.clear();
    }
}

impl Post {
    fn encode(&mut self, word: &str, texts: &[&[u8]]) {
        self.encoded.clear();
        self.encoded.bytes_mut().shrink_to(ENCODED_KEPT_BYTES);
        let mut reply = Reply::new(&mut self.encoded, Version::Resp3);
        reply.push(1 + texts.len());
        reply.bulk_text(word);
        texts.iter().for_each(|text| reply.bulk(text));
    }

    /// Writes the encoded message to these clients; how many bytes that were.
    fn hand_to<O: Outbox>(
        &mut self,
        listeners: impl Iterator<Item = u64>,
        sessions: &Sessions,
        running: Option<Running>,
        out: &mut O,
    ) -> u64 {
        let mut bytes = 0;
        for place in listeners {
            let conn = ConnId::of_place(place);
            let own = running.filter(|running| running.conn == conn);
            let version = own.map(|running| running.version).or_else(|| sessions.version_of(conn));
            let Some(version) = version else { continue };
            // The two protocols differ in the first byte alone.
            self.encoded[0] = if version == Version::Resp3 { b'>' } else { b'*' };
            if own.is_some() {
                self.own.extend_from_slice(&self.encoded);
            } else {
                out.write(conn, &self.encoded);
                bytes += self.encoded.len() as u64;
            }
        }
        bytes
    }
}
