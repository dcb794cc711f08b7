//! Listings without the entries that a file system cannot show.
//!
//! The client of object stores refuses a whole page of a listing for one bad entry. Bad are a key that
//! cannot be a path, and a malformed size or date. This module removes such entries, so that the others
//! can be read. Takes time in proportion to any page's length.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;

use crate::path;

/// The elements of listings that hold one entry each: of S3 and Google Cloud Storage, and of Azure.
const HOLDERS: [&str; 4] = ["Contents", "CommonPrefixes", "Blob", "BlobPrefix"];
/// Deeper elements do not occur in listings.
const DEPTH_MAX: usize = 16;

/// The key of an entry, and whether the client accepts its other values.
#[derive(Debug, Default)]
struct ListedEntry {
    key: Option<String>,
    is_sound: bool,
}

/// The listing `xml` without its document type and without entries that cannot be shown, and
/// whether it had such entries. Malformed XML stays as it is: the client reports it.
pub(super) fn showable(xml: &str) -> (Vec<u8>, bool) {
    let (kept, has_left_out) = showable_until_error(xml).unwrap_or_else(|| (xml.to_owned(), false));
    (kept.into_bytes(), has_left_out)
}

fn showable_until_error(xml: &str) -> Option<(String, bool)> {
    let mut reader = Reader::from_str(xml);
    let mut kept = String::with_capacity(xml.len());
    // The end of the part that was copied or left out.
    let mut done = 0;
    let mut depth = 0;
    let mut has_left_out = false;
    loop {
        let before = reader.buffer_position() as usize;
        let event = reader.read_event().ok()?;
        match event {
            Event::Eof => break,
            Event::Start(start) if HOLDERS.map(str::as_bytes).contains(&start.local_name().as_ref()) => {
                let found = entry(&mut reader)?;
                if !found.is_showable() {
                    has_left_out = true;
                    kept.push_str(&xml[done..before]);
                    done = reader.buffer_position() as usize;
                    let key = found.key.unwrap_or_default();
                    tracing::warn!(
                        target: "forerun::store",
                        key, "skipped: the listed entry cannot be shown as a file"
                    );
                }
            }
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            // It may define entities that expand beyond all memory.
            Event::DocType(_) => {
                kept.push_str(&xml[done..before]);
                done = reader.buffer_position() as usize;
            }
            _ => {}
        }
        if depth > DEPTH_MAX {
            return None;
        }
    }
    kept.push_str(&xml[done..]);
    Some((kept, has_left_out))
}

/// Reads to the end of an entry that has begun.
fn entry(reader: &mut Reader<&[u8]>) -> Option<ListedEntry> {
    let mut found = ListedEntry { key: None, is_sound: true };
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut text = String::new();
    loop {
        match reader.read_event().ok()? {
            Event::Eof => return None,
            Event::Start(start) => {
                names.push(start.local_name().as_ref().to_owned());
                text.clear();
            }
            Event::Text(part) => text.push_str(&part.decode().ok()?),
            Event::CData(part) => text.push_str(&part.decode().ok()?),
            Event::GeneralRef(reference) => match reference.resolve_char_ref().ok().flatten() {
                Some(character) => text.push(character),
                None => match resolve_predefined_entity(&reference.decode().ok()?) {
                    Some(character) => text.push_str(character),
                    None => found.is_sound = false,
                },
            },
            Event::End(_) => {
                let Some(name) = names.pop() else { return Some(found) };
                found.record_value(&name, &text, names.len());
                text.clear();
            }
            _ => {}
        }
        if names.len() > DEPTH_MAX {
            return None;
        }
    }
}

impl ListedEntry {
    /// Records the `text` of the element `name`, at `depth` elements inside the entry.
    fn record_value(&mut self, name: &[u8], text: &str, depth: usize) {
        match (name, depth) {
            (b"Key" | b"Name" | b"Prefix", 0) => self.key = Some(text.to_owned()),
            (b"Size", 0) | (b"Content-Length", 1) => self.is_sound &= text.trim().parse::<u64>().is_ok(),
            (b"LastModified", 0) => {
                self.is_sound &= chrono::DateTime::parse_from_rfc3339(text.trim()).is_ok();
            }
            (b"Last-Modified", 1) => {
                self.is_sound &= chrono::DateTime::parse_from_rfc2822(text.trim()).is_ok();
            }
            _ => {}
        }
    }

    fn is_showable(&self) -> bool {
        self.is_sound && self.key.as_deref().is_some_and(is_path)
    }
}

/// Whether `key` has only components that a path can have, without control characters.
fn is_path(key: &str) -> bool {
    let key = key.strip_suffix('/').unwrap_or(key);
    key.split('/').all(path::is_name) && !key.contains(|c: char| c.is_ascii_control())
}

#[cfg(test)]
mod tests {
    fn showable(xml: &str) -> String {
        String::from_utf8(super::showable(xml).0).unwrap()
    }

    #[test]
    fn only_keys_that_cannot_be_paths_are_removed() {
        let xml = "<R><Prefix>a/</Prefix><Contents><Key>a/b</Key><Size>1</Size></Contents>\
            <Contents><Key>a//b</Key></Contents><Contents><Key>a/.</Key></Contents><Contents><Key>a/</Key></Contents>\
            <Contents><Key>a/x&#10;y</Key></Contents><Contents><Key>a/&amp;...</Key></Contents>\
            <CommonPrefixes><Prefix>a//</Prefix></CommonPrefixes><CommonPrefixes><Prefix>a/c/</Prefix></CommonPrefixes></R>";
        let kept = "<R><Prefix>a/</Prefix><Contents><Key>a/b</Key><Size>1</Size></Contents>\
            <Contents><Key>a/</Key></Contents><Contents><Key>a/&amp;...</Key></Contents>\
            <CommonPrefixes><Prefix>a/c/</Prefix></CommonPrefixes></R>";
        assert_eq!(showable(xml), kept);
        assert_eq!(showable(kept), kept);
        assert_eq!([xml, kept].map(|xml| super::showable(xml).1), [true, false]);
        let azure = "<Blobs><Blob><Name>../x</Name></Blob><BlobPrefix><Name>y/</Name></BlobPrefix></Blobs>";
        assert_eq!(showable(azure), "<Blobs><BlobPrefix><Name>y/</Name></BlobPrefix></Blobs>");
    }

    #[test]
    fn one_bad_entry_leaves_the_others() {
        let good = "<Contents><Key>good</Key><LastModified>2026-11-25T00:00:00.000Z</LastModified>\
            <Size>1</Size></Contents>";
        let long = "n".repeat(256);
        for bad in [
            "<Key>x</Key><Size>-1</Size>",
            "<Key>x</Key><Size>99999999999999999999</Size>",
            "<Key><![CDATA[..]]></Key><Size>1</Size>",
            "<Key>&bomb;</Key><Size>1</Size>",
            "<Key>x</Key><LastModified>yesterday</LastModified><Size>1</Size>",
            "<Size>1</Size>",
            &format!("<Key>{long}</Key><Size>1</Size>"),
        ] {
            let xml = format!("<R><Contents>{bad}</Contents>{good}</R>");
            assert_eq!(showable(&xml), format!("<R>{good}</R>"), "{bad}");
        }
        let azure = "<Blobs><Blob><Name>x</Name><Properties><Content-Length>-1</Content-Length></Properties>\
            </Blob></Blobs>";
        assert_eq!(showable(azure), "<Blobs></Blobs>");
    }

    #[test]
    fn entities_of_a_document_are_not_expanded() {
        let bomb = "<!DOCTYPE r [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>";
        let xml = format!("{bomb}<R><Contents><Key>&b;</Key></Contents><Name>x</Name></R>");
        assert_eq!(showable(&xml), "<R><Name>x</Name></R>");
    }

    #[test]
    fn hostile_pages_take_no_longer_than_others() {
        let size = 1 << 20;
        let many = |text: &str| text.repeat(size / text.len());
        for text in [many("&"), many("&amp;"), many("&#38;"), many("<Key>"), many("<Contents>"), many("]]>")]
        {
            showable(&format!("<R><Contents><Key>{text}</Key></Contents></R>"));
        }
        for page in [many("<Contents>"), many("<a>"), many("<!--"), many("<Contents><Key>x</Key></Contents>")]
        {
            showable(&page);
        }
    }
}
