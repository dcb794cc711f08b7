//! How often a property is tried.

/// As often as `PROPTEST_CASES` says, `usual` times without it.
pub(crate) fn cases(usual: u32) -> u32 {
    match std::env::var("PROPTEST_CASES") {
        Ok(count) => count.parse().expect("PROPTEST_CASES is a number"),
        Err(_) => usual,
    }
}
