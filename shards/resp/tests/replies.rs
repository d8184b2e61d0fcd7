//! Replies: what a command says, in both versions, and that a client reads it so.

use corelane_resp::client::{DEPTH_MAX, Decoder, Malformed, Value, decode};
use corelane_resp::{Fault, Output, Reply, Version};
use proptest::prelude::*;

fn written(version: Version, write: impl Fn(&mut Reply<'_>)) -> String {
    let mut bytes = Output::default();
    write(&mut Reply::new(&mut bytes, version));
    bytes.escape_ascii().to_string().replace(r"\r\n", " ").replace(r"\'", "'").replace("\\\"", "\"")
}

/// Line ends are shown as blanks.
fn check(write: impl Fn(&mut Reply<'_>), resp2: &str, resp3: &str) {
    assert_eq!(written(Version::Resp2, &write), resp2, "in RESP2");
    assert_eq!(written(Version::Resp3, &write), resp3, "in RESP3");
}

fn check_both(write: impl Fn(&mut Reply<'_>), expected: &str) {
    check(write, expected, expected);
}

#[test]
fn status_lines_and_strings_are_the_same_in_both() {
    check_both(|reply| reply.ok(), "+OK ");
    check_both(|reply| reply.simple("PONG"), "+PONG ");
    check_both(|reply| reply.bulk(b"a\r\0"), r"$3 a\r\x00 ");
    check_both(|reply| reply.bulk_text(""), "$0  ");
    check_both(|reply| reply.bulk(&[b'x'; 1000]), &format!("$1000 {} ", "x".repeat(1000)));
    check_both(|reply| reply.raw(b":1\r\n"), ":1 ");
}

#[test]
fn integers_of_every_size_are_written() {
    for number in [0, 7, 9, 10, 42, 99, 100, 999, 1000, 123_456, -1, -1000, i64::MAX, i64::MIN] {
        check_both(|reply| reply.integer(number), &format!(":{number} "));
        let text = number.to_string();
        check_both(|reply| reply.bulk_integer(number), &format!("${} {text} ", text.len()));
    }
}

#[test]
fn errors_stay_on_one_line() {
    check_both(|reply| reply.error("ERR syntax error"), "-ERR syntax error ");
    check_both(|reply| reply.error("ERR a\r\nb\n"), "-ERR a  b ");
    check_both(|reply| reply.error_fmt(format_args!("ERR no '{}'\r\n", "x\ny")), "-ERR no 'x y' ");
    check_both(|reply| reply.error_bytes(b"ERR unknown \xff"), r"-ERR unknown \xff ");
    check_both(|reply| reply.error(""), "- ");
    check_both(|reply| reply.fault(Fault::InvalidBulkLength), "-ERR Protocol error: invalid bulk length ");
}

#[test]
fn nothing_is_said_differently() {
    check(|reply| reply.null(), "$-1 ", "_ ");
    check(|reply| reply.null_array(), "*-1 ", "_ ");
}

#[test]
fn aggregates_are_arrays_in_resp2() {
    check_both(|reply| reply.array(3), "*3 ");
    check(|reply| reply.map(2), "*4 ", "%2 ");
    check(|reply| reply.set(1200), "*1200 ", "~1200 ");
    check(|reply| reply.push(3), "*3 ", ">3 ");
    check(|reply| assert_eq!(reply.attribute(1), reply.version() == Version::Resp3), "", "|1 ");
}

#[test]
fn scalars_of_resp3_are_strings_and_integers_in_resp2() {
    check(|reply| reply.double(3.25), "$4 3.25 ", ",3.25 ");
    check(|reply| reply.double(f64::NEG_INFINITY), "$4 -inf ", ",-inf ");
    check(|reply| reply.double(2.0), "$1 2 ", ",2 ");
    check(|reply| reply.human_double(1e20), "$21 100000000000000000000 ", ",100000000000000000000 ");
    check(|reply| reply.boolean(true), ":1 ", "#t ");
    check(|reply| reply.boolean(false), ":0 ", "#f ");
    check(|reply| reply.verbatim("txt", b"ab"), "$2 ab ", "=6 txt:ab ");
    check(
        |reply| reply.big_number("12345678901234567890"),
        "$20 12345678901234567890 ",
        "(12345678901234567890 ",
    );
}

#[test]
fn a_header_may_be_settled_once_its_length_is_known() {
    for len in [0, 1, 9, 10, 99, 100, 12_345] {
        let elements = |reply: &mut Reply<'_>| (0..len).for_each(|number| reply.integer(number));
        let shown = (0..len).map(|number| format!(":{number} ")).collect::<String>();
        check_both(
            |reply| {
                reply.ok();
                let deferred = reply.defer();
                elements(reply);
                reply.settle_array(deferred, len as usize);
                reply.ok();
            },
            &format!("+OK *{len} {shown}+OK "),
        );
    }
}

#[test]
fn deferred_headers_nest_inner_first() {
    check(
        |reply| {
            let outer = reply.defer();
            let inner = reply.defer();
            reply.integer(1);
            reply.settle_set(inner, 1);
            reply.ok();
            reply.settle_map(outer, 1);
        },
        "*2 *1 :1 +OK ",
        "%1 ~1 :1 +OK ",
    );
}

#[test]
fn a_reply_can_be_taken_back() {
    let mut bytes = Output::from(b"+OK\r\n".to_vec());
    let mut reply = Reply::new(&mut bytes, Version::Resp2);
    let before = reply.written().len();
    reply.array(2);
    reply.rewind(before);
    reply.speak(Version::Resp3);
    reply.null();
    assert_eq!(&bytes[..], b"+OK\r\n_\r\n");
}

/// Any reply, as its value in RESP3.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        "[ -~]{0,12}".prop_map(Value::Simple),
        "[ -~]{0,12}".prop_map(Value::Error),
        any::<i64>().prop_map(Value::Integer),
        (-5i64..2000).prop_map(Value::Integer),
        proptest::collection::vec(any::<u8>(), 0..20).prop_map(Value::Bulk),
        Just(Value::Null),
        any::<f64>()
            .prop_filter("NaN is not equal to itself", |value| !value.is_nan())
            .prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
        "-?[1-9][0-9]{0,30}".prop_map(Value::BigNumber),
        ("[a-z]{3}", proptest::collection::vec(any::<u8>(), 0..9))
            .prop_map(|(kind, text)| Value::Verbatim(kind, text)),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let values = proptest::collection::vec(inner.clone(), 0..6);
        let pairs = proptest::collection::vec((inner.clone(), inner.clone()), 0..4);
        prop_oneof![
            values.clone().prop_map(Value::Array),
            values.clone().prop_map(Value::Set),
            values.prop_map(Value::Push),
            pairs.clone().prop_map(Value::Map),
            (pairs, inner).prop_map(|(pairs, value)| Value::Attribute(pairs, Box::new(value))),
        ]
    })
}

fn write(reply: &mut Reply<'_>, value: &Value) {
    match value {
        Value::Simple(text) => reply.simple(text),
        Value::Error(text) => reply.error(text),
        Value::Integer(number) => reply.integer(*number),
        Value::Bulk(bytes) => reply.bulk(bytes),
        Value::Null => reply.null(),
        Value::Double(number) => reply.double(*number),
        Value::Boolean(truth) => reply.boolean(*truth),
        Value::BigNumber(digits) => reply.big_number(digits),
        Value::Verbatim(kind, text) => reply.verbatim(kind, text),
        Value::Array(values) => {
            let deferred = reply.defer();
            values.iter().for_each(|value| write(reply, value));
            reply.settle_array(deferred, values.len());
        }
        Value::Set(values) => {
            reply.set(values.len());
            values.iter().for_each(|value| write(reply, value));
        }
        Value::Push(values) => {
            reply.push(values.len());
            values.iter().for_each(|value| write(reply, value));
        }
        Value::Map(pairs) => {
            let deferred = reply.defer();
            pairs
                .iter()
                .for_each(|(key, value)| [key, value].into_iter().for_each(|value| write(reply, value)));
            reply.settle_map(deferred, pairs.len());
        }
        Value::Attribute(pairs, value) => {
            if reply.attribute(pairs.len()) {
                pairs
                    .iter()
                    .for_each(|(key, value)| [key, value].into_iter().for_each(|value| write(reply, value)));
            }
            write(reply, value);
        }
    }
}

/// What a RESP2 client sees of a value.
fn in_resp2(value: Value) -> Value {
    let all = |values: Vec<Value>| Value::Array(values.into_iter().map(in_resp2).collect());
    match value {
        Value::Double(number) => Value::Bulk(corelane_resp::format_double(number).as_bytes().to_vec()),
        Value::Boolean(truth) => Value::Integer(i64::from(truth)),
        Value::BigNumber(digits) => Value::Bulk(digits.into_bytes()),
        Value::Verbatim(_, text) => Value::Bulk(text),
        Value::Array(values) | Value::Set(values) | Value::Push(values) => all(values),
        Value::Map(pairs) => all(pairs.into_iter().flat_map(|(key, value)| [key, value]).collect()),
        Value::Attribute(_, value) => in_resp2(*value),
        other => other,
    }
}

#[test]
fn what_is_no_reply_is_refused() {
    let refused = |bytes: &[u8]| decode(bytes).expect_err("it is no reply");
    assert_eq!(refused(b"HTTP/1.1\r\n"), Malformed::Kind(b'H'));
    assert_eq!(refused(b"\r\n"), Malformed::Kind(b'\r'));
    assert_eq!(refused(b":x\r\n"), Malformed::Number);
    assert_eq!(refused(b"$-2\r\n"), Malformed::Number);
    assert_eq!(refused(b"#x\r\n"), Malformed::Number);
    assert_eq!(refused(b",1,5\r\n"), Malformed::Number);
    assert_eq!(refused(b"$1\r\nabc"), Malformed::Ending);
    assert_eq!(refused(b"+OK\n"), Malformed::Ending);
    assert_eq!(refused(b"=1\r\na\r\n"), Malformed::Ending);
    assert_eq!(refused(b"$9999999999\r\n"), Malformed::TooLong);
    assert_eq!(refused("*1\r\n".repeat(DEPTH_MAX + 1).as_bytes()), Malformed::TooDeep);
    assert_eq!(refused("|1\r\n".repeat(DEPTH_MAX + 1).as_bytes()), Malformed::TooDeep);
    assert_eq!(refused(b"HTTP").to_string(), "got 'H' as reply type byte");
}

#[test]
fn other_ways_to_say_the_same_are_read() {
    let read = |bytes: &[u8]| decode(bytes).expect("a reply").expect("a whole one").0;
    assert_eq!(read(b"*-1\r\n"), Value::Null);
    assert_eq!(read(b"!8\r\nERR a\r\nb\r\n"), Value::Error("ERR a\r\nb".into()));
    assert_eq!(read(b",inf\r\n"), Value::Double(f64::INFINITY));
    assert!(matches!(read(b",nan\r\n"), Value::Double(number) if number.is_nan()));
    assert_eq!(read(b"+\xff\r\n"), Value::Simple("\u{fffd}".into()));
}

proptest! {
    #[test]
    fn a_client_reads_what_was_written(values in proptest::collection::vec(any_value(), 1..4), step in 1usize..7) {
        for version in [Version::Resp2, Version::Resp3] {
            let mut bytes = Output::default();
            let mut reply = Reply::new(&mut bytes, version);
            values.iter().for_each(|value| write(&mut reply, value));
            let (mut decoder, mut at, mut read) = (Decoder::default(), 0, Vec::new());
            for end in (0..bytes.len()).step_by(step).chain([bytes.len()]) {
                while let Some(value) = decoder.next(&bytes[..end], &mut at).expect("well formed") {
                    read.push(value);
                }
            }
            let expected = match version {
                Version::Resp2 => values.iter().cloned().map(in_resp2).collect(),
                Version::Resp3 => values.clone(),
            };
            prop_assert_eq!(read, expected);
            prop_assert_eq!(at, bytes.len());
        }
    }

    #[test]
    fn garbage_never_panics(bytes in r"([*$%~>|=!:,#_+(-][0-9\-tf]{0,3}(\r\n|\n)|[a:\x00]{0,5}\r\n){0,30}") {
        let _ = decode(bytes.as_bytes());
    }
}
