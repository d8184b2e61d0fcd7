//! Publish and subscribe: commands that listen, speak, and tell who does. Messages are carried by the shard.

mod subscribe;
#[cfg(test)]
mod tests;
mod told;
mod topics;

use crate::command::{Command, Run};
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

pub(crate) use subscribe::{kind_of, pushes};
pub use topics::{Name, TopicKind, Topics};

/// Every command of this family.
pub(crate) static ALL: &[&Command] = &[
    &subscribe::PSUBSCRIBE,
    &PUBLISH,
    &told::PUBSUB,
    &subscribe::PUNSUBSCRIBE,
    &SPUBLISH,
    &subscribe::SSUBSCRIBE,
    &subscribe::SUBSCRIBE,
    &subscribe::SUNSUBSCRIBE,
    &subscribe::UNSUBSCRIBE,
];

/// What both kinds of PUBLISH are: a pause of writes holds them back, as they would go to replicas.
const SPEAKS: Flags =
    Flags::PUBSUB.with(Flags::LOADING).with(Flags::STALE).with(Flags::FAST).with(Flags::MAY_REPLICATE);

static PUBLISH: Command = Command::new("PUBLISH", Group::PubSub, Run::Publish(TopicKind::Channel))
    .arity(3)
    .flags(SPEAKS)
    .summary("2.0.0", "Posts a message to a channel.")
    .complexity("O(N+M) where N is the number of clients subscribed to the receiving channel and M is the total number of subscribed patterns (by any client).")
    .arguments(&[
        Argument::new("channel", ArgumentKind::String),
        Argument::new("message", ArgumentKind::String),
    ]);

static SPUBLISH: Command = Command::new("SPUBLISH", Group::PubSub, Run::Publish(TopicKind::Shard))
    .arity(3)
    .flags(SPEAKS)
    .keys(&[Keys::one(Access::NOT_KEY)])
    .summary("7.0.0", "Post a message to a shard channel")
    .complexity("O(N) where N is the number of clients subscribed to the receiving shard channel.")
    .arguments(&[
        Argument::new("shardchannel", ArgumentKind::String),
        Argument::new("message", ArgumentKind::String),
    ]);
