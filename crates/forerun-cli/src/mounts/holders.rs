//! The processes that keep a mount from being unmounted.

use std::fs;
use std::path::{Path, PathBuf};

/// Each process, with its name, that has something below `directory` open, mapped, or as its own
/// directory. Other users' processes show only to root.
pub(super) fn holders(directory: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut holders: Vec<u32> = numbers.filter(|process| holds(*process, directory)).collect();
    holders.sort_unstable();
    holders.into_iter().map(named).collect()
}

fn holds(process: u32, directory: &Path) -> bool {
    let folder = PathBuf::from(format!("/proc/{process}"));
    let own = ["cwd", "root", "exe"].map(|name| folder.join(name));
    let open = fs::read_dir(folder.join("fd")).into_iter().flatten().filter_map(Result::ok);
    let mut links = own.into_iter().chain(open.map(|entry| entry.path()));
    // The text of a link asks nothing of the mount.
    let is_below = |link: PathBuf| fs::read_link(link).is_ok_and(|path| path.starts_with(directory));
    links.any(is_below) || {
        let maps = fs::read_to_string(folder.join("maps")).unwrap_or_default();
        maps.lines()
            .filter_map(|line| line.find('/').map(|at| &line[at..]))
            .any(|path| Path::new(path).starts_with(directory))
    }
}

/// The name and the number of `process`.
pub(super) fn named(process: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    format!("{} (process {process})", name.trim_end())
}
