//! The simulated object store, with S3's protocol.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use forerun_backend::HttpRequest;
use url::Url;

use crate::answer::Answer;
use crate::manners::Manners;
use crate::site::Site;
use crate::web;

/// Answers a request. `is_nonsense` makes its listing nonsensical.
pub(crate) fn answer(
    site: &Site,
    manners: &Manners,
    request: &HttpRequest,
    now: Duration,
    is_nonsense: bool,
) -> Answer {
    let url: Url = request.uri().to_string().parse().expect("a URL");
    let is_head = request.method() == "HEAD";
    let key = url.path().strip_prefix("/bucket").unwrap_or("").trim_start_matches('/');
    if key.is_empty() {
        return list(site, manners, &url, now, is_nonsense);
    }
    let answer = match site.find(key).and_then(|object| object.at(now)) {
        Some(version) => web::object(version, manners, request),
        None => refusal(404, "NoSuchKey"),
    };
    Answer { is_head, ..answer }
}

pub(crate) fn refusal(status: u16, code: &str) -> Answer {
    let body = format!("<Error><Code>{code}</Code><Message>no</Message></Error>");
    Answer { body: body.into(), ..Answer::new(status) }
}

fn list(site: &Site, manners: &Manners, url: &Url, now: Duration, is_nonsense: bool) -> Answer {
    let query =
        |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let prefix = query("prefix").unwrap_or_default();
    let has_delimiter = query("delimiter").is_some();
    // Keys and common prefixes in one order, as stores list them.
    let all: BTreeSet<String> = site
        .objects
        .iter()
        .filter(|object| object.at(now).is_some())
        .filter_map(|object| {
            let rest = object.path.strip_prefix(&prefix)?;
            match rest.split_once('/') {
                Some((directory, _)) if has_delimiter => Some(format!("{prefix}{directory}/")),
                _ => Some(object.path.clone()),
            }
        })
        .collect();
    let after = query("continuation-token").unwrap_or_default();
    let rest: Vec<&String> = all.iter().filter(|key| **key > after).collect();
    let page = &rest[..rest.len().min(manners.page_entries)];
    let entries = page.iter().fold(String::new(), |mut text, key| {
        let _ = match site.find(key).and_then(|object| object.at(now)) {
            Some(version) => write!(
                text,
                "<Contents><Key>{key}</Key><Size>{}</Size><LastModified>{}</LastModified>{}</Contents>",
                version.size,
                rfc3339(version.modified_s()),
                manners.etag(version).map_or_else(String::new, |etag| format!("<ETag>{etag}</ETag>")),
            ),
            None => write!(text, "<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>"),
        };
        text
    });
    let is_truncated = page.len() < rest.len() || is_nonsense;
    let token = match page.last() {
        Some(last) if is_truncated && !is_nonsense => last.as_str(),
        _ => "again",
    };
    let token = if is_truncated {
        format!("<NextContinuationToken>{token}</NextContinuationToken>")
    } else {
        String::new()
    };
    let text = format!(
        "<?xml version=\"1.0\"?><ListBucketResult><Name>bucket</Name><Prefix>{prefix}</Prefix>\
         <IsTruncated>{is_truncated}</IsTruncated>{token}{entries}</ListBucketResult>"
    );
    Answer::page("application/xml", text)
}

/// Seconds since 1970 in the format of S3's listings. All are in November 2023.
fn rfc3339(seconds: u64) -> String {
    let since = seconds - 1_698_796_800;
    let (day, second) = (since / 86_400 + 1, since % 86_400);
    format!("2023-11-{day:02}T{:02}:{:02}:{:02}.000Z", second / 3600, second / 60 % 60, second % 60)
}
