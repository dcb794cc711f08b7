//! The version of an object, out of what a store says about it.

use forerun::{Entry, Version};
use object_store::ObjectMeta;

/// The prefix of the version of an object that has an ETag.
const ETAG: &str = "etag ";
/// The suffix of the version of an object that has neither ETag nor generation.
const AFTER_WRITES: &str = " after writes ";

/// The file that `meta` describes. `write_count` counts the writes through this store: two writes within
/// the resolution of a store's clock would otherwise have one version.
pub(crate) fn entry(meta: &ObjectMeta, write_count: u64) -> Entry {
    let identity = identity(meta);
    let version = match (&meta.e_tag, &meta.version) {
        (None, None) => format!("{identity}{AFTER_WRITES}{write_count}"),
        _ => identity,
    };
    let file = Entry::file(meta.location.as_ref(), meta.size, Version(version.into()));
    file.with_modified(std::time::SystemTime::from(meta.last_modified))
}

/// Whether `meta` is of `version`.
pub(crate) fn describes(version: &Version, meta: &ObjectMeta) -> bool {
    let rest = version.0.strip_prefix(identity(meta).as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(AFTER_WRITES))
}

/// The ETag for `If-Match`. A weak one matches nothing there (RFC 9110, 13.1.1).
pub(crate) fn strong_etag(version: &Version) -> Option<&str> {
    version.0.strip_prefix(ETAG).filter(|etag| !etag.starts_with("W/"))
}

fn identity(meta: &ObjectMeta) -> String {
    match (&meta.e_tag, &meta.version) {
        (Some(etag), _) => format!("{ETAG}{etag}"),
        (None, Some(generation)) => format!("generation {generation}"),
        (None, None) => format!("modified {} {}", meta.last_modified.to_rfc3339(), meta.size),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use object_store::path::Path;

    use super::*;

    fn meta(e_tag: Option<&str>, version: Option<&str>, size: u64) -> ObjectMeta {
        ObjectMeta {
            location: Path::from("a"),
            last_modified: SystemTime::UNIX_EPOCH.into(),
            size,
            e_tag: e_tag.map(str::to_owned),
            version: version.map(str::to_owned),
        }
    }

    #[test]
    fn a_version_describes_what_it_was_made_of_and_nothing_else() {
        let metas = [
            meta(Some("\"1\""), None, 1),
            meta(Some("\"12\""), None, 1),
            meta(Some("W/\"1\""), Some("7"), 1),
            meta(None, Some("7"), 1),
            meta(None, Some("77"), 1),
            meta(None, None, 1),
            meta(None, None, 11),
        ];
        for (index, one) in metas.iter().enumerate() {
            for (other_index, other) in metas.iter().enumerate() {
                assert_eq!(
                    describes(&entry(one, 3).version, other),
                    index == other_index,
                    "{one:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn a_write_is_a_new_version_where_only_a_time_tells() {
        let version = |e_tag, write_count| entry(&meta(e_tag, None, 1), write_count).version;
        assert_ne!(version(None, 1), version(None, 2));
        assert_eq!(version(Some("\"1\""), 1), version(Some("\"1\""), 2));
    }

    #[test]
    fn a_weak_etag_is_not_sent() {
        let version = |etag| entry(&meta(etag, None, 1), 0).version;
        assert_eq!(strong_etag(&version(Some("\"1\""))), Some("\"1\""));
        assert_eq!(strong_etag(&version(Some("W/\"1\""))), None);
        assert_eq!(strong_etag(&version(None)), None);
    }
}
