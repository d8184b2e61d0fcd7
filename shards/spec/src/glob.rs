//! Glob patterns as KEYS, SCAN, PSUBSCRIBE and CONFIG GET use them: `*`, `?`, `[a-c]`, `[^a]`, `\x`.
//! Knows bytes alone: no key, no channel, no locale.

/// Stars beyond which Redis gives up and lets nothing match; it counts several in a row as one.
const STARS_MAX: usize = 1000;

/// Does all of `text` match `pattern`? With `nocase`, ASCII letters match in either case.
///
/// The rules are those of Redis, with their corners: a class that is never closed ends with the
/// pattern, a lone `\` at the end stands for itself, an empty text matches only the empty pattern
/// (whoever lets `*` mean "all" asks [`matches_all`] first).
///
/// Every element but `*` takes exactly one byte, so going back to the last star alone is enough:
/// the work is at most `pattern.len() * text.len()` steps, whatever the pattern.
pub fn glob_match(pattern: &[u8], text: &[u8], nocase: bool) -> bool {
    if text.is_empty() {
        return pattern.is_empty();
    }
    let (mut at, mut read) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    let mut stars = 0;
    while read < text.len() {
        if pattern.get(at) == Some(&b'*') {
            stars += usize::from(at == 0 || pattern[at - 1] != b'*');
            at += 1;
            if at == pattern.len() {
                return true;
            }
            if stars > STARS_MAX && pattern[at] != b'*' {
                return false;
            }
            last_star = Some((at, read));
            continue;
        }
        match step(&pattern[at..], text[read], nocase) {
            Some(taken) => {
                at += taken;
                read += 1;
            }
            None => {
                let Some((after_star, covered)) = last_star else { return false };
                at = after_star;
                read = covered + 1;
                last_star = Some((after_star, read));
            }
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

/// Is the pattern the one star that lets everything through?
pub fn matches_all(pattern: &[u8]) -> bool {
    pattern == b"*"
}

/// Does the pattern hold anything but letters that stand for themselves?
pub fn is_glob(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\'))
}

/// Matches one byte against the element (not a star) that `pattern` begins with; the length of that
/// element, or `None` where it does not match.
fn step(pattern: &[u8], byte: u8, nocase: bool) -> Option<usize> {
    match *pattern.first()? {
        b'?' => Some(1),
        b'[' => class(pattern, byte, nocase),
        b'\\' if pattern.len() >= 2 => same(pattern[1], byte, nocase).then_some(2),
        own => same(own, byte, nocase).then_some(1),
    }
}

/// `[...]`: the length of the class where it lets the byte through.
fn class(pattern: &[u8], byte: u8, nocase: bool) -> Option<usize> {
    let negated = pattern.get(1) == Some(&b'^');
    let mut at = if negated { 2 } else { 1 };
    let mut found = false;
    loop {
        match pattern[at..] {
            // Redis compares an escaped member exactly, also without regard to case elsewhere.
            [b'\\', escaped, ..] => {
                found |= escaped == byte;
                at += 2;
            }
            [b']', ..] => {
                at += 1;
                break;
            }
            [] => break,
            [from, b'-', to, ..] => {
                let fold = |letter: u8| if nocase { letter.to_ascii_lowercase() } else { letter };
                let (low, high) = (fold(from.min(to)), fold(from.max(to)));
                found |= (low..=high).contains(&fold(byte));
                at += 3;
            }
            [own, ..] => {
                found |= same(own, byte, nocase);
                at += 1;
            }
        }
    }
    (found != negated).then_some(at)
}

fn same(one: u8, other: u8, nocase: bool) -> bool {
    one == other || (nocase && one.eq_ignore_ascii_case(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: bool) {
        assert_eq!(glob_match(pattern.as_bytes(), text.as_bytes(), false), expected, "{pattern} on {text}");
    }

    #[test]
    fn more_stars_than_redis_follows_match_nothing() {
        let text = "a".repeat(2000);
        check(&"*?".repeat(1000), &text, true);
        check(&"*?".repeat(1001), &text, false);
        check(&("*?".repeat(1000) + "*"), &text, true);
        check(&("**?".repeat(1000) + "**"), &text, true);
    }

    #[test]
    fn plain_elements_match_as_redis_has_it() {
        check("hello", "hello", true);
        check("hello", "hell", false);
        check("h?llo", "hallo", true);
        check("h?llo", "hllo", false);
        check("h*llo", "heeeello", true);
        check("*", "anything", true);
        check("*", "", false);
        check("", "", true);
        check("", "a", false);
        check("a**", "a", true);
        check("a*b*c", "a--b--c", true);
        check("a*b*c", "a--b--", false);
        check("*ab", "aab", true);
        check("*a*a*a*", "aa", false);
    }

    #[test]
    fn classes_take_ranges_negation_and_escapes() {
        check("h[ae]llo", "hello", true);
        check("h[^e]llo", "hello", false);
        check("h[^e]llo", "hallo", true);
        check("h[a-b]llo", "hbllo", true);
        check("h[b-a]llo", "hallo", true);
        check("[\\]]", "]", true);
        check("[a\\-c]", "b", false);
        check("[a\\-c]", "-", true);
        check("[abc", "b", true);
        check("[^abc", "b", false);
        check("[", "x", false);
        check("[]", "x", false);
        check("[^]", "x", true);
        check("[a-]", "b", false);
    }

    #[test]
    fn escapes_take_the_next_byte_as_it_is() {
        check("\\*", "*", true);
        check("\\*", "a", false);
        check("a\\", "a\\", true);
        check("\\a\\?", "a?", true);
    }

    #[test]
    fn case_is_folded_on_request() {
        assert!(glob_match(b"MaxM*", b"maxmemory", true));
        assert!(!glob_match(b"MaxM*", b"maxmemory", false));
        assert!(glob_match(b"[A-C]x", b"bX", true));
        assert!(!glob_match(b"[\\B]", b"b", true));
    }

    #[test]
    fn many_stars_stay_cheap() {
        let pattern = "a*".repeat(2_000) + "b";
        let text = "a".repeat(4_000);
        let before = std::time::Instant::now();
        assert!(!glob_match(pattern.as_bytes(), text.as_bytes(), false));
        assert!(before.elapsed().as_secs() < 5);
    }
}
