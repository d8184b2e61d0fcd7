//! One libFuzzer entry for every target: CORELANE_FUZZ_TARGET names which.
//!   CORELANE_FUZZ_TARGET=frames-split cargo +nightly fuzz run --fuzz-dir tests/fuzz/libfuzzer any
//! Without cargo-fuzz, in this crate's folder:
//!   RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
//!     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table" \
//!   cargo +nightly build --release --target x86_64-unknown-linux-gnu
//! It knows no target, only the list of them.

#![no_main]

use corelane_fuzz::{TARGETS, Target};
use std::sync::LazyLock;

static CHOSEN: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("CORELANE_FUZZ_TARGET").expect("CORELANE_FUZZ_TARGET names a target");
    TARGETS.iter().find(|target| target.name == name).expect("CORELANE_FUZZ_TARGET is a known name")
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (CHOSEN.run)(data));
