//! The configuration of properties.

use proptest::test_runner::{Config, FileFailurePersistence};

#[path = "cases.rs"]
mod cases;

/// Tries [`cases::cases`] cases. A case that fails is kept beside the test's source, in a file that
/// ends in `.regressions`, and is tried first from then on.
pub(crate) fn config(usual: u32) -> Config {
    let kept = FileFailurePersistence::WithSource("regressions");
    Config { failure_persistence: Some(Box::new(kept)), ..Config::with_cases(cases::cases(usual)) }
}
