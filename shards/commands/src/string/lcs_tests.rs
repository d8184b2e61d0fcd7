//! LCS: its options, its limit, and its answers held against a plain table.

use super::lcs;
use crate::context::Random;
use crate::testing::{Rig, on_shards};

#[test]
fn lcs_answers_the_text_its_length_or_its_places() {
    on_shards(|rig| {
        rig.check("MSET a ohmytext b mynewtext", "+OK");
        rig.check("LCS a b", "$mytext");
        rig.check("LCS a b LEN", ":6");
        rig.check("LCS a b IDX", "[$matches [[[:4 :7] [:5 :8]] [[:2 :3] [:0 :1]]] $len :6]");
        rig.check("LCS a b IDX MINMATCHLEN 4", "[$matches [[[:4 :7] [:5 :8]]] $len :6]");
        rig.check("LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN", "[$matches [[[:4 :7] [:5 :8] :4]] $len :6]");
        rig.check("LCS a b IDX MINMATCHLEN -1 MINMATCHLEN 9", "[$matches [] $len :6]");
        rig.session.version = resp::Version::Resp3;
        rig.check(
            "LCS a b IDX WITHMATCHLEN",
            "{$matches: [[[:4 :7] [:5 :8] :4] [[:2 :3] [:0 :1] :2]], $len: :6}",
        );
    });
}

#[test]
fn missing_keys_are_empty_and_integers_are_texts() {
    on_shards(|rig| {
        rig.check("LCS a b", "$");
        rig.check("LCS a b LEN", ":0");
        rig.check("LCS a b IDX", "[$matches [] $len :0]");
        rig.check("MSET a 12345 b 1x3y5", "+OK");
        rig.check("LCS a b", "$135");
        rig.check("LCS a none", "$");
        rig.check("LCS none b IDX", "[$matches [] $len :0]");
        rig.check("LCS a a", "$12345");
        let effects = rig.effects();
        assert_eq!((effects.hits, effects.misses), (6, 8));
    });
}

#[test]
fn bad_options_are_refused() {
    on_shards(|rig| {
        rig.check("MSET a ohmytext b mynewtext", "+OK");
        rig.check("LCS a b FOO", "-ERR syntax error");
        rig.check("LCS a b MINMATCHLEN", "-ERR syntax error");
        rig.check("LCS a b MINMATCHLEN x", "-ERR value is not an integer or out of range");
        let both = "-ERR If you want both the length and indexes, please just use IDX.";
        rig.check("LCS a b LEN IDX", both);
        rig.check("LCS a", "-ERR wrong number of arguments for 'lcs' command");
    });
}

#[test]
fn a_table_beyond_the_limit_is_refused() {
    on_shards(|rig| {
        // (99 + 1) * (24 + 1) cells of four bytes.
        rig.configure(|live| live.proto_max_bulk_len = 10_000);
        rig.check(&format!("MSET a {} b {}", "x".repeat(99), "x".repeat(24)), "+OK");
        rig.check("LCS a b LEN", ":24");
        rig.check("APPEND b x", ":25");
        rig.check(
            "LCS a b LEN",
            "-ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len",
        );
    });
}

/// A plain recursion over prefixes, remembered.
fn table(a: &[u8], b: &[u8]) -> Vec<Vec<u32>> {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            table[i][j] = match a[i - 1] == b[j - 1] {
                true => table[i - 1][j - 1] + 1,
                false => table[i - 1][j].max(table[i][j - 1]),
            };
        }
    }
    table
}

/// The matches that Redis finds: from the ends, along the larger neighbour, the second string first.
fn redis_matches(a: &[u8], b: &[u8]) -> Vec<(usize, usize)> {
    let table = table(a, b);
    let (mut i, mut j) = (a.len(), b.len());
    let mut pairs = Vec::new();
    while i > 0 && j > 0 {
        if a[i - 1] == b[j - 1] {
            (i, j) = (i - 1, j - 1);
            pairs.push((i, j));
        } else if table[i - 1][j] > table[i][j - 1] {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    pairs
}

#[test]
fn random_strings_have_the_matches_of_a_plain_table() {
    let mut random = Random::new(11);
    for _ in 0..2_000 {
        let mut text =
            |bound| -> Vec<u8> { (0..random.below(bound)).map(|_| b'a' + random.below(3) as u8).collect() };
        let (a, b) = (text(90), text(140));
        let expected = table(&a, &b)[a.len()][b.len()];
        assert_eq!(lcs::length(&a, &b), expected);
        let (ways, length) = lcs::Ways::of(&a, &b);
        assert_eq!(length, expected);
        let pairs: Vec<(usize, usize)> = ways
            .matches(&a, &b)
            .iter()
            .flat_map(|found| (0..found.length).rev().map(|at| (found.a + at, found.b + at)))
            .collect();
        assert_eq!(pairs, redis_matches(&a, &b));
    }
}

#[test]
fn a_large_table_takes_a_bit_a_cell_and_no_long_time() {
    let mut rig = Rig::new(1);
    let text = "ab".repeat(2_500);
    rig.run(&[b"SET", b"a", text.as_bytes()]);
    rig.run(&[b"SET", b"b", "ba".repeat(2_500).as_bytes()]);
    rig.check("LCS a b LEN", ":4999");
    rig.check("STRLEN a", ":5000");
    assert_eq!(rig.say("LCS a b").len(), 5_000);
}
