//! The keyed hash of keys. All shards of a process share the seeds, so a hash can travel with a
//! command. It does not know what a hash is used for.

use ahash::RandomState;
use siphasher::sip::SipHasher13;
use std::hash::{BuildHasher, Hasher as _};

/// Which function turns a key into 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HashFunction {
    /// Fast, keyed; its resistance to chosen collisions is claimed, not analysed.
    #[default]
    Ahash,
    /// SipHash-1-3: slower, with a published security argument. For hostile tenants.
    Siphash,
}

/// Hashes keys under a secret key drawn once a process.
#[derive(Clone, Debug)]
pub struct Hasher(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Ahash(RandomState),
    Siphash(SipHasher13),
    /// Tests choose hashes, so as to make keys collide.
    #[cfg(test)]
    Chosen(fn(&[u8]) -> u64),
}

impl Hasher {
    /// The default function under these seeds. They must be random, and the same on every shard.
    pub fn new(seeds: [u64; 4]) -> Hasher {
        Hasher::with_function(HashFunction::Ahash, seeds)
    }

    /// A chosen function under these seeds; SipHash folds the four words into its 128-bit key.
    pub fn with_function(function: HashFunction, seeds: [u64; 4]) -> Hasher {
        let [a, b, c, d] = seeds;
        Hasher(match function {
            HashFunction::Ahash => Inner::Ahash(RandomState::with_seeds(a, b, c, d)),
            HashFunction::Siphash => {
                Inner::Siphash(SipHasher13::new_with_keys(a ^ c.rotate_left(32), b ^ d.rotate_left(32)))
            }
        })
    }

    /// The function in use.
    pub fn function(&self) -> HashFunction {
        match self.0 {
            Inner::Ahash(_) => HashFunction::Ahash,
            Inner::Siphash(_) => HashFunction::Siphash,
            #[cfg(test)]
            Inner::Chosen(_) => unreachable!("no test asks"),
        }
    }

    /// The hash of a key. The top bits lead to a bucket, the low byte is its tag there.
    #[inline(always)]
    pub fn hash(&self, bytes: &[u8]) -> u64 {
        match &self.0 {
            Inner::Ahash(state) => {
                let mut hasher = state.build_hasher();
                hasher.write(bytes);
                hasher.finish()
            }
            Inner::Siphash(keyed) => siphash(keyed, bytes),
            #[cfg(test)]
            Inner::Chosen(function) => function(bytes),
        }
    }

    /// A hasher under which a test knows what collides.
    #[cfg(test)]
    pub(crate) fn chosen(function: fn(&[u8]) -> u64) -> Hasher {
        Hasher(Inner::Chosen(function))
    }
}

/// A call of its own, so that the default function needs no room for it.
#[inline(never)]
fn siphash(keyed: &SipHasher13, bytes: &[u8]) -> u64 {
    keyed.hash(bytes)
}

/// A key together with its hash, so that it is hashed once however often it is used.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// The key itself.
    pub bytes: &'a [u8],
    /// Its hash under the process's [`Hasher`].
    pub hash: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_hashes_and_other_seeds_do_not() {
        for function in [HashFunction::Ahash, HashFunction::Siphash] {
            let one = Hasher::with_function(function, [1, 2, 3, 4]);
            let same = Hasher::with_function(function, [1, 2, 3, 4]);
            let other = Hasher::with_function(function, [1, 2, 3, 5]);
            assert_eq!(one.function(), function);
            for length in 0..200 {
                let key = vec![b'k'; length];
                assert_eq!(one.hash(&key), same.hash(&key));
                assert_ne!(one.hash(&key), other.hash(&key));
            }
        }
    }

    #[test]
    fn a_key_and_its_prefix_differ() {
        let hasher = Hasher::new([9, 8, 7, 6]);
        assert_ne!(hasher.hash(b"a"), hasher.hash(b"a\0"));
        assert_ne!(hasher.hash(b""), hasher.hash(b"\0"));
    }
}
