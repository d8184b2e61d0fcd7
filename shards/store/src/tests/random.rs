//! Random keys.

use super::{NOW, Random, store};
use std::collections::HashMap;

fn draw(store: &mut crate::Store, random: &mut Random) -> Option<String> {
    let key = store.random(0, &mut || random.next(), NOW)?;
    Some(String::from_utf8_lossy(key).into_owned())
}

#[test]
fn an_empty_database_has_no_random_key() {
    let mut store = store();
    assert_eq!(draw(&mut store, &mut Random(1)), None);
    store.set("k", "v");
    assert_eq!(draw(&mut store, &mut Random(1)), Some("k".into()));
    store.delete("k");
    assert_eq!(draw(&mut store, &mut Random(1)), None);
}

#[test]
fn every_key_is_drawn_as_often_as_any_other() {
    for keys in [5, 60, 300] {
        let mut store = store();
        (0..keys).for_each(|number| store.set(&number.to_string(), "v"));
        let mut random = Random(7);
        let mut drawn: HashMap<String, u32> = HashMap::new();
        let draws = keys * 400;
        (0..draws).for_each(|_| *drawn.entry(draw(&mut store, &mut random).unwrap()).or_default() += 1);
        // Chi-squared with `keys - 1` degrees of freedom: five standard deviations above its mean.
        let off: f64 = (0..keys)
            .map(|number| f64::from(drawn.get(&number.to_string()).copied().unwrap_or(0)) - 400.0)
            .map(|difference| difference * difference / 400.0)
            .sum();
        let bound = f64::from(keys - 1) + 5.0 * (2.0 * f64::from(keys - 1)).sqrt();
        assert!(off < bound, "{keys} keys: {off} is far from even (bound {bound})");
    }
}

#[test]
fn expired_keys_are_removed_when_drawn() {
    let mut store = store();
    (0..50).for_each(|number| store.set_until(&number.to_string(), "v", NOW));
    store.set("alive", "v");
    let mut random = Random(9);
    assert_eq!(draw(&mut store, &mut random), Some("alive".into()));
    while store.len(0) > 1 {
        assert_eq!(draw(&mut store, &mut random), Some("alive".into()));
    }
    store.check();
}
