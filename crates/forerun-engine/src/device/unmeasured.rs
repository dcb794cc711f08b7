//! The guesses about a new device, before anything of it is measured.

/// The latency of a store in the same region.
pub(super) const LATENCY_NS_GUESS: u64 = 10_000_000;
/// The bytes per second of a disk or a link of a gigabit a second.
pub(super) const BANDWIDTH_GUESS: u64 = 100_000_000;
/// The least cost of a wait, until a fetch has shown the device's bandwidth.
pub(super) const WAIT_BYTES_UNKNOWN: u64 = 64 << 10;
/// Fetches at once to begin with: enough to find out.
pub(super) const FETCHES_MIN: u64 = 16;
/// Over a far link, the bytes in flight begin at this many of the smallest fetches, since each step of
/// growth takes a latency.
pub(super) const FETCHES_FAR: u64 = 32;
