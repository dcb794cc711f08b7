//! The value of `--memory`.

use std::fmt;

use forerun::Options;

use super::limit;
use super::wanted::share_of;
use crate::units::{parse_size, show_size};

/// Memory for data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemorySize {
    /// At most so many bytes.
    pub(crate) bytes: u64,
    /// It follows what the machine has left.
    pub(crate) is_auto: bool,
}

impl MemorySize {
    /// A size, or `auto`.
    ///
    /// # Errors
    /// If it is neither.
    pub(crate) fn parse(text: &str) -> Result<MemorySize, String> {
        if text == "auto" {
            return Ok(MemorySize { bytes: share_of(limit().bytes), is_auto: true });
        }
        let bytes = parse_size(text).map_err(|error| format!("{error}, or auto"))?;
        Ok(MemorySize { bytes, is_auto: false })
    }

    /// The memory of each of `count` engines that share it.
    pub(crate) fn for_each_of(self, count: u64) -> u64 {
        let least = if self.is_auto { Options::MEMORY_BYTES_MIN } else { 0 };
        (self.bytes / count).max(least)
    }
}

impl fmt::Display for MemorySize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = if self.is_auto { "up to " } else { "" };
        write!(f, "{most}{}", show_size(self.bytes))
    }
}
