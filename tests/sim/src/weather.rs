//! Commands without an invariant: many keys that come and go, large values, looks at everything. It does not
//! know who sends them.

use crate::random::Random;
use crate::request::{Expect, Kinds, Request};
use resp::client::Value;

fn ok() -> Expect {
    Expect::Exactly(Value::Simple("OK".into()))
}

pub(crate) fn weather(echo: u64, heavy: bool, random: &mut Random) -> Request {
    // Many keys, so that tables grow and shrink.
    let keys = if random.one_in(3) { 300 } else { 12 };
    let key = format!("w{}", random.below(keys));
    match random.below(12) {
        0 => {
            let length = if heavy { random.within(5_000, 30_000) } else { random.within(900, 3_000) };
            Request::new(&["SET", &key, &"v".repeat(length)], ok())
        }
        10 => Request::new(&["DEL", &key, &format!("w{}", random.below(300))], Expect::Kinds(Kinds::INTEGER)),
        11 => {
            let mut args = vec!["MSET".to_owned()];
            (0..random.within(1, 30)).for_each(|_| {
                args.extend([format!("w{}", random.below(300)), "many".to_owned()]);
            });
            Request::new(&args, ok())
        }
        1 | 2 => Request::new(&["GET", &key], Expect::Kinds(Kinds::BULK.or(Kinds::NULL))),
        3 => Request::new(&["DBSIZE"], Expect::Kinds(Kinds::INTEGER)),
        4 => Request::new(&["KEYS", "w*"], Expect::Kinds(Kinds::ARRAY)),
        5 => Request::new(&["SCAN", "0"], Expect::Kinds(Kinds::ARRAY)),
        6 => Request::new(&["RANDOMKEY"], Expect::Kinds(Kinds::BULK.or(Kinds::NULL))),
        7 => {
            let other = format!("w{}", random.below(12));
            Request::new(&["RENAME", &key, &other], Expect::Kinds(Kinds::SIMPLE.or(Kinds::ERROR)))
        }
        8 => Request::inline(&["SET", &key, "inline"], ok()),
        _ => {
            let text = format!("echo{echo}");
            Request::inline(&["ECHO", &text], Expect::Exactly(Value::Bulk(text.clone().into())))
        }
    }
}
