//! How many objects there are, and how large.

pub(crate) const OBJECTS: u64 = 4;
/// Readers belong to so many clients.
pub(crate) const CLIENTS: u64 = 3;
/// More than there are objects: each is several steps.
pub(crate) const STEPS: u32 = 12;
pub(crate) const SIZE: u64 = 3 * (1 << 20) + 777;
pub(crate) const SIZE_MAX: u64 = 4 << 20;
/// Objects of small numbers, across half of the largest size, and up to the largest size.
pub(crate) const BASES: [u64; 3] = [0, (1 << 62) - (2 << 20), (1 << 63) - SIZE_MAX];
