//! PUBSUB: what is listened to, and by how many. Each shard tells of its own clients.

use super::topics::TopicKind;
use crate::command::{Command, Everywhere, Go, Lock, Run};
use crate::context::Args;
use crate::help;
use crate::home::{After, Home, House};
use resp::Reply;
use spec::{Argument, ArgumentKind, Flags, Group};
use std::collections::BTreeSet;

pub(super) static PUBSUB: Command = Command::new("PUBSUB", Group::PubSub, Run::Container)
    .arity(-2)
    .summary("2.8.0", "A container for Pub/Sub commands.")
    .complexity("Depends on subcommand.")
    .subcommands(&[&CHANNELS, &HELP, &NUMPAT, &NUMSUB, &SHARDCHANNELS, &SHARDNUMSUB]);

const PLAIN: Flags = Flags::PUBSUB.with(Flags::LOADING).with(Flags::STALE);
const PATTERN: Argument = Argument::new("pattern", ArgumentKind::Pattern).optional();

const fn sub(name: &'static str, run: Run, arity: i16) -> Command {
    Command::new(name, Group::PubSub, run).arity(arity).flags(PLAIN)
}

static CHANNELS: Command = sub("CHANNELS", Run::Everywhere(&NAMES), -2)
    .summary("2.8.0", "Returns the active channels.")
    .complexity("O(N) where N is the number of active channels, and assuming constant time pattern matching (relatively short channels and patterns)")
    .arguments(&[PATTERN]);
static NUMPAT: Command = sub("NUMPAT", Run::Everywhere(&PATTERNS), 2)
    .summary("2.8.0", "Returns a count of unique pattern subscriptions.");
static NUMSUB: Command = sub("NUMSUB", Run::Everywhere(&COUNTS), -2)
    .summary("2.8.0", "Returns a count of subscribers to channels.")
    .complexity("O(N) for the NUMSUB subcommand, where N is the number of requested channels")
    .arguments(&[Argument::new("channel", ArgumentKind::String).optional().multiple()]);
static SHARDCHANNELS: Command = sub("SHARDCHANNELS", Run::Everywhere(&SHARD_NAMES), -2)
    .summary("7.0.0", "Returns the active shard channels.")
    .complexity("O(N) where N is the number of active shard channels, and assuming constant time pattern matching (relatively short shard channels).")
    .arguments(&[PATTERN]);
static SHARDNUMSUB: Command = sub("SHARDNUMSUB", Run::Everywhere(&SHARD_COUNTS), -2)
    .summary("7.0.0", "Returns the count of subscribers of shard channels.")
    .complexity("O(N) for the SHARDNUMSUB subcommand, where N is the number of requested shard channels")
    .arguments(&[Argument::new("shardchannel", ArgumentKind::String).optional().multiple()]);
static HELP: Command = Command::new("HELP", Group::PubSub, Run::Home(help))
    .arity(2)
    .flags(Flags::LOADING.with(Flags::STALE))
    .summary("6.2.0", "Returns a helpful text about the different subcommands.");

static NAMES: Everywhere = Everywhere {
    lock: Lock::Nothing,
    prepare: Some(check_pattern),
    part: |house, _, args, out| names(TopicKind::Channel, house, args, out),
    fold: fold_names,
};
static SHARD_NAMES: Everywhere = Everywhere {
    lock: Lock::Nothing,
    prepare: Some(check_pattern),
    part: |house, _, args, out| names(TopicKind::Shard, house, args, out),
    fold: fold_names,
};
static PATTERNS: Everywhere = Everywhere {
    lock: Lock::Nothing,
    prepare: None,
    part: |house, _, args, out| names(TopicKind::Pattern, house, args, out),
    fold: |_, _, parts, reply| {
        reply.integer(union(parts).len() as i64);
        After::Done
    },
};
static COUNTS: Everywhere = Everywhere {
    lock: Lock::Nothing,
    prepare: None,
    part: |house, _, args, out| counts(TopicKind::Channel, house, args, out),
    fold: fold_counts,
};
static SHARD_COUNTS: Everywhere = Everywhere {
    lock: Lock::Nothing,
    prepare: None,
    part: |house, _, args, out| counts(TopicKind::Shard, house, args, out),
    fold: fold_counts,
};

fn check_pattern(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Go {
    if args.len() > 3 {
        help::refuse("PUBSUB", args, reply);
        return Go::Answered;
    }
    Go::On
}

/// Names that clients of this shard listen to, each behind its length.
fn names(kind: TopicKind, house: &mut dyn House, args: Args<'_>, out: &mut Vec<u8>) {
    let pattern = (args.len() > 2).then(|| args.get(2));
    let wanted = |name: &[u8]| {
        pattern
            .is_none_or(|pattern| spec::glob::matches_all(pattern) || spec::glob_match(pattern, name, false))
    };
    for (name, _) in house.topics().listed(kind).filter(|(name, _)| wanted(name)) {
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(name);
    }
}

/// Each name that any shard has told, once.
fn union<'a>(parts: &[&'a [u8]]) -> BTreeSet<&'a [u8]> {
    let mut all = BTreeSet::new();
    for part in parts {
        let mut rest = *part;
        while let Some((length, behind)) = rest.split_first_chunk::<4>() {
            let (name, behind) = behind.split_at(u32::from_le_bytes(*length) as usize);
            all.insert(name);
            rest = behind;
        }
    }
    all
}

fn fold_names(_: &mut Home<'_>, _: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    let all = union(parts);
    reply.array(all.len());
    all.into_iter().for_each(|name| reply.bulk(name));
    After::Done
}

/// How many clients of this shard listen to each name that is asked for.
fn counts(kind: TopicKind, house: &mut dyn House, args: Args<'_>, out: &mut Vec<u8>) {
    let topics = house.topics();
    for name in args.from(2) {
        out.extend_from_slice(&(topics.listeners(kind, name) as u64).to_le_bytes());
    }
}

fn fold_counts(_: &mut Home<'_>, args: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    reply.array(2 * args.from(2).len());
    for (place, name) in args.from(2).enumerate() {
        let told = |part: &&[u8]| part.get(8 * place..)?.first_chunk().copied();
        let counts = parts.iter().filter_map(told).map(u64::from_le_bytes);
        reply.bulk(name);
        reply.integer(counts.sum::<u64>() as i64);
    }
    After::Done
}

fn help(_: &mut Home<'_>, _: Args<'_>, reply: &mut Reply<'_>) -> After {
    help::write("PUBSUB", LINES, reply)
}

const LINES: &[&str] = &[
    "CHANNELS [<pattern>]",
    "    Return the currently active channels matching a <pattern> (default: '*').",
    "NUMPAT",
    "    Return number of subscriptions to patterns.",
    "NUMSUB [<channel> ...]",
    "    Return the number of subscribers for the specified channels, excluding",
    "    pattern subscriptions(default: no channels).",
    "SHARDCHANNELS [<pattern>]",
    "    Return the currently active shard level channels matching a <pattern> (default: '*').",
    "SHARDNUMSUB [<shardchannel> ...]",
    "    Return the number of subscribers for the specified shard level channel(s)",
];
