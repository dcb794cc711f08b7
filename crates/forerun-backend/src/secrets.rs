//! URLs without their secrets, and files that keep secrets.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// `url` for messages and reports: without user and password, and without the query, which may be a
/// signature. Keys of object stores lose only a signature. Paths of files stay as they are.
pub fn without_secrets(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let is = |known: &[&str]| known.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    if is(&["file"]) {
        return url.to_owned();
    }
    let is_store = is(&["s3", "s3a", "gs", "az", "azure", "abfs", "abfss"]);
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = match authority.rsplit_once('@') {
        // In a store's URL a name without a password is a container.
        Some((user, host)) if !is_store || user.contains(':') => host,
        _ => authority,
    };
    let path = match path.split_once('?') {
        Some((path, query)) if !is_store || is_signed(query) => path,
        _ => path,
    };
    let path = if is_store { path } else { path.split('#').next().unwrap_or_default() };
    format!("{scheme}://{host}{path}")
}

/// Whether `query` contains a store's signature.
fn is_signed(query: &str) -> bool {
    let query = query.to_ascii_lowercase();
    ["sig=", "signature=", "token="].iter().any(|name| query.contains(name))
}

/// Warns if other users can read the secrets in `file`. That is no error: secrets are often mounted
/// so in containers, which have no other users.
pub fn warn_if_others_read(file: &Path) {
    if fs::metadata(file).is_ok_and(|found| found.mode() & 0o004 != 0) {
        tracing::warn!(
            target: "forerun::store",
            "other users can read the secrets in {0}: run `chmod go-r {0}`", file.display()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_passwords_and_signatures_are_not_shown() {
        for (url, shown) in [
            ("http://user:secret@host:80/a/b", "http://host:80/a/b"),
            ("https://user:p@ss@host", "https://host"),
            ("http://host/a?X-Amz-Signature=secret#x", "http://host/a"),
            ("http://user:secret@host:bad/a", "http://host:bad/a"),
            ("ftp://user:secret@host/", "ftp://host/"),
            ("http://host?secret", "http://host"),
            ("s3://bucket/a?b#c", "s3://bucket/a?b#c"),
            ("s3://bucket/a?X-Amz-Signature=secret", "s3://bucket/a"),
            ("az://container/a?sv=1&sig=secret", "az://container/a"),
            ("s3a://id:secret@bucket/a", "s3a://bucket/a"),
            ("--endpoint=http://id:secret@host", "--endpoint=http://host"),
            ("file:///a?b@c:d", "file:///a?b@c:d"),
            (
                "abfss://container@account.dfs.core.windows.net/k",
                "abfss://container@account.dfs.core.windows.net/k",
            ),
            ("./a?b@c", "./a?b@c"),
            ("/a/b", "/a/b"),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
    }
}
