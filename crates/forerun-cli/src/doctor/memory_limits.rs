//! Whether there is memory for a mount.

use super::finding::{Finding, Level};
use crate::memory::{Limit, limit, needed};
use crate::units::show_size;

/// Checks whether a mount with `--memory bytes` fits.
pub(super) fn check(bytes: u64) -> Finding {
    judge(bytes, &limit())
}

fn judge(bytes: u64, limit: &Limit) -> Finding {
    let (need, limit_shown) = (show_size(needed(bytes) >> 20 << 20), show_size(limit.bytes >> 20 << 20));
    let memory = show_size(bytes);
    if needed(bytes) <= limit.bytes {
        let message =
            format!("a mount with --memory {memory} takes up to {need}; {} {limit_shown}", limit.name);
        return Finding::new(Level::Ok, "memory", message);
    }
    let message = format!(
        "a mount with --memory {memory} takes up to {need}, but {} only {limit_shown}: give a smaller --memory, or \
         raise the limit",
        limit.name
    );
    Finding::new(Level::Fault, "memory", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_needs_more_than_its_memory() {
        let limit = |mib: u64| Limit { bytes: mib << 20, name: "the group allows".to_owned() };
        let finding = judge(256 << 20, &limit(300));
        assert!(
            finding.level == Level::Fault && finding.message.contains("takes up to 328 MiB"),
            "{finding}"
        );
        assert_eq!(judge(256 << 20, &limit(328)).level, Level::Ok);
    }
}
