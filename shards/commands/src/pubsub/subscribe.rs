//! SUBSCRIBE, UNSUBSCRIBE and their likes for patterns and shard channels. A subscription is confirmed once
//! every shard knows that somebody listens here: a message published after that by anyone reaches it.

use super::topics::{Name, TopicKind};
use crate::command::{Command, Everywhere, Go, Lock, Run};
use crate::context::Args;
use crate::home::{After, Call, Home, House, SessionState};
use resp::Reply;
use spec::{Access, Argument, ArgumentKind, Flags, Group, Keys};

/// What all of them are.
const LISTENS: Flags = Flags::PUBSUB.with(Flags::NOSCRIPT).with(Flags::LOADING).with(Flags::STALE);

const CHANNELS: Argument = Argument::new("channel", ArgumentKind::String).multiple();
const PATTERNS: Argument = Argument::new("pattern", ArgumentKind::Pattern).multiple();
const SHARD_CHANNELS: Argument = Argument::new("shardchannel", ArgumentKind::String).multiple();

const fn listens(name: &'static str, run: Run, arity: i16) -> Command {
    Command::new(name, Group::PubSub, run).arity(arity).flags(LISTENS)
}

pub(super) static SUBSCRIBE: Command = listens("SUBSCRIBE", Run::Everywhere(&TO_CHANNELS), -2)
    .summary("2.0.0", "Listens for messages published to channels.")
    .complexity("O(N) where N is the number of channels to subscribe to.")
    .arguments(&[CHANNELS]);
pub(super) static PSUBSCRIBE: Command = listens("PSUBSCRIBE", Run::Everywhere(&TO_PATTERNS), -2)
    .summary("2.0.0", "Listens for messages published to channels that match one or more patterns.")
    .complexity("O(N) where N is the number of patterns to subscribe to.")
    .arguments(&[PATTERNS]);
pub(super) static SSUBSCRIBE: Command = listens("SSUBSCRIBE", Run::Everywhere(&TO_SHARD_CHANNELS), -2)
    .keys(&[Keys::all(1, Access::NOT_KEY)])
    .summary("7.0.0", "Listens for messages published to shard channels.")
    .complexity("O(N) where N is the number of shard channels to subscribe to.")
    .arguments(&[SHARD_CHANNELS]);
pub(super) static UNSUBSCRIBE: Command = listens("UNSUBSCRIBE", Run::Home(from_channels), -1)
    .summary("2.0.0", "Stops listening to messages posted to channels.")
    .complexity("O(N) where N is the number of channels to unsubscribe.")
    .arguments(&[CHANNELS.optional()]);
pub(super) static PUNSUBSCRIBE: Command = listens("PUNSUBSCRIBE", Run::Home(from_patterns), -1)
    .summary("2.0.0", "Stops listening to messages published to channels that match one or more patterns.")
    .complexity("O(N) where N is the number of patterns to unsubscribe.")
    .arguments(&[PATTERNS.optional()]);
pub(super) static SUNSUBSCRIBE: Command = listens("SUNSUBSCRIBE", Run::Home(from_shard_channels), -1)
    .keys(&[Keys::all(1, Access::NOT_KEY)])
    .summary("7.0.0", "Stops listening to messages posted to shard channels.")
    .complexity("O(N) where N is the number of shard channels to unsubscribe.")
    .arguments(&[SHARD_CHANNELS.optional()]);

static TO_CHANNELS: Everywhere = Everywhere {
    lock: Lock::Nothing,
    prepare: Some(|home, args, reply| prepare(TopicKind::Channel, home, args, reply)),
    part: |house, call, args, _| hear(TopicKind::Channel, house, call, args),
    fold: |home, args, _, reply| fold(TopicKind::Channel, home, args, reply),
};
static TO_PATTERNS: Everywhere = Everywhere {
    lock: Lock::Nothing,
    prepare: Some(|home, args, reply| prepare(TopicKind::Pattern, home, args, reply)),
    part: |house, call, args, _| hear(TopicKind::Pattern, house, call, args),
    fold: |home, args, _, reply| fold(TopicKind::Pattern, home, args, reply),
};
static TO_SHARD_CHANNELS: Everywhere = Everywhere {
    lock: Lock::Nothing,
    prepare: Some(|home, args, reply| prepare(TopicKind::Shard, home, args, reply)),
    part: |house, call, args, _| hear(TopicKind::Shard, house, call, args),
    fold: |home, args, _, reply| fold(TopicKind::Shard, home, args, reply),
};

/// What a command subscribes to, if it does.
pub(crate) fn kind_of(name: &str) -> Option<TopicKind> {
    match name {
        "SUBSCRIBE" => Some(TopicKind::Channel),
        "PSUBSCRIBE" => Some(TopicKind::Pattern),
        "SSUBSCRIBE" => Some(TopicKind::Shard),
        _ => None,
    }
}

/// Whether a command answers with messages of the kind that CLIENT REPLY does not silence.
pub(crate) fn pushes(name: &str) -> bool {
    kind_of(name).is_some() || matches!(name, "UNSUBSCRIBE" | "PUNSUBSCRIBE" | "SUNSUBSCRIBE")
}

/// Ends at once where every shard knows that somebody here listens to all of these already.
fn prepare(kind: TopicKind, home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Go {
    let alone = home.house.shards() == 1;
    let topics = home.house.topics();
    if alone || args.from(1).all(|name| topics.is_known(kind, name)) {
        confirm(kind, home, args, reply);
        return Go::Answered;
    }
    args.from(1).for_each(|name| topics.expect(kind, name));
    Go::On
}

/// Every other shard notes where these are heard.
fn hear(kind: TopicKind, house: &mut dyn House, call: &Call, args: Args<'_>) {
    let seat = crate::Seat { shard: house.shard(), shards: house.shards() };
    let home = seat.home_of(call.caller.client);
    if home != seat.shard {
        let topics = house.topics();
        args.from(1).for_each(|name| topics.note_elsewhere(kind, name, home, true));
    }
}

fn fold(kind: TopicKind, home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    confirm(kind, home, args, reply);
    let topics = home.house.topics();
    args.from(1).for_each(|name| topics.arrive(kind, name));
    After::Done
}

/// The client listens from here on, and is told so name by name. One that is about to go does not.
fn confirm(kind: TopicKind, home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) {
    let session = &mut *home.session;
    let topics = home.house.topics();
    for name in args.from(1) {
        if !session.closing && topics.subscribe(session.place, kind, name) {
            session.count_subscription(kind, true);
        }
        let word = ["subscribe", "psubscribe", "ssubscribe"][kind as usize];
        say(word, Some(name), count(kind, session), reply);
    }
}

fn from_channels(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    end(TopicKind::Channel, home, args, reply)
}

fn from_patterns(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    end(TopicKind::Pattern, home, args, reply)
}

fn from_shard_channels(home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    end(TopicKind::Shard, home, args, reply)
}

/// Ends subscriptions to those that are named, or to all of the kind.
fn end(kind: TopicKind, home: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> After {
    let word = ["unsubscribe", "punsubscribe", "sunsubscribe"][kind as usize];
    let session = &mut *home.session;
    let topics = home.house.topics();
    let all: Vec<Name> = match args.len() {
        1 => topics.names_of(session.place, kind),
        _ => Vec::new(),
    };
    if args.len() == 1 && all.is_empty() {
        say(word, None, count(kind, session), reply);
    }
    for name in all.iter().map(|name| &name[..]).chain(args.from(1)) {
        if topics.unsubscribe(session.place, kind, name) {
            session.count_subscription(kind, false);
        }
        say(word, Some(name), count(kind, session), reply);
    }
    After::Done
}

/// How many subscriptions a confirmation tells: channels and patterns together, or shard channels.
fn count(kind: TopicKind, session: &SessionState) -> i64 {
    let [channels, patterns, shard_channels] = session.subscribed;
    i64::from(if kind == TopicKind::Shard { shard_channels } else { channels + patterns })
}

fn say(word: &str, name: Option<&[u8]>, count: i64, reply: &mut Reply<'_>) {
    reply.push(3);
    reply.bulk_text(word);
    match name {
        Some(name) => reply.bulk(name),
        None => reply.null(),
    }
    reply.integer(count);
}
