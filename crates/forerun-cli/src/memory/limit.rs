//! The memory that a mount may take, and whether there is as much.

use rustix::process::{Resource, getrlimit};

use super::group::Group;
use crate::units::show_size;

/// Memory that a busy process needs besides `--memory` and an eighth of it (README, "What you can rely on").
pub(super) const PROCESS_BYTES: u64 = 40 << 20;

/// A bound on the memory of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) bytes: u64,
    /// As messages name it.
    pub(crate) name: String,
}

/// Memory that a mount with `--memory bytes` takes at most.
pub(crate) fn needed(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / 8).saturating_add(PROCESS_BYTES)
}

/// The tightest bound: the machine's memory, a limit of a control group, or of this process.
pub(crate) fn limit() -> Limit {
    let info = rustix::system::sysinfo();
    // The field's width differs between machines.
    #[allow(clippy::useless_conversion)]
    let all = u64::from(info.totalram).saturating_mul(u64::from(info.mem_unit));
    let machine = Limit { bytes: all, name: "this machine has".to_owned() };
    let own = getrlimit(Resource::As).current;
    let own = own.map(|bytes| Limit { bytes, name: "`ulimit -v` allows this process".to_owned() });
    let groups = Group::own().into_iter().filter_map(|group| {
        let (bytes, file) = group.limit()?;
        Some(Limit { bytes, name: format!("the control group ({}) allows", file.display()) })
    });
    groups.chain(own).fold(machine, |least, other| if other.bytes < least.bytes { other } else { least })
}

/// A warning if a mount with `--memory bytes` may take more than there is. The mount takes memory
/// only when it has read as much.
pub(crate) fn doubt(bytes: u64) -> Option<String> {
    too_much(bytes, &limit())
}

fn too_much(bytes: u64, limit: &Limit) -> Option<String> {
    let (wanted, all) = (show_size(bytes), show_size(limit.bytes >> 20 << 20));
    (bytes > limit.bytes).then(|| {
        format!(
            "--memory {wanted} is more than {} ({all}): at that much, the system slows it, swaps or ends it; \
             give a smaller --memory, or auto",
            limit.name
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_doubted_only_above_the_limit() {
        let limit = |bytes| Limit { bytes, name: "this machine has".to_owned() };
        assert_eq!(too_much(256 << 20, &limit(256 << 20)), None);
        let doubt = too_much(2 << 30, &limit(1 << 30)).unwrap();
        assert!(doubt.contains("--memory 2 GiB is more than this machine has (1 GiB)"), "{doubt}");
        assert_eq!(super::doubt(1 << 20), None);
        assert!(super::doubt(u64::MAX).is_some());
    }
}
