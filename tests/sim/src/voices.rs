//! Clients that speak and clients that listen. What is said after a listener was told that it listens must be
//! heard: once, and each speaker's words in order. It does not know how messages travel.

use crate::random::Random;
use crate::request::{Expect, Kinds, Request};
use resp::client::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Channels, and a pattern that matches some of them.
const CHANNELS: [&str; 3] = ["news", "new", "old"];
const PATTERN: &str = "new*";

/// Who has said how much on which channel: numbers from 1 on.
type Spoken = BTreeMap<(usize, u64), Said>;

/// What is known of one speaker's words on one channel.
#[derive(Clone, Copy, Default, Debug)]
struct Said {
    asked: i64,
    answered: i64,
}

/// What all speakers and listeners of a run have in common.
#[derive(Clone, Default, Debug)]
pub(crate) struct Square {
    spoken: Spoken,
    /// Subscriptions that have been confirmed and not ended, each with a number of its own.
    listening: BTreeSet<(usize, u64)>,
    serial: u64,
    /// Clients may be closed without knowing it yet: nobody can be counted on.
    pub uncertain: bool,
}

/// What a client does.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Voice {
    /// Says numbers, each behind its own name, which is new with each connection.
    Speaker { name: u64 },
    /// Listens to one thing for a while, then to another.
    Listener { topic: usize, state: Listening },
}

/// How far a listener is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Listening {
    /// To nothing.
    Not,
    /// It has asked to.
    Asked,
    /// It has vanished: nobody cares what it hears.
    Gone,
    /// It has been told that it does.
    Told {
        /// The number of the subscription.
        serial: u64,
        /// What had been asked to be said by then: what comes later must be heard.
        before: BTreeMap<(usize, u64), i64>,
        /// What it heard last.
        heard: BTreeMap<(usize, u64), i64>,
        /// It has asked to end it.
        ends: bool,
        /// And to begin anew right behind that.
        again: bool,
    },
}

/// The topic of that number covers a channel: the last is the pattern.
fn covers(topic: usize, channel: usize) -> bool {
    topic == channel
        || topic == CHANNELS.len()
            && spec::glob_match(PATTERN.as_bytes(), CHANNELS[channel].as_bytes(), false)
}

fn name_of(topic: usize) -> &'static str {
    CHANNELS.get(topic).copied().unwrap_or(PATTERN)
}

impl Square {
    /// The next number that nothing else has.
    fn draw(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Who listens for sure to that channel.
    fn listeners(&self, channel: usize) -> Vec<u64> {
        let covering = self.listening.iter().filter(|(topic, _)| covers(*topic, channel));
        covering.map(|(_, serial)| *serial).collect()
    }

    /// A message has been counted by the server: by all who listened when it was asked for, and still do.
    pub(crate) fn answered(
        &mut self,
        channel: usize,
        speaker: u64,
        listeners: &[u64],
        value: &Value,
    ) -> Result<(), String> {
        let Value::Integer(count) = value else { return Err(format!("PUBLISH answered {value:?}")) };
        let said = self.spoken.entry((channel, speaker)).or_default();
        said.answered += 1;
        let sure = listeners
            .iter()
            .filter(|serial| self.listening.iter().any(|(_, other)| other == *serial))
            .count();
        if !self.uncertain && *count < sure as i64 {
            return Err(format!("{count} heard a message for which {sure} listen"));
        }
        Ok(())
    }
}

impl Voice {
    pub(crate) fn new(random: &mut Random) -> Voice {
        if random.one_in(3) {
            Voice::Speaker { name: 0 }
        } else {
            Voice::Listener { topic: random.below(CHANNELS.len() + 1), state: Listening::Not }
        }
    }

    /// It has vanished; what it still hears is of no account.
    pub(crate) fn vanishes(&mut self) {
        if let Voice::Listener { state, .. } = self {
            *state = Listening::Gone;
        }
    }

    /// Its connection was lost.
    pub(crate) fn begin_anew(&mut self, square: &mut Square) {
        match self {
            Voice::Speaker { name } => *name = 0,
            Voice::Listener { topic, state } => {
                if let Listening::Told { serial, .. } = state {
                    square.listening.remove(&(*topic, *serial));
                }
                *state = Listening::Not;
            }
        }
    }

    /// Whether it waits for something that is no reply.
    pub(crate) fn waits(&self) -> bool {
        match self {
            Voice::Listener { state, .. } => {
                matches!(state, Listening::Asked | Listening::Told { ends: true, .. })
            }
            Voice::Speaker { .. } => false,
        }
    }

    /// The next request.
    pub(crate) fn next(&mut self, square: &mut Square, random: &mut Random) -> Request {
        match self {
            Voice::Speaker { name } => {
                if *name == 0 {
                    *name = square.draw();
                }
                if random.one_in(6) {
                    return Request::new(&["GET", "w1"], Expect::Kinds(Kinds::BULK.or(Kinds::NULL)));
                }
                let channel = random.below(CHANNELS.len());
                let said = square.spoken.entry((channel, *name)).or_default();
                said.asked += 1;
                let text = format!("{name}:{}", said.asked);
                let listeners = square.listeners(channel);
                let expect = Expect::Heard(channel, *name, listeners);
                Request::new(&["PUBLISH", CHANNELS[channel], &text], expect)
            }
            Voice::Listener { topic, state } => match state {
                Listening::Not => {
                    *topic = random.below(CHANNELS.len() + 1);
                    *state = Listening::Asked;
                    subscribe(*topic)
                }
                Listening::Told { serial, ends, again, .. } if !*ends && random.one_in(6) => {
                    *ends = true;
                    square.listening.remove(&(*topic, *serial));
                    let command = if *topic == CHANNELS.len() { "PUNSUBSCRIBE" } else { "UNSUBSCRIBE" };
                    let mut request = Request::new(&[command], Expect::Kinds(Kinds::ANY));
                    *again = random.one_in(2);
                    if *again {
                        request.bytes.extend_from_slice(&subscribe(*topic).bytes);
                    }
                    Request { expect: None, ..request }
                }
                _ => Request::new(&["PING", "now"], Expect::Kinds(Kinds::BULK.or(Kinds::ARRAY))),
            },
        }
    }

    /// Something that is no reply, if it is: a message, or what tells that it listens or no longer does.
    pub(crate) fn overhears(&mut self, square: &mut Square, value: &Value) -> Result<bool, String> {
        let (Value::Push(words) | Value::Array(words)) = value else { return Ok(false) };
        let texts: Vec<&[u8]> = words
            .iter()
            .filter_map(|word| if let Value::Bulk(text) = word { Some(&text[..]) } else { None })
            .collect();
        let Voice::Listener { topic, state } = self else { return Ok(false) };
        match (texts.as_slice(), &mut *state) {
            ([b"pong", ..], _) => return Ok(false),
            ([_, ..], Listening::Gone) => {}
            ([b"subscribe" | b"psubscribe", _], Listening::Asked) => {
                let serial = square.draw();
                square.listening.insert((*topic, serial));
                let before = square.spoken.iter().map(|(key, said)| (*key, said.asked)).collect();
                *state =
                    Listening::Told { serial, before, heard: BTreeMap::new(), ends: false, again: false };
            }
            ([b"unsubscribe" | b"punsubscribe", _], Listening::Told { ends: true, again, .. }) => {
                *state = if *again { Listening::Asked } else { Listening::Not }
            }
            (
                [b"message", channel, text] | [b"pmessage", _, channel, text],
                Listening::Told { before, heard, .. },
            ) => {
                hear(*topic, before, heard, channel, text)?;
            }
            _ => return Err(format!("{value:?} while it is {state:?}")),
        }
        Ok(true)
    }

    /// At the end everything has been heard that was said since it was told that it listens.
    pub(crate) fn has_heard_all(&self, square: &Square) -> Result<(), String> {
        let Voice::Listener { topic, state: Listening::Told { before, heard, ends: false, .. } } = self
        else {
            return Ok(());
        };
        for (key, said) in square.spoken.iter().filter(|((channel, _), _)| covers(*topic, *channel)) {
            let known = before.get(key).copied().unwrap_or(0);
            let last = heard.get(key).copied().unwrap_or(known);
            // What is not answered may have been said or not.
            if said.answered > known && last < said.answered {
                return Err(format!("{key:?} was heard up to {last}: {said:?}, {known} before it listened"));
            }
        }
        Ok(())
    }
}

/// Asks to listen; the answer is no reply.
fn subscribe(topic: usize) -> Request {
    let command = if topic == CHANNELS.len() { "PSUBSCRIBE" } else { "SUBSCRIBE" };
    Request { expect: None, ..Request::new(&[command, name_of(topic)], Expect::Kinds(Kinds::ANY)) }
}

/// A message: the next of its speaker, or one of the first that may be heard.
fn hear(
    topic: usize,
    before: &BTreeMap<(usize, u64), i64>,
    heard: &mut BTreeMap<(usize, u64), i64>,
    channel: &[u8],
    text: &[u8],
) -> Result<(), String> {
    let place = CHANNELS.iter().position(|name| name.as_bytes() == channel);
    let parts = text.iter().position(|byte| *byte == b':').map(|colon| (&text[..colon], &text[colon + 1..]));
    let (Some(place), Some((speaker, number))) = (place, parts) else {
        return Err(format!("a strange message: {} {}", channel.escape_ascii(), text.escape_ascii()));
    };
    let (Some(speaker), Some(number)) = (resp::parse_u64(speaker), resp::parse_i64(number)) else {
        return Err(format!("a strange message: {}", text.escape_ascii()));
    };
    if !covers(topic, place) {
        return Err(format!("a message of {} for who listens to {}", CHANNELS[place], name_of(topic)));
    }
    let key = (place, speaker);
    let known = before.get(&key).copied().unwrap_or(0);
    let good = match heard.get(&key) {
        Some(last) => number == last + 1,
        None => number <= known + 1,
    };
    if !good {
        return Err(format!(
            "{speaker} said {number} on {}, heard before: {:?}, {known} were asked before it listened",
            CHANNELS[place],
            heard.get(&key)
        ));
    }
    heard.insert(key, number);
    Ok(())
}
