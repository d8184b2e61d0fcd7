//! Requests: however the bytes are cut into pieces, the parser finds the same frames and the same fault,
//! and what a client encodes comes out as it went in. It does not know what the frames ask for.

use crate::{Random, Target};
use resp::{Fault, Limits, Parsed, Parser, Span};

/// A stream cut anywhere parses as the whole stream does.
pub const SPLIT: Target = Target { name: "frames-split", run: split, make: make_stream };
/// Encoding and parsing give the arguments back.
pub const ROUND_TRIP: Target = Target { name: "frames-round-trip", run: round_trip, make: make_stream };

/// What a stream says: its commands in order, and the fault that ended it.
#[derive(PartialEq, Debug, Default)]
struct Story {
    commands: Vec<Vec<Vec<u8>>>,
    fault: Option<Fault>,
}

/// The first byte seeds the cuts and says who the client is; the rest is the stream.
fn split(data: &[u8]) {
    let Some((&head, stream)) = data.split_first() else { return };
    let limits = Limits {
        bulk_bytes_max: 1 << 20,
        multibulk_args_max: 1 << 12,
        inline_bytes_max: 256,
        unauthenticated: head & 1 == 1,
    };
    let whole = parse(stream, &limits, |left| left);
    let bytewise = parse(stream, &limits, |_| 1);
    let mut random = Random::new(u64::from(head));
    let pieces = parse(stream, &limits, |left| 1 + random.below(left.min(20)));
    assert_eq!(whole, pieces, "pieces tell another story than the whole");
    assert_eq!(whole, bytewise, "single bytes tell another story than the whole");
}

/// Feeds the stream in pieces whose lengths `cut` chooses from what is left; a half frame is kept at the
/// front of the buffer, as a session keeps it.
fn parse(stream: &[u8], limits: &Limits, mut cut: impl FnMut(usize) -> usize) -> Story {
    let mut story = Story::default();
    let (mut parser, mut buffer, mut fed) = (Parser::default(), Vec::new(), 0);
    while fed < stream.len() {
        let piece = cut(stream.len() - fed);
        buffer.extend_from_slice(&stream[fed..fed + piece]);
        fed += piece;
        let mut at = 0;
        let mut spans: Vec<Span> = Vec::new();
        while at < buffer.len() {
            let before = (at, spans.len());
            match parser.next(&buffer, &mut at, &mut spans, limits) {
                Ok(Parsed::Frame) => {
                    let args = spans.drain(..).map(|span| span.of(&buffer).to_vec()).collect();
                    story.commands.push(args);
                }
                Ok(Parsed::Inline) => {
                    let (bytes, spans) = parser.inline_args();
                    story.commands.push(spans.iter().map(|span| span.of(bytes).to_vec()).collect());
                }
                Ok(Parsed::Empty) => {}
                Ok(Parsed::NeedMore { at_least }) => {
                    assert!((1..=1 << 20).contains(&at_least), "asks for {at_least} bytes");
                    assert_eq!((at, spans.len()), before, "a half frame moved something");
                    break;
                }
                Err(fault) => {
                    story.fault = Some(fault);
                    return story;
                }
            }
            assert!(at > before.0 && at <= buffer.len(), "a frame has a length");
        }
        buffer.drain(..at);
    }
    story
}

/// The commands of a stream, if it holds whole frames alone and no fault.
pub(crate) fn commands_of(stream: &[u8]) -> Option<Vec<Vec<Vec<u8>>>> {
    let (mut parser, mut at, mut spans, mut commands) = (Parser::default(), 0, Vec::new(), Vec::new());
    while at < stream.len() {
        match parser.next(stream, &mut at, &mut spans, &Limits::default()) {
            Ok(Parsed::Frame) => {
                commands.push(spans.drain(..).map(|span| span.of(stream).to_vec()).collect())
            }
            _ => return None,
        }
    }
    Some(commands)
}

/// Arguments are cut out of the data by length bytes.
fn round_trip(data: &[u8]) {
    let mut args: Vec<&[u8]> = Vec::new();
    let mut rest = data;
    while let Some((&len, more)) = rest.split_first() {
        let (arg, more) = more.split_at(more.len().min(len as usize));
        args.push(arg);
        rest = more;
    }
    if args.is_empty() {
        return;
    }
    let mut wire = Vec::new();
    resp::client::encode_command(&args, &mut wire);
    let story = parse(&wire, &Limits::default(), |left| left);
    assert_eq!(story.fault, None);
    assert_eq!(story.commands, [args.iter().map(|arg| arg.to_vec()).collect::<Vec<_>>()]);
}

fn make_stream(random: &mut Random) -> Vec<u8> {
    const LINES: [&str; 16] = [
        "PING\r\n",
        "*0\r\n",
        "*-1\r\n",
        "\r\n",
        "\n",
        "SET a \"b\\x41\" 'c'\n",
        "GET \"a\r\n",
        "*1\r\nx\r\n",
        "*2147483647\r\n",
        "*1\r\n$-1\r\n",
        "*1\r\n$536870913\r\n",
        "*1\r\n$x\r\n",
        "*+1\r\n$4\r\nPING\r\n",
        "*1\r\n$04\r\nPING\r\n",
        "*1\n$4\nPING\n",
        "*4097\r\n",
    ];
    let mut stream = vec![random.draw() as u8];
    for _ in 0..=random.below(4) {
        if random.one_in(3) {
            stream.extend_from_slice(random.pick(&LINES).as_bytes());
            continue;
        }
        let args: Vec<Vec<u8>> = (0..=random.below(6)).map(|_| random.argument()).collect();
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        resp::client::encode_command(&args, &mut stream);
    }
    if random.one_in(2) {
        random.mutate(&mut stream);
    }
    stream
}
