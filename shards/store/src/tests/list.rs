//! Lists against a plain vector.

use super::packed::any_text;
use crate::types::list::Side;
use crate::{Detached, Hasher, ListMut, ListRef, Store, Text, Usage};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Push(bool, Vec<Vec<u8>>),
    Insert(prop::sample::Index, Vec<u8>),
    Set(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Pop(bool, usize),
    RemoveEqual(prop::sample::Index, usize, bool),
    Read(prop::sample::Index),
    /// Copies the list and goes on with the copy.
    Copy,
    Rebuild,
}

fn step() -> impl Strategy<Value = Step> {
    let texts = |most| prop::collection::vec(text(), 1..most);
    let index = any::<prop::sample::Index>;
    prop_oneof![
        8 => (any::<bool>(), texts(30)).prop_map(|(left, texts)| Step::Push(left, texts)),
        6 => (index(), text()).prop_map(|(index, text)| Step::Insert(index, text)),
        4 => (index(), text()).prop_map(|(index, text)| Step::Set(index, text)),
        3 => (index(), 0usize..40).prop_map(|(index, count)| Step::Remove(index, count)),
        4 => (any::<bool>(), 1usize..30).prop_map(|(left, count)| Step::Pop(left, count)),
        3 => (index(), 1usize..9, any::<bool>()).prop_map(|(at, count, left)| Step::RemoveEqual(at, count, left)),
        4 => index().prop_map(Step::Read),
        1 => Just(Step::Copy),
        1 => Just(Step::Rebuild),
    ]
}

/// Few texts that are often equal, or any.
fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![3 => (0..6u8).prop_map(|byte| vec![b'a' + byte]), 3 => (0..300i64).prop_map(|n| n.to_string().into_bytes()), 2 => any_text()]
}

fn plain(text: Text<'_>) -> Vec<u8> {
    match text {
        Text::Int(value) => value.to_string().into_bytes(),
        Text::Bytes(bytes) => bytes.to_vec(),
    }
}

struct Model {
    store: Store,
    size: i32,
    list: Vec<Vec<u8>>,
}

fn side(left: bool) -> Side {
    if left { Side::Left } else { Side::Right }
}

impl Model {
    fn list(&mut self) -> ListMut<'_> {
        let key = self.store.key(b"list");
        self.store.list_or_new(0, key, super::NOW, self.size).unwrap()
    }

    fn run(&mut self, step: Step) {
        let length = self.list.len();
        match step {
            Step::Push(left, texts) => {
                let mut list = self.list();
                texts.iter().for_each(|text| list.push(side(left), text));
                drop(list);
                match left {
                    true => drop(self.list.splice(0..0, texts.into_iter().rev())),
                    false => self.list.extend(texts),
                }
            }
            Step::Insert(index, text) => {
                let index = index.index(length + 1);
                self.list().insert(index, &text);
                self.list.insert(index, text);
            }
            Step::Set(index, text) if length > 0 => {
                let index = index.index(length);
                self.list().set(index, &text);
                self.list[index] = text;
            }
            Step::Remove(index, count) => {
                let index = index.index(length + 1);
                let count = count.min(length - index);
                self.list().remove(index, count);
                self.list.drain(index..index + count);
            }
            Step::Pop(left, count) => {
                let count = count.min(length);
                let mut list = self.list();
                let popped: Vec<_> = list.view().from_side(side(left)).take(count).map(plain).collect();
                list.remove_from(side(left), count);
                drop(list);
                let expected: Vec<_> = match left {
                    true => self.list.drain(..count).collect(),
                    false => self.list.drain(length - count..).rev().collect(),
                };
                assert_eq!(popped, expected);
            }
            Step::RemoveEqual(index, count, left) if length > 0 => {
                let text = self.list[index.index(length)].clone();
                let removed = self.list().remove_equal(&text, count, side(left));
                let mut places: Vec<usize> = (0..length).filter(|at| self.list[*at] == text).collect();
                if !left {
                    places.reverse();
                }
                places.truncate(count);
                assert_eq!(removed, places.len());
                places.sort_unstable_by(|a, b| b.cmp(a));
                places.into_iter().for_each(|at| drop(self.list.remove(at)));
            }
            Step::Read(index) => self.read(index.index(length + 1)),
            Step::Copy => {
                let key = self.store.key(b"list");
                if let Some(copy) = self.store.copy_out(0, key, super::NOW) {
                    assert_eq!(all(copy.list().unwrap()), self.list);
                    self.store.attach(0, key, copy);
                }
            }
            Step::Rebuild => {
                let key = self.store.key(b"list");
                if length > 0 {
                    let elements = self.list.iter().map(|text| Text::of(text));
                    let list = Detached::list_of(elements, self.size);
                    self.store.attach(0, key, list);
                }
            }
            Step::Set(..) | Step::RemoveEqual(..) => {}
        }
        assert_eq!(self.store.len(0), usize::from(!self.list.is_empty()));
    }

    fn read(&mut self, index: usize) {
        let list = self.list();
        let view = list.view();
        let right: Vec<_> = view.rightward(index).map(plain).collect();
        let left: Vec<_> = view.leftward(index).map(plain).collect();
        let one = view.get(index).map(plain);
        drop(list);
        assert_eq!(right, self.list[index..]);
        assert_eq!(one, self.list.get(index).cloned());
        if index < self.list.len() {
            assert_eq!(left, self.list[..=index].iter().rev().cloned().collect::<Vec<_>>());
        }
    }

    fn compare(&mut self) {
        let key = self.store.key(b"list");
        if let Some(entry) = self.store.find(0, key, super::NOW) {
            assert_eq!(all(entry.list().unwrap()), self.list);
            assert_eq!(entry.list().unwrap().len(), self.list.len());
            let mut items = Vec::new();
            entry.each_item(&mut |item| match item {
                crate::Item::Element(text) => items.push(plain(text)),
                other => panic!("{other:?}"),
            });
            assert_eq!(items, self.list);
        } else {
            assert!(self.list.is_empty());
        }
        self.store.check();
    }
}

fn all(list: ListRef<'_>) -> Vec<Vec<u8>> {
    list.rightward(0).map(plain).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_list_does_what_a_vector_does(
        steps in prop::collection::vec(step(), 1..120),
        size in prop_oneof![Just(-2), Just(1), Just(3), Just(7), Just(40)],
    ) {
        let store = Store::new(Hasher::new([5, 6, 7, 8]), 1);
        let mut model = Model { store, size, list: Vec::new() };
        for (number, step) in steps.into_iter().enumerate() {
            model.run(step);
            if number % 4 == 0 {
                model.compare();
            }
        }
        model.compare();
        let length = model.list.len();
        model.list().remove(0, length);
        while model.store.reclaim(10) {}
        prop_assert_eq!(model.store.bytes(), Usage::default());
    }
}

#[test]
fn a_list_of_one_can_be_emptied_and_filled_in_one_go() {
    let mut store = super::store();
    for elements in [1, 500] {
        let key = store.key(b"k");
        let mut list = store.list_or_new(0, key, super::NOW, -2).unwrap();
        (0..elements).for_each(|_| list.push(Side::Right, b"x"));
        list.remove_from(Side::Left, elements);
        assert!(list.is_empty());
        list.push(Side::Left, b"y");
        drop(list);
        assert_eq!(all(store.find(0, key, super::NOW).unwrap().list().unwrap()), [b"y"]);
        store.check();
        let mut list = store.list_mut(0, key, super::NOW, -2).unwrap().unwrap();
        list.remove(0, 1);
        drop(list);
        assert!(store.find(0, key, super::NOW).is_none());
        store.check();
    }
}

#[test]
fn a_queue_keeps_its_size_however_long_it_runs() {
    let mut store = super::store();
    let key = store.key(b"queue");
    let mut list = store.list_or_new(0, key, super::NOW, -2).unwrap();
    (0..2000).for_each(|number: u32| list.push(Side::Left, format!("element {number:010}").as_bytes()));
    drop(list);
    let before = store.find(0, key, super::NOW).unwrap().memory_bytes();
    for number in 0..100_000 {
        let mut list = store.list_mut(0, key, super::NOW, -2).unwrap().unwrap();
        list.push(Side::Left, format!("element {number:010}").as_bytes());
        list.remove_from(Side::Right, 1);
    }
    let after = store.find(0, key, super::NOW).unwrap().memory_bytes();
    assert!(after < before + 10_000, "{before} {after}");
    store.check();
}
