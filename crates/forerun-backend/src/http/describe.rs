//! A server's description of a URL.

use std::time::SystemTime;

use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, LAST_MODIFIED, RANGE,
};
use reqwest::{Method, StatusCode};
use url::Url;

use super::client::{self, Response};
use super::validator::State;
use super::{HttpBackend, answered_range};
use crate::bounds::QUOTE_CHARS_MAX;
use crate::{Error, ErrorKind, Result};

/// The server's description of a URL.
pub(super) struct Description {
    pub(super) directory: bool,
    /// Whether it is a page of HTML, like the listing of a directory.
    pub(super) is_page: bool,
    pub(super) state: State,
    pub(super) modified: Option<SystemTime>,
}

impl HttpBackend {
    /// Asks for the description of `url`, with the cheapest request that the server answers.
    pub(super) async fn describe(&self, url: &Url) -> Result<Description> {
        let response = client::send(&self.client, Method::HEAD, url, HeaderMap::new()).await?;
        let status = response.status();
        // Some servers, and URLs signed for GET, refuse HEAD alone.
        let refused = [StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED, StatusCode::FORBIDDEN];
        if refused.contains(&status) {
            return self.describe_with_get(url).await;
        }
        if !status.is_success() {
            return Err(client::status_error(&response, url));
        }
        match content_length(response.headers()) {
            Some(size) => description(&response, url, size),
            None if is_directory(&response) => description(&response, url, 0),
            None => self.describe_with_get(url).await,
        }
    }

    async fn describe_with_get(&self, url: &Url) -> Result<Description> {
        let first = HeaderMap::from_iter([(RANGE, HeaderValue::from_static("bytes=0-0"))]);
        let response = client::send(&self.client, Method::GET, url, first).await?;
        let size = match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                answered_range::content_range(response.headers()).and_then(|range| range.total)
            }
            StatusCode::RANGE_NOT_SATISFIABLE => answered_range::unsatisfied_total(response.headers()),
            status if status.is_success() && is_directory(&response) => Some(0),
            status if status.is_success() => content_length(response.headers()),
            _ => return Err(client::status_error(&response, url)),
        };
        match size {
            Some(size) => description(&response, url, size),
            None => Err(Error::new(
                ErrorKind::NoRange,
                format!(
                    "{}: the server does not report a size; only objects of a known size can be read",
                    client::shown(url)
                ),
            )),
        }
    }
}

fn description(response: &Response, url: &Url, size: u64) -> Result<Description> {
    refuse_encoding(response.headers(), url)?;
    let modified = response.headers().get(LAST_MODIFIED).and_then(|value| value.to_str().ok());
    Ok(Description {
        directory: is_directory(response) && !url.path().ends_with('/'),
        is_page: is_page(response),
        state: State::of(response.headers(), size),
        modified: modified.and_then(|value| httpdate::parse_http_date(value).ok()),
    })
}

pub(super) fn is_page(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.contains("html"))
}

/// Whether the answer came, after redirects, from a URL that ends in a slash.
pub(super) fn is_directory(response: &Response) -> bool {
    response.url().path().ends_with('/')
}

pub(super) fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Extents of compressed bytes are not extents of the object.
pub(super) fn refuse_encoding(headers: &HeaderMap, url: &Url) -> Result<()> {
    match headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok()) {
        None | Some("" | "identity") => Ok(()),
        Some(encoding) => Err(Error::new(
            ErrorKind::Permanent,
            format!(
                "{}: the server sends Content-Encoding {encoding:.QUOTE_CHARS_MAX$} although identity was requested; \
                 turn compression off",
                client::shown(url)
            ),
        )),
    }
}
