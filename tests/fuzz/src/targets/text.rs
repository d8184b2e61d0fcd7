//! Words and patterns: quoting and splitting are inverses, a pattern takes what it spells out.
//! It does not know settings, keys or channels.

use crate::{Random, Target};
use spec::glob_match;
use spec::setting::{quote_always, quote_word, split_words};

/// Splitting any line, and quoting any word.
pub const WORDS: Target = Target { name: "words", run: words, make: make_line };
/// Matching any pattern against any text.
pub const GLOBS: Target = Target { name: "globs", run: globs, make: make_pattern };

fn words(data: &[u8]) {
    if let Some(words) = split_words(data) {
        let line: Vec<String> = words.iter().map(|word| quote_word(word)).collect();
        assert_eq!(split_words(line.join(" ").as_bytes()), Some(words), "{line:?}");
    }
    assert_eq!(split_words(quote_always(data).as_bytes()), Some(vec![data.to_vec()]));
}

/// The first byte says where the pattern ends and the text begins.
fn globs(data: &[u8]) {
    let Some((&head, rest)) = data.split_first() else { return };
    let (pattern, text) = rest.split_at((head as usize).min(rest.len()));
    // No relation between the two is promised: a class may exclude the other case.
    let _ = (glob_match(pattern, text, false), glob_match(pattern, text, true));
    let escaped: Vec<u8> = text.iter().flat_map(|byte| [b'\\', *byte]).collect();
    assert!(glob_match(&escaped, text, false), "an escaped text spells itself");
    if !text.is_empty() {
        let open: Vec<u8> = [b"*", escaped.as_slice(), b"*"].concat();
        assert!(glob_match(&open, text, false), "stars take nothing, too");
    }
}

fn make_line(random: &mut Random) -> Vec<u8> {
    const PIECES: [&str; 12] = ["a", " ", "\"", "'", "\\", "\\x4", "\\n", "\t", "key", "\0", "#", "\u{e9}"];
    let pieces = random.below(12);
    (0..pieces).flat_map(|_| random.pick(&PIECES).as_bytes().to_vec()).collect()
}

fn make_pattern(random: &mut Random) -> Vec<u8> {
    const PIECES: [&str; 14] =
        ["a", "b", "A", "*", "?", "[ab]", "[^a]", "[a-c", "]", "\\", "-", "[z-a]", "**", "[]"];
    let mut pattern = Vec::new();
    for _ in 0..random.below(10) {
        pattern.extend_from_slice(random.pick(&PIECES).as_bytes());
    }
    let mut data = vec![pattern.len() as u8];
    data.append(&mut pattern);
    for _ in 0..random.below(12) {
        data.push(*random.pick(&[&b'a', &b'b', &b'c', &b'A', &b'-', &b']']));
    }
    data
}
