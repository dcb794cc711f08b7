//! The number of cases of a property.

/// The value of `PROPTEST_CASES`, or `usual`.
pub(crate) fn cases(usual: u32) -> u32 {
    match std::env::var("PROPTEST_CASES") {
        Ok(count) => count.parse().expect("PROPTEST_CASES is a number"),
        Err(_) => usual,
    }
}
