//! Packed items against a plain list of texts.

use crate::Text;
use crate::types::packed::{self, Items};
use proptest::prelude::*;

/// A text of one of the lengths at which encodings change, or an integer around one of the bounds.
pub(super) fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let near = |bound: i64| {
        (-2i64..3, any::<bool>()).prop_map(move |(by, negative)| {
            let value = bound.wrapping_add(by);
            (if negative { value.wrapping_neg() } else { value }).to_string().into_bytes()
        })
    };
    let long =
        |length: usize| (0..3usize, any::<u8>()).prop_map(move |(by, byte)| vec![byte; length - 1 + by]);
    prop_oneof![
        6 => prop::collection::vec(any::<u8>(), 0..40),
        3 => any::<i64>().prop_map(|value| value.to_string().into_bytes()),
        2 => near(0),
        2 => near(0x7f),
        2 => near(0x1000),
        2 => near(0x8000),
        2 => near(0x80_0000),
        2 => near(0x8000_0000),
        1 => near(i64::MAX),
        2 => long(0x3f),
        2 => long(126),
        1 => long(0xfff),
        1 => long(16_380),
    ]
}

fn pack(texts: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    texts.iter().for_each(|text| packed::append(&mut bytes, Text::of(text)));
    bytes
}

fn plain(text: Text<'_>) -> Vec<u8> {
    match text {
        Text::Int(value) => value.to_string().into_bytes(),
        Text::Bytes(bytes) => bytes.to_vec(),
    }
}

proptest! {
    #[test]
    fn items_come_back_from_either_end(texts in prop::collection::vec(any_text(), 0..30), cut in 0usize..30) {
        let bytes = pack(&texts);
        prop_assert_eq!(Items::new(&bytes).map(plain).collect::<Vec<_>>(), texts.clone());
        let backwards: Vec<_> = Items::new(&bytes).rev().map(plain).collect();
        prop_assert_eq!(backwards, texts.iter().rev().cloned().collect::<Vec<_>>());
        prop_assert_eq!(packed::count(&bytes), texts.len());
        prop_assert_eq!(packed::validate(&bytes), Some(texts.len()));
        let cut = cut.min(texts.len());
        let at = packed::skip(&bytes, 0, cut);
        prop_assert_eq!(at, texts[..cut].iter().map(|text| packed::size(Text::of(text))).sum::<usize>());
        prop_assert_eq!(packed::skip_back(&bytes, bytes.len(), texts.len() - cut), at);
        prop_assert_eq!(&bytes[..at], &pack(&texts[..cut])[..]);
        for (number, text) in texts.iter().enumerate() {
            let first = texts.iter().position(|other| other == text).unwrap();
            prop_assert_eq!(packed::find(&bytes, 0, 1, Text::of(text)), Some(packed::skip(&bytes, 0, first)));
            let odd = texts.iter().skip(1).step_by(2).position(|other| other == text);
            let expected = odd.map(|odd| packed::skip(&bytes, 0, 2 * odd + 1));
            prop_assert_eq!(packed::find(&bytes, packed::skip(&bytes, 0, 1), 2, Text::of(text)), expected, "{}", number);
        }
    }

    #[test]
    fn what_is_not_items_is_refused_and_never_read_past_its_end(
        texts in prop::collection::vec(any_text(), 1..6),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = pack(&texts);
        prop_assert_eq!(packed::validate(&bytes[..cut.index(bytes.len())]).is_some_and(|n| n >= texts.len()), false);
        for (place, byte) in places {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        // Whatever it says, walking what it accepts must not panic.
        if let Some(count) = packed::validate(&bytes) {
            prop_assert_eq!(Items::new(&bytes).count(), count);
            prop_assert_eq!(Items::new(&bytes).rev().count(), count);
        }
    }

    #[test]
    fn any_bytes_are_judged_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        if let Some(count) = packed::validate(&bytes) {
            prop_assert_eq!(packed::count(&bytes), count);
        }
    }
}

#[test]
fn encodings_are_those_of_a_listpack() {
    let cases: [(&str, &[u8]); 12] = [
        ("0", &[0, 1]),
        ("127", &[0x7f, 1]),
        ("128", &[0xc0, 0x80, 2]),
        ("-1", &[0xdf, 0xff, 2]),
        ("-4096", &[0xd0, 0x00, 2]),
        ("4095", &[0xcf, 0xff, 2]),
        ("4096", &[0xf1, 0x00, 0x10, 3]),
        ("-32769", &[0xf2, 0xff, 0x7f, 0xff, 4]),
        ("8388608", &[0xf3, 0, 0, 0x80, 0, 5]),
        ("2147483648", &[0xf4, 0, 0, 0, 0x80, 0, 0, 0, 0, 9]),
        ("", &[0x80, 1]),
        ("ab", &[0x82, b'a', b'b', 3]),
    ];
    for (text, expected) in cases {
        assert_eq!(pack(&[text.into()]), expected, "{text:?}");
    }
    assert_eq!(pack(&[vec![7; 64]])[..2], [0xe0, 64]);
    assert_eq!(pack(&[vec![7; 4096]])[..5], [0xf0, 0, 16, 0, 0]);
    // A body of 4101 bytes: its length takes two bytes, most significant first.
    assert_eq!(pack(&[vec![7; 4096]])[4101..], [32, 0x85]);
}
