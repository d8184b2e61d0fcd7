//! Anything the catalog has: arguments made from the declarations, then spoilt now and then; markers
//! between them, so that a reply that slips is seen. It knows no command by heart but those that would
//! end the run.

use crate::declared::{Fill, add_all};
use crate::random::Random;
use crate::request::{Expect, Kinds, Request, show};
use commands::{Catalog, Entry, ReplyMode};
use resp::client::{Value, encode_command};
use spec::{Argument, ArgumentKind, Group};

/// Commands that change what a client may expect, or end the run: sent on purpose or not at all.
const APART: [&str; 23] = [
    "multi",
    "exec",
    "discard",
    "shutdown",
    "quit",
    "reset",
    "hello",
    "auth",
    "debug",
    "client|reply",
    "client|kill",
    "client|pause",
    "client|no-touch",
    "config|set",
    "monitor",
    "failover",
    "sync",
    "subscribe",
    "psubscribe",
    "ssubscribe",
    "unsubscribe",
    "punsubscribe",
    "sunsubscribe",
];

/// A client that sends anything, and knows how many replies that makes.
#[derive(Clone, Debug)]
pub(crate) struct Chaos {
    mode: ReplyMode,
    marker: u64,
    /// Requests still to be queued behind MULTI, if it is in one.
    queued: Option<usize>,
    /// Sends no more: its last request closes the connection.
    pub over: bool,
}

impl Chaos {
    pub(crate) fn new() -> Chaos {
        Chaos { mode: ReplyMode::On, marker: 0, queued: None, over: false }
    }

    /// The next request.
    pub(crate) fn next(&mut self, catalog: &'static Catalog, kills: bool, random: &mut Random) -> Request {
        if self.queued.is_some() {
            return self.inside(catalog, random);
        }
        let mut request = match random.below(40) {
            13 if self.mode == ReplyMode::On => {
                self.queued = Some(random.below(9));
                return Request::new(&["MULTI"], Expect::Exactly(Value::Simple("OK".into())));
            }
            0..=5 => self.marker(random),
            6 => return self.reply_mode(random),
            7 if random.one_in(6) => return self.last(random),
            8 => greeting(random),
            9 if kills => pause_or_kill(random),
            10 => Request::new(&["NO-SUCH-COMMAND", "x"], Expect::Kinds(Kinds::ERROR)),
            11 => return reset(&mut self.mode),
            12 if random.one_in(2) => nothing(random),
            _ => from_catalog(catalog, random),
        };
        if request.expect.is_some() {
            match self.mode {
                ReplyMode::On => {}
                ReplyMode::Off => request.expect = None,
                ReplyMode::Skip | ReplyMode::SkipNext => {
                    request.expect = None;
                    self.mode = ReplyMode::On;
                }
            }
        }
        request
    }

    /// Behind MULTI: anything, then its end.
    fn inside(&mut self, catalog: &'static Catalog, random: &mut Random) -> Request {
        let Some(left) = self.queued.filter(|left| *left > 0) else {
            self.queued = None;
            return match random.below(8) {
                0 => Request::new(&["DISCARD"], Expect::Exactly(Value::Simple("OK".into()))),
                1 => reset(&mut self.mode),
                _ => {
                    let kinds = Kinds::ARRAY.or(Kinds::NULL).or(Kinds::ERROR);
                    Request::new(&["EXEC"], Expect::Kinds(kinds))
                }
            };
        };
        self.queued = Some(left - 1);
        let request = match random.below(10) {
            0 => self.marker(random),
            1 => Request::new(&["MULTI"], Expect::Kinds(Kinds::ERROR)),
            _ => from_catalog(catalog, random),
        };
        Request { expect: Some(Expect::Kinds(Kinds::SIMPLE.or(Kinds::ERROR))), ..request }
    }

    fn marker(&mut self, random: &mut Random) -> Request {
        self.marker += 1;
        let text = format!("marker{}", self.marker);
        let expect = Expect::Exactly(Value::Bulk(text.clone().into()));
        let command = if random.one_in(2) { "ECHO" } else { "PING" };
        if random.one_in(3) {
            Request::inline(&[command, &text], expect)
        } else {
            Request::new(&[command, &text], expect)
        }
    }

    fn reply_mode(&mut self, random: &mut Random) -> Request {
        let mut request = match random.below(3) {
            0 => Request::new(&["CLIENT", "REPLY", "OFF"], Expect::Kinds(Kinds::ANY)),
            1 => Request::new(&["CLIENT", "REPLY", "SKIP"], Expect::Kinds(Kinds::ANY)),
            _ => Request::new(&["CLIENT", "REPLY", "ON"], Expect::Exactly(Value::Simple("OK".into()))),
        };
        match &request.text {
            text if text.ends_with("OFF") => self.mode = ReplyMode::Off,
            text if text.ends_with("ON") => {
                self.mode = ReplyMode::On;
                return request;
            }
            _ if self.mode != ReplyMode::Off => self.mode = ReplyMode::Skip,
            _ => {}
        }
        request.expect = None;
        request
    }

    /// A request behind which the server closes.
    fn last(&mut self, random: &mut Random) -> Request {
        if self.mode != ReplyMode::On {
            return self.marker(random).muted(&mut self.mode);
        }
        self.over = true;
        match random.below(3) {
            0 => Request::inline(&["QUIT"], Expect::Last),
            1 => Request::new(&["QUIT"], Expect::Last),
            _ => raw(b"*2\r\n$x\r\n", "a broken frame", Some(Expect::Last)),
        }
    }
}

impl Request {
    /// The same where its client wants no reply.
    fn muted(mut self, mode: &mut ReplyMode) -> Request {
        if *mode == ReplyMode::Skip {
            *mode = ReplyMode::On;
        }
        self.expect = None;
        self
    }
}

fn raw(bytes: &[u8], text: &str, expect: Option<Expect>) -> Request {
    Request { bytes: bytes.to_vec(), expect, text: text.into() }
}

fn reset(mode: &mut ReplyMode) -> Request {
    *mode = ReplyMode::On;
    Request::new(&["RESET"], Expect::Exactly(Value::Simple("RESET".into())))
}

/// Bytes that ask for nothing.
fn nothing(random: &mut Random) -> Request {
    raw(random.pick::<&[u8]>(&[b"\r\n", b"*0\r\n", b"*-1\r\n", b"   \r\n"]), "nothing", None)
}

fn greeting(random: &mut Random) -> Request {
    let version = *random.pick(&["2", "3", "3", "4"]);
    Request::new(&["HELLO", version], Expect::Kinds(Kinds::ANY))
}

fn pause_or_kill(random: &mut Random) -> Request {
    let id = random.within(1, 12).to_string();
    match random.below(5) {
        0 => Request::new(&["CLIENT", "PAUSE", "20"], Expect::Kinds(Kinds::SIMPLE)),
        1 => Request::new(&["CLIENT", "PAUSE", "20", "WRITE"], Expect::Kinds(Kinds::SIMPLE)),
        2 => Request::new(&["CLIENT", "UNPAUSE"], Expect::Kinds(Kinds::SIMPLE)),
        _ => Request::new(&["CLIENT", "KILL", "ID", &id], Expect::Kinds(Kinds::INTEGER)),
    }
}

fn from_catalog(catalog: &'static Catalog, random: &mut Random) -> Request {
    let entries = catalog.entries();
    let entry = loop {
        let entry = &entries[random.below(entries.len())];
        let container = entry.full_name.split('|').next().unwrap_or_default();
        if !APART.contains(&entry.full_name.as_str()) && !APART.contains(&container) {
            break entry;
        }
    };
    let mut args: Vec<Vec<u8>> = entry.full_name.split('|').map(|word| word.as_bytes().to_vec()).collect();
    let names = args.len();
    add_all(entry.command.arguments, &mut args, &mut Anything { group: entry.command.group }, random);
    let waits = entry.command.blocks.is_some();
    if waits {
        // Nobody waits for ever.
        let at = if entry.full_name.ends_with("mpop") { 1 } else { args.len() - 1 };
        args[at] = format!("0.0{}", random.within(10, 60)).into_bytes();
    } else if random.one_in(8) {
        spoil(&mut args, names, random);
    }
    let refs: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
    let mut bytes = Vec::new();
    encode_command(&refs, &mut bytes);
    Request { bytes, expect: Some(Expect::Kinds(kinds_of(entry))), text: show(&refs) }
}

/// What the command may answer, as far as its name tells.
fn kinds_of(entry: &Entry) -> Kinds {
    let kinds = match entry.full_name.as_str() {
        "get" | "getset" | "getdel" | "getex" | "randomkey" => Kinds::BULK.or(Kinds::NULL),
        "getrange" | "substr" | "echo" => Kinds::BULK,
        "incr" | "decr" | "incrby" | "decrby" | "append" | "strlen" | "del" | "unlink" | "exists"
        | "touch" | "setnx" | "msetnx" | "renamenx" | "copy" | "move" | "expire" | "pexpire" | "expireat"
        | "pexpireat" | "persist" | "ttl" | "pttl" | "expiretime" | "pexpiretime" | "dbsize" | "setrange"
        | "client|id" => Kinds::INTEGER,
        "mget" | "keys" | "scan" => Kinds::ARRAY,
        "mset" | "setex" | "psetex" | "rename" | "flushall" | "flushdb" | "swapdb" | "select" | "type" => {
            Kinds::SIMPLE
        }
        _ => Kinds::ANY,
    };
    kinds.or(Kinds::ERROR)
}

/// Words of any command: a few keys for each kind of value, and any value.
struct Anything {
    group: Group,
}

impl Fill for Anything {
    type Word = Vec<u8>;

    fn token(&mut self, token: &str) -> Vec<u8> {
        token.as_bytes().to_vec()
    }

    /// Mostly one where a command of that group may have put something.
    fn key(&mut self, random: &mut Random) -> Vec<u8> {
        let letter = match self.group {
            Group::List => "l",
            Group::Set => "s",
            Group::SortedSet | Group::Geo => "z",
            Group::Hash => "h",
            _ => return key(random),
        };
        if random.one_in(6) { key(random) } else { format!("{letter}{}", random.below(4)).into_bytes() }
    }

    fn value(&mut self, argument: &Argument, random: &mut Random) -> Vec<u8> {
        value(argument.kind, random)
    }
}

fn key(random: &mut Random) -> Vec<u8> {
    let number = random.below(6);
    match random.below(6) {
        4 => format!("{}{}", random.pick(&["l", "s", "z", "h"]), random.below(4)).into_bytes(),
        0 => format!("{{tag}}{number}").into_bytes(),
        _ => format!("k{number}").into_bytes(),
    }
}

fn value(kind: ArgumentKind, random: &mut Random) -> Vec<u8> {
    const INTEGERS: [&str; 10] = ["0", "1", "-1", "2", "3", "10", "50", "100", "9223372036854775807", "1.5"];
    match kind {
        ArgumentKind::Integer => random.pick(&INTEGERS).as_bytes().to_vec(),
        ArgumentKind::Double => random.pick(&["0.5", "-1", "1e3", "nan"]).as_bytes().to_vec(),
        ArgumentKind::Pattern => random.pick(&["*", "k*", "{tag}?", "[", "k[0-2]"]).as_bytes().to_vec(),
        ArgumentKind::UnixTime => {
            random.pick(&["1700000000", "1700000001", "1700000000050", "9999999999999"]).as_bytes().to_vec()
        }
        _ => match random.below(6) {
            0 => Vec::new(),
            1 => vec![b'v'; random.within(1, 1_500)],
            2 => random.below(100).to_string().into_bytes(),
            3 => key(random),
            _ => format!("value{}", random.below(1_000)).into_bytes(),
        },
    }
}

/// Takes something away, adds something or replaces it, behind the name.
fn spoil(args: &mut Vec<Vec<u8>>, names: usize, random: &mut Random) {
    let at = random.within(names, args.len());
    match random.below(3) {
        0 => args.truncate(at),
        1 => args.insert(at, value(ArgumentKind::String, random)),
        _ if at < args.len() => args[at] = (0..random.below(6)).map(|_| random.draw() as u8).collect(),
        _ => {}
    }
}
