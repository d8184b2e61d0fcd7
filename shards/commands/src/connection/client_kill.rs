//! CLIENT KILL, by address or by filters.

use super::client::OPERATOR;
use super::client_list::ClientType;
use crate::command::{Command, Everywhere, Go, Lock, Run};
use crate::context::Args;
use crate::home::{After, Call, Home, House, SessionState};
use resp::{Reply, parse_i64};
use spec::{Argument, ArgumentKind, Categories, Group};

pub(super) static KILL: Command = Command::new("KILL", Group::Connection, Run::Everywhere(&KILLING))
    .arity(-3)
    .flags(OPERATOR)
    .categories(Categories::DANGEROUS)
    .summary("2.4.0", "Terminates open connections.")
    .complexity("O(N) where N is the number of client connections")
    .arguments(&[Argument::one_of(
        "filter",
        &[
            Argument::new("old-format", ArgumentKind::String),
            Argument::one_of(
                "new-format",
                &[
                    Argument::new("client-id", ArgumentKind::Integer).token("ID").optional().since("2.8.12"),
                    Argument::one_of(
                        "client-type",
                        &[
                            Argument::word("normal", "NORMAL"),
                            Argument::word("master", "MASTER").since("3.2.0"),
                            Argument::word("slave", "SLAVE"),
                            Argument::word("replica", "REPLICA").since("5.0.0"),
                            Argument::word("pubsub", "PUBSUB"),
                        ],
                    )
                    .token("TYPE")
                    .optional()
                    .since("2.8.12"),
                    Argument::new("username", ArgumentKind::String).token("USER").optional(),
                    Argument::new("addr", ArgumentKind::String).token("ADDR").optional(),
                    Argument::new("laddr", ArgumentKind::String).token("LADDR").optional().since("6.2.0"),
                    Argument::one_of("skipme", &[Argument::word("yes", "YES"), Argument::word("no", "NO")])
                        .token("SKIPME")
                        .optional(),
                ],
            )
            .multiple(),
        ],
    )]);

static KILLING: Everywhere = Everywhere { lock: Lock::Nothing, prepare: Some(check), part, fold };

/// Which clients are to go.
struct Filter<'a> {
    id: Option<u64>,
    address: Option<&'a [u8]>,
    local: Option<&'a [u8]>,
    kind: Option<ClientType>,
    skip_me: bool,
    by_address_alone: bool,
}

impl Filter<'_> {
    fn takes(&self, session: &SessionState, me: u64) -> bool {
        let text = |wanted: Option<&[u8]>, have: &str| wanted.is_none_or(|wanted| wanted == have.as_bytes());
        self.id.is_none_or(|id| id == session.id)
            && text(self.address, &session.remote)
            && text(self.local, &session.local)
            && self.kind.is_none_or(|kind| kind.takes(session))
            && !(self.skip_me && session.id == me)
            && !session.closing
    }
}

fn filter<'a>(args: Args<'a>) -> Result<Filter<'a>, String> {
    let mut filter =
        Filter { id: None, address: None, local: None, kind: None, skip_me: true, by_address_alone: false };
    if args.len() == 3 {
        filter.address = Some(args.get(2));
        filter.skip_me = false;
        filter.by_address_alone = true;
        return Ok(filter);
    }
    let mut at = 2;
    while at < args.len() {
        if at + 1 >= args.len() {
            return Err("ERR syntax error".to_owned());
        }
        let value = args.get(at + 1);
        if args.is(at, "ID") {
            let id = parse_i64(value).filter(|id| *id > 0);
            filter.id = Some(id.ok_or("ERR client-id should be greater than 0")? as u64);
        } else if args.is(at, "TYPE") {
            let kind = ClientType::named(value);
            filter.kind =
                Some(kind.ok_or_else(|| format!("ERR Unknown client type '{}'", args.text(at + 1)))?);
        } else if args.is(at, "ADDR") {
            filter.address = Some(value);
        } else if args.is(at, "LADDR") {
            filter.local = Some(value);
        } else if args.is(at, "USER") {
            if value != b"default" {
                return Err(format!("ERR No such user '{}'", args.text(at + 1)));
            }
        } else if args.is(at, "SKIPME") {
            filter.skip_me = match () {
                () if value.eq_ignore_ascii_case(b"yes") => true,
                () if value.eq_ignore_ascii_case(b"no") => false,
                () => return Err("ERR syntax error".to_owned()),
            };
        } else {
            return Err("ERR syntax error".to_owned());
        }
        at += 2;
    }
    Ok(filter)
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

/// Answers how many went, and whether the asking client is to go too: that one is closed by its home,
/// once it has its reply.
fn part(house: &mut dyn House, call: &Call, args: Args<'_>, out: &mut Vec<u8>) {
    let Ok(filter) = filter(args) else { return };
    let mut doomed = Vec::new();
    house.sessions(&mut |session| {
        if filter.takes(session, call.caller.client) {
            doomed.push(session.id);
        }
    });
    let me = doomed.contains(&call.caller.client);
    let killed = doomed.iter().filter(|id| **id == call.caller.client || house.kill(**id)).count();
    out.extend_from_slice(&(killed as u64).to_le_bytes());
    out.push(u8::from(me));
}

fn fold(_: &mut Home<'_>, args: Args<'_>, parts: &[&[u8]], reply: &mut Reply<'_>) -> After {
    let count = |part: &&[u8]| part.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let killed: u64 = parts.iter().map(count).sum();
    let me = parts.iter().any(|part| part.get(8) == Some(&1));
    let by_address_alone = filter(args).is_ok_and(|filter| filter.by_address_alone);
    match (by_address_alone, killed) {
        (true, 0) => reply.error("ERR No such client"),
        (true, _) => reply.ok(),
        (false, _) => reply.integer(killed as i64),
    }
    if me { After::Close } else { After::Done }
}
