//! Strings: encodings, edits, travels.

use super::{NOW, store};
use crate::{Expiry, IncrementFault, Kind, Text};

#[test]
fn texts_are_kept_as_redis_would_name_them() {
    let mut store = store();
    for (text, encoding) in [
        ("12", "int"),
        ("-9223372036854775808", "int"),
        ("9223372036854775808", "embstr"),
        ("012", "embstr"),
        ("", "embstr"),
        (&"x".repeat(44), "embstr"),
        (&"x".repeat(45), "raw"),
        (&"x".repeat(900), "raw"),
        (&"x".repeat(100_000), "raw"),
    ] {
        store.set("k", text);
        assert_eq!(store.look("k"), Some((text.to_string(), encoding)));
        let key = store.key(b"k");
        let entry = store.find(0, key, NOW).unwrap();
        assert_eq!((entry.len(), entry.kind(), entry.key()), (text.len(), Kind::String, &b"k"[..]));
    }
}

#[test]
fn an_append_to_nothing_sets_and_to_something_makes_it_raw() {
    let mut store = store();
    let key = store.key(b"k");
    assert_eq!(store.append(0, key, b"1"), 1);
    assert_eq!(store.look("k"), Some(("1".into(), "int")));
    assert_eq!(store.append(0, key, b"2"), 2);
    assert_eq!(store.look("k"), Some(("12".into(), "raw")));
    assert_eq!(store.append(0, key, b""), 2);
    let mut expected = b"12".to_vec();
    for length in 0..300 {
        let more = vec![b'a' + (length % 26) as u8; length];
        expected.extend_from_slice(&more);
        assert_eq!(store.append(0, key, &more), expected.len());
    }
    assert_eq!(store.find(0, key, NOW).unwrap().text(), Some(Text::Bytes(&expected)));
    store.check();
}

#[test]
fn appends_are_cheap_on_average() {
    let mut store = store();
    let key = store.key(b"k");
    for _ in 0..200_000 {
        store.append(0, key, b"0123456789");
    }
    assert_eq!(store.find(0, key, NOW).unwrap().len(), 2_000_000);
    assert!(store.bytes().heap_buffers < 4_000_000);
}

#[test]
fn a_range_is_written_over_and_padded_with_zeros() {
    let mut store = store();
    let key = store.key(b"k");
    assert_eq!(store.write_range(0, key, 5, b""), 0);
    assert!(store.is_empty(0));
    assert_eq!(store.write_range(0, key, 3, b"abc"), 6);
    assert_eq!(store.look("k"), Some(("\0\0\0abc".into(), "raw")));
    assert_eq!(store.write_range(0, key, 1, b"xy"), 6);
    assert_eq!(store.look("k"), Some(("\0xyabc".into(), "raw")));
    assert_eq!(store.write_range(0, key, 3000, b"end"), 3003);
    let text = store.look("k").unwrap().0;
    assert!(text.starts_with("\0xyabc\0\0") && text.ends_with("\0end"));
    store.set("n", "12345");
    let key = store.key(b"n");
    assert_eq!(store.write_range(0, key, 1, b"x"), 5);
    assert_eq!(store.look("n"), Some(("1x345".into(), "raw")));
}

#[test]
fn integers_count_up_and_refuse_what_they_must() {
    let mut store = store();
    let key = store.key(b"k");
    assert_eq!(store.increment(0, key, 5, NOW), Ok(5));
    assert_eq!(store.increment(0, key, -7, NOW), Ok(-2));
    store.set_int(0, key, i64::MAX, Expiry::At(NOW + 1));
    assert_eq!(store.increment(0, key, 1, NOW), Err(IncrementFault::Overflow));
    assert_eq!(store.increment(0, key, -1, NOW), Ok(i64::MAX - 1));
    assert_eq!(store.find(0, key, NOW).unwrap().expiry(), Some(NOW + 1));
    store.set_text(0, key, b"text", Expiry::None);
    assert_eq!(store.increment(0, key, 1, NOW), Err(IncrementFault::NotAnInteger));
    store.set_bytes(0, key, b"41", Expiry::None);
    assert_eq!(store.look("k"), Some(("41".into(), "embstr")));
    assert_eq!(store.increment(0, key, 1, NOW), Ok(42));
    assert_eq!(store.look("k"), Some(("42".into(), "int")));
}

#[test]
fn keys_of_any_length_work() {
    let mut store = store();
    let lengths =
        [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 511, 512, 513, 1024, 4094, 4095, 4096, 1 << 20];
    for length in lengths {
        store.set(&"k".repeat(length), &length.to_string());
    }
    for length in lengths {
        assert_eq!(store.look(&"k".repeat(length)).unwrap().0, length.to_string());
        assert_eq!(store.look(&("k".repeat(length) + "x")), None);
    }
    store.check();
    lengths.iter().for_each(|&length| assert!(store.delete(&"k".repeat(length))));
    assert!(store.is_empty(0));
}

#[test]
fn a_value_travels_to_another_store_with_its_expiry_and_its_idle_time() {
    let (mut here, mut there) = (store(), store());
    let huge = "x".repeat(5000);
    for text in ["12", "text", huge.as_str()] {
        here.set_until("k", text, NOW + 9);
        let key = here.key(b"k");
        assert!(here.find(0, key, NOW).is_some());
        let copy = here.copy_out(0, key, NOW + 1).unwrap();
        let detached = here.detach(0, key, NOW + 1).unwrap();
        assert_eq!(format!("{copy:?}"), format!("{detached:?}"));
        assert!(here.is_empty(0) && here.detach(0, key, NOW).is_none());
        let detached = std::thread::spawn(|| detached).join().unwrap();
        let key = there.key(b"other");
        there.attach(3, key, detached);
        let entry = there.find_untouched(3, key, NOW + 8000);
        assert!(entry.is_none(), "expired on the way");
        there.attach(3, key, copy);
        let entry = there.find_untouched(3, key, NOW + 8).unwrap();
        assert_eq!((entry.expiry(), entry.len()), (Some(NOW + 9), text.len()));
        assert_eq!(entry.idle_s(NOW + 8), 0);
        there.check();
    }
    here.check();
}

#[test]
fn renaming_replaces_and_moving_does_not() {
    let mut store = store();
    store.set("a", "1");
    store.set("b", "text");
    let [a, b, c] = [store.key(b"a"), store.key(b"b"), store.key(b"c")];
    assert!(!store.rename(0, c, a, NOW));
    assert!(store.rename(0, a, a, NOW));
    assert!(store.rename(0, a, b, NOW));
    assert_eq!((store.look("a"), store.look("b")), (None, Some(("1".into(), "int"))));
    assert!(store.move_between(0, 1, b, NOW));
    assert!(!store.move_between(0, 1, b, NOW));
    store.set("b", "2");
    assert!(!store.move_between(0, 1, b, NOW), "there is one");
    assert!(!store.move_between(0, 0, b, NOW));
    assert_eq!((store.len(0), store.len(1)), (1, 1));
    store.check();
}

#[test]
fn an_edited_text_is_raw_until_it_is_set_again() {
    let mut store = store();
    let key = store.key(b"k");
    store.set("k", "ab");
    store.append(0, key, b"c");
    assert_eq!(store.look("k"), Some(("abc".into(), "raw")));
    let edited = store.copy_out(0, key, NOW).unwrap();
    store.set("k", "xyz");
    assert_eq!(store.look("k"), Some(("xyz".into(), "embstr")));
    store.attach(0, key, edited);
    assert_eq!(store.look("k"), Some(("abc".into(), "raw")));
}

#[test]
fn a_text_is_edited_at_any_length_and_keeps_its_expiry() {
    let mut store = store();
    let key = store.key(b"k");
    store.edit_text(0, key, 3, |bytes| {
        assert_eq!(bytes, [0; 3]);
        bytes.copy_from_slice(b"abc");
    });
    assert!(store.set_expiry(0, key, Some(9_000)));
    for length in [2, 5, 4000, 100_000, 1_100_000, 2] {
        assert_eq!(store.edit_text(0, key, length, |bytes| (bytes.len(), bytes[0])), (length, b'a'));
        let entry = store.find(0, key, 1).unwrap();
        let text = entry.text().unwrap().to_vec();
        assert_eq!((&text[..2], text.len(), entry.expiry()), (&b"ab"[..], length, Some(9_000)));
        assert!(text[2..].iter().all(|byte| *byte == 0));
    }
    store.set_int(0, key, 12, crate::Expiry::None);
    store.edit_text(0, key, 3, |bytes| bytes[2] = b'3');
    assert_eq!(store.find(0, key, 1).unwrap().text().unwrap().to_vec(), b"123");
    let detached = crate::Detached::text_of(b"xyz".to_vec());
    store.attach(0, key, detached);
    let entry = store.find_untouched(0, key, 5_000).unwrap();
    assert_eq!((entry.encoding(), entry.idle_s(5_000)), ("raw", 5));
}
