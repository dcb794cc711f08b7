//! Paths inside a backend: checking and splitting them.

use crate::{Error, ErrorKind, Result};

/// The longest name that Linux allows, in bytes.
const NAME_BYTES_MAX: usize = 255;

/// Whether `name` can be one component of a path.
pub(crate) fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && name.len() <= NAME_BYTES_MAX && !name.contains(['/', '\0'])
}

/// The components of `path`; none for the root.
///
/// # Errors
/// [`ErrorKind::Invalid`] for an empty, `.` or `..` component: such a path could leave the tree, or
/// names nothing.
pub(crate) fn components(path: &str) -> Result<Vec<&str>> {
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<&str> = path.split('/').collect();
    if names.iter().all(|name| is_name(name)) {
        return Ok(names);
    }
    Err(Error::new(
        ErrorKind::Invalid,
        format!(
            "{path:?} is not a path inside a backend: its components must not be empty, \".\", \"..\", \
             or longer than {NAME_BYTES_MAX} bytes"
        ),
    ))
}

/// The path of `name` in the directory `directory`.
pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_the_tree() {
        assert!(components("").unwrap().is_empty());
        assert_eq!(components("a/b c/...").unwrap(), ["a", "b c", "..."]);
        assert_eq!(components(&"n".repeat(NAME_BYTES_MAX)).unwrap().len(), 1);
        let long = "n".repeat(NAME_BYTES_MAX + 1);
        for path in ["/", "/a", "a/", "a//b", ".", "a/./b", "..", "a/../../etc", "a\0b", &long] {
            assert_eq!(components(path).unwrap_err().kind, ErrorKind::Invalid, "{path:?}");
        }
    }
}
