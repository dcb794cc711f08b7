//! The version of an object, as a store describes it.

use object_store::ObjectMeta;

use crate::{Entry, Result, Version};

pub(super) fn file(path: &str, meta: &ObjectMeta) -> Result<Entry> {
    let file = Entry::described(path, meta.size, version_of(meta))?;
    Ok(Entry { modified: Some(meta.last_modified.into()), ..file })
}

pub(super) fn version_of(meta: &ObjectMeta) -> Version {
    let text = match (&meta.e_tag, &meta.version) {
        (Some(etag), _) if etag.ends_with('"') => format!("etag {etag}"),
        // Azure's lists leave out the quotes of its other answers.
        (Some(etag), _) => format!("etag \"{etag}\""),
        (None, Some(generation)) => format!("generation {generation}"),
        (None, None) => dated(meta),
    };
    Version(text.into())
}

/// Listings have milliseconds, other answers have seconds.
fn dated(meta: &ObjectMeta) -> String {
    format!("modified {} {}", meta.last_modified.timestamp(), meta.size)
}

/// Whether `meta` is of `version`. Some stores list without the ETags of their other answers, so
/// the comparison uses the fields that made the version.
pub(super) fn describes(version: &Version, meta: &ObjectMeta) -> bool {
    *version == version_of(meta) || *version.0 == *dated(meta)
}

#[cfg(test)]
mod tests {
    use object_store::path::Path;

    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_size_that_no_file_can_have_is_refused() {
        let mut meta = ObjectMeta {
            location: Path::from("a"),
            last_modified: std::time::SystemTime::UNIX_EPOCH.into(),
            size: i64::MAX as u64,
            e_tag: None,
            version: None,
        };
        assert_eq!(file("a", &meta).unwrap().size, meta.size);
        meta.size += 1;
        let error = file("a", &meta).unwrap_err();
        assert!(
            error.kind == ErrorKind::Permanent && error.message.contains("9223372036854775808"),
            "{error}"
        );
    }

    #[test]
    fn an_etag_is_one_version_with_and_without_its_quotes() {
        let meta = |etag: &str| ObjectMeta {
            location: Path::from("a"),
            last_modified: std::time::SystemTime::UNIX_EPOCH.into(),
            size: 1,
            e_tag: Some(etag.to_owned()),
            version: None,
        };
        assert_eq!(version_of(&meta("0x8D")), version_of(&meta("\"0x8D\"")));
        assert_eq!(*version_of(&meta("W/\"0x8D\"")).0, *"etag W/\"0x8D\"");
    }
}
