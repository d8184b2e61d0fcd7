//! The tree against a plain sorted map, and what must hold of its nodes.

use super::slab::NONE;
use super::*;
use crate::Detached;
use crate::hash::Hasher;
use std::collections::{BTreeSet, HashMap};

/// A score that sorts; -0 is 0.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Score(f64);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Score) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Score) -> std::cmp::Ordering {
        self.0.partial_cmp(&other.0).unwrap()
    }
}

#[derive(Default)]
struct Model {
    scores: HashMap<Vec<u8>, f64>,
    order: BTreeSet<(Score, Vec<u8>)>,
}

impl Model {
    fn set(&mut self, member: &[u8], score: f64) -> Option<f64> {
        let before = self.remove(member);
        self.scores.insert(member.to_vec(), score);
        self.order.insert((Score(score), member.to_vec()));
        before
    }

    fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let score = self.scores.remove(member)?;
        self.order.remove(&(Score(score), member.to_vec()));
        Some(score)
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ mixed >> 31) * u128::from(bound)) >> 64) as u64
    }
}

fn hasher() -> Hasher {
    Hasher::new([1, 2, 3, 4])
}

/// What must hold of every node.
fn check_nodes(set: &BigSortedSet) {
    fn visit(set: &BigSortedSet, node: u32, level: u16, parent: u32, leaves: &mut Vec<u32>) -> u64 {
        if level == 0 {
            let leaf = &set.leaves[node];
            assert_eq!(leaf.parent, parent);
            assert!(leaf.len() > 0 || parent == NONE);
            leaves.push(node);
            return leaf.len() as u64;
        }
        let inner = &set.inners[node];
        assert_eq!((inner.parent, inner.level), (parent, level));
        assert!(inner.len() > usize::from(parent == NONE));
        let mut sum = 0;
        for place in 0..inner.len() {
            let child = inner.child(place);
            let before = leaves.len();
            let count = visit(set, child.node, level - 1, node, leaves);
            assert_eq!(child.count, count);
            assert_eq!(child.first, leaves[before]);
            assert_eq!(child.score.to_bits(), set.leaves[child.first].score(0).to_bits());
            sum += count;
        }
        sum
    }
    let mut leaves = Vec::new();
    assert_eq!(visit(set, set.root, set.height, NONE, &mut leaves), set.len());
    assert_eq!((set.first, set.last), (leaves[0], *leaves.last().unwrap()));
    let mut buffers = 0;
    for (place, number) in leaves.iter().enumerate() {
        let leaf = &set.leaves[*number];
        let neighbour = |at: Option<usize>| at.and_then(|at| leaves.get(at)).copied().unwrap_or(NONE);
        assert_eq!(leaf.previous, neighbour(place.checked_sub(1)));
        assert_eq!(leaf.next, neighbour(Some(place + 1)));
        buffers += leaf.buffer_bytes();
    }
    assert_eq!(set.buffers, buffers);
}

fn check_all(set: &BigSortedSet, model: &Model, random: &mut Random) {
    check_nodes(set);
    assert_eq!(set.len(), model.order.len() as u64);
    let up: Vec<_> = set.walk(0, true).map(|(member, score)| (Score(score), member.to_vec())).collect();
    assert!(up.iter().eq(model.order.iter()));
    let down: Vec<_> = set.walk(set.len().wrapping_sub(1), false).collect();
    assert!(down.iter().map(|(member, _)| *member).eq(up.iter().rev().map(|(_, member)| &member[..])));
    let hasher = hasher();
    for (rank, (score, member)) in up.iter().enumerate() {
        let (found, of) = set.rank(&hasher, member).unwrap();
        assert_eq!((found, of.to_bits()), (rank as u64, model.scores[member].to_bits()));
        assert_eq!(set.count_before(Edge::Entry { score: score.0, member }), rank as u64);
    }
    for _ in 0..20 {
        let edge = random.below(40) as f64 - 20.0;
        for behind in [false, true] {
            let expected = up.iter().filter(|(score, _)| score.0 < edge || behind && score.0 == edge).count();
            assert_eq!(set.count_before(Edge::Score { score: edge, behind }), expected as u64);
        }
        if !up.is_empty() {
            let from = random.below(up.len() as u64);
            let some: Vec<_> = set.walk(from, true).take(5).map(|(member, _)| member.to_vec()).collect();
            let expected: Vec<_> =
                up[from as usize..].iter().take(5).map(|(_, member)| member.clone()).collect();
            assert_eq!(some, expected);
        }
    }
}

fn score(random: &mut Random, kind: u64) -> f64 {
    match kind {
        // All the same, few, many, growing apart.
        0 => 0.0,
        1 => [-0.0, 0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY][random.below(5) as usize],
        2 => random.below(40) as f64 - 20.0,
        _ => random.below(1_000_000) as f64 / 7.0,
    }
}

fn member(random: &mut Random, names: u64, long: bool) -> Vec<u8> {
    let number = random.below(names);
    let mut name = format!("m{number}").into_bytes();
    if long && number.is_multiple_of(7) {
        name.resize(100 + (number as usize * 37) % 4000, b'x');
    }
    name
}

fn campaign(seed: u64) {
    let mut random = Random(seed);
    let hasher = hasher();
    let (kind, long) = (seed % 4, seed.is_multiple_of(3));
    let names = [200, 2_000, 9_000][random.below(3) as usize];
    let (mut set, mut model) = (BigSortedSet::new(), Model::default());
    for phase in 0..6 {
        for _ in 0..2_500 {
            let name = member(&mut random, names, long);
            // It grows in even phases and shrinks in odd ones.
            let adds = random.below(10) < if phase % 2 == 0 { 8 } else { 2 };
            if adds {
                let score = score(&mut random, kind);
                assert_eq!(set.set(&hasher, &name, score), model.set(&name, score));
            } else {
                assert_eq!(set.remove(&hasher, &name), model.remove(&name));
            }
        }
        check_all(&set, &model, &mut random);
        if phase == 3 && !set.is_empty() {
            let from = random.below(set.len());
            let to = from + random.below(set.len() - from + 1);
            let gone: Vec<_> =
                set.walk(from, true).take((to - from) as usize).map(|(m, _)| m.to_vec()).collect();
            set.remove_ranks(&hasher, from, to);
            gone.iter().for_each(|member| assert!(model.remove(member).is_some()));
            check_all(&set, &model, &mut random);
        }
    }
    let copy = set.clone();
    set.remove_ranks(&hasher, 0, u64::MAX);
    assert!(set.is_empty());
    check_nodes(&set);
    check_all(&copy, &model, &mut random);
    let mut copy = copy;
    while copy.free_some(100) > 0 {}
    assert_eq!((copy.buffers, copy.len), (0, 0));
}

#[test]
fn a_tree_does_what_a_sorted_map_does() {
    for seed in 0..24 {
        campaign(seed);
    }
}

#[test]
fn a_growing_end_leaves_full_leaves() {
    let hasher = hasher();
    for direction in [1.0, -1.0] {
        let mut set = BigSortedSet::new();
        for number in 0..20_000u32 {
            set.set(&hasher, format!("m{number:09}").as_bytes(), f64::from(number) * direction);
        }
        check_nodes(&set);
        let per_member = set.memory_bytes() as f64 / 20_000.0;
        assert!(per_member < 36.0, "{per_member} bytes a member");
        for number in 0..20_000u32 {
            assert_eq!(
                set.remove(&hasher, format!("m{number:09}").as_bytes()),
                Some(f64::from(number) * direction)
            );
        }
        check_nodes(&set);
        assert!(set.memory_bytes() < 50_000, "{} bytes", set.memory_bytes());
    }
}

#[test]
fn a_scan_visits_whoever_stays_while_buckets_split_and_merge() {
    let hasher = hasher();
    for seed in 0..12 {
        let mut random = Random(seed);
        let mut set = BigSortedSet::new();
        let stay = |number: u32| format!("stay{number}").into_bytes();
        for number in 0..300 {
            set.set(&hasher, &stay(number), f64::from(number % 7));
        }
        let (mut cursor, mut seen, mut calls) = (0, HashMap::<Vec<u8>, u32>::new(), 0);
        loop {
            cursor = set.scan(&hasher, cursor, 10, &mut |member, score| {
                *seen.entry(member.to_vec()).or_default() += 1;
                assert_eq!(set.score(&hasher, member), Some(score));
            });
            calls += 1;
            if cursor == 0 {
                break;
            }
            // It grows for a while, then shrinks, or the other way round.
            let grows = (calls / 20 + seed) % 2 == 0;
            for _ in 0..200 {
                let name = format!("goes{}", random.below(6000)).into_bytes();
                if grows {
                    set.set(&hasher, &name, 1.0);
                } else {
                    set.remove(&hasher, &name);
                }
            }
        }
        for number in 0..300 {
            assert_eq!(seen.get(&stay(number)), Some(&1), "seed {seed}: visited once");
        }
    }
}

/// Entries of a key, lowest first.
fn entries(store: &mut crate::Store, key: &[u8]) -> Vec<(Vec<u8>, f64)> {
    let key = store.key(key);
    let Some(set) = store.sorted_set(0, key, 0, true).unwrap() else { return Vec::new() };
    let bytes = |text: crate::Text<'_>| super::small::bytes_of(text, &mut [0; 20]).to_vec();
    let up: Vec<_> = set.walk(0, true).map(|(member, score)| (bytes(member), score)).collect();
    let mut down: Vec<_> =
        set.walk(set.len() - 1, false).map(|(member, score)| (bytes(member), score)).collect();
    down.reverse();
    assert_eq!(up, down);
    assert_eq!(set.len(), up.len() as u64);
    for (rank, (member, score)) in up.iter().enumerate() {
        assert_eq!(set.rank(member), Some((rank as u64, *score)));
        assert_eq!(set.score(member), Some(*score));
        assert_eq!(set.count_before(Edge::Entry { score: *score, member }), rank as u64);
    }
    up
}

#[test]
fn small_and_big_sets_under_keys_do_what_a_sorted_map_does() {
    for seed in 0..40 {
        let mut random = Random(seed);
        let mut store = crate::Store::new(hasher(), 1);
        let mut model = Model::default();
        let limits = SortedSetLimits { entries: 20, member_bytes: 30 };
        for step in 0..600 {
            // Integers, texts, and a few that are too long to stay small.
            let number = random.below(60);
            let name = match number % 3 {
                0 => format!("{}", number as i64 * 1_000_003 - 30_000_000),
                1 => format!("m{number}"),
                _ => "x".repeat(number as usize % if seed % 2 == 0 { 29 } else { 40 }),
            };
            let (name, score) = (name.as_bytes(), score(&mut random, seed % 4));
            let key = store.key(b"z");
            match random.below(if step > 300 { 4 } else { 20 }) {
                0 if !model.order.is_empty() => {
                    let from = random.below(model.order.len() as u64);
                    let to = from + random.below(4);
                    let mut set = store.sorted_set_mut(0, key, 0).unwrap().unwrap();
                    set.remove_ranks(from, to);
                    let gone = model.order.iter().skip(from as usize).take((to - from) as usize);
                    let gone: Vec<_> = gone.map(|(_, member)| member.clone()).collect();
                    gone.iter().for_each(|member| assert!(model.remove(member).is_some()));
                }
                1 => {
                    let set = store.sorted_set_mut(0, key, 0).unwrap();
                    assert_eq!(set.and_then(|mut set| set.remove(name)), model.remove(name));
                }
                _ => {
                    let mut set = store.sorted_set_or_new(0, key, 0).unwrap();
                    let old = set.update(name, limits, |_| Some(score));
                    assert_eq!(old, model.set(name, score));
                }
            }
            let found = entries(&mut store, b"z");
            let expected: Vec<_> =
                model.order.iter().map(|(_, member)| (member.clone(), model.scores[member])).collect();
            assert_eq!(found, expected, "seed {seed}, step {step}");
            let key = store.key(b"z");
            assert_eq!(store.find(0, key, 0).is_some(), !expected.is_empty());
            if step % 50 == 0 && !expected.is_empty() {
                let value = store.detach(0, key, 0).unwrap();
                store.attach(0, key, value.clone());
                let again = Detached::sorted_set(
                    expected.iter().map(|(member, score)| (member.as_slice(), *score)),
                    limits,
                    &hasher(),
                );
                let other = store.key(b"again");
                store.attach(0, other, again);
                assert_eq!(entries(&mut store, b"again"), expected);
            }
        }
        for key in [&b"z"[..], b"again"] {
            let key = store.key(key);
            store.remove(0, key, 0);
        }
        while store.reclaim(100) {}
        assert_eq!(store.bytes().total(), crate::Store::new(hasher(), 1).bytes().total(), "seed {seed}");
    }
}
