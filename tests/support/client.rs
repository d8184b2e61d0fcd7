//! A client that says exactly what it is told and reads one reply after the other, RESP2 or RESP3.
//! Knows no command.

use std::io::{Read, Write};

/// A reply.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reply {
    Status(String),
    Error(String),
    Integer(i64),
    Bulk(Vec<u8>),
    Null,
    Double(String),
    Boolean(bool),
    List(Vec<Reply>),
    Map(Vec<Reply>),
}

impl Reply {
    /// In one line, as a test writes it: `+OK`, `:1`, `$text`, `_`, `[:1 $a]`.
    pub(crate) fn show(&self) -> String {
        let join = |items: &[Reply]| items.iter().map(Reply::show).collect::<Vec<_>>().join(" ");
        match self {
            Reply::Status(text) => format!("+{text}"),
            Reply::Error(text) => format!("-{text}"),
            Reply::Integer(number) => format!(":{number}"),
            Reply::Bulk(bytes) => format!("${}", String::from_utf8_lossy(bytes)),
            Reply::Null => "_".to_owned(),
            Reply::Double(text) => format!(",{text}"),
            Reply::Boolean(value) => format!("#{value}"),
            Reply::List(items) => format!("[{}]", join(items)),
            Reply::Map(items) => format!("{{{}}}", join(items)),
        }
    }

    /// The text of a bulk string or a status.
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        match self {
            Reply::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Reply::Status(text) => text.clone(),
            other => panic!("no text: {}", other.show()),
        }
    }
}

/// Appends a command as a RESP array.
pub(crate) fn encode(into: &mut Vec<u8>, words: &[&[u8]]) {
    into.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        into.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        into.extend_from_slice(word);
        into.extend_from_slice(b"\r\n");
    }
}

/// A connection.
pub(crate) struct Client<S> {
    pub stream: S,
    input: Vec<u8>,
    at: usize,
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn new(stream: S) -> Client<S> {
        Client { stream, input: Vec::new(), at: 0 }
    }

    /// Sends a command and reads its reply.
    #[track_caller]
    pub(crate) fn ask(&mut self, words: &[&[u8]]) -> Reply {
        let mut bytes = Vec::new();
        encode(&mut bytes, words);
        self.send(&bytes);
        self.read()
    }

    /// The same in short: words between spaces, and the reply in one line.
    #[track_caller]
    pub(crate) fn says(&mut self, line: &str) -> String {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        self.ask(&words).show()
    }

    /// Asks a line and compares the reply.
    #[track_caller]
    pub(crate) fn check(&mut self, line: &str, wanted: &str) {
        assert_eq!(self.says(line), wanted, "{line}");
    }

    #[track_caller]
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server takes bytes");
    }

    /// The next reply.
    #[track_caller]
    pub(crate) fn read(&mut self) -> Reply {
        self.try_read().expect("the server replies")
    }

    /// The next reply, or how the stream ended.
    pub(crate) fn try_read(&mut self) -> std::io::Result<Reply> {
        let line = self.line()?;
        let (kind, rest) = (line[0], String::from_utf8_lossy(&line[1..]).into_owned());
        let count = |rest: &str| rest.parse::<i64>().map_err(|_| std::io::Error::other(format!("{rest}?")));
        Ok(match kind {
            b'+' => Reply::Status(rest),
            b'-' => Reply::Error(rest),
            b':' => Reply::Integer(count(&rest)?),
            b',' => Reply::Double(rest),
            b'#' => Reply::Boolean(rest == "t"),
            b'_' => Reply::Null,
            b'$' | b'=' | b'!' => match count(&rest)? {
                ..0 => Reply::Null,
                length => Reply::Bulk(self.bytes(length as usize)?),
            },
            b'*' | b'~' | b'>' => match count(&rest)? {
                ..0 => Reply::Null,
                length => Reply::List(self.several(length)?),
            },
            b'%' => Reply::Map(self.several(2 * count(&rest)?)?),
            other => return Err(std::io::Error::other(format!("a reply of type {:?}", other as char))),
        })
    }

    fn several(&mut self, count: i64) -> std::io::Result<Vec<Reply>> {
        (0..count).map(|_| self.try_read()).collect()
    }

    fn more(&mut self) -> std::io::Result<()> {
        if self.at == self.input.len() {
            self.input.clear();
            self.at = 0;
        }
        let mut buffer = [0; 64 * 1024];
        let count = loop {
            match self.stream.read(&mut buffer) {
                // A tracer that attaches, or a stopped process that goes on, interrupts a timed read.
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        self.input.extend_from_slice(&buffer[..count]);
        Ok(())
    }

    fn line(&mut self) -> std::io::Result<Vec<u8>> {
        let mut seen = 0;
        loop {
            let waiting = &self.input[self.at..];
            if let Some(end) = waiting[seen..].windows(2).position(|pair| pair == b"\r\n") {
                let line = waiting[..seen + end].to_vec();
                self.at += line.len() + 2;
                return if line.is_empty() { Err(std::io::Error::other("an empty line")) } else { Ok(line) };
            }
            seen = waiting.len().saturating_sub(1);
            self.more()?;
        }
    }

    fn bytes(&mut self, length: usize) -> std::io::Result<Vec<u8>> {
        while self.input.len() - self.at < length + 2 {
            self.more()?;
        }
        let bytes = self.input[self.at..self.at + length].to_vec();
        self.at += length + 2;
        if self.at > 1 << 20 {
            self.input.drain(..self.at);
            self.at = 0;
        }
        Ok(bytes)
    }

    /// Everything up to the end of the stream.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = self.input.split_off(self.at);
        let _ = self.stream.read_to_end(&mut rest);
        rest
    }
}
