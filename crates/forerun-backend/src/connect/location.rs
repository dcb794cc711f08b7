//! The kind of storage that a URL names.

use std::path::PathBuf;

use url::Url;

use super::store::{Provider, StoreUrl};
use crate::{Error, ErrorKind, Result};

#[derive(Debug, PartialEq)]
pub(super) enum Location {
    File(PathBuf),
    Http(Url),
    Store(StoreUrl),
    #[cfg(feature = "rbd")]
    Rbd(crate::rbd::RbdUrl),
}

/// Parses a URL, or a plain path if there is no `scheme://`.
pub(super) fn parse(text: &str) -> Result<Location> {
    let shown = crate::without_secrets(text);
    let invalid = |why: &str| Error::new(ErrorKind::Invalid, format!("cannot read {shown:?}: {why}"));
    if text.is_empty() {
        return Err(invalid("it is empty; give a path or a URL"));
    }
    if !text.contains("://") && !text.starts_with("file:") {
        return Ok(Location::File(text.into()));
    }
    if let Some(store) = store(text) {
        return Ok(Location::Store(store?));
    }
    #[cfg(feature = "rbd")]
    if let Some(image) = crate::rbd::RbdUrl::parse(text) {
        return Ok(Location::Rbd(image?));
    }
    let url = Url::parse(text).map_err(|error| invalid(&format!("{error}; a URL is scheme://host/path")))?;
    match url.scheme() {
        "file" => match url.to_file_path() {
            Ok(path) => Ok(Location::File(path)),
            Err(()) => Err(invalid("a file URL has three slashes: file:///path")),
        },
        "http" | "https" => Ok(Location::Http(url)),
        // Parsed above with that feature.
        "rbd" => Err(invalid("this program was built without Ceph; build it with `--features rbd`")),
        scheme => Err(invalid(&format!(
            "{scheme}:// is not known; use a path, file://, http://, https://, s3://, gs://, az:// or rbd://"
        ))),
    }
}

/// Keys are taken verbatim, as the stores' own tools do: `%20`, `?` and `#` are ordinary
/// characters.
fn store(text: &str) -> Option<Result<StoreUrl>> {
    let (scheme, rest) = text.split_once("://")?;
    let provider = match scheme.to_ascii_lowercase().as_str() {
        "s3" | "s3a" => Provider::S3,
        "gs" => Provider::Gcs,
        "az" | "azure" | "abfs" | "abfss" => Provider::Azure,
        _ => return None,
    };
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    let shown = crate::without_secrets(text);
    let problem = if shown != text {
        "it has a password or a signature, which is not used: credentials come from the environment and files"
    } else if bucket.is_empty() {
        "the bucket is missing"
    } else {
        return Some(Ok(StoreUrl { provider, text: shown, bucket: bucket.to_owned(), key: key.to_owned() }));
    };
    let message = format!("cannot read {shown:?}: {problem}; the URL is {scheme}://bucket/key");
    Some(Err(Error::new(ErrorKind::Invalid, message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_verbatim() {
        for (text, provider, bucket, key) in [
            ("s3://b", Provider::S3, "b", ""),
            ("S3://b/", Provider::S3, "b", ""),
            ("s3a://b/a b/%20?x#y", Provider::S3, "b", "a b/%20?x#y"),
            ("gs://b/dir/", Provider::Gcs, "b", "dir/"),
            ("az://c/k", Provider::Azure, "c", "k"),
            (
                "abfss://c@account.dfs.core.windows.net/k",
                Provider::Azure,
                "c@account.dfs.core.windows.net",
                "k",
            ),
        ] {
            let (text, bucket, key) = (text.to_owned(), bucket.to_owned(), key.to_owned());
            let expected = StoreUrl { provider, text: text.clone(), bucket, key };
            assert_eq!(parse(&text).unwrap(), Location::Store(expected));
        }
        assert_eq!(parse("s3:///key").unwrap_err().kind, ErrorKind::Invalid);
        for text in ["s3://id:secret@bucket/key", "az://container/key?sv=1&sig=secret"] {
            let error = parse(text).unwrap_err();
            assert!(error.message.contains("a password or a signature"), "{error}");
            assert!(!error.message.contains("secret"), "{error}");
        }
    }
}
