//! Key positions: whatever shape a command declares and whatever arguments a client sends, the positions
//! found lie among the arguments and ascend. It does not know any command.

use crate::{Random, Target};
use spec::{Access, Extent, Keys, Start};

/// Any shape over any arguments.
pub const SHAPES: Target = Target { name: "key-shapes", run: shapes, make: make_shape };

/// Six bytes of shape, then arguments separated by spaces.
fn shapes(data: &[u8]) {
    let Some((shape, line)) = data.split_first_chunk::<6>() else { return };
    let keys = keys_of(shape);
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    check(&keys, &words);
}

/// Every position lies among the arguments, behind the command's name, and behind the one before it.
pub fn check(keys: &Keys, words: &[&[u8]]) {
    let mut last = 0;
    let mut in_order = true;
    let visited = keys.visit(
        words.len(),
        |at| words[at],
        |at| {
            in_order &= at > last && at < words.len();
            last = at;
        },
    );
    assert!(in_order, "{keys:?} found {last} among {} arguments ({visited:?})", words.len());
}

fn keys_of(shape: &[u8; 6]) -> Keys {
    let [start, from, extent, a, b, c] = *shape;
    let small = |byte: u8| u16::from(byte % 4);
    let start = match start % 3 {
        0 => Start::Index(1 + small(from)),
        1 => Start::Keyword("KEYS", 1 + small(from) as i16),
        _ => Start::Keyword("KEYS", -1 - small(from) as i16),
    };
    let extent = match extent % 2 {
        0 => Extent::Range { last: i16::from(a as i8) % 4, step: 1 + small(b), limit: small(c) },
        _ => Extent::Counted { number: small(a), first: 1 + small(b), step: 1 + small(c) },
    };
    Keys::new(start, extent, Access::RO)
}

fn make_shape(random: &mut Random) -> Vec<u8> {
    const WORDS: [&str; 9] = ["a", "b", "KEYS", "keys", "0", "1", "2", "3", "99999999999"];
    let mut data = random.bytes(6);
    for _ in 0..random.below(9) {
        data.extend_from_slice(random.pick(&WORDS).as_bytes());
        data.push(b' ');
    }
    data
}
