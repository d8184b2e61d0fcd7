//! Registers of six bits, one behind the other, the lowest bits of a byte first.

use super::REGISTERS;

/// Bytes of all registers.
pub(super) const BYTES: usize = REGISTERS * BITS / 8;
/// What a register can hold at most.
pub(super) const VALUE_MAX: u8 = (1 << BITS) - 1;

const BITS: usize = 6;

/// The register at `index`.
pub(super) fn get(registers: &[u8], index: usize) -> u8 {
    let (at, shift) = (index * BITS / 8, index * BITS % 8);
    (pair(registers, at) >> shift) as u8 & VALUE_MAX
}

/// Sets the register at `index`.
pub(super) fn set(registers: &mut [u8], index: usize, value: u8) {
    let (at, shift) = (index * BITS / 8, index * BITS % 8);
    let cleared = pair(registers, at) & !(u16::from(VALUE_MAX) << shift);
    let [low, high] = (cleared | u16::from(value) << shift).to_le_bytes();
    registers[at] = low;
    if let Some(next) = registers.get_mut(at + 1) {
        *next = high;
    }
}

/// Raises the register at `index`, if it is below `value`; whether it was.
pub(super) fn raise(registers: &mut [u8], index: usize, value: u8) -> bool {
    let raised = get(registers, index) < value;
    if raised {
        set(registers, index, value);
    }
    raised
}

/// All registers in order.
pub(super) fn each(registers: &[u8], mut visit: impl FnMut(usize, u8)) {
    // Three bytes hold four of them.
    let (groups, _) = registers.as_chunks::<3>();
    for (group, [low, middle, high]) in groups.iter().enumerate() {
        let four = u32::from_le_bytes([*low, *middle, *high, 0]);
        (0..4).for_each(|at| visit(group * 4 + at, (four >> (at * BITS)) as u8 & VALUE_MAX));
    }
}

/// Two bytes, the second 0 behind the end.
fn pair(registers: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([registers[at], registers.get(at + 1).copied().unwrap_or(0)])
}
