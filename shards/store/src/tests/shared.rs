//! Large texts: kept where they came in, shared with who reads or copies them, changed apart.

use super::{NOW, store};
use crate::{Content, Expiry, SHARED_BYTES_MIN, Store, Text};
use std::sync::Arc;

const LARGE: usize = SHARED_BYTES_MIN + 17;

/// A frame with a text of `LARGE` bytes in it, as a client sends one.
fn frame() -> (Arc<Vec<u8>>, std::ops::Range<usize>) {
    let mut frame = b"*3\r\n$3\r\nSET\r\n".to_vec();
    let start = frame.len();
    frame.extend((0..LARGE).map(|place| (place % 251) as u8));
    frame.extend_from_slice(b"\r\n");
    frame.shrink_to_fit();
    (Arc::new(frame), start..start + LARGE)
}

fn set_lent(store: &mut Store, key: &str) -> Arc<Vec<u8>> {
    let (buffer, text) = frame();
    store.lend(buffer.clone());
    store.set_text(0, store.key(key.as_bytes()), &buffer[text], Expiry::None);
    store.end_loan();
    buffer
}

fn bytes<'s>(store: &'s mut Store, key: &str) -> &'s [u8] {
    let key = store.key(key.as_bytes());
    match store.find(0, key, NOW).unwrap().text() {
        Some(Text::Bytes(bytes)) => bytes,
        other => panic!("{other:?}"),
    }
}

fn empty(mut store: Store) {
    while store.reclaim(1) {}
    assert_eq!((store.bytes().used(), store.bytes().heap_buffers), (0, 0));
}

#[test]
fn a_text_that_is_most_of_what_is_lent_stays_where_it_lies() {
    let mut store = store();
    let buffer = set_lent(&mut store, "k");
    let (_, text) = frame();
    assert!(std::ptr::eq(bytes(&mut store, "k"), &buffer[text]));
    let key = store.key(b"k");
    let entry = store.find(0, key, NOW).unwrap();
    assert_eq!((entry.encoding(), entry.len(), entry.kind().name()), ("raw", LARGE, "string"));
    assert!(store.bytes().heap_buffers >= buffer.capacity());
    store.check();
    assert!(store.delete("k"));
    assert_eq!(store.bytes().heap_buffers, 0, "who else has it frees it");
    store.bury(buffer);
    assert!(store.bytes().heap_buffers > LARGE && store.pending_keys() == 0);
    empty(store);
}

#[test]
fn a_text_that_is_a_small_part_of_what_is_lent_is_copied() {
    let mut store = store();
    let buffer = Arc::new(vec![b'x'; 3 * LARGE]);
    store.lend(buffer.clone());
    let key = store.key(b"k");
    store.set_text(0, key, &buffer[..LARGE], Expiry::None);
    store.set_text(0, store.key(b"other"), &vec![b'y'; LARGE], Expiry::None);
    store.set_text(0, store.key(b"small"), &buffer[..100], Expiry::None);
    assert!(store.end_loan().is_some_and(|lent| Arc::ptr_eq(&lent, &buffer)));
    assert_eq!(Arc::strong_count(&buffer), 1);
    assert_eq!(bytes(&mut store, "k").len(), LARGE);
    store.check();
}

#[test]
fn whoever_changes_a_shared_text_changes_no_copy_of_it() {
    let mut store = store();
    let buffer = set_lent(&mut store, "k");
    let (_, text) = frame();
    let before = buffer[text].to_vec();
    let key = store.key(b"k");
    let copy = store.copy_out(0, key, NOW).unwrap();
    assert_eq!(copy.text(), Some(Text::Bytes(&before)));
    store.attach(0, store.key(b"copy"), copy);
    assert!(std::ptr::eq(bytes(&mut store, "copy").as_ptr(), bytes(&mut store, "k").as_ptr()));
    assert_eq!(store.append(0, key, b"more"), LARGE + 4);
    assert_eq!(store.write_range(0, store.key(b"copy"), 1, b"xyz"), LARGE);
    store.check();
    assert_eq!(bytes(&mut store, "k"), [&before[..], b"more"].concat());
    assert_eq!(bytes(&mut store, "copy"), [&before[..1], b"xyz", &before[4..]].concat());
    assert_eq!(Arc::strong_count(&buffer), 1);
    assert!(store.rename(0, key, store.key(b"copy"), NOW));
    assert_eq!(bytes(&mut store, "copy").len(), LARGE + 4);
    store.check();
    assert!(store.delete("copy"));
    assert_eq!(store.pending_keys(), 2);
    empty(store);
}

#[test]
fn a_text_that_is_not_shared_is_changed_where_it_lies() {
    let mut store = store();
    drop(set_lent(&mut store, "k"));
    let key = store.key(b"k");
    store.append(0, key, &[b'z'; 1000]);
    let place = bytes(&mut store, "k").as_ptr();
    for round in 0..50 {
        store.append(0, key, &[b'z'; 1000]);
        store.write_range(0, key, round * 20, b"here");
    }
    let text = bytes(&mut store, "k");
    assert!(std::ptr::eq(text.as_ptr(), place), "there was room for that");
    assert!(text.len() == LARGE + 51_000 && text.starts_with(b"here") && text.ends_with(b"zzz"));
    assert_eq!(store.write_range(0, key, 2 * LARGE, b"end"), 2 * LARGE + 3);
    let text = bytes(&mut store, "k");
    assert!(text[LARGE + 51_000..2 * LARGE].iter().all(|byte| *byte == 0) && text.ends_with(b"end"));
    store.check();
}

#[test]
fn texts_become_large_however_they_grow_and_travel_without_a_copy() {
    let grows: [fn(&mut Store); 4] = [
        |store| {
            store.append(0, store.key(b"k"), &vec![b'x'; LARGE]);
        },
        |store| {
            store.write_range(0, store.key(b"k"), LARGE - 1, b"x");
        },
        |store| {
            for _ in 0..=LARGE / 4096 {
                store.append(0, store.key(b"k"), &[b'x'; 4096]);
            }
        },
        |store| {
            store.set("k", "12");
            store.write_range(0, store.key(b"k"), LARGE, b"x");
        },
    ];
    for grow in grows {
        let mut store = store();
        grow(&mut store);
        store.check();
        let key = store.key(b"k");
        assert!(matches!(store.find(0, key, NOW).unwrap().content(), Some(Content::Shared(_))));
        assert!(store.set_expiry(0, key, Some(NOW + 5)));
        let place = bytes(&mut store, "k").as_ptr();
        let away = store.detach(0, key, NOW).unwrap();
        assert!(away.memory_bytes() > LARGE && store.bytes().heap_buffers == 0);
        store.attach(0, store.key(b"there"), away);
        assert!(std::ptr::eq(bytes(&mut store, "there").as_ptr(), place));
        store.set("there", "7");
        store.check();
        empty_of_all(store);
    }
}

fn empty_of_all(mut store: Store) {
    store.flush(0);
    empty(store);
}

#[test]
fn a_flushed_database_with_large_texts_is_freed() {
    let mut store = store();
    let kept = set_lent(&mut store, "a");
    drop(set_lent(&mut store, "b"));
    assert_eq!(store.increment(0, store.key(b"a"), 1, NOW), Err(crate::IncrementFault::NotAnInteger));
    let mut items = 0;
    let key = store.key(b"a");
    store.find(0, key, NOW).unwrap().each_item(&mut |_| items += 1);
    assert_eq!(items, 0, "a string has none");
    store.flush(0);
    empty(store);
    assert_eq!(Arc::strong_count(&kept), 1);
}
