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

/// Sends `bytes` to shard 0 of so many; `strict`: `pipeline-order strict`.
pub fn talk(shards: u16, strict: bool, bytes: &[u8]) -> Result<Told, String> {
    let mut random = Random::new(0);
    let mut plan = Plan::new(&mut random, shards, None);
    plan.strict = strict;
    plan.theme = Theme::Chaos;
    plan.ring = 4;
    plan.timeout = false;
    let mut world = World::new(plan, random, catalog(), Trace::new(false));
    world.calm = true;
    world.nodes[0].dialling.push_back(0);
    world.tick(0)?;
    let conn = world.clients[0].conn.ok_or("the client was not let in")?;
    world.nodes[0].wires.find(conn).ok_or("the link is gone")?.up.extend_from_slice(bytes);
    let mut told = Told { bytes: String::new(), closed: false };
    for _ in 0..ROUNDS {
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
        if let Some(link) = world.nodes[0].wires.find(conn) {
            told.bytes += &String::from_utf8_lossy(&link.down);
            link.down.clear();
        }
    }
    Ok(told)
}
