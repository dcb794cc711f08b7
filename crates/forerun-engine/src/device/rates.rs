//! Bytes, times and rates.

use crate::types::BLOCK_BYTES;

/// A fetch holds whole blocks: half a block would be served as a whole one.
pub(crate) fn whole_blocks(bytes: u64) -> u64 {
    (bytes / BLOCK_BYTES).max(1) * BLOCK_BYTES
}

/// Bytes per second.
pub(crate) fn rate(bytes: u64, ns: u64) -> u64 {
    scaled(bytes, 1_000_000_000, ns.max(1))
}

/// Nanoseconds that `bytes` take at `rate` bytes per second.
pub(crate) fn time_of(bytes: u64, rate: u64) -> u64 {
    scaled(bytes, 1_000_000_000, rate.max(1))
}

/// Bytes that arrive in `ns` at `rate` bytes per second.
pub(crate) fn bytes_in(ns: u64, rate: u64) -> u64 {
    scaled(ns, rate, 1_000_000_000)
}

/// `amount * by / of`, or the largest number.
pub(super) fn scaled(amount: u64, by: u64, of: u64) -> u64 {
    match amount.checked_mul(by) {
        // Nearly always, and ten times as fast.
        Some(product) => product / of,
        None => (u128::from(amount) * u128::from(by) / u128::from(of)).min(u128::from(u64::MAX)) as u64,
    }
}
