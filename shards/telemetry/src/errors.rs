//! Error replies counted by their first word (`ERR`, `WRONGTYPE`, ...): scripts may invent words, so
//! the table learns them, up to a bound. Knows nothing of replies beyond that word.

use crate::Counter;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Words told apart; further ones are counted together. The same bound as Redis has.
pub const ERROR_KINDS: usize = 128;

/// The name under which the words beyond the bound are counted.
pub const OTHER_ERRORS: &str = "ERRORSTATS_OVERFLOW";

/// Longer words are cut: a client must not be able to make labels of any length.
const WORD_BYTES_MAX: usize = 32;

#[derive(Default, Debug)]
struct Slot {
    word: OnceLock<Box<str>>,
    count: Counter,
}

/// Counts by first word: one owner, any reader. A slot is taken once and keeps its word.
#[derive(Debug)]
pub struct ErrorTable {
    slots: Box<[Slot]>,
    other: Counter,
}

impl Default for ErrorTable {
    fn default() -> Self {
        Self { slots: (0..ERROR_KINDS).map(|_| Slot::default()).collect(), other: Counter::new() }
    }
}

/// A word fit for a label: at most `WORD_BYTES_MAX` printable ASCII bytes, no quote or backslash.
fn clean(word: &[u8]) -> &str {
    let fits = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b':' | b'=' | b',');
    let length = word.iter().take(WORD_BYTES_MAX).take_while(|byte| fits(byte)).count();
    std::str::from_utf8(&word[..length]).expect("printable ASCII is UTF-8")
}

impl ErrorTable {
    /// Counts an error reply that begins with `word`. Owner only.
    ///
    /// A search over the words so far: a shard sees a handful, the frequent ones first. The first
    /// use of a word allocates its name.
    pub fn count(&self, word: &[u8]) {
        let word = clean(word);
        for slot in &self.slots {
            let held = slot.word.get_or_init(|| word.into());
            if **held == *word {
                return slot.count.add(1);
            }
        }
        self.other.add(1);
    }

    /// A copy: every word seen, with its count.
    pub fn snapshot(&self) -> BTreeMap<String, u64> {
        let named =
            self.slots.iter().map_while(|slot| Some((slot.word.get()?.to_string(), slot.count.read())));
        let other = Some((OTHER_ERRORS.to_owned(), self.other.read())).filter(|(_, count)| *count > 0);
        named.chain(other).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_apart_and_bounded() {
        let table = ErrorTable::default();
        for number in 0..ERROR_KINDS + 2 {
            table.count(format!("E{number}").as_bytes());
            table.count(b"E0");
        }
        let counts = table.snapshot();
        assert_eq!(counts["E0"], ERROR_KINDS as u64 + 3);
        assert_eq!(counts["E5"], 1);
        assert_eq!(counts[OTHER_ERRORS], 2);
        assert_eq!(counts.len(), ERROR_KINDS + 1);
    }

    #[test]
    fn a_strange_word_is_cut_to_a_label() {
        let table = ErrorTable::default();
        table.count(b"ODD\"} 1\n");
        table.count(&[b'A'; 500]);
        table.count(b"\xff\xfe");
        let words: Vec<String> = table.snapshot().into_keys().collect();
        assert_eq!(words, ["", &"A".repeat(32), "ODD"]);
    }
}
