//! Bytes of which no two extents are alike.

/// `len` bytes that look random, the same ones for the same `seed`; what they
/// begin with is the same for every `len`.
pub(crate) fn pattern(len: usize, seed: u64) -> Vec<u8> {
    // The golden ratio's bits: every step visits another of the 2^64 states.
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut state = seed.wrapping_mul(STEP);
    let mut bytes = Vec::with_capacity(len + 7);
    while bytes.len() < len {
        state = state.wrapping_add(STEP);
        let mixed = (state ^ (state >> 32)).wrapping_mul(STEP);
        bytes.extend_from_slice(&(mixed ^ (mixed >> 29)).to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}
