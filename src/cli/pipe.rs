//! Mass insertion: raw protocol from standard input to the server, errors and replies counted.

use super::connection::Lost;
use super::format::show;
use super::session::Session;
use resp::client::Value;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::sync::mpsc::{self, TryRecvError};
use std::time::{Duration, Instant};

/// How long to wait for a reply before looking at the sender and the clock.
const LOOK_UP: Duration = Duration::from_millis(100);

/// Copies standard input to the server; true if no reply was an error.
pub(super) fn run(session: &mut Session, timeout_s: u64) -> bool {
    match transfer(session, timeout_s) {
        Ok(errors) => errors == 0,
        Err(Lost::Unreachable) => false,
        Err(lost) => {
            eprintln!("Error: {lost}");
            false
        }
    }
}

/// The number of errors among the replies.
fn transfer(session: &mut Session, timeout_s: u64) -> Result<u64, Lost> {
    let connection = session.connected()?;
    let writer = connection.writer().map_err(Lost::Io)?;
    connection.set_read_timeout(Some(LOOK_UP)).map_err(Lost::Io)?;
    let mark = mark();
    let (ended, end) = mpsc::channel();
    let last = mark.clone();
    // A server that waits for its replies to be read must not keep us from reading them.
    std::thread::spawn(move || ended.send(send_all(writer, &last)));
    let (mut errors, mut replies) = (0, 0);
    let mut timed_out = false;
    let mut sent = false;
    let mut heard = Instant::now();
    loop {
        match connection.receive_within(None)? {
            Some(Value::Bulk(bytes)) if bytes == mark.as_bytes() => break,
            Some(Value::Error(text)) => {
                eprintln!("{text}");
                errors += 1;
                replies += 1;
                heard = Instant::now();
            }
            Some(_) => {
                replies += 1;
                heard = Instant::now();
            }
            None if sent && timeout_s > 0 && heard.elapsed().as_secs() >= timeout_s => {
                eprintln!("No replies for {timeout_s} seconds: exiting.");
                errors += 1;
                timed_out = true;
                break;
            }
            None => {}
        }
        if !sent {
            match end.try_recv() {
                Ok(Ok(())) => {
                    show(b"All data transferred. Waiting for the last reply...\n");
                    (sent, heard) = (true, Instant::now());
                }
                Ok(Err(error)) => return Err(Lost::Io(error)),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return Err(Lost::Closed),
            }
        }
    }
    // The last reply may overtake the word that everything was sent.
    if !sent {
        show(b"All data transferred. Waiting for the last reply...\n");
    }
    if !timed_out {
        show(b"Last reply received from server.\n");
    }
    show(format!("errors: {errors}, replies: {replies}\n").as_bytes());
    Ok(errors)
}

/// Sends all of standard input, then an ECHO whose reply tells that everything was answered. An empty
/// line comes first, in case the input does not end with one.
fn send_all(mut writer: Box<dyn Write + Send>, mark: &str) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    let mut input = io::stdin().lock();
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => writer.write_all(&buffer[..read])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    writer.write_all(format!("\r\n*2\r\n$4\r\nECHO\r\n${}\r\n{mark}\r\n", mark.len()).as_bytes())
}

/// Twenty letters that no other reply consists of.
fn mark() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:04x}", random(), random() & 0xffff)
}
