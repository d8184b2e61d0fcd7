//! Cluster slots: CRC16/XMODEM of the key or its hash tag, modulo 16,384, as the Redis Cluster
//! specification has it (<https://redis.io/docs/reference/cluster-spec/>), and the even division of
//! slots among shards in contiguous ranges.

/// How many slots there are.
pub const SLOTS: u16 = 16_384;

/// Bytes that are taken at a time where there are as many: a key of the usual length is done in one step.
const STRIDE: usize = 16;

/// `[n][b]`: the checksum of byte b followed by n zeros.
const fn tables() -> [[u16; 256]; STRIDE] {
    let mut tables = [[0u16; 256]; STRIDE];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 != 0 { crc << 1 ^ 0x1021 } else { crc << 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut place = 256;
    while place < 256 * STRIDE {
        let before = tables[place / 256 - 1][place % 256];
        tables[place / 256][place % 256] = before << 8 ^ tables[0][(before >> 8) as usize];
        place += 1;
    }
    tables
}

static TABLES: [[u16; 256]; STRIDE] = tables();

/// CRC16 with polynomial 0x1021, initial value 0 (XMODEM). Many bytes at a time: the checksum is linear, so
/// the share of each byte is looked up alone ("slicing", Kounavis and Berry 2005).
#[inline]
pub fn crc16(bytes: &[u8]) -> u16 {
    crc16_and_brace(bytes).0
}

/// The checksum, and whether there is a `{`: in one go, since most keys have none.
#[inline]
fn crc16_and_brace(bytes: &[u8]) -> (u16, bool) {
    let (mut crc, mut brace) = (0, false);
    let (wide, rest) = bytes.as_chunks::<STRIDE>();
    for chunk in wide {
        crc = go_on(crc, chunk);
        brace |= has_brace(chunk);
    }
    if rest.is_empty() {
        return (crc, brace);
    }
    let (crc, last) = go_on_to_the_end(crc, rest);
    (crc, brace | last)
}

/// The same for fewer bytes than a stride: apart, so that the strides have the registers.
#[inline(never)]
fn go_on_to_the_end(mut crc: u16, bytes: &[u8]) -> (u16, bool) {
    let mut brace = false;
    let (narrow, rest) = bytes.as_chunks::<4>();
    for chunk in narrow {
        crc = go_on(crc, chunk);
        brace |= has_brace(chunk);
    }
    for byte in rest {
        crc = crc << 8 ^ TABLES[0][usize::from((crc >> 8) as u8 ^ byte)];
        brace |= *byte == b'{';
    }
    (crc, brace)
}

/// The checksum with `N` more bytes behind it.
#[inline(always)]
fn go_on<const N: usize>(crc: u16, bytes: &[u8; N]) -> u16 {
    let (first, second) = (bytes[0] ^ (crc >> 8) as u8, bytes[1] ^ crc as u8);
    let crc = TABLES[N - 1][usize::from(first)] ^ TABLES[N - 2][usize::from(second)];
    (2..N).fold(crc, |crc, place| crc ^ TABLES[N - 1 - place][usize::from(bytes[place])])
}

/// Without a branch, so that the compiler compares all at once.
#[inline(always)]
fn has_brace<const N: usize>(bytes: &[u8; N]) -> bool {
    bytes.iter().fold(false, |found, byte| found | (*byte == b'{'))
}

/// The part of a key that is hashed: what stands between the first `{` and the next `}`, if that is
/// not empty; else all of it.
#[inline]
pub fn hash_tag(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|byte| *byte == b'{') else {
        return key;
    };
    match key[open + 1..].iter().position(|byte| *byte == b'}') {
        Some(length) if length > 0 => &key[open + 1..open + 1 + length],
        _ => key,
    }
}

/// The slot of a key.
#[inline]
pub fn slot_of(key: &[u8]) -> u16 {
    let (crc, brace) = crc16_and_brace(key);
    (if brace { crc16(hash_tag(key)) } else { crc }) % SLOTS
}

/// The shard among `shards` that owns a slot: contiguous ranges that differ by at most one slot.
#[inline]
pub fn owner_of(slot: u16, shards: u16) -> u16 {
    (u32::from(slot) * u32::from(shards) / u32::from(SLOTS)) as u16
}

/// The slots that a shard owns, first and last.
pub fn slots_of(shard: u16, shards: u16) -> (u16, u16) {
    let first = |n: u16| (u32::from(n) * u32::from(SLOTS)).div_ceil(u32::from(shards)) as u16;
    (first(shard), first(shard + 1) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_specification_holds() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        assert_eq!(slot_of(b"foo"), 12182);
        assert_eq!(slot_of(b"{user1000}.following"), slot_of(b"user1000"));
        assert_eq!(hash_tag(b"foo{}{bar}"), b"foo{}{bar}");
        assert_eq!(hash_tag(b"foo{{bar}}zap"), b"{bar");
    }

    #[test]
    fn keys_of_every_length_have_the_slot_that_a_byte_at_a_time_gives() {
        let plain = |bytes: &[u8]| {
            bytes.iter().fold(0u16, |crc, byte| {
                (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| (crc << 1) ^ ((crc >> 15) * 0x1021))
            })
        };
        let key: Vec<u8> = (0..64u8).map(|number| number.wrapping_mul(37) | 0x80).collect();
        for length in 0..key.len() {
            assert_eq!(crc16(&key[..length]), plain(&key[..length]));
            for open in 0..length {
                let mut tagged = key[..length].to_vec();
                tagged[open] = b'{';
                assert_eq!(slot_of(&tagged), plain(&tagged) % SLOTS, "no tag without its end");
                if open + 2 < length {
                    tagged[length - 1] = b'}';
                    assert_eq!(slot_of(&tagged), plain(&tagged[open + 1..length - 1]) % SLOTS);
                }
            }
        }
    }

    #[test]
    fn every_slot_has_one_owner_in_contiguous_ranges() {
        for shards in [1, 2, 3, 4, 7, 8, 64, 255] {
            let mut next = 0;
            for shard in 0..shards {
                let (first, last) = slots_of(shard, shards);
                assert_eq!(first, next);
                assert!((first..=last).all(|slot| owner_of(slot, shards) == shard));
                next = last + 1;
            }
            assert_eq!(next, SLOTS);
        }
    }
}
