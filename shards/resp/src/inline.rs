//! Inline commands: one line, words parted by blanks, quotes as in redis-cli. Escapes change
//! bytes, so the words are written to a scratch buffer; where the line lay is not known here.

use crate::{Fault, Span};

/// A scratch buffer larger than this is given up after use, so that one long line does not
/// stay in memory for as long as its connection.
const SCRATCH_BYTES_KEPT_MAX: usize = 4096;

/// The words of the last inline command.
#[derive(Default, Debug)]
pub(crate) struct Inline {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl Inline {
    /// The scratch buffer and the words in it.
    pub(crate) fn args(&self) -> (&[u8], &[Span]) {
        (&self.bytes, &self.spans)
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.capacity() + self.spans.capacity() * size_of::<Span>()
    }

    /// Splits `line` (without its end) into words. Returns how many there are.
    pub(crate) fn split(&mut self, line: &[u8]) -> Result<usize, Fault> {
        self.clear();
        let mut at = 0;
        loop {
            while line.get(at).is_some_and(|&byte| is_blank(byte)) {
                at += 1;
            }
            if at == line.len() {
                return Ok(self.spans.len());
            }
            let start = self.bytes.len();
            at = self.word(line, at)?;
            let len = self.bytes.len() - start;
            self.spans.push(Span { start: start as u32, len: len as u32 });
        }
    }

    fn clear(&mut self) {
        if self.bytes.capacity() > SCRATCH_BYTES_KEPT_MAX {
            *self = Inline::default();
        }
        self.bytes.clear();
        self.spans.clear();
    }

    /// Copies the word at `at`, which may hold quoted parts anywhere; returns where it ended.
    fn word(&mut self, line: &[u8], mut at: usize) -> Result<usize, Fault> {
        while let Some(&byte) = line.get(at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => return Ok(at),
                b'"' => return self.double_quoted(line, at + 1),
                b'\'' => return self.single_quoted(line, at + 1),
                _ => self.bytes.push(byte),
            }
            at += 1;
        }
        Ok(at)
    }

    fn double_quoted(&mut self, line: &[u8], mut at: usize) -> Result<usize, Fault> {
        loop {
            match line[at..] {
                [b'\\', b'x', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                    self.bytes.push(hex(high) << 4 | hex(low));
                    at += 4;
                }
                [b'\\', byte, ..] => {
                    self.bytes.push(unescape(byte));
                    at += 2;
                }
                [b'"', ..] => return quote_closed(line, at),
                [byte, ..] => {
                    self.bytes.push(byte);
                    at += 1;
                }
                [] => return Err(Fault::UnbalancedQuotes),
            }
        }
    }

    fn single_quoted(&mut self, line: &[u8], mut at: usize) -> Result<usize, Fault> {
        loop {
            match line[at..] {
                [b'\\', b'\'', ..] => {
                    self.bytes.push(b'\'');
                    at += 2;
                }
                [b'\'', ..] => return quote_closed(line, at),
                [byte, ..] => {
                    self.bytes.push(byte);
                    at += 1;
                }
                [] => return Err(Fault::UnbalancedQuotes),
            }
        }
    }
}

/// A closing quote ends its word: a blank or nothing must follow.
fn quote_closed(line: &[u8], at: usize) -> Result<usize, Fault> {
    match line.get(at + 1) {
        Some(&byte) if !is_blank(byte) => Err(Fault::UnbalancedQuotes),
        _ => Ok(at + 1),
    }
}

/// What C calls a space; unquoted words end at fewer of them.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'a' => 0x07,
        other => other,
    }
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}
