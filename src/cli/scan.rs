//! Listing keys with SCAN, so that a large keyspace stalls nobody.

use super::connection::Lost;
use super::format::show;
use super::options::Output;
use super::session::Session;
use resp::client::Value;
use spec::setting::quote_always;
use std::thread::sleep;

/// Prints all keys, a line each; true if nothing went wrong.
pub(super) fn run(session: &mut Session, pattern: Option<&[u8]>, count: Option<u64>) -> bool {
    match scan(session, pattern, count) {
        Ok(()) => true,
        Err(Failure::Lost(Lost::Unreachable)) => false,
        Err(Failure::Lost(lost)) => {
            eprintln!("Error: {lost}");
            false
        }
        Err(Failure::Refused(text)) => {
            eprintln!("ERROR: {text}");
            false
        }
    }
}

/// Why a scan ended early.
pub(super) enum Failure {
    /// The connection did.
    Lost(Lost),
    /// The server said no.
    Refused(String),
}

/// SCAN by SCAN through all keys.
pub(super) struct Scan<'a> {
    /// `None`: all keys were seen.
    cursor: Option<Vec<u8>>,
    pattern: Option<&'a [u8]>,
    count: Option<u64>,
}

impl<'a> Scan<'a> {
    /// From the first key on.
    pub(super) fn new(pattern: Option<&'a [u8]>, count: Option<u64>) -> Scan<'a> {
        Scan { cursor: Some(b"0".to_vec()), pattern, count }
    }

    /// Some more keys, or none at the end.
    pub(super) fn step(&mut self, session: &mut Session) -> Result<Option<Vec<Vec<u8>>>, Failure> {
        let Some(cursor) = self.cursor.take() else { return Ok(None) };
        let mut words = vec![b"SCAN".to_vec(), cursor];
        if let Some(pattern) = self.pattern {
            words.extend([b"MATCH".to_vec(), pattern.to_vec()]);
        }
        if let Some(count) = self.count {
            words.extend([b"COUNT".to_vec(), count.to_string().into_bytes()]);
        }
        let reply = session.ask(&words).map_err(Failure::Lost)?;
        let (next, keys) = match reply {
            Value::Error(text) => return Err(Failure::Refused(text)),
            Value::Array(parts) => match <[Value; 2]>::try_from(parts) {
                Ok([Value::Bulk(next), Value::Array(keys)]) => (next, keys),
                _ => return Err(Failure::Refused("Non ARRAY response from SCAN!".into())),
            },
            _ => return Err(Failure::Refused("Non ARRAY response from SCAN!".into())),
        };
        self.cursor = (next != b"0").then_some(next);
        let name = |key| match key {
            Value::Bulk(key) => Some(key),
            _ => None,
        };
        Ok(Some(keys.into_iter().filter_map(name).collect()))
    }
}

fn scan(session: &mut Session, pattern: Option<&[u8]>, count: Option<u64>) -> Result<(), Failure> {
    let mut scan = Scan::new(pattern, count);
    while let Some(keys) = scan.step(session)? {
        let mut lines = Vec::new();
        for key in keys {
            match session.options.output {
                Output::Standard => lines.extend_from_slice(quote_always(&key).as_bytes()),
                _ => lines.extend_from_slice(&key),
            }
            lines.push(b'\n');
        }
        show(&lines);
        if let Some(interval) = session.options.interval {
            sleep(interval);
        }
    }
    Ok(())
}
