//! One connection to a server: bytes out, replies in, blocking. Knows no command.

use super::options::Target;
use resp::client::{Decoder, Malformed, Value, encode_command};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a wait goes on before it looks whether somebody pressed Ctrl-C.
const LOOK_UP: Duration = Duration::from_millis(50);

/// Received bytes are moved to the front once so many were read.
const CONSUMED_BYTES_MAX: usize = 64 << 10;

/// Why there will be no more replies.
#[derive(Debug)]
pub(super) enum Lost {
    /// The server closed the connection.
    Closed,
    /// The wire failed.
    Io(io::Error),
    /// The server sent something that is no reply.
    Malformed(Malformed),
    /// Ctrl-C.
    Interrupted,
    /// No connection could be made; why has been told already.
    Unreachable,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::Closed => f.write_str("Server closed the connection"),
            Lost::Io(error) => f.write_str(&plain(error)),
            Lost::Malformed(malformed) => write!(f, "Protocol error, {malformed}"),
            Lost::Interrupted => f.write_str("interrupted"),
            Lost::Unreachable => f.write_str("not connected"),
        }
    }
}

/// An error of the system without Rust's ` (os error 111)`.
pub(super) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connection.
pub(super) struct Connection {
    stream: Stream,
    received: Vec<u8>,
    at: usize,
    decoder: Decoder,
}

impl Connection {
    /// Connects, to the first address of the name that answers.
    pub(super) fn open(target: &Target, timeout: Option<Duration>) -> io::Result<Self> {
        let stream = match target {
            Target::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
            Target::Tcp { host, port } => {
                let stream = open_tcp(host, *port, timeout)?;
                stream.set_nodelay(true)?;
                Stream::Tcp(stream)
            }
        };
        Ok(Connection { stream, received: Vec::new(), at: 0, decoder: Decoder::default() })
    }

    /// Sends a command.
    pub(super) fn send<T: AsRef<[u8]>>(&mut self, words: &[T]) -> Result<(), Lost> {
        let words: Vec<&[u8]> = words.iter().map(AsRef::as_ref).collect();
        let mut bytes = Vec::new();
        encode_command(&words, &mut bytes);
        self.write_all(&bytes).map_err(Lost::Io)
    }

    /// Sends several commands at once.
    pub(super) fn send_all(&mut self, commands: &[Vec<Vec<u8>>]) -> Result<(), Lost> {
        let mut bytes = Vec::new();
        for words in commands {
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            encode_command(&words, &mut bytes);
        }
        self.write_all(&bytes).map_err(Lost::Io)
    }

    /// Waits for a reply. With a flag, the wait ends once it is up.
    pub(super) fn receive(&mut self, interrupt: Option<&AtomicBool>) -> Result<Value, Lost> {
        self.set_read_timeout(interrupt.map(|_| LOOK_UP)).map_err(Lost::Io)?;
        loop {
            if let Some(value) = self.receive_within(interrupt)? {
                return Ok(value);
            }
        }
    }

    /// A reply, or `None` where the read timeout passed without one.
    pub(super) fn receive_within(&mut self, interrupt: Option<&AtomicBool>) -> Result<Option<Value>, Lost> {
        loop {
            let value = self.decoder.next(&self.received, &mut self.at).map_err(Lost::Malformed)?;
            if self.at == self.received.len() || self.at > CONSUMED_BYTES_MAX {
                self.received.drain(..self.at);
                self.at = 0;
            }
            if value.is_some() {
                return Ok(value);
            }
            if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(Lost::Interrupted);
            }
            match self.read_more() {
                Ok(0) => return Err(Lost::Closed),
                Ok(_) => {}
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Ok(None),
                    ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => return Err(Lost::Closed),
                    _ => return Err(Lost::Io(error)),
                },
            }
        }
    }

    /// How long a read may wait; `None` for as long as it takes.
    pub(super) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match &self.stream {
            Stream::Tcp(stream) => stream.set_read_timeout(timeout),
            Stream::Unix(stream) => stream.set_read_timeout(timeout),
        }
    }

    /// A second end for another thread to write to.
    pub(super) fn writer(&self) -> io::Result<Box<dyn Write + Send>> {
        Ok(match &self.stream {
            Stream::Tcp(stream) => Box::new(stream.try_clone()?),
            Stream::Unix(stream) => Box::new(stream.try_clone()?),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.stream {
            Stream::Tcp(stream) => stream.write_all(bytes),
            Stream::Unix(stream) => stream.write_all(bytes),
        }
    }

    fn read_more(&mut self) -> io::Result<usize> {
        // What is left of a long reply tells how much is worth asking for.
        let room = self.received.len().clamp(16 << 10, 1 << 20);
        let filled = self.received.len();
        self.received.resize(filled + room, 0);
        let read = match &mut self.stream {
            Stream::Tcp(stream) => stream.read(&mut self.received[filled..]),
            Stream::Unix(stream) => stream.read(&mut self.received[filled..]),
        };
        self.received.truncate(filled + *read.as_ref().unwrap_or(&0));
        read
    }
}

fn open_tcp(host: &str, port: u16, timeout: Option<Duration>) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(ErrorKind::NotFound, "Name has no address");
    for address in (host, port).to_socket_addrs()? {
        let opened = match timeout {
            Some(timeout) => TcpStream::connect_timeout(&address, timeout),
            None => TcpStream::connect(address),
        };
        match opened {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}
