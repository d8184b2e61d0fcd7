//! Numbers from a seed (splitmix64), so that an input can be made again.
//! It knows nothing of what the numbers are for.

/// A sequence that its seed fixes.
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence of that seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0xA076_1D64_78BD_642F) ^ 0x5851_F42D_4C95_7F2D }
    }

    /// Any 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() % bound as u64) as usize
    }

    /// True once in `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of them.
    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    /// So many random bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.draw() as u8).collect()
    }

    /// An argument as clients and attackers send them: words, numbers at the edges, keys, rubbish.
    pub fn argument(&mut self) -> Vec<u8> {
        const NUMBERS: [&str; 14] = [
            "0",
            "1",
            "-1",
            "2",
            "10",
            "100",
            "4294967296",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "1.5",
            "-0",
            "1e400",
            "nan",
        ];
        const WORDS: [&str; 28] = [
            "NX",
            "XX",
            "GT",
            "LT",
            "EX",
            "PX",
            "EXAT",
            "PXAT",
            "KEEPTTL",
            "GET",
            "PERSIST",
            "MATCH",
            "COUNT",
            "TYPE",
            "string",
            "DB",
            "REPLACE",
            "LEN",
            "IDX",
            "MINMATCHLEN",
            "WITHMATCHLEN",
            "ID",
            "ADDR",
            "SKIPME",
            "yes",
            "no",
            "*",
            "a*",
        ];
        match self.below(8) {
            0 | 1 => self.pick(&NUMBERS).as_bytes().to_vec(),
            2 => self.pick(&WORDS).as_bytes().to_vec(),
            3 => Vec::new(),
            4 => {
                let len = self.below(40);
                self.bytes(len)
            }
            _ => format!("k{}", self.below(6)).into_bytes(),
        }
    }

    /// Changes a few bytes: flips, cuts, repeats.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..self.below(4) {
            if bytes.is_empty() {
                return;
            }
            let at = self.below(bytes.len());
            match self.below(5) {
                0 => bytes[at] = self.draw() as u8,
                1 => bytes[at] ^= 1 << self.below(8),
                2 => bytes.truncate(at),
                3 => {
                    bytes.remove(at);
                }
                _ => {
                    let end = at + self.below(bytes.len() - at + 1).min(16);
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
    }
}
