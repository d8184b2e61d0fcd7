//! Replies as text: for people, raw, as CSV and as JSON, each byte as redis-cli writes it.

use super::options::{Options, Output};
use resp::client::Value;
use spec::setting::quote_always;
use std::io::Write;

/// Writes to standard output at once. When nobody reads it any more (a closed pipe), the program ends,
/// as it would have by SIGPIPE.
pub(super) fn show(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

/// A reply as the options ask for it. `verbatim` is for replies that are texts for people, such as
/// that of INFO.
pub(super) fn format(reply: &Value, options: &Options, verbatim: bool) -> Vec<u8> {
    let mut out = Vec::new();
    if verbatim {
        raw(reply, &options.bulk_delimiter, &mut out);
        return out;
    }
    match options.output {
        Output::Standard => standard(reply, "", &mut out),
        Output::Raw => {
            raw(reply, &options.bulk_delimiter, &mut out);
            out.extend_from_slice(&options.command_delimiter);
        }
        Output::Csv => {
            csv(reply, &mut out);
            out.push(b'\n');
        }
        Output::Json | Output::QuotedJson => {
            json(reply, options.output == Output::QuotedJson, &mut out);
            out.push(b'\n');
        }
    }
    out
}

/// For people. `prefix` stands before every line but the first.
fn standard(reply: &Value, prefix: &str, out: &mut Vec<u8>) {
    let mut line = |text: &[u8]| {
        out.extend_from_slice(text);
        out.push(b'\n');
    };
    match reply {
        Value::Error(text) => line(format!("(error) {text}").as_bytes()),
        Value::Simple(text) => line(text.as_bytes()),
        Value::Integer(number) => line(format!("(integer) {number}").as_bytes()),
        Value::Double(number) => line(format!("(double) {}", double(*number)).as_bytes()),
        Value::BigNumber(digits) => line(format!("(big number) {digits}").as_bytes()),
        Value::Bulk(bytes) => line(quote_always(bytes).as_bytes()),
        Value::Verbatim(_, bytes) => line(bytes),
        Value::Null => line(b"(nil)"),
        Value::Boolean(truth) => line(format!("({truth})").as_bytes()),
        Value::Array(items) => list(items, ')', "array", prefix, out),
        Value::Set(items) => list(items, '~', "set", prefix, out),
        Value::Push(items) => list(items, ')', "push", prefix, out),
        Value::Map(pairs) => map(pairs, '#', prefix, out),
        Value::Attribute(pairs, reply) => {
            map(pairs, '|', prefix, out);
            standard(reply, prefix, out);
        }
    }
}

fn list(items: &[Value], mark: char, kind: &str, prefix: &str, out: &mut Vec<u8>) {
    if items.is_empty() {
        out.extend_from_slice(format!("(empty {kind})\n").as_bytes());
        return;
    }
    let width = items.len().to_string().len();
    let inner = format!("{prefix}{}", " ".repeat(width + 2));
    for (index, item) in items.iter().enumerate() {
        let start = if index == 0 { "" } else { prefix };
        out.extend_from_slice(format!("{start}{:>width$}{mark} ", index + 1).as_bytes());
        standard(item, &inner, out);
    }
}

fn map(pairs: &[(Value, Value)], mark: char, prefix: &str, out: &mut Vec<u8>) {
    if pairs.is_empty() {
        out.extend_from_slice(b"(empty hash)\n");
        return;
    }
    let width = pairs.len().to_string().len();
    let inner = format!("{prefix}{}", " ".repeat(width + 2));
    for (index, (key, value)) in pairs.iter().enumerate() {
        let start = if index == 0 { "" } else { prefix };
        out.extend_from_slice(format!("{start}{:>width$}{mark} ", index + 1).as_bytes());
        standard(key, &inner, out);
        // The value goes on in the line of its key, unless it takes several.
        out.pop();
        out.extend_from_slice(b" => ");
        let mut text = Vec::new();
        standard(value, &inner, &mut text);
        if text[..text.len() - 1].contains(&b'\n') {
            out.extend_from_slice(format!("\n{inner}").as_bytes());
        }
        out.extend_from_slice(&text);
    }
}

/// The bytes alone.
fn raw(reply: &Value, delimiter: &[u8], out: &mut Vec<u8>) {
    match reply {
        Value::Null => {}
        Value::Error(text) => {
            out.extend_from_slice(text.as_bytes());
            out.push(b'\n');
        }
        Value::Simple(text) | Value::BigNumber(text) => out.extend_from_slice(text.as_bytes()),
        Value::Bulk(bytes) | Value::Verbatim(_, bytes) => out.extend_from_slice(bytes),
        Value::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Double(number) => out.extend_from_slice(double(*number).as_bytes()),
        Value::Boolean(truth) => out.extend_from_slice(format!("({truth})").as_bytes()),
        Value::Array(items) | Value::Set(items) | Value::Push(items) => {
            separated(items, delimiter, out, |item, out| raw(item, delimiter, out));
        }
        Value::Map(pairs) => separated(pairs, delimiter, out, |(key, value), out| {
            raw(key, delimiter, out);
            out.push(b' ');
            raw(value, delimiter, out);
        }),
        Value::Attribute(_, reply) => raw(reply, delimiter, out),
    }
}

fn separated<T>(items: &[T], delimiter: &[u8], out: &mut Vec<u8>, mut each: impl FnMut(&T, &mut Vec<u8>)) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(delimiter);
        }
        each(item, out);
    }
}

fn csv(reply: &Value, out: &mut Vec<u8>) {
    match reply {
        Value::Error(text) => {
            out.extend_from_slice(b"ERROR,");
            out.extend_from_slice(quote_always(text.as_bytes()).as_bytes());
        }
        Value::Simple(text) => out.extend_from_slice(quote_always(text.as_bytes()).as_bytes()),
        Value::Bulk(bytes) | Value::Verbatim(_, bytes) => {
            out.extend_from_slice(quote_always(bytes).as_bytes());
        }
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Boolean(truth) => out.extend_from_slice(truth.to_string().as_bytes()),
        Value::Array(items) | Value::Set(items) | Value::Push(items) => separated(items, b",", out, csv),
        Value::Map(pairs) => separated(pairs, b",", out, |(key, value), out| {
            csv(key, out);
            out.push(b',');
            csv(value, out);
        }),
        Value::Attribute(_, reply) => csv(reply, out),
        Value::Integer(_) | Value::Double(_) | Value::BigNumber(_) => raw(reply, b"", out),
    }
}

fn json(reply: &Value, ascii: bool, out: &mut Vec<u8>) {
    match reply {
        Value::Error(text) => {
            out.extend_from_slice(b"error:");
            json_string(text.as_bytes(), ascii, out);
        }
        Value::Simple(text) => json_string(text.as_bytes(), ascii, out),
        Value::Bulk(bytes) | Value::Verbatim(_, bytes) => json_string(bytes, ascii, out),
        Value::Null => out.extend_from_slice(b"null"),
        Value::Boolean(truth) => out.extend_from_slice(truth.to_string().as_bytes()),
        Value::Array(items) | Value::Set(items) | Value::Push(items) => {
            out.push(b'[');
            separated(items, b",", out, |item, out| json(item, ascii, out));
            out.push(b']');
        }
        Value::Map(pairs) => {
            out.push(b'{');
            separated(pairs, b",", out, |(key, value), out| {
                json_key(key, ascii, out);
                out.push(b':');
                json(value, ascii, out);
            });
            out.push(b'}');
        }
        Value::Attribute(_, reply) => json(reply, ascii, out),
        Value::Integer(_) | Value::Double(_) | Value::BigNumber(_) => raw(reply, b"", out),
    }
}

/// A key of a map. JSON has none but strings: another type is written and then quoted.
fn json_key(key: &Value, ascii: bool, out: &mut Vec<u8>) {
    if let Value::Simple(_) | Value::Bulk(_) | Value::Verbatim(..) = key {
        return json(key, ascii, out);
    }
    let mut text = Vec::new();
    json(key, ascii, &mut text);
    json_string(&text, ascii, out);
}

fn json_string(bytes: &[u8], ascii: bool, out: &mut Vec<u8>) {
    if ascii {
        // The quoted form of redis-cli, with its backslashes doubled so that JSON leaves them alone.
        let quoted = quote_always(bytes);
        for byte in quoted.bytes() {
            if byte == b'\\' {
                out.push(b'\\');
            }
            out.push(byte);
        }
        return;
    }
    out.push(b'"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            other => out.push(other),
        }
    }
    out.push(b'"');
}

/// A double as servers write it.
fn double(number: f64) -> String {
    String::from_utf8_lossy(resp::format_double(number).as_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use resp::client::decode;

    #[track_caller]
    fn check(reply: &str, expected: [&str; 4]) {
        let (value, _) = decode(reply.as_bytes()).expect("a reply").expect("a whole reply");
        let mut shown = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        standard(&value, "", &mut shown[0]);
        raw(&value, b"|", &mut shown[1]);
        csv(&value, &mut shown[2]);
        json(&value, false, &mut shown[3]);
        let shown = shown.map(|bytes| String::from_utf8(bytes).expect("text"));
        assert_eq!(shown.each_ref().map(String::as_str), expected);
    }

    #[test]
    fn every_type_is_written_as_redis_cli_writes_it() {
        check("+OK\r\n", ["OK\n", "OK", "\"OK\"", "\"OK\""]);
        check("-ERR no\r\n", ["(error) ERR no\n", "ERR no\n", "ERROR,\"ERR no\"", "error:\"ERR no\""]);
        check(":5\r\n", ["(integer) 5\n", "5", "5", "5"]);
        check("$3\r\na\"\n\r\n", ["\"a\\\"\\n\"\n", "a\"\n", "\"a\\\"\\n\"", "\"a\\\"\\n\""]);
        check("$-1\r\n", ["(nil)\n", "", "NULL", "null"]);
        check(",3.5\r\n", ["(double) 3.5\n", "3.5", "3.5", "3.5"]);
        check("#t\r\n", ["(true)\n", "(true)", "true", "true"]);
        check("*0\r\n", ["(empty array)\n", "", "", "[]"]);
        check("%0\r\n", ["(empty hash)\n", "", "", "{}"]);
        check("=7\r\ntxt:a b\r\n", ["a b\n", "a b", "\"a b\"", "\"a b\""]);
        check(
            "%2\r\n+a\r\n:1\r\n:2\r\n~1\r\n#f\r\n",
            [
                "1# a => (integer) 1\n2# (integer) 2 => 1~ (false)\n",
                "a 1|2 (false)",
                "\"a\",1,2,false",
                "{\"a\":1,\"2\":[false]}",
            ],
        );
    }

    #[test]
    fn nested_lists_are_indented_by_the_width_of_their_index() {
        let reply = format!("*10\r\n{}*2\r\n:8\r\n:9\r\n", ":1\r\n".repeat(9));
        let (value, _) = decode(reply.as_bytes()).expect("a reply").expect("a whole reply");
        let mut out = Vec::new();
        standard(&value, "", &mut out);
        let text = String::from_utf8(out).expect("text");
        assert!(text.starts_with(" 1) (integer) 1\n 2) "));
        assert!(text.ends_with("10) 1) (integer) 8\n    2) (integer) 9\n"), "{text}");
    }
}
