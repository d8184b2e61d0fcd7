//! Random sequences of HyperLogLog commands over several shards, held against plain registers.

use super::hash;
use crate::context::Random;
use crate::testing::Rig;
use resp::client::Value;
use std::collections::BTreeMap;

type Registers = BTreeMap<usize, u8>;

#[derive(Default)]
struct Model {
    sketches: BTreeMap<String, Registers>,
}

impl Model {
    fn add(&mut self, key: &str, elements: &[String]) -> bool {
        let mut changed = !self.sketches.contains_key(key);
        let registers = self.sketches.entry(key.into()).or_default();
        for element in elements {
            let (index, value) = hash::place(element.as_bytes());
            let register = registers.entry(index).or_default();
            changed |= *register < value;
            *register = value.max(*register);
        }
        changed
    }

    fn merge(&mut self, keys: &[String]) {
        let mut merged = Registers::new();
        for registers in keys.iter().filter_map(|key| self.sketches.get(key)) {
            for (index, value) in registers {
                let register = merged.entry(*index).or_default();
                *register = *value.max(register);
            }
        }
        self.sketches.insert(keys[0].clone(), merged);
    }
}

fn registers(rig: &mut Rig, key: &str) -> Registers {
    // A copy, since looking makes a sketch dense.
    rig.ask(&format!("COPY {key} looked-at REPLACE"));
    let Value::Array(values) = rig.ask("PFDEBUG GETREG looked-at") else { panic!("an array of {key}") };
    let value = |value: &Value| match value {
        Value::Integer(number) => *number as u8,
        other => panic!("{other:?}"),
    };
    values.iter().map(value).enumerate().filter(|(_, value)| *value > 0).collect()
}

#[test]
fn registers_are_as_a_plain_model_has_them() {
    for (shards, bytes_max) in [(1, 3000), (3, 300), (8, 100)] {
        let (mut rig, mut model) = (Rig::new(shards), Model::default());
        rig.configure(|live| live.encodings.hll_sparse_max_bytes = bytes_max);
        let mut random = Random::new(u64::from(shards));
        for round in 0..600 {
            let mut key = || format!("k{}", random.below(5));
            let (key, others) = (key(), [key(), key()]);
            if random.below(8) == 0 {
                let keys = [key.clone(), others[0].clone(), others[1].clone()];
                model.merge(&keys);
                rig.check(&format!("PFMERGE {}", keys.join(" ")), "+OK");
            } else {
                let count = random.below(12);
                let elements: Vec<String> = (0..count).map(|_| random.below(3000).to_string()).collect();
                let changed = model.add(&key, &elements);
                rig.check(
                    &format!("PFADD {key} {}", elements.join(" ")),
                    &format!(":{}", i32::from(changed)),
                );
            }
            if round % 20 == 0 {
                assert_eq!(registers(&mut rig, &key), model.sketches[&key], "round {round}");
            }
        }
    }
}
