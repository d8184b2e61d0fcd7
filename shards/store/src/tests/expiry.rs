//! Keys whose time has come.

use super::{NOW, Random, store};
use crate::{Expiry, Happened, Noted, Notes};

#[test]
fn a_key_is_there_until_its_millisecond_and_gone_at_it() {
    let mut store = store();
    store.set_until("k", "v", NOW + 5);
    assert_eq!(store.look_at("k", NOW + 4), Some(("v".into(), "embstr")));
    assert_eq!(store.len(0), 1);
    assert_eq!(store.look_at("k", NOW + 5), None);
    assert_eq!((store.len(0), store.volatile(0), store.counters().expired), (0, 0, 1));
}

#[test]
fn removing_an_expired_key_says_it_was_not_there() {
    let mut store = store();
    store.set_until("k", "v", NOW);
    assert!(!store.delete("k"));
    assert!(store.is_empty(0));
}

#[test]
fn an_expiry_can_be_set_changed_and_cleared_on_any_form() {
    let mut store = store();
    let long = "x".repeat(1010);
    let huge = "y".repeat(5000);
    let name = "n".repeat(700);
    for (key, text) in [("a", "12"), ("b", "short"), ("c", &long), ("d", &huge), (name.as_str(), "v")] {
        store.set(key, text);
        for expiry in [Some(NOW + 1), Some(NOW + 2), None, None, Some(NOW + 3)] {
            let hashed = store.key(key.as_bytes());
            assert!(store.set_expiry(0, hashed, expiry));
            assert_eq!(store.find(0, hashed, NOW).unwrap().expiry(), expiry);
            assert_eq!(store.look(key).unwrap().0, text);
            store.check();
        }
    }
    assert_eq!(store.volatile(0), 5);
    let nowhere = store.key(b"nowhere");
    assert!(!store.set_expiry(0, nowhere, None));
}

#[test]
fn setting_keeps_replaces_or_drops_the_expiry() {
    let mut store = store();
    let key = store.key(b"k");
    store.set_text(0, key, b"1", Expiry::At(NOW + 9));
    store.set_text(0, key, b"some text", Expiry::Keep);
    assert_eq!(store.find(0, key, NOW).unwrap().expiry(), Some(NOW + 9));
    store.set_int(0, key, 5, Expiry::At(NOW + 20));
    assert_eq!(store.find(0, key, NOW).unwrap().expiry(), Some(NOW + 20));
    store.append(0, key, b"6");
    store.write_range(0, key, 5, b"x");
    assert_eq!(store.find(0, key, NOW).unwrap().expiry(), Some(NOW + 20));
    store.set_text(0, key, b"v", Expiry::None);
    assert_eq!(store.find(0, key, NOW).unwrap().expiry(), None);
    assert_eq!(store.volatile(0), 0);
}

#[test]
fn slices_remove_all_that_has_expired_and_nothing_else() {
    let mut store = store();
    let mut random = Random(1);
    let mut due = 0;
    for number in 0..2000 {
        let db = random.below(16) as usize;
        let name = format!("k{number}");
        let key = store.key(name.as_bytes());
        let expiry = match random.below(3) {
            0 => Expiry::None,
            1 => Expiry::At(NOW + 1),
            _ => Expiry::At(NOW),
        };
        due += u64::from(expiry == Expiry::At(NOW));
        store.set_text(db, key, b"v", expiry);
    }
    let mut slices = 0;
    loop {
        let report = store.expire_slice(NOW, 10);
        slices += 1;
        assert!(report.buckets <= 10);
        if report.finished {
            break;
        }
    }
    store.check();
    assert!(slices > 10, "the work came in slices");
    assert_eq!(store.counters().expired, due);
    assert_eq!((0..16).map(|db| store.len(db)).sum::<usize>() as u64, 2000 - due);
}

#[test]
fn a_store_without_volatile_keys_is_walked_in_one_slice() {
    let mut store = store();
    (0..1000).for_each(|number| store.set(&number.to_string(), "v"));
    let report = store.expire_slice(NOW, 16);
    assert_eq!((report.buckets, report.finished), (0, true));
}

#[test]
fn passing_by_segments_is_bounded_too() {
    let mut store = store();
    (0..5000).for_each(|number| store.set(&number.to_string(), "v"));
    store.set_until("the only one", "v", NOW);
    assert!(!store.expire_slice(NOW, 10).finished);
    while !store.expire_slice(NOW, 10).finished {}
    assert_eq!((store.volatile(0), store.counters().expired), (0, 1));
}

#[test]
fn what_happens_to_keys_is_logged_while_it_is_to_be() {
    let mut store = store();
    store.set_until("a", "v", NOW);
    assert_eq!(store.look("a"), None);
    assert_eq!(store.take_noted(), []);
    store.note_keys(Notes { expired: true, ..Notes::default() });
    store.set_until("b", "v", NOW);
    store.set_until("c", "v", NOW);
    assert_eq!(store.look("b"), None);
    while !store.expire_slice(NOW, 100).finished {}
    let noted = |what, key: &str| Noted { what, db: 0, key: key.as_bytes().into() };
    let expired = [noted(Happened::Expired, "b"), noted(Happened::Expired, "c")];
    assert_eq!(store.take_noted(), expired);
    assert!(!store.has_noted());
    store.note_keys(Notes { created: true, ..Notes::default() });
    store.set_until("d", "v", NOW);
    store.set_until("d", "w", NOW);
    assert_eq!(store.take_noted(), [noted(Happened::Created, "d")]);
}

#[test]
fn readers_leave_expired_keys_where_they_are_to_stay() {
    let mut store = store();
    for key in ["a", "b", "c"] {
        store.set_until(key, "v", NOW);
    }
    store.keep_expired(true);
    assert_eq!(store.look("a"), None);
    let (a, b) = (store.key(b"a"), store.key(b"b"));
    assert!(store.find_untouched(0, a, NOW).is_none());
    assert!(store.read_set(0, b, NOW, true).unwrap().is_none());
    assert!(store.copy_out(0, b, NOW).is_none());
    assert_eq!(store.random(0, &mut || 1, NOW), None);
    assert_eq!((store.len(0), store.counters().expired), (3, 0));
    // Who writes finds them gone all the same.
    assert_eq!(store.increment(0, a, 5, NOW), Ok(5));
    assert_eq!((store.len(0), store.counters().expired), (3, 1));
    store.keep_expired(false);
    assert_eq!(store.look("a").map(|(text, _)| text), Some("5".into()));
    assert_eq!(store.look("b"), None);
    assert_eq!((store.len(0), store.counters().expired), (2, 2));
}

#[test]
fn the_access_clock_counts_idle_seconds() {
    let mut store = store();
    store.set("k", "v");
    let key = store.key(b"k");
    assert_eq!(store.find(0, key, NOW).unwrap().idle_s(NOW), 0);
    assert_eq!(store.find_untouched(0, key, NOW + 7000).unwrap().idle_s(NOW + 7000), 7);
    assert_eq!(store.find_untouched(0, key, NOW + 9000).unwrap().idle_s(NOW + 9000), 9);
    assert_eq!(store.find(0, key, NOW + 9000).unwrap().idle_s(NOW + 9000), 0);
}
