//! The names that S3 allows.

use crate::Buckets;

/// # Errors
/// If S3 allows no bucket of one of the names.
pub(in crate::http) fn check_names(buckets: &Buckets) -> Result<(), String> {
    match buckets.iter().find(|bucket| !is_bucket_name(&bucket.name)) {
        None => Ok(()),
        Some(bucket) => Err(format!(
            "no bucket can be called {:?}: give 3 to 63 small letters, digits, `-` and `.`, as in NAME=URL",
            bucket.name
        )),
    }
}

fn is_bucket_name(name: &str) -> bool {
    let is_inner =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let is_end =
        |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    (3..=63).contains(&name.len())
        && name.bytes().all(is_inner)
        && is_end(name.bytes().next())
        && is_end(name.bytes().last())
        && !name.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_s3() {
        for name in ["abc", "a-b", "a.b", "0a9"] {
            assert!(is_bucket_name(name), "{name}");
        }
        for name in ["", "ab", "-abc", "abc-", "a..b", "Abc", "a_b", "a/b", &"a".repeat(64)] {
            assert!(!is_bucket_name(name), "{name}");
        }
    }
}
