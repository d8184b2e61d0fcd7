//! Replies to bytes, appended to a buffer of the caller's. Knows how RESP2 and RESP3 say the same
//! thing (as Redis's addReply* functions do), not who is going to read it.

use crate::{Fault, IntegerText, LongDouble, Output, Shared, format_double};
use std::fmt::{self, Write};

/// What a client speaks, by HELLO.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Version {
    /// The protocol of Redis 1.2 to 5, and every connection's first.
    #[default]
    Resp2,
    /// Maps, sets, doubles, booleans, push messages.
    Resp3,
}

/// `?N\r\n` for small N: headers and small integers are one copy. Byte 7 holds the length.
const SMALL_HEADERS: usize = 1000;
static HEADERS: [[u8; 8]; SMALL_HEADERS] = small_headers();

const fn small_headers() -> [[u8; 8]; SMALL_HEADERS] {
    let mut table = [[0; 8]; SMALL_HEADERS];
    let mut number = 0;
    while number < SMALL_HEADERS {
        let digits = if number < 10 {
            1
        } else if number < 100 {
            2
        } else {
            3
        };
        let entry = &mut table[number];
        let (mut rest, mut at) = (number, digits);
        while at > 0 {
            entry[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            at -= 1;
        }
        entry[digits + 1] = b'\r';
        entry[digits + 2] = b'\n';
        entry[7] = digits as u8 + 3;
        number += 1;
    }
    table
}

/// Longest text that `bulk` writes without a call.
const SHORT_BYTES_MAX: usize = 32;
/// Room for that, its header and its line's end.
const SHORT_ROOM: usize = SHORT_BYTES_MAX + 8;

/// Room left for a deferred header: enough for 99 elements without moving them.
const DEFERRED_BYTES: usize = 5;

/// Where a deferred header will go. Settle inner ones before outer ones.
#[must_use = "a deferred header that is never settled breaks the stream"]
#[derive(Debug)]
pub struct Deferred {
    at: usize,
}

/// Writes replies for one client.
#[derive(Debug)]
pub struct Reply<'a> {
    buf: &'a mut Output,
    version: Version,
}

impl<'a> Reply<'a> {
    /// Appends to `buf` in the words of `version`.
    #[inline]
    pub fn new(buf: &'a mut Output, version: Version) -> Reply<'a> {
        Reply { buf, version }
    }

    /// What the client speaks.
    #[inline]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Speaks another version from here on: the reply to HELLO is in the new one.
    pub fn speak(&mut self, version: Version) {
        self.version = version;
    }

    /// All bytes in the buffer so far, earlier replies included; without what is only referred to.
    #[inline]
    pub fn written(&self) -> &[u8] {
        self.buf
    }

    /// Takes back everything behind the first `len` bytes of `written`.
    #[inline]
    pub fn rewind(&mut self, len: usize) {
        self.buf.truncate(len);
    }

    /// `+OK`.
    #[inline]
    pub fn ok(&mut self) {
        self.buf.extend_from_slice(b"+OK\r\n");
    }

    /// A status line. `text` is ours and has no line end in it.
    #[inline]
    pub fn simple(&mut self, text: &str) {
        debug_assert!(!text.contains(['\r', '\n']), "a status is one line");
        self.line(b'+', text.as_bytes());
    }

    /// An error: code and text, such as `ERR syntax error`. Line ends turn into spaces.
    pub fn error(&mut self, text: &str) {
        self.error_bytes(text.as_bytes());
    }

    /// An error that repeats a client's bytes.
    pub fn error_bytes(&mut self, text: &[u8]) {
        let start = self.buf.len();
        self.line(b'-', text);
        self.tidy_error(start);
    }

    /// An error from `format_args!`.
    pub fn error_fmt(&mut self, text: fmt::Arguments<'_>) {
        let start = self.buf.len();
        self.buf.bytes_mut().push(b'-');
        Appender(self.buf.bytes_mut()).write_fmt(text).expect("appending to memory does not fail");
        self.buf.extend_from_slice(b"\r\n");
        self.tidy_error(start);
    }

    /// What the parser refused.
    pub fn fault(&mut self, fault: Fault) {
        fault.write(self.buf.bytes_mut());
    }

    /// An integer.
    #[inline]
    pub fn integer(&mut self, number: i64) {
        self.header(b':', number);
    }

    /// A string.
    #[inline]
    pub fn bulk(&mut self, bytes: &[u8]) {
        let room = self.buf.capacity() - self.buf.len();
        if (8..=SHORT_BYTES_MAX).contains(&bytes.len()) && room >= SHORT_ROOM {
            self.short_bulk(bytes);
        } else {
            self.any_bulk(bytes);
        }
    }

    #[inline(never)]
    fn any_bulk(&mut self, bytes: &[u8]) {
        self.header(b'$', bytes.len() as i64);
        self.buf.extend_from_slice(bytes);
        self.buf.extend_from_slice(b"\r\n");
    }

    /// The usual value is short, and there is room: it is laid there as words that overlap, without a call.
    #[inline(always)]
    fn short_bulk(&mut self, bytes: &[u8]) {
        let end = self.buf.len();
        self.buf.extend_from_slice(&[0; SHORT_ROOM]);
        let room = self.buf.last_chunk_mut::<SHORT_ROOM>().expect("it was just added");
        let (len, header) = (bytes.len(), u64::from_le_bytes(HEADERS[bytes.len()]));
        let text = (header >> 56 & 7) as usize;
        room[..8].copy_from_slice(&(header | u64::from(b'$')).to_le_bytes());
        if let (Some(first), Some(last)) = (bytes.first_chunk::<16>(), bytes.last_chunk::<16>()) {
            room[text..text + 16].copy_from_slice(first);
            room[text + len - 16..text + len].copy_from_slice(last);
        } else if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
            room[text..text + 8].copy_from_slice(first);
            room[text + len - 8..text + len].copy_from_slice(last);
        }
        room[text + len..text + len + 2].copy_from_slice(b"\r\n");
        self.buf.truncate_bytes(end + text + len + 2);
    }

    /// A string that is referred to instead of copied.
    pub fn bulk_shared(&mut self, string: Shared) {
        self.header(b'$', string.len() as i64);
        self.buf.refer(string);
        self.buf.extend_from_slice(b"\r\n");
    }

    /// A string of ours.
    #[inline]
    pub fn bulk_text(&mut self, text: &str) {
        self.bulk(text.as_bytes());
    }

    /// An integer as a string.
    #[inline(never)]
    pub fn bulk_integer(&mut self, number: i64) {
        if (0..10).contains(&number) {
            self.buf.extend_from_slice(&[b'$', b'1', b'\r', b'\n', b'0' + number as u8, b'\r', b'\n']);
        } else {
            self.bulk(IntegerText::new(number).as_bytes());
        }
    }

    /// No value.
    #[inline]
    pub fn null(&mut self) {
        self.buf.extend_from_slice(match self.version {
            Version::Resp2 => b"$-1\r\n",
            Version::Resp3 => b"_\r\n",
        });
    }

    /// No array.
    #[inline]
    pub fn null_array(&mut self) {
        self.buf.extend_from_slice(match self.version {
            Version::Resp2 => b"*-1\r\n",
            Version::Resp3 => b"_\r\n",
        });
    }

    /// Opens an array: `len` replies follow.
    #[inline]
    pub fn array(&mut self, len: usize) {
        self.header(b'*', len as i64);
    }

    /// Opens a map: `pairs` keys with their values follow. RESP2 has a flat array.
    #[inline]
    pub fn map(&mut self, pairs: usize) {
        match self.version {
            Version::Resp2 => self.header(b'*', 2 * pairs as i64),
            Version::Resp3 => self.header(b'%', pairs as i64),
        }
    }

    /// Opens a set. RESP2 has an array.
    #[inline]
    pub fn set(&mut self, len: usize) {
        self.header(self.or_array(b'~'), len as i64);
    }

    /// Opens a push message. RESP2 has an array.
    #[inline]
    pub fn push(&mut self, len: usize) {
        self.header(self.or_array(b'>'), len as i64);
    }

    /// Opens attributes: `pairs` keys with their values follow, then the reply they speak of. RESP2 cannot
    /// say them: `false` means write none of the pairs.
    #[must_use = "in RESP2 the pairs must not be written"]
    pub fn attribute(&mut self, pairs: usize) -> bool {
        if self.version == Version::Resp3 {
            self.header(b'|', pairs as i64);
        }
        self.version == Version::Resp3
    }

    /// A double, shortest form. RESP2 has a string.
    pub fn double(&mut self, value: f64) {
        self.double_text(format_double(value).as_bytes());
    }

    /// A double with 17 decimals less trailing zeros and without exponent, as GEOPOS shows one.
    pub fn human_double(&mut self, value: f64) {
        let mut text = Vec::new();
        LongDouble::from(value).write(&mut text);
        self.double_text(&text);
    }

    /// A double already printed.
    pub fn double_text(&mut self, text: &[u8]) {
        match self.version {
            Version::Resp2 => self.bulk(text),
            Version::Resp3 => self.line(b',', text),
        }
    }

    /// True or false. RESP2 has 1 or 0.
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        match self.version {
            Version::Resp2 => self.integer(i64::from(value)),
            Version::Resp3 => self.buf.extend_from_slice(if value { b"#t\r\n" } else { b"#f\r\n" }),
        }
    }

    /// Text with its kind, three letters such as `txt`. RESP2 has a string.
    pub fn verbatim(&mut self, kind: &str, bytes: &[u8]) {
        assert_eq!(kind.len(), 3, "the kind of a verbatim string has three letters");
        if self.version == Version::Resp2 {
            return self.bulk(bytes);
        }
        self.header(b'=', bytes.len() as i64 + 4);
        self.buf.extend_from_slice(kind.as_bytes());
        self.buf.bytes_mut().push(b':');
        self.buf.extend_from_slice(bytes);
        self.buf.extend_from_slice(b"\r\n");
    }

    /// An integer of any size, in digits. RESP2 has a string.
    pub fn big_number(&mut self, digits: &str) {
        match self.version {
            Version::Resp2 => self.bulk(digits.as_bytes()),
            Version::Resp3 => self.line(b'(', digits.as_bytes()),
        }
    }

    /// Bytes that already are a reply.
    #[inline]
    pub fn raw(&mut self, encoded: &[u8]) {
        self.buf.extend_from_slice(encoded);
    }

    /// A piece of what was written elsewhere, with what it refers to.
    pub fn raw_output(&mut self, encoded: &Output, piece: std::ops::Range<usize>) {
        self.buf.append_piece(encoded, piece);
    }

    /// Leaves room for the header of an array, map, set or push whose length is not known yet.
    pub fn defer(&mut self) -> Deferred {
        let at = self.buf.len();
        self.buf.extend_from_slice(&[0; DEFERRED_BYTES]);
        Deferred { at }
    }

    /// The deferred header is that of an array of `len`.
    pub fn settle_array(&mut self, deferred: Deferred, len: usize) {
        self.settle(deferred, b'*', len);
    }

    /// The deferred header is that of a map of `pairs`.
    pub fn settle_map(&mut self, deferred: Deferred, pairs: usize) {
        match self.version {
            Version::Resp2 => self.settle(deferred, b'*', 2 * pairs),
            Version::Resp3 => self.settle(deferred, b'%', pairs),
        }
    }

    /// The deferred header is that of a set of `len`.
    pub fn settle_set(&mut self, deferred: Deferred, len: usize) {
        self.settle(deferred, self.or_array(b'~'), len);
    }

    fn settle(&mut self, deferred: Deferred, kind: u8, len: usize) {
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(len).as_bytes();
        let (start, room) = (deferred.at, deferred.at + DEFERRED_BYTES);
        let header = start + digits.len() + 3;
        assert!(room <= self.buf.len(), "inner headers are settled before outer ones");
        self.buf.move_end(room, header);
        self.buf[start] = kind;
        self.buf[start + 1..header - 2].copy_from_slice(digits);
        self.buf[header - 2..header].copy_from_slice(b"\r\n");
    }

    fn or_array(&self, kind: u8) -> u8 {
        if self.version == Version::Resp2 { b'*' } else { kind }
    }

    /// `?N\r\n`.
    #[inline]
    fn header(&mut self, kind: u8, number: i64) {
        match HEADERS.get(number as usize) {
            Some(&(mut header)) => {
                let len = usize::from(header[7]);
                header[0] = kind;
                self.buf.extend_from_slice(&header);
                self.buf.truncate_bytes(self.buf.len() - 8 + len);
            }
            None => self.line(kind, itoa::Buffer::new().format(number).as_bytes()),
        }
    }

    fn line(&mut self, kind: u8, text: &[u8]) {
        self.buf.reserve(text.len() + 3);
        self.buf.bytes_mut().push(kind);
        self.buf.extend_from_slice(text);
        self.buf.extend_from_slice(b"\r\n");
    }

    /// Takes line ends out of the error that starts at `start`: dropped at its end, spaces inside.
    fn tidy_error(&mut self, start: usize) {
        let mut end = self.buf.len() - 2;
        while end > start + 1 && matches!(self.buf[end - 1], b'\r' | b'\n') {
            end -= 1;
        }
        self.buf.truncate_bytes(end);
        for byte in &mut self.buf[start..] {
            if matches!(byte, b'\r' | b'\n') {
                *byte = b' ';
            }
        }
        self.buf.extend_from_slice(b"\r\n");
    }
}

struct Appender<'a>(&'a mut Vec<u8>);

impl Write for Appender<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
