//! A directory as one open handle sees it.

use std::sync::Arc;

use forerun::Entry;
use parking_lot::Mutex;

use crate::served::{is_name, parent_of};

/// The longest name that the kernel takes in a listing, in bytes. A longer name would make the
/// whole listing fail.
const NAME_BYTES_MAX: usize = 1024;

/// An open directory. It keeps the list of its first read until it is rewound, so that offsets stay
/// valid.
#[derive(Debug)]
pub(crate) struct OpenDirectory {
    directory: Arc<Entry>,
    list: Mutex<Option<Arc<[Entry]>>>,
}

/// One line of a listing.
pub(crate) struct Line<'a> {
    /// The offset of the next line.
    pub(crate) next_offset: u64,
    pub(crate) name: &'a str,
    pub(crate) entry: &'a Entry,
    /// Whether it is `.` or `..`, which do not count as looked up.
    pub(crate) is_dot: bool,
}

impl OpenDirectory {
    pub(crate) fn new(directory: Arc<Entry>) -> OpenDirectory {
        OpenDirectory { directory, list: Mutex::new(None) }
    }

    /// The path of the directory.
    pub(crate) fn path(&self) -> &str {
        &self.directory.path
    }

    /// The list that offsets refer to, once there is one.
    pub(crate) fn list(&self) -> Option<Arc<[Entry]>> {
        self.list.lock().clone()
    }

    /// Sets the list that offsets refer to.
    pub(crate) fn set_list(&self, list: Arc<[Entry]>) {
        *self.list.lock() = Some(list);
    }

    /// Gives `add` the lines of `list` from `offset` on, until `add` returns false.
    pub(crate) fn fill(&self, list: &[Entry], offset: u64, mut add: impl FnMut(Line<'_>) -> bool) {
        // Only its inode matters.
        let parent = Entry::directory(parent_of(&self.directory.path));
        let dots = [(".", &*self.directory), ("..", &parent)].into_iter().map(|(n, e)| (n, e, true));
        let entries = list.iter().map(|entry| (entry.name(), entry, false));
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, (name, entry, is_dot)) in dots.chain(entries).enumerate().skip(skip) {
            if !is_dot && !is_name(name, NAME_BYTES_MAX) {
                tracing::debug!(
                    target: "forerun::mount",
                    "`{}` is left out of the listing: no file can have this name", entry.path
                );
                continue;
            }
            if !add(Line { next_offset: index as u64 + 1, name, entry, is_dot }) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use forerun::Version;

    use super::*;

    fn entry(path: &str) -> Entry {
        Entry::file(path, 0, Version("1".into()))
    }

    fn lines(directory: &str, list: &[Entry], offset: u64, room: usize) -> Vec<(u64, String, String)> {
        let mut lines = Vec::new();
        OpenDirectory::new(Arc::new(Entry::directory(directory))).fill(list, offset, |line| {
            if lines.len() < room {
                lines.push((line.next_offset, line.name.to_owned(), line.entry.path.clone()));
                return true;
            }
            false
        });
        lines
    }

    fn line(next_offset: u64, name: &str, path: &str) -> (u64, String, String) {
        (next_offset, name.to_owned(), path.to_owned())
    }

    #[test]
    fn a_listing_goes_on_where_it_had_no_more_room() {
        let list = [entry("d/e/a"), entry("d/e/b")];
        assert_eq!(
            lines("d/e", &list, 0, 3),
            [line(1, ".", "d/e"), line(2, "..", "d"), line(3, "a", "d/e/a")]
        );
        assert_eq!(lines("d/e", &list, 3, 3), [line(4, "b", "d/e/b")]);
        assert_eq!(lines("d/e", &list, 4, 3), []);
    }

    #[test]
    fn a_name_that_no_file_can_have_does_not_spoil_the_others() {
        let long = format!("d/{}", "x".repeat(NAME_BYTES_MAX + 1));
        let list = [entry("d/"), entry(&long), entry("d/.."), entry("d/b")];
        assert_eq!(lines("d", &list, 2, 9), [line(6, "b", "d/b")]);
    }

    #[test]
    fn the_root_is_above_itself() {
        assert_eq!(lines("", &[], 1, 9), [line(2, "..", "")]);
    }
}
