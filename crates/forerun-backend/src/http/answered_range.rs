//! Checking that an answer is the extent that was asked for.

use std::ops::Range;

use reqwest::StatusCode;
use reqwest::header::{CONTENT_RANGE, HeaderMap};
use url::Url;

use super::client::{Response, shown, status_error};
use super::describe::{content_length, refuse_encoding};
use super::validator::State;
use crate::{Error, ErrorKind, Result};

/// A parsed `Content-Range: bytes first-last/total`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ContentRange {
    pub(crate) extent: Range<u64>,
    /// None if the server does not know it.
    pub(crate) total: Option<u64>,
}

pub(crate) fn content_range(headers: &HeaderMap) -> Option<ContentRange> {
    let value = in_bytes(headers)?;
    let (extent, total) = value.split_once('/')?;
    let (first, last) = extent.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let total = match total.trim() {
        "*" => None,
        total => Some(total.parse().ok()?),
    };
    let end = last.checked_add(1)?;
    let sound = first <= last && end <= total.unwrap_or(u64::MAX);
    sound.then_some(ContentRange { extent: first..end, total })
}

/// The size in the `Content-Range: bytes */total` of an answer 416.
pub(super) fn unsatisfied_total(headers: &HeaderMap) -> Option<u64> {
    in_bytes(headers)?.strip_prefix("*/")?.parse().ok()
}

/// The value of Content-Range after its unit, which servers write in either case.
fn in_bytes(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(CONTENT_RANGE)?.to_str().ok()?.trim();
    let (unit, value) = value.split_at_checked("bytes".len())?;
    unit.eq_ignore_ascii_case("bytes").then(|| value.trim_start())
}

/// Checks that the answer is `extent` of the object in the state `known`: a server may ignore the
/// conditions of the request. Returns the number of its bytes.
pub(super) fn check(
    response: &Response,
    url: &Url,
    known: Option<&State>,
    extent: &Range<u64>,
) -> Result<u64> {
    let (status, headers) = (response.status(), response.headers());
    if !status.is_success() {
        return Err(status_error(response, url));
    }
    refuse_encoding(headers, url)?;
    let Some(known) = known else { return Err(changed(url)) };
    if status != StatusCode::PARTIAL_CONTENT {
        let size = content_length(headers).unwrap_or(known.size);
        return check_whole(url, known, &State::of(headers, size), extent);
    }
    let range = content_range(headers)
        .ok_or_else(|| confused(url, "sent part of the object without a valid Content-Range"))?;
    if !known.matches(&State::of(headers, range.total.unwrap_or(known.size))) {
        return Err(changed(url));
    }
    let len = range.extent.end - range.extent.start;
    // A part may end early: the rest is asked for again.
    if range.extent.start != extent.start || range.extent.end > extent.end {
        return Err(confused(url, &format!("sent the bytes {:?} instead of {extent:?}", range.extent)));
    }
    if content_length(headers).is_some_and(|sent| sent != len) {
        return Err(confused(url, "sent a Content-Range and a Content-Length that disagree"));
    }
    Ok(len)
}

/// The error for a server that ignores `Range`. The beginning of the object would be of use, but
/// then the next part would fail.
fn check_whole(url: &Url, known: &State, answer: &State, extent: &Range<u64>) -> Result<u64> {
    if !known.matches(answer) {
        return Err(changed(url));
    }
    if *extent != (0..known.size) {
        let what = "the server cannot send part of an object (it ignores Range)";
        let message = format!("{}: {what}; read a local copy, or use another server", shown(url));
        return Err(Error::new(ErrorKind::NoRange, message));
    }
    Ok(known.size)
}

fn changed(url: &Url) -> Error {
    Error::new(ErrorKind::Changed, format!("{} has changed; open it again", shown(url)))
}

fn confused(url: &Url, what: &str) -> Error {
    Error::new(ErrorKind::Permanent, format!("{}: the server {what}", shown(url)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_RANGE, value.parse().unwrap())])
    }

    #[test]
    fn content_ranges_are_read_strictly() {
        let range = |extent, total| Some(ContentRange { extent, total });
        for (value, expected) in [
            ("bytes 0-0/1", range(0..1, Some(1))),
            ("bytes 5-9/10", range(5..10, Some(10))),
            ("bytes 5-9/*", range(5..10, None)),
            ("Bytes 5-9/10", range(5..10, Some(10))),
            ("bytes 5-9/9", None),
            ("bytes 9-5/10", None),
            ("bytes */10", None),
            ("bytes 0-18446744073709551615/*", None),
            ("items 0-1/2", None),
            ("bytes -1-2/3", None),
            ("", None),
        ] {
            assert_eq!(content_range(&headers(value)), expected, "{value:?}");
        }
        assert_eq!(unsatisfied_total(&headers("bytes */10")), Some(10));
        assert_eq!(unsatisfied_total(&headers("bytes 0-0/10")), None);
    }
}
