//! The operations that requests are counted by.

use hyper::{Method, Request};

use super::plain;

/// The names of the operations. A GET that names a directory, a bucket or nothing is a `list`.
pub const OPERATIONS: &[&str] = &["get", "head", "list", "other"];

/// The place of the operation of `request` in [`OPERATIONS`].
pub(super) fn operation<B>(request: &Request<B>) -> usize {
    match *request.method() {
        Method::GET if is_list(request.uri().path()) => 2,
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
        let named = |method: Method, target: &str| {
            let request = Request::builder().method(method).uri(target).body(()).unwrap();
            OPERATIONS[operation(&request)]
        };
        for target in ["/", "/bucket", "/bucket/", "/bucket?list-type=2", "/-/", "/-/bucket/a/"] {
            assert_eq!(named(Method::GET, target), "list", "{target}");
        }
        for target in ["/bucket/key", "/bucket/a/b", "/-/bucket/a"] {
            assert_eq!(named(Method::GET, target), "get", "{target}");
            assert_eq!(named(Method::HEAD, target), "head", "{target}");
        }
        assert_eq!(named(Method::POST, "/bucket/key"), "other");
    }
}
