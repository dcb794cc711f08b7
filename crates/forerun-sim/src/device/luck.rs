//! Luck that depends on a request's number only, so that every policy meets the same.

/// Numbers for the requests of one device, by their place in the order of submission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Luck {
    seed: u64,
}

impl Luck {
    pub(crate) fn new(seed: u64) -> Luck {
        Luck { seed: scramble(seed ^ 0x5851_f42d_4c95_7f2d) }
    }

    /// The number that request `index` has for `purpose`.
    pub(crate) fn of(&self, index: u64, purpose: u64) -> u64 {
        scramble(scramble(self.seed.wrapping_add(index)) ^ purpose)
    }
}

/// Each bit of the result depends on every bit of `value` (the finisher of splitmix64).
pub(crate) fn scramble(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// `luck` as a number below `bound`.
pub(crate) fn below(luck: u64, bound: u64) -> u64 {
    ((u128::from(luck) * u128::from(bound)) >> 64) as u64
}
