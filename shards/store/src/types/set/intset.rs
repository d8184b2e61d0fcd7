//! A small set of integers: sorted, each in the same number of bytes, behind a byte that says how many.
//! It knows bytes alone.

/// Bytes of an integer; 2, 4 or 8.
fn width_of(value: i64) -> usize {
    if i16::try_from(value).is_ok() {
        2
    } else if i32::try_from(value).is_ok() {
        4
    } else {
        8
    }
}

#[inline]
fn width(bytes: &[u8]) -> usize {
    bytes.first().map_or(2, |width| usize::from(*width))
}

/// How many integers there are.
#[inline]
pub(crate) fn len(bytes: &[u8]) -> usize {
    bytes.len().saturating_sub(1) / width(bytes)
}

/// The integer of that rank.
#[inline]
pub(crate) fn at(bytes: &[u8], index: usize) -> i64 {
    let width = width(bytes);
    let place = &bytes[1 + index * width..1 + (index + 1) * width];
    match width {
        2 => i64::from(i16::from_le_bytes(place.try_into().expect("two bytes"))),
        4 => i64::from(i32::from_le_bytes(place.try_into().expect("four bytes"))),
        _ => i64::from_le_bytes(place.try_into().expect("eight bytes")),
    }
}

/// All of them, in order.
pub(crate) fn each(bytes: &[u8]) -> impl Iterator<Item = i64> {
    (0..len(bytes)).map(|index| at(bytes, index))
}

/// The rank of an integer, or the one it would have.
pub(crate) fn search(bytes: &[u8], value: i64) -> Result<usize, usize> {
    let (mut low, mut high) = (0, len(bytes));
    while low < high {
        let middle = (low + high) / 2;
        match at(bytes, middle).cmp(&value) {
            std::cmp::Ordering::Equal => return Ok(middle),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Err(low)
}

/// What to write where, so that an integer takes its place at a rank.
pub(crate) fn insertion(bytes: &[u8], rank: usize, value: i64, out: &mut Vec<u8>) -> std::ops::Range<usize> {
    let wanted = width_of(value);
    if !bytes.is_empty() && wanted <= width(bytes) {
        out.extend_from_slice(&value.to_le_bytes()[..width(bytes)]);
        let at = 1 + rank * width(bytes);
        return at..at;
    }
    // The first one, or one that none of the others has room for: all are written anew.
    out.push(wanted as u8);
    let count = len(bytes);
    for index in 0..=count {
        let value = match index.cmp(&rank) {
            std::cmp::Ordering::Less => at(bytes, index),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => at(bytes, index - 1),
        };
        out.extend_from_slice(&value.to_le_bytes()[..wanted]);
    }
    0..bytes.len()
}

/// The bytes to cut out, so that the integer of that rank is gone; all, if it is the only one.
pub(crate) fn removal(bytes: &[u8], rank: usize) -> std::ops::Range<usize> {
    if len(bytes) == 1 {
        return 0..bytes.len();
    }
    let width = width(bytes);
    1 + rank * width..1 + (rank + 1) * width
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_a_sorted_set_of_integers() {
        let (mut bytes, mut model, mut state) = (Vec::new(), BTreeSet::new(), 1u64);
        for step in 0..3000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let value = state as i64 >> (48 + state % 14) >> if step < 2000 { 2 } else { 0 };
            let value = if step % 500 == 499 { state as i64 >> 30 } else { value };
            match search(&bytes, value) {
                Ok(rank) if step % 3 == 0 => {
                    drop(bytes.drain(removal(&bytes, rank)));
                    assert!(model.remove(&value));
                }
                Ok(rank) => assert!(at(&bytes, rank) == value && model.contains(&value)),
                Err(rank) => {
                    let mut new = Vec::new();
                    let range = insertion(&bytes, rank, value, &mut new);
                    bytes.splice(range, new);
                    assert!(model.insert(value));
                }
            }
        }
        assert!(each(&bytes).eq(model.iter().copied()) && bytes[0] == 8);
        while !bytes.is_empty() {
            drop(bytes.drain(removal(&bytes, len(&bytes) / 2)));
        }
        assert_eq!(len(&bytes), 0);
    }
}
