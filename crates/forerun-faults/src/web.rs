//! The simulated web server.

use std::fmt::Write;
use std::time::{Duration, UNIX_EPOCH};

use forerun_backend::HttpRequest;

use crate::answer::Answer;
use crate::manners::{Manners, Validator};
use crate::site::{Site, Version};

/// Answers a request for `path`, which has no slash at its start.
pub(crate) fn answer(
    site: &Site,
    manners: &Manners,
    request: &HttpRequest,
    path: &str,
    now: Duration,
) -> Answer {
    let is_head = request.method() == "HEAD";
    if is_head && manners.refuses_head {
        return Answer { is_head, ..Answer::new(405) };
    }
    if let Some(version) = site.find(path).and_then(|object| object.at(now)) {
        return Answer { is_head, ..object(version, manners, request) };
    }
    let name = path.strip_suffix('/').unwrap_or(path);
    let answer = if !site.is_directory(name) {
        Answer::new(404)
    } else if path != name || name.is_empty() {
        let links = site.list(name, now).into_iter().fold(String::new(), |mut page, name| {
            let _ = writeln!(page, "<a href=\"{name}\">{name}</a>");
            page
        });
        let page = format!("<html><a href=\"../\">..</a>{links}</html>");
        let length = page.len().to_string();
        Answer::page("text/html", page).with("content-length", length)
    } else {
        Answer::new(301).with("location", format!("{}/", request.uri()))
    };
    Answer { is_head, ..answer }
}

/// Answers a request for `version`, or a part of it.
pub(crate) fn object(version: &Version, manners: &Manners, request: &HttpRequest) -> Answer {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let modified = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(version.modified_s()));
    let etag = manners.etag(version);
    if manners.honours_conditions {
        let is_other =
            |asked: Option<&str>, current: Option<&str>| asked.is_some_and(|asked| Some(asked) != current);
        if is_other(header("if-match"), etag.as_deref())
            || is_other(header("if-unmodified-since"), Some(&modified))
        {
            return Answer::new(412);
        }
    }
    let size = version.size;
    let extent = header("range").filter(|_| !manners.ignores_range).and_then(extent_of);
    let answer = match extent {
        Some((first, _)) if first >= size => {
            return Answer::new(416).with("content-range", format!("bytes */{size}"));
        }
        Some((first, last)) => {
            let last = last.min(size - 1);
            let body = version.bytes().slice(first as usize..=last as usize);
            let part = Some((first, size));
            Answer { body, part, ..Answer::new(206) }
                .with("content-range", format!("bytes {first}-{last}/{size}"))
        }
        None => Answer { body: version.bytes(), ..Answer::new(200) },
    };
    let answer = match manners.validator {
        Validator::Nothing => answer,
        _ => answer.with("last-modified", modified),
    };
    let answer = match etag {
        Some(etag) => answer.with("etag", etag),
        None => answer,
    };
    match answer.body.len() {
        _ if manners.is_chunked && extent.is_some() => answer,
        len => answer.with("content-length", len.to_string()),
    }
}

fn extent_of(range: &str) -> Option<(u64, u64)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}
