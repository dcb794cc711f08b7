//! The names of backing files.
//!
//! The image names its backing file, and whoever made the image may mean harm. A name is only a path below
//! the directory that the user allows. It is no URL, no absolute path, and leads nowhere above.

/// The path of the backing file `name` of an image in the directory `folder` of the allowed tree.
///
/// # Errors
/// The reason why it is not opened.
pub(super) fn resolve(folder: &str, name: &str) -> Result<String, &'static str> {
    if name.starts_with('/') {
        return Err("it is an absolute path");
    }
    // QEMU takes what comes before a colon for a protocol, as in `json:` and `nbd:`.
    if name.split('/').next().is_some_and(|first| first.contains(':')) {
        return Err("it is a URL, or options of QEMU");
    }
    let name = name.strip_prefix("./").unwrap_or(name);
    if name.split('/').any(|part| matches!(part, "" | "." | "..")) || name.contains(['\0', '\\', '%']) {
        return Err("it leads out of the directory, or is no plain path");
    }
    Ok(if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") })
}

/// The directory of the file `path`.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_path_below_the_directory_of_its_image() {
        assert_eq!(resolve("", "base.qcow2").as_deref(), Ok("base.qcow2"));
        assert_eq!(resolve("", "./a/b c").as_deref(), Ok("a/b c"));
        assert_eq!(resolve(folder_of("a/b/top"), "base").as_deref(), Ok("a/b/base"));
        assert_eq!(resolve(folder_of("top"), "a:b/c:d").ok(), None);
        assert_eq!(resolve("", "a/b:c").as_deref(), Ok("a/b:c"));
    }

    #[test]
    fn names_that_could_mean_another_place_are_refused() {
        for name in [
            "",
            ".",
            "..",
            "/etc/passwd",
            "../secret",
            "a/../../secret",
            "a/..",
            "a//b",
            "a/./b",
            "././a",
            "a/",
            "json:{\"driver\":\"file\",\"filename\":\"/etc/passwd\"}",
            "nbd://host/name",
            "nbd:unix:/run/socket",
            "file:base",
            "fat:rw:/",
            "http://host/base",
            "%2e%2e/secret",
            "..\\secret",
            "a\0b",
        ] {
            assert!(resolve("", name).is_err(), "{name:?}");
            assert!(resolve("folder", name).is_err(), "{name:?}");
        }
    }
}
