//! Keys that cannot be paths, taken out of listings.

use std::borrow::Cow;

use crate::path;

/// The elements of listings that hold one key each, and the element it is in:
/// of S3 and Google Cloud Storage, and of Azure.
const HOLDERS: [(&str, &str); 4] =
    [("Contents", "Key"), ("CommonPrefixes", "Prefix"), ("Blob", "Name"), ("BlobPrefix", "Name")];

/// The listing `xml` without the keys that have an empty, `.` or `..` component
/// or a control character. The client refuses a whole listing for one of them.
pub(super) fn without_unnameable(xml: &str) -> Cow<'_, str> {
    let mut kept = Cow::Borrowed(xml);
    for (holder, name) in HOLDERS {
        if let Some(fewer) = without(&kept, holder, name) {
            kept = Cow::Owned(fewer);
        }
    }
    kept
}

/// `None` where nothing is to be taken out.
fn without(xml: &str, holder: &str, name: &str) -> Option<String> {
    let (open, close) = (format!("<{holder}>"), format!("</{holder}>"));
    let mut kept = String::new();
    let mut rest = xml;
    let mut removed = false;
    while let Some((start, end)) = rest.find(&open).and_then(|start| {
        let len = rest[start..].find(&close)?;
        Some((start, start + len + close.len()))
    }) {
        kept.push_str(&rest[..start]);
        let element = &rest[start..end];
        match key(element, name).filter(|key| !is_path(key)) {
            Some(key) => {
                tracing::warn!(key, "skipped: the key cannot be a file name");
                removed = true;
            }
            None => kept.push_str(element),
        }
        rest = &rest[end..];
    }
    kept.push_str(rest);
    removed.then_some(kept)
}

fn key(element: &str, name: &str) -> Option<String> {
    let (_, rest) = element.split_once(&format!("<{name}>"))?;
    let (key, _) = rest.split_once("</")?;
    Some(crate::http::unescape(key))
}

fn is_path(key: &str) -> bool {
    let key = key.strip_suffix('/').unwrap_or(key);
    key.split('/').all(path::is_name) && !key.contains(|c: char| c.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_be_a_path_is_taken_out() {
        let xml = "<R><Prefix>a/</Prefix><Contents><Key>a/b</Key><Size>1</Size></Contents>\
            <Contents><Key>a//b</Key></Contents><Contents><Key>a/.</Key></Contents><Contents><Key>a/</Key></Contents>\
            <Contents><Key>a/x&#10;y</Key></Contents><Contents><Key>a/&amp;...</Key></Contents>\
            <CommonPrefixes><Prefix>a//</Prefix></CommonPrefixes><CommonPrefixes><Prefix>a/c/</Prefix></CommonPrefixes></R>";
        let kept = "<R><Prefix>a/</Prefix><Contents><Key>a/b</Key><Size>1</Size></Contents>\
            <Contents><Key>a/</Key></Contents><Contents><Key>a/&amp;...</Key></Contents>\
            <CommonPrefixes><Prefix>a/c/</Prefix></CommonPrefixes></R>";
        assert_eq!(without_unnameable(xml), kept);
        assert!(matches!(without_unnameable(kept), Cow::Borrowed(_)));
        let azure = "<Blobs><Blob><Name>../x</Name></Blob><BlobPrefix><Name>y/</Name></BlobPrefix></Blobs>";
        assert_eq!(without_unnameable(azure), "<Blobs><BlobPrefix><Name>y/</Name></BlobPrefix></Blobs>");
    }
}
