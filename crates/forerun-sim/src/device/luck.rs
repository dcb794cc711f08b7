//! Luck that depends on a request's number only, so that every policy meets the same.
//!
//! Reads and writes have numbers of their own. A policy that reads in fewer requests then has the same luck
//! with writes, which cannot be read ahead.

use super::Direction;

/// The number of the first write; no device has as many reads.
const WRITES: u64 = 1 << 63;

/// The numbers of requests, in the order of submission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    read_count: u64,
    write_count: u64,
}

impl Numbers {
    /// That of the next request, which goes in `direction`.
    pub(crate) fn next(&mut self, direction: Direction) -> u64 {
        let (first, count) = match direction {
            Direction::Read => (0, &mut self.read_count),
            Direction::Write => (WRITES, &mut self.write_count),
        };
        *count += 1;
        first + *count - 1
    }
}

/// The draw of each request of one device, by its number.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_have_the_same_luck_however_many_reads_there_are() {
        let (mut few, mut many) = (Numbers::default(), Numbers::default());
        (0..100).for_each(|number| assert_eq!(many.next(Direction::Read), number));
        for _ in 0..10 {
            assert_eq!(few.next(Direction::Write), many.next(Direction::Write));
        }
        assert_eq!((few.next(Direction::Read), many.next(Direction::Read)), (0, 100));
    }
}
