//! The source that `mount` and `df` show.

/// `url` as the name of a file system. Commas, which separate mount options, and characters that
/// would break a line of `/proc/mounts` are percent-encoded.
pub(super) fn mount_source(url: &str) -> String {
    let mut source = String::new();
    for c in url.chars() {
        if c == ',' || c == '\\' || c.is_control() {
            let mut bytes = [0; 4];
            source.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        } else {
            source.push(c);
        }
    }
    source
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_cannot_add_mount_options() {
        assert_eq!(mount_source("s3://bucket/a b"), "s3://bucket/a b");
        assert_eq!(mount_source("file:///a,suid\\\n"), "file:///a%2Csuid%5C%0A");
    }
}
