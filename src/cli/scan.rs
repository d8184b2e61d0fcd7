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

enum Failure {
    Lost(Lost),
    Refused(String),
}

fn scan(session: &mut Session, pattern: Option<&[u8]>, count: Option<u64>) -> Result<(), Failure> {
    let mut cursor = b"0".to_vec();
    loop {
        let mut words = vec![b"SCAN".to_vec(), cursor];
        if let Some(pattern) = pattern {
            words.extend([b"MATCH".to_vec(), pattern.to_vec()]);
        }
        if let Some(count) = count {
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
        let mut lines = Vec::new();
        for key in keys {
            if let Value::Bulk(key) = key {
                match session.options.output {
                    Output::Standard => lines.extend_from_slice(quote_always(&key).as_bytes()),
                    _ => lines.extend_from_slice(&key),
                }
                lines.push(b'\n');
            }
        }
        show(&lines);
        if next == b"0" {
            return Ok(());
        }
        cursor = next;
        if let Some(interval) = session.options.interval {
            sleep(interval);
        }
    }
}
