//! Sets of every size against a plain set.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const LIMITS: SetLimits = SetLimits { integers: 8, members: 6, bytes: 24 };

fn member() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (-5i64..20).prop_map(|value| value.to_string().into_bytes()),
        1 => prop_oneof![Just(40_000i64), Just(-3_000_000_000), Just(i64::MAX)]
            .prop_map(|value| value.to_string().into_bytes()),
        1 => (0u8..12).prop_map(|number| format!("member {number}").into_bytes()),
    ]
}

#[derive(Clone, Debug)]
enum Step {
    Insert(Vec<u8>),
    Remove(Vec<u8>),
    Pop(u64),
    /// All that are no integers.
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => member().prop_map(Step::Insert),
        10 => member().prop_map(Step::Remove),
        5 => any::<u64>().prop_map(Step::Pop),
        1 => Just(Step::Clear),
    ]
}

fn check(store: &mut Store, model: &BTreeSet<Vec<u8>>) -> Result<(), TestCaseError> {
    let key = store.key(b"a set");
    let Some(set) = store.read_set(0, key, 1000, true).unwrap() else {
        prop_assert!(model.is_empty());
        return Ok(());
    };
    prop_assert_eq!(set.len(), model.len());
    let (mut met, mut scanned) = (BTreeSet::new(), BTreeSet::new());
    set.each(&mut |member| assert!(met.insert(member.to_vec())));
    let mut cursor = 0;
    loop {
        cursor = set.scan(cursor, 3, &mut |member| assert!(scanned.insert(member.to_vec())));
        if cursor == 0 {
            break;
        }
    }
    prop_assert_eq!(&met, model);
    prop_assert_eq!(&scanned, model);
    prop_assert!(model.iter().all(|member| set.contains(member)));
    prop_assert!(!set.contains(b"another") && !set.contains(b"77"));
    prop_assert!(model.contains(&set.random(&mut || 1 << 63).unwrap().to_vec()));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_set_does_what_a_plain_set_does(steps in proptest::collection::vec(step(), 0..120)) {
        let mut store = Store::new(Hasher::new([1, 2, 3, 4]), 1);
        let mut model = BTreeSet::new();
        for step in steps {
            let key = store.key(b"a set");
            match step {
                Step::Insert(member) => {
                    let new = store.set_or_new(0, key, 1000).unwrap().insert(&member, LIMITS);
                    prop_assert_eq!(new, model.insert(member));
                }
                Step::Remove(member) => {
                    let set = store.set_mut(0, key, 1000).unwrap();
                    prop_assert_eq!(set.is_some_and(|mut set| set.remove(&member)), model.remove(&member));
                }
                Step::Pop(random) => {
                    let mut shown = None;
                    if let Some(mut set) = store.set_mut(0, key, 1000).unwrap() {
                        prop_assert!(set.pop(&mut || random, &mut |member| shown = Some(member.to_vec())));
                    }
                    prop_assert_eq!(shown.is_some(), !model.is_empty());
                    prop_assert!(shown.is_none_or(|member| model.remove(&member)));
                }
                Step::Clear => {
                    for member in model.extract_if(.., |member| Text::of(member).to_vec()[0] == b'm') {
                        prop_assert!(store.set_mut(0, key, 1000).unwrap().unwrap().remove(&member));
                    }
                }
            }
            check(&mut store, &model)?;
        }
        let key = store.key(b"a set");
        store.remove(0, key, 1000);
        while store.reclaim(10) {}
        prop_assert_eq!(store.bytes().total(), 0);
    }

    #[test]
    fn a_draft_is_the_set_it_becomes(
        members in proptest::collection::vec(member(), 0..40),
        others in proptest::collection::vec(member(), 0..20),
    ) {
        let mut store = Store::new(Hasher::new([1, 2, 3, 4]), 1);
        let draft = |members: &[Vec<u8>]| {
            let (mut draft, mut model) = (SetDraft::new(LIMITS, store.hasher()), BTreeSet::new());
            for member in members {
                assert_eq!(draft.insert(Text::of(member)), model.insert(member.clone()));
                assert_eq!(draft.len(), model.len());
            }
            (draft, model)
        };
        let ((mut left, mut left_model), (right, right_model)) = (draft(&members), draft(&others));
        let right = right.detach();
        if let Some(right) = &right {
            left.subtract(&right.set(store.hasher()).unwrap());
        }
        left_model.retain(|member| !right_model.contains(member));
        let key = store.key(b"a set");
        let left = left.detach();
        prop_assert_eq!(left.is_some(), !left_model.is_empty());
        if let Some(left) = left {
            store.attach(0, key, left);
        }
        check(&mut store, &left_model)?;
    }
}
