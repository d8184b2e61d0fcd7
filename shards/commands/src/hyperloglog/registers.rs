//! All registers of one or several sketches, a byte each: the highest of each.

use super::layout::{self, Encoding, HEADER_BYTES};
use super::{Fault, REGISTERS, dense, estimate, sparse};

/// The registers.
pub(super) struct Registers {
    values: Box<[u8]>,
    /// Whether one of the sketches was dense.
    any_dense: bool,
}

impl Registers {
    /// Those of no sketch.
    pub(super) fn new() -> Registers {
        Registers { values: vec![0; REGISTERS].into(), any_dense: false }
    }

    /// Those of one sketch.
    pub(super) fn of(bytes: &[u8]) -> Result<Registers, Fault> {
        let mut registers = Registers::new();
        registers.merge(bytes)?;
        Ok(registers)
    }

    /// Adds those of a sketch.
    pub(super) fn merge(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let values = &mut self.values;
        match layout::encoding(bytes)? {
            Encoding::Dense => {
                self.any_dense = true;
                dense::each(&bytes[HEADER_BYTES..], |index, value| values[index] = values[index].max(value));
                Ok(())
            }
            Encoding::Sparse => sparse::each_run(bytes, |first, run| {
                if run.value > 0 {
                    let raised = &mut values[first..first + run.registers];
                    raised.iter_mut().for_each(|value| *value = run.value.max(*value));
                }
            }),
        }
    }

    pub(super) fn any_dense(&self) -> bool {
        self.any_dense
    }

    /// The registers by their index.
    pub(super) fn values(&self) -> &[u8] {
        &self.values
    }

    /// How many different elements they have seen, about.
    pub(super) fn count(&self) -> u64 {
        let mut histogram = [0; estimate::VALUES];
        self.values.iter().for_each(|value| histogram[usize::from(*value)] += 1);
        estimate::count(&histogram)
    }
}

/// How many different elements a sketch has seen, about.
pub(super) fn count(bytes: &[u8]) -> Result<u64, Fault> {
    let mut histogram = [0; estimate::VALUES];
    match layout::encoding(bytes)? {
        Encoding::Dense => {
            dense::each(&bytes[HEADER_BYTES..], |_, value| histogram[usize::from(value)] += 1);
        }
        Encoding::Sparse => sparse::each_run(bytes, |_, run| {
            histogram[usize::from(run.value)] += run.registers as u32;
        })?,
    }
    Ok(estimate::count(&histogram))
}
