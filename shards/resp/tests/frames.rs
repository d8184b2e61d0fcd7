//! Frames: what a client may send, whole or in any pieces, and what it is told when it errs.

use corelane_resp::{Fault, Limits, Parsed, Parser, Span};

const PLAIN: Limits = Limits {
    bulk_bytes_max: 512 * 1024 * 1024,
    multibulk_args_max: 1024 * 1024,
    inline_bytes_max: 64 * 1024,
    unauthenticated: false,
};

/// A command's arguments; an empty one stands for `Parsed::Empty`.
type Frame = Vec<Vec<u8>>;

/// Everything `input` holds when it arrives in pieces of the given lengths (the rest in one): the commands, and the
/// fault that ended them or how many bytes were left over.
fn parse_in_pieces(input: &[u8], pieces: &[usize], limits: &Limits) -> (Vec<Frame>, Result<usize, Fault>) {
    let (mut parser, mut spans) = (Parser::default(), Vec::new());
    let (mut frames, mut buffer, mut arrived) = (Vec::new(), Vec::new(), 0);
    let rest = std::iter::once(input.len());
    for piece in pieces.iter().copied().chain(rest) {
        let end = input.len().min(arrived + piece);
        buffer.extend_from_slice(&input[arrived..end]);
        arrived = end;
        let mut at = 0;
        loop {
            spans.clear();
            // A span that was there before must stay.
            spans.push(Span { start: 7, len: 7 });
            let start = at;
            match parser.next(&buffer, &mut at, &mut spans, limits) {
                Ok(Parsed::Frame) => frames.push(collect(&buffer, &spans[1..])),
                Ok(Parsed::Inline) => {
                    let (bytes, words) = parser.inline_args();
                    frames.push(collect(bytes, words));
                }
                Ok(Parsed::Empty) => frames.push(Vec::new()),
                Ok(Parsed::NeedMore { at_least }) => {
                    assert!(at_least >= 1 && at == start && spans.len() == 1);
                    break;
                }
                Err(fault) => {
                    assert!(at == start && spans.len() == 1);
                    return (frames, Err(fault));
                }
            }
            assert!(at > start, "a frame moves on");
        }
        buffer.drain(..at);
    }
    (frames, Ok(buffer.len()))
}

fn collect(bytes: &[u8], spans: &[Span]) -> Frame {
    spans.iter().map(|span| span.of(bytes).to_vec()).collect()
}

fn whole(input: &[u8], limits: &Limits) -> (Vec<Frame>, Result<usize, Fault>) {
    parse_in_pieces(input, &[], limits)
}

/// Parses at once and byte by byte; both must agree. Shows frames as `SET,a,1` joined by spaces.
fn check_with(limits: &Limits, input: impl AsRef<[u8]>, expected: &str) {
    let input = input.as_ref();
    let parsed = whole(input, limits);
    let by_byte = parse_in_pieces(input, &vec![1; input.len()], limits);
    assert_eq!(parsed, by_byte, "in one piece and byte by byte: {:?}", String::from_utf8_lossy(input));
    let mut shown: Vec<String> = parsed
        .0
        .iter()
        .map(|frame| match frame.as_slice() {
            [] => "(empty)".to_owned(),
            args => args.iter().map(|arg| arg.escape_ascii().to_string()).collect::<Vec<_>>().join(","),
        })
        .collect();
    match parsed.1 {
        Ok(0) => {}
        Ok(left) => shown.push(format!("({left} left)")),
        Err(fault) => shown.push(format!("!{fault}")),
    }
    assert_eq!(shown.join(" "), expected, "{:?}", String::from_utf8_lossy(input));
}

fn check(input: impl AsRef<[u8]>, expected: &str) {
    check_with(&PLAIN, input, expected);
}

#[test]
fn a_command_is_its_arguments() {
    check("*1\r\n$4\r\nPING\r\n", "PING");
    check("*3\r\n$3\r\nSET\r\n$5\r\nhello\r\n$0\r\n\r\n", "SET,hello,");
    check("*2\r\n$3\r\nGET\r\n$12\r\nabcdefghijkl\r\n", "GET,abcdefghijkl");
    check(b"*1\r\n$6\r\na\r\nb\0\xff\r\n", "a\\r\\nb\\x00\\xff");
}

#[test]
fn commands_may_follow_one_another() {
    check("*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nQUIT\r\nPING\r\n*1\r\n$4\r\nPI", "PING QUIT PING (10 left)");
}
