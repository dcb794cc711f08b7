//! URLs without what must not be seen.

/// `url` as messages and reports may show it: without user and password, and without the query,
/// which may be a signature. Keys of object stores and paths of files are shown as they are.
pub fn without_secrets(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let is_verbatim = ["file", "s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];
    if is_verbatim.iter().any(|verbatim| scheme.eq_ignore_ascii_case(verbatim)) {
        return url.to_owned();
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
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
