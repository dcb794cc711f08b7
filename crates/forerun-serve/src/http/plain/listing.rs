//! Pages that list buckets and directories.

use std::fmt::Write;

use forerun::{Entry, Kind, Result};
use hyper::header::CONTENT_TYPE;
use hyper::{Response, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::Buckets;
use crate::http::Answer;
use crate::served::Bucket;

/// Bytes of a name that stand in a link as they are not.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The page of all buckets.
pub(super) fn buckets(buckets: &Buckets) -> Answer {
    let rows = buckets.iter().fold(String::new(), |rows, bucket| rows + &row(&bucket.name, "/", None));
    page("/-/", &rows)
}

/// The page of the directory at `path` of `bucket`. Links and special files are left out.
///
/// # Errors
/// As [`Bucket::entries`].
pub(super) async fn directory(bucket: &Bucket, path: &str) -> Result<Answer> {
    let entries = bucket.entries(path).await?;
    let mut shown: Vec<&Entry> = entries.iter().filter(|entry| end_of(entry).is_some()).collect();
    shown.sort_unstable_by(|one, other| one.name().cmp(other.name()));
    let mut rows = row("..", "/", None);
    for entry in shown {
        rows += &row(entry.name(), end_of(entry).unwrap_or_default(), Some(entry));
    }
    let place = if path.is_empty() { String::new() } else { format!("{path}/") };
    Ok(page(&format!("/-/{}/{place}", bucket.name), &rows))
}

/// The characters behind the name of an entry in its link; none if it has no link.
fn end_of(entry: &Entry) -> Option<&'static str> {
    match entry.kind {
        Kind::File => Some(""),
        Kind::Directory => Some("/"),
        _ => None,
    }
}

fn row(name: &str, end: &str, entry: Option<&Entry>) -> String {
    let link = utf8_percent_encode(name, ENCODED);
    let mut row = format!("<tr><td><a href=\"{link}{end}\">{}{end}</a></td>", escape(name));
    let date = entry.and_then(|entry| entry.modified).map(httpdate::fmt_http_date).unwrap_or_default();
    let size = entry.filter(|entry| entry.kind == Kind::File).map(|entry| entry.size.to_string());
    let _ = writeln!(row, "<td>{date}</td><td align=\"right\">{}</td></tr>", size.unwrap_or_default());
    row
}

fn page(title: &str, rows: &str) -> Answer {
    let title = escape(title);
    let page = format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body><h1>{title}</h1>\n<table>\n{rows}</table></body></html>\n"
    );
    let answer = Response::builder().status(StatusCode::OK).header(CONTENT_TYPE, "text/html; charset=utf-8");
    answer.body(s3s::Body::from(page)).expect("the headers are written by this program")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_makes_no_markup_and_no_other_link() {
        let row = row("<a href=\"x\">&?#%/é", "", None);
        assert!(row.contains("href=\"%3Ca%20href%3D%22x%22%3E%26%3F%23%25%2F%C3%A9\""), "{row}");
        assert!(row.contains("&lt;a href=&quot;x&quot;&gt;&amp;?#%/é</a>"), "{row}");
    }
}
