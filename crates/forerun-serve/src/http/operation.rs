//! The operations that requests are counted by.

use hyper::Method;

use super::plain;

/// The names of the operations. A GET that names a directory, a bucket or nothing is a `list`.
pub const OPERATIONS: &[&str] = &["get", "head", "list", "other"];

/// The place in [`OPERATIONS`] of the operation of `method` at `path`.
pub(super) fn operation(method: &Method, path: &str) -> usize {
    match *method {
        Method::GET if is_list(path) => 2,
        Method::GET => 0,
        Method::HEAD => 1,
        _ => 3,
    }
}

fn is_list(path: &str) -> bool {
    match plain::target_of(path) {
        Some(_) => path.ends_with('/') || path == "/-",
        None => path.trim_matches('/').split('/').count() == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_get_of_no_object_is_a_list() {
        let named = |method: Method, path: &str| OPERATIONS[operation(&method, path)];
        for target in ["/", "/bucket", "/bucket/", "/-/", "/-/bucket/a/"] {
            assert_eq!(named(Method::GET, target), "list", "{target}");
        }
        for target in ["/bucket/key", "/bucket/a/b", "/-/bucket/a"] {
            assert_eq!(named(Method::GET, target), "get", "{target}");
            assert_eq!(named(Method::HEAD, target), "head", "{target}");
        }
        assert_eq!(named(Method::POST, "/bucket/key"), "other");
    }
}
