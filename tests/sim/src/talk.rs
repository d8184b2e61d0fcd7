//! One client on calm cores: it sends given bytes in one piece and is read to the end. For what is told
//! in a sentence and needs no luck.

use crate::node::{News, Room};
use crate::plan::{Plan, Theme};
use crate::random::Random;
use crate::run::catalog;
use crate::trace::Trace;
use crate::world::World;

/// Rounds in which a conversation ends.
const ROUNDS: usize = 60;

/// What a client is told, and whether the server has closed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// All replies, as they came.
    pub bytes: String,
    /// The server has closed.
    pub closed: bool,
}

/// How a client talks.
#[derive(Clone, Copy, Debug)]
pub struct Talk<'a> {
    /// How many shards there are; the client is of the first.
    pub shards: u16,
    /// `pipeline-order strict`.
    pub strict: bool,
    /// What it sends.
    pub bytes: &'a [u8],
    /// It closes its half behind that.
    pub ends: bool,
    /// Rounds in which it does not read.
    pub deaf: usize,
    /// Bytes of replies after which others get their turn.
    pub share: usize,
    /// Bytes of room for small entries on each shard, if it is to end early.
    pub room: Option<usize>,
    /// Ticks of every core in which the conversation ends.
    pub rounds: usize,
}

impl<'a> Talk<'a> {
    /// Sends these bytes to the first of so many shards, and reads at once.
    pub fn new(shards: u16, bytes: &'a [u8]) -> Talk<'a> {
        Talk { shards, strict: true, bytes, ends: false, deaf: 0, share: 1 << 20, room: None, rounds: ROUNDS }
    }

    /// What the client is told.
    pub fn hold(self) -> Result<Told, String> {
        let mut world = self.world();
        for node in &mut world.nodes {
            if let Some(bytes) = self.room {
                node.shard.store_mut().limit_room(bytes);
            }
        }
        world.calm = true;
        world.nodes[0].dialling.push_back(0);
        world.tick(0)?;
        let conn = world.clients[0].conn.ok_or("the client was not let in")?;
        let link = world.nodes[0].wires.find(conn).ok_or("the link is gone")?;
        link.up.extend_from_slice(self.bytes);
        link.ended = self.ends;
        let mut told = Told { bytes: String::new(), closed: false };
        for round in 0..self.rounds {
            world.forward_clock();
            for node in 0..world.nodes.len() {
                world.enter_room(node);
                while world.nodes[node].room != Room::Idle {
                    world.enter_room(node);
                }
            }
            for news in std::mem::take(&mut world.nodes[0].news) {
                if let News::Closed(_, link) = news {
                    told.bytes += &String::from_utf8_lossy(&link.down);
                    told.closed = true;
                }
            }
            if round >= self.deaf {
                let heard = world.nodes[0].wires.take_down(conn, usize::MAX);
                told.bytes += &String::from_utf8_lossy(&heard);
            }
        }
        Ok(told)
    }

    fn world(self) -> World {
        let mut random = Random::new(0);
        let mut plan = Plan::new(&mut random, self.shards, None);
        plan.strict = self.strict;
        plan.theme = Theme::Chaos;
        plan.ring = 4;
        plan.timeout = false;
        plan.share = self.share;
        World::new(plan, random, catalog(), Trace::new(false))
    }
}
