//! Names of files, and the paths that they make.

/// Whether a file can be called `name`, which has at most `bytes_max`.
pub(crate) fn is_name(name: &str, bytes_max: usize) -> bool {
    !matches!(name, "" | "." | "..") && name.len() <= bytes_max && !name.contains(['/', '\0'])
}

/// Whether `path` leads nowhere but to an object of its tree; the empty path is the top.
pub(super) fn is_path(path: &str) -> bool {
    path.is_empty() || path.split('/').all(|part| is_name(part, usize::MAX))
}

/// The path of `name` in the directory `parent`.
pub(crate) fn child_path(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") }
}

/// The directory that `path` is in. That of the top is the top.
pub(crate) fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_of_its_tree() {
        for path in ["", "a", "a/b", "..a/b.."] {
            assert!(is_path(path), "{path}");
        }
        for path in ["/", "/a", "a/", "a//b", "..", "a/../b", "a/.", "a/\0"] {
            assert!(!is_path(path), "{path}");
        }
    }

    #[test]
    fn the_top_is_above_itself() {
        assert_eq!([parent_of(""), parent_of("a"), parent_of("a/b/c")], ["", "", "a/b"]);
        assert_eq!([child_path("", "a"), child_path("d/e", "a")], ["a", "d/e/a"]);
    }
}
