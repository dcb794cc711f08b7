//! The control groups of this process, of version 1 or 2, that limit its memory.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::event::{EventfdFlags, eventfd};

/// A control group with a memory controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    folder: PathBuf,
    is_second: bool,
}

impl Group {
    /// Those that `groups` (`/proc/self/cgroup`) names, and all above. `root` has the hierarchy of version 2, or that
    /// of version 1 for memory in its folder `memory`.
    pub(super) fn all(root: &Path, groups: &str) -> Vec<Group> {
        let mut found = Vec::new();
        for line in groups.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            let (root, is_second) = match controllers {
                "" => (root.to_owned(), true),
                _ if controllers.split(',').any(|name| name == "memory") => (root.join("memory"), false),
                _ => continue,
            };
            // In a container the group's path may be that of the host, and only the top is visible.
            let inside = root.join(path.trim_start_matches('/'));
            let folders = inside.ancestors().take_while(|folder| folder.starts_with(&root));
            found.extend(folders.map(|folder| Group { folder: folder.to_owned(), is_second }));
        }
        found
    }

    /// Those of this process.
    pub(super) fn own() -> Vec<Group> {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Group::all(Path::new("/sys/fs/cgroup"), &groups)
    }

    /// Its least limit in bytes, if it has one, and the file that has it.
    pub(super) fn limit(&self) -> Option<(u64, PathBuf)> {
        // Beyond `memory.high` the kernel makes programs sleep for up to two seconds where they take memory.
        let names: &[_] =
            if self.is_second { &["memory.max", "memory.high"] } else { &["memory.limit_in_bytes"] };
        let files = names.iter().map(|name| self.folder.join(name));
        files.filter_map(|file| Some((number(&file)?, file))).min()
    }

    /// The bytes that its programs may take besides: those that nobody uses, and the caches of files and of their
    /// names, which go first.
    pub(super) fn left(&self) -> Option<u64> {
        let (usage, cached): (_, &[_]) = match self.is_second {
            true => ("memory.current", &["inactive_file ", "active_file ", "slab_reclaimable "]),
            false => ("memory.usage_in_bytes", &["total_inactive_file ", "total_active_file "]),
        };
        let used = number(&self.folder.join(usage))?;
        let statistics = fs::read_to_string(self.folder.join("memory.stat")).unwrap_or_default();
        let count = |line: &str| {
            let bytes = cached.iter().find_map(|name| line.strip_prefix(name));
            bytes.and_then(|bytes| bytes.trim().parse::<u64>().ok())
        };
        let cached: u64 = statistics.lines().filter_map(count).sum();
        let (limit, _) = self.limit()?;
        Some(limit.saturating_sub(used.saturating_sub(cached)))
    }

    /// Where the kernel tells how long programs waited for memory, if this is of version 2 and visible.
    pub(super) fn pressure_file(&self) -> Option<PathBuf> {
        let file = self.is_second.then(|| self.folder.join("memory.pressure"))?;
        file.exists().then_some(file)
    }

    /// A descriptor that is readable once the kernel looks for memory because of this group's limit. Groups of version
    /// 2 have none.
    ///
    /// # Errors
    /// If the kernel or the rights of this process do not allow that.
    pub(super) fn pressure_event(&self) -> io::Result<Option<OwnedFd>> {
        if self.is_second {
            return Ok(None);
        }
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let level = fs::File::open(self.folder.join("memory.pressure_level"))?;
        let (event_fd, level_fd) = (event.as_fd().as_raw_fd(), level.as_fd().as_raw_fd());
        fs::write(self.folder.join("cgroup.event_control"), format!("{event_fd} {level_fd} medium,local"))?;
        Ok(Some(event))
    }
}

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_control_groups_count_on_every_level() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("a/b/memory.max", "max\n");
        write("a/b/memory.high", "max\n");
        write("a/memory.max", "1000\n");
        write("a/memory.high", "max\n");
        write("a/memory.current", "700\n");
        write("a/memory.stat", "anon 500\ninactive_file 70\nactive_file 20\nslab_reclaimable 10\n");
        write("memory/c/memory.limit_in_bytes", "500\n");
        write("memory/c/memory.usage_in_bytes", "450\n");
        write("memory/c/memory.stat", "inactive_file 7\ntotal_inactive_file 40\ntotal_active_file 10\n");
        let all = |groups: &str| Group::all(root.path(), groups);
        let limits =
            |groups| all(groups).iter().filter_map(Group::limit).map(|(bytes, _)| bytes).collect::<Vec<_>>();
        let left = |groups| all(groups).iter().filter_map(Group::left).collect::<Vec<_>>();
        assert_eq!((limits("0::/a/b\n"), left("0::/a/b\n")), (vec![1000], vec![400]));
        write("a/memory.high", "800\n");
        assert_eq!((limits("0::/a/b\n"), left("0::/a/b\n")), (vec![800], vec![200]));
        let first = "5:cpu,cpuacct:/x\n4:memory:/c/d\n";
        assert_eq!((limits(first), left(first)), (vec![500], vec![100]));
        assert!(all("nonsense").is_empty());
    }

    #[test]
    fn a_pressure_file_is_one_that_is_visible() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("memory.pressure");
        fs::write(&file, "").unwrap();
        let found = |groups: &str| Group::all(root.path(), groups).iter().find_map(Group::pressure_file);
        assert_eq!(found("0::/of/the/host\n"), Some(file));
        assert_eq!(found("4:memory:/of/the/host\n"), None);
    }
}
