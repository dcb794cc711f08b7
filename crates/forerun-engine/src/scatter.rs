//! Where to look for a number in a table.

/// Odd, and no numbers in use have much to do with it.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number of which the highest bits differ for most that are near one another.
pub(crate) fn scattered(number: u64) -> u64 {
    number.wrapping_mul(FACTOR)
}

/// Which of `count` slots, a power of two above 1, is that of `number`.
pub(crate) fn slot_of(number: u64, count: usize) -> usize {
    (scattered(number) >> (u64::BITS - count.trailing_zeros())) as usize
}
