//! Splitting a line into words, with quotes, as redis.conf, inline commands and redis-cli do.
//! Knows no setting and no command.

/// Splits a line at white space. `"..."` takes `\n \r \t \b \a \xff \"` escapes, `'...'` only `\'`.
/// `None` where a quote is not closed, or closed in the middle of a word.
pub fn split_words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        let Some(start) = rest.iter().position(|&byte| !is_space(byte)) else { return Some(words) };
        rest = &rest[start..];
        let (word, after) = next_word(rest)?;
        words.push(word);
        rest = after;
    }
}

/// One word from the start of `text`, and what follows it.
fn next_word(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' | b'\'' => {
                let taken = quoted(&text[at..], &mut word)?;
                let after = &text[at + taken..];
                return match after.first() {
                    Some(&byte) if !is_space(byte) => None,
                    _ => Some((word, after)),
                };
            }
            byte if is_space(byte) => return Some((word, &text[at + 1..])),
            byte => {
                word.push(byte);
                at += 1;
            }
        }
    }
    Some((word, &[]))
}

/// Reads a quoted part onto `word`: its length with both quotes.
fn quoted(text: &[u8], word: &mut Vec<u8>) -> Option<usize> {
    let quote = text[0];
    let mut at = 1;
    loop {
        match (quote, &text[at..]) {
            (_, []) => return None,
            (_, [byte, ..]) if *byte == quote => return Some(at + 1),
            (b'\'', [b'\\', b'\'', ..]) => {
                word.push(b'\'');
                at += 2;
            }
            (b'"', [b'\\', b'x', high, low, ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                word.push(hex(*high)? << 4 | hex(*low)?);
                at += 4;
            }
            (b'"', [b'\\', escaped, ..]) => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 0x08,
                    b'a' => 0x07,
                    other => *other,
                });
                at += 2;
            }
            (_, [byte, ..]) => {
                word.push(*byte);
                at += 1;
            }
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r' | 0)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// Writes a word so that [`split_words`] reads it back: bare where that is safe, else in double quotes.
pub fn quote_word(word: &[u8]) -> String {
    let bare = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b'#');
    if !word.is_empty() && word.iter().all(bare) {
        return String::from_utf8_lossy(word).into_owned();
    }
    quote_always(word)
}

/// Writes a word in double quotes, escaping what does not print.
pub fn quote_always(word: &[u8]) -> String {
    let mut quoted = String::with_capacity(word.len() + 2);
    quoted.push('"');
    for &byte in word {
        match byte {
            b'"' | b'\\' => {
                quoted.push('\\');
                quoted.push(char::from(byte));
            }
            b'\n' => quoted.push_str("\\n"),
            b'\r' => quoted.push_str("\\r"),
            b'\t' => quoted.push_str("\\t"),
            0x07 => quoted.push_str("\\a"),
            0x08 => quoted.push_str("\\b"),
            b' '..=b'~' => quoted.push(char::from(byte)),
            other => quoted.push_str(&format!("\\x{other:02x}")),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&[&str]>) {
        let words = split_words(line.as_bytes());
        let expected = expected.map(|words| words.iter().map(|word| word.as_bytes().to_vec()).collect());
        assert_eq!(words, expected, "{line}");
    }

    #[test]
    fn lines_split_as_redis_splits_them() {
        check("", Some(&[]));
        check("  a  b\t c ", Some(&["a", "b", "c"]));
        check(r#"set "a b" 'c d'"#, Some(&["set", "a b", "c d"]));
        check(r#""\x41\n\q\"""#, Some(&["A\nq\""]));
        check(r"'it\'s' 'a\b'", Some(&["it's", r"a\b"]));
        check(r#"save """#, Some(&["save", ""]));
        check(r#"a"b c"d"#, None);
        check(r#"a"b c""#, Some(&["ab c"]));
        check(r#""open"#, None);
        check("'open", None);
        check(r#""a"b"#, None);
    }

    #[test]
    fn quoting_reads_back() {
        for word in [&b""[..], b"a", b"a b", b"\"'\\", b"\x00\xff\n\r\t\x07\x08", "grün".as_bytes(), b"#x"] {
            let line = quote_word(word);
            assert_eq!(split_words(line.as_bytes()), Some(vec![word.to_vec()]), "{line}");
            assert_eq!(split_words(quote_always(word).as_bytes()), Some(vec![word.to_vec()]));
        }
        assert_eq!(quote_word(b"plain"), "plain");
    }
}
