//! Frames to argument spans, in place. A whole frame takes the fast path, which keeps no state;
//! everything else (half frames, inline commands, faults) takes the careful path, which keeps its
//! place in the frame so that no byte is looked at twice. Rules are those of Redis 7.2's networking.c.

use crate::inline::Inline;
use crate::{Fault, parse_i64};

/// A piece of the bytes given.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

impl Span {
    /// The bytes it stands for.
    #[inline]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..][..self.len as usize]
    }
}

/// What a client may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Longest argument in bytes: `proto-max-bulk-len`.
    pub bulk_bytes_max: usize,
    /// Most arguments in a command. Redis 7 allows 2^31 - 1, Redis 6 had 1,048,576.
    pub multibulk_args_max: usize,
    /// Most bytes of a line before its end.
    pub inline_bytes_max: usize,
    /// Before AUTH: at most 10 arguments of 16,384 bytes.
    pub unauthenticated: bool,
}

const UNAUTHENTICATED_ARGS_MAX: usize = 10;
const UNAUTHENTICATED_BULK_BYTES_MAX: usize = 16_384;

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            bulk_bytes_max: 512 * 1024 * 1024,
            multibulk_args_max: 1024 * 1024,
            inline_bytes_max: 64 * 1024,
            unauthenticated: false,
        }
    }
}

/// What `Parser::next` found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parsed {
    /// A command; its arguments were pushed on `spans`.
    Frame,
    /// An inline command; its arguments are in `Parser::inline_args`.
    Inline,
    /// `*0`, `*-1` or an empty line: consumed, nothing to run.
    Empty,
    /// The frame is not whole yet.
    NeedMore {
        /// At least this many bytes are missing; for making room. Never more than 1 MiB, or eight times
        /// what has come, so that a mere announcement makes nobody reserve half a gigabyte.
        at_least: usize,
    },
}

const AT_LEAST_MAX: usize = 1024 * 1024;

/// Spans kept for half frames beyond this many are given back once their frame is whole.
const HALF_SPANS_KEPT_MAX: usize = 64;

/// What the careful path does next.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Expect {
    /// The `*` line or an inline command.
    #[default]
    Head,
    /// The `$` line of an argument.
    Length,
    /// An argument of so many bytes and its line's end.
    Body(u32),
}

/// Progress inside a half frame of one connection, and the last inline command.
///
/// The caller keeps a half frame contiguous, with its start still at `bytes[*at]` when it calls
/// again; `restart` forgets the progress.
#[derive(Default, Debug)]
pub struct Parser {
    expect: Expect,
    /// How far the frame was parsed, from its start.
    done: usize,
    /// How far behind `done` no line's end was found.
    scanned: usize,
    /// Arguments still to come.
    args_left: usize,
    /// Arguments of the half frame, from its start.
    half: Vec<Span>,
    inline: Inline,
}

impl Parser {
    /// Parses the next frame of `bytes` from `*at`: pushes a span per argument (from `bytes[0]` on) and
    /// moves `*at` behind the frame. On `NeedMore` and faults `*at` and `spans` stay as they were.
    /// `bytes` must be shorter than 4 GiB.
    #[inline]
    pub fn next(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        spans: &mut Vec<Span>,
        limits: &Limits,
    ) -> Result<Parsed, Fault> {
        if self.done == 0 {
            let kept = spans.len();
            if let Some(end) = whole_frame(bytes, *at, spans, limits) {
                // Half of its count line may have been looked through when that was all there was.
                self.scanned = 0;
                *at = end;
                return Ok(Parsed::Frame);
            }
            spans.truncate(kept);
        }
        self.careful(bytes, at, spans, limits)
    }

    /// The words of the last `Parsed::Inline`: the bytes, and their spans in them.
    pub fn inline_args(&self) -> (&[u8], &[Span]) {
        self.inline.args()
    }

    /// Forgets a half frame.
    pub fn restart(&mut self) {
        (self.expect, self.done, self.scanned, self.args_left) = (Expect::Head, 0, 0, 0);
        if self.half.capacity() > HALF_SPANS_KEPT_MAX {
            self.half = Vec::new();
        }
        self.half.clear();
    }

    /// Bytes of memory held for half frames and inline commands.
    pub fn memory(&self) -> usize {
        self.inline.memory() + self.half.capacity() * size_of::<Span>()
    }

    #[cold]
    #[inline(never)]
    fn careful(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        spans: &mut Vec<Span>,
        limits: &Limits,
    ) -> Result<Parsed, Fault> {
        assert!(u32::try_from(bytes.len()).is_ok(), "input is shorter than 4 GiB");
        let frame = &bytes[*at..];
        let parsed = match self.advance(frame, limits) {
            Ok(Parsed::NeedMore { at_least }) => {
                return Ok(Parsed::NeedMore {
                    at_least: at_least.clamp(1, AT_LEAST_MAX.max(8 * frame.len())),
                });
            }
            Ok(parsed) => parsed,
            Err(fault) => {
                self.restart();
                return Err(fault);
            }
        };
        let start = *at as u32;
        spans.extend(self.half.iter().map(|span| Span { start: start + span.start, len: span.len }));
        *at += self.done;
        self.restart();
        Ok(parsed)
    }

    /// Goes on in the frame until it is whole or its bytes run out.
    fn advance(&mut self, frame: &[u8], limits: &Limits) -> Result<Parsed, Fault> {
        loop {
            let parsed = match self.expect {
                Expect::Head if frame.first() == Some(&b'*') => self.count_line(frame, limits)?,
                Expect::Head => return self.inline_line(frame, limits),
                Expect::Length => self.length_line(frame, limits)?,
                Expect::Body(len) => self.body(frame, len),
            };
            if let Some(parsed) = parsed {
                return Ok(parsed);
            }
        }
    }

    /// `*3`: `None` means go on.
    fn count_line(&mut self, frame: &[u8], limits: &Limits) -> Result<Option<Parsed>, Fault> {
        let Some(line) = self.line(frame, limits, Fault::TooBigMultibulkCount)? else {
            return Ok(Some(Parsed::NeedMore { at_least: 1 }));
        };
        let count = parse_i64(&line[1..]).ok_or(Fault::InvalidMultibulkLength)?;
        if count > limits.multibulk_args_max as i64 {
            return Err(Fault::InvalidMultibulkLength);
        }
        if limits.unauthenticated && count > UNAUTHENTICATED_ARGS_MAX as i64 {
            return Err(Fault::UnauthenticatedMultibulkLength);
        }
        if count <= 0 {
            return Ok(Some(Parsed::Empty));
        }
        self.args_left = count as usize;
        self.expect = Expect::Length;
        Ok(None)
    }

    /// `$5`.
    fn length_line(&mut self, frame: &[u8], limits: &Limits) -> Result<Option<Parsed>, Fault> {
        let start = self.done;
        let Some(line) = self.line(frame, limits, Fault::TooBigBulkCount)? else {
            return Ok(Some(Parsed::NeedMore { at_least: 1 }));
        };
        // An empty line has a `\r` where the `$` should be.
        if line.first() != Some(&b'$') {
            return Err(Fault::ExpectedBulk(frame[start]));
        }
        let len = parse_i64(&line[1..]).ok_or(Fault::InvalidBulkLength)?;
        // What cannot be told in a span cannot be taken, whatever the limit was set to.
        let most = limits.bulk_bytes_max.min((u32::MAX as usize).saturating_sub(self.done + 2));
        if len < 0 || len > most as i64 {
            return Err(Fault::InvalidBulkLength);
        }
        if limits.unauthenticated && len > UNAUTHENTICATED_BULK_BYTES_MAX as i64 {
            return Err(Fault::UnauthenticatedBulkLength);
        }
        self.expect = Expect::Body(len as u32);
        Ok(None)
    }

    /// The argument itself. As in Redis the two bytes behind it are skipped, whatever they are.
    fn body(&mut self, frame: &[u8], len: u32) -> Option<Parsed> {
        let end = self.done + len as usize + 2;
        if frame.len() < end {
            return Some(Parsed::NeedMore { at_least: end - frame.len() });
        }
        self.half.push(Span { start: self.done as u32, len });
        self.done = end;
        self.args_left -= 1;
        self.expect = Expect::Length;
        (self.args_left == 0).then_some(Parsed::Frame)
    }

    /// The line at `done`, ended by `\r` and one more byte, which it steps over. Like Redis's strchr
    /// the search ends at a NUL: such a line never ends and runs into `too_big`.
    fn line<'a>(
        &mut self,
        frame: &'a [u8],
        limits: &Limits,
        too_big: Fault,
    ) -> Result<Option<&'a [u8]>, Fault> {
        let rest = &frame[self.done..];
        match self.find(rest, b'\r') {
            None if rest.len() > limits.inline_bytes_max => Err(too_big),
            // However it is cut into pieces, a line is too long or not.
            Some(end) if end > limits.inline_bytes_max => Err(too_big),
            Some(end) if end + 2 <= rest.len() => {
                self.done += end + 2;
                self.scanned = 0;
                Ok(Some(&rest[..end]))
            }
            _ => Ok(None),
        }
    }

    /// A line ended by `\n` or `\r\n`.
    fn inline_line(&mut self, frame: &[u8], limits: &Limits) -> Result<Parsed, Fault> {
        let Some(end) = self.find(frame, b'\n') else {
            if frame.len() > limits.inline_bytes_max {
                return Err(Fault::TooBigInline);
            }
            return Ok(Parsed::NeedMore { at_least: 1 });
        };
        if end > limits.inline_bytes_max {
            return Err(Fault::TooBigInline);
        }
        let line = &frame[..end];
        let words = self.inline.split(line.strip_suffix(b"\r").unwrap_or(line))?;
        self.done = end + 1;
        Ok(if words == 0 { Parsed::Empty } else { Parsed::Inline })
    }

    /// Where `wanted` is in `rest`, unless a NUL comes first; looks at no byte twice.
    fn find(&mut self, rest: &[u8], wanted: u8) -> Option<usize> {
        let found = rest[self.scanned..].iter().position(|&byte| byte == wanted || byte == 0);
        match found {
            Some(offset) => {
                self.scanned += offset;
                (rest[self.scanned] == wanted).then_some(self.scanned)
            }
            None => {
                self.scanned = rest.len();
                None
            }
        }
    }
}

/// The fast path checks no length of up to three digits against a limit. Redis's limit is at least 1 MiB.
const UNCHECKED_BULK_BYTES: usize = 999;

/// The whole frame at `at`, if it is there and plain: returns where it ends. `None` says nothing but
/// "look carefully"; spans may have been pushed.
#[inline]
fn whole_frame(bytes: &[u8], at: usize, spans: &mut Vec<Span>, limits: &Limits) -> Option<usize> {
    if limits.unauthenticated || limits.bulk_bytes_max < UNCHECKED_BULK_BYTES {
        return None;
    }
    let (count, mut rest) = number_line::<b'*'>(bytes.get(at..)?)?;
    // A count of 0 is not a frame.
    if count.wrapping_sub(1) >= limits.multibulk_args_max {
        return None;
    }
    for _ in 0..count {
        let (len, body) = number_line::<b'$'>(rest)?;
        let start = bytes.len() - body.len();
        if len > UNCHECKED_BULK_BYTES && len > limits.bulk_bytes_max {
            return None;
        }
        spans.push(Span { start: start as u32, len: len as u32 });
        rest = body.get(len + 2..)?;
    }
    let end = bytes.len() - rest.len();
    // Spans are 32 bits wide; longer input is refused by the careful path.
    (end <= u32::MAX as usize).then_some(end)
}

/// A plain line such as `$12\r\n`: its number and what follows. Leading zeros, signs and more than
/// nine digits are left to the careful path.
#[inline(always)]
fn number_line<const KIND: u8>(rest: &[u8]) -> Option<(usize, &[u8])> {
    // Most lengths have one digit or two. One load brings the line; the exclusive or leaves nothing of it but the
    // digits' values, and the rotation puts the last digit lowest, so that one compare tells all bytes.
    let (line, after) = rest.split_first_chunk::<4>()?;
    let digit = (u32::from_le_bytes(*line) ^ u32::from_le_bytes([KIND, b'0', b'\r', b'\n'])).rotate_right(8);
    if digit <= 9 {
        return Some((digit as usize, after));
    }
    long_number_line::<KIND>(rest)
}

#[inline(always)]
fn long_number_line<const KIND: u8>(rest: &[u8]) -> Option<(usize, &[u8])> {
    // An argument this long has its eight bytes here, or it is not whole.
    let line = u64::from_le_bytes(*rest.first_chunk::<8>()?);
    let digits = line ^ u64::from_le_bytes([KIND, b'0', b'0', b'\r', b'\n', 0, 0, 0]);
    let (tens, ones) = (digits >> 8 & 0xff, digits >> 16 & 0xff);
    if digits & 0xff_ff00_00ff == 0 && (1..=9).contains(&tens) && ones <= 9 {
        return Some(((tens * 10 + ones) as usize, &rest[5..]));
    }
    very_long_number_line(rest, KIND)
}

#[inline(never)]
fn very_long_number_line(rest: &[u8], kind: u8) -> Option<(usize, &[u8])> {
    let (first, mut rest) = rest.split_first()?;
    if *first != kind || !(b'1'..=b'9').contains(rest.first()?) {
        return None;
    }
    let mut number = 0;
    for _ in 0..10 {
        let (byte, after) = rest.split_first()?;
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Some((number, rest.strip_prefix(b"\r\n")?));
        }
        number = number * 10 + usize::from(digit);
        rest = after;
    }
    None
}
