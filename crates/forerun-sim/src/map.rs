//! Maps by numbers that the simulator gave itself: nobody chooses them so that they
//! collide, and a simulation looks up several for each access.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by small keys that hash as integers. Its order means nothing.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// 2^64 by the golden ratio, odd: neighbouring numbers land far from each other.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Folds a product of twice the width: every bit of a number reaches every bit of its
/// hash.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0.rotate_left(23) ^ number) * u128::from(MULTIPLIER);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::{BuildHasher, Hash};

    fn hash(key: impl Hash) -> u64 {
        BuildHasherDefault::<Mixer>::default().hash_one(key)
    }

    #[test]
    fn neighbours_and_multiples_do_not_collide() {
        for step in [1, 4096, 1 << 32] {
            // The places that a table of a thousand looks at.
            let places: HashSet<u64> = (0..512).map(|n: u64| hash(n * step) % 1024).collect();
            assert!(places.len() > 350, "{step}: {}", places.len());
        }
        assert_ne!(hash((1u32, 2u64)), hash((2u32, 1u64)));
    }
}
