//! CLIENT LIST, and the line that describes a client.

use super::client::OPERATOR;
use crate::catalog::Catalog;
use crate::command::{Command, Everywhere, Go, Lock, Run};
use crate::context::Args;
use crate::home::{After, Call, Home, House, SessionState};
use resp::{Reply, Version, parse_i64};
use spec::{Argument, ArgumentKind, Group};
use std::io::Write;

pub(super) static LIST: Command = Command::new("LIST", Group::Connection, Run::Everywhere(&LISTING))
    .arity(-2)
    .flags(OPERATOR)
    .tips(&["nondeterministic_output"])
    .summary("2.4.0", "Lists open connections.")
    .complexity("O(N) where N is the number of client connections")
    .arguments(&[
        Argument::one_of(
            "client-type",
            &[
                Argument::word("normal", "NORMAL"),
                Argument::word("master", "MASTER"),
                Argument::word("replica", "REPLICA"),
                Argument::word("pubsub", "PUBSUB"),
            ],
        )
        .token("TYPE")
        .optional()
        .since("5.0.0"),
        Argument::new("client-id", ArgumentKind::Integer).token("ID").optional().multiple().since("6.2.0"),
    ]);

static LISTING: Everywhere = Everywhere { lock: Lock::Nothing, prepare: Some(check), part, fold };

/// Which clients are asked for.
enum Filter {
    All,
    Type(ClientType),
    Ids(Vec<i64>),
}

/// The kinds of clients that TYPE tells apart. There are no masters and replicas yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ClientType {
    Normal,
    Listening,
    OfReplication,
}

impl ClientType {
    /// The kind of that name.
    pub(super) fn named(name: &[u8]) -> Option<ClientType> {
        match name.to_ascii_lowercase().as_slice() {
            b"normal" => Some(ClientType::Normal),
            b"pubsub" => Some(ClientType::Listening),
            b"master" | b"replica" | b"slave" => Some(ClientType::OfReplication),
            _ => None,
        }
    }

    /// Whether a client is of this kind.
    pub(super) fn takes(self, session: &SessionState) -> bool {
        let own = if session.listens { ClientType::Listening } else { ClientType::Normal };
        self == own
    }
}

fn filter(args: Args<'_>) -> Result<Filter, String> {
    match args.len() {
        2 => Ok(Filter::All),
        4 if args.is(2, "TYPE") => match ClientType::named(args.get(3)) {
            Some(kind) => Ok(Filter::Type(kind)),
            None => Err(format!("ERR Unknown client type '{}'", args.text(3))),
        },
        count if count > 3 && args.is(2, "ID") => {
            let ids: Option<Vec<i64>> = args.from(3).map(parse_i64).collect();
            ids.map(Filter::Ids).ok_or("ERR Invalid client ID".to_owned())
        }
        _ => Err("ERR syntax error".to_owned()),
    }
}

fn check(_: &mut Home<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Go {
    match filter(args) {
        Ok(_) => Go::On,
        Err(text) => {
            reply.error(&text);
            Go::Answered
        }
    }
}

fn part(house: &mut dyn House, call: &Call, args: Args<'_>, out: &mut Vec<u8>) {
    let Ok(filter) = filter(args) else { return };
    let catalog = house.catalog();
    house.sessions(&mut |session| {
        let wanted = match &filter {
            Filter::All => true,
            Filter::Type(kind) => kind.takes(session),
            Filter::Ids(ids) => ids.contains(&(session.id as i64)),
        };
        if wanted && !session.closing {
            let running = (session.id == call.caller.client).then_some(args);
            describe(session, catalog, call.now, running, out);
        }
    });
}

/// The lines by id: about as old as Redis's order of arrival. Those asked for by id come as asked for.
fn fold(_: &mut Home<'_>, args: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    let id_of = |line: &&[u8]| {
        let digits = line.strip_prefix(b"id=").and_then(|rest| rest.split(|byte| *byte == b' ').next());
        digits.and_then(parse_i64).unwrap_or(0)
    };
    let mut lines: Vec<&[u8]> =
        parts.iter().flat_map(|part| part.split_inclusive(|byte| *byte == b'\n')).collect();
    lines.sort_by_key(id_of);
    if let Ok(Filter::Ids(ids)) = filter(args) {
        lines = ids.iter().filter_map(|id| lines.iter().copied().find(|line| id_of(line) == *id)).collect();
    }
    reply.verbatim("txt", &lines.concat());
    After::Done
}

/// One line of CLIENT LIST, with Redis 7.2's fields in their order. `running` is the client's request,
/// where it is the one that asks.
pub(super) fn describe(
    session: &SessionState,
    catalog: &Catalog,
    now: i64,
    running: Option<Args<'_>>,
    out: &mut Vec<u8>,
) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let command = session.last_command.map_or("NULL", |number| catalog.entry(number).full_name.as_str());
    let protocol = if session.version == Version::Resp3 { 3 } else { 2 };
    let query_bytes = running.map_or(session.query_bytes, frame_bytes);
    let argument_bytes: usize = running.map_or(0, |args| args.from(0).map(<[u8]>::len).sum());
    let memory = 2048 + query_bytes + session.queued_bytes + session.output_bytes;
    // Writing to a Vec cannot fail.
    let _ = writeln!(
        out,
        "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db={} sub={} psub={} ssub={} \
         multi={} qbuf={query_bytes} qbuf-free=0 argv-mem={argument_bytes} multi-mem={} rbs=16384 rbp=0 obl=0 oll=0 omem={} \
         tot-mem={memory} events=r cmd={command} user=default redir=-1 resp={protocol} lib-name={} lib-ver={}",
        session.id,
        session.remote,
        session.local,
        session.fd,
        text(&session.name),
        (now - session.since_ms).max(0) / 1000,
        (now - session.active_ms).max(0) / 1000,
        flags(session),
        session.db,
        session.subscribed[0],
        session.subscribed[1],
        session.subscribed[2],
        session.queued.map_or(-1, |count| count as i64),
        session.queued_bytes,
        session.output_bytes,
        text(&session.library),
        text(&session.library_version),
    );
}

/// A letter for each thing that is special about a client, N where nothing is.
fn flags(session: &SessionState) -> String {
    let special = [
        (session.listens, 'P'),
        (session.blocked, 'b'),
        (session.queued.is_some(), 'x'),
        (session.unix, 'U'),
        (session.no_evict, 'e'),
        (session.no_touch, 'T'),
    ];
    let letters: String = special.into_iter().filter(|(is, _)| *is).map(|(_, letter)| letter).collect();
    if letters.is_empty() { "N".to_owned() } else { letters }
}

/// Bytes of a request on the wire.
fn frame_bytes(args: Args<'_>) -> usize {
    let header = |number: usize| resp::IntegerText::new(number as i64).as_bytes().len() + 3;
    header(args.len())
        + args.from(0).map(|argument| header(argument.len()) + argument.len() + 2).sum::<usize>()
}
