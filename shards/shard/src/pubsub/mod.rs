//! Messages between clients: a PUBLISH costs one parcel for each shard where somebody listens, and what keys
//! have to tell goes the same way. Who listens is kept by `commands::Topics`.
//!
//! Every shard knows which others listen to what. A subscription is confirmed when all have answered that
//! they know; where the last who listened has gone, the others are told later, behind all that was said
//! before. So a message goes to all who were told that they listen, and may find nobody where they have left.

mod deliver;
mod news;
mod publish;

pub(crate) use deliver::Running;

use commands::TopicKind;
use resp::Output;
use std::collections::VecDeque;

/// A message that has been said, and is still to be delivered.
#[derive(Debug)]
pub(crate) struct Message {
    kind: TopicKind,
    channel: Vec<u8>,
    text: Vec<u8>,
    /// Other shards are to hear it from here.
    far: bool,
}

/// What a shard has to deliver.
#[derive(Default, Debug)]
pub(crate) struct Post {
    /// A message as it is written to a client; memory is kept.
    encoded: Output,
    /// What the client that runs now hears, behind its reply.
    pub own: Vec<u8>,
    /// Other shards where the last message is heard.
    shards: Vec<u16>,
    /// Said by commands that cannot deliver themselves, oldest first.
    unsaid: VecDeque<Message>,
    /// Gathered for other shards, by number.
    news: Vec<Vec<u8>>,
    /// Bytes of news that wait for room in a ring, by shard.
    pub waiting: Vec<usize>,
}

impl Post {
    /// For so many shards.
    pub(crate) fn new(shards: u16) -> Post {
        let shards = usize::from(shards);
        Post { news: vec![Vec::new(); shards], waiting: vec![0; shards], ..Post::default() }
    }
}
