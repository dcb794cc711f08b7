//! The mount that is explained.

use std::path::PathBuf;
use std::time::Instant;

use forerun::Forerun;

/// The mount that is explained.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) forerun: Forerun,
    /// As the user gave it, without secrets.
    pub(crate) url: String,
    pub(crate) directory: PathBuf,
    pub(crate) policy: String,
    pub(crate) since: Instant,
}
