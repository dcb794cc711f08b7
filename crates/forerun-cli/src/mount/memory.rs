//! The memory that a mount may take, and whether there is as much.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

use crate::units::show_size;

/// Memory that the process needs besides `--memory`: for itself, and when it is busy. A busy process
/// needs an eighth of `--memory` in addition (README, "What you can rely on").
const PROCESS_BYTES: u64 = (15 + 26) << 20;

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
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let groups = of_groups(Path::new("/sys/fs/cgroup"), &groups);
    groups
        .into_iter()
        .chain(own)
        .fold(machine, |least, other| if other.bytes < least.bytes { other } else { least })
}

/// The limits of the control groups that `groups` (`/proc/self/cgroup`) names, and of those above.
/// `root` has the hierarchy of version 2, or that of version 1 for memory in its folder `memory`.
fn of_groups(root: &Path, groups: &str) -> Vec<Limit> {
    let mut limits = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let (root, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        // In a container the group's path may be that of the host, and only the top is visible.
        let inside = root.join(group.trim_start_matches('/'));
        let folders = inside.ancestors().take_while(|folder| folder.starts_with(&root));
        limits.extend(folders.filter_map(|folder| of_file(folder.join(file))));
    }
    limits
}

fn of_file(file: PathBuf) -> Option<Limit> {
    let bytes = fs::read_to_string(&file).ok()?.trim().parse().ok()?;
    Some(Limit { bytes, name: format!("the control group allows ({})", file.display()) })
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
            "--memory {wanted} is more than {} ({all}): once the mount uses that much, the system swaps or ends \
             it; give a smaller --memory",
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

    #[test]
    fn limits_of_both_versions_of_control_groups_count_on_every_level() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("a/b/memory.max", "max\n");
        write("a/memory.max", "1000\n");
        write("memory/c/memory.limit_in_bytes", "500\n");
        let bytes =
            |groups| of_groups(root.path(), groups).iter().map(|limit| limit.bytes).collect::<Vec<_>>();
        assert_eq!(bytes("0::/a/b\n"), [1000]);
        assert_eq!(bytes("5:cpu,cpuacct:/x\n4:memory:/c/d\n"), [500]);
        assert!(bytes("nonsense").is_empty());
    }
}
