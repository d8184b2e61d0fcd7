//! Addresses to listen on, as `bind` writes them. Opens no socket.

use spec::setting::Value;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One address of `bind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bind {
    /// Where to listen.
    pub address: IpAddr,
    /// Go on where the machine does not have it (written with a leading `-`).
    pub optional: bool,
}

impl Bind {
    /// Reads one word: an address, `*` or `::*` for all, `localhost`, each with an optional `-`.
    pub fn parse(word: &str) -> Option<Bind> {
        let (word, optional) = match word.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (word, false),
        };
        let address = match word {
            "*" => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            "::*" => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
            "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
            word => word.trim_start_matches('[').trim_end_matches(']').parse().ok()?,
        };
        Some(Bind { address, optional })
    }
}

/// The addresses of a `bind` value that was checked when it was set.
pub fn of(value: &Value) -> Vec<Bind> {
    value.words().iter().filter_map(|word| Bind::parse(word)).collect()
}

/// Refuses what is no address.
pub(super) fn check(value: &Value) -> Result<(), String> {
    match value.words().iter().find(|word| Bind::parse(word).is_none()) {
        Some(word) => Err(refusal(word)),
        None => Ok(()),
    }
}

/// Refuses a text that is no address.
pub(super) fn check_one(value: &Value) -> Result<(), String> {
    if Bind::parse(value.text()).is_some() { Ok(()) } else { Err(refusal(value.text())) }
}

fn refusal(word: &str) -> String {
    format!("'{word}' is no IP address (nor *, ::* or localhost)")
}
