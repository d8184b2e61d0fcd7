//! Frames: what a client may send, whole or in any pieces, and what it is told when it errs.

use corelane_resp::{Fault, Limits, Parsed, Parser, Span, client::encode_command};
use proptest::prelude::*;

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

#[test]
fn nothing_to_run_is_consumed_and_passed_over() {
    check(
        "*0\r\n*-1\r\n*-10\r\n\r\n\n  \r\n*1\r\n$4\r\nPING\r\n",
        "(empty) (empty) (empty) (empty) (empty) (empty) PING",
    );
}

#[test]
fn half_frames_wait() {
    for input in
        ["*", "*1", "*1\r", "*1\r\n", "*1\r\n$", "*1\r\n$4\r\nPIN", "*1\r\n$4\r\nPING\r", "GET", "GET a\r"]
    {
        check(input, &format!("({} left)", input.len()));
    }
}

#[test]
fn counts_that_are_none_are_refused() {
    let fault = "!Protocol error: invalid multibulk length";
    for count in [
        "3000000000",
        "20000000",
        "1048577",
        "x",
        "",
        "1x",
        " 1",
        "+1",
        "01",
        "-0",
        "99999999999999999999999999",
    ] {
        check(format!("*{count}\r\n"), fault);
    }
    check("PING\r\n*x\r\n", "PING !Protocol error: invalid multibulk length");
    let generous = Limits { multibulk_args_max: i32::MAX as usize, ..PLAIN };
    check_with(&generous, "*2147483647\r\n", "(13 left)");
    check_with(&generous, "*2147483648\r\n", fault);
}

#[test]
fn lengths_that_are_none_are_refused() {
    let fault = "!Protocol error: invalid bulk length";
    for length in [
        "-10",
        "-1",
        "blabla",
        "",
        "2000000000",
        "536870913",
        "+3",
        "03",
        "9999999999",
        "99999999999999999999",
    ] {
        check(format!("*3\r\n$3\r\nSET\r\n$1\r\nx\r\n${length}\r\n"), fault);
    }
    check("*1\r\n$536870912\r\n", "(16 left)");
    check_with(
        &Limits { bulk_bytes_max: 3, ..PLAIN },
        "*1\r\n$3\r\nGET\r\n*1\r\n$4\r\nPING\r\n",
        &format!("GET {fault}"),
    );
}

#[test]
fn a_limit_beyond_what_a_span_can_tell_is_no_promise() {
    let endless = Limits { bulk_bytes_max: usize::MAX, ..PLAIN };
    check_with(&endless, "*1\r\n$4294967296\r\n", "!Protocol error: invalid bulk length");
    check_with(&endless, "*1\r\n$4294967290\r\n", "!Protocol error: invalid bulk length");
    check_with(&endless, "*1\r\n$4294960000\r\n", "(17 left)");
}

#[test]
fn an_argument_opens_with_a_dollar() {
    check("*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n", "!Protocol error: expected '$', got 'f'");
    check("*1\r\n*1\r\n", "!Protocol error: expected '$', got '*'");
    check("*1\r\nfooz", "(8 left)");
    check("*1\r\n\r\n", "!Protocol error: expected '$', got '\r'");
}

#[test]
fn faults_are_told_on_one_line_with_the_byte_as_it_came() {
    let told = |fault: Fault| {
        let mut reply = Vec::new();
        fault.write(&mut reply);
        reply.escape_ascii().to_string()
    };
    assert_eq!(told(Fault::ExpectedBulk(b'f')), r"-ERR Protocol error: expected \'$\', got \'f\'\r\n");
    assert_eq!(told(Fault::ExpectedBulk(0xff)), r"-ERR Protocol error: expected \'$\', got \'\xff\'\r\n");
    assert_eq!(told(Fault::ExpectedBulk(b'\r')), r"-ERR Protocol error: expected \'$\', got \' \'\r\n");
    assert_eq!(told(Fault::TooBigInline), r"-ERR Protocol error: too big inline request\r\n");
}

#[test]
fn whatever_two_bytes_follow_an_argument_are_skipped() {
    check("*2\r\n$3\r\nGETxx$1\r\nayy*1\r\n$4\r\nPING\r\n", "GET,a PING");
}

#[test]
fn a_line_that_does_not_end_is_given_up_at_64_kib() {
    let long = |head: &str, len: usize| format!("{head}{}", "1".repeat(len - head.len()));
    let too_big = |what: &str| format!("!Protocol error: too big {what}");
    for (head, what) in [("*", "mbulk count string"), ("GET ", "inline request")] {
        check(long(head, 65_536), "(65536 left)");
        check(long(head, 65_537), &too_big(what));
    }
    check(format!("*1\r\n{}", long("$", 65_536)), "(65540 left)");
    check(format!("*1\r\n{}", long("$", 65_537)), &too_big("bulk count string"));
}

#[test]
fn a_nul_keeps_a_line_from_ending() {
    for head in ["\0", "*\0", "*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$1000\0", "GET a\0b"] {
        check(format!("{head}\r\n"), &format!("({} left)", head.len() + 2));
        let (frames, end) = whole(format!("{head}{}", "payload\r\n".repeat(10_000)).as_bytes(), &PLAIN);
        assert!(
            frames.is_empty() && matches!(end, Err(fault) if fault.to_string().contains("too big")),
            "{end:?}"
        );
    }
}

#[test]
fn strangers_may_send_little() {
    let stranger = Limits { unauthenticated: true, ..PLAIN };
    check_with(&stranger, "*2\r\n$4\r\nAUTH\r\n$1\r\nx\r\n", "AUTH,x");
    check_with(&stranger, "*10\r\n", "(5 left)");
    check_with(&stranger, "*11\r\n", "!Protocol error: unauthenticated multibulk length");
    check_with(&stranger, "*1\r\n$16384\r\n", "(12 left)");
    check_with(&stranger, "*1\r\n$16385\r\n", "!Protocol error: unauthenticated bulk length");
    check_with(&stranger, "*1048577\r\n", "!Protocol error: invalid multibulk length");
    check_with(&stranger, "*1\r\n$536870913\r\n", "!Protocol error: invalid bulk length");
    let eleven = "*11\r\n".to_owned() + &"$1\r\nx\r\n".repeat(11);
    check_with(&stranger, eleven, "!Protocol error: unauthenticated multibulk length");
    check_with(
        &stranger,
        format!("*1\r\n$16385\r\n{}\r\n", "x".repeat(16_385)),
        "!Protocol error: unauthenticated bulk length",
    );
}

#[test]
fn inline_words_are_parted_by_blanks() {
    check("PING\r\n", "PING");
    check("PING\n", "PING");
    check("  SET \t a   1  \r\n", "SET,a,1");
    check("SET a \r b\r\n", "SET,a,b");
    check("SET a\x0bb \x0bc\r\n", r"SET,a\x0bb,c");
    check("$1\r\n", "$1");
    check("GET \u{e9}\r\n", r"GET,\xc3\xa9");
}

#[test]
fn inline_words_may_be_quoted() {
    check("SET a \"hello world\"\r\n", "SET,a,hello world");
    check("SET a 'hello world'\r\n", "SET,a,hello world");
    check("SET a \"\" ''\r\n", "SET,a,,");
    check("SET pre\"fix ed\" a'b c'\r\n", "SET,prefix ed,ab c");
    check(
        r#"ECHO "\x41\xfF\n\r\t\b\a\"\\\q\xg1""#.to_owned() + "\r\n",
        r#"ECHO,A\xff\n\r\t\x08\x07\"\\qxg1"#,
    );
    check(r#"ECHO 'it\'s "so" \n'"#.to_owned() + "\r\n", r#"ECHO,it\'s \"so\" \\n"#);
}

#[test]
fn inline_quotes_have_to_match() {
    let fault = "!Protocol error: unbalanced quotes in request";
    for words in [
        "\"",
        "'",
        "SET \"a",
        "SET 'a",
        "SET \"a\"b",
        "SET 'a'b",
        "SET \"a\\\"",
        "SET 'a\\'",
        "SET \"a\"\"b\"",
        "\"a\\",
    ] {
        check(format!("{words}\r\n"), fault);
    }
    check("set a \"b\"\x0bc\r\n", "set,a,b,c");
}

#[test]
fn progress_in_a_half_frame_is_not_lost_and_can_be_forgotten() {
    let (mut parser, mut spans, mut at) = (Parser::default(), Vec::new(), 3);
    let whole = b"xyz*2\r\n$3\r\nGET\r\n$5\r\nhello\r\n";
    let parsed = parser.next(&whole[..16], &mut at, &mut spans, &PLAIN);
    assert_eq!((parsed, at), (Ok(Parsed::NeedMore { at_least: 1 }), 3));
    let parsed = parser.next(&whole[..22], &mut at, &mut spans, &PLAIN);
    assert_eq!((parsed, at), (Ok(Parsed::NeedMore { at_least: 5 }), 3));
    // The tail may move to another buffer.
    at = 0;
    assert_eq!(parser.next(&whole[3..], &mut at, &mut spans, &PLAIN), Ok(Parsed::Frame));
    assert_eq!(
        (at, collect(&whole[3..], &spans)),
        (whole.len() - 3, vec![b"GET".to_vec(), b"hello".to_vec()])
    );
    at = 0;
    assert!(matches!(
        parser.next(b"*2\r\n$3\r\nGET\r\n", &mut at, &mut spans, &PLAIN),
        Ok(Parsed::NeedMore { .. })
    ));
    parser.restart();
    assert_eq!(parser.next(b"PING\r\n", &mut at, &mut spans, &PLAIN), Ok(Parsed::Inline));
}

#[test]
fn an_announcement_reserves_at_most_a_mebibyte() {
    let parsed = Parser::default().next(b"*1\r\n$500000000\r\n", &mut 0, &mut Vec::new(), &PLAIN);
    assert_eq!(parsed, Ok(Parsed::NeedMore { at_least: 1024 * 1024 }));
}

#[test]
fn a_command_of_a_million_arguments_is_taken_in_small_pieces() {
    let mut input = b"*1000000\r\n".to_vec();
    (0..1_000_000).for_each(|_| input.extend_from_slice(b"$1\r\nx\r\n"));
    let (frames, end) = parse_in_pieces(&input, &[4096; 1800], &PLAIN);
    assert_eq!((frames.len(), frames[0].len(), end), (1, 1_000_000, Ok(0)));
}

#[test]
fn memory_of_large_frames_is_given_back() {
    let (mut parser, mut spans, mut at) = (Parser::default(), Vec::new(), 0);
    let mut input = b"*1000\r\n".to_vec();
    (0..1000).for_each(|_| input.extend_from_slice(b"$1\r\nx\r\n"));
    assert!(parser.next(&input[..6000], &mut at, &mut spans, &PLAIN).is_ok());
    assert!(parser.memory() > 1000);
    assert_eq!(parser.next(&input, &mut at, &mut spans, &PLAIN), Ok(Parsed::Frame));
    let line = format!("ECHO {}\r\n", "x".repeat(50_000));
    at = 0;
    assert_eq!(parser.next(line.as_bytes(), &mut at, &mut spans, &PLAIN), Ok(Parsed::Inline));
    at = 0;
    assert_eq!(parser.next(b"PING\r\n", &mut at, &mut spans, &PLAIN), Ok(Parsed::Inline));
    assert!(parser.memory() < 1000, "{}", parser.memory());
}

/// A command, an inline one or one that is none.
fn any_frame() -> impl Strategy<Value = (Vec<u8>, Frame)> {
    let argument = prop_oneof![
        4 => proptest::collection::vec(any::<u8>(), 0..12),
        1 => proptest::collection::vec(any::<u8>(), 90..1100),
    ];
    let command = proptest::collection::vec(argument, 1..12).prop_map(|args| {
        let mut bytes = Vec::new();
        encode_command(&args.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut bytes);
        (bytes, args)
    });
    let inline = proptest::collection::vec("[a-z]{1,9}", 0..5).prop_map(|words| {
        let bytes = words.join(" ") + "\r\n";
        (bytes.into_bytes(), words.into_iter().map(String::into_bytes).collect())
    });
    prop_oneof![6 => command, 2 => inline, 1 => Just((b"*0\r\n".to_vec(), Vec::new()))]
}

proptest! {
    #[test]
    fn any_pieces_of_any_pipeline_give_what_was_sent(
        sent in proptest::collection::vec(any_frame(), 0..8),
        pieces in proptest::collection::vec(0usize..40, 0..60),
    ) {
        let input = sent.iter().flat_map(|(bytes, _)| bytes.clone()).collect::<Vec<_>>();
        let expected = sent.into_iter().map(|(_, frame)| frame).collect::<Vec<_>>();
        prop_assert_eq!(&parse_in_pieces(&input, &pieces, &PLAIN), &(expected.clone(), Ok(0)));
        prop_assert_eq!(&whole(&input, &PLAIN), &(expected, Ok(0)));
    }

    #[test]
    fn garbage_never_panics_and_pieces_do_not_matter(
        input in r#"([*$][0-9\-]{0,3}(\r\n|\r|\n)?|[a"'\\x \x00]{0,5}|\r\n){0,30}"#,
        pieces in proptest::collection::vec(0usize..9, 0..40),
        unauthenticated: bool,
    ) {
        let limits = Limits { inline_bytes_max: 40, bulk_bytes_max: 200, multibulk_args_max: 50, unauthenticated };
        let (frames, end) = whole(input.as_bytes(), &limits);
        let (in_pieces, end_in_pieces) = parse_in_pieces(input.as_bytes(), &pieces, &limits);
        // A line over the limit is taken if its end is already there, as in Redis; so only then pieces matter.
        if end_in_pieces.is_ok() || end == end_in_pieces {
            prop_assert_eq!((frames, end), (in_pieces, end_in_pieces));
        } else {
            prop_assert!(frames.starts_with(&in_pieces));
            let fault = end_in_pieces.expect_err("seen above").to_string();
            prop_assert!(fault.contains("too big"), "{}", fault);
        }
    }

    #[test]
    fn random_bytes_never_panic(input in proptest::collection::vec(any::<u8>(), 0..300), unauthenticated: bool) {
        let limits = Limits { unauthenticated, ..PLAIN };
        prop_assert_eq!(whole(&input, &limits), parse_in_pieces(&input, &vec![1; input.len()], &limits));
    }
}

#[test]
fn a_line_is_too_long_whether_its_end_is_there_or_not() {
    let limits = Limits { inline_bytes_max: 8, ..Limits::default() };
    let parse = |bytes: &[u8]| {
        let (mut parser, mut at, mut spans) = (Parser::default(), 0, Vec::new());
        parser.next(bytes, &mut at, &mut spans, &limits)
    };
    assert_eq!(parse(b"12345678\n"), Ok(Parsed::Inline));
    assert_eq!(parse(b"123456789\n"), Err(Fault::TooBigInline));
    assert_eq!(parse(b"123456789"), Err(Fault::TooBigInline));
}
