//! Fuzz targets: functions of bytes that panic where a promise is broken, and makers of likely bytes.
//! They do not know who drives them: seeds here, coverage in libfuzzer/.

#![forbid(unsafe_code)]

mod random;
pub mod targets;

pub use random::Random;

/// One promise under test.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Panics where the promise is broken.
    pub run: fn(&[u8]),
    /// Makes bytes that get past the first check.
    pub make: fn(&mut Random) -> Vec<u8>,
}

/// Every target.
pub const TARGETS: &[Target] = &[
    targets::frames::SPLIT,
    targets::frames::ROUND_TRIP,
    targets::replies::SPLIT,
    targets::numbers::NUMBERS,
    targets::text::WORDS,
    targets::text::GLOBS,
    targets::keys::SHAPES,
    targets::commands::KEYS,
    targets::commands::ANY,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_holds_for_a_few_thousand_inputs() {
        for target in TARGETS {
            for seed in 0..3_000 {
                let mut random = Random::new(seed);
                (target.run)(&(target.make)(&mut random));
            }
        }
    }

    /// Inputs that broke a promise once: the target, what broke, the bytes.
    const ONCE_BROKEN: &[(&str, &[u8])] = &[
        // A frame became whole after half of its count line had been looked through; the parser kept
        // that place and began the next, shorter half frame behind its end.
        ("frames-split", b"\xda*2\r\n$2\r\nk2\r\n$0\r\n\r\n*3\r\n$2\r\nk0\r\n$2\r\nk3\r\n$1\r\n1\r\n*1\r\n$4\r\nPING\r\n*1"),
    ];

    #[test]
    fn what_broke_once_holds() {
        for (name, input) in ONCE_BROKEN {
            let target = TARGETS.iter().find(|target| target.name == *name).expect("a known target");
            (0..=255).for_each(|head: u8| (target.run)(&[&[head], &input[1..]].concat()));
        }
    }

    #[test]
    fn every_target_takes_any_bytes() {
        for target in TARGETS {
            for seed in 0..1_000 {
                let mut random = Random::new(seed);
                let len = random.below(64);
                (target.run)(&random.bytes(len));
            }
        }
    }
}
