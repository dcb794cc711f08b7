//! The validators of an object's version, and the conditions of requests about it (RFC 9110, sections 8.8
//! and 13).

use std::time::{Duration, SystemTime};

use forerun::Entry;
use hyper::HeaderMap;
use hyper::header::{HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE};

/// The ETag and the date of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Validators {
    /// Quotes included, with `W/` before them if equal tags do not stand for equal bytes.
    pub(super) etag: String,
    /// In whole seconds, as HTTP has them.
    pub(super) modified: Option<SystemTime>,
}

/// The result of the conditions of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// To go on.
    Holds,
    /// 304: the client has this version.
    NotModified,
    /// 412: the client asks for another version.
    Failed,
}

impl Validators {
    pub(super) fn of(entry: &Entry) -> Validators {
        let whole_seconds = |time: SystemTime| {
            let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            Some(SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs()))
        };
        Validators { etag: etag(entry), modified: entry.modified.and_then(whole_seconds) }
    }

    /// The result of the conditions among `headers`. A condition that makes no sense is ignored.
    pub(super) fn verdict(&self, headers: &HeaderMap) -> Verdict {
        match text(headers, &IF_MATCH) {
            Some(tags) if !self.is_among(tags, is_equal) => return Verdict::Failed,
            Some(_) => {}
            None if self.is_newer_than(date(headers, &IF_UNMODIFIED_SINCE)) => return Verdict::Failed,
            None => {}
        }
        let is_known = match text(headers, &IF_NONE_MATCH) {
            Some(tags) => self.is_among(tags, is_alike),
            None => {
                let since = date(headers, &IF_MODIFIED_SINCE);
                since.is_some() && self.modified.is_some() && !self.is_newer_than(since)
            }
        };
        if is_known { Verdict::NotModified } else { Verdict::Holds }
    }

    /// Whether `Range` counts: there is no `If-Range`, or it names this version.
    pub(super) fn allows_range(&self, headers: &HeaderMap) -> bool {
        match text(headers, &IF_RANGE) {
            None => !headers.contains_key(IF_RANGE),
            Some(tag) if tag.ends_with('"') => is_equal(tag, &self.etag),
            Some(date) => httpdate::parse_http_date(date).is_ok_and(|date| self.modified == Some(date)),
        }
    }

    fn is_among(&self, tags: &str, is_same: fn(&str, &str) -> bool) -> bool {
        tags.trim() == "*" || tags.split(',').any(|tag| is_same(tag.trim(), &self.etag))
    }

    fn is_newer_than(&self, date: Option<SystemTime>) -> bool {
        date.zip(self.modified).is_some_and(|(date, modified)| modified > date)
    }
}

/// The ETag of the store, if it has one that stands for equal bytes. Else one of ours, which is never mistaken
/// for the MD5 of the bytes.
fn etag(entry: &Entry) -> String {
    if let Some(etag) = entry.version.etag() {
        return etag.to_owned();
    }
    let text = &*entry.version.0;
    let plain = |byte: u8| if byte.is_ascii_graphic() && byte != b'"' { byte as char } else { '_' };
    let tag: String = text.bytes().map(plain).collect();
    // A size, a date, or a tag that the store calls weak does not tell all versions apart.
    let is_weak =
        ["weak", "size", "modified", "etag"].iter().any(|kind| text.split(' ').any(|part| part == *kind));
    format!("{}\"forerun-{tag}\"", if is_weak { "W/" } else { "" })
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(text(headers, name)?).ok()
}

/// The strong comparison: equal bytes.
fn is_equal(one: &str, other: &str) -> bool {
    one == other && !one.starts_with("W/")
}

/// The weak comparison.
fn is_alike(one: &str, other: &str) -> bool {
    one.strip_prefix("W/").unwrap_or(one) == other.strip_prefix("W/").unwrap_or(other)
}

#[cfg(test)]
mod tests {
    use forerun::Version;

    use super::*;

    fn validators(version: &str) -> Validators {
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_000_000_500);
        Validators::of(&Entry::file("a", 1, Version(version.into())).with_modified(at))
    }

    fn headers(of: &[(HeaderName, &str)]) -> HeaderMap {
        of.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_tag_is_that_of_the_store_or_no_md5() {
        assert_eq!(validators("etag \"abc\"").etag, "\"abc\"");
        assert_eq!(validators("12 etag \"abc\"").etag, "\"abc\"");
        assert_eq!(validators("1-2-3").etag, "\"forerun-1-2-3\"");
        assert_eq!(validators("etag W/\"abc\"").etag, "W/\"forerun-etag_W/_abc_\"");
        assert_eq!(validators("12 weak \"abc\"").etag, "W/\"forerun-12_weak__abc_\"");
        assert_eq!(validators("modified 7 12").etag, "W/\"forerun-modified_7_12\"");
    }

    #[test]
    fn conditions_count_in_the_order_of_the_specification() {
        let (old, at, new) = (
            "Mon, 12 Jan 1970 13:46:39 GMT",
            "Mon, 12 Jan 1970 13:46:40 GMT",
            "Mon, 12 Jan 1970 13:46:41 GMT",
        );
        let v = validators("etag \"abc\"");
        for (of, expected) in [
            (vec![], Verdict::Holds),
            (vec![(IF_MATCH, "\"abc\"")], Verdict::Holds),
            (vec![(IF_MATCH, "*")], Verdict::Holds),
            (vec![(IF_MATCH, "\"x\", \"abc\"")], Verdict::Holds),
            (vec![(IF_MATCH, "\"x\"")], Verdict::Failed),
            (vec![(IF_MATCH, "W/\"abc\"")], Verdict::Failed),
            (vec![(IF_UNMODIFIED_SINCE, old)], Verdict::Failed),
            (vec![(IF_UNMODIFIED_SINCE, at)], Verdict::Holds),
            (vec![(IF_MATCH, "\"abc\""), (IF_UNMODIFIED_SINCE, old)], Verdict::Holds),
            (vec![(IF_NONE_MATCH, "\"abc\"")], Verdict::NotModified),
            (vec![(IF_NONE_MATCH, "W/\"abc\"")], Verdict::NotModified),
            (vec![(IF_NONE_MATCH, "*")], Verdict::NotModified),
            (vec![(IF_NONE_MATCH, "\"x\""), (IF_MODIFIED_SINCE, new)], Verdict::Holds),
            (vec![(IF_MODIFIED_SINCE, at)], Verdict::NotModified),
            (vec![(IF_MODIFIED_SINCE, old)], Verdict::Holds),
            (vec![(IF_MODIFIED_SINCE, "yesterday")], Verdict::Holds),
            (vec![(IF_MATCH, "\"x\""), (IF_NONE_MATCH, "\"abc\"")], Verdict::Failed),
        ] {
            assert_eq!(v.verdict(&headers(&of)), expected, "{of:?}");
        }
        for (of, expected) in [
            (vec![], true),
            (vec![(IF_RANGE, "\"abc\"")], true),
            (vec![(IF_RANGE, "W/\"abc\"")], false),
            (vec![(IF_RANGE, "\"x\"")], false),
            (vec![(IF_RANGE, at)], true),
            (vec![(IF_RANGE, new)], false),
        ] {
            assert_eq!(v.allows_range(&headers(&of)), expected, "{of:?}");
        }
    }
}
